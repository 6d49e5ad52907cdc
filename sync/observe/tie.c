/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/observe/tie.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "sync/observe/steps.h"

enum {
	MOST_CELLS = 4096, /* limit of a tie's cells */
	MOST_FRESH = 1024, /* packets that are in no cell yet */
	FIRST_SHIFT =
	    20, /* log2 of a first cell (ns): a millisecond; cells grow over time */
	REJECTED_SHARE = 50, /* one packet in this many may contradict the others */
	LEAST_STEP = 4,      /* in what a cell leaves open */
	DRIFT_STEPS = 3,     /* more steps in one direction than this are a drift */
};

struct tie tie_copy(const struct tie *tie)
{
	struct tie copy = *tie;

	copy.cell = mem_alloc(tie->cells * sizeof(*tie->cell) + 1);
	copy.part = mem_alloc(tie->parts * sizeof(*tie->part) + 1);
	if (tie->cells)
		memcpy(copy.cell, tie->cell, tie->cells * sizeof(*tie->cell));
	if (tie->parts)
		memcpy(copy.part, tie->part, tie->parts * sizeof(*tie->part));
	return copy;
}

void tie_clear(struct tie *tie)
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

/* Intersect two parts' offsets. */
static void intersect_parts(struct tie_part *part, const struct tie_part *other)
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
static void merge_into_cells(struct tie *tie)
{
	struct tie_part *cell = tie->cell;
	size_t cells = 0;

	SORT(cell, tie->cells, nsec_compare);
	while ((cell[tie->cells - 1].at_ns >> tie->shift) -
		   (cell[0].at_ns >> tie->shift) >=
	       MOST_CELLS)
		tie->shift++;
	for (size_t i = 0; i < tie->cells; i++) {
		if (cells &&
		    cell[i].at_ns >> tie->shift == cell[cells - 1].at_ns >> tie->shift)
			intersect_parts(&cell[cells - 1], &cell[i]);
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
	struct tie *tie = find_tie(list, base->clock_index, tied->clock_index);
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
		merge_into_cells(tie);
}

bool tie_parts_agree(const struct tie_part *one, const struct tie_part *other)
{
	return other->low_ns <= one->high_ns && one->low_ns <= other->high_ns;
}

/* As many packets in a row as leave an offset are one part. */
static void find_parts(struct tie *tie)
{
	size_t capacity = 0;

	merge_into_cells(tie);
	tie->open_ns = NSEC_MAX / LEAST_STEP;
	for (size_t i = 0; i < tie->cells; i++) {
		struct tie_part *cell = &tie->cell[i];

		cell->cells = 1;
		if (cell->low_ns != NSEC_MIN && cell->high_ns != NSEC_MAX &&
		    cell->high_ns >= cell->low_ns &&
		    cell->high_ns - cell->low_ns < tie->open_ns)
			tie->open_ns = cell->high_ns - cell->low_ns;
		/* A step within the cell, or a false packet; the neighbours decide. */
		if (cell->low_ns > cell->high_ns)
			tie->rejected += cell->packets;
		else if (tie->parts && tie_parts_agree(&tie->part[tie->parts - 1], cell))
			intersect_parts(&tie->part[tie->parts - 1], cell);
		else
			*MEM_NEXT(tie->part, tie->parts, capacity) = *cell;
	}
	free(tie->cell);
	tie->cell = NULL;
	tie->cells = 0;
}

/* Remove cells that contradict both neighbours, which agree: they are false. */
static void drop_false(struct tie *tie)
{
	size_t kept = 0;

	for (size_t i = 0; i < tie->parts; i++) {
		const struct tie_part *part = &tie->part[i], *next = part + 1;
		struct tie_part *last = kept ? &tie->part[kept - 1] : NULL;

		if (last && tie_parts_agree(last, part)) {
			intersect_parts(last, part);
		} else if (last && i + 1 < tie->parts && part->cells == 1 &&
			   tie_parts_agree(last, next)) {
			tie->rejected += part->packets;
		} else {
			tie->part[kept++] = *part;
		}
	}
	tie->parts = kept;
}

void tie_settle(struct tie *tie)
{
	find_parts(tie);
	drop_false(tie);
}

/* Return the least change of the offset at the start of a part. */
static nsec_t step_of(const struct tie_part *part)
{
	const struct tie_part *last = part - 1;

	return part->low_ns > last->high_ns ? part->low_ns - last->high_ns
					    : part->high_ns - last->low_ns;
}

bool tie_is_sound(const struct tie *tie, const struct trace_facts *tied)
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
			step -= set_back_between(
			    tied, nsec_add(part[-1].to_ns, part[-1].low_ns),
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

/* Return where the next part begins; a time that occurred twice is the earlier one. */
nsec_t tie_part_begin(const struct tie *tie, size_t part)
{
	nsec_t last = nsec_add(tie->part[part - 1].to_ns, tie->part[part - 1].high_ns);
	nsec_t first = tie_part_from(tie, part);

	return first > last ? first : last + 1;
}

/* Return the estimated offset of a part: the middle of its range. */
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

/* Return the largest (`high`) or smallest offset at a time of the tied clock. */
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

void tie_note_captures(struct tie_list *list, const struct match_handing *one,
		       const struct match_handing *other)
{
	struct capture_pair *pair = list->captures;
	struct capture_pair *end = pair + list->captures_count;

	while (pair < end &&
	       (pair->one != one->clock_index || pair->other != other->clock_index))
		pair++;
	if (pair == end) {
		pair = MEM_NEXT(list->captures, list->captures_count,
				list->captures_capacity);
		*pair = (struct capture_pair){one->clock_index, other->clock_index, 0, 0};
	}
	pair->packets++;
	/* The packet may have waited between two devices. */
	pair->far +=
	    llabs(nsec_sub(one->queued_ns, other->queued_ns)) > 10 * NSEC_PER_MSEC;
}

void tie_list_clear(struct tie_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		tie_clear(&list->item[i]);
	free(list->item);
	free(list->captures);
	memset(list, 0, sizeof(*list));
}
