/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RUN_FILES_H
#define CT_INPUT_RUN_FILES_H

#include <stddef.h>

#include "base/error.h"
#include "base/problem.h"

/*
 * What a run directory holds besides traces and captures, which
 * source_add_run finds. A node is its directory: names differ if any byte of
 * them does, and host names in files tell nothing.
 */
enum run_file_kind {
	RUN_FILE_NODE,        /* node.json; this and those below: in the directory */
	RUN_FILE_CLOCK,       /* clock.csv */
	RUN_FILE_PROC,        /* proc.csv */
	RUN_FILE_SENSORS,     /* sensors.csv */
	RUN_FILE_INVOCATIONS, /* invocations.jsonl */
	RUN_FILE_SADF,        /* *.sadf, anywhere below it */
	RUN_FILE_SA,          /* *.sa that has no *.sadf beside it */
};

struct run_file {
	enum run_file_kind kind;
	char *path;
};

struct run_node {
	char *name; /* of its directory */
	char *path;
	size_t sources;        /* traces and captures below it */
	struct run_file *file; /* in the order of their names */
	size_t files, room;
};

struct run_files {
	char *path;
	char *run_json;        /* or NULL */
	struct run_node *node; /* in the order of their names */
	size_t nodes, room;
};

/*
 * Look through a run directory, or that of one node (run_node_name). Subdirectories that
 * hold nothing of a run are no nodes. Two names for one directory (a link to it) are one
 * node, and the later name is reported; so is what cannot be looked into, as
 * source_add_run does, too. `only`: that node alone, NULL: all. 0, or -1 with error where
 * it cannot be read.
 */
int run_files_find(struct run_files *run, const char *path, const char *only,
		   struct problem_list *problems, struct error *error);

/* The path of the file of a kind in the node's directory, or NULL. Borrowed. */
const char *run_node_file(const struct run_node *node, enum run_file_kind kind);

void run_files_clear(struct run_files *run);

#endif
