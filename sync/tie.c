/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/sync.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	MOST_CELLS = 4096,   /* of a tie */
	MOST_FRESH = 1024,   /* packets that are in no cell yet */
	FIRST_SHIFT = 20,    /* cells of a millisecond, and longer ones as time goes on */
	REJECTED_SHARE = 50, /* one packet in so many may contradict the others */
	LEAST_STEP = 4,      /* in what a cell leaves open */
	DRIFT_STEPS = 3,     /* the same way are none, but a drift */
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
	tie = MEM_NEXT(list->item, list->count, list->capacity);
	memset(tie, 0, sizeof(*tie));
	tie->base = base;
	tie->tied = tied;
	tie->shift = FIRST_SHIFT;
	tie->cell = mem_alloc((MOST_CELLS + MOST_FRESH) * sizeof(*tie->cell));
	return tie;
}

/* What both leave of the offset. */
static void part_take(struct tie_part *part, const struct tie_part *other)
{
	part->from_ns = other->from_ns < part->from_ns ? other->from_ns : part->from_ns;
	part->to_ns = other->to_ns > part->to_ns ? other->to_ns : part->to_ns;
	part->low_ns = other->low_ns > part->low_ns ? other->low_ns : part->low_ns;
	part->high_ns = other->high_ns < part->high_ns ? other->high_ns : part->high_ns;
	part->packets += other->packets;
	part->cells += other->cells;
}

/*
 * Bring the packets into their cells, in order. How long cells are in the end depends on
 * the first and last alone.
 */
static void settle(struct tie *tie)
{
	struct tie_part *cell = tie->cell;
	size_t cells = 0;

	qsort(cell, tie->cells, sizeof(*cell), nsec_compare);
	while ((cell[tie->cells - 1].at_ns >> tie->shift) -
		   (cell[0].at_ns >> tie->shift) >=
	       MOST_CELLS)
		tie->shift++;
	for (size_t i = 0; i < tie->cells; i++) {
		if (cells &&
		    cell[i].at_ns >> tie->shift == cell[cells - 1].at_ns >> tie->shift)
			part_take(&cell[cells - 1], &cell[i]);
		else
			cell[cells++] = cell[i];
	}
	tie->cells = cells;
}

/*
 * The tap is between the two on either clock. What the one says last and the other one
 * first is how far they are apart at least.
 */
void tie_note(struct tie_list *list, const struct match_handing *base,
	      const struct match_handing *tied)
{
	struct tie *tie = find_tie(list, base->source, tied->source);
	struct tie_part packet = {
	    .at_ns = base->queued_ns,
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
	tie->cell[tie->cells++] = packet;
	if (tie->cells == MOST_CELLS + MOST_FRESH)
		settle(tie);
}

/* Whether an offset is left that both allow. */
static bool agree(const struct tie_part *one, const struct tie_part *other)
{
	return other->low_ns <= one->high_ns && one->low_ns <= other->high_ns;
}

/* As many packets in a row as leave an offset are one part. */
static void find_parts(struct tie *tie)
{
	size_t capacity = 0;

	settle(tie);
	tie->open_ns = NSEC_MAX / LEAST_STEP;
	for (size_t i = 0; i < tie->cells; i++) {
		struct tie_part *cell = &tie->cell[i];

		cell->cells = 1;
		if (cell->low_ns != NSEC_MIN && cell->high_ns != NSEC_MAX &&
		    cell->high_ns >= cell->low_ns &&
		    cell->high_ns - cell->low_ns < tie->open_ns)
			tie->open_ns = cell->high_ns - cell->low_ns;
		/* A step within the cell, or a false packet: the neighbours tell. */
		if (cell->low_ns > cell->high_ns)
			tie->rejected += cell->packets;
		else if (tie->parts && agree(&tie->part[tie->parts - 1], cell))
			part_take(&tie->part[tie->parts - 1], cell);
		else
			*MEM_NEXT(tie->part, tie->parts, capacity) = *cell;
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

		if (last && agree(last, part)) {
			part_take(last, part);
		} else if (last && i + 1 < tie->parts && part->cells == 1 &&
			   agree(last, next)) {
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
static bool is_sound(const struct tie *tie, const struct ctf_facts *tied)
{
	size_t forward = 0, steps = tie->parts ? tie->parts - 1 : 0;

	for (size_t i = 0; i < tie->parts; i++) {
		const struct tie_part *part = &tie->part[i];
		nsec_t step = i ? step_of(part) : 0;

		if (part->low_ns == NSEC_MIN || part->high_ns == NSEC_MAX)
			return false;
		if (i && (step < 0 ? -step : step) < LEAST_STEP * tie->open_ns)
			return false;
		if (i)
			step -=
			    sync_set_back(tied, nsec_add(part[-1].to_ns, part[-1].low_ns),
					  nsec_add(part->from_ns, part->high_ns));
		forward += step > 0;
	}
	return tie->parts && tie->rejected * REJECTED_SHARE <= tie->packets &&
	       (steps < DRIFT_STEPS || (forward && forward < steps));
}

/* The base's times at which a part may have been in force; of the tied clock's. */
nsec_t tie_part_from(const struct tie *tie, size_t part)
{
	return part ? nsec_add(tie->part[part - 1].to_ns, tie->part[part].low_ns)
		    : NSEC_MIN;
}

nsec_t tie_part_to(const struct tie *tie, size_t part)
{
	return part + 1 < tie->parts
		   ? nsec_add(tie->part[part + 1].from_ns, tie->part[part].high_ns)
		   : NSEC_MAX;
}

/* Where the next part's segment begins; a time that was shown twice is the earlier one.
 */
nsec_t tie_part_begin(const struct tie *tie, size_t part)
{
	nsec_t last = nsec_add(tie->part[part - 1].to_ns, tie->part[part - 1].high_ns);
	nsec_t first = tie_part_from(tie, part);

	return first > last ? first : last + 1;
}

/* The offset of a part that the estimate takes: the middle of what is left. */
nsec_t tie_middle(const struct tie_part *part)
{
	return part->low_ns + (part->high_ns - part->low_ns) / 2;
}

size_t tie_part_at(const struct tie *tie, nsec_t local_ns)
{
	size_t part = 0;

	while (part + 1 < tie->parts && local_ns >= tie_part_begin(tie, part + 1))
		part++;
	return part;
}

/* What the offset may be while the tied clock shows a time: `high` or low. */
static nsec_t offset_at(const struct tie *tie, nsec_t at, bool high)
{
	/* A time that was leapt over belongs to some part as well. */
	const struct tie_part *first = &tie->part[tie_part_at(tie, at)];
	nsec_t low_ns = first->low_ns, high_ns = first->high_ns;

	for (size_t i = 0; i < tie->parts; i++) {
		const struct tie_part *part = &tie->part[i];

		if (tie_part_from(tie, i) > at || tie_part_to(tie, i) < at)
			continue;
		low_ns = part->low_ns < low_ns ? part->low_ns : low_ns;
		high_ns = part->high_ns > high_ns ? part->high_ns : high_ns;
	}
	return high ? high_ns : low_ns;
}

nsec_t tie_earliest(const struct tie *tie, nsec_t local_ns)
{
	return nsec_sub(local_ns, offset_at(tie, local_ns, true));
}

nsec_t tie_latest(const struct tie *tie, nsec_t local_ns)
{
	return nsec_sub(local_ns, offset_at(tie, local_ns, false));
}

/*
 * Sort by tied clock. For one clock, the tie with the most packets comes first, and ties
 * from clock.csv come last.
 */
static int by_worth(const void *a, const void *b)
{
	const struct tie *p = a, *q = b;

	if (p->tied != q->tied)
		return p->tied < q->tied ? -1 : 1;
	if (p->is_by_samples != q->is_by_samples)
		return p->is_by_samples ? 1 : -1;
	if (p->packets != q->packets)
		return p->packets > q->packets ? -1 : 1;
	return (p->base > q->base) - (p->base < q->base);
}

/* Where nothing says when packets were handed over, there is nothing to say of a tie. */
static void report_unsound(struct sync *sync, const struct tie *tie)
{
	for (size_t i = 0; i < tie->parts; i++)
		if (tie->part[i].low_ns == NSEC_MIN || tie->part[i].high_ns == NSEC_MAX)
			return;
	if (tie->parts)
		problem_add(&sync->problems, sync_clock_name(sync, tie->tied),
			    PROBLEM_TIE, tie->packets,
			    "its clock is not that of %s, stepped or not, by the packets "
			    "that both sent, so it has a correction of its own",
			    sync_clock_name(sync, tie->base));
}

static void report_steps(struct sync *sync, struct sync_trace *trace)
{
	const struct tie *tie = trace->tie;

	for (size_t i = 1; i < tie->parts; i++)
		sync_report_step(
		    sync, trace, tie_part_begin(tie, i),
		    tie_middle(&tie->part[i]) - tie_middle(&tie->part[i - 1]),
		    (nsec_t[2]){nsec_add(tie->part[i - 1].to_ns, tie->part[i - 1].low_ns),
				nsec_add(tie->part[i].from_ns, tie->part[i].high_ns)});
}

/* Return true if the packets of some part allow none of the offsets from clock.csv. */
static bool contradicts(const struct tie *samples, const struct tie *packets)
{
	if (!samples->is_by_samples || packets->is_by_samples ||
	    packets->tied != samples->tied || packets->base != samples->base)
		return false;
	for (size_t i = 0; i < packets->parts; i++) {
		const struct tie_part *part = &packets->part[i];
		bool agrees = false;

		for (size_t k = 0; k < samples->parts; k++)
			agrees |= agree(&samples->part[k], part);
		if (!agrees)
			return true;
	}
	return false;
}

static bool is_contradicted(struct sync *sync, const struct tie *tie)
{
	for (size_t i = 0; i < sync->ties.count; i++)
		if (contradicts(tie, &sync->ties.item[i])) {
			problem_add(&sync->problems, sync_clock_name(sync, tie->tied),
				    PROBLEM_TIE, 1,
				    "clock.csv contradicts the packets that it and %s "
				    "both sent, and is not used",
				    sync_clock_name(sync, tie->base));
			return true;
		}
	return false;
}

/* Of the ties of one clock, the best that holds is kept. */
static void find_ties(struct sync *sync)
{
	struct tie_list *list = &sync->ties;
	AUTOFREE bool *holds = mem_zalloc(list->count + 1);
	size_t count = 0;

	if (list->count)
		qsort(list->item, list->count, sizeof(*list->item), by_worth);
	for (size_t i = 0; i < list->count; i++) {
		struct tie *tie = &list->item[i];

		if (!tie->is_by_samples) {
			find_parts(tie);
			drop_false(tie);
		}
		holds[i] =
		    tie->is_by_samples
			? !is_contradicted(sync, tie)
			: is_sound(tie, &sync->trace[sync->clock_trace[tie->tied]].facts);
		sync->trace[sync->clock_trace[tie->tied]].is_apart |= !holds[i];
		if (!holds[i] && !tie->is_by_samples)
			report_unsound(sync, tie);
	}
	for (size_t i = 0; i < list->count; i++) {
		struct tie *tie = &list->item[i];

		if (holds[i] && (!count || list->item[count - 1].tied != tie->tied))
			list->item[count++] = *tie;
		else
			tie_clear(tie);
	}
	list->count = count;
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
		if (trace->tie)
			report_steps(sync, trace);
	}
}

int tie_clocks(struct sync *sync, struct error *error)
{
	struct renumbering renumbering = {.sync = sync};
	int status;

	find_ties(sync);
	tie_captures(sync);
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

void tie_list_clear(struct tie_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		tie_clear(&list->item[i]);
	free(list->item);
	free(list->captures);
	memset(list, 0, sizeof(*list));
}
