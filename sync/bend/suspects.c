/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bend/suspects.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
	WINDOW = 64, /* messages of the other direction looked at, each side */
	ROUNDS = 16, /* as false ones can hide behind each other */
};

/* Messages of one direction next to one, before or after it, the nearest first. */
struct vicinity {
	const struct suspect *item[WINDOW];
	size_t count;
};

/* suspects_by_x or suspects_by_y */
typedef int order_fn(const void *a, const void *b);

int suspects_by_x(const void *a, const void *b)
{
	const struct suspect *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return (p->place > q->place) - (p->place < q->place);
}

int suspects_by_y(const void *a, const void *b)
{
	const struct suspect *p = a, *q = b;
	double y = p->x + p->v, other = q->x + q->v;

	if (y != other)
		return y < other ? -1 : 1;
	return (p->place > q->place) - (p->place < q->place);
}

/*
 * List each direction by itself, as there may be many messages of one before the next
 * of the other; those that are rejected only if `all` are wanted.
 */
static void arrange(struct suspects *suspects, order_fn *order, bool all)
{
	size_t *sides = suspects->sides;

	qsort(suspects->item, suspects->count, sizeof(*suspects->item), order);
	sides[false] = sides[true] = 0;
	for (size_t i = 0; i < suspects->count; i++) {
		struct suspect *one = &suspects->item[i];

		one->before[false] = sides[false];
		one->before[true] = sides[true];
		if (all || !one->rejected)
			suspects->side[one->forward][sides[one->forward]++] = one;
	}
}

static void look_around(const struct suspects *suspects, const struct suspect *one,
			bool forward, bool later, size_t most, struct vicinity *near)
{
	struct suspect *const *side = suspects->side[forward];
	size_t before = one->before[forward], after = before;

	if (after < suspects->sides[forward] && side[after] == one)
		after++;
	near->count = 0;
	while (near->count < most &&
	       near->count < (later ? suspects->sides[forward] - after : before)) {
		size_t k = near->count;

		near->item[near->count++] = side[later ? after + k : before - 1 - k];
	}
}

/*
 * Whether two cannot both be true, for any clocks within a limit (of both together):
 * a message forward bounds the other clock from above, one back from below.
 */
static bool contradict(const struct suspect *a, const struct suspect *b, double limit)
{
	const struct suspect *above = a->forward ? a : b;
	const struct suspect *below = a->forward ? b : a;

	return below->v - above->v > limit * fabs(a->x - b->x);
}

/* How many must speak against a message, on each side of it in time. */
struct verdict {
	double share; /* of those looked at */
	size_t least;
};

/* Whether enough of the messages on one side in time speak against one. */
static bool is_contradicted(const struct suspects *suspects, const struct suspect *one,
			    bool later, struct verdict verdict)
{
	struct vicinity near;
	size_t against = 0;

	look_around(suspects, one, !one->forward, later, WINDOW, &near);
	for (size_t k = 0; k < near.count; k++)
		against += contradict(one, near.item[k], suspects->limit);
	/* At the end of the trace there may be nobody left to speak. */
	if (near.count < verdict.least)
		return against == near.count;
	return against >= verdict.least &&
	       (double)against >= verdict.share * (double)near.count;
}

/* Mark the messages marked so far that are contradicted from before and after. */
static size_t vote(struct suspects *suspects, order_fn *order, unsigned char votes,
		   struct verdict verdict)
{
	size_t n = 0;

	arrange(suspects, order, false);
	for (size_t i = 0; i < suspects->count; i++) {
		struct suspect *one = &suspects->item[i];

		if (one->rejected || one->votes != votes ||
		    !is_contradicted(suspects, one, true, verdict) ||
		    !is_contradicted(suspects, one, false, verdict))
			continue;
		one->votes++;
		n++;
	}
	return n;
}

/* Reject those with so many votes; returns how many. */
static size_t reject_voted(struct suspects *suspects, unsigned char votes)
{
	size_t n = 0;

	for (size_t i = 0; i < suspects->count; i++)
		if (!suspects->item[i].rejected && suspects->item[i].votes == votes) {
			suspects->item[i].rejected = true;
			n++;
		}
	return n;
}

/*
 * Where a clock is set back, messages before and after it lie mingled in the
 * order of that clock and seem to contradict each other from both sides; in
 * the order of the other clock they do not. A false one does in either.
 */
static size_t find_round(struct suspects *suspects, struct verdict verdict)
{
	for (size_t i = 0; i < suspects->count; i++)
		suspects->item[i].votes = 0;
	if (!vote(suspects, suspects_by_x, 0, verdict) ||
	    !vote(suspects, suspects_by_y, 1, verdict))
		return 0;
	return reject_voted(suspects, 2);
}

enum { LEAST_RUN = 3 }; /* fewer that follow each other may all be false */

#define FALSE_INSIDE 0.1 /* so many of what went the other way may be false, too */

/*
 * Whether of the nearest of the other direction, within a run, one on each side
 * contradicts it. What only one side contradicts is of another step in between.
 */
static bool is_false_among(const struct suspects *suspects, size_t at, size_t from,
			   size_t to)
{
	const struct suspect *one = &suspects->item[at];
	bool found[2] = {false, false};
	struct vicinity near;

	for (int later = 0; later < 2; later++) {
		look_around(suspects, one, !one->forward, later, LEAST_RUN, &near);
		for (size_t k = 0; k < near.count; k++)
			if (near.item[k] >= &suspects->item[from] &&
			    near.item[k] <= &suspects->item[to])
				found[later] |=
				    contradict(one, near.item[k], suspects->limit);
	}
	return found[false] && found[true];
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

/*
 * Clear again those that were marked as rejected because a clock was stepped and
 * stepped back, or two clocks were: of these, several follow each other in their
 * direction, and agree with what went the other way meanwhile. Returns how many.
 */
static size_t spare_pulses(struct suspects *suspects)
{
	size_t spared = 0;

	for (int k = 0; k < 2; k++) {
		arrange(suspects, k ? suspects_by_y : suspects_by_x, true);
		spared += spare_runs(suspects, false);
		spared += spare_runs(suspects, true);
	}
	return spared;
}

/*
 * How many of each direction are looked at on each side of a message, and which of
 * them by size counts: a few of these may be false, too.
 */
enum { NEAR = 32, RANK = 3, LEAST = 4, STRAY_ROUNDS = 4 };

/* So far of the way to the other direction no true message gets. */
#define BEYOND 0.4

/* How fast the clocks drift apart, by the medians before and after. */
static double find_rate(const struct vicinity near[2], double limit)
{
	double x[2], v[2], value[NEAR];

	if (near[0].count < LEAST || near[1].count < LEAST)
		return 0;
	for (int side = 0; side < 2; side++) {
		size_t n = near[side].count;

		for (size_t i = 0; i < n; i++)
			value[i] = near[side].item[i]->x;
		x[side] = ranked(value, n, n / 2);
		for (size_t i = 0; i < n; i++)
			value[i] = near[side].item[i]->v;
		v[side] = ranked(value, n, n / 2);
	}
	return x[1] > x[0] ? fmax(-limit, fmin(limit, (v[1] - v[0]) / (x[1] - x[0]))) : 0;
}

/* Where the quickest of one direction stand at the time of a message. */
static bool find_edge(const struct suspects *suspects, const struct suspect *one,
		      bool forward, double *edge)
{
	struct vicinity near[2];
	double value[2 * NEAR], rate;
	size_t n = 0;

	look_around(suspects, one, forward, false, NEAR, &near[0]);
	look_around(suspects, one, forward, true, NEAR, &near[1]);
	if (near[0].count + near[1].count < 2 * LEAST)
		return false;
	rate = find_rate(near, suspects->limit);
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < near[side].count; i++) {
			const struct suspect *other = near[side].item[i];

			value[n++] = other->v - rate * (other->x - one->x);
		}
	*edge = ranked(value, n, forward ? RANK - 1 : n - RANK);
	return true;
}

static bool is_stray(const struct suspects *suspects, const struct suspect *one)
{
	double above, below, bar;

	if (one->rejected || !find_edge(suspects, one, true, &above) ||
	    !find_edge(suspects, one, false, &below) || above <= below)
		return false;
	bar = BEYOND * (above - below);
	return one->forward ? one->v < above - bar : one->v > below + bar;
}

/*
 * A true message is nearer to those of its own direction than to those that went the
 * other way, by the time that both take. One that is near the others was no such
 * message, though it contradicts nobody. Where more than `most` seem to be so, packets
 * just take no time that could be told from chance. As strays hide each other, they are
 * looked for again. Returns how many were rejected.
 */
static size_t find_strays(struct suspects *suspects, size_t most)
{
	size_t total = 0, found;

	for (int round = 0; most && round < STRAY_ROUNDS; round++) {
		found = 0;
		arrange(suspects, suspects_by_x, false);
		for (size_t i = 0; i < suspects->count; i++) {
			suspects->item[i].votes = is_stray(suspects, &suspects->item[i]);
			found += suspects->item[i].votes;
		}
		if (!found || total + found > most)
			break;
		total += reject_voted(suspects, 1);
	}
	return total;
}

/*
 * Those first that nearly everybody contradicts: they would otherwise speak
 * against true ones. With them gone, fewer voices are enough.
 */
size_t suspects_reject(struct suspects *suspects)
{
	static const struct verdict verdict[] = {
	    {0.5, 2}, {0.25, 2}, {0.1, 2}, {0, 2}, {0, 1}};
	size_t total = 0, n;

	suspects->side[false] = mem_alloc(suspects->count * sizeof(struct suspect *));
	suspects->side[true] = mem_alloc(suspects->count * sizeof(struct suspect *));
	/* One voice is enough only in a pair that has false ones for sure. */
	for (size_t k = 0; k < sizeof(verdict) / sizeof(*verdict) - !total; k++)
		for (int round = 0; round < ROUNDS; round++) {
			n = find_round(suspects, verdict[k]);
			total += n;
			if (!n)
				break;
		}
	total -= spare_pulses(suspects);
	total += find_strays(suspects, total / 2);
	free(suspects->side[false]);
	free(suspects->side[true]);
	return total;
}
