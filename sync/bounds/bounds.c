/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bounds/bounds.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/process.h"
#include "sync/bounds/bounds_private.h"

enum {
	STATED = 256, /* spans of a clock that get a bound each */
	STATED_OF_MANY = 64,
	MANY = 32,                  /* clocks of an island */
	BUSY_LEAST = 16,            /* bins with messages; fewer leave nothing to gain */
	CELLS_A_MESSAGE = 4,        /* of an envelope's grid */
	CELLS_LEAST = 1024,         /* of a clock */
	CELLS_MOST = 1 << 20,       /* of a clock */
	CELLS_TOGETHER = 1 << 22,   /* of all clocks: 64 MiB */
	ROUNDS_BEYOND_THE_TREE = 4, /* for paths that are not the tree's */
};

/* A message by the clocks of its two ends. */
struct delivery {
	const struct pair *pair;
	uint32_t from, to;
	nsec_t sent, received;
	double travel_ns; /* by the lines */
};

static struct delivery delivery_of(const struct search *search,
				   const struct message *message)
{
	const struct pair *pair = &search->sync->pairs.pair[message->pair];
	struct delivery one = {
	    .pair = pair,
	    .from = message->forward ? pair->a : pair->b,
	    .to = message->forward ? pair->b : pair->a,
	    .sent = message->send_ns,
	    .received = message->recv_ns,
	};

	one.travel_ns =
	    (double)nsec_sub(clock_correct(&search->clock[one.to].line, one.received),
			     clock_correct(&search->clock[one.from].line, one.sent));
	return one;
}

/*
 * Messages that the fit itself breaks tell nothing for sure; of straight clocks those of
 * pairs that no line satisfies.
 */
static bool is_doubtful(const struct search *search, const struct delivery *one)
{
	const struct clock *fitted = search->sync->fitted;

	if (search->clock[one->from].is_straight || search->clock[one->to].is_straight)
		return one->pair->fit.margin_ns < 0 || one->pair->fit.too_fast;
	return clock_correct(&fitted[one->to], one->received) <
	       clock_correct(&fitted[one->from], one->sent);
}

/* With the error e of each clock's line: line_to + e_to >= line_from + e_from. */
static int relax_message(void *context, const struct message *message)
{
	const struct search *search = context;
	const struct pair *pair = &search->sync->pairs.pair[message->pair];
	struct search_clock *from = &search->clock[message->forward ? pair->a : pair->b];
	struct search_clock *to = &search->clock[message->forward ? pair->b : pair->a];
	struct delivery one;

	if (message->rejected || message->doubted || pair->contradictory ||
	    (!from->is_news && !to->is_news))
		return 0;
	one = delivery_of(search, message);
	if (is_doubtful(search, &one) || envelope_gap_at(&from->envelope, one.sent) ||
	    envelope_gap_at(&to->envelope, one.received))
		return 0;
	if (to->envelope.cells && from->is_news)
		envelope_take(&to->envelope, one.received,
			      error_at(from, one.sent, false) - one.travel_ns, false);
	if (from->envelope.cells && to->is_news)
		envelope_take(&from->envelope, one.sent,
			      error_at(to, one.received, true) + one.travel_ns, true);
	return 0;
}

/* Whether what is new in some clock could help one that is not a reference. */
static bool is_worth_a_round(const struct search *search)
{
	const struct sync *sync = search->sync;

	for (size_t i = 0; i < sync->pairs.count; i++) {
		const struct pair *pair = &sync->pairs.pair[i];
		const struct search_clock *a = &search->clock[pair->a];
		const struct search_clock *b = &search->clock[pair->b];

		if (!pair->contradictory && ((a->is_news && b->envelope.cells) ||
					     (b->is_news && a->envelope.cells)))
			return true;
	}
	return false;
}

static void sweep(void *context, size_t index)
{
	struct search *search = context;
	struct search_clock *clock = &search->clock[index];

	clock->is_news =
	    clock->envelope.is_touched &&
	    (clock->is_straight ? envelope_straighten : envelope_sweep)(&clock->envelope);
}

static void note_stamp(struct search_clock *clock, nsec_t at)
{
	double begin = (double)(at - clock->line.begin_ns);
	double length = (double)(clock->line.end_ns - clock->line.begin_ns);
	double bin = begin / (length > 1 ? length : 1) * BINS;

	clock->is_busy[bin < 1 ? 0 : bin < BINS ? (size_t)bin : BINS - 1] = true;
}

static int note_message(void *context, const struct message *message)
{
	const struct search *search = context;
	const struct pair *pair = &search->sync->pairs.pair[message->pair];
	struct hull_point point = pair_point(message);

	note_stamp(&search->clock[pair->a], point.x);
	note_stamp(&search->clock[pair->b], point.y);
	return 0;
}

/*
 * Return the longest time without a message of a clock, not counting as many as it has
 * steps: where it leapt, there are none either.
 */
static double longest_pause(const struct search *search, size_t index)
{
	const struct search_clock *clock = &search->clock[index];
	const struct sync_event_list *list = &search->sync->event;
	double pause[BINS], idle = 0;
	size_t pauses = 0, steps = 0;

	for (size_t k = 0; k < list->count; k++)
		steps += list->item[k].clock == index;
	for (size_t k = 0; k < BINS; k++) {
		idle = clock->is_busy[k] ? 0 : idle + 1;
		pauses += idle == 1;
		if (idle > 0)
			pause[pauses - 1] = idle;
	}
	return pauses > steps ? ranked(pause, pauses, pauses - 1 - steps) / BINS *
				    (double)(clock->line.end_ns - clock->line.begin_ns)
			      : 0;
}

/*
 * Find where the messages of each clock are, and set is_busy for clocks without messages
 * in more than half of their time at once, such as one that was set by an hour. Their
 * cells and stated times are placed where messages are. Return 0, or -1 with error.
 */
static int find_busy(struct search *search, struct error *error)
{
	struct sync *sync = search->sync;

	for (size_t i = 0; i < sync->clocks; i++)
		search->clock[i].is_busy = mem_zalloc(BINS * sizeof(bool));
	if (message_log_each(&sync->log, note_message, search, error))
		return -1;
	for (size_t i = 0; i < sync->clocks; i++) {
		struct search_clock *clock = &search->clock[i];
		size_t busy = 0, idle = 0, longest = 0;

		for (size_t k = 0; k < BINS; k++) {
			busy += clock->is_busy[k];
			idle = clock->is_busy[k] ? 0 : idle + 1;
			longest = idle > longest ? idle : longest;
		}
		clock->pause_ns = longest_pause(search, i);
		if (busy >= BUSY_LEAST && longest > BINS / 2)
			continue;
		free(clock->is_busy);
		clock->is_busy = NULL;
	}
	return 0;
}

static int relax(struct search *search, struct error *error)
{
	struct sync *sync = search->sync;
	unsigned most = 0;

	for (size_t i = 0; i < sync->clocks; i++) {
		struct search_clock *clock = &search->clock[i];

		clock->is_news = clock->is_reference;
		most = clock->depth > most ? clock->depth : most;
	}
	most += ROUNDS_BEYOND_THE_TREE;
	for (search->rounds = 0; search->rounds < most && is_worth_a_round(search);
	     search->rounds++) {
		if (message_log_each(&sync->log, relax_message, search, error))
			return -1;
		parallel_run(sync->options.threads, sync->clocks, sweep, search);
	}
	return 0;
}

/* Begin a clock's envelope anew, with the least and the most that its rate can be. */
static void begin_envelope(struct search *search, uint32_t index, double low, double high)
{
	const struct sync *sync = search->sync;
	struct search_clock *clock = &search->clock[index];
	size_t most = CELLS_TOGETHER / (sync->clocks + 1), cells = CELLS_LEAST;
	uint64_t messages = 0;

	most = most > CELLS_MOST ? CELLS_MOST : most;
	for (size_t i = 0; i < sync->pairs.count; i++) {
		const struct pair *pair = &sync->pairs.pair[i];

		if (pair->a == index || pair->b == index)
			messages += pair->messages_ab + pair->messages_ba;
	}
	while (cells < CELLS_A_MESSAGE * messages && 2 * cells <= most)
		cells *= 2;
	envelope_clear(&clock->envelope);
	envelope_init(&clock->envelope, &clock->line, (double[2]){low, high}, cells);
	if (clock->is_busy && sync->options.bounds != BOUNDS_STRAIGHT)
		envelope_follow(&clock->envelope, clock->is_busy, BINS);
	if (clock->is_doubted && sync->options.bounds != BOUNDS_STRAIGHT)
		envelope_doubt(&clock->envelope);
	for (size_t k = 0; k < sync->event.count; k++) {
		const struct piecewise_event *is = &sync->event.item[k].is;
		const struct envelope_slew slew = {is->from_ns,
						   is->to_ns,
						   is->full_from_ns,
						   is->full_to_ns,
						   {is->rate[0], is->rate[1]}};

		if (sync->event.item[k].clock != index)
			continue;
		if (is->is_slew)
			envelope_add_slew(&clock->envelope, &clock->line, &slew);
		else
			envelope_add_gap(&clock->envelope, is->from_ns, is->to_ns);
	}
}

/*
 * Return bounds on the mean rate of the true correction, from the bounds at both ends of
 * each time between steps and slews, which do not count as drift. During those the rate
 * can be anything within the limit.
 */
static struct rate_bound rate_of(const struct search *search, uint32_t index)
{
	const struct search_clock *clock = &search->clock[index];
	const struct envelope *envelope = &clock->envelope;
	const struct sync_event_list *list = &search->sync->event;
	const struct run_clock *own = &search->sync->set.clock[index];
	const nsec_t end = own->own_end_ns;
	double line = clock->line.segment->rate_ppb * 1e-9;
	double span = fmax(1, (double)(end - own->own_begin_ns));
	double low = -ROUNDING_NS, high = ROUNDING_NS;
	nsec_t from = own->own_begin_ns;

	for (size_t i = 0; i <= list->count && from < end; i++) {
		bool is_last = i == list->count;
		nsec_t to = is_last ? end : list->item[i].is.from_ns;
		nsec_t next = is_last ? end : list->item[i].is.to_ns;

		if (!is_last && list->item[i].clock != index)
			continue;
		to = to < end ? to : end;
		next = next < end ? next : end;
		if (to > from) {
			low += error_at(clock, to, false) - error_at(clock, from, true);
			high += error_at(clock, to, true) - error_at(clock, from, false);
			from = to;
		}
		if (next > from) {
			low -= envelope->rate[false] * (double)(next - from);
			high += envelope->rate[true] * (double)(next - from);
			from = next;
		}
	}
	return (struct rate_bound){true, line + fmax(low / span, -envelope->rate[false]),
				   line + fmin(high / span, envelope->rate[true])};
}

/* A rate differs from the mean one by so much at most, and keeps to the limit. */
static void begin_with_wander(struct search *search, uint32_t index)
{
	const struct sync *sync = search->sync;
	const struct search_clock *clock = &search->clock[index];
	double limit = limit_of(search);
	bool is_line = sync->options.bounds == BOUNDS_STRAIGHT;
	double wander = is_line ? 0 : sync->options.wander_ppm * 1e-6;
	struct rate_bound rate = rate_of(search, index);

	if (!is_line || clock->is_straight)
		begin_envelope(search, index, fmax(rate.low - wander, -limit),
			       fmin(rate.high + wander, limit));
	else if (clock->envelope.is_touched)
		begin_envelope(search, index, -limit, limit);
}

/*
 * Clocks keep their rates where one line describes each of an island, and lines satisfy
 * all messages. Whether some island turned out to have none: it is to be begun anew.
 */
static bool find_straight(struct search *search, int pass)
{
	const struct sync *sync = search->sync;
	bool any = false;

	for (size_t i = 0; i < sync->graph.islands; i++) {
		const struct island *island = &sync->graph.island[i];
		bool is_straight = sync->options.bounds == BOUNDS_STRAIGHT;
		bool is_broken = false;

		for (size_t k = 1; k < island->members; k++) {
			uint32_t at = island->member[k];
			int pair = sync->graph.node[at].parent_pair;

			is_broken |= search->clock[at].envelope.is_broken;
			is_straight &= (!pass || search->clock[at].is_straight) &&
				       !sync_is_piecewise(sync, at) &&
				       sync->pairs.pair[pair].fit.margin_ns >= 0 &&
				       search->clock[at].envelope.cells;
		}
		for (size_t k = 1; k < island->members; k++) {
			uint32_t at = island->member[k];

			search->clock[at].is_straight = is_straight && !is_broken;
			search->clock[at].envelope.is_touched = is_broken;
			if (is_broken && sync->fitted[at].quality == CLOCK_ACCURATE)
				sync->fitted[at].quality = CLOCK_APPROXIMATE;
		}
		any |= is_broken;
	}
	return any;
}

/*
 * A message within a gap bounds the error from above or from below. If that is neither
 * as before nor as after, or the message was left out as false, the clock was stepped
 * more than once there, and may have been anywhere meanwhile.
 */
static void open_gap(const struct search *search, struct search_clock *clock, nsec_t at,
		     double bound, bool above)
{
	struct envelope_gap *gap = envelope_gap_at(&clock->envelope, at);
	struct extremes either;

	if (!gap)
		return;
	either = before_or_after(search, clock, gap, at, clock_correct(&clock->line, at));
	if (above)
		gap->low_open |= bound < either.low;
	else
		gap->high_open |= bound > either.high;
}

static int open_gaps(void *context, const struct message *message)
{
	const struct search *search = context;
	struct delivery one = delivery_of(search, message);
	struct search_clock *from = &search->clock[one.from];
	struct search_clock *to = &search->clock[one.to];

	if (one.pair->contradictory)
		return 0;
	if (message->rejected)
		one.travel_ns = -INFINITY;
	open_gap(search, from, one.sent, error_at(to, one.received, true) + one.travel_ns,
		 true);
	open_gap(search, to, one.received,
		 error_at(from, one.sent, false) - one.travel_ns, false);
	return 0;
}

/* Whether no chain of messages bounds a clock from a side. */
static bool is_open(const struct envelope *envelope, bool high)
{
	for (size_t i = 0; i <= envelope->cells; i++)
		if (!isinf(envelope->most[high][i]) ||
		    (envelope->later[high] && !isinf(envelope->later[high][i])))
			return false;
	return true;
}

/* Return true if a clock's lower bound is above the upper one at some time. */
static bool is_crossed(const struct search *search, const struct envelope *envelope)
{
	for (size_t i = 0; envelope->cells && i <= envelope->cells; i++)
		if (envelope->most[true][i] + envelope->most[false][i] <
		    -2 * (ROUNDING_NS + search->rounds))
			return true;
	return false;
}

/*
 * Bounds that cross show that no clocks within the limit satisfy the messages of an
 * island, apart from the steps and slews that were found: some were not found.
 */
static void judge_islands(const struct search *search)
{
	const struct sync *sync = search->sync;

	for (size_t i = 0; i < sync->graph.islands; i++) {
		const struct island *island = &sync->graph.island[i];
		bool any = false;

		for (size_t k = 1; k < island->members; k++)
			any |= is_crossed(search,
					  &search->clock[island->member[k]].envelope);
		for (size_t k = 1; any && k < island->members; k++) {
			struct clock *clock = &sync->fitted[island->member[k]];

			if (clock->quality == CLOCK_ACCURATE)
				clock->quality = CLOCK_APPROXIMATE;
		}
	}
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

static void finish(struct search *search, uint32_t index)
{
	struct sync *sync = search->sync;
	const struct envelope *envelope = &search->clock[index].envelope;
	size_t members = sync->graph.island[sync->graph.node[index].island].members;
	size_t spans = members > MANY ? STATED_OF_MANY : STATED;

	/* A curve wants more of them, as a bound holds for all the time to the next. */
	state_bounds(search, index, sync_is_piecewise(sync, index) ? 2 * spans : spans);
	sync->rate[index] = rate_of(search, index);
	if (sync->fitted[index].quality == CLOCK_ACCURATE &&
	    is_mostly_open(&sync->fitted[index]))
		sync->fitted[index].quality = CLOCK_APPROXIMATE;
	if (is_open(envelope, false) || is_open(envelope, true))
		sync->fitted[index].quality = CLOCK_INCOMPLETE;
}

/*
 * The reference is what it is, at all times. One that is alone because its messages
 * contradict each other is nothing to the others, but for the axis itself.
 */
static void finish_reference(struct sync *sync, uint32_t index)
{
	struct clock *clock = &sync->fitted[index];
	const nsec_t time[3] = {clock->begin_ns,
				clock->begin_ns + (clock->end_ns - clock->begin_ns) / 2,
				clock->end_ns};
	bool is_axis = index == sync->graph.island[0].reference;
	bool is_open = clock->quality == CLOCK_CONTRADICTORY && !is_axis;
	nsec_t low = is_open ? NSEC_MIN : 0, high = is_open ? NSEC_MAX : 0;

	clock->bounds = 3;
	clock->bound = mem_realloc(clock->bound, clock->bounds, sizeof(*clock->bound));
	for (int i = 0; i < 3; i++)
		clock->bound[i] = (struct clock_bound){time[i], low, high};
	sync->rate[index] = (struct rate_bound){.known = !is_open};
}

/* The mean rate of the fit, held to the limit, about the middle. */
static void make_line(const struct sync *sync, uint32_t index, struct clock *line)
{
	const struct clock *fitted = &sync->fitted[index];
	nsec_t middle = fitted->begin_ns + (fitted->end_ns - fitted->begin_ns) / 2;
	double limit = sync->options.drift_limit_ppm * 1e3;

	*line = (struct clock){.begin_ns = fitted->begin_ns,
			       .end_ns = fitted->end_ns,
			       .segment = mem_alloc(sizeof(*line->segment)),
			       .segments = 1};
	*line->segment = (struct clock_segment){
	    .local_ns = middle,
	    .ref_ns = clock_correct(fitted, middle),
	    .rate_ppb = fmin(limit, fmax(-limit, 1e9 * clock_mean_rate(fitted))),
	};
}

/* Clocks beyond the drift limit have no bounds under it. */
static void search_init(struct search *search, struct sync *sync)
{
	*search = (struct search){
	    .sync = sync,
	    .clock = mem_zalloc(sync->clocks * sizeof(*search->clock)),
	    .member = mem_alloc(sync->clocks * sizeof(*search->member)),
	};
	for (uint32_t i = 0; i < sync->clocks; i++)
		make_line(sync, i, &search->clock[i].line);
	for (size_t i = 0; i < sync->graph.islands; i++) {
		const struct island *island = &sync->graph.island[i];

		search->clock[island->reference].is_reference = island->members > 1;
		for (size_t k = 1; k < island->members; k++) {
			uint32_t at = island->member[k];

			search->clock[at].depth =
			    search->clock[sync->graph.node[at].parent].depth + 1;
			if (!sync->clock[at].too_fast)
				search->member[search->members++] = at;
		}
	}
}

static void search_clear(struct search *search)
{
	for (size_t i = 0; i < search->sync->clocks; i++) {
		envelope_clear(&search->clock[i].envelope);
		free(search->clock[i].line.segment);
		free(search->clock[i].is_busy);
	}
	free(search->clock);
	free(search->member);
}

/*
 * In islands of piecewise clocks: hold the messages against clocks that change their
 * rates no more than oscillators do, except in the steps and slews that were found. If
 * none satisfy them, some step or slew was not found. Return 0, or -1 with error.
 */
static int judge_rates(struct search *search, struct error *error)
{
	const struct sync *sync = search->sync;
	bool any = false;

	for (size_t i = 0; i < sync->graph.islands; i++) {
		const struct island *island = &sync->graph.island[i];
		bool is_piecewise = false;

		for (size_t k = 1; k < island->members; k++)
			is_piecewise |= sync_is_piecewise(sync, island->member[k]);
		any |= is_piecewise;
		for (size_t k = 1; is_piecewise && k < island->members; k++) {
			uint32_t at = island->member[k];
			double rate = usual_rate(search, at);
			double wander = wander_of(search, at, rate);

			if (!sync->clock[at].too_fast)
				begin_envelope(search, at,
					       fmax(rate - wander, -limit_of(search)),
					       fmin(rate + wander, limit_of(search)));
		}
	}
	if (any && relax(search, error))
		return -1;
	if (any)
		judge_islands(search);
	for (size_t i = 0; any && i < search->members; i++) {
		struct search_clock *clock = &search->clock[search->member[i]];

		clock->is_doubted = clock->envelope.cells;
	}
	return 0;
}

int bounds_find(struct sync *sync, struct error *error)
{
	const int passes = sync->options.bounds != BOUNDS_LIMIT;
	struct search search;
	int status;

	search_init(&search, sync);
	status = find_busy(&search, error);
	if (!status)
		status = doubt_quickest(sync, error);
	if (!status)
		status = judge_rates(&search, error);
	for (size_t i = 0; !status && i < search.members; i++)
		begin_envelope(&search, search.member[i], -limit_of(&search),
			       limit_of(&search));
	if (!status)
		status = relax(&search, error);
	for (int pass = 0; !status && (find_straight(&search, pass) || pass < passes);
	     pass++) {
		for (size_t i = 0; i < search.members; i++)
			begin_with_wander(&search, search.member[i]);
		status = relax(&search, error);
	}
	if (!status && sync->event.count)
		status = message_log_each(&sync->log, open_gaps, &search, error);
	for (size_t i = 0; !status && i < search.members; i++)
		finish(&search, search.member[i]);
	if (!status)
		judge_islands(&search);
	for (size_t i = 0; i < sync->graph.islands; i++)
		finish_reference(sync, sync->graph.island[i].reference);
	search_clear(&search);
	return status;
}
