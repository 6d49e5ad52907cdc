/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "sync/bend/reject_private.h"

enum { LEAST_RUN = 3 }; /* fewer that follow each other may all be false */

#define FALSE_INSIDE 0.1 /* so many of what went the other way may be false, too */

int reject_by_x(const void *a, const void *b)
{
	const struct suspect *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return (p->place > q->place) - (p->place < q->place);
}

int reject_by_y(const void *a, const void *b)
{
	const struct suspect *p = a, *q = b;
	double y = p->x + p->v, other = q->x + q->v;

	if (y != other)
		return y < other ? -1 : 1;
	return (p->place > q->place) - (p->place < q->place);
}

/* A message forward bounds the other clock from above, one back from below. */
bool reject_contradict(const struct suspect *a, const struct suspect *b, double limit)
{
	const struct suspect *above = a->forward ? a : b;
	const struct suspect *below = a->forward ? b : a;

	return below->v - above->v > limit * fabs(a->x - b->x);
}

/* Whether one of the nearest of the other direction, up to an end, contradicts it. */
static bool is_contradicted_towards(const struct suspects *suspects, size_t at,
				    size_t end)
{
	const struct suspect *one = &suspects->item[at];
	int looked = 0;

	for (size_t i = at; i != end && looked < LEAST_RUN;) {
		i = end > at ? i + 1 : i - 1;
		if (suspects->item[i].forward == one->forward)
			continue;
		looked++;
		if (reject_contradict(one, &suspects->item[i], suspects->limit))
			return true;
	}
	return false;
}

/*
 * Contradicted from both sides. What only one side contradicts is of another step
 * in between.
 */
static bool is_false_among(const struct suspects *suspects, size_t at, size_t from,
			   size_t to)
{
	return is_contradicted_towards(suspects, at, from) &&
	       is_contradicted_towards(suspects, at, to);
}

/* Whether what went the other way between two messages agrees with that run. */
static bool is_answered(const struct suspects *suspects, size_t from, size_t to)
{
	size_t answers = 0, against = 0;

	for (size_t i = from; i <= to; i++) {
		if (suspects->item[i].forward == suspects->item[from].forward)
			continue;
		answers++;
		against += is_false_among(suspects, i, from, to);
	}
	return answers > against && (double)against <= FALSE_INSIDE * (double)answers;
}

static size_t spare_run(struct suspects *suspects, size_t from, size_t to, size_t length)
{
	size_t spared = 0;

	if (length < LEAST_RUN || !is_answered(suspects, from, to))
		return 0;
	for (size_t i = from; i <= to; i++) {
		struct suspect *one = &suspects->item[i];

		if (one->forward != suspects->item[from].forward || !one->rejected ||
		    is_false_among(suspects, i, from, to))
			continue;
		one->rejected = false;
		spared++;
	}
	return spared;
}

static size_t spare_runs(struct suspects *suspects, bool forward)
{
	size_t from = 0, to = 0, length = 0, spared = 0;

	for (size_t i = 0; i < suspects->count; i++) {
		const struct suspect *one = &suspects->item[i];

		if (one->forward != forward)
			continue;
		if (one->rejected) {
			from = length ? from : i;
			to = i;
			length++;
			continue;
		}
		spared += spare_run(suspects, from, to, length);
		length = 0;
	}
	return spared + spare_run(suspects, from, to, length);
}

size_t reject_spare_pulses(struct suspects *suspects)
{
	int (*const order[])(const void *, const void *) = {reject_by_x, reject_by_y};
	size_t spared = 0;

	for (int k = 0; k < 2; k++) {
		qsort(suspects->item, suspects->count, sizeof(*suspects->item), order[k]);
		spared += spare_runs(suspects, false);
		spared += spare_runs(suspects, true);
	}
	return spared;
}
