/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bend/reject.h"

#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	WINDOW = 64, /* messages of the other direction looked at, each side */
	ROUNDS = 16, /* as false ones can hide behind each other */
};

/* A message of a pair under suspicion. */
struct suspect {
	double x;       /* since the pair's origin, ns */
	double v;       /* how much further the other clock is, less that at the origin */
	uint64_t place; /* in the log */
	size_t before[2]; /* how many of each direction's list stand before it */
	uint16_t port;    /* these as in struct message */
	uint8_t protocol;
	bool forward, rejected;
	unsigned char votes; /* of a round */
};

struct suspects {
	struct suspect *item;
	size_t count, room;
	struct suspect **side[2]; /* by direction, in the order of the items */
	size_t sides[2];
	bool wanted; /* the pair contradicts itself */
	double limit;
};

/* Messages of one direction next to one, before or after it, the nearest first. */
struct vicinity {
	const struct suspect *item[WINDOW];
	size_t count;
};

/* In the order of the one clock, and of the other. */
typedef int order_fn(const void *a, const void *b);

static int by_x(const void *a, const void *b)
{
	const struct suspect *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return (p->place > q->place) - (p->place < q->place);
}

static int by_y(const void *a, const void *b)
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
	if (!vote(suspects, by_x, 0, verdict) || !vote(suspects, by_y, 1, verdict))
		return 0;
	return reject_voted(suspects, 2);
}

/* The messages near one that contradict it; returns how many. */
static size_t contradictors(const struct suspects *suspects, const struct suspect *one,
			    const struct suspect *found[2 * WINDOW])
{
	struct vicinity near;
	size_t count = 0;

	for (int later = 0; later < 2; later++) {
		look_around(suspects, one, !one->forward, later, WINDOW, &near);
		for (size_t k = 0; k < near.count; k++)
			if (contradict(one, near.item[k], suspects->limit))
				found[count++] = near.item[k];
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
	const struct suspect *found[2 * WINDOW], *others[2 * WINDOW];

	arrange(suspects, by_x, false);
	for (size_t i = 0; i < suspects->count; i++) {
		struct suspect *one = &suspects->item[i];
		size_t count = one->rejected ? 0 : contradictors(suspects, one, found);

		one->votes = count >= least;
		for (size_t k = 0; one->votes && k < count; k++)
			one->votes = contradictors(suspects, found[k], others) == 1;
	}
	return reject_voted(suspects, 1);
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
		arrange(suspects, k ? by_y : by_x, true);
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
		arrange(suspects, by_x, false);
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
static size_t find_false(struct suspects *suspects)
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
	total += find_lonely(suspects, total ? 1 : 2);
	total -= spare_pulses(suspects);
	total += find_strays(suspects, total / 2);
	free(suspects->side[false]);
	free(suspects->side[true]);
	return total;
}

/* What the messages since the last step leave: bounds that open with time. */
struct opening {
	double at, high, low;
};

/* Whether a message agrees with them; then they are narrowed by it. */
static bool narrow(struct opening *opening, const struct suspect *one, double at,
		   double limit)
{
	double passed = limit * (at - opening->at);

	opening->at = at;
	opening->high += passed;
	opening->low -= passed;
	if (one->forward ? one->v < opening->low : one->v > opening->high)
		return false;
	if (one->forward)
		opening->high = fmin(opening->high, one->v);
	else
		opening->low = fmax(opening->low, one->v);
	return true;
}

/*
 * What contradicts nothing still does so with fewer messages, so to go on as far as
 * it does, again and again, takes the fewest steps.
 */
static size_t count_steps(const struct suspects *suspects, bool all, bool by_y,
			  double limit)
{
	const struct opening open = {0, INFINITY, -INFINITY};
	struct opening opening = open;
	size_t steps = 0;

	for (size_t i = 0; i < suspects->count; i++) {
		const struct suspect *one = &suspects->item[i];
		double at = by_y ? one->x + one->v : one->x;

		if ((one->rejected && !all) || narrow(&opening, one, at, limit))
			continue;
		steps++;
		opening = open;
		opening.at = at;
		narrow(&opening, one, at, limit);
	}
	return steps;
}

/*
 * The least number of steps with which any clocks within a limit (of both together)
 * satisfy all messages, or all that are not rejected. Changes their order.
 */
static size_t least_steps(struct suspects *suspects, bool all, double limit)
{
	size_t steps[2];

	/* A clock that was set back mingles its messages in its own order alone. */
	for (int k = 0; k < 2; k++) {
		qsort(suspects->item, suspects->count, sizeof(*suspects->item),
		      k ? by_y : by_x);
		steps[k] = count_steps(suspects, all, k, limit);
	}
	return steps[0] < steps[1] ? steps[0] : steps[1];
}

enum { KINDS = 64, KINDS_TOLD = 3 };

struct kind {
	uint8_t protocol;
	uint16_t port;
	size_t count;
};

static int by_count(const void *a, const void *b)
{
	const struct kind *p = a, *q = b;

	if (p->count != q->count)
		return p->count > q->count ? -1 : 1;
	if (p->protocol != q->protocol)
		return p->protocol < q->protocol ? -1 : 1;
	return (p->port > q->port) - (p->port < q->port);
}

static size_t count_kinds(const struct suspects *suspects, struct kind kind[KINDS])
{
	size_t kinds = 0, k;

	for (size_t i = 0; i < suspects->count; i++) {
		const struct suspect *one = &suspects->item[i];

		if (!one->rejected || !one->protocol)
			continue;
		for (k = 0; k < kinds; k++)
			if (kind[k].protocol == one->protocol &&
			    kind[k].port == one->port)
				break;
		if (k == KINDS)
			continue;
		if (k == kinds)
			kind[kinds++] = (struct kind){one->protocol, one->port, 0};
		kind[k].count++;
	}
	qsort(kind, kinds, sizeof(*kind), by_count);
	return kinds;
}

/*
 * Of which kinds most of the rejected ones are: ": 120 of udp port 7001, 3 of icmp",
 * or "" where that is not known. Freed by the caller.
 */
static char *tell_kinds(const struct suspects *suspects)
{
	struct kind kind[KINDS];
	size_t kinds = count_kinds(suspects, kind), length;
	char *text;
	FILE *file = open_memstream(&text, &length);

	for (size_t k = 0; k < kinds && k < KINDS_TOLD; k++) {
		unsigned protocol = kind[k].protocol;

		fprintf(file, "%s%zu of ", k ? ", " : ": ", kind[k].count);
		if (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP)
			fprintf(file, "%s port %u",
				protocol == IPPROTO_TCP ? "tcp" : "udp", kind[k].port);
		else if (protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6)
			fputs(protocol == IPPROTO_ICMP ? "icmp" : "icmp6", file);
		else
			fprintf(file, "IP protocol %u", protocol);
	}
	fclose(file);
	return text;
}

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

	*steps = least_steps(suspects, all, STEPPING_LIMITS * suspects->limit);
	return *steps >= STEPS_LEAST &&
	       (((double)found > most && all) || (double)*steps > most);
}

static void report_contradictory(struct sync *sync, const struct pair *pair,
				 const struct suspects *suspects, const size_t count[2])
{
	char *kinds = tell_kinds(suspects);

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
