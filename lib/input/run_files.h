/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RUN_FILES_H
#define CT_INPUT_RUN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "input/run.h"
#include "input/run_facts.h"
#include "problem/problem.h"

/*
 * The kinds of files below a node's directory. A node is identified by its directory:
 * names differ if any of their bytes does, and host names in files are not used.
 */
enum run_file_kind {
	RUN_FILE_NODE, /* node.json; this and those below are directly in the directory */
	RUN_FILE_CLOCK,       /* clock.csv */
	RUN_FILE_CLAIMS,      /* clock_claims.csv, tracking.log, ptp4l.log */
	RUN_FILE_PROC,        /* proc.csv */
	RUN_FILE_SENSORS,     /* sensors.csv */
	RUN_FILE_INVOCATIONS, /* invocations.jsonl */
	RUN_FILE_SADF,        /* *.sadf, anywhere below it */
	RUN_FILE_SA,          /* *.sa without a *.sadf beside it */
};

struct run_file {
	enum run_file_kind kind;
	char *path;
};

struct run_node {
	char *name; /* name of its directory */
	char *path;
	struct source *source; /* only kind and path, in the order of paths */
	size_t sources, source_capacity;
	struct run_file *file; /* other files */
	size_t files, capacity;
	struct node_facts facts; /* set by source_add_run() if the node has anything */
};

/*
 * A run directory, or a node's directory: the files that source_add_run() found, other
 * than sources.
 */
struct run_files {
	char *run_json; /* or NULL */
	struct run_node
	    *node; /* in the order of names; only nodes with files or sources */
	size_t nodes, capacity;
};

/*
 * Mark a directory as entered, however it was reached. Return true if it was not entered
 * before.
 */
bool directory_enter(struct texts *entered, const struct stat *directory);

/*
 * Find everything below a path, in the order of names: traces, which are not searched,
 * and files. Names that start with a dot are skipped, links are followed, and no
 * directory is entered twice, not even that of the run, because links can form cycles.
 * Files of a recorder become inputs, whether they are read or not (output_protect()).
 * A file that cannot be read becomes a problem.
 */
void run_node_find(struct run_node *node, const char *path, const struct stat *run,
		   struct problem_list *problems);
void run_node_clear(struct run_node *node);

/* Report a file next to the nodes' directories that is not read. */
void run_report_stray(const char *path, struct problem_list *problems);

/* Mark the run directory's own files as inputs. */
void run_protect(const char *path);

/* Return true if a path ends with a suffix. */
bool path_has_suffix(const char *path, const char *suffix);

/*
 * Return the path of the file of a kind in the node's directory, or NULL. Borrowed from
 * the node.
 */
const char *run_node_file(const struct run_node *node, enum run_file_kind kind);

void run_files_clear(struct run_files *run);

#endif
