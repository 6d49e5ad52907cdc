/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/tie.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/sync.h"

enum {
	MOST_CELLS = 4096,   /* of a tie */
	FIRST_SHIFT = 20,    /* cells of a millisecond, and longer ones as time goes on */
	REJECTED_SHARE = 50, /* one packet in so many may contradict the others */
	LEAST_STEP = 4,      /* in what a cell leaves open */
	DRIFT_STEPS = 3,     /* the same way are none, but a drift */
	STATED = 256,        /* spans that get a bound each */
	ROUNDING = 2,        /* nanoseconds, of corrections */
};

/* What the packets of a short time leave of the offset. */
struct tie_cell {
	nsec_t from_ns, to_ns, low_ns, high_ns;
	uint64_t packets;
};

static void tie_clear(struct tie *tie)
{
	free(tie->cell);
	free(tie->part);
}

static struct tie *find_tie(struct tie_list *list, uint32_t base, uint32_t tied)
{
	struct tie *tie;

	for (size_t i = 0; i < list->count; i++)
		if (list->item[i].base == base && list->item[i].tied == tied)
			return &list->item[i];
	list->item = mem_grow(list->item, list->count, &list->room, sizeof(*list->item));
	tie = &list->item[list->count++];
	memset(tie, 0, sizeof(*tie));
	tie->base = base;
	tie->tied = tied;
	tie->shift = FIRST_SHIFT;
	return tie;
}

static void cell_take(struct tie_cell *cell, const struct tie_cell *other)
{
	if (!other->packets)
		return;
	if (!cell->packets) {
		*cell = *other;
		return;
	}
	if (other->from_ns < cell->from_ns)
		cell->from_ns = other->from_ns;
	if (other->to_ns > cell->to_ns)
		cell->to_ns = other->to_ns;
	if (other->low_ns > cell->low_ns)
		cell->low_ns = other->low_ns;
	if (other->high_ns < cell->high_ns)
		cell->high_ns = other->high_ns;
	cell->packets += other->packets;
}

/* Two cells become one. */
static void halve(struct tie *tie)
{
	int64_t first = tie->first >> 1;
	size_t cells = 0;

	for (size_t i = 0; i < tie->cells; i++) {
		const struct tie_cell cell = tie->cell[i];
		size_t at = (size_t)(((tie->first + (int64_t)i) >> 1) - first);

		if (at == cells)
			memset(&tie->cell[cells++], 0, sizeof(cell));
		cell_take(&tie->cell[at], &cell);
	}
	tie->cells = cells;
	tie->first = first;
	tie->shift++;
}

/* The cell of a time. How long cells are in the end depends on the first and last alone.
 */
static struct tie_cell *cell_at(struct tie *tie, nsec_t ns)
{
	size_t size = sizeof(*tie->cell), more;

	if (!tie->cell)
		tie->cell = mem_alloc(MOST_CELLS * size);
	if (!tie->cells)
		tie->first = ns >> tie->shift;
	while ((ns >> tie->shift) >= tie->first + MOST_CELLS ||
	       (ns >> tie->shift) <= tie->first + (int64_t)tie->cells - 1 - MOST_CELLS)
		halve(tie);
	if ((ns >> tie->shift) < tie->first) {
		more = (size_t)(tie->first - (ns >> tie->shift));
		memmove(tie->cell + more, tie->cell, tie->cells * size);
		memset(tie->cell, 0, more * size);
		tie->first -= (int64_t)more;
		tie->cells += more;
	}
	more = (size_t)((ns >> tie->shift) - tie->first);
	while (tie->cells <= more)
		memset(&tie->cell[tie->cells++], 0, size);
	return &tie->cell[more];
}

/*
 * The tap is between the two on either clock. What the one says last and the other one
 * first is how far they are apart at least.
 */
void tie_note(struct tie_list *list, const struct match_handing *base,
	      const struct match_handing *tied)
{
	struct tie *tie = find_tie(list, base->source, tied->source);
	struct tie_cell packet = {
	    .from_ns = base->queued_ns,
	    .to_ns = base->queued_ns,
	    .low_ns = NSEC_MIN,
	    .high_ns = NSEC_MAX,
	    .packets = 1,
	};

	if (base->handed_ns != NSEC_MAX) {
		packet.low_ns = nsec_sub(tied->queued_ns, base->handed_ns);
		packet.from_ns = base->handed_ns;
	}
	if (tied->handed_ns != NSEC_MAX)
		packet.high_ns = nsec_sub(tied->handed_ns, base->queued_ns);
	tie->packets++;
	cell_take(cell_at(tie, base->queued_ns), &packet);
}

/* Whether an offset is left that both allow. */
static bool agree(const struct tie_part *part, nsec_t low_ns, nsec_t high_ns)
{
	return low_ns <= part->high_ns && part->low_ns <= high_ns;
}

static void part_take(struct tie_part *part, const struct tie_part *other)
{
	part->to_ns = other->to_ns;
	if (other->low_ns > part->low_ns)
		part->low_ns = other->low_ns;
	if (other->high_ns < part->high_ns)
		part->high_ns = other->high_ns;
	part->packets += other->packets;
	part->cells += other->cells;
}

/* As many packets in a row as leave an offset are one part. */
static void find_parts(struct tie *tie)
{
	size_t room = 0;

	tie->open_ns = NSEC_MAX / LEAST_STEP;
	for (size_t i = 0; i < tie->cells; i++) {
		const struct tie_cell *cell = &tie->cell[i];
		const struct tie_part part = {cell->from_ns, cell->to_ns,   cell->low_ns,
					      cell->high_ns, cell->packets, 1};

		if (cell->packets && cell->low_ns != NSEC_MIN &&
		    cell->high_ns != NSEC_MAX && cell->high_ns >= cell->low_ns &&
		    cell->high_ns - cell->low_ns < tie->open_ns)
			tie->open_ns = cell->high_ns - cell->low_ns;
		/* A step within the cell, or a false packet: the neighbours tell. */
		if (cell->packets && cell->low_ns > cell->high_ns)
			tie->rejected += cell->packets;
		else if (cell->packets && tie->parts &&
			 agree(&tie->part[tie->parts - 1], part.low_ns, part.high_ns))
			part_take(&tie->part[tie->parts - 1], &part);
		else if (cell->packets) {
			tie->part =
			    mem_grow(tie->part, tie->parts, &room, sizeof(*tie->part));
			tie->part[tie->parts++] = part;
		}
	}
	free(tie->cell);
	tie->cell = NULL;
	tie->cells = 0;
}

/* What a single cell says while those before and after it agree is false. */
static void drop_false(struct tie *tie)
{
	size_t kept = 0;

	for (size_t i = 0; i < tie->parts; i++) {
		const struct tie_part *part = &tie->part[i], *next = part + 1;
		struct tie_part *last = kept ? &tie->part[kept - 1] : NULL;

		if (last && agree(last, part->low_ns, part->high_ns)) {
			part_take(last, part);
		} else if (last && i + 1 < tie->parts && part->cells == 1 &&
			   agree(last, next->low_ns, next->high_ns)) {
			tie->rejected += part->packets;
		} else {
			tie->part[kept++] = *part;
		}
	}
	tie->parts = kept;
}

/* How far the offset changes at least where a part begins. */
static nsec_t step_of(const struct tie_part *part)
{
	const struct tie_part *last = part - 1;

	return part->low_ns > last->high_ns ? part->low_ns - last->high_ns
					    : part->high_ns - last->low_ns;
}

/*
 * Whether the clocks are one oscillator that is stepped at most: each part has both
 * bounds, and steps are larger than what a cell leaves open and not all the same way.
 * Two clocks that drift against each other would take many that are neither.
 */
static bool is_sound(const struct tie *tie)
{
	size_t forward = 0, steps = tie->parts ? tie->parts - 1 : 0;

	for (size_t i = 0; i < tie->parts; i++) {
		const struct tie_part *part = &tie->part[i];
		nsec_t step = i ? step_of(part) : 0;

		if (part->low_ns == NSEC_MIN || part->high_ns == NSEC_MAX)
			return false;
		if (i && (step < 0 ? -step : step) < LEAST_STEP * tie->open_ns)
			return false;
		forward += step > 0;
	}
	return tie->parts && tie->rejected * REJECTED_SHARE <= tie->packets &&
	       (steps < DRIFT_STEPS || (forward && forward < steps));
}

/* The base's times at which a part may have been in force; of the tied clock's. */
static nsec_t possible_from(const struct tie *tie, size_t part)
{
	return part ? nsec_add(tie->part[part - 1].to_ns, tie->part[part].low_ns)
		    : NSEC_MIN;
}

static nsec_t possible_to(const struct tie *tie, size_t part)
{
	return part + 1 < tie->parts
		   ? nsec_add(tie->part[part + 1].from_ns, tie->part[part].high_ns)
		   : NSEC_MAX;
}

/* Where the next part's segment begins; a time that was shown twice is the earlier one.
 */
static nsec_t part_begin(const struct tie *tie, size_t part)
{
	nsec_t last = nsec_add(tie->part[part - 1].to_ns, tie->part[part - 1].high_ns);
	nsec_t first = possible_from(tie, part);

	return first > last ? first : last + 1;
}

static size_t part_at(const struct tie *tie, nsec_t local_ns)
{
	size_t part = 0;

	while (part + 1 < tie->parts && local_ns >= part_begin(tie, part + 1))
		part++;
	return part;
}

/* What the offset may be while the tied clock shows times of a span. */
static void offsets_over(const struct tie *tie, nsec_t from, nsec_t to, nsec_t *low,
			 nsec_t *high)
{
	size_t part = part_at(tie, from);

	/* A time that was leapt over belongs to some part as well. */
	*low = tie->part[part].low_ns;
	*high = tie->part[part].high_ns;
	for (size_t i = 0; i < tie->parts; i++) {
		if (possible_from(tie, i) > to || possible_to(tie, i) < from)
			continue;
		if (tie->part[i].low_ns < *low)
			*low = tie->part[i].low_ns;
		if (tie->part[i].high_ns > *high)
			*high = tie->part[i].high_ns;
	}
}

nsec_t tie_earliest(const struct tie *tie, nsec_t local_ns)
{
	nsec_t low, high;

	offsets_over(tie, local_ns, local_ns, &low, &high);
	return nsec_sub(local_ns, high);
}

nsec_t tie_latest(const struct tie *tie, nsec_t local_ns)
{
	nsec_t low, high;

	offsets_over(tie, local_ns, local_ns, &low, &high);
	return nsec_sub(local_ns, low);
}

/* Of the ties of one clock the one that most packets tell of; the others go. */
static void choose(struct sync *sync)
{
	struct tie_list *list = &sync->ties;
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct tie *tie = &list->item[i];
		bool best = tie->parts > 0;

		for (size_t k = 0; k < list->count; k++)
			if (k != i && list->item[k].parts &&
			    list->item[k].tied == tie->tied &&
			    (list->item[k].packets > tie->packets ||
			     (list->item[k].packets == tie->packets && k < i)))
				best = false;
		if (!best)
			tie->parts = 0;
	}
	for (size_t i = 0; i < list->count; i++)
		if (list->item[i].parts)
			list->item[kept++] = list->item[i];
		else
			tie_clear(&list->item[i]);
	list->count = kept;
}

static int by_clocks(const void *a, const void *b)
{
	const struct tie *p = a, *q = b;

	if (p->tied != q->tied)
		return p->tied < q->tied ? -1 : 1;
	return (p->base > q->base) - (p->base < q->base);
}

static void find_ties(struct sync *sync)
{
	struct tie_list *list = &sync->ties;

	qsort(list->item, list->count, sizeof(*list->item), by_clocks);
	for (size_t i = 0; i < list->count; i++) {
		struct tie *tie = &list->item[i];

		find_parts(tie);
		drop_false(tie);
		if (!is_sound(tie))
			tie->parts = 0;
	}
	for (size_t i = 0; i < list->count; i++) {
		struct tie *tie = &list->item[i];
		fprintf(stderr, "TIE %u %u packets %lu rejected %lu open %ld parts %zu\n", tie->base, tie->tied, tie->packets, tie->rejected, tie->open_ns, tie->parts);
		for (size_t k=0;k<tie->parts;k++) fprintf(stderr, "  PART low %ld high %ld width %ld packets %lu cells %zu\n", tie->part[k].low_ns, tie->part[k].high_ns, tie->part[k].high_ns-tie->part[k].low_ns, tie->part[k].packets, tie->part[k].cells);
	}
	choose(sync);
}

/* Clocks by their old numbers. */
struct renumbering {
	struct sync *sync;
	const struct tie **tie; /* NULL: none */
	uint32_t *number;       /* of the clock itself, or of its base */
	struct pair_table pairs;
};

static int renumber_message(void *context, struct message *message)
{
	struct renumbering *renumbering = context;
	const struct pair *pair = &renumbering->sync->pairs.pair[message->pair];
	uint32_t from = message->forward ? pair->a : pair->b;
	uint32_t to = message->forward ? pair->b : pair->a;

	if (renumbering->tie[from])
		message->send_ns = tie_earliest(renumbering->tie[from], message->send_ns);
	if (renumbering->tie[to])
		message->recv_ns = tie_latest(renumbering->tie[to], message->recv_ns);
	from = renumbering->number[from];
	to = renumbering->number[to];
	message->forward = from < to;
	message->pair = pair_table_find(&renumbering->pairs, from, to);
	pair_add(&renumbering->pairs.pair[message->pair], message);
	return 0;
}

static void renumber_clocks(struct renumbering *renumbering)
{
	struct sync *sync = renumbering->sync;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < sync->clocks; i++) {
		if (renumbering->tie[i])
			continue;
		renumbering->number[i] = kept;
		sync->clock_trace[kept++] = sync->clock_trace[i];
	}
	for (uint32_t i = 0; i < sync->clocks; i++)
		if (renumbering->tie[i])
			renumbering->number[i] =
			    renumbering->number[renumbering->tie[i]->base];
	sync->clocks = kept;
	for (size_t i = 0; i < sync->traces; i++) {
		struct sync_trace *trace = &sync->trace[i];

		trace->tie = renumbering->tie[trace->clock];
		trace->clock = renumbering->number[trace->clock];
	}
}

int tie_clocks(struct sync *sync, struct error *error)
{
	struct renumbering renumbering = {.sync = sync};
	int status;

	find_ties(sync);
	if (!sync->ties.count)
		return 0;
	renumbering.tie = mem_zalloc(sync->clocks * sizeof(*renumbering.tie));
	renumbering.number = mem_zalloc(sync->clocks * sizeof(*renumbering.number));
	for (size_t i = 0; i < sync->ties.count; i++)
		renumbering.tie[sync->ties.item[i].tied] = &sync->ties.item[i];
	renumber_clocks(&renumbering);
	status =
	    message_log_walk(&sync->log, true, renumber_message, &renumbering, error);
	pair_table_clear(&sync->pairs);
	sync->pairs = renumbering.pairs;
	free(renumbering.tie);
	free(renumbering.number);
	return status;
}

/* The offset of a part that the estimate takes: the middle of what is left. */
static nsec_t part_middle(const struct tie_part *part)
{
	return part->low_ns + (part->high_ns - part->low_ns) / 2;
}

static void add_segment(struct clock *clock, nsec_t local_ns, nsec_t ref_ns, double rate)
{
	clock->segment =
	    mem_realloc(clock->segment, clock->segments + 1, sizeof(*clock->segment));
	clock->segment[clock->segments++] =
	    (struct clock_segment){local_ns, ref_ns, rate};
}

/* The base's segments from one time of the tied clock up to another. */
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

	for (size_t i = part_at(tie, from); i < tie->parts; i++) {
		nsec_t to = i + 1 < tie->parts ? part_begin(tie, i + 1) : NSEC_MAX;

		add_segments(clock, base, part_middle(&tie->part[i]), from, to);
		if (to > clock->end_ns)
			break;
		from = to;
	}
}

/* The widest that the base states over a span of its time. */
static struct clock_bound base_bound(const struct clock *base, nsec_t from, nsec_t to,
				     double limit_ppb)
{
	struct clock_bound bound = clock_bound_at(base, from, limit_ppb);
	struct clock_bound end = clock_bound_at(base, to, limit_ppb);

	clock_bound_widen(&bound, &end);
	for (size_t i = 0; i < base->bounds; i++)
		if (base->bound[i].local_ns > from && base->bound[i].local_ns < to)
			clock_bound_widen(&bound, &base->bound[i]);
	return bound;
}

/*
 * How far the truth may be from the estimate at times from `from` on and before `to`,
 * within which the estimate is by one part: for each offset that may be in force, the
 * base's bounds at the times that it leads to, and what it differs by from the part's.
 */
static struct clock_bound bound_over(const struct tie *tie, const struct clock *base,
				     nsec_t from, nsec_t to, double limit_ppb)
{
	nsec_t middle = part_middle(&tie->part[part_at(tie, from)]), low, high;
	double stretch = 1 + 2 * limit_ppb * 1e-9, shrink = 2 - stretch;
	struct clock_bound bound;
	double early, late;

	offsets_over(tie, from, to, &low, &high);
	bound = base_bound(base, nsec_sub(from, high), nsec_sub(to, low), limit_ppb);
	bound.local_ns = from;
	early = (double)(middle - high);
	late = (double)(middle - low);
	early *= early < 0 ? stretch : shrink;
	late *= late > 0 ? stretch : shrink;
	if (bound.low_ns != NSEC_MIN)
		bound.low_ns =
		    nsec_add(bound.low_ns, nsec_round(floor(early)) - ROUNDING);
	if (bound.high_ns != NSEC_MAX)
		bound.high_ns =
		    nsec_add(bound.high_ns, nsec_round(ceil(late)) + ROUNDING);
	return bound;
}

static int by_time(const void *a, const void *b)
{
	const nsec_t *p = a, *q = b;

	return (*p > *q) - (*p < *q);
}

/* Evenly over the source, where a segment begins, and around steps. */
static size_t choose_times(const struct tie *tie, const struct clock *clock,
			   nsec_t **times)
{
	size_t most = STATED + 1 + clock->segments + 2 * tie->parts, count = 0, kept = 0;
	double span = (double)(clock->end_ns - clock->begin_ns);
	nsec_t *time = mem_alloc(most * sizeof(*time));

	for (size_t i = 0; i <= STATED; i++)
		time[count++] =
		    clock->begin_ns + nsec_round(span * (double)i / (double)STATED);
	for (size_t i = 1; i < clock->segments; i++)
		time[count++] = clock->segment[i].local_ns;
	for (size_t i = 1; i < tie->parts; i++) {
		time[count++] = possible_from(tie, i);
		time[count++] = possible_to(tie, i - 1);
	}
	qsort(time, count, sizeof(*time), by_time);
	for (size_t i = 0; i < count; i++)
		if (time[i] >= clock->begin_ns && time[i] <= clock->end_ns &&
		    (!kept || time[i] != time[kept - 1]))
			time[kept++] = time[i];
	*times = time;
	return kept;
}

/* As bounds are stated: at each time the widest up to those before and after. */
static void describe_bounds(const struct tie *tie, const struct clock *base,
			    double limit_ppb, struct clock *clock)
{
	struct clock_bound before, after;
	nsec_t *time;

	clock->bounds = choose_times(tie, clock, &time);
	clock->bound = mem_alloc(clock->bounds * sizeof(*clock->bound));
	before = bound_over(tie, base, time[0], time[0], limit_ppb);
	for (size_t i = 0; i < clock->bounds; i++) {
		bool is_last = i + 1 == clock->bounds;

		after = bound_over(tie, base, time[i],
				   time[is_last ? i : i + 1] - !is_last, limit_ppb);
		clock->bound[i] = after;
		clock_bound_widen(&clock->bound[i], &before);
		before = after;
	}
	free(time);
}

void tie_describe(const struct sync *sync, const struct sync_trace *trace,
		  struct clock *clock)
{
	const struct clock *base = &sync->fitted[trace->clock];

	describe_segments(trace->tie, base, clock);
	if (base->bounds)
		describe_bounds(trace->tie, base,
				sync->options.drift_limit_ppm * 1e3 +
				    fabs(clock_mean_rate(base)) * 1e9,
				clock);
}

void tie_list_clear(struct tie_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		tie_clear(&list->item[i]);
	free(list->item);
	memset(list, 0, sizeof(*list));
}
