/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/judge/judge.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sync/judge/oscillators.h"
#include "sync/judge/unseen.h"
#include "sync/observe/steps.h"

struct judging {
	const struct network *net;
	const struct curve_event_list *events;
	const struct latencies *latencies;
	struct clock *clock; /* by clock */
};

static bool is_piecewise(const struct judging *judging, uint32_t clock)
{
	return judging->clock[clock].segments > 1;
}

/* Return true if some line fits both hulls, and they limit its rate. */
static bool is_settled(const struct judging *judging, const struct pair *pair)
{
	if (pair->fit.margin_ns < 0)
		return is_piecewise(judging, pair->a) || is_piecewise(judging, pair->b);
	return !pair->fit.too_fast && hulls_face(&pair->hulls.lower, &pair->hulls.upper);
}

static enum clock_quality pair_quality(const struct judging *judging, size_t index)
{
	const struct pair *pair = &judging->net->pairs.pair[index];

	if (pair->contradictory)
		return CLOCK_CONTRADICTORY;
	if (!pair->hulls.lower.count || !pair->hulls.upper.count)
		return CLOCK_INCOMPLETE;
	/* Remaining false matches make a straight clock look bent or stepped. */
	if (pair->rejected &&
	    (is_piecewise(judging, pair->a) || is_piecewise(judging, pair->b)))
		return CLOCK_APPROXIMATE;
	if (judging->latencies->pair[index].violations || pair->is_doubtful ||
	    !is_settled(judging, pair))
		return CLOCK_APPROXIMATE;
	return CLOCK_ACCURATE;
}

/* Return true if a span of a clock's time may overlap a slew that was found. */
static bool is_within_slew(const struct judging *judging, uint32_t clock, nsec_t from,
			   nsec_t to)
{
	for (size_t i = 0; i < judging->events->count; i++) {
		const struct piecewise_event *is = &judging->events->item[i].is;

		if (judging->events->item[i].clock == clock && slew_is_certain(is) &&
		    from < is->to_ns && to > is->from_ns)
			return true;
	}
	return false;
}

/* Return the shortest round trip of a clock's tree pair, ns. */
static double round_trip(const struct judging *judging, uint32_t clock)
{
	const struct graph_node *node = &judging->net->graph.node[clock];

	return pair_latency_trip(&judging->latencies->pair[node->parent_pair]);
}

#define FAINT_TRIPS 4 /* round trips; the messages do not show the extent of less */

/* Return true if the extent of a clock's step or slew is uncertain: it is hardly longer
 * than a round trip, or no message shows that the clock ran normally between two of them,
 * before the first or after the last. Two such events may be one, or only a false match.
 */
static bool has_vague_event(const struct judging *judging, uint32_t clock)
{
	double trip = round_trip(judging, clock);
	nsec_t last = judging->clock[clock].begin_ns;

	for (size_t i = 0; i < judging->events->count; i++) {
		const struct piecewise_event *is = &judging->events->item[i].is;

		if (judging->events->item[i].clock != clock)
			continue;
		if (is->from_ns <= last || is->is_vague || !is->is_proved ||
		    fabs((double)is->size_ns) < FAINT_TRIPS * trip)
			return true;
		last = is->to_ns;
	}
	return last >= judging->clock[clock].end_ns;
}

#define BENT 0.5 /* share of the limit; oscillators change their rates by less */

#define BENT_TRIPS 4 /* round trips; chance and load bend a fit by less */

enum { BENT_MESSAGES = 8 }; /* fewer messages do not determine the rate */

/*
 * Return true if a clock's rate changes at once, by more than an oscillator does and
 * outside of slews that were found: the fit follows a step or slew that it did not find.
 */
static bool is_bent(const struct judging *judging, uint32_t index)
{
	const struct clock *clock = &judging->clock[index];
	const struct network *net = judging->net;
	const struct pair *pair = &net->pairs.pair[net->graph.node[index].parent_pair];
	double trip = round_trip(judging, index);
	double messages = (double)(pair->messages_ab + pair->messages_ba);
	double least_ns =
	    BENT_MESSAGES * (double)(clock->end_ns - clock->begin_ns) / messages;

	for (size_t k = 1; k < clock->segments; k++) {
		const struct clock_segment *after = &clock->segment[k];
		const struct clock_segment *before = after - 1;
		bool is_last = k + 1 == clock->segments;
		nsec_t end = is_last ? clock->end_ns : after[1].local_ns;
		double change = fabs(after->rate_ppb - before->rate_ppb) * 1e-9;
		double length = fmin((double)(after->local_ns - before->local_ns),
				     (double)(end - after->local_ns));

		if (change > BENT * judging->net->limit && length > least_ns &&
		    change * length > BENT_TRIPS * trip &&
		    !is_within_slew(judging, index, before->local_ns, end))
			return true;
	}
	return false;
}

/*
 * Return true if a clock's messages with any other clock contradict each other too often
 * to be false matches, even if those with its parent in the tree do not; or if some were
 * rejected and a clock of the island was stepped or slewed: it may have been this one.
 */
static bool is_disputed(const struct judging *judging, uint32_t clock, bool has_events)
{
	const struct pair_table *pairs = &judging->net->pairs;

	for (size_t i = 0; i < pairs->count; i++) {
		const struct pair *pair = &pairs->pair[i];

		if ((pair->is_doubtful || (has_events && pair->rejected)) &&
		    (pair->a == clock || pair->b == clock))
			return true;
	}
	return false;
}

/* The clocks that a clock has messages with. */
struct partners {
	size_t count, suspects; /* all of them; those with vague events */
	uint32_t last;
};

static struct partners find_partners(const struct judging *judging,
				     const struct island *island, uint32_t clock,
				     const bool *vague)
{
	struct partners partners = {.count = 0};

	for (size_t i = 0; i < island->insides; i++) {
		const struct pair *pair = &judging->net->pairs.pair[island->inside[i]];

		if (pair->a != clock && pair->b != clock)
			continue;
		partners.last = pair->a == clock ? pair->b : pair->a;
		partners.count++;
		partners.suspects += vague[partners.last];
	}
	return partners;
}

/*
 * Return true if half of the clocks that a clock has messages with, and two at least,
 * have vague events: what these seem to have done may have been done by this one.
 */
static bool is_suspected(const struct partners *partners)
{
	return partners->suspects >= 2 && 2 * partners->suspects >= partners->count;
}

/* A span of reference time; from > to if it is empty. */
struct span {
	nsec_t from, to;
};

/* Extend a span to the first and the last corner of a hull, by one of its clocks. */
static void span_hull(const struct hull *hull, const struct clock *clock, bool by_y,
		      struct span *span)
{
	for (size_t i = 0; i<hull->count; i += hull->count> 1 ? hull->count - 1 : 1) {
		nsec_t at =
		    clock_correct(clock, by_y ? hull->point[i].y : hull->point[i].x);

		span->from = at < span->from ? at : span->from;
		span->to = at > span->to ? at : span->to;
	}
}

/* Return when a clock has messages with others than `but`. */
static struct span find_watch(const struct judging *judging, const struct island *island,
			      uint32_t clock, uint32_t but)
{
	struct span span = {NSEC_MAX, NSEC_MIN};

	for (size_t i = 0; i < island->insides; i++) {
		const struct pair *pair = &judging->net->pairs.pair[island->inside[i]];
		const struct clock *of = &judging->clock[clock];
		bool by_y = pair->b == clock;

		if ((pair->a != clock && !by_y) || pair->a == but || pair->b == but)
			continue;
		span_hull(&pair->hulls.lower, of, by_y, &span);
		span_hull(&pair->hulls.upper, of, by_y, &span);
	}
	return span;
}

/*
 * Return true if a clock may have done what was found of one below it in the tree: it has
 * messages with others, but only before that or only after it.
 */
static bool is_unwatched(const struct judging *judging, const struct island *island,
			 uint32_t clock)
{
	for (size_t i = 0; i < judging->events->count; i++) {
		const struct piecewise_event *is = &judging->events->item[i].is;
		uint32_t below = judging->events->item[i].clock;
		const struct clock *of = &judging->clock[below];
		struct span watch;

		if (judging->net->graph.node[below].parent != (int)clock)
			continue;
		watch = find_watch(judging, island, clock, below);
		if (watch.from <= watch.to &&
		    (watch.from > clock_correct(of, is->from_ns) ||
		     watch.to < clock_correct(of, is->to_ns)))
			return true;
	}
	return false;
}

/*
 * Mark the clocks with a vague event. If such a clock has messages with one other clock
 * only, that one may have been set instead.
 */
static void find_vague(const struct judging *judging, const struct island *island,
		       bool *vague)
{
	for (size_t k = 1; k < island->members; k++) {
		uint32_t at = island->member[k];
		const struct partners partners =
		    find_partners(judging, island, at, vague);

		if (!has_vague_event(judging, at))
			continue;
		vague[at] = true;
		if (partners.count == 1)
			vague[partners.last] = true;
	}
}

static bool has_events(const struct judging *judging, const struct island *island)
{
	const struct graph_node *node = judging->net->graph.node;

	for (size_t i = 0; i < judging->events->count; i++)
		if (node[judging->events->item[i].clock].island ==
		    node[island->reference].island)
			return true;
	return false;
}

/* Marks of an island's clocks while it is judged. */
struct suspicion {
	const struct island *island;
	const bool *vague; /* by clock */
	bool has_events;   /* some clock of the island was stepped or slewed */
};

/* Return true if a clock moved, by its own messages or by what its partners seem to do.
 */
static bool may_have_moved(const struct judging *judging,
			   const struct suspicion *suspicion, uint32_t at)
{
	const struct partners partners =
	    find_partners(judging, suspicion->island, at, suspicion->vague);

	return suspicion->vague[at] || is_suspected(&partners) ||
	       is_unwatched(judging, suspicion->island, at) ||
	       unseen_is_likely(judging->net, judging->latencies, at);
}

/* Return true if its messages make a clock, other than a reference, approximate. */
static bool is_approximate(const struct judging *judging, const struct verdict *verdict,
			   const struct suspicion *suspicion, uint32_t at)
{
	const struct graph_node *node = &judging->net->graph.node[at];

	return node->is_too_fast ||
	       verdict->pair[node->parent_pair].quality == CLOCK_APPROXIMATE ||
	       judging->clock[node->parent].quality == CLOCK_APPROXIMATE ||
	       is_bent(judging, at) || is_disputed(judging, at, suspicion->has_events) ||
	       may_have_moved(judging, suspicion, at);
}

/*
 * If the quality of one clock of an island is approximate, so is that of all its
 * piecewise clocks: what one of them follows may have been done by another one.
 */
static void limit_piecewise(const struct judging *judging, const struct island *island)
{
	bool any = false;

	for (size_t k = 1; k < island->members; k++)
		any |= judging->clock[island->member[k]].quality == CLOCK_APPROXIMATE;
	for (size_t k = 1; any && k < island->members; k++)
		if (is_piecewise(judging, island->member[k]))
			judging->clock[island->member[k]].quality = CLOCK_APPROXIMATE;
}

/* Go down the tree, because a clock is no better known than its parent. If the reference
 * moved, it moved against all others. */
static void judge_island(const struct judging *judging, const struct verdict *verdict,
			 const struct island *island)
{
	AUTOFREE bool *vague = mem_zalloc(judging->net->clocks.count + 1);
	const struct suspicion suspicion = {island, vague, has_events(judging, island)};
	const struct graph_node *node = judging->net->graph.node;
	bool is_moved;

	find_vague(judging, island, vague);
	is_moved = may_have_moved(judging, &suspicion, island->reference);
	for (size_t k = 1; k < island->members; k++) {
		uint32_t at = island->member[k];

		judging->clock[at].quality =
		    is_moved || is_approximate(judging, verdict, &suspicion, at)
			? CLOCK_APPROXIMATE
			: CLOCK_ACCURATE;
	}
	limit_piecewise(judging, island);
	judging->clock[island->reference].quality = island->members > 1 ? CLOCK_EXACT
						    : node[island->reference].is_cut_off
							? CLOCK_CONTRADICTORY
							: CLOCK_ABSENT;
}

static void limit_to_approximate(struct clock *clock)
{
	if (clock->quality == CLOCK_ACCURATE)
		clock->quality = CLOCK_APPROXIMATE;
}

/* Return true if most of a clock's stated bounds are open on a side. */
static bool is_mostly_open(const struct clock *clock)
{
	size_t open = 0;

	for (size_t i = 0; i < clock->bounds; i++)
		open += clock->bound[i].low_ns == NSEC_MIN ||
			clock->bound[i].high_ns == NSEC_MAX;
	return 2 * open > clock->bounds;
}

/*
 * Bounds that cross show that no clocks within the limit satisfy the messages of an
 * island, apart from the steps and slews that were found: some were not found.
 */
static void judge_bounds(const struct judging *judging, const struct island *island,
			 const struct clock_limits *limits)
{
	bool is_crossed = false;

	for (size_t k = 1; k < island->members; k++)
		is_crossed |= limits[island->member[k]].is_crossed;
	for (size_t k = 1; k < island->members; k++) {
		uint32_t at = island->member[k];

		if (is_crossed || limits[at].is_no_line ||
		    is_mostly_open(&judging->clock[at]))
			limit_to_approximate(&judging->clock[at]);
		if (limits[at].is_open)
			judging->clock[at].quality = CLOCK_INCOMPLETE;
	}
}

/* Compare captures that nothing ties with the traces of their hosts. */
static void judge_captures(const struct judging *judging, struct problem_list *problems)
{
	const struct network *net = judging->net;

	for (uint32_t i = 0; i < net->clocks.count; i++) {
		int base = net->clocks.clock[i].oscillator;
		bool is_reference = judging->clock[i].quality == CLOCK_EXACT;

		if (!oscillator_is_contradicted(net, judging->clock, judging->events, i))
			continue;
		problem_add(problems, network_clock_name(net, i), PROBLEM_TIE, 1,
			    "its clock contradicts that of %s, though one oscillator "
			    "drives both, so it is approximate",
			    network_clock_name(net, (uint32_t)base));
		limit_to_approximate(&judging->clock[is_reference ? (uint32_t)base : i]);
	}
}

/* Return true if a step that was found explains where a trace's clock was set back. */
static bool is_explained(const struct judging *judging, const struct trace_clock *of,
			 const struct trace_set_back *back)
{
	const struct curve_event_list *events = judging->events;

	for (size_t i = 1; of->tie && i < of->tie->parts; i++) {
		nsec_t within[2];

		clocks_tie_step(of->tie, i, within);
		if (set_back_is_within(back, within[0], within[1]))
			return true;
	}
	if (judging->net->clocks.clock[of->clock_index].trace != of->trace)
		return false;
	for (size_t i = 0; i < events->count; i++)
		if (events->item[i].clock == of->clock_index &&
		    !slew_is_certain(&events->item[i].is) &&
		    set_back_is_within(back, events->item[i].is.from_ns,
				       events->item[i].is.to_ns))
			return true;
	return false;
}

/* Report set-backs of a trace's clock by an unknown time. Return true if there are any.
 */
static bool is_set_back(const struct judging *judging, const struct trace_clock *of,
			struct problem_list *problems)
{
	const struct trace_facts *facts = &of->trace->facts;
	bool is_unknown = false;

	for (size_t i = 0; i < facts->set_backs; i++) {
		if (is_explained(judging, of, &facts->set_back[i]))
			continue;
		is_unknown = true;
		report_set_back(of->trace, &facts->set_back[i], problems);
	}
	return is_unknown;
}

/* A tied trace is no better known than its base, and the tie adds uncertainty. */
static enum clock_quality judge_trace(const struct judging *judging,
				      const struct trace_clock *of,
				      struct problem_list *problems)
{
	enum clock_quality quality = judging->clock[of->clock_index].quality;
	bool is_first = judging->net->clocks.clock[of->clock_index].trace == of->trace;

	if (of->tie && (quality == CLOCK_EXACT || quality == CLOCK_ABSENT))
		quality = CLOCK_ACCURATE;
	else if (!of->tie && !is_first)
		quality = CLOCK_EXACT;
	if (is_set_back(judging, of, problems) && quality == CLOCK_ACCURATE)
		quality = CLOCK_APPROXIMATE;
	return quality;
}

static void take_bounds(const struct network *net, struct bounds *bounds,
			struct verdict *verdict)
{
	verdict->rate = mem_zalloc(net->clocks.count * sizeof(*verdict->rate));
	for (size_t i = 0; i < net->clocks.count; i++) {
		struct clock_limits *limits = &bounds->clock[i];

		verdict->clock[i].bound = limits->bound;
		verdict->clock[i].bounds = limits->bounds;
		verdict->rate[i] = limits->rate;
		limits->bound = NULL;
	}
}

void judge(const struct network *net, struct curves *curves,
	   const struct latencies *latencies, struct bounds *bounds,
	   struct verdict *verdict, struct problem_list *problems)
{
	const struct judging judging = {net, &curves->event, latencies, curves->clock};

	verdict->clock = curves->clock;
	curves->clock = NULL;
	take_bounds(net, bounds, verdict);
	verdict->pair = mem_alloc((net->pairs.count + 1) * sizeof(*verdict->pair));
	for (size_t i = 0; i < net->pairs.count; i++)
		verdict->pair[i] =
		    (struct pair_verdict){pair_quality(&judging, i), latencies->pair[i]};
	for (size_t i = 0; i < net->graph.islands; i++) {
		judge_island(&judging, verdict, &net->graph.island[i]);
		judge_bounds(&judging, &net->graph.island[i], bounds->clock);
	}
	judge_captures(&judging, problems);
	verdict->trace = mem_alloc(net->clocks.traces * sizeof(*verdict->trace));
	for (size_t i = 0; i < net->clocks.traces; i++)
		verdict->trace[i] =
		    judge_trace(&judging, &net->clocks.of_trace[i], problems);
}

bool verdict_is_whole(const struct network *net, const struct verdict *verdict)
{
	if (net->graph.islands != 1)
		return false;
	for (size_t i = 0; i < net->clocks.count; i++)
		if (verdict->clock[i].quality == CLOCK_INCOMPLETE)
			return false;
	return !pairs_have_contradictory(&net->pairs);
}

void verdict_clear(struct verdict *verdict, const struct network *net)
{
	for (size_t i = 0; verdict->clock && i < net->clocks.count; i++)
		clock_clear(&verdict->clock[i]);
	free(verdict->clock);
	free(verdict->rate);
	free(verdict->pair);
	free(verdict->trace);
	*verdict = (struct verdict){.clock = NULL};
}
