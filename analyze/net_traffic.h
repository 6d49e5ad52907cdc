/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_NET_TRAFFIC_H
#define CT_ANALYZE_NET_TRAFFIC_H

#include <stdbool.h>

#include "analyze/net_flow.h"
#include "analyze/question.h"
#include "analyze/result.h"

/* What went over the network, as the scope's packets tell. */
struct net_interface {
	int64_t node;
	char *name;
	struct net_sum {
		uint64_t sent, sent_bytes, received, received_bytes;
	} all, part; /* `part`: of the interval at hand */
};

struct net_traffic {
	struct question *question;
	struct keys interface_keys, address_keys;
	struct net_interface *interface; /* as many as keys */
	size_t interface_room;
	int64_t *address_node;
	size_t address_room;
	struct flows flows;    /* as kernels sent */
	struct flows captured; /* as captures saw their own nodes send */
	bool *has_kernel;      /* a node of the scope: its kernel's trace has packets */
	/* Interfaces over time, a row each --interval; NULL: not asked for. */
	struct result_table *over_time;
	nsec_t interval_end;
	bool has_sends, has_receives, has_headers; /* what is recorded */
};

/* Borrows the question. `over_time` is set before. 0, or -1 with error. */
int net_traffic_read(struct net_traffic *traffic, struct error *error);

/* The node that has an address, by the messages between nodes. -1: none is known to. */
int64_t net_traffic_node(struct net_traffic *traffic, const char *address);

void net_traffic_clear(struct net_traffic *traffic);

#endif
