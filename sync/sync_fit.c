/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/sync.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "sync/bounds/bounds.h"
#include "sync/piecewise/segments.h"
#include "sync/piecewise/unseen.h"

/* Messages each way that methods are given which need more than hulls. */
enum { SAMPLE_SIZE = 4096 };

static double limit_of(const struct sync *sync)
{
	return sync->options.drift_limit_ppm * 1e-6;
}

/* A pair relates two clocks, of which each may be off by the limit. */
static void fit_pairs(struct sync *sync)
{
	pair_table_settle(&sync->pairs);
	for (size_t i = 0; i < sync->pairs.count; i++) {
		struct pair *pair = &sync->pairs.pair[i];

		/* The first to be matched depends on chance, a corner does not. */
		pair->origin =
		    pair->lower.count ? pair->lower.point[0] : pair->upper.point[0];
		fit_pair_or_too_fast(pair, 2 * limit_of(sync));
	}
}

static int no_such_trace(const struct sync *sync, struct error *error)
{
	AUTOFREE const char **names = mem_zalloc((sync->traces + 1) * sizeof(*names));

	for (size_t i = 0; i < sync->traces; i++)
		names[i] = sync->trace[i].name;
	return near_refuse(error, "no trace is named", sync->options.reference, names,
			   sync->traces, "a name of those given");
}

/* The clock of the trace named on the command line; -1: none was. */
static int find_reference(struct sync *sync, int *clock, struct error *error)
{
	*clock = -1;
	if (!sync->options.reference)
		return 0;
	for (size_t i = 0; i < sync->traces; i++) {
		const struct sync_trace *trace = &sync->trace[i];

		if (strcmp(trace->name, sync->options.reference) != 0)
			continue;
		*clock = (int)trace->clock;
		if (trace->tie)
			problem_add(&sync->problems, trace->name, PROBLEM_CLOCK, 1,
				    "it is tied to %s, whose clock is the reference",
				    sync_clock_name(sync, trace->clock));
	}
	return *clock < 0 ? no_such_trace(sync, error) : 0;
}

static void span_traces(struct sync *sync, bool tied, bool *seen)
{
	for (size_t i = 0; i < sync->traces; i++) {
		const struct sync_trace *trace = &sync->trace[i];
		struct fit_clock *clock = &sync->clock[trace->clock];
		nsec_t begin = trace->facts.begin_ns + trace->shift_ns;
		nsec_t end = trace->facts.end_ns + trace->shift_ns;

		if (!trace->facts.events || (trace->tie != NULL) != tied)
			continue;
		if (tied) {
			begin = tie_earliest(trace->tie, begin);
			end = tie_latest(trace->tie, end);
		}
		if (!seen[trace->clock] || begin < clock->begin_ns)
			clock->begin_ns = begin;
		if (!seen[trace->clock] || end > clock->end_ns)
			clock->end_ns = end;
		seen[trace->clock] = true;
	}
}

/* A clock runs from the first to the last event of all traces that share it. */
static void span_clocks(struct sync *sync)
{
	AUTOFREE bool *seen = mem_zalloc(sync->clocks * sizeof(*seen));

	sync->clock = mem_zalloc(sync->clocks * sizeof(*sync->clock));
	span_traces(sync, false, seen);
	for (size_t i = 0; i < sync->clocks; i++) {
		sync->clock[i].own_begin_ns = sync->clock[i].begin_ns;
		sync->clock[i].own_end_ns = sync->clock[i].end_ns;
	}
	span_traces(sync, true, seen);
	for (size_t i = 0; i < sync->clocks; i++) {
		struct fit_clock *clock = &sync->clock[i];

		clock->origin_ns =
		    clock->begin_ns + (clock->end_ns - clock->begin_ns) / 2;
		clock->ref_ns = clock->origin_ns;
		clock->parent = sync->graph.node[i].parent;
		clock->parent_pair = sync->graph.node[i].parent_pair;
	}
	for (size_t i = 0; i < sync->graph.islands; i++)
		for (size_t k = 0; k < sync->graph.island[i].members; k++)
			sync->clock[sync->graph.island[i].member[k]].place = k;
}

static const struct fit_method *choose_method(const struct sync *sync,
					      const struct island *island)
{
	if (sync->options.method)
		return sync->options.method;
	return fit_method_find(island->members > 2 ? "joint" : "hull");
}

/* Clocks that the drift limit does not let satisfy their messages, in tree order. */
static void find_too_fast(struct sync *sync, const struct island *island)
{
	for (size_t i = 1; i < island->members; i++) {
		uint32_t index = island->member[i];
		struct fit_clock *clock = &sync->clock[index];
		const struct pair *pair = &sync->pairs.pair[clock->parent_pair];

		clock->too_fast = pair->too_fast || sync->clock[clock->parent].too_fast;
		if (pair->too_fast)
			problem_add(&sync->problems, sync_clock_name(sync, index),
				    PROBLEM_DRIFT, 1,
				    "drifts by %.0f ppm against %s, beyond the limit, so "
				    "nothing bounds it (--drift-limit)",
				    fabs(pair->line.rate) * 1e6,
				    sync_clock_name(sync, (uint32_t)clock->parent));
	}
}

static void fit_island(struct sync *sync, const struct island *island,
		       const struct pair_sample *samples)
{
	struct fit_island fit = {
	    .clock = sync->clock,
	    .member = island->member,
	    .members = island->members,
	    .pairs = &sync->pairs,
	    .inside = island->inside,
	    .insides = island->insides,
	    .limit = limit_of(sync),
	    .sample = samples,
	};
	struct error cause = ERROR_INIT;

	find_too_fast(sync, island);
	if (choose_method(sync, island)->fit(&fit, &cause)) {
		sync->unfit[island - sync->graph.island] = mem_strdup(error_text(&cause));
		error_clear(&cause);
		fit_method_find("hull")->fit(&fit, &cause);
	}
	error_clear(&cause);
}

static int fit_islands(struct sync *sync, struct error *error)
{
	struct pair_sample *samples = NULL;

	if (sync->options.method && sync->options.method->wants_sample) {
		samples =
		    pair_samples_new(&sync->log, sync->pairs.count, SAMPLE_SIZE, error);
		if (!samples)
			return -1;
	}
	sync->rate = mem_zalloc(sync->clocks * sizeof(*sync->rate));
	sync->unfit = mem_zalloc((sync->graph.islands + 1) * sizeof(*sync->unfit));
	for (size_t i = 0; i < sync->graph.islands; i++)
		fit_island(sync, &sync->graph.island[i], samples);
	pair_samples_free(samples, sync->pairs.count);
	return 0;
}

/* Whether some line fits both hulls, and is not left open by them. */
static bool is_settled(const struct sync *sync, const struct pair *pair)
{
	if (pair->margin_ns < 0)
		return sync_is_piecewise(sync, pair->a) ||
		       sync_is_piecewise(sync, pair->b);
	return !pair->too_fast && hulls_face(&pair->lower, &pair->upper);
}

static enum clock_quality pair_quality(const struct sync *sync, const struct pair *pair)
{
	if (pair->contradictory)
		return CLOCK_CONTRADICTORY;
	if (!pair->lower.count || !pair->upper.count)
		return CLOCK_INCOMPLETE;
	/* Remaining false matches make a straight clock look bent or stepped. */
	if (pair->rejected &&
	    (sync_is_piecewise(sync, pair->a) || sync_is_piecewise(sync, pair->b)))
		return CLOCK_APPROXIMATE;
	if (pair->violations_after || pair->is_doubtful || !is_settled(sync, pair))
		return CLOCK_APPROXIMATE;
	return CLOCK_ACCURATE;
}

/* A clock without a tie: its messages may contradict each other, or it has none. */
static enum clock_quality quality_alone(const struct sync *sync, uint32_t clock)
{
	for (size_t i = 0; i < sync->pairs.count; i++)
		if (sync->pairs.pair[i].a == clock || sync->pairs.pair[i].b == clock)
			return CLOCK_CONTRADICTORY;
	return CLOCK_ABSENT;
}

/* Return true if a span of a clock's time may overlap a slew that was found. */
static bool is_within_slew(const struct sync *sync, uint32_t clock, nsec_t from,
			   nsec_t to)
{
	for (size_t i = 0; i < sync->event.count; i++) {
		const struct piecewise_event *is = &sync->event.item[i].is;

		if (sync->event.item[i].clock == clock && slew_is_certain(is) &&
		    from < is->to_ns && to > is->from_ns)
			return true;
	}
	return false;
}

/*
 * Return true if a clock has two steps or slews between which no message shows that it
 * ran as usual: they may be one, or none and a false match, and their times are not
 * known.
 */
static bool do_events_meet(const struct sync *sync, uint32_t clock)
{
	nsec_t last = NSEC_MIN;

	for (size_t i = 0; i < sync->event.count; i++) {
		const struct piecewise_event *is = &sync->event.item[i].is;

		if (sync->event.item[i].clock != clock)
			continue;
		if (is->from_ns <= last)
			return true;
		last = is->to_ns;
	}
	return false;
}

#define BENT 0.5 /* of the limit; oscillators change their rates by less */

#define BENT_TRIPS 4 /* round trips; chance and load bend a fit by less */

enum { BENT_MESSAGES = 8 }; /* fewer messages do not determine the rate */

/*
 * Return true if a clock's rate changes at once, by more than an oscillator does and
 * outside of slews that were found: the fit follows a step or slew that it did not find.
 */
static bool is_bent(const struct sync *sync, uint32_t index)
{
	const struct clock *clock = &sync->fitted[index];
	const struct pair *pair = &sync->pairs.pair[sync->graph.node[index].parent_pair];
	double trip = (double)pair->min_latency_ab_ns + (double)pair->min_latency_ba_ns;
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

		if (change > BENT * limit_of(sync) && length > least_ns &&
		    change * length > BENT_TRIPS * trip &&
		    !is_within_slew(sync, index, before->local_ns, end))
			return true;
	}
	return false;
}

/*
 * Return true if a clock's messages with any other clock contradict each other too often
 * to be false matches, even if those with its parent in the tree do not.
 */
static bool is_disputed(const struct sync *sync, uint32_t clock)
{
	for (size_t i = 0; i < sync->pairs.count; i++) {
		const struct pair *pair = &sync->pairs.pair[i];

		if (pair->is_doubtful && (pair->a == clock || pair->b == clock))
			return true;
	}
	return false;
}

/*
 * In tree order: a clock is no better known than the one that it is tied to. If the
 * reference moved, it did so against all. The bounds will tell which are incomplete.
 */
static void judge(struct sync *sync, const struct unseen *unseen)
{
	for (size_t i = 0; i < sync->pairs.count; i++)
		sync->pairs.pair[i].quality = pair_quality(sync, &sync->pairs.pair[i]);
	for (size_t i = 0; i < sync->graph.islands; i++) {
		const struct island *island = &sync->graph.island[i];
		bool is_moved = unseen_is_likely(unseen, island->reference);

		for (size_t k = 1; k < island->members; k++) {
			uint32_t at = island->member[k];
			const struct graph_node *node = &sync->graph.node[at];
			enum clock_quality quality = CLOCK_ACCURATE;

			if (sync->pairs.pair[node->parent_pair].quality ==
				CLOCK_APPROXIMATE ||
			    sync->fitted[node->parent].quality == CLOCK_APPROXIMATE ||
			    is_bent(sync, at) || do_events_meet(sync, at) ||
			    is_disputed(sync, at) || is_moved ||
			    unseen_is_likely(unseen, at))
				quality = CLOCK_APPROXIMATE;
			sync->fitted[at].quality = quality;
		}
		sync->fitted[island->reference].quality =
		    island->members > 1 ? CLOCK_EXACT
					: quality_alone(sync, island->reference);
	}
}

/* The line as integers. */
static void set_fitted(struct sync *sync, uint32_t index)
{
	const struct fit_clock *fit = &sync->clock[index];
	struct clock *clock = &sync->fitted[index];
	double rate_ppb = fit->rate * 1e9;

	clock->begin_ns = fit->begin_ns;
	clock->end_ns = fit->end_ns;
	clock->segments = 1;
	clock->segment = mem_zalloc(sizeof(*clock->segment));
	clock->segment->local_ns = fit->begin_ns;
	clock->segment->rate_ppb = rate_ppb;
	clock->segment->ref_ns = fit_reference(fit, fit->begin_ns);
}

struct counting {
	struct sync *sync;
	struct unseen *unseen;
};

static int count_message(void *context, struct message *message)
{
	const struct counting *counting = context;
	struct sync *sync = counting->sync;
	struct pair *pair = &sync->pairs.pair[message->pair];
	struct hull_point point = pair_point(message);
	nsec_t *least =
	    message->forward ? &pair->min_latency_ab_ns : &pair->min_latency_ba_ns;
	nsec_t a, b, latency;

	if (message->rejected)
		return 0;
	a = clock_correct(&sync->fitted[pair->a], point.x);
	b = clock_correct(&sync->fitted[pair->b], point.y);
	latency = message->forward ? nsec_sub(b, a) : nsec_sub(a, b);
	if (latency < 0)
		pair->violations_after++;
	if (latency < *least && !pair->contradictory)
		*least = latency;
	unseen_note(counting->unseen, message, a, latency);
	return 0;
}

/* Count the messages that the fit violates, and judge it. Return 0, or -1 with error. */
static int count_messages(struct sync *sync, struct error *error)
{
	struct counting counting = {sync, unseen_new(sync)};
	int status = message_log_walk(&sync->log, false, count_message, &counting, error);

	judge(sync, counting.unseen);
	unseen_free(counting.unseen);
	return status;
}

/* Islands without lines that satisfy all messages, nor segments that do. */
static void report_unfit(struct sync *sync)
{
	for (size_t i = 0; i < sync->graph.islands; i++)
		if (sync->unfit[i])
			problem_add(
			    &sync->problems,
			    sync_clock_name(sync, sync->graph.island[i].reference),
			    PROBLEM_FIT, 1, "%s; each pair is fitted by itself",
			    sync->unfit[i]);
}

static void make_graph(struct sync *sync, int reference)
{
	AUTOFREE bool *is_set_back = mem_zalloc(sync->clocks + 1);

	for (size_t i = 0; i < sync->clocks; i++)
		is_set_back[i] = sync->trace[sync->clock_trace[i]].facts.set_backs;
	graph_make(&sync->graph, sync->clocks, &sync->pairs, is_set_back, reference);
}

int sync_fit(struct sync *sync, struct error *error)
{
	int reference;

	if (tie_clocks(sync, error) || find_reference(sync, &reference, error))
		return -1;
	fit_pairs(sync);
	if (reject_false_matches(sync, error))
		return -1;
	/* Pairs that lost messages, or were made anew, have another line. */
	fit_pairs(sync);
	make_graph(sync, reference);
	span_clocks(sync);
	if (fit_islands(sync, error))
		return -1;
	sync->fitted = mem_zalloc(sync->clocks * sizeof(*sync->fitted));
	for (uint32_t i = 0; i < sync->clocks; i++)
		set_fitted(sync, i);
	if (segments_fit(sync, error))
		return -1;
	report_unfit(sync);
	if (count_messages(sync, error))
		return -1;
	if (bounds_find(sync, error))
		return -1;
	tie_hold_captures(sync);
	sync_report_set_backs(sync);
	return 0;
}

void sync_init(struct sync *sync, const struct sync_options *options)
{
	memset(sync, 0, sizeof(*sync));
	sync->options = *options;
	message_log_init(&sync->log);
}

bool sync_is_piecewise(const struct sync *sync, uint32_t clock)
{
	return sync->fitted[clock].segments > 1;
}

const char *sync_clock_name(const struct sync *sync, uint32_t clock)
{
	return sync->trace[sync->clock_trace[clock]].name;
}

bool sync_is_tied(const struct sync *sync)
{
	if (sync->graph.islands != 1)
		return false;
	for (size_t i = 0; i < sync->clocks; i++)
		if (sync->fitted[i].quality == CLOCK_INCOMPLETE)
			return false;
	return !sync_has_contradictions(sync);
}

bool sync_has_contradictions(const struct sync *sync)
{
	for (size_t i = 0; i < sync->pairs.count; i++)
		if (sync->pairs.pair[i].contradictory)
			return true;
	return false;
}

void sync_clear(struct sync *sync)
{
	for (size_t i = 0; i < sync->traces; i++) {
		free(sync->trace[i].name);
		free(sync->trace[i].path);
	}
	for (size_t i = 0; sync->fitted && i < sync->clocks; i++)
		clock_clear(&sync->fitted[i]);
	free(sync->fitted);
	free(sync->event.item);
	for (size_t i = 0; sync->unfit && i < sync->graph.islands; i++)
		free(sync->unfit[i]);
	free(sync->unfit);
	free(sync->trace);
	free(sync->clock_trace);
	free(sync->clock);
	free(sync->rate);
	tie_list_clear(&sync->ties);
	graph_clear(&sync->graph);
	pair_table_clear(&sync->pairs);
	message_log_clear(&sync->log);
	problem_clear(&sync->problems);
	memset(sync, 0, sizeof(*sync));
}
