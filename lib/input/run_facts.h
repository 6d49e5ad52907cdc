/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RUN_FACTS_H
#define CT_INPUT_RUN_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "base/nsec.h"
#include "input/packet_source.h"
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

#endif
