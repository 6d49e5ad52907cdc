/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NODE_H
#define CT_INPUT_NODE_H

#include "base/error.h"
#include "input/packet_source.h"

/* What node.json says of a node, as far as it is there. */
struct node_facts {
	char *hostname; /* or NULL */
	struct node_address *address;
	size_t addresses, room;
};

/*
 * Read a node.json. 0, also when there is none (then all is empty), or -1
 * with error when there is one and it is broken.
 */
int node_facts_read(struct node_facts *facts, const char *path, struct error *error);

void node_facts_clear(struct node_facts *facts);

#endif
