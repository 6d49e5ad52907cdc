/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/run.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/output.h"
#include "input/capture/frames.h"
#include "input/packets_file.h"
#include "input/rotation.h"
#include "input/run_facts.h"
#include "input/run_files.h"

struct capture_input source_capture(const struct source *source)
{
	return (struct capture_input){
	    .path = source->path,
	    .part = source->part,
	    .parts = source->parts,
	    .name = source->name ? source->name : "NAME",
	    .local = source->local,
	    .locals = source->locals,
	};
}

void source_read_realtime(struct source *source)
{
	AUTOFREE char *path = source->node && !source->extract
				  ? mem_printf("%s/clock.csv", source->node)
				  : NULL;
	struct problem_list ignored = {0};
	struct clock_samples samples;

	if (!path || access(path, F_OK) || clock_samples_read(&samples, path, &ignored)) {
		problem_clear(&ignored);
		return;
	}
	source->origin.is_boot_monotonic = samples.is_boot_monotonic;
	source->realtimes = samples.sections;
	source->realtime = mem_alloc(samples.sections * sizeof(*source->realtime));
	for (size_t i = 0; i < samples.sections; i++)
		source->realtime[i] = clock_samples_offset(&samples, i);
	clock_samples_clear(&samples);
	problem_clear(&ignored);
}

int node_address_parse(const char *text, struct node_address *address)
{
	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, text, address->bytes) == 1)
		address->family = 4;
	else if (inet_pton(AF_INET6, text, address->bytes) == 1)
		address->family = 6;
	return address->family ? 0 : -1;
}

/* Return true if a source is a trace in one file, a trace.dat. */
static bool is_file_trace(const struct source *source)
{
	struct stat status;

	return source->kind == SOURCE_TRACE && !source->extract &&
	       stat(source->path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Set the origin of a trace.dat's clock from node.json and clock.csv. `facts` may be
 * NULL. */
static void set_origin(struct source *source, const struct node_facts *facts)
{
	if (!is_file_trace(source))
		return;
	source->origin.has_boot_id = facts && facts->boot_id &&
				     !parse_uuid(facts->boot_id, source->origin.boot_id);
	source_read_realtime(source);
	if (source->realtimes)
		source->origin.offset_ns =
		    source->realtime->low_ns +
		    (source->realtime->high_ns - source->realtime->low_ns) / 2;
}

/* Append a source. `facts` are those of its node; they may be NULL. */
static void append_source(struct source_list *list, const struct source *found,
			  const char *name, const char *node,
			  const struct node_facts *facts)
{
	struct source *source = MEM_NEXT(list->item, list->count, list->capacity);

	*source = (struct source){.kind = found->kind,
				  .path = mem_strdup(found->path),
				  .name = name ? mem_strdup(name) : NULL,
				  .node = node ? mem_strdup(node) : NULL,
				  .extract = found->extract};
	set_origin(source, facts);
	if (source->kind == SOURCE_CAPTURE && facts && facts->addresses) {
		source->locals = facts->addresses;
		source->local =
		    mem_realloc(NULL, facts->addresses, sizeof(*source->local));
		memcpy(source->local, facts->address,
		       facts->addresses * sizeof(*source->local));
	}
}

/*
 * Find the source that gets the node's name: LTTng's kernel trace, otherwise a trace.dat,
 * otherwise the first trace. Only the part of the path below the node is considered.
 */
static size_t main_source(const struct run_node *node)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < node->sources; i++) {
		if (node->source[i].kind != SOURCE_TRACE)
			continue;
		if (strstr(node->source[i].path + strlen(node->path), "/kernel"))
			return i;
		if (best == SIZE_MAX || (is_file_trace(&node->source[i]) &&
					 !is_file_trace(&node->source[best])))
			best = i;
	}
	return best == SIZE_MAX ? 0 : best;
}

static void read_facts(struct node_facts *facts, const char *directory,
		       struct problem_list *problems)
{
	AUTOFREE char *path = mem_printf("%s/node.json", directory);
	struct error error = ERROR_INIT;

	if (node_facts_read(facts, path, problems, &error))
		problem_add(problems, "", PROBLEM_UNREADABLE, 1, "%s; skipped",
			    error_text(&error));
	error_clear(&error);
}

/*
 * Make the name of an extract's source if its first source is renamed to `base`: what
 * follows the first source's name is kept. The caller frees the result, which may be
 * NULL.
 */
static char *extract_name(const struct source_list *contents, size_t index,
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
 * Add the sources of a .packets file, which belong to the node at a path; if `node` is
 * NULL, those of one node still share a node. Return 0, or -1 with error.
 */
static int add_extract(struct source_list *list, const char *path, const char *name,
		       const char *node, struct error *error)
{
	struct source_list contents;
	char *place;

	output_protect(path);
	if (packets_file_contents(path, &contents, error))
		return -1;
	place = realpath(path, NULL);
	for (size_t i = 0; i < contents.count; i++) {
		struct source entry = {.kind = contents.item[i].kind,
				       .path = (char *)path,
				       .extract = i + 1};
		AUTOFREE char *own = extract_name(&contents, i, name), *of = NULL;

		if (!node && contents.item[i].node)
			of = mem_printf("%s/%s", place, contents.item[i].node);
		append_source(list, &entry, own, node ? node : of, NULL);
		list->item[list->count - 1].realtime = contents.item[i].realtime;
		list->item[list->count - 1].realtimes = contents.item[i].realtimes;
		list->item[list->count - 1].claims = contents.item[i].claims;
		contents.item[i].realtime = NULL;
		contents.item[i].claims.source = NULL;
		contents.item[i].claims.sources = 0;
	}
	free(place);
	source_list_clear(&contents);
	return 0;
}

/*
 * Make a capture a part of one that was added at or after index `from`. Return false if
 * it is not a part of any.
 */
static bool join_capture(struct source_list *list, size_t from,
			 const struct source *found, const char *name)
{
	for (size_t i = from; found->kind == SOURCE_CAPTURE && i < list->count; i++)
		if ((!name ||
		     (list->item[i].name && strcmp(list->item[i].name, name) == 0)) &&
		    rotation_join(&list->item[i], found->path))
			return true;
	return false;
}

/* Add a node's traces and captures; all but the main one are named by their paths. */
static void add_sources(struct source_list *list, const struct run_node *node,
			const char *directory)
{
	size_t main = main_source(node), before = list->count;

	append_source(list, &node->source[main], node->name, directory, &node->facts);
	for (size_t i = 0; i < node->sources; i++) {
		char *name;

		if (i == main || join_capture(list, before, &node->source[i], NULL))
			continue;
		name = mem_printf("%s:%s", node->name,
				  node->source[i].path + strlen(node->path) + 1);
		append_source(list, &node->source[i], name, directory, &node->facts);
		free(name);
	}
}

static void add_node(struct source_list *list, const char *path, const char *name,
		     const struct stat *run, struct problem_list *problems)
{
	struct run_files *files = list->files;
	AUTOFREE char *directory = realpath(path, NULL);
	struct run_node node;

	run_node_find(&node, path, run, problems);
	node.name = mem_strdup(name);
	if (node.sources || (files && node.files))
		read_facts(&node.facts, path, problems);
	if (node.sources)
		add_sources(list, &node, directory);
	if (!files || (!node.sources && !node.files)) {
		run_node_clear(&node);
		return;
	}
	*MEM_NEXT(files->node, files->nodes, files->capacity) = node;
}

int source_add_node(struct source_list *list, const char *argument,
		    struct problem_list *problems, struct error *error)
{
	AUTOFREE char *path = path_trim(argument), *real = realpath(path, NULL);
	const char *name = file_name(path);
	size_t before = list->count;
	int status = 0;

	/* A link keeps the name that was given. */
	if (real && (!strcmp(name, ".") || !strcmp(name, "..")))
		name = file_name(real);
	if (!real)
		status = error_errno(error, path);
	else
		add_node(list, path, name, NULL, problems);
	if (!status && list->count == before)
		status = error_set(error, "%s: no trace and no capture below it", path);
	return status;
}

/*
 * Add NODE.packets, which is in the run directory beside the nodes' directories. If
 * NODE's traces and captures were added before, the extract contains nothing else and is
 * skipped.
 */
static void add_extract_beside(struct source_list *list, const char *path, size_t before,
			       struct problem_list *problems)
{
	AUTOFREE char *node = mem_strndup(path, strlen(path) - strlen(PACKETS_SUFFIX));
	AUTOFREE char *real = realpath(node, NULL);
	struct error error = ERROR_INIT;
	bool is_there = false;

	for (size_t i = before; real && i < list->count; i++)
		is_there |= strcmp(list->item[i].node, real) == 0;
	if (is_there)
		problem_add(problems, path, PROBLEM_TWICE, 1,
			    "skipped, because the recording of %s is there",
			    file_name(node));
	else if (add_extract(list, path, file_name(node), node, &error))
		problem_add(problems, "", PROBLEM_UNREADABLE, 1, "%s; skipped",
			    error_text(&error));
	error_clear(&error);
}

/* Add an entry of a run directory; `entered` holds the nodes so far. */
static void add_entry(struct source_list *list, const char *path, size_t before,
		      const struct stat *run, struct texts *entered,
		      struct problem_list *problems)
{
	const char *name = file_name(path);
	struct stat status;

	if (*name == '.' || (list->only && strcmp(name, list->only) != 0))
		return;
	if (stat(path, &status)) {
		problem_add(problems, path, PROBLEM_UNREADABLE, 1, "%s, skipped",
			    strerror(errno));
	} else if (!S_ISDIR(status.st_mode)) {
		if (!path_has_suffix(name, PACKETS_SUFFIX))
			run_report_stray(path, problems);
		else if (list->accepts_extracts)
			add_extract_beside(list, path, before, problems);
	} else if (!directory_enter(entered, &status)) {
		problem_add(problems, path, PROBLEM_TWICE, 1,
			    "the same directory under another name; skipped");
	} else {
		add_node(list, path, name, run, problems);
	}
}

/*
 * Add the nodes of a run directory. Numbers in names are sorted by value, so that node2
 * precedes node10: this is the order of nodes in a timeline, of tables, pictures and
 * clock maps.
 */
static int add_nodes(struct source_list *list, const char *path, const struct stat *run,
		     struct problem_list *problems, struct error *error)
{
	struct texts entered = {0};
	struct dirent **entry;
	size_t before = list->count;
	int count = scandir(path, &entry, NULL, versionsort);

	if (count < 0)
		return error_errno(error, path);
	run_protect(path);
	directory_enter(&entered, run);
	for (int i = 0; i < count; i++) {
		AUTOFREE char *node = mem_printf("%s/%s", path, entry[i]->d_name);

		if (list->files && strcmp(entry[i]->d_name, "run.json") == 0)
			list->files->run_json = mem_strdup(node);
		else
			add_entry(list, node, before, run, &entered, problems);
		free(entry[i]);
	}
	free(entry);
	texts_clear(&entered);
	if (list->count == before)
		return error_set(error,
				 "%s: no trace and no capture below it (expected "
				 "NODE/.../metadata%s or NODE/*.pcap)",
				 path, list->accepts_extracts ? ", NODE.packets" : "");
	return 0;
}

static bool is_there(const char *path, const char *below)
{
	AUTOFREE char *whole = mem_printf("%s/%s", path, below);
	struct stat status;

	return stat(whole, &status) == 0;
}

/*
 * Return true if this is the directory of a node, not of a run: it holds a
 * node.json, or traces as LTTng lays them out (kernel/metadata, ust/).
 */
static bool is_node(const char *path)
{
	/* A node can be named kernel; then it has a node.json of its own. */
	return is_there(path, "node.json") ||
	       (is_there(path, "kernel/metadata") &&
		!is_there(path, "kernel/node.json")) ||
	       is_there(path, "ust/uid") || is_there(path, "ust/pid");
}

int source_add_run(struct source_list *list, const char *argument,
		   struct problem_list *problems, struct error *error)
{
	AUTOFREE char *path = path_trim(argument);
	struct stat status;
	bool exists = stat(path, &status) == 0;
	int result;

	if (!exists && !strchr(path, '='))
		result = error_errno(error, path);
	else if (!exists || !S_ISDIR(status.st_mode) || is_trace_path(path))
		result = source_add_trace(list, path, problems, error);
	else if (is_node(path))
		result = source_add_node(list, path, problems, error);
	else
		result = add_nodes(list, path, &status, problems, error);
	return result;
}

/*
 * Return the directory above a file or trace that contains a node.json, or NULL. The
 * caller frees it.
 */
static char *node_directory(const char *path)
{
	char *directory = realpath(path, NULL);

	for (int depth = 0; directory && depth < 3; depth++) {
		char *slash = strrchr(directory, '/');

		if (!slash || slash == directory)
			break;
		*slash = '\0';
		if (is_there(directory, "node.json"))
			return directory;
	}
	free(directory);
	return NULL;
}

/* Mark the other files of a source's node as inputs. */
static void protect_node(const char *directory)
{
	struct problem_list ignored = {0};
	struct run_node node;
	AUTOFREE char *run = mem_printf("%s/..", directory);

	run_node_find(&node, directory, NULL, &ignored);
	run_node_clear(&node);
	problem_clear(&ignored);
	run_protect(run);
}

/*
 * Add a source that is given by itself. Its name is the given one, or else that of its
 * node or its file.
 */
static void add_alone(struct source_list *list, const struct source *found,
		      const char *name, struct problem_list *problems)
{
	AUTOFREE char *directory = node_directory(found->path), *stem = NULL;
	struct node_facts facts;

	memset(&facts, 0, sizeof(facts));
	if (directory) {
		protect_node(directory);
		read_facts(&facts, directory, problems);
	}
	if (!name && directory)
		name = file_name(directory);
	else if (!name && found->kind == SOURCE_CAPTURE)
		name = stem = mem_strndup(file_name(found->path),
					  strcspn(file_name(found->path), "."));
	if (!name || !join_capture(list, 0, found, name))
		append_source(list, found, name, directory, &facts);
	node_facts_clear(&facts);
}

/* Add the traces below a directory or, if there are none, the captures. */
static int add_directory(struct source_list *list, const char *path, const char *name,
			 struct problem_list *problems, struct error *error)
{
	struct run_node found;
	bool has_trace = false;
	int status = 0;

	run_node_find(&found, path, NULL, problems);
	for (size_t i = 0; i < found.sources; i++)
		has_trace |= found.source[i].kind == SOURCE_TRACE;
	for (size_t i = 0; i < found.sources; i++)
		if (!has_trace || found.source[i].kind == SOURCE_TRACE)
			add_alone(list, &found.source[i], name, problems);
	if (!found.sources)
		status = error_set(
		    error, "%s: no trace below it (expected a metadata file)", path);
	run_node_clear(&found);
	return status;
}

static int add_path(struct source_list *list, const char *path, const char *name,
		    struct problem_list *problems, struct error *error)
{
	struct source found = {.kind = SOURCE_CAPTURE, .path = (char *)path};
	struct stat status;

	if (stat(path, &status))
		return error_errno(error, path);
	if (S_ISDIR(status.st_mode))
		return add_directory(list, path, name, problems, error);
	if (list->accepts_extracts && packets_file_probe(path))
		return add_extract(list, path, name, NULL, error);
	if (is_trace_path(path))
		found.kind = SOURCE_TRACE;
	else if (!capture_probe(path, error))
		return error->text
			   ? error_prefix(error, "%s", path)
			   : error_set(error,
				       "%s: neither a trace nor a capture; expected a "
				       "directory with a metadata file%s, a trace.dat, "
				       "pcap or pcapng",
				       path,
				       list->accepts_extracts ? ", a .packets file" : "");
	output_protect(path);
	add_alone(list, &found, name, problems);
	return 0;
}

int source_add_trace(struct source_list *list, const char *argument,
		     struct problem_list *problems, struct error *error)
{
	const char *equals = strchr(argument, '=');
	char *name = NULL, *path;
	struct stat status;
	int result;

	/* An existing path can contain a '='. */
	if (equals && equals > argument && stat(argument, &status)) {
		name = mem_strndup(argument, (size_t)(equals - argument));
		argument = equals + 1;
	}
	path = path_trim(argument);
	result = add_path(list, path, name, problems, error);
	free(path);
	free(name);
	return result;
}

void source_list_clear(struct source_list *list)
{
	declared_list_clear(&list->declared);
	for (size_t i = 0; i < list->count; i++) {
		free(list->item[i].name);
		free(list->item[i].path);
		free(list->item[i].node);
		free(list->item[i].local);
		free(list->item[i].declared);
		for (size_t k = 0; k < list->item[i].parts; k++)
			free(list->item[i].part[k].path);
		free(list->item[i].part);
		free(list->item[i].realtime);
		node_claims_clear(&list->item[i].claims);
		trace_recorded_clear(&list->item[i].recorded);
	}
	free(list->item);
	memset(list, 0, sizeof(*list));
}

/* Return true if nothing shows that two sources are of different nodes. */
static bool may_be_one_node(const struct source *a, const struct trace_facts *a_facts,
			    const struct source *b, const struct trace_facts *b_facts)
{
	if (a->node && b->node)
		return strcmp(a->node, b->node) == 0;
	return !*a_facts->hostname || !*b_facts->hostname ||
	       strcmp(a_facts->hostname, b_facts->hostname) == 0;
}

bool same_clock_identity(const struct trace_facts *a, const struct trace_facts *b)
{
	return a->has_uuid && b->has_uuid && a->clock_frequency == b->clock_frequency &&
	       (!*a->clock_name || !*b->clock_name ||
		strcmp(a->clock_name, b->clock_name) == 0) &&
	       memcmp(a->clock_uuid, b->clock_uuid, sizeof(a->clock_uuid)) == 0;
}

enum same_clock same_clock(const struct source *a, const struct trace_facts *a_facts,
			   const struct source *b, const struct trace_facts *b_facts)
{
	if (!same_clock_identity(a_facts, b_facts))
		return SAME_NOT;
	return may_be_one_node(a, a_facts, b, b_facts) ? SAME_CLOCK : SAME_CLONED;
}

/* Return true for the entries of a trace: its streams and its metadata. */
static int is_part(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/*
 * Add a file's size and first bytes to a hash; anything but a regular file adds nothing.
 * Return 0, or -1 if it cannot be read.
 */
static int hash_file(const char *path, uint64_t *hash, uint64_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t begin[1 << 14];
	struct stat status;
	ssize_t bytes = -1;

	if (fd >= 0 && fstat(fd, &status) == 0) {
		*size = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
		bytes = *size ? pread(fd, begin, sizeof(begin), 0) : 0;
	}
	if (fd >= 0)
		close(fd);
	if (bytes < 0)
		return -1;
	*hash = hash_bytes(*hash, size, sizeof(*size));
	*hash = hash_bytes(*hash, begin, (size_t)bytes);
	return 0;
}

/*
 * Return the fingerprint of a trace. Traces without a stream, or with empty streams, have
 * no events in common.
 */
static uint64_t fingerprint_of_trace(const char *path, uint64_t hash)
{
	AUTOFREE struct dirent **entry = NULL;
	int count = scandir(path, &entry, is_part, alphasort), status = 0;
	uint64_t streams = 0;

	for (int i = 0; i < count; i++) {
		const char *name = entry[i]->d_name;
		AUTOFREE char *part = mem_printf("%s/%s", path, name);
		uint64_t size = 0;

		hash = hash_text(hash, name);
		status |= hash_file(part, &hash, &size);
		streams += strcmp(name, "metadata") != 0 ? size : 0;
		free(entry[i]);
	}
	return status || !streams ? 0 : hash;
}

/* Return true if a file may have hardly more than headers, and reading it costs little.
 */
static bool is_small(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && status.st_size < 1 << 12;
}

uint64_t same_events_fingerprint(const struct source *source)
{
	uint64_t hash = HASH_INIT ^ (source->kind + 2 * source->extract), size = 0;

	if (source->kind == SOURCE_TRACE && !source->extract && !is_file_trace(source))
		return fingerprint_of_trace(source->path, hash);
	for (size_t i = 1; i < source->parts; i++)
		if (hash_file(source->part[i].path, &hash, &size))
			return 0;
	/* Captures without packets are not the same source. */
	if (source->kind == SOURCE_CAPTURE && !source->extract && !source->parts &&
	    is_small(source->path) && capture_is_empty(source->path))
		return 0;
	return hash_file(source->path, &hash, &size) || !size ? 0 : hash;
}
