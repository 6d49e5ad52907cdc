/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "sync/bend/reject_private.h"

/*
 * How many of each direction are looked at on each side of a message, and which of
 * them by size bounds it: a few others may be false, too.
 */
enum { NEAR = 8, RANK = 4 };

/* The tightest values of one direction near a message, by size: lowest, or highest. */
struct edge {
	double value[RANK];
	size_t count;
};

static void edge_add(struct edge *edge, double value, bool lowest)
{
	size_t at = edge->count < RANK ? edge->count++ : RANK;

	while (at &&
	       (lowest ? edge->value[at - 1] > value : edge->value[at - 1] < value)) {
		if (at < RANK)
			edge->value[at] = edge->value[at - 1];
		at--;
	}
	if (at < RANK)
		edge->value[at] = value;
}

/* What the nearest of one direction leave at a message, itself not asked. */
static bool find_edge(const struct suspects *suspects, size_t one, bool forward,
		      double *value)
{
	const struct suspect *item = suspects->item;
	struct edge edge = {.count = 0};

	for (int side = -1; side <= 1; side += 2) {
		size_t looked = 0;

		/* Below 0 it wraps, and is beyond the last. */
		for (size_t i = one + (size_t)side; i < suspects->count && looked < NEAR;
		     i += (size_t)side) {
			double passed = suspects->limit * fabs(item[i].x - item[one].x);

			if (item[i].rejected || item[i].forward != forward)
				continue;
			looked++;
			edge_add(&edge, forward ? item[i].v + passed : item[i].v - passed,
				 forward);
		}
	}
	*value = edge.value[RANK - 1];
	return edge.count == RANK;
}

/*
 * A true message is nearer to those of its own direction than to those that went the
 * other way, by the time that both take. One that is beyond the middle was no such
 * message, though it contradicts nobody.
 */
size_t reject_stray(struct suspects *suspects)
{
	size_t found = 0;

	qsort(suspects->item, suspects->count, sizeof(*suspects->item), reject_by_x);
	for (size_t i = 0; i < suspects->count; i++) {
		struct suspect *one = &suspects->item[i];
		double above, below;

		one->votes = 0;
		if (one->rejected || !find_edge(suspects, i, true, &above) ||
		    !find_edge(suspects, i, false, &below) || above <= below)
			continue;
		one->votes = one->forward ? one->v < (above + below) / 2
					  : one->v > (above + below) / 2;
		found += one->votes;
	}
	for (size_t i = 0; i < suspects->count; i++)
		suspects->item[i].rejected |= suspects->item[i].votes;
	return found;
}
