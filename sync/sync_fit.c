/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/sync.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "sync/bounds/bounds.h"
#include "sync/observe/messages_csv.h"
#include "sync/observe/steps.h"
#include "sync/piecewise/segments.h"
#include "sync/piecewise/unseen.h"

/* Messages each way that methods are given which need more than hulls. */
enum { SAMPLE_SIZE = 4096 };

static double limit_of(const struct sync *sync)
{
	return sync->options.drift_limit_ppm * 1e-6;
}

static void span_clocks(struct sync *sync)
{
	sync->clock = mem_zalloc(sync->clocks * sizeof(*sync->clock));
	for (size_t i = 0; i < sync->clocks; i++) {
		const struct run_clock *of = &sync->set.clock[i];
		struct fit_clock *clock = &sync->clock[i];

		clock->begin_ns = of->begin_ns;
		clock->end_ns = of->end_ns;
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

		clock->too_fast =
		    pair->fit.too_fast || sync->clock[clock->parent].too_fast;
		if (pair->fit.too_fast)
			problem_add(&sync->problems, sync_clock_name(sync, index),
				    PROBLEM_DRIFT, 1,
				    "drifts by %.0f ppm against %s, beyond the limit, so "
				    "nothing bounds it (--drift-limit)",
				    fabs(pair->fit.line.rate) * 1e6,
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
	if (pair->fit.margin_ns < 0)
		return sync_is_piecewise(sync, pair->a) ||
		       sync_is_piecewise(sync, pair->b);
	return !pair->fit.too_fast && hulls_face(&pair->hulls.lower, &pair->hulls.upper);
}

static enum clock_quality pair_quality(const struct sync *sync, const struct pair *pair)
{
	if (pair->contradictory)
		return CLOCK_CONTRADICTORY;
	if (!pair->hulls.lower.count || !pair->hulls.upper.count)
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

#define FAINT_TRIPS 4 /* round trips; the messages do not show the extent of less */

/*
 * Return true if the extent of one of a clock's steps or slews is uncertain: it is hardly
 * longer than a round trip, or no message shows that the clock ran as usual between two
 * of them, or before the first, or after the last one. They may be one, or none and a
 * false match.
 */
static bool has_vague_event(const struct sync *sync, uint32_t clock)
{
	const struct pair *pair = &sync->pairs.pair[sync->graph.node[clock].parent_pair];
	double trip = (double)pair->min_latency_ab_ns + (double)pair->min_latency_ba_ns;
	nsec_t last = sync->fitted[clock].begin_ns;

	for (size_t i = 0; i < sync->event.count; i++) {
		const struct piecewise_event *is = &sync->event.item[i].is;

		if (sync->event.item[i].clock != clock)
			continue;
		if (is->from_ns <= last || is->is_vague || !is->is_proved ||
		    fabs((double)is->size_ns) < FAINT_TRIPS * trip)
			return true;
		last = is->to_ns;
	}
	return last >= sync->fitted[clock].end_ns;
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
 * to be false matches, even if those with its parent in the tree do not; or if some were
 * rejected and a clock of the island was stepped or slewed: it may have been this one.
 */
static bool is_disputed(const struct sync *sync, uint32_t clock, bool has_events)
{
	for (size_t i = 0; i < sync->pairs.count; i++) {
		const struct pair *pair = &sync->pairs.pair[i];

		if ((pair->is_doubtful || (has_events && pair->rejected)) &&
		    (pair->a == clock || pair->b == clock))
			return true;
	}
	return false;
}

/* Return the only clock that a clock has messages with, or -1 if there are several. */
static int only_partner(const struct sync *sync, const struct island *island,
			uint32_t clock)
{
	int partner = -1;

	for (size_t i = 0; i < island->insides; i++) {
		const struct pair *pair = &sync->pairs.pair[island->inside[i]];

		if (pair->a != clock && pair->b != clock)
			continue;
		if (partner >= 0)
			return -1;
		partner = (int)(pair->a == clock ? pair->b : pair->a);
	}
	return partner;
}

/*
 * Return true if half of the clocks that a clock has messages with, and two at least,
 * have vague events: what these seem to have done may have been done by this one.
 */
static bool is_suspected(const struct sync *sync, const struct island *island,
			 uint32_t clock, const bool *vague)
{
	size_t partners = 0, suspects = 0;

	for (size_t i = 0; i < island->insides; i++) {
		const struct pair *pair = &sync->pairs.pair[island->inside[i]];

		if (pair->a != clock && pair->b != clock)
			continue;
		partners++;
		suspects += vague[pair->a == clock ? pair->b : pair->a];
	}
	return suspects >= 2 && 2 * suspects >= partners;
}

/*
 * Mark the clocks with a vague event. If such a clock has messages with one other clock
 * only, that one may have been set instead.
 */
static void find_vague(const struct sync *sync, const struct island *island, bool *vague)
{
	for (size_t k = 1; k < island->members; k++) {
		uint32_t at = island->member[k];
		int partner = only_partner(sync, island, at);

		if (!has_vague_event(sync, at))
			continue;
		vague[at] = true;
		if (partner >= 0)
			vague[partner] = true;
	}
}

/*
 * If the quality of one clock of an island is approximate, so is that of all its
 * piecewise clocks: what one of them follows may have been done by another one.
 */
static void limit_piecewise(struct sync *sync, const struct island *island)
{
	bool any = false;

	for (size_t k = 1; k < island->members; k++)
		any |= sync->fitted[island->member[k]].quality == CLOCK_APPROXIMATE;
	for (size_t k = 1; any && k < island->members; k++)
		if (sync_is_piecewise(sync, island->member[k]))
			sync->fitted[island->member[k]].quality = CLOCK_APPROXIMATE;
}

/*
 * In tree order: a clock is no better known than the one that it is tied to. If the
 * reference moved, it did so against all. The bounds will tell which are incomplete.
 */
static void judge(struct sync *sync, const struct unseen *unseen)
{
	AUTOFREE bool *vague = mem_zalloc(sync->clocks + 1);

	for (size_t i = 0; i < sync->pairs.count; i++)
		sync->pairs.pair[i].quality = pair_quality(sync, &sync->pairs.pair[i]);
	for (size_t i = 0; i < sync->graph.islands; i++) {
		const struct island *island = &sync->graph.island[i];
		bool has_events = false, is_moved;

		find_vague(sync, island, vague);
		is_moved = vague[island->reference] ||
			   is_suspected(sync, island, island->reference, vague) ||
			   unseen_is_likely(unseen, island->reference);
		for (size_t k = 0; k < sync->event.count; k++)
			has_events |=
			    sync->graph.node[sync->event.item[k].clock].island == i;
		for (size_t k = 1; k < island->members; k++) {
			uint32_t at = island->member[k];
			const struct graph_node *node = &sync->graph.node[at];
			enum clock_quality quality = CLOCK_ACCURATE;

			if (sync->pairs.pair[node->parent_pair].quality ==
				CLOCK_APPROXIMATE ||
			    sync->fitted[node->parent].quality == CLOCK_APPROXIMATE ||
			    is_bent(sync, at) || vague[at] ||
			    is_suspected(sync, island, at, vague) ||
			    is_disputed(sync, at, has_events) || is_moved ||
			    unseen_is_likely(unseen, at))
				quality = CLOCK_APPROXIMATE;
			sync->fitted[at].quality = quality;
		}
		limit_piecewise(sync, island);
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

static int count_message(void *context, const struct message *message)
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
	int status = message_log_each(&sync->log, count_message, &counting, error);

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
		is_set_back[i] =
		    sync->seen.trace[sync->set.clock[i].first_trace].facts.set_backs;
	graph_make(&sync->graph, sync->clocks, &sync->pairs, is_set_back, reference);
}

int sync_fit(struct sync *sync, struct error *error)
{
	int reference;

	if (clocks_find(&sync->seen, &sync->set, &sync->log, &sync->problems, error))
		return -1;
	sync->clocks = sync->set.count;
	if (clocks_reference(&sync->set, &sync->seen, sync->options.reference, &reference,
			     &sync->problems, error) ||
	    pairs_collect(&sync->pairs, &sync->log, limit_of(sync), error) ||
	    reject_false_matches(sync, error))
		return -1;
	/* Once more without the messages that are false. */
	if (pairs_rejected(&sync->pairs) &&
	    pairs_collect(&sync->pairs, &sync->log, limit_of(sync), error))
		return -1;
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
	sync_hold_captures(sync);
	report_set_backs(&sync->seen, &sync->problems);
	return 0;
}

void sync_init(struct sync *sync, const struct sync_options *options)
{
	memset(sync, 0, sizeof(*sync));
	sync->options = *options;
}

int sync_read_sources(struct sync *sync, struct source_list *sources,
		      struct progress *progress, struct error *error)
{
	const struct observe_options how = {sync->options.threads,
					    sync->options.in_flight, sync->options.alone,
					    sync->options.keeps_ends};

	return observe_sources(sources, &how, &sync->seen, &sync->problems, progress,
			       error);
}

int sync_read_messages(struct sync *sync, const char *path, struct error *error)
{
	return observe_messages(path, &sync->seen, &sync->problems, error);
}

int sync_add_messages(struct sync *sync, const char *path, struct error *error)
{
	return observe_more_messages(path, sync->options.keeps_ends, &sync->seen,
				     &sync->problems, error);
}

bool sync_is_piecewise(const struct sync *sync, uint32_t clock)
{
	return sync->fitted[clock].segments > 1;
}

const char *sync_clock_name(const struct sync *sync, uint32_t clock)
{
	return sync->set.clock[clock].name;
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

void sync_report_slew(struct sync *sync, const char *name,
		      const struct piecewise_event *slew)
{
	char size[NSEC_TEXT], begin[NSEC_TEXT], end[NSEC_TEXT];

	problem_add(&sync->problems, name, PROBLEM_SLEW, 1,
		    "its clock was slewed by %s from %s to %s, %.0f ppm",
		    nsec_format_span(size, (double)slew->size_ns),
		    nsec_format_utc(begin, slew->local_ns),
		    nsec_format_utc(end, slew->end_ns), slew->ppm);
}

void sync_clear(struct sync *sync)
{
	for (size_t i = 0; sync->fitted && i < sync->clocks; i++)
		clock_clear(&sync->fitted[i]);
	free(sync->fitted);
	free(sync->event.item);
	for (size_t i = 0; sync->unfit && i < sync->graph.islands; i++)
		free(sync->unfit[i]);
	free(sync->unfit);
	observations_clear(&sync->seen);
	clocks_clear(&sync->set);
	free(sync->clock);
	free(sync->rate);
	graph_clear(&sync->graph);
	pair_table_clear(&sync->pairs);
	message_log_clear(&sync->log);
	problem_clear(&sync->problems);
	memset(sync, 0, sizeof(*sync));
}
