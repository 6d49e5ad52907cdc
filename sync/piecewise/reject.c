/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/piecewise/reject.h"

#include <inttypes.h>
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/sort.h"
#include "sync/piecewise/reach.h"

/* A message of a pair under suspicion. */
struct suspect {
	double x;     /* since the pair's origin, ns */
	double v;     /* how much further the other clock is, less that at the origin */
	size_t place; /* among the pair's, in the log's order */
	size_t before[2]; /* elements of each direction's list before it */
	uint16_t port;    /* these as in struct message */
	uint8_t protocol;
	bool forward, rejected;
	bool stray;     /* rejected by find_strays */
	unsigned votes; /* in this round */
};

struct suspects {
	struct suspect *item;
	size_t count, capacity;
	struct suspect **side[2]; /* by direction, in the order of the items */
	size_t sides[2];
	double *extreme[2]; /* each full block's least or greatest v */
	size_t next;        /* next in the order of the log */
	bool wanted;        /* the pair contradicts itself */
	double limit;
};

enum {
	WINDOW = 64,         /* messages of the other direction examined on each side */
	WINDOW_OF_ONE = 512, /* if one is enough, because the fastest may be few */
	ROUNDS = 16,         /* several, because false ones can hide each other */
	BLOCK = 16,          /* messages of a list that are examined at once */
};

/* The orders of a pair's messages. */
enum order { BY_X, BY_Y, BY_PLACE };

static int by_place(const void *a, const void *b)
{
	const struct suspect *p = a, *q = b;

	return COMPARE(p->place, q->place);
}

static int by_x(const void *a, const void *b)
{
	const struct suspect *p = a, *q = b;

	return COMPARE(p->x, q->x) ?: COMPARE(p->place, q->place);
}

static int by_y(const void *a, const void *b)
{
	const struct suspect *p = a, *q = b;

	return COMPARE(p->x + p->v, q->x + q->v) ?: COMPARE(p->place, q->place);
}

static void sort_suspects(struct suspects *suspects, enum order order)
{
	sort_almost_sorted(suspects->item, suspects->count, sizeof(*suspects->item),
			   order == BY_X   ? by_x
			   : order == BY_Y ? by_y
					   : by_place);
}

/* Find the v of each block by which its messages are most likely to contradict one of the
 * other direction: the least of those forward, the greatest of those back. */
static void find_extremes(struct suspects *suspects, bool forward)
{
	struct suspect *const *side = suspects->side[forward];

	for (size_t i = 0; i < suspects->sides[forward] / BLOCK * BLOCK; i++) {
		double *extreme = &suspects->extreme[forward][i / BLOCK];

		if (i % BLOCK == 0 ||
		    (forward ? side[i]->v < *extreme : side[i]->v > *extreme))
			*extreme = side[i]->v;
	}
}

/* List each direction separately, since many messages of one can precede the next of the
 * other; include the rejected ones if `all`. */
static void split_by_direction(struct suspects *suspects, enum order order, bool all)
{
	size_t *sides = suspects->sides;

	sort_suspects(suspects, order);
	sides[false] = sides[true] = 0;
	for (size_t i = 0; i < suspects->count; i++) {
		struct suspect *one = &suspects->item[i];

		one->before[false] = sides[false];
		one->before[true] = sides[true];
		if (all || !one->rejected)
			suspects->side[one->forward][sides[one->forward]++] = one;
	}
	find_extremes(suspects, false);
	find_extremes(suspects, true);
}

/* Return the k-th message of a direction after one, or before it for a negative k; or
 * NULL. */
static const struct suspect *find_neighbour(const struct suspects *suspects,
					    const struct suspect *one, bool forward,
					    int k)
{
	struct suspect *const *side = suspects->side[forward];
	size_t before = one->before[forward], at = before + (size_t)k;

	if (k < 0)
		return (size_t)-k <= before ? side[at] : NULL;
	at -= !(before < suspects->sides[forward] && side[before] == one);
	return at < suspects->sides[forward] ? side[at] : NULL;
}

/* Return true if two messages cannot both be true for any clocks within a limit (of both
 * together): a message forward bounds the other clock from above, one back from below. */
static bool contradict_each_other(const struct suspect *a, const struct suspect *b,
				  double limit)
{
	const struct suspect *above = a->forward ? a : b;
	const struct suspect *below = a->forward ? b : a;

	return below->v - above->v > limit * fabs(a->x - b->x);
}

/* Return true if none of a block of the other direction can contradict one, whatever the
 * time between them. */
static bool is_below(const struct suspects *suspects, const struct suspect *one,
		     size_t block)
{
	double extreme = suspects->extreme[!one->forward][block];

	return one->forward ? extreme <= one->v : extreme >= one->v;
}

/* Return true if enough of the messages on one side in time contradict one. */
static bool is_contradicted(const struct suspects *suspects, const struct suspect *one,
			    int side, size_t voices)
{
	struct suspect *const *other = suspects->side[!one->forward];
	size_t before = one->before[!one->forward];
	size_t after = suspects->sides[!one->forward] - before;
	size_t near = 0, against = 0, window = voices > 1 ? WINDOW : WINDOW_OF_ONE;

	/* Without a message on the far side, later steps must not count against it. */
	if (!(side > 0 ? before : after))
		window = voices;
	if (window > (side > 0 ? after : before))
		window = side > 0 ? after : before;
	while (near < window && against < voices) {
		size_t at = side > 0 ? before + near : before - 1 - near;

		if (at % BLOCK == (side > 0 ? 0 : BLOCK - 1) && near + BLOCK <= window &&
		    is_below(suspects, one, at / BLOCK)) {
			near += BLOCK;
			continue;
		}
		against += contradict_each_other(one, other[at], suspects->limit);
		near++;
	}
	/* Near an end of the trace there may be fewer than `voices` messages; then all
	 * must contradict it. */
	return against >= (near < voices ? near : voices);
}

/* Reject the messages with `votes` votes. Return their number. */
static size_t reject_voted(struct suspects *suspects, unsigned votes)
{
	size_t n = 0;

	for (size_t i = 0; i < suspects->count; i++)
		if (!suspects->item[i].rejected && suspects->item[i].votes == votes) {
			suspects->item[i].rejected = true;
			n++;
		}
	return n;
}

/* If a clock is set back, messages before and after it are mixed in the order of that
 * clock and seem to contradict each other on both sides, but not in the order of the
 * other clock. A false message does so in either order. */
static size_t find_round(struct suspects *suspects, size_t voices)
{
	for (unsigned k = 0; k < 2; k++) {
		split_by_direction(suspects, k ? BY_Y : BY_X, false);
		for (size_t i = 0; i < suspects->count; i++) {
			struct suspect *one = &suspects->item[i];

			one->votes = k ? one->votes : 0;
			one->votes += !one->rejected && one->votes == k &&
				      is_contradicted(suspects, one, 1, voices) &&
				      is_contradicted(suspects, one, -1, voices);
		}
	}
	return reject_voted(suspects, 2);
}

enum { LEAST_RUN = 3 }; /* fewer that follow each other may all be false */

#define FALSE_INSIDE 0.1 /* share of the other direction that may also be false */

/* Return true if the nearest messages of the other direction, before and after, both
 * contradict one. */
static bool is_refuted(const struct suspects *suspects, const struct suspect *one)
{
	const struct suspect *before = find_neighbour(suspects, one, !one->forward, -1);
	const struct suspect *after = find_neighbour(suspects, one, !one->forward, 1);

	return before && after && contradict_each_other(one, before, suspects->limit) &&
	       contradict_each_other(one, after, suspects->limit);
}

/* Clear a run that what went the other way meanwhile agrees with. */
static size_t spare_run(struct suspects *suspects, size_t from, size_t to, size_t length)
{
	bool forward = suspects->item[from].forward;
	size_t answers = 0, against = 0, spared = 0;

	for (size_t i = from; length >= LEAST_RUN && i <= to; i++) {
		const struct suspect *answer = &suspects->item[i];
		bool is_false = is_refuted(suspects, answer);

		if (answer->forward == forward || (is_false && answer->rejected))
			continue;
		answers++;
		against += is_false;
	}
	if (answers == against || (double)against > FALSE_INSIDE * (double)answers)
		return 0;
	for (size_t i = from; i <= to; i++) {
		struct suspect *one = &suspects->item[i];

		if (one->forward != forward || !one->rejected ||
		    is_refuted(suspects, one))
			continue;
		one->rejected = false;
		spared++;
	}
	return spared;
}

/*
 * Clear again those that were marked as rejected because a clock was stepped and
 * stepped back, or two clocks were: of these, several follow each other in their
 * direction, and agree with what went the other way meanwhile. Returns how many.
 */
static size_t spare_pulses(struct suspects *suspects, enum order order, bool forward)
{
	size_t from = 0, to = 0, length = 0, spared = 0;

	split_by_direction(suspects, order, true);
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

/* The number of neighbours on each side in each direction, and the rank that counts by
 * size: a few of them can also be false. */
enum { NEAR = 32, RANK = 3, LEAST = 4, STRAY_ROUNDS = 4 };

/* No true message is beyond this share of the gap to the other direction. */
#define BEYOND 0.4

static double median_of(const double *value, size_t n)
{
	double sorted[NEAR];

	memcpy(sorted, value, n * sizeof(*value));
	return ranked(sorted, n, n / 2);
}

/* Estimate the fastest of one direction at the time of a message: at the rate at which
 * the medians before and after it drift apart. */
static bool find_edge(const struct suspects *suspects, const struct suspect *one,
		      bool forward, double *edge)
{
	double x[2][NEAR], v[2][NEAR], value[2 * NEAR], rate = 0, elapsed;
	size_t count[2] = {0, 0}, n = 0;
	const struct suspect *other;

	for (int after = 0; after < 2; after++)
		while (count[after] < NEAR &&
		       (other =
			    find_neighbour(suspects, one, forward,
					   (after ? 1 : -1) * (int)(count[after] + 1)))) {
			x[after][count[after]] = other->x - one->x;
			v[after][count[after]++] = other->v;
		}
	if (count[0] + count[1] < 2 * LEAST)
		return false;
	if (count[0] >= LEAST && count[1] >= LEAST) {
		elapsed = median_of(x[1], count[1]) - median_of(x[0], count[0]);
		rate = (median_of(v[1], count[1]) - median_of(v[0], count[0])) / elapsed;
		rate =
		    elapsed > 0 ? fmax(-suspects->limit, fmin(suspects->limit, rate)) : 0;
	}
	for (int after = 0; after < 2; after++)
		for (size_t i = 0; i < count[after]; i++)
			value[n++] = v[after][i] - rate * x[after][i];
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

/* Reject messages that are nearer to those of the other direction than to those of their
 * own, by latency: they are false though they contradict nothing. If more than `most`
 * would be, latencies are too short to distinguish them, and the search ends. Strays hide
 * each other, so it is repeated. Return the number of rejected messages. */
static size_t find_strays(struct suspects *suspects, size_t most)
{
	size_t total = 0;

	for (int round = 0; most && round < STRAY_ROUNDS; round++) {
		size_t found = 0;

		split_by_direction(suspects, BY_X, false);
		for (size_t i = 0; i < suspects->count; i++) {
			suspects->item[i].votes = is_stray(suspects, &suspects->item[i]);
			found += suspects->item[i].votes;
		}
		if (!found || total + found > most)
			break;
		for (size_t i = 0; i < suspects->count; i++)
			suspects->item[i].stray |= suspects->item[i].votes;
		total += reject_voted(suspects, 1);
	}
	return total;
}

/*
 * The least number of steps with which any clocks within a limit (of both together)
 * satisfy all messages that are not rejected. Changes their order. Sets `runs`, unless it
 * is NULL, to the number of runs of steps in one direction, as a slew is one.
 */
static size_t least_steps(struct suspects *suspects, double limit, size_t *runs)
{
	AUTOFREE struct piecewise_bound *bound =
	    mem_alloc(suspects->count * sizeof(*bound));
	size_t least = SIZE_MAX;

	/* A clock that was set back mingles its messages in its own order alone. */
	for (int k = 0; k < 2; k++) {
		size_t n = 0, steps = 0, turns = 0;
		bool above = false;

		sort_suspects(suspects, k ? BY_Y : BY_X);
		for (size_t i = 0; i < suspects->count; i++) {
			const struct suspect *one = &suspects->item[i];
			nsec_t at = nsec_round(k ? one->x + one->v : one->x);

			if (!one->rejected)
				bound[n++] = (struct piecewise_bound){
				    at, at + nsec_round(one->v), one->forward};
		}
		for (size_t i = piecewise_reach(bound, n, limit); i < n;
		     i += piecewise_reach(bound + i, n - i, limit)) {
			turns += !steps++ || bound[i].above != above;
			above = bound[i].above;
		}
		if (runs && steps < least)
			*runs = turns;
		least = steps < least ? steps : least;
	}
	return least;
}

static void accept_all(struct suspects *suspects)
{
	for (size_t i = 0; i < suspects->count; i++)
		suspects->item[i].rejected = false;
}

static size_t reject_contradicted(struct suspects *suspects, size_t voices)
{
	size_t total = 0;

	for (size_t round = 0, found = 1; found && round < ROUNDS; round++)
		total += found = find_round(suspects, voices);
	return total;
}

/*
 * Reject messages that only one other message contradicts, if the pair then needs no
 * step. With `are_others_false`, it is enough if that saves steps: a false message takes
 * two, there and back. Other results are undone, because messages in flight while a clock
 * is set back contradict each other in the order of either clock. Return the number of
 * rejected messages.
 */
static size_t reject_by_one_voice(struct suspects *suspects, bool are_others_false)
{
	AUTOFREE bool *before = mem_alloc(suspects->count * sizeof(*before));
	size_t steps = least_steps(suspects, suspects->limit, NULL), found, left;

	sort_suspects(suspects, BY_PLACE);
	for (size_t i = 0; i < suspects->count; i++)
		before[i] = suspects->item[i].rejected;
	found = reject_contradicted(suspects, 1);
	left = found ? least_steps(suspects, suspects->limit, NULL) : steps;
	if (!left || (are_others_false && left + 2 <= steps))
		return found;
	sort_suspects(suspects, BY_PLACE);
	for (size_t i = 0; i < suspects->count; i++)
		suspects->item[i].rejected = before[i];
	return 0;
}

/* Return true if more messages on one side in time contradict one than may be false. */
static bool is_opposed(const struct suspects *suspects, const struct suspect *one,
		       int side)
{
	const struct suspect *other;
	size_t near = 0, against = 0;

	while (near < WINDOW && (other = find_neighbour(suspects, one, !one->forward,
							side * (int)(near + 1)))) {
		against += contradict_each_other(one, other, suspects->limit);
		near++;
	}
	return (double)against > FALSE_INSIDE * (double)near;
}

/*
 * Return true if some stray is opposed on one side in time, and not on the other one: it
 * may be true, and show that a clock was slewed or stepped.
 */
static bool are_strays_doubtful(struct suspects *suspects)
{
	bool is_doubtful = false;

	split_by_direction(suspects, BY_X, false);
	for (size_t i = 0; i < suspects->count; i++) {
		const struct suspect *one = &suspects->item[i];

		is_doubtful |= one->stray && is_opposed(suspects, one, 1) !=
						 is_opposed(suspects, one, -1);
	}
	return is_doubtful;
}

/*
 * Reject the messages that are certainly false, and return their number. Then reject
 * those that are likely to be false, and set `is_doubtful` if these may be true.
 */
static size_t reject_suspects(struct suspects *suspects, bool *is_doubtful)
{
	size_t total;

	for (int k = 0; k < 2; k++) {
		suspects->side[k] = mem_alloc(suspects->count * sizeof(struct suspect *));
		suspects->extreme[k] =
		    mem_alloc((suspects->count / BLOCK + 1) * sizeof(double));
	}
	total = reject_contradicted(suspects, 2);
	if (!total)
		total = reject_by_one_voice(suspects, false);
	for (int k = 0; k < 4; k++)
		total -= spare_pulses(suspects, k / 2 ? BY_Y : BY_X, k % 2);
	if (total)
		total += reject_by_one_voice(suspects, true);
	*is_doubtful = find_strays(suspects, total) && are_strays_doubtful(suspects);
	for (int k = 0; k < 2; k++) {
		free(suspects->side[k]);
		free(suspects->extreme[k]);
	}
	return total;
}

/* Return the kind of a message, "udp port 7001". The caller frees it. */
static char *kind_name(const struct observations *seen, const struct suspect *one)
{
	if (one->protocol == PACKET_NO_PROTOCOL && one->port < seen->declareds)
		return mem_printf("message %s", seen->declared[one->port].name);
	if (one->protocol == IPPROTO_TCP || one->protocol == IPPROTO_UDP)
		return mem_printf("%s port %u",
				  one->protocol == IPPROTO_TCP ? "tcp" : "udp",
				  one->port);
	return mem_printf("IP protocol %u", one->protocol);
}

/*
 * Describe the most frequent kind of rejected message: ", 120 of udp port 7001"; "" if
 * unknown. The caller frees it.
 */
static char *describe_main_kind(const struct observations *seen,
				const struct suspects *suspects)
{
	AUTOFREE char *name = NULL;
	const struct suspect *kind = NULL;
	struct intmap counts = {0};
	int64_t most = 0;

	for (size_t i = 0; i < suspects->count; i++) {
		const struct suspect *one = &suspects->item[i];
		uint64_t key = (uint64_t)one->protocol << 16 | one->port;
		int64_t count = 0;

		if (!one->rejected || !one->protocol)
			continue;
		intmap_get(&counts, key, &count);
		intmap_put(&counts, key, ++count);
		if (count > most) {
			most = count;
			kind = one;
		}
	}
	intmap_clear(&counts);
	if (!kind)
		return mem_strdup("");
	name = kind_name(seen, kind);
	return mem_printf(", %" PRId64 " of %s", most, name);
}

struct rejection {
	struct network *net;
	double max_rejected;
	struct problem_list *problems;
	struct suspects *by_pair;
};

static int gather_suspect(void *context, const struct message *message)
{
	struct rejection *rejection = context;
	struct suspects *suspects = &rejection->by_pair[message->pair];
	const struct pair *pair = &rejection->net->pairs.pair[message->pair];
	struct hull_point point = pair_point(message);
	nsec_t dx = point.x - pair->hulls.origin.x, dy = point.y - pair->hulls.origin.y;
	size_t place = suspects->count;

	if (!suspects->wanted)
		return 0;
	*MEM_NEXT(suspects->item, suspects->count, suspects->capacity) = (struct suspect){
	    .x = (double)dx,
	    .v = (double)(dy - dx),
	    .place = place,
	    .port = message->port,
	    .protocol = message->protocol,
	    .forward = message->forward,
	};
	return 0;
}

/* If clocks of twice the drift limit would have to step for more than this share of the
 * messages, and this often in the opposite direction, it is not a clock. */
#define STEPPING_SHARE 0.02
enum { STEPS_LEAST = 6 };
#define STEPPING_LIMITS 2

/* Judge whether many messages are false, or are explained only by steps. */
static void judge_pair(const struct rejection *rejection, struct pair *pair,
		       struct suspects *suspects)
{
	double count = (double)suspects->count, most = STEPPING_SHARE * count;
	size_t allowed = (size_t)fmax(1, rejection->max_rejected * count);
	const char *a = network_clock_name(rejection->net, pair->a);
	const char *b = network_clock_name(rejection->net, pair->b);
	size_t steps, runs, found = reject_suspects(suspects, &pair->is_doubtful);
	AUTOFREE char *kind = describe_main_kind(rejection->net->clocks.seen, suspects);
	bool too_many = found > allowed;

	if (too_many)
		accept_all(suspects);
	steps = least_steps(suspects, STEPPING_LIMITS * suspects->limit, &runs);
	pair->contradictory =
	    !pair->fit.too_fast && runs >= STEPS_LEAST &&
	    (((double)found > most && too_many) || (double)steps > most);
	if (pair->contradictory) {
		accept_all(suspects);
		problem_add(
		    rejection->problems, a, PROBLEM_CONTRADICTION, found,
		    "no clocks satisfy its %zu messages with %s, but by %zu steps or "
		    "more; so packets were matched wrongly, and they tie nothing (%zu "
		    "contradict the others%s)",
		    suspects->count, b, steps, found, kind);
	} else if (too_many) {
		pair->is_doubtful = true;
		problem_add(rejection->problems, a, PROBLEM_CONTRADICTION, found,
			    "%zu of %zu messages with %s contradict the others, too many "
			    "to be false matches (--max-rejected)",
			    found, suspects->count, b);
	}
	sort_suspects(suspects, BY_PLACE);
}

static int apply_verdict(void *context, struct message *message)
{
	struct rejection *rejection = context;
	struct suspects *suspects = &rejection->by_pair[message->pair];
	struct pair *pair = &rejection->net->pairs.pair[message->pair];

	if (!suspects->wanted)
		return 0;
	message->rejected = suspects->item[suspects->next++].rejected;
	pair->rejected += message->rejected;
	return 0;
}

/* Judge the pairs that contradict themselves. */
static void judge_pairs(struct rejection *rejection)
{
	for (size_t i = 0; i < rejection->net->pairs.count; i++) {
		struct pair *pair = &rejection->net->pairs.pair[i];

		if (!rejection->by_pair[i].wanted)
			continue;
		rejection->by_pair[i].limit = 2 * rejection->net->limit;
		judge_pair(rejection, pair, &rejection->by_pair[i]);
	}
}

int reject_false_matches(struct network *net, double max_rejected,
			 struct problem_list *problems, struct error *error)
{
	struct rejection rejection = {net, max_rejected, problems, NULL};
	bool any = false;
	int status = 0;

	rejection.by_pair = mem_zalloc(net->pairs.count * sizeof(struct suspects));
	for (size_t i = 0; i < net->pairs.count; i++) {
		rejection.by_pair[i].wanted = net->pairs.pair[i].fit.margin_ns < 0;
		any |= rejection.by_pair[i].wanted;
	}
	if (any)
		status = message_log_each(&net->log, gather_suspect, &rejection, error);
	if (any && !status) {
		judge_pairs(&rejection);
		status = message_log_change(&net->log, apply_verdict, &rejection, error);
	}
	for (size_t i = 0; i < net->pairs.count; i++)
		free(rejection.by_pair[i].item);
	free(rejection.by_pair);
	return status ? -1 : pairs_rejected(&net->pairs) > 0;
}
