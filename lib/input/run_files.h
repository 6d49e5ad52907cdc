/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RUN_FILES_H
#define CT_INPUT_RUN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/json.h"
#include "base/problem.h"
#include "input/faults.h"

/*
 * Everything below a path, in the order of names: CTF traces, which are not
 * looked into, files, and other directories before what is in them. Names that begin with
 * a dot are passed over, links are followed, and no directory is entered twice, as links
 * may lead in circles. What a recorder wrote of it is an input from then on, read or not
 * (output_protect).
 */
enum walk_kind { WALK_TRACE, WALK_FILE, WALK_DIRECTORY };

struct walk {
	void (*found)(void *context, enum walk_kind kind, const char *path);
	void *context;
	struct problem_list *problems; /* what cannot be read */
	struct walk_directory *seen;
	size_t seens, room;
};

void walk_init(struct walk *walk, struct problem_list *problems);

/* Whether a directory was not entered yet; from now on it counts as entered. */
bool walk_enter(struct walk *walk, const struct stat *directory);

/* Report what a path is, or everything below it. */
void walk_below(struct walk *walk, const char *path);

void walk_clear(struct walk *walk);

/* What a run directory holds of its own beside nodes is an input, too. */
void walk_protect_run(const char *path);

/* A path without the slashes at its end. For free(). */
char *walk_trimmed(const char *path);

/* Whether a path ends so. */
bool walk_has_suffix(const char *path, const char *suffix);

/*
 * The members of a JSON object, taken one by one, all of which may be missing;
 * null is as good as missing. A member of a wrong type is a fault and stays with
 * the rest, as do members that nobody takes: nothing is lost.
 */
struct members {
	const json_t *object; /* borrowed */
	json_t *rest;
	struct faults *faults;
	uint64_t line;
};

void members_init(struct members *members, const json_t *object, struct faults *faults,
		  uint64_t line);

/* Each leaves the value alone unless the member is there and right. */
void members_text(struct members *members, const char *name, char **copy);
void members_integer(struct members *members, const char *name, int64_t *value);
void members_stamp(struct members *members, const char *name, nsec_t *value);
void members_real(struct members *members, const char *name, double *value);

/* A member that is an array or an object, borrowed; NULL where it is not. */
const json_t *members_array(struct members *members, const char *name);
const json_t *members_object(struct members *members, const char *name);

/* A string as it is, anything else as JSON on one line. For free(), or NULL. */
char *members_any(struct members *members, const char *name);
char *json_plain(const json_t *value);

/* The values of an array, each as json_plain has it, in one text. For free(). */
char *json_join(const json_t *array, const char *separator);

/* What is left, as a JSON object on one line; NULL where nothing is. For free(). */
char *members_end(struct members *members);

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
