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

/* Members of a JSON object that become members of a struct. */
enum member_type {
	MEMBER_TEXT,            /* const char *, borrowed of the object */
	MEMBER_INTEGER,         /* int64_t */
	MEMBER_INTEGER_OR_TEXT, /* int64_t; a text is right as well, and stays */
	MEMBER_STAMP,           /* nsec_t */
	MEMBER_REAL,            /* double */
	MEMBER_ARRAY,           /* this and those below: const json_t *, borrowed */
	MEMBER_OBJECT,
	MEMBER_ANY,
};

struct member {
	const char *name; /* NULL: the end of a table */
	enum member_type type;
	size_t offset; /* in the struct; MEMBER_STAYS: it is looked at, no more */
};

#define MEMBER_STAYS SIZE_MAX

/*
 * Read the members of a table, all of which may be missing; null is as good as missing,
 * and what is missing leaves the struct alone. A member of a wrong type is a problem and
 * stays with the rest, as do members that no table has: nothing is lost. Returns the
 * rest, for json_decref().
 */
json_t *members_read(const json_t *object, const struct member *member, void *to,
		     struct problem_log *log, uint64_t line);

/* The values of an array in one text: strings as they are, others as JSON. For free(). */
char *json_join(const json_t *array, const char *separator);

/* What node.json says of a node, as far as it is there. */
struct node_facts {
	json_t *object;       /* the texts below are its own, or NULL */
	const char *hostname; /* this and the texts below: or NULL */
	const char *kernel;
	const char *boot_id;
	int64_t cpus, mem_kib; /* 0: unknown */
	double cpu_mhz;        /* 0: unknown */
	const json_t *interfaces;
	struct node_address *address; /* of all of them */
	size_t addresses, capacity;
	char *extra; /* members not named here, a JSON object */
};

/*
 * Read a node.json, or the output of `ip -j addr`. If there is no file, all facts are
 * empty. Members of wrong types become problems. Return 0, or -1 with error if the file
 * is neither a JSON object nor a non-empty array, or if it contains an invalid address.
 */
int node_facts_read(struct node_facts *facts, const char *path,
		    struct problem_list *problems, struct error *error);

void node_facts_clear(struct node_facts *facts);

/* What run.json says of a run as a whole, as far as it is there: keys of `meta`. */
struct run_facts {
	struct run_fact {
		char *name; /* "name", "parameter.load", "role.node1" */
		char *text; /* strings as they are, others as JSON; NULL: a stamp */
		nsec_t stamp;
	} * item;
	size_t count, capacity;
};

/*
 * Read a run.json. 0, also when there is none (then all is empty), or -1 with
 * error when there is one and it is no JSON object. Members of wrong types are
 * reported.
 */
int run_facts_read(struct run_facts *facts, const char *path,
		   struct problem_list *problems, struct error *error);

void run_facts_clear(struct run_facts *facts);

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

/* Report a file next to the nodes' directories if it contains a node's data. */
void run_report_stray(const char *path, struct problem_list *problems);

/* What a run directory holds of its own beside nodes is an input, too. */
void run_protect(const char *path);

/* Whether a path ends so. */
bool path_has_suffix(const char *path, const char *suffix);

/* The path of the file of a kind in the node's directory, or NULL. Borrowed. */
const char *run_node_file(const struct run_node *node, enum run_file_kind kind);

void run_files_clear(struct run_files *run);

#endif
