/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bounds/bounds.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/process.h"
#include "sync/bounds/bounds_private.h"

enum {
	STATED = 256, /* spans of a clock, each with a bound */
	STATED_OF_MANY = 64,
	MANY = 32,                  /* clocks of an island */
	STATED_S = 128,             /* longer traces have more spans, in proportion */
	STATED_FACTOR_MOST = 16,    /* and at most so many times more */
	BUSY_LEAST = 16,            /* bins with messages; fewer leave nothing to gain */
	CELLS_A_MESSAGE = 4,        /* cells of an envelope's grid */
	CELLS_LEAST = 1024,         /* cells of a clock */
	CELLS_MOST = 1 << 20,       /* cells of a clock */
	CELLS_TOGETHER = 1 << 22,   /* cells of all clocks: 64 MiB */
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
	const struct pair *pair = &search->net->pairs.pair[message->pair];
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

/* Messages that violate the fit prove nothing; of straight clocks, those of pairs that no
 * line satisfies. */
static bool is_doubtful(const struct search *search, const struct delivery *one)
{
	const struct clock *fitted = search->curves->clock;

	if (search->clock[one->from].is_straight || search->clock[one->to].is_straight)
		return one->pair->fit.margin_ns < 0 || one->pair->fit.too_fast;
	return clock_correct(&fitted[one->to], one->received) <
	       clock_correct(&fitted[one->from], one->sent);
}

/* Tighten a bound, unless the message is doubtful. Few messages tighten any, so that
 * comes first. */
static void add_bound(const struct search *search, const struct delivery *one,
		      struct envelope *envelope, double error_ns, bool high)
{
	nsec_t at = high ? one->sent : one->received;

	if (envelope_is_tighter(envelope, at, error_ns, high) &&
	    !is_doubtful(search, one))
		envelope_add_bound(envelope, at, error_ns, high);
}

/* With the error e of each clock's line: line_to + e_to >= line_from + e_from. */
static int relax_message(void *context, const struct message *message)
{
	const struct search *search = context;
	const struct pair *pair = &search->net->pairs.pair[message->pair];
	struct search_clock *from = &search->clock[message->forward ? pair->a : pair->b];
	struct search_clock *to = &search->clock[message->forward ? pair->b : pair->a];
	struct delivery one;

	if (message->rejected || message->doubted || pair->contradictory ||
	    (!from->is_news && !to->is_news))
		return 0;
	one = delivery_of(search, message);
	if (envelope_gap_at(&from->envelope, one.sent) ||
	    envelope_gap_at(&to->envelope, one.received))
		return 0;
	/* A straight clock's own news is also its rate, which widens all bounds less. */
	if (to->envelope.cells && (from->is_news || to->is_straight))
		add_bound(search, &one, &to->envelope,
			  error_at(from, one.sent, false) - one.travel_ns, false);
	if (from->envelope.cells && (to->is_news || from->is_straight))
		add_bound(search, &one, &from->envelope,
			  error_at(to, one.received, true) + one.travel_ns, true);
	return 0;
}

/* Return true if a clock's new bounds can improve one that is not a reference. */
static bool is_worth_a_round(const struct search *search)
{
	const struct network *net = search->net;

	for (size_t i = 0; i < net->pairs.count; i++) {
		const struct pair *pair = &net->pairs.pair[i];
		const struct search_clock *a = &search->clock[pair->a];
		const struct search_clock *b = &search->clock[pair->b];

		if (!pair->contradictory && ((a->is_news && b->envelope.cells) ||
					     (b->is_news && a->envelope.cells)))
			return true;
	}
	return false;
}

static void sweep_member(void *context, size_t index)
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
	const struct pair *pair = &search->net->pairs.pair[message->pair];
	struct hull_point point = pair_point(message);

	note_stamp(&search->clock[pair->a], point.x);
	note_stamp(&search->clock[pair->b], point.y);
	return 0;
}

/*
 * Find where the messages of each clock are, and set is_busy for clocks without messages
 * in more than half of their time at once, such as one that was set by an hour. Their
 * cells and stated times are placed where messages are. Return 0, or -1 with error.
 */
static int find_busy(struct search *search, struct error *error)
{
	const struct network *net = search->net;

	for (size_t i = 0; i < net->clocks.count; i++)
		search->clock[i].is_busy = mem_zalloc(BINS * sizeof(bool));
	if (message_log_each(&net->log, note_message, search, error))
		return -1;
	for (size_t i = 0; i < net->clocks.count; i++) {
		struct search_clock *clock = &search->clock[i];
		size_t busy = 0, idle = 0, longest = 0;

		for (size_t k = 0; k < BINS; k++) {
			busy += clock->is_busy[k];
			idle = clock->is_busy[k] ? 0 : idle + 1;
			longest = idle > longest ? idle : longest;
		}
		if (busy >= BUSY_LEAST && longest > BINS / 2)
			continue;
		free(clock->is_busy);
		clock->is_busy = NULL;
	}
	return 0;
}

static int relax_messages(struct search *search, struct error *error)
{
	const struct network *net = search->net;
	unsigned most = 0;

	for (size_t i = 0; i < net->clocks.count; i++) {
		struct search_clock *clock = &search->clock[i];

		clock->is_news = clock->is_reference;
		most = clock->depth > most ? clock->depth : most;
	}
	most += ROUNDS_BEYOND_THE_TREE;
	for (search->rounds = 0; search->rounds < most && is_worth_a_round(search);
	     search->rounds++) {
		if (message_log_each(&net->log, relax_message, search, error))
			return -1;
		parallel_run(search->options->threads, net->clocks.count, sweep_member,
			     search);
	}
	return 0;
}

/* Reset a clock's envelope, with the smallest and the largest possible rate. */
static void begin_envelope(struct search *search, uint32_t index, double low, double high)
{
	const struct network *net = search->net;
	struct search_clock *clock = &search->clock[index];
	size_t most = CELLS_TOGETHER / (net->clocks.count + 1), cells = CELLS_LEAST;
	uint64_t messages = 0;

	most = most > CELLS_MOST ? CELLS_MOST : most;
	for (size_t i = 0; i < net->pairs.count; i++) {
		const struct pair *pair = &net->pairs.pair[i];

		if (pair->a == index || pair->b == index)
			messages += pair->messages_ab + pair->messages_ba;
	}
	while (cells < CELLS_A_MESSAGE * messages && 2 * cells <= most)
		cells *= 2;
	envelope_clear(&clock->envelope);
	envelope_init(&clock->envelope, &clock->line, (double[2]){low, high}, cells);
	if (clock->is_busy && search->options->model != BOUNDS_STRAIGHT)
		envelope_follow(&clock->envelope, clock->is_busy, BINS);
	if (clock->is_doubted && search->options->model != BOUNDS_STRAIGHT)
		envelope_doubt(&clock->envelope);
	for (size_t k = 0; k < search->curves->event.count; k++) {
		const struct piecewise_event *is = &search->curves->event.item[k].is;
		const struct envelope_slew slew = {is->from_ns,
						   is->to_ns,
						   is->full_from_ns,
						   is->full_to_ns,
						   {is->rate[0], is->rate[1]}};

		if (search->curves->event.item[k].clock != index)
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
	const struct curve_event_list *list = &search->curves->event;
	const struct run_clock *own = &search->net->clocks.clock[index];
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
	const struct search_clock *clock = &search->clock[index];
	double limit = search->net->limit;
	bool is_line = search->options->model == BOUNDS_STRAIGHT;
	double wander = is_line ? 0 : search->options->wander_ppm * 1e-6;
	struct rate_bound rate = rate_of(search, index);

	if (!is_line || clock->is_straight)
		begin_envelope(search, index, fmax(rate.low - wander, -limit),
			       fmin(rate.high + wander, limit));
	else if (clock->envelope.is_touched)
		begin_envelope(search, index, -limit, limit);
}

/* Assume constant rates in islands that one line per clock describes, if lines satisfy
 * all messages. Return true if an island turned out to have no such lines and must start
 * again. */
static bool find_straight(struct search *search, int pass)
{
	const struct network *net = search->net;
	bool any = false;

	for (size_t i = 0; i < net->graph.islands; i++) {
		const struct island *island = &net->graph.island[i];
		bool is_straight = search->options->model == BOUNDS_STRAIGHT;
		bool is_broken = false;

		for (size_t k = 1; k < island->members; k++) {
			uint32_t at = island->member[k];
			int pair = net->graph.node[at].parent_pair;

			is_broken |= search->clock[at].envelope.is_broken;
			is_straight &= (!pass || search->clock[at].is_straight) &&
				       !curve_is_piecewise(search->curves, at) &&
				       net->pairs.pair[pair].fit.margin_ns >= 0 &&
				       search->clock[at].envelope.cells;
		}
		for (size_t k = 1; k < island->members; k++) {
			uint32_t at = island->member[k];

			search->clock[at].is_straight = is_straight && !is_broken;
			search->clock[at].envelope.is_touched = is_broken;
			search->result->clock[at].is_no_line |= is_broken;
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

/* Return true if no chain of messages bounds a clock's error on a side. */
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

/* Return into how many spans a clock's time is divided. A bound is the widest of its
 * span, so spans must not grow with the trace. The clocks of a large island have few, so
 * that its map stays small. */
static size_t count_spans(const struct search *search, uint32_t index)
{
	const struct graph *graph = &search->net->graph;
	const struct clock *clock = &search->curves->clock[index];
	const bool is_of_many = graph->island[graph->node[index].island].members > MANY;
	double seconds = (double)nsec_sub(clock->end_ns, clock->begin_ns) * 1e-9;
	double factor = fmin(STATED_FACTOR_MOST, fmax(1, seconds / STATED_S));
	size_t spans = is_of_many ? STATED_OF_MANY : (size_t)(STATED * factor);

	/* A curve needs more of them, because a bound holds for all the time to the next.
	 */
	return curve_is_piecewise(search->curves, index) ? 2 * spans : spans;
}

static void state_clock_limits(struct search *search, uint32_t index)
{
	const struct envelope *envelope = &search->clock[index].envelope;
	struct clock_limits *limits = &search->result->clock[index];

	state_bounds(search, index, count_spans(search, index));
	limits->rate = rate_of(search, index);
	limits->is_open = is_open(envelope, false) || is_open(envelope, true);
	limits->is_crossed |= is_crossed(search, envelope);
}

/*
 * A reference is exact at all times. One that is cut off bounds nothing of the other
 * clocks, unless it is the axis itself.
 */
static void state_reference_limits(const struct search *search, uint32_t index)
{
	const struct graph *graph = &search->net->graph;
	const struct clock *clock = &search->curves->clock[index];
	struct clock_limits *limits = &search->result->clock[index];
	const nsec_t time[3] = {clock->begin_ns,
				clock->begin_ns + (clock->end_ns - clock->begin_ns) / 2,
				clock->end_ns};
	bool is_axis = index == graph->island[0].reference;
	bool is_open = graph->node[index].is_cut_off && !is_axis;
	nsec_t low = is_open ? NSEC_MIN : 0, high = is_open ? NSEC_MAX : 0;

	limits->bounds = 3;
	limits->bound = mem_alloc(limits->bounds * sizeof(*limits->bound));
	for (int i = 0; i < 3; i++)
		limits->bound[i] = (struct clock_bound){time[i], low, high};
	limits->rate = (struct rate_bound){.known = !is_open};
}

/* Make the line through the middle of the fit, at its mean rate within the limit. */
static void make_line(const struct search *search, uint32_t index)
{
	const struct clock *fitted = &search->curves->clock[index];
	struct clock *line = &search->clock[index].line;
	nsec_t middle = fitted->begin_ns + (fitted->end_ns - fitted->begin_ns) / 2;
	double limit = search->net->limit_ppm * 1e3;

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
static void search_init(struct search *search)
{
	const struct network *net = search->net;

	search->clock = mem_zalloc(net->clocks.count * sizeof(*search->clock));
	search->member = mem_alloc(net->clocks.count * sizeof(*search->member));
	for (uint32_t i = 0; i < net->clocks.count; i++)
		make_line(search, i);
	for (size_t i = 0; i < net->graph.islands; i++) {
		const struct island *island = &net->graph.island[i];

		search->clock[island->reference].is_reference = island->members > 1;
		for (size_t k = 1; k < island->members; k++) {
			uint32_t at = island->member[k];

			search->clock[at].depth =
			    search->clock[net->graph.node[at].parent].depth + 1;
			if (!net->graph.node[at].is_too_fast)
				search->member[search->members++] = at;
		}
	}
}

static void search_clear(struct search *search)
{
	for (size_t i = 0; i < search->net->clocks.count; i++) {
		envelope_clear(&search->clock[i].envelope);
		free(search->clock[i].line.segment);
		free(search->clock[i].is_busy);
	}
	free(search->clock);
	free(search->member);
}

/* In islands of piecewise clocks, check the messages against clocks whose rates change no
 * more than oscillators' do, except in the steps and slews that were found. If none
 * satisfy them, a step or slew was missed. Return 0, or -1 with error. */
static int find_doubted(struct search *search, struct error *error)
{
	const struct network *net = search->net;
	bool any = false;

	for (size_t i = 0; i < net->graph.islands; i++) {
		const struct island *island = &net->graph.island[i];
		bool is_piecewise = false;

		for (size_t k = 1; k < island->members; k++)
			is_piecewise |=
			    curve_is_piecewise(search->curves, island->member[k]);
		any |= is_piecewise;
		for (size_t k = 1; is_piecewise && k < island->members; k++) {
			uint32_t at = island->member[k];
			double rate = usual_rate(search, at);
			double wander = wander_of(search, at, rate);

			if (!net->graph.node[at].is_too_fast)
				begin_envelope(search, at,
					       fmax(rate - wander, -search->net->limit),
					       fmin(rate + wander, search->net->limit));
		}
	}
	if (any && relax_messages(search, error))
		return -1;
	for (size_t i = 0; any && i < search->members; i++) {
		uint32_t at = search->member[i];
		struct search_clock *clock = &search->clock[at];

		search->result->clock[at].is_crossed =
		    is_crossed(search, &clock->envelope);
		clock->is_doubted = clock->envelope.cells;
	}
	return 0;
}

int bounds_find(const struct network *net, const struct curves *curves,
		const struct latencies *latencies, const struct bounds_options *options,
		struct bounds *bounds, struct error *error)
{
	const int passes = options->model != BOUNDS_LIMIT;
	struct search search = {.net = net,
				.curves = curves,
				.latencies = latencies,
				.options = options,
				.result = bounds};
	int status;

	bounds->clock = mem_zalloc(net->clocks.count * sizeof(*bounds->clock));
	search_init(&search);
	status = find_busy(&search, error);
	if (!status)
		status = find_doubted(&search, error);
	for (size_t i = 0; !status && i < search.members; i++)
		begin_envelope(&search, search.member[i], -net->limit, net->limit);
	if (!status)
		status = relax_messages(&search, error);
	for (int pass = 0; !status && (find_straight(&search, pass) || pass < passes);
	     pass++) {
		for (size_t i = 0; i < search.members; i++)
			begin_with_wander(&search, search.member[i]);
		status = relax_messages(&search, error);
	}
	if (!status && curves->event.count)
		status = message_log_each(&net->log, open_gaps, &search, error);
	for (size_t i = 0; !status && i < search.members; i++)
		state_clock_limits(&search, search.member[i]);
	for (size_t i = 0; i < net->graph.islands; i++)
		state_reference_limits(&search, net->graph.island[i].reference);
	search_clear(&search);
	return status;
}

void bounds_clear(struct bounds *bounds, const struct network *net)
{
	for (size_t i = 0; bounds->clock && i < net->clocks.count; i++)
		free(bounds->clock[i].bound);
	free(bounds->clock);
	*bounds = (struct bounds){.clock = NULL};
}
