/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/run_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/output.h"
#include "ctf/reader.h"
#include "input/run.h"

/* A directory, however it was reached. */
struct walk_directory {
	dev_t device;
	ino_t inode;
};

void walk_init(struct walk *walk, struct problem_list *problems)
{
	memset(walk, 0, sizeof(*walk));
	walk->problems = problems;
}

bool walk_enter(struct walk *walk, const struct stat *directory)
{
	for (size_t i = 0; i < walk->seens; i++)
		if (walk->seen[i].device == directory->st_dev &&
		    walk->seen[i].inode == directory->st_ino)
			return false;
	walk->seen = mem_grow(walk->seen, walk->seens, &walk->room, sizeof(*walk->seen));
	walk->seen[walk->seens++] =
	    (struct walk_directory){directory->st_dev, directory->st_ino};
	return true;
}

bool walk_has_suffix(const char *path, const char *suffix)
{
	size_t length = strlen(path), tail = strlen(suffix);

	return length >= tail && strcmp(path + length - tail, suffix) == 0;
}

char *walk_trimmed(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return mem_strndup(path, length);
}

static void walk_entries(struct walk *walk, const char *path)
{
	struct dirent **entry = NULL;
	int count = scandir(path, &entry, NULL, versionsort);

	if (count < 0)
		problem_add(walk->problems, path, "unreadable", 1, "%s", strerror(errno));
	for (int i = 0; i < count; i++) {
		if (entry[i]->d_name[0] != '.') {
			char *below = mem_printf("%s/%s", path, entry[i]->d_name);

			walk_below(walk, below);
			free(below);
		}
		free(entry[i]);
	}
	free(entry);
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

/* Whether a recorder writes files of this name into a run (formats.md). */
static bool is_recorded(const char *path)
{
	static const char *const names[] = {
	    "run.json", "node.json",         "clock.csv", "proc.csv", "sensors.csv",
	    "commands", "invocations.jsonl", ".collect",  NULL};
	static const char *const suffixes[] = {".pcap", ".pcapng", ".sadf", ".sa", NULL};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (is_one_of(name, names))
		return true;
	for (size_t i = 0; suffixes[i]; i++)
		if (walk_has_suffix(name, suffixes[i]))
			return true;
	return false;
}

void walk_protect_run(const char *path)
{
	static const char *const own[] = {"run.json", ".collect", NULL};

	for (size_t i = 0; own[i]; i++) {
		char *file = mem_printf("%s/%s", path, own[i]);

		output_protect(file);
		free(file);
	}
}

/* A link to nothing, by whose name nothing that was recorded is missing. */
static bool is_idle_link(const char *path)
{
	static const char *const traces[] = {"kernel", "ust", "metadata", NULL};
	struct stat status;

	return lstat(path, &status) == 0 && S_ISLNK(status.st_mode) &&
	       !is_recorded(path) && !walk_has_suffix(path, ".packets") &&
	       !is_one_of(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, traces);
}

void walk_below(struct walk *walk, const char *path)
{
	struct stat status;

	if (stat(path, &status)) {
		const char *reason = strerror(errno);

		problem_add(walk->problems, path,
			    is_idle_link(path) ? "dangling" : "unreadable", 1, "%s",
			    reason);
	} else if (!S_ISDIR(status.st_mode)) {
		if (is_recorded(path))
			output_protect(path);
		walk->found(walk->context, WALK_FILE, path);
	} else if (!walk_enter(walk, &status))
		return;
	else if (ctf_is_trace(path)) {
		output_protect(path);
		walk->found(walk->context, WALK_TRACE, path);
	} else {
		if (is_recorded(path))
			output_protect(path);
		walk->found(walk->context, WALK_DIRECTORY, path);
		walk_entries(walk, path);
	}
}

void walk_clear(struct walk *walk)
{
	free(walk->seen);
	walk->seen = NULL;
	walk->seens = walk->room = 0;
}

void members_init(struct members *members, const json_t *object, struct faults *faults,
		  uint64_t line)
{
	members->object = object;
	/* jansson wants it mutable to count references, no more. */
	members->rest = json_copy((json_t *)(uintptr_t)object);
	members->faults = faults;
	members->line = line;
}

/* A member, or NULL where it is missing; null counts as missing. */
static const json_t *find(struct members *members, const char *name)
{
	const json_t *member = json_object_get(members->object, name);

	if (!json_is_null(member))
		return member;
	json_object_del(members->rest, name);
	return NULL;
}

/* A member if it is right, then taken; otherwise a fault says what is wanted. */
static const json_t *take(struct members *members, const char *name, const json_t *member,
			  bool right, const char *wanted)
{
	if (member && right) {
		json_object_del(members->rest, name);
		return member;
	}
	if (member)
		faults_add(members->faults, "malformed", members->line,
			   "%s: want %s, not used", name, wanted);
	return NULL;
}

void members_text(struct members *members, const char *name, char **copy)
{
	const json_t *member = find(members, name);

	if (take(members, name, member, json_is_string(member), "a string"))
		*copy = mem_strdup(json_string_value(member));
}

void members_integer(struct members *members, const char *name, int64_t *value)
{
	const json_t *member = find(members, name);

	if (take(members, name, member, json_is_integer(member), "an integer"))
		*value = json_integer_value(member);
}

void members_stamp(struct members *members, const char *name, nsec_t *value)
{
	const json_t *member = find(members, name);
	bool right = json_is_integer(member) && nsec_is_stamp(json_integer_value(member));

	if (take(members, name, member, right,
		 "integer nanoseconds between the years 1933 and 2070"))
		*value = json_integer_value(member);
}

void members_real(struct members *members, const char *name, double *value)
{
	const json_t *member = find(members, name);

	if (take(members, name, member, json_is_number(member), "a number"))
		*value = json_number_value(member);
}

const json_t *members_array(struct members *members, const char *name)
{
	const json_t *member = find(members, name);

	return take(members, name, member, json_is_array(member), "an array");
}

const json_t *members_object(struct members *members, const char *name)
{
	const json_t *member = find(members, name);

	return take(members, name, member, json_is_object(member), "an object");
}

char *json_plain(const json_t *value)
{
	char text[NUMBER_TEXT];

	if (json_is_string(value))
		return mem_strdup(json_string_value(value));
	if (json_is_real(value))
		return mem_strdup(number_print(text, json_real_value(value)));
	return json_one_line(value);
}

char *json_join(const json_t *array, const char *separator)
{
	char *text = NULL;
	size_t length, i;
	FILE *file = open_memstream(&text, &length);
	const json_t *value;

	if (!file)
		return mem_strdup("");
	for (i = 0; (value = json_array_get(array, i)); i++) {
		char *plain = json_plain(value);

		fprintf(file, "%s%s", i ? separator : "", plain);
		free(plain);
	}
	fclose(file);
	return text;
}

char *members_any(struct members *members, const char *name)
{
	const json_t *member = find(members, name);

	return take(members, name, member, true, "") ? json_plain(member) : NULL;
}

char *members_end(struct members *members)
{
	char *text = NULL;

	if (json_object_size(members->rest))
		text = json_one_line(members->rest);
	json_decref(members->rest);
	members->rest = NULL;
	return text;
}

static const struct {
	const char *name;
	enum run_file_kind kind;
} fixed_names[] = {
    {"node.json", RUN_FILE_NODE},
    {"clock.csv", RUN_FILE_CLOCK},
    {"proc.csv", RUN_FILE_PROC},
    {"sensors.csv", RUN_FILE_SENSORS},
    {"invocations.jsonl", RUN_FILE_INVOCATIONS},
};

static void add_file(struct run_node *node, enum run_file_kind kind, const char *path)
{
	node->file = mem_grow(node->file, node->files, &node->room, sizeof(*node->file));
	node->file[node->files++] = (struct run_file){kind, mem_strdup(path)};
}

/* By the name of a file, with its path below the node; -1: none that is read here. */
static int kind_of(const char *path, const char *below)
{
	if (walk_has_suffix(path, ".sadf"))
		return RUN_FILE_SADF;
	if (walk_has_suffix(path, ".sa"))
		return RUN_FILE_SA;
	for (size_t i = 0; i < sizeof(fixed_names) / sizeof(*fixed_names); i++)
		if (strcmp(below, fixed_names[i].name) == 0)
			return (int)fixed_names[i].kind;
	return -1;
}

struct finding {
	struct run_node *node;
	struct problem_list *problems;
};

static void take_found(void *context, enum walk_kind found, const char *path)
{
	const struct finding *finding = context;
	struct run_node *node = finding->node;
	size_t length = strlen(node->path);
	/* The node's own directory comes, too. */
	const char *below = path[length] == '/' ? path + length + 1 : "";
	int kind = *below ? kind_of(path, below) : -1;

	if (found == WALK_TRACE ||
	    (found == WALK_FILE &&
	     (walk_has_suffix(path, ".pcap") || walk_has_suffix(path, ".pcapng"))))
		node->sources++;
	else if (kind == RUN_FILE_NODE && found == WALK_DIRECTORY)
		return; /* who reads it says so */
	else if (kind >= 0 && found == WALK_DIRECTORY)
		problem_add(finding->problems, path, "unreadable", 1,
			    "a directory, want a file of that name");
	else if (kind >= 0)
		add_file(node, (enum run_file_kind)kind, path);
}

/* Whether the text of a binary log, made on its node, is there as well. */
static bool has_text(const struct run_node *node, const char *log)
{
	size_t length = strlen(log);

	for (size_t i = 0; i < node->files; i++)
		if (node->file[i].kind == RUN_FILE_SADF &&
		    strncmp(node->file[i].path, log, length) == 0 &&
		    strcmp(node->file[i].path + length, "df") == 0)
			return true;
	return false;
}

static void leave_out_logs_with_text(struct run_node *node)
{
	size_t kept = 0;

	for (size_t i = 0; i < node->files; i++)
		if (node->file[i].kind == RUN_FILE_SA &&
		    has_text(node, node->file[i].path)) {
			free(node->file[i].path);
			node->file[i].path = NULL;
		}
	for (size_t i = 0; i < node->files; i++)
		if (node->file[i].path)
			node->file[kept++] = node->file[i];
	node->files = kept;
}

static void node_clear(struct run_node *node)
{
	for (size_t i = 0; i < node->files; i++)
		free(node->file[i].path);
	free(node->file);
	free(node->name);
	free(node->path);
}

static void add_node(struct run_files *run, const char *name, char *path,
		     const struct stat *top, struct problem_list *problems)
{
	struct run_node node = {.name = mem_strdup(name), .path = path};
	struct finding finding = {&node, problems};
	struct walk walk;

	walk_init(&walk, problems);
	walk.found = take_found;
	walk.context = &finding;
	if (top)
		walk_enter(&walk, top);
	walk_below(&walk, node.path);
	walk_clear(&walk);
	leave_out_logs_with_text(&node);
	if (!node.files && !node.sources) {
		node_clear(&node);
		return;
	}
	run->node = mem_grow(run->node, run->nodes, &run->room, sizeof(*run->node));
	run->node[run->nodes++] = node;
}

/* Whether an entry is a directory of its own; `all` knows those before it. */
static bool is_node(const struct run_files *run, const char *name, const char *only,
		    struct walk *all)
{
	char *path = mem_printf("%s/%s", run->path, name);
	struct stat status;
	bool is = *name != '.' && (!only || strcmp(name, only) == 0) &&
		  stat(path, &status) == 0 && S_ISDIR(status.st_mode);

	if (is && !walk_enter(all, &status)) {
		problem_add(all->problems, path, "twice", 1,
			    "the same directory under another name, left out");
		is = false;
	}
	free(path);
	return is;
}

int run_files_find(struct run_files *run, const char *path, const char *only,
		   struct problem_list *problems, struct error *error)
{
	struct dirent **entry;
	struct stat status;
	struct walk all;
	char *node;
	int count;

	memset(run, 0, sizeof(*run));
	if (stat(path, &status))
		return error_errno(error, path);
	node = run_node_name(path);
	if (node) {
		run->path = walk_trimmed(path);
		add_node(run, node, walk_trimmed(path), NULL, problems);
		free(node);
		return 0;
	}
	count = scandir(path, &entry, NULL, versionsort);
	if (count < 0)
		return error_errno(error, path);
	run->path = walk_trimmed(path);
	walk_protect_run(path);
	walk_init(&all, problems);
	walk_enter(&all, &status);
	for (int i = 0; i < count; i++) {
		if (strcmp(entry[i]->d_name, "run.json") == 0)
			run->run_json = mem_printf("%s/run.json", run->path);
		else if (is_node(run, entry[i]->d_name, only, &all))
			add_node(run, entry[i]->d_name,
				 mem_printf("%s/%s", run->path, entry[i]->d_name),
				 &status, problems);
		free(entry[i]);
	}
	free(entry);
	walk_clear(&all);
	return 0;
}

const char *run_node_file(const struct run_node *node, enum run_file_kind kind)
{
	for (size_t i = 0; i < node->files; i++)
		if (node->file[i].kind == kind)
			return node->file[i].path;
	return NULL;
}

void run_files_clear(struct run_files *run)
{
	for (size_t i = 0; i < run->nodes; i++)
		node_clear(&run->node[i]);
	free(run->node);
	free(run->path);
	free(run->run_json);
	memset(run, 0, sizeof(*run));
}
