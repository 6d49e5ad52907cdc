/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/limits.h"

#include <math.h>

#include "base/mem.h"
#include "sync/print.h"

/* From this share of a bound's width on, a part is what limits it. */
#define MAIN_SHARE 0.5

/* Latencies that are this many times the quickest ones are due to load. */
#define LOAD_RATIO 2

/* A message, as a bound on a clock's error in one direction. */
struct limiting_message {
	int other; /* clock at the other end, or -1 if there is no message */
	nsec_t away_ns;
	double latency_ns, drift_ns, other_ns; /* the bound is their sum */
	double least_ns; /* the quickest latency of the pair in this direction */
};

static double sum_of(const struct limiting_message *message)
{
	return message->other < 0
		   ? INFINITY
		   : message->latency_ns + message->drift_ns + message->other_ns;
}

/* Return the bound of a clock at a reference time, on the side that a message needs. */
static double bound_of(const struct synchronization *sync, uint32_t index, nsec_t ref_ns,
		       bool high)
{
	const struct clock *clock = &sync->verdict.clock[index];
	struct clock_bound bound;

	if (sync->network.graph.node[index].parent < 0)
		return 0;
	if (!clock->bounds)
		return INFINITY;
	bound = clock_bound_at(clock, clock_invert(clock, ref_ns),
			       sync->network.limit_ppm * 1e3);
	if (high)
		return bound.high_ns == NSEC_MAX ? INFINITY : (double)bound.high_ns;
	return bound.low_ns == NSEC_MIN ? INFINITY : -(double)bound.low_ns;
}

/* Find the message, sent by a clock or received, that bounds its error most. */
static struct limiting_message find_message(const struct synchronization *sync,
					    uint32_t index, nsec_t ref_ns, bool is_sent)
{
	const struct network *net = &sync->network;
	double rate = clock_mean_rate(&sync->verdict.clock[index]);
	struct limiting_message best = {.other = -1};

	for (size_t i = 0; i < net->pairs.count; i++) {
		const struct pair *pair = &net->pairs.pair[i];
		const struct pair_latency *latency = &sync->latencies.pair[i];
		bool is_a = pair->a == index, is_forward = is_a == is_sent;
		const struct quick_list *list = &sync->latencies.quick[i][is_forward];
		struct limiting_message one = {
		    .other = (int)(is_a ? pair->b : pair->a),
		    .least_ns = (double)(is_forward ? latency->min_latency_ab_ns
						    : latency->min_latency_ba_ns)};

		if ((!is_a && pair->b != index) || pair->contradictory)
			continue;
		for (size_t k = 0; k < list->count; k++) {
			one.latency_ns = list->item[k].latency_ns;
			one.away_ns = nsec_sub(ref_ns, list->item[k].at);
			/* The error grows by the drift limit less the line's rate. */
			one.drift_ns =
			    fabs((double)one.away_ns) *
			    (net->limit + ((one.away_ns > 0) == is_sent ? -rate : rate));
			one.other_ns = 0;
			if (sum_of(&one) >= sum_of(&best))
				continue;
			one.other_ns = bound_of(sync, (uint32_t)one.other,
						list->item[k].at, is_sent);
			if (sum_of(&one) < sum_of(&best))
				best = one;
		}
	}
	return best;
}

/* Return true if some trace of a clock has no times at which packets enter GRO. */
static bool lacks_gro(const struct network *net, uint32_t index)
{
	for (size_t i = 0; i < net->clocks.traces; i++)
		if (net->clocks.of_trace[i].clock_index == index &&
		    net->clocks.of_trace[i].trace->counts.lacks_gro)
			return true;
	return false;
}

static const char *find_help(const struct network *net, uint32_t index,
			     const struct limiting_message *sent,
			     const struct limiting_message *received)
{
	double width = fmax(1, sum_of(sent) + sum_of(received));
	const struct trace *trace = net->clocks.clock[index].trace;

	if (sent->other < 0 && received->other < 0)
		return trace->counts.network_events ? "messages" : "capture";
	if (isinf(width))
		return "messages";
	if (sent->other_ns + received->other_ns >= MAIN_SHARE * width)
		return "others";
	if (sent->drift_ns + received->drift_ns >= MAIN_SHARE * width ||
	    sent->latency_ns + received->latency_ns >=
		LOAD_RATIO * fmax(1, sent->least_ns + received->least_ns))
		return "probe";
	if (lacks_gro(net, index))
		return "gro";
	return trace->kind == SOURCE_CAPTURE ? "events" : "";
}

static nsec_t span_or_none(const struct limiting_message *message, double span)
{
	return message->other < 0 ? NSEC_MAX : nsec_round(span);
}

static char *name_or_none(const struct network *net,
			  const struct limiting_message *message)
{
	return message->other < 0
		   ? NULL
		   : mem_strdup(network_clock_name(net, (uint32_t)message->other));
}

static struct clock_limit limit_of(const struct synchronization *sync, uint32_t index)
{
	const struct network *net = &sync->network;
	const struct clock *clock = &sync->verdict.clock[index];
	nsec_t at = offset_time(sync, clock);
	nsec_t ref = clock_correct(clock, at);
	struct limiting_message sent = find_message(sync, index, ref, true);
	struct limiting_message received = find_message(sync, index, ref, false);
	bool is_open = sent.other < 0 || received.other < 0;

	return (struct clock_limit){
	    .trace = mem_strdup(network_clock_name(net, index)),
	    .at_ns = net->clocks.clock[index].trace->facts.events ? at : NSEC_MAX,
	    .sent_to = name_or_none(net, &sent),
	    .sent_latency_ns = span_or_none(&sent, sent.latency_ns),
	    .sent_away_ns = span_or_none(&sent, (double)sent.away_ns),
	    .received_from = name_or_none(net, &received),
	    .received_latency_ns = span_or_none(&received, received.latency_ns),
	    .received_away_ns = span_or_none(&received, (double)received.away_ns),
	    .drift_ns =
		is_open ? NSEC_MAX : nsec_round(sent.drift_ns + received.drift_ns),
	    .others_ns =
		is_open ? NSEC_MAX : nsec_round(sent.other_ns + received.other_ns),
	    .help = find_help(net, index, &sent, &received),
	};
}

void limits_find(const struct synchronization *sync, struct clock_map *map)
{
	const struct network *net = &sync->network;

	map->limit = mem_zalloc((net->clocks.count + 1) * sizeof(*map->limit));
	for (uint32_t i = 0; i < net->clocks.count; i++) {
		const struct graph_node *node = &net->graph.node[i];

		if (node->parent >= 0 || (net->graph.islands > 1 &&
					  net->graph.island[node->island].members == 1))
			map->limit[map->limits++] = limit_of(sync, i);
	}
}
