/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/run_files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/natural.h"
#include "input/run.h"
#include "input/walk.h"

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
	count = scandir(path, &entry, NULL, natural_entries);
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
