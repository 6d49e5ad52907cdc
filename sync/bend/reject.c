/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bend/reject.h"

#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sync/bend/suspects.h"

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
		      k ? suspects_by_y : suspects_by_x);
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
	found = suspects_reject(suspects);
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
