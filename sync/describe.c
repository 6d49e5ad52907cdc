/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	ROUNDING = 2, /* nanoseconds, of corrections */
};

static const char *reference_of(const struct network *net, uint32_t clock)
{
	const struct graph *graph = &net->graph;

	return network_clock_name(net,
				  graph->island[graph->node[clock].island].reference);
}

static void add_segment(struct clock *clock, nsec_t local_ns, nsec_t ref_ns, double rate)
{
	clock->segment =
	    mem_realloc(clock->segment, clock->segments + 1, sizeof(*clock->segment));
	clock->segment[clock->segments++] =
	    (struct clock_segment){local_ns, ref_ns, rate};
}

/* Add the base's segments from one time of the tied clock up to another. */
static void add_segments(struct clock *clock, const struct clock *base, nsec_t offset,
			 nsec_t from, nsec_t to)
{
	size_t at = 0;

	while (at + 1 < base->segments && base->segment[at + 1].local_ns + offset <= from)
		at++;
	add_segment(clock, from, clock_correct(base, from - offset),
		    base->segment[at].rate_ppb);
	for (at++; at < base->segments && base->segment[at].local_ns + offset < to; at++)
		add_segment(clock, base->segment[at].local_ns + offset,
			    base->segment[at].ref_ns, base->segment[at].rate_ppb);
}

static void describe_segments(const struct tie *tie, const struct clock *base,
			      struct clock *clock)
{
	nsec_t from = clock->begin_ns;

	for (size_t i = tie_part_at(tie, from); i < tie->parts; i++) {
		nsec_t to = i + 1 < tie->parts ? tie_part_begin(tie, i + 1) : NSEC_MAX;

		add_segments(clock, base, tie_middle(&tie->part[i]), from, to);
		if (to > clock->end_ns)
			break;
		from = to;
	}
}

/* Widen a bound by the distance of the possible offsets from the estimated one. */
static void widen_by_tie(struct clock_bound *bound, nsec_t estimate,
			 const struct tie_part *part, double limit_ppb)
{
	double early = (double)(estimate - part->high_ns);
	double late = (double)(estimate - part->low_ns);

	early -= fabs(early) * 2 * limit_ppb * 1e-9;
	late += fabs(late) * 2 * limit_ppb * 1e-9;
	if (bound->low_ns != NSEC_MIN)
		bound->low_ns =
		    nsec_add(bound->low_ns, nsec_round(floor(early)) - ROUNDING);
	if (bound->high_ns != NSEC_MAX)
		bound->high_ns =
		    nsec_add(bound->high_ns, nsec_round(ceil(late)) + ROUNDING);
}

/* Return true if a part may apply at a time; around a step, several may. */
static bool may_hold(const struct tie *tie, size_t part, nsec_t at)
{
	return part == tie_part_at(tie, at) ||
	       (tie_part_from(tie, part) <= at && at <= tie_part_to(tie, part));
}

/*
 * A bound of the base holds up to the stated times before and after it, and so does that
 * of the tied clock, except that the tie leaves open which time of the base is meant.
 */
static void state_bound(const struct tie *tie, const struct clock *base, double limit_ppb,
			struct clock_bound *bound)
{
	nsec_t at = bound->local_ns;
	nsec_t estimate = tie_middle(&tie->part[tie_part_at(tie, at)]);

	*bound = (struct clock_bound){at, NSEC_MAX, NSEC_MIN};
	for (size_t i = 0; i < tie->parts; i++) {
		struct clock_bound here;

		if (!may_hold(tie, i, at))
			continue;
		here = clock_bound_at(base, at - tie_middle(&tie->part[i]), limit_ppb);
		widen_by_tie(&here, estimate, &tie->part[i], limit_ppb);
		clock_bound_widen(bound, &here);
	}
}

/* State bounds at the base's times, at the ends, in the middle, and at ends of parts. */
static void describe_bounds(const struct tie *tie, const struct clock *base,
			    double limit_ppb, struct clock *clock)
{
	size_t most = (base->bounds + 3) * tie->parts + 3, count = 0;
	nsec_t middle = clock->begin_ns + (clock->end_ns - clock->begin_ns) / 2;
	struct clock_bound *bound = mem_zalloc(most * sizeof(*bound));

	bound[count++].local_ns = clock->begin_ns;
	bound[count++].local_ns = middle;
	bound[count++].local_ns = clock->end_ns;
	for (size_t i = 0; i < tie->parts; i++) {
		for (size_t k = 0; k < base->bounds; k++) {
			nsec_t at = base->bound[k].local_ns + tie_middle(&tie->part[i]);

			if (may_hold(tie, i, at))
				bound[count++].local_ns = at;
		}
		if (i) {
			bound[count++].local_ns = tie_part_begin(tie, i);
			bound[count++].local_ns = tie_part_from(tie, i);
			bound[count++].local_ns = tie_part_to(tie, i - 1);
		}
	}
	count = clock_bounds_sort(bound, count);
	clock->bound = bound;
	for (size_t i = 0; i < count; i++)
		if (bound[i].local_ns >= clock->begin_ns &&
		    bound[i].local_ns <= clock->end_ns) {
			bound[clock->bounds] = bound[i];
			state_bound(tie, base, limit_ppb, &bound[clock->bounds++]);
		}
}

/* Copy the steps and slews of a clock, and add `offset` to their local times. */
static void add_events(struct clock *clock, const struct clock *from, nsec_t offset)
{
	clock->steps = from->steps;
	clock->step = mem_alloc((from->steps + 1) * sizeof(*clock->step));
	for (size_t i = 0; i < from->steps; i++) {
		clock->step[i] = from->step[i];
		clock->step[i].local_ns += offset;
	}
	clock->slews = from->slews;
	clock->slew = mem_alloc((from->slews + 1) * sizeof(*clock->slew));
	for (size_t i = 0; i < from->slews; i++) {
		clock->slew[i] = from->slew[i];
		clock->slew[i].begin_ns += offset;
		clock->slew[i].end_ns += offset;
	}
}

static void describe_tied(double limit_ppb, const struct tie *tie,
			  const struct clock *base, struct clock *clock)
{
	describe_segments(tie, base, clock);
	/* If the real-time clock was set, the parts of the tie show the steps. */
	if (tie->parts == 1)
		add_events(clock, base, tie_middle(&tie->part[0]));
	if (base->bounds)
		describe_bounds(tie, base, limit_ppb + fabs(clock_mean_rate(base)) * 1e9,
				clock);
}

static void describe_clock(const struct synchronization *sync, size_t trace_index,
			   struct clock *clock)
{
	const struct network *net = &sync->network;
	const struct trace_clock *of = &net->clocks.of_trace[trace_index];
	const struct trace *trace = of->trace;
	const struct clock *fitted = &sync->verdict.clock[of->clock_index];

	clock->trace = mem_strdup(trace->name);
	clock->path = mem_strdup(trace->path);
	clock->reference = mem_strdup(reference_of(net, of->clock_index));
	clock->quality = sync->verdict.trace[trace_index];
	clock->begin_ns = trace->facts.begin_ns;
	clock->end_ns = trace->facts.end_ns;
	if (of->tie) {
		describe_tied(net->limit_ppm * 1e3, of->tie, fitted, clock);
	} else {
		clock_copy_correction(clock, fitted, trace->shift_ns);
		add_events(clock, fitted, -trace->shift_ns);
	}
}

static void describe_island(const struct network *net, size_t index,
			    struct clock_island *island)
{
	island->reference =
	    mem_strdup(network_clock_name(net, net->graph.island[index].reference));
	island->trace = mem_realloc(NULL, net->clocks.traces, sizeof(*island->trace));
	for (size_t i = 0; i < net->clocks.traces; i++) {
		const struct trace_clock *of = &net->clocks.of_trace[i];

		if (net->graph.node[of->clock_index].island == index)
			island->trace[island->traces++] = mem_strdup(of->trace->name);
	}
}

static void describe_pair(const struct synchronization *sync, size_t index,
			  struct clock_pair *to)
{
	const struct pair *from = &sync->network.pairs.pair[index];
	const struct pair_verdict *verdict = &sync->verdict.pair[index];

	to->a = mem_strdup(network_clock_name(&sync->network, from->a));
	to->b = mem_strdup(network_clock_name(&sync->network, from->b));
	to->messages_ab = from->messages_ab;
	to->messages_ba = from->messages_ba;
	to->rejected = from->rejected;
	to->hull_ab = from->hulls.lower.count;
	to->hull_ba = from->hulls.upper.count;
	to->quality = verdict->quality;
	to->violations_before = from->violations_before;
	to->violations_after = verdict->latency.violations;
	to->min_latency_ab_ns = verdict->latency.min_latency_ab_ns;
	to->min_latency_ba_ns = verdict->latency.min_latency_ba_ns;
}

static void describe_ties(const struct network *net, struct clock_map *map)
{
	map->tie = mem_zalloc(net->clocks.traces * sizeof(*map->tie));
	for (size_t i = 0; i < net->clocks.traces; i++) {
		const struct trace_clock *of = &net->clocks.of_trace[i];
		const struct tie *tie = of->tie;
		struct clock_tie *to = &map->tie[map->ties];

		if (!tie)
			continue;
		map->ties++;
		to->a = mem_strdup(network_clock_name(net, of->clock_index));
		to->b = mem_strdup(of->trace->name);
		*(tie->is_by_samples ? &to->samples : &to->packets) =
		    tie->packets - tie->rejected;
		to->rejected = tie->rejected;
		to->offsets = tie->parts;
		to->offset = mem_alloc(tie->parts * sizeof(*to->offset));
		for (size_t k = 0; k < tie->parts; k++) {
			nsec_t middle = tie_middle(&tie->part[k]);

			to->offset[k] = (struct clock_offset){
			    .local_ns =
				k ? tie_part_begin(tie, k) : of->trace->facts.begin_ns,
			    .offset_ns = middle,
			    .low_ns = tie->part[k].low_ns - middle,
			    .high_ns = tie->part[k].high_ns - middle,
			};
		}
	}
}

static void describe_second_clocks(const struct clock_set *clocks, struct clock_map *map)
{
	map->second = mem_zalloc(clocks->traces * sizeof(*map->second));
	for (size_t i = 0; i < clocks->traces; i++) {
		const struct trace *trace = clocks->of_trace[i].trace;
		const struct trace_second_clock *from = &trace->facts.second_clock;

		if (trace->facts.has_second_clock)
			map->second[map->seconds++] =
			    (struct clock_second){.trace = mem_strdup(trace->name),
						  .scale = mem_strdup(from->scale),
						  .local_ns = from->local_ns,
						  .ahead_ns = from->ahead_ns,
						  .high_ns = from->high_ns,
						  .fast_ppb = from->fast_ppb};
	}
}

void describe_clocks(const struct synchronization *sync,
		     const struct clock_matching *matching, struct clock_map *map)
{
	const struct network *net = &sync->network;
	AUTOFREE uint32_t *order = pair_table_order(&net->pairs);

	memset(map, 0, sizeof(*map));
	map->reference =
	    mem_strdup(network_clock_name(net, net->graph.island[0].reference));
	map->islands = net->graph.islands;
	map->island = mem_zalloc(map->islands * sizeof(*map->island));
	for (size_t i = 0; i < map->islands; i++)
		describe_island(net, i, &map->island[i]);
	map->clocks = net->clocks.traces;
	map->clock = mem_zalloc(map->clocks * sizeof(*map->clock));
	for (size_t i = 0; i < map->clocks; i++)
		describe_clock(sync, i, &map->clock[i]);
	map->pairs = net->pairs.count;
	map->pair = mem_zalloc(map->pairs * sizeof(*map->pair));
	for (size_t i = 0; i < map->pairs; i++)
		describe_pair(sync, order[i], &map->pair[i]);
	describe_ties(net, map);
	describe_second_clocks(&net->clocks, map);
	map->matching = *matching;
}
