/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bend/reject.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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

/*
 * Whether two cannot both be true, for any clocks within a limit (of both together):
 * a message forward bounds the other clock from above, one back from below.
 */
static bool reject_contradict(const struct suspect *a, const struct suspect *b,
			      double limit)
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

/*
 * Clear again those that were marked as rejected because a clock was stepped and
 * stepped back, or two clocks were: of these, several follow each other in their
 * direction, and agree with what went the other way meanwhile. Returns how many.
 */
static size_t reject_spare_pulses(struct suspects *suspects)
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

enum {
	WINDOW = REJECT_WINDOW,
	ROUNDS = 16, /* as false ones can hide behind each other */
};

struct rejection {
	struct sync *sync;
	struct suspects *by_pair;
	uint64_t place;
	unsigned char *marked; /* a bit a message of the log */
};

static int gather(void *context, struct message *message)
{
	struct rejection *rejection = context;
	struct suspects *suspects = &rejection->by_pair[message->pair];
	const struct pair *pair = &rejection->sync->pairs.pair[message->pair];
	struct hull_point point = pair_point(message);
	nsec_t dx = point.x - pair->origin.x, dy = point.y - pair->origin.y;
	uint64_t place = rejection->place++;

	if (!suspects->wanted)
		return 0;
	suspects->item = mem_grow(suspects->item, suspects->count, &suspects->room,
				  sizeof(*suspects->item));
	suspects->item[suspects->count++] = (struct suspect){
	    .x = (double)dx,
	    .v = (double)(dy - dx),
	    .place = place,
	    .port = message->port,
	    .protocol = message->protocol,
	    .forward = message->forward,
	};
	return 0;
}

/*
 * List each direction by itself, as there may be many messages of one before
 * the next of the other.
 */
static void list_sides(struct suspects *suspects)
{
	size_t *sides = suspects->sides;

	sides[false] = sides[true] = 0;
	for (size_t i = 0; i < suspects->count; i++) {
		struct suspect *one = &suspects->item[i];

		one->before = sides[!one->forward];
		if (!one->rejected)
			suspects->side[one->forward][sides[one->forward]++] = i;
	}
}

/* How many must speak against a message, on each side of it in time. */
struct verdict {
	double share; /* of those looked at */
	size_t least;
};

/* Whether enough of the messages on one side in time speak against one. */
static bool is_contradicted(const struct suspects *suspects, size_t at, bool later,
			    struct verdict verdict)
{
	const struct suspect *one = &suspects->item[at];
	const size_t *other = suspects->side[!one->forward];
	size_t left = later ? suspects->sides[!one->forward] - one->before : one->before;
	size_t looked, against = 0;

	for (looked = 0; looked < WINDOW && looked < left; looked++) {
		size_t k = later ? one->before + looked : one->before - 1 - looked;

		against +=
		    reject_contradict(one, &suspects->item[other[k]], suspects->limit);
	}
	/* At the end of the trace there may be nobody left to speak. */
	if (looked < verdict.least)
		return against == looked;
	return against >= verdict.least &&
	       (double)against >= verdict.share * (double)looked;
}

/* Mark the messages marked so far that are contradicted from before and after. */
static size_t vote(struct suspects *suspects, int (*order)(const void *, const void *),
		   unsigned char votes, struct verdict verdict)
{
	size_t n = 0;

	qsort(suspects->item, suspects->count, sizeof(*suspects->item), order);
	list_sides(suspects);
	for (size_t i = 0; i < suspects->count; i++) {
		struct suspect *one = &suspects->item[i];

		if (one->rejected || one->votes != votes ||
		    !is_contradicted(suspects, i, true, verdict) ||
		    !is_contradicted(suspects, i, false, verdict))
			continue;
		one->votes++;
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
	size_t n = 0;

	for (size_t i = 0; i < suspects->count; i++)
		suspects->item[i].votes = 0;
	if (!vote(suspects, reject_by_x, 0, verdict) ||
	    !vote(suspects, reject_by_y, 1, verdict))
		return 0;
	for (size_t i = 0; i < suspects->count; i++)
		if (suspects->item[i].votes == 2) {
			suspects->item[i].rejected = true;
			n++;
		}
	return n;
}

/* The messages near one that contradict it; returns how many, `at` gets the first. */
static size_t contradictors(const struct suspects *suspects, size_t one, size_t *at,
			    size_t room)
{
	const struct suspect *suspect = &suspects->item[one];
	const size_t *other = suspects->side[!suspect->forward];
	size_t sides = suspects->sides[!suspect->forward], count = 0;
	size_t from = suspect->before > WINDOW ? suspect->before - WINDOW : 0;

	for (size_t k = from; k < sides && k < suspect->before + WINDOW; k++) {
		if (!reject_contradict(suspect, &suspects->item[other[k]],
				       suspects->limit))
			continue;
		if (count < room)
			at[count] = other[k];
		count++;
	}
	return count;
}

/*
 * What is left: one that some contradict, of which each contradicts nobody
 * else. Where a clock was stepped, those contradict many, too. Of two that
 * contradict each other and nobody else one is false, or the clock was stepped
 * by little. Where the pair has false ones for sure, both are left out, as nobody
 * can tell which it is: a true one less only leaves more open.
 */
static size_t find_lonely(struct suspects *suspects, size_t least)
{
	size_t at[2 * WINDOW], others[2], n = 0;

	qsort(suspects->item, suspects->count, sizeof(*suspects->item), reject_by_x);
	list_sides(suspects);
	for (size_t i = 0; i < suspects->count; i++) {
		size_t count = 0;
		bool lonely;

		if (!suspects->item[i].rejected)
			count = contradictors(suspects, i, at, 2 * WINDOW);
		lonely = count >= least;
		for (size_t k = 0; lonely && k < count; k++)
			lonely = contradictors(suspects, at[k], others, 2) == 1;
		suspects->item[i].votes = lonely;
	}
	for (size_t i = 0; i < suspects->count; i++)
		if (!suspects->item[i].rejected && suspects->item[i].votes) {
			suspects->item[i].rejected = true;
			n++;
		}
	return n;
}

/*
 * Those first that nearly everybody contradicts: they would otherwise speak
 * against true ones. With them gone, fewer voices are enough.
 */
static size_t find_false(struct suspects *suspects)
{
	static const struct verdict verdict[] = {
	    {0.5, 2}, {0.25, 2}, {0.1, 2}, {0, 2}, {0, 1}};
	size_t total = 0, n;

	suspects->side[false] = mem_alloc(suspects->count * sizeof(size_t));
	suspects->side[true] = mem_alloc(suspects->count * sizeof(size_t));
	/* One voice is enough only in a pair that has false ones for sure. */
	for (size_t k = 0; k < sizeof(verdict) / sizeof(*verdict) - !total; k++)
		for (int round = 0; round < ROUNDS; round++) {
			n = find_round(suspects, verdict[k]);
			total += n;
			if (!n)
				break;
		}
	total += find_lonely(suspects, total ? 1 : 2);
	total -= reject_spare_pulses(suspects);
	total += reject_stray(suspects, total / 2);
	free(suspects->side[false]);
	free(suspects->side[true]);
	return total;
}

static void mark(struct rejection *rejection, const struct suspects *suspects)
{
	for (size_t i = 0; i < suspects->count; i++) {
		uint64_t place = suspects->item[i].place;

		if (suspects->item[i].rejected)
			rejection->marked[place / 8] |= (unsigned char)(1 << place % 8);
	}
}

/*
 * Clocks of twice the drift limit would have to step for more than this share of the
 * messages, and so many times: that is no clock.
 */
#define STEPPING_SHARE 0.02
enum { STEPS_LEAST = 6 };
#define STEPPING_LIMITS 2

/* Either the messages that are false are many, or those that only steps explain. */
static bool is_contradictory(struct suspects *suspects, size_t found, bool all,
			     size_t *steps)
{
	double most = STEPPING_SHARE * (double)suspects->count;

	*steps = reject_least_steps(suspects, all, STEPPING_LIMITS * suspects->limit);
	return *steps >= STEPS_LEAST &&
	       (((double)found > most && all) || (double)*steps > most);
}

static void report_contradictory(struct sync *sync, const struct pair *pair,
				 const struct suspects *suspects, const size_t count[2])
{
	char *kinds = reject_kinds(suspects);

	problem_add(
	    &sync->problems, sync_clock_name(sync, pair->a), "contradiction", count[0],
	    "no clocks satisfy its %zu messages with %s, but by %zu steps or "
	    "more; so packets were matched wrongly, and they tie nothing (%zu "
	    "contradict the others%s)",
	    suspects->count, sync_clock_name(sync, pair->b), count[1], count[0], kinds);
	free(kinds);
}

static void judge_pair(struct rejection *rejection, size_t index)
{
	struct suspects *suspects = &rejection->by_pair[index];
	struct sync *sync = rejection->sync;
	struct pair *pair = &sync->pairs.pair[index];
	size_t found, steps;
	bool too_many;

	suspects->limit = 2 * sync->options.drift_limit_ppm * 1e-6;
	found = find_false(suspects);
	too_many =
	    (double)found > fmax(1, sync->options.max_rejected * (double)suspects->count);
	pair->contradictory =
	    !pair->too_fast && is_contradictory(suspects, found, too_many, &steps);
	if (pair->contradictory) {
		report_contradictory(sync, pair, suspects, (size_t[2]){found, steps});
	} else if (too_many) {
		problem_add(&sync->problems, sync_clock_name(sync, pair->a),
			    "contradiction", found,
			    "%zu of %zu messages with %s contradict the others, too many "
			    "to be false matches (--max-rejected)",
			    found, suspects->count, sync_clock_name(sync, pair->b));
	} else {
		mark(rejection, suspects);
	}
}

static int apply(void *context, struct message *message)
{
	struct rejection *rejection = context;
	uint64_t place = rejection->place++;
	struct pair *pair = &rejection->sync->pairs.pair[message->pair];

	if (!rejection->by_pair[message->pair].wanted)
		return 0;
	if (rejection->marked[place / 8] >> place % 8 & 1) {
		message->rejected = true;
		pair->rejected++;
		rejection->sync->rejected++;
	} else {
		pair_add(pair, message);
	}
	return 0;
}

/* Empty the pair, to be filled again with what is not rejected. */
static void empty_pair(struct pair *pair)
{
	hull_reset(&pair->lower);
	hull_reset(&pair->upper);
	pair->messages_ab = pair->messages_ba = pair->violations_before = 0;
}

static int reject(struct rejection *rejection, struct error *error)
{
	struct sync *sync = rejection->sync;

	if (message_log_walk(&sync->log, false, gather, rejection, error))
		return -1;
	for (size_t i = 0; i < sync->pairs.count; i++)
		if (rejection->by_pair[i].wanted) {
			judge_pair(rejection, i);
			empty_pair(&sync->pairs.pair[i]);
		}
	rejection->place = 0;
	return message_log_walk(&sync->log, true, apply, rejection, error);
}

int reject_false_matches(struct sync *sync, struct error *error)
{
	struct rejection rejection = {.sync = sync};
	bool any = false;
	int status = 0;

	rejection.by_pair = mem_zalloc(sync->pairs.count * sizeof(struct suspects));
	rejection.marked = mem_zalloc(sync->log.count / 8 + 1);
	for (size_t i = 0; i < sync->pairs.count; i++) {
		rejection.by_pair[i].wanted = sync->pairs.pair[i].margin_ns < 0;
		any |= rejection.by_pair[i].wanted;
	}
	if (any)
		status = reject(&rejection, error);
	for (size_t i = 0; i < sync->pairs.count; i++)
		free(rejection.by_pair[i].item);
	free(rejection.by_pair);
	free(rejection.marked);
	return status;
}
