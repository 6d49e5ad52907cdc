/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NODE_H
#define CT_INPUT_NODE_H

#include "base/error.h"
#include "base/problem.h"
#include "input/packet_source.h"

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

#endif
