/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What went over the network: bytes, packets, retransmissions. */
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/net_traffic.h"
#include "base/mem.h"

static const struct result_column interface_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"interface", "INTERFACE", UNIT_TEXT},
    {"sent", "SENT", UNIT_COUNT},
    {"sent_bytes", "BYTES", UNIT_BYTES},
    {"sent_bytes_per_second", "RATE", UNIT_BYTE_RATE},
    {"received", "RECEIVED", UNIT_COUNT},
    {"received_bytes", "BYTES", UNIT_BYTES},
    {"received_bytes_per_second", "RATE", UNIT_BYTE_RATE},
    {NULL, NULL, 0},
};

static const struct result_column interval_columns[] = {
    {"begin_ns", "BEGIN", UNIT_INSTANT},     {"node", "NODE", UNIT_TEXT},
    {"interface", "INTERFACE", UNIT_TEXT},   {"sent", "SENT", UNIT_COUNT},
    {"sent_bytes", "BYTES", UNIT_BYTES},     {"received", "RECEIVED", UNIT_COUNT},
    {"received_bytes", "BYTES", UNIT_BYTES}, {NULL, NULL, 0},
};

#define SENT_COLUMNS                                                                     \
	{"packets", "PACKETS", UNIT_COUNT}, {"bytes", "BYTES", UNIT_BYTES},              \
	    {"retransmitted", "SENT AGAIN", UNIT_COUNT},                                 \
	    {"retransmitted_bytes", "BYTES", UNIT_BYTES},                                \
	{                                                                                \
		"retransmitted_percent", "SHARE", UNIT_PERCENT                           \
	}

static const struct result_column pair_columns[] = {
    {"from", "FROM", UNIT_TEXT},
    {"to", "TO", UNIT_TEXT},
    {"flows", "FLOWS", UNIT_COUNT},
    SENT_COLUMNS,
    {NULL, NULL, 0},
};

static const struct result_column flow_columns[] = {
    {"from", "FROM", UNIT_TEXT},
    {"to", "TO", UNIT_TEXT},
    {"protocol", "PROTOCOL", UNIT_TEXT},
    {"src", "SRC", UNIT_TEXT},
    {"sport", "PORT", UNIT_ID},
    {"dst", "DST", UNIT_TEXT},
    {"dport", "PORT", UNIT_ID},
    SENT_COLUMNS,
    {"first_ns", "FIRST", UNIT_INSTANT},
    {"span_ns", "SPAN", UNIT_SPAN},
    {"bytes_per_second", "RATE", UNIT_BYTE_RATE},
    {NULL, NULL, 0},
};

static double rate(const struct net_traffic *net, uint64_t bytes)
{
	nsec_t span =
	    nsec_sub(net->question->scope.end_ns, net->question->scope.begin_ns);

	return span > 0 ? (double)bytes * 1e9 / (double)span : 0;
}

static void add_interfaces(const struct net_traffic *net, struct result_table *table)
{
	for (size_t i = 0; i < net->interface_keys.count; i++) {
		const struct net_interface *at = &net->interface[i];

		result_add(
		    table,
		    (struct cell[]){cell_of_text(question_node(net->question, at->node)),
				    cell_of_text(at->name),
				    cell_of_integer((int64_t)at->all.sent),
				    cell_of_integer((int64_t)at->all.sent_bytes),
				    cell_of_real(rate(net, at->all.sent_bytes)),
				    cell_of_integer((int64_t)at->all.received),
				    cell_of_integer((int64_t)at->all.received_bytes),
				    cell_of_real(rate(net, at->all.received_bytes))});
	}
}

/* The cells of SENT_COLUMNS. */
static void sent_cells(struct cell *cell, const struct flow *flow)
{
	cell[0] = cell_of_integer((int64_t)flow->packets);
	cell[1] = cell_of_integer((int64_t)flow->bytes);
	cell[2] = cell_of_integer((int64_t)flow->again_packets);
	cell[3] = cell_of_integer((int64_t)flow->again_bytes);
	cell[4] = cell_of_real(100 * (double)flow->again_packets / (double)flow->packets);
}

/* The node that has the address, or the address where none is known to. */
static const char *receiver_of(struct net_traffic *net, const struct flow *flow)
{
	int64_t node = net_traffic_node(net, flow->dst);

	return node >= 0 ? question_node(net->question, node) : flow->dst;
}

static void add_flow(struct net_traffic *net, struct result_table *table,
		     const struct flow *flow)
{
	nsec_t span = nsec_sub(flow->last_ns, flow->first_ns);
	struct cell cells[15] = {
	    cell_of_text(question_node(net->question, flow->node)),
	    cell_of_text(receiver_of(net, flow)),
	    cell_of_text(flow->protocol),
	    cell_of_text(flow->src),
	    cell_of_known(flow->sport, -1),
	    cell_of_text(flow->dst),
	    cell_of_known(flow->dport, -1),
	};

	sent_cells(&cells[7], flow);
	cells[12] = cell_of_integer(flow->first_ns);
	cells[13] = cell_of_integer(span);
	cells[14] = span > 0 ? cell_of_real((double)flow->bytes * 1e9 / (double)span)
			     : cell_of_null();
	result_add(table, cells);
}

/* Sums of flows by the two ends. */
struct pairs {
	struct keys keys;
	struct pair {
		const char *from, *to; /* borrowed */
		int64_t flows;
		struct flow sum;
	} * item;
	size_t room;
};

static void add_to_pair(struct pairs *pairs, const char *from, const char *to,
			const struct flow *flow)
{
	size_t before = pairs->keys.count, at;
	struct pair *pair;

	keys_begin(&pairs->keys);
	keys_text(&pairs->keys, from, strlen(from));
	keys_text(&pairs->keys, to, strlen(to));
	at = keys_find(&pairs->keys);
	if (at == before) {
		pairs->item =
		    mem_grow(pairs->item, at, &pairs->room, sizeof(*pairs->item));
		pairs->item[at] = (struct pair){.from = from, .to = to};
	}
	pair = &pairs->item[at];
	pair->flows++;
	pair->sum.packets += flow->packets;
	pair->sum.bytes += flow->bytes;
	pair->sum.again_packets += flow->again_packets;
	pair->sum.again_bytes += flow->again_bytes;
}

static void add_pairs(const struct pairs *pairs, struct result_table *table)
{
	for (size_t i = 0; i < pairs->keys.count; i++) {
		struct cell cells[8] = {cell_of_text(pairs->item[i].from),
					cell_of_text(pairs->item[i].to),
					cell_of_integer(pairs->item[i].flows)};

		sent_cells(&cells[3], &pairs->item[i].sum);
		result_add(table, cells);
	}
}

/* Flows of kernels, and of captures where the node's kernel has none. */
static void add_flows(struct net_traffic *net, struct result_table *pair_table,
		      struct result_table *flow_table)
{
	struct flows *views[] = {&net->flows, &net->captured};
	const struct scope *scope = &net->question->scope;
	struct pairs pairs = {0};

	for (size_t view = 0; view < 2; view++)
		for (size_t i = 0; i < views[view]->keys.count; i++) {
			const struct flow *flow = &views[view]->item[i];
			const struct scope_node *node = scope_find(scope, flow->node);

			if (view && net->has_kernel[node - scope->node])
				continue;
			add_flow(net, flow_table, flow);
			add_to_pair(&pairs, node->name, receiver_of(net, flow), flow);
		}
	add_pairs(&pairs, pair_table);
	keys_clear(&pairs.keys);
	free(pairs.item);
}

static void add_notes(const struct net_traffic *net, struct result *result)
{
	if (!net->has_sends)
		result_missing(result, "packets sent", "net_dev_queue");
	if (!net->has_receives)
		result_missing(result, "packets received", "net_if_receive_skb");
	if (!net->has_headers)
		result_missing(
		    result, "flows and retransmissions",
		    "net_dev_queue with headers, lttng-modules 2.9 or later, or "
		    "a capture");
	if (net->flows.merged + net->captured.merged)
		result_note(
		    result,
		    "%llu packets of flows beyond the first %d are counted with "
		    "the last of these",
		    (unsigned long long)(net->flows.merged + net->captured.merged),
		    MOST_FLOWS);
}

static int run_net(struct question *question, struct result *result, struct error *error)
{
	struct net_traffic net = {.question = question};
	struct result_table *interfaces = result_table_new(
	    result, "interfaces", "Traffic by interface", interface_columns);
	struct result_table *pairs =
	    result_table_new(result, "pairs", "Sent by pair of nodes", pair_columns);
	struct result_table *flows =
	    result_table_new(result, "flows", "Sent by flow", flow_columns);
	int status;

	result_table_sort(interfaces, "node,interface");
	result_table_sort(pairs, "from,to");
	result_table_sort(flows, "-bytes,from,to,src,sport,dst,dport");
	result_table_limit(flows, 10);
	if (question->request->interval_ns) {
		net.over_time = result_table_new(result, "over_time", "Traffic over time",
						 interval_columns);
		result_table_sort(net.over_time, "begin_ns,node,interface");
	}
	status = net_traffic_read(&net, error);
	if (!status) {
		add_interfaces(&net, interfaces);
		add_flows(&net, pairs, flows);
		add_notes(&net, result);
	}
	net_traffic_clear(&net);
	return status;
}

const struct analysis analysis_net = {
    .name = "net",
    .summary = "bytes, packets, retransmissions by interface, nodes and flow",
    .description =
	"interfaces: what was handed to an interface, with its link header, and what\n"
	"came from it, without. pairs, flows: what nodes sent, from the network header\n"
	"on, as it left the kernel: before segmentation offload cut it up. SENT AGAIN\n"
	"are TCP segments whose bytes had been sent before. --interval: interfaces over\n"
	"time. Needs net_dev_queue and net_if_receive_skb; where a node's kernel has\n"
	"none, its capture tells of what it sent.",
    .heeds = HEEDS_INTERVAL,
    .run = run_net,
};
