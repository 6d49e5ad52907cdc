/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/run.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/options.h"
#include "base/output.h"
#include "input/capture/capture.h"
#include "input/packets_file.h"
#include "input/run_facts.h"
#include "input/run_files.h"

struct found {
	enum source_kind kind;
	char *path;
};

struct found_list {
	struct found *item;
	size_t count, room;
	struct text_list extracts; /* .packets files */
};

int node_address_parse(const char *text, struct node_address *address)
{
	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, text, address->bytes) == 1)
		address->family = 4;
	else if (inet_pton(AF_INET6, text, address->bytes) == 1)
		address->family = 6;
	return address->family ? 0 : -1;
}

static void add_found(struct found_list *list, enum source_kind kind, const char *path)
{
	list->item = mem_grow(list->item, list->count, &list->room, sizeof(*list->item));
	list->item[list->count++] = (struct found){kind, mem_strdup(path)};
}

static void found_clear(struct found_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->item[i].path);
	free(list->item);
	text_list_clear(&list->extracts);
}

static void take_found(void *context, enum walk_kind kind, const char *path)
{
	struct found_list *list = context;

	if (kind == WALK_TRACE)
		add_found(list, SOURCE_TRACE, path);
	else if (kind == WALK_FILE &&
		 (walk_has_suffix(path, ".pcap") || walk_has_suffix(path, ".pcapng")))
		add_found(list, SOURCE_CAPTURE, path);
	else if (kind == WALK_FILE && walk_has_suffix(path, PACKETS_SUFFIX))
		text_list_add(&list->extracts, path);
}

/*
 * Everything below a path: traces by their metadata file, captures by name. The
 * run that a node belongs to, if any, is not entered again.
 */
static void search(struct found_list *list, const char *path, const struct stat *run,
		   struct problem_list *problems)
{
	struct walk walk;

	walk_init(&walk, problems);
	walk.found = take_found;
	walk.context = list;
	if (run)
		walk_enter(&walk, run);
	walk_below(&walk, path);
	walk_clear(&walk);
}

static struct source *append(struct source_list *list, const struct found *found,
			     const char *name, const char *node)
{
	struct source *source;

	list->item = mem_grow(list->item, list->count, &list->room, sizeof(*list->item));
	source = &list->item[list->count++];
	memset(source, 0, sizeof(*source));
	source->kind = found->kind;
	source->path = mem_strdup(found->path);
	source->name = name ? mem_strdup(name) : NULL;
	source->node = node ? mem_strdup(node) : NULL;
	return source;
}

static void set_local(struct source *source, const struct node_facts *facts)
{
	if (source->kind != SOURCE_CAPTURE || !facts->addresses)
		return;
	source->locals = facts->addresses;
	source->local = mem_realloc(NULL, facts->addresses, sizeof(*source->local));
	memcpy(source->local, facts->address, facts->addresses * sizeof(*source->local));
}

/*
 * The one that bears the node's name: a kernel trace, else the first. Only what
 * is below the node's path, of so many characters, tells.
 */
static size_t main_source(const struct found_list *found, size_t length)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < found->count; i++) {
		if (found->item[i].kind != SOURCE_TRACE)
			continue;
		if (strstr(found->item[i].path + length, "/kernel"))
			return i;
		if (best == SIZE_MAX)
			best = i;
	}
	return best == SIZE_MAX ? 0 : best;
}

static void read_facts(struct node_facts *facts, const char *directory,
		       struct problem_list *problems)
{
	char *path = mem_printf("%s/node.json", directory);
	struct error error = ERROR_INIT;

	if (node_facts_read(facts, path, problems, &error))
		problem_add(problems, "", "unreadable", 1, "%s, left out",
			    error_text(&error));
	error_clear(&error);
	free(path);
}

/*
 * The name of a source of an extract, where that is to be `base`'s: what stands behind
 * the name of the first source stays. For free(), or NULL.
 */
static char *extract_name(const struct packets_contents *contents, size_t index,
			  const char *base)
{
	const char *main = contents->item[0].name, *own = contents->item[index].name;
	size_t length = main ? strlen(main) : 0;

	if (!base)
		return own ? mem_strdup(own) : NULL;
	if (length && own && strncmp(own, main, length) == 0 && own[length] == ':')
		return mem_printf("%s%s", base, own + length);
	return mem_strdup(base);
}

/*
 * The path of a node's directory without links above it; its own name stays, as that is
 * the node's, also where it is a link. NULL: not there. For free().
 */
static char *node_path(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *above, *real, *node;
	struct stat status;

	if (!*name || !strcmp(name, ".") || !strcmp(name, "..") || stat(path, &status))
		return realpath(path, NULL);
	above = slash == path ? mem_strdup("/")
		: slash       ? mem_strndup(path, (size_t)(slash - path))
			      : mem_strdup(".");
	real = realpath(above, NULL);
	node = real ? mem_printf("%s/%s", strcmp(real, "/") ? real : "", name) : NULL;
	free(real);
	free(above);
	return node;
}

/*
 * The sources in a .packets file, which are of the node at a path; where that is NULL,
 * those that were of one node still are. 0, or -1 with error.
 */
static int add_extract(struct source_list *list, const char *path, const char *name,
		       const char *node, struct error *error)
{
	struct packets_contents contents;
	char *place;

	output_protect(path);
	if (packets_file_contents(path, &contents, error))
		return -1;
	place = realpath(path, NULL);
	for (size_t i = 0; i < contents.count; i++) {
		const struct packets_entry *entry = &contents.item[i];
		char *own = extract_name(&contents, i, name), *of = NULL;
		struct source *source;

		if (node || entry->node)
			of = node ? mem_strdup(node)
				  : mem_printf("%s:%s", place, entry->node);
		source =
		    append(list, &(struct found){entry->kind, (char *)path}, own, of);
		source->extract = i + 1;
		free(own);
		free(of);
	}
	free(place);
	packets_contents_clear(&contents);
	return 0;
}

/* A node of a run directory, and whether a trace or a capture of it is there. */
struct extract_node {
	const char *name, *path;
	bool is_there;
};

/* Where a node's traces and captures are, an extract of them tells nothing more. */
static void add_node_extract(struct source_list *list, const char *path,
			     const struct extract_node *node,
			     struct problem_list *problems)
{
	struct error error = ERROR_INIT;

	if (!list->takes_extracts)
		return;
	if (node->is_there)
		problem_add(problems, path, "twice", 1,
			    "left out, as what was recorded of %s is there", node->name);
	else if (add_extract(list, path, node->name, node->path, &error))
		problem_add(problems, "", "unreadable", 1, "%s, left out",
			    error_text(&error));
	error_clear(&error);
}

static void add_node(struct source_list *list, const char *path, const char *node,
		     const struct stat *run, struct problem_list *problems)
{
	struct found_list found = {0};
	struct node_facts facts;
	char *directory;
	size_t main;

	search(&found, path, run, problems);
	directory = node_path(path);
	for (size_t i = 0; i < found.extracts.count; i++)
		add_node_extract(list, found.extracts.item[i],
				 &(struct extract_node){node, directory, found.count > 0},
				 problems);
	if (found.count) {
		read_facts(&facts, path, problems);
		main = main_source(&found, strlen(path));
		set_local(append(list, &found.item[main], node, directory), &facts);
		for (size_t i = 0; i < found.count; i++) {
			char *name;

			if (i == main)
				continue;
			name = mem_printf("%s:%s", node,
					  found.item[i].path + strlen(path) + 1);
			set_local(append(list, &found.item[i], name, directory), &facts);
			free(name);
		}
		node_facts_clear(&facts);
	}
	free(directory);
	found_clear(&found);
}

int source_add_node(struct source_list *list, const char *argument,
		    struct problem_list *problems, struct error *error)
{
	char *path = walk_trimmed(argument), *real = node_path(path);
	size_t before = list->count;
	int status = 0;

	if (!real)
		status = error_errno(error, path);
	else
		add_node(list, path, strrchr(real, '/') + 1, NULL, problems);
	if (!status && list->count == before)
		status = error_set(error, "%s: no trace and no capture below it", path);
	free(real);
	free(path);
	return status;
}

/*
 * NODE.packets beside the nodes' directories: of NODE, unless that has a directory with
 * something in it, which came before.
 */
static void add_extract_beside(struct source_list *list, const char *path, size_t before,
			       struct problem_list *problems)
{
	char *directory = mem_strndup(path, strlen(path) - strlen(PACKETS_SUFFIX));
	struct extract_node node = {strrchr(directory, '/') + 1, path, false};
	char *real = node_path(directory);

	for (size_t i = before; real && i < list->count && !node.is_there; i++)
		node.is_there = strcmp(list->item[i].node, real) == 0;
	add_node_extract(list, path, &node, problems);
	free(real);
	free(directory);
}

/* Numbers in names go by their value, so that node2 comes before node10: the order of
 * nodes in a timeline, of tables, pictures and clock maps. */
static int add_nodes(struct source_list *list, const char *path, const struct stat *run,
		     struct problem_list *problems, struct error *error)
{
	struct dirent **entry;
	size_t before = list->count;
	int count = scandir(path, &entry, NULL, versionsort);

	if (count < 0)
		return error_errno(error, path);
	walk_protect_run(path);
	for (int i = 0; i < count; i++) {
		char *node = mem_printf("%s/%s", path, entry[i]->d_name);
		struct stat status;

		if (list->only && strcmp(entry[i]->d_name, list->only) != 0)
			;
		else if (entry[i]->d_name[0] == '.' || stat(node, &status))
			;
		else if (S_ISDIR(status.st_mode))
			add_node(list, node, entry[i]->d_name, run, problems);
		else if (walk_has_suffix(entry[i]->d_name, PACKETS_SUFFIX))
			add_extract_beside(list, node, before, problems);
		free(node);
		free(entry[i]);
	}
	free(entry);
	if (list->count == before)
		return error_set(error,
				 "%s: no trace and no capture below it, want "
				 "NODE/.../metadata%s or NODE/*.pcap",
				 path, list->takes_extracts ? ", NODE.packets" : "");
	return 0;
}

static bool is_there(const char *path, const char *below)
{
	char *whole = mem_printf("%s/%s", path, below);
	struct stat status;
	bool is = stat(whole, &status) == 0;

	free(whole);
	return is;
}

char *run_node_name(const char *path)
{
	/* A node may be called kernel: it has a file of its own, then. */
	bool is =
	    is_there(path, "node.json") ||
	    (is_there(path, "kernel/metadata") && !is_there(path, "kernel/node.json")) ||
	    is_there(path, "ust/uid") || is_there(path, "ust/pid");
	char *real = is ? realpath(path, NULL) : NULL;
	char *name = real ? mem_strdup(strrchr(real, '/') + 1) : NULL;

	free(real);
	return name;
}

int source_add_run(struct source_list *list, const char *argument,
		   struct problem_list *problems, struct error *error)
{
	char *path = walk_trimmed(argument), *node = run_node_name(path);
	struct stat status;
	int result;

	if (stat(path, &status))
		result = error_errno(error, path);
	else if (!S_ISDIR(status.st_mode) || ctf_is_trace(path))
		result = source_add_trace(list, path, problems, error);
	else if (node)
		result = source_add_node(list, path, problems, error);
	else
		result = add_nodes(list, path, &status, problems, error);
	free(node);
	free(path);
	return result;
}

/* The directory above a file or trace that holds a node.json, or NULL. */
static char *node_directory(const char *path)
{
	char *directory = realpath(path, NULL);

	for (int depth = 0; directory && depth < 3; depth++) {
		char *slash = strrchr(directory, '/');
		char *facts;
		struct stat status;
		bool found;

		if (!slash || slash == directory)
			break;
		*slash = '\0';
		facts = mem_printf("%s/node.json", directory);
		found = stat(facts, &status) == 0;
		free(facts);
		if (found)
			return directory;
	}
	free(directory);
	return NULL;
}

static void pass(void *context, enum walk_kind kind, const char *path)
{
	(void)context;
	(void)kind;
	(void)path;
}

/* What else was recorded of a node that a source is of. */
static void protect_node(const char *directory)
{
	struct problem_list ignored = {0};
	struct walk walk;
	char *run = mem_printf("%s/..", directory);

	walk_init(&walk, &ignored);
	walk.found = pass;
	walk_below(&walk, directory);
	walk_clear(&walk);
	problem_clear(&ignored);
	walk_protect_run(run);
	free(run);
}

/* Names a source given by itself: as asked, by its node, or by its file. */
static void add_alone(struct source_list *list, const struct found *found,
		      const char *name, struct problem_list *problems)
{
	char *directory = node_directory(found->path);
	struct node_facts facts;
	struct source *source;

	memset(&facts, 0, sizeof(facts));
	if (directory) {
		protect_node(directory);
		read_facts(&facts, directory, problems);
		if (!name)
			name = strrchr(directory, '/') + 1;
	}
	source = append(list, found, name, directory);
	set_local(source, &facts);
	if (!source->name && found->kind == SOURCE_CAPTURE) {
		const char *file = strrchr(found->path, '/');

		file = file ? file + 1 : found->path;
		source->name = mem_strndup(file, strcspn(file, "."));
	}
	node_facts_clear(&facts);
	free(directory);
}

static int add_path(struct source_list *list, const char *path, const char *name,
		    struct problem_list *problems, struct error *error)
{
	struct found_list found = {0};
	struct stat status;
	int traces = 0;

	if (stat(path, &status))
		return error_errno(error, path);
	if (list->takes_extracts && !S_ISDIR(status.st_mode) && packets_file_probe(path))
		return add_extract(list, path, name, NULL, error);
	if (S_ISDIR(status.st_mode))
		search(&found, path, NULL, problems);
	else if (capture_probe(path)) {
		output_protect(path);
		add_found(&found, SOURCE_CAPTURE, path);
	} else
		return error_set(error,
				 "%s: neither a CTF trace nor a capture, want a "
				 "directory with a metadata file%s, pcap or pcapng",
				 path, list->takes_extracts ? ", a .packets file" : "");
	for (size_t i = 0; i < found.count; i++)
		traces += found.item[i].kind == SOURCE_TRACE;
	for (size_t i = 0; i < found.count; i++)
		if (!traces || found.item[i].kind == SOURCE_TRACE)
			add_alone(list, &found.item[i], name, problems);
	if (!found.count)
		error_set(error, "%s: no trace below it, want a metadata file", path);
	traces = found.count ? 0 : -1;
	found_clear(&found);
	return traces;
}

int source_add_trace(struct source_list *list, const char *argument,
		     struct problem_list *problems, struct error *error)
{
	const char *equals = strchr(argument, '=');
	char *name = NULL, *path;
	struct stat status;
	int result;

	/* A path that has a '=' in it, and exists, is a path. */
	if (equals && equals > argument && stat(argument, &status)) {
		name = mem_strndup(argument, (size_t)(equals - argument));
		argument = equals + 1;
	}
	path = walk_trimmed(argument);
	result = add_path(list, path, name, problems, error);
	free(path);
	free(name);
	return result;
}

void source_list_clear(struct source_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->item[i].name);
		free(list->item[i].path);
		free(list->item[i].node);
		free(list->item[i].local);
	}
	free(list->item);
	memset(list, 0, sizeof(*list));
}
