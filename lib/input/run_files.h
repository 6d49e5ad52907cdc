/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RUN_FILES_H
#define CT_INPUT_RUN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/nsec.h"
#include "input/packet_source.h"
#include "input/run.h"
#include "problem/problem.h"

struct problem_log;

/* The type of a JSON object's member that is stored in a struct. */
enum member_type {
	MEMBER_TEXT,            /* const char *, borrowed from the object */
	MEMBER_INTEGER,         /* int64_t */
	MEMBER_INTEGER_OR_TEXT, /* int64_t; a string is also valid and stays in the rest
				 */
	MEMBER_STAMP,           /* nsec_t */
	MEMBER_REAL,            /* double */
	MEMBER_ARRAY,           /* const json_t *, borrowed, as for the types below */
	MEMBER_OBJECT,
	MEMBER_ANY,
};

struct member {
	const char *name; /* NULL at the end of a table */
	enum member_type type;
	size_t offset; /* in the struct; MEMBER_STAYS: only check the type */
};

#define MEMBER_STAYS SIZE_MAX

/*
 * Read an object's members into a struct by a table. Members that are missing or null
 * leave the struct unchanged. A member of a wrong type becomes a problem and, like a
 * member that the table lacks, stays in the rest, so nothing is lost. Return the rest;
 * the caller calls json_decref().
 */
json_t *members_read(const json_t *object, const struct member *member, void *to,
		     struct problem_log *log, uint64_t line);

/*
 * Join the values of an array: strings unquoted, others as JSON. The caller frees the
 * result.
 */
char *json_join(const json_t *array, const char *separator);

/* The contents of a node.json, as far as they are present. */
struct node_facts {
	json_t *object;       /* owns the strings below; may be NULL */
	const char *hostname; /* this and the strings below are NULL if missing */
	const char *kernel;
	const char *boot_id;
	int64_t cpus, mem_kib; /* 0 if unknown */
	double cpu_mhz;        /* 0 if unknown */
	const json_t *interfaces;
	struct node_address *address; /* addresses of all interfaces */
	size_t addresses, capacity;
	char *extra; /* other members, as a JSON object */
};

/*
 * Read a node.json, or the output of `ip -j addr`. If there is no file, all facts are
 * empty. Members of wrong types become problems. Return 0, or -1 with error if the file
 * is neither a JSON object nor a non-empty array, or if it contains an invalid address.
 */
int node_facts_read(struct node_facts *facts, const char *path,
		    struct problem_list *problems, struct error *error);

void node_facts_clear(struct node_facts *facts);

/* The contents of a run.json, as far as they are present: keys of the table `meta`. */
struct run_facts {
	struct run_fact {
		char *name; /* "name", "parameter.load", "role.node1" */
		char *text; /* strings unquoted, others as JSON; NULL if it is a timestamp
			     */
		nsec_t stamp;
	} * item;
	size_t count, capacity;
};

/*
 * Read a run.json. Without a file, all facts are empty. Members of wrong types become
 * problems. Return 0, or -1 with error if the file is not a JSON object.
 */
int run_facts_read(struct run_facts *facts, const char *path,
		   struct problem_list *problems, struct error *error);

void run_facts_clear(struct run_facts *facts);

/*
 * The kinds of files below a node's directory. A node is identified by its directory:
 * names differ if any of their bytes does, and host names in files are not used.
 */
enum run_file_kind {
	RUN_FILE_NODE, /* node.json; this and those below are directly in the directory */
	RUN_FILE_CLOCK,       /* clock.csv */
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
 * What cannot be read becomes a problem.
 */
void run_node_find(struct run_node *node, const char *path, const struct stat *run,
		   struct problem_list *problems);
void run_node_clear(struct run_node *node);

/* Report a file next to the nodes' directories if it contains a node's data. */
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
