/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RUN_FACTS_H
#define CT_INPUT_RUN_FACTS_H

#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "base/nsec.h"
#include "base/problem.h"
#include "input/faults.h"
#include "input/packet_source.h"

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

/* A member that is an array, borrowed; NULL where it is not. */
const json_t *members_array(struct members *members, const char *name);

/* The values of an array in one text: strings as they are, others as JSON. For free(). */
char *json_join(const json_t *array, const char *separator);

/* What is left, as a JSON object on one line; NULL where nothing is. For free(). */
char *members_end(struct members *members);

/* What node.json says of a node, as far as it is there. */
struct node_facts {
	char *hostname; /* this and the texts below: or NULL */
	char *kernel;
	char *boot_id;
	char *clock_source;
	int64_t cpus, mem_kib; /* 0: unknown */
	double cpu_mhz;        /* 0: unknown */
	struct node_tool {
		char *name, *version;
	} * tool; /* what recorded it, in the order of the file */
	size_t tools, tool_room;
	struct node_address *address;
	size_t addresses, room;
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

/* What run.json says of a run as a whole, as far as it is there. */
struct run_facts {
	char *name;
	char *recipe; /* its name; a recipe that stands there whole is JSON */
	char *collector_version;
	nsec_t begin_ns, end_ns; /* 0: unknown */
	struct run_parameter {
		char *name;
		char *value; /* strings as they are, others as JSON */
	} * parameter;       /* in the order of the file */
	size_t parameters, parameter_room;
	struct run_fact_node {
		char *name;
		char *role;  /* or NULL; several are joined by commas */
		char *extra; /* other members, a JSON object, or NULL */
	} * node;            /* in the order of the file */
	size_t nodes, node_room;
	char *extra; /* members not named here, a JSON object, or NULL */
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
