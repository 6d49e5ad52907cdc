/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RUN_FACTS_H
#define CT_INPUT_RUN_FACTS_H

#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "base/nsec.h"
#include "input/packet_source.h"
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
 * Read a node.json. 0, also when there is none (then all is empty), or -1
 * with error when there is one and it is no JSON object, or has an address that
 * is none. Other members of wrong types are reported.
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

#endif
