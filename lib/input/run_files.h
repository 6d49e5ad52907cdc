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
 * What is below a node's directory. A node is its directory: names differ if any byte of
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
	struct source *source; /* kind and path, in the order of their names */
	size_t sources, source_capacity;
	struct run_file *file; /* what is there besides */
	size_t files, capacity;
	struct node_facts facts; /* where source_add_run found something of a node */
};

/* A run directory, or that of one node: what source_add_run found beside sources. */
struct run_files {
	char *run_json;        /* or NULL */
	struct run_node *node; /* in the order of their names; each holds something */
	size_t nodes, capacity;
};

/*
 * Whether a directory was not entered yet, however it is reached; from now on it counts
 * as entered.
 */
bool directory_enter(struct texts *entered, const struct stat *directory);

/*
 * Find everything below a path, in the order of names: CTF traces, which are not looked
 * into, and files. Names that begin with a dot are passed over, links are followed, and
 * no directory is entered twice, nor that of the run, as links may lead in circles. What
 * a recorder wrote of it is an input from then on, read or not (output_protect). What
 * cannot be looked into is reported.
 */
void run_node_find(struct run_node *node, const char *path, const struct stat *run,
		   struct problem_list *problems);
void run_node_clear(struct run_node *node);

/* What a run directory holds of its own beside nodes is an input, too. */
void run_protect(const char *path);

/* Whether a path ends so. */
bool path_has_suffix(const char *path, const char *suffix);

/* The path of the file of a kind in the node's directory, or NULL. Borrowed. */
const char *run_node_file(const struct run_node *node, enum run_file_kind kind);

void run_files_clear(struct run_files *run);

#endif
