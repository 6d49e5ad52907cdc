/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/piecewise/constraints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"

enum { ROUNDS_MOST = 2000 };

/* The least latency of a message, more than the rounding of what follows from it. */
#define LEAST_TRAVEL_NS 4.0
#define ROUNDING_NS     2.0
/* A bound that moves by less than this has not moved. */
#define STILL_NS        0.01

/* A clock at the timestamps of its messages: upper bounds of its error, which is how far
 * its true correction is above the line of its island's fit, and of its negative. An
 * upper bound of one is a lower bound of the other, so both are treated alike. */
struct breakpoints {
	nsec_t *at; /* ascending */
	size_t count, capacity;
	double *most[2]; /* bounds on the error at [true], on its negative at [false];
			    borrowed */
	double rate[2];  /* how fast these can grow, no unit */
	bool *is_cut;    /* an event is between a stamp and the one before it */
	uint64_t moves[2], swept[2]; /* changes so far, and before the last sweep */
	bool fixed;                  /* the bounds are one value */
	unsigned saved[2];           /* the last fix that saved its bounds */
	uint32_t *use[2];            /* the uses of its bounds, ascending */
	size_t uses[2], use_capacity[2];
};

/* sent + travel >= received, of the two errors. */
struct message_link {
	nsec_t at[2];     /* when it was sent, and received; later indexes of stamps */
	double travel_ns; /* by the lines */
};

/* The messages from clock[0] to clock[1]. clock[side] bounds the other one, again
 * whenever it changes: that is use 2 * k + side of the k-th group. */
struct link_group {
	uint32_t clock[2];
	size_t end; /* end of its links */
};

struct constraints {
	const struct network *net;
	const struct lines *lines;
	const struct island *island;
	const struct clock_events_found *events; /* by clock, or NULL */
	struct breakpoints *breakpoints;         /* by clock */
	double *most;                            /* bounds of all breakpoints */
	double *before; /* copies of the bounds that a fix changes */
	unsigned fixes;
	size_t stamps;
	struct message_link *link;
	size_t links, link_capacity;
	struct link_group *group; /* two for each pair within the island */
	uint64_t *pending;        /* a bit for each use of bounds that have changed */
};

bool bounds_are_broken(const struct clock *clock, const struct piecewise_bounds *bounds)
{
	for (size_t i = 0; i < bounds->count; i++) {
		const struct piecewise_bound *bound = &bounds->item[i];
		nsec_t now = clock_correct(clock, bound->x);

		if (bound->above ? now > bound->y : now < bound->y)
			return true;
	}
	return false;
}

/* By the line of the island's fit. */
static nsec_t straight_time(const struct lines *lines, uint32_t clock, nsec_t at)
{
	return clock_line_reference(&lines->clock[clock], at);
}

static void add_stamp(struct constraints *constraints, uint32_t clock, nsec_t at)
{
	struct breakpoints *breakpoints = &constraints->breakpoints[clock];

	*MEM_NEXT(breakpoints->at, breakpoints->count, breakpoints->capacity) = at;
	constraints->stamps++;
}

static void add_link(struct constraints *constraints, const struct link_group *group,
		     struct message_link link)
{
	nsec_t line[2];

	for (int end = 0; end < 2; end++) {
		line[end] =
		    straight_time(constraints->lines, group->clock[end], link.at[end]);
		add_stamp(constraints, group->clock[end], link.at[end]);
	}
	link.travel_ns = (double)(line[1] - line[0]) - LEAST_TRAVEL_NS;
	*MEM_NEXT(constraints->link, constraints->links, constraints->link_capacity) =
	    link;
}

/* Return true if an event of a clock overlaps the time between two others. */
static bool has_event(const struct constraints *constraints, uint32_t clock, nsec_t from,
		      nsec_t to)
{
	const struct clock_events_found *found = constraints->events;

	for (size_t i = 0; found && i < found[clock].events; i++)
		if (from < found[clock].event[i].to_ns &&
		    to > found[clock].event[i].from_ns)
			return true;
	return false;
}

/* Every message between the island's clocks, except during their events. */
static void add_messages(struct constraints *constraints,
			 const struct pair_messages *messages)
{
	const struct island *island = constraints->island;

	for (size_t k = 0; k < 2 * island->insides; k++) {
		uint32_t index = island->inside[k / 2];
		const struct pair *pair = &constraints->net->pairs.pair[index];
		bool forward = k % 2;
		const struct point_list *side = &messages[index].side[forward];
		struct link_group *group = &constraints->group[k];

		group->clock[!forward] = pair->a;
		group->clock[forward] = pair->b;
		for (size_t i = 0; i < side->count; i++) {
			struct message_link link;

			link.at[!forward] = side->point[i].x;
			link.at[forward] = side->point[i].y;
			if (!has_event(constraints, group->clock[0], link.at[0],
				       link.at[0]) &&
			    !has_event(constraints, group->clock[1], link.at[1],
				       link.at[1]))
				add_link(constraints, group, link);
		}
		group->end = constraints->links;
	}
}

/* Put a clock's stamps in order, with nothing known at them. Returns the end of `most`.
 */
static double *prepare_bounds(const struct constraints *constraints, uint32_t clock,
			      double *most)
{
	struct breakpoints *breakpoints = &constraints->breakpoints[clock];
	double limit = constraints->net->limit;
	double rate = constraints->lines->clock[clock].rate;
	size_t kept = 0;

	SORT(breakpoints->at, breakpoints->count, nsec_compare);
	for (size_t i = 0; i < breakpoints->count; i++)
		if (!kept || breakpoints->at[i] != breakpoints->at[kept - 1])
			breakpoints->at[kept++] = breakpoints->at[i];
	breakpoints->count = kept;
	breakpoints->is_cut = mem_zalloc(kept + 1);
	for (size_t i = 1; constraints->events && i < kept; i++)
		breakpoints->is_cut[i] = has_event(
		    constraints, clock, breakpoints->at[i - 1], breakpoints->at[i]);
	breakpoints->fixed = clock == constraints->island->reference;
	breakpoints->rate[true] = limit - rate;
	breakpoints->rate[false] = limit + rate;
	for (int side = 0; side < 2; side++) {
		breakpoints->most[side] = most;
		breakpoints->moves[side] = 1;
		for (size_t i = 0; i < kept; i++)
			*most++ = breakpoints->fixed ? 0 : INFINITY;
	}
	return most;
}

/* A stamp of a clock becomes its index. */
static void number_stamp(const struct constraints *constraints, uint32_t clock,
			 nsec_t *stamp)
{
	const struct breakpoints *breakpoints = &constraints->breakpoints[clock];
	const nsec_t *found = bsearch(stamp, breakpoints->at, breakpoints->count,
				      sizeof(nsec_t), nsec_compare);

	*stamp = found - breakpoints->at;
}

static bool tighten_limit(double *bound, double value)
{
	bool moves = value < *bound - STILL_NS;

	if (moves)
		*bound = value;
	return moves;
}

static size_t count_uses(const struct constraints *constraints)
{
	return 4 * constraints->island->insides;
}

/* Save the bounds of a clock on a side before a fix first changes them. */
static void save_bounds(struct constraints *constraints, struct breakpoints *breakpoints,
			int side)
{
	double *most = breakpoints->most[side];

	if (breakpoints->saved[side] == constraints->fixes)
		return;
	breakpoints->saved[side] = constraints->fixes;
	memcpy(constraints->before + (most - constraints->most), most,
	       breakpoints->count * sizeof(*most));
}

/* Note that bounds have changed: what uses them has to be done again. */
static void add_moves(struct constraints *constraints, struct breakpoints *breakpoints,
		      int side, uint64_t moves)
{
	breakpoints->moves[side] += moves;
	for (size_t i = 0; moves && i < breakpoints->uses[side]; i++) {
		uint32_t use = breakpoints->use[side][i];

		constraints->pending[use / 64] |= UINT64_C(1) << use % 64;
	}
}

/* Return the first pending use from one on, or the number of uses. */
static size_t next_pending(const struct constraints *constraints, size_t use)
{
	size_t words = (count_uses(constraints) + 63) / 64;
	uint64_t skipped = (UINT64_C(1) << use % 64) - 1;

	for (size_t word = use / 64; word < words; word++, skipped = 0) {
		uint64_t bits = constraints->pending[word] & ~skipped;

		if (bits)
			return 64 * word + (size_t)__builtin_ctzll(bits);
	}
	return count_uses(constraints);
}

/* Bound a clock by the messages of a group, on a side. Return true if a bound moves. */
static bool relax_links(struct constraints *constraints, size_t use)
{
	const struct link_group *group = &constraints->group[use / 2];
	int side = use % 2;
	const struct breakpoints *by = &constraints->breakpoints[group->clock[side]];
	struct breakpoints *bounded = &constraints->breakpoints[group->clock[!side]];
	double *most = bounded->most[side];
	uint64_t moves = 0;

	constraints->pending[use / 64] &= ~(UINT64_C(1) << use % 64);
	if (bounded->fixed)
		return false;
	save_bounds(constraints, bounded, side);
	for (size_t i = use < 2 ? 0 : group[-1].end; i < group->end; i++) {
		const struct message_link *link = &constraints->link[i];

		moves += tighten_limit(&most[link->at[!side]],
				       by->most[side][link->at[side]] + link->travel_ns);
	}
	add_moves(constraints, bounded, side, moves);
	return moves;
}

static bool relax_messages(struct constraints *constraints)
{
	bool moves = false;

	for (size_t use = next_pending(constraints, 0); use < count_uses(constraints);
	     use = next_pending(constraints, use + 1))
		moves |= relax_links(constraints, use);
	return moves;
}

/* Return how much a bound can grow from the time before k to k's. */
static double limit_growth(const struct breakpoints *breakpoints, size_t k, int side)
{
	if (breakpoints->is_cut[k])
		return INFINITY;
	return breakpoints->rate[side] *
	       (double)(breakpoints->at[k] - breakpoints->at[k - 1]);
}

/* Let each time bound the next ones, on a side. */
static bool sweep_side(struct constraints *constraints, struct breakpoints *breakpoints,
		       int side)
{
	double *most = breakpoints->most[side];
	uint64_t moves = 0;

	save_bounds(constraints, breakpoints, side);
	for (size_t k = 1; k < breakpoints->count; k++)
		moves += tighten_limit(&most[k],
				       most[k - 1] + limit_growth(breakpoints, k, side));
	for (size_t k = breakpoints->count; k-- > 1;)
		moves += tighten_limit(&most[k - 1],
				       most[k] + limit_growth(breakpoints, k, !side));
	breakpoints->swept[side] = breakpoints->moves[side];
	add_moves(constraints, breakpoints, side, moves);
	return moves;
}

static bool is_possible(const struct breakpoints *breakpoints)
{
	for (size_t k = 0; k < breakpoints->count; k++)
		if (breakpoints->most[true][k] <
		    -breakpoints->most[false][k] - ROUNDING_NS)
			return false;
	return true;
}

/* Find the shortest paths. Return false if messages contradict each other. */
static bool find_limits(struct constraints *constraints)
{
	const struct island *island = constraints->island;

	for (int round = 0; round < ROUNDS_MOST; round++) {
		bool moves = relax_messages(constraints);

		for (size_t i = 2; i < 2 * island->members; i++) {
			struct breakpoints *breakpoints =
			    &constraints->breakpoints[island->member[i / 2]];
			int side = i % 2;

			if (breakpoints->fixed ||
			    breakpoints->swept[side] == breakpoints->moves[side])
				continue;
			moves |= sweep_side(constraints, breakpoints, side);
			if (!is_possible(breakpoints))
				return false;
		}
		if (!moves)
			return true;
	}
	return false;
}

/* All of the island's are bounded from both sides, and can be at once. */
static bool is_solved(struct constraints *constraints)
{
	const struct island *island = constraints->island;

	if (!find_limits(constraints))
		return false;
	for (size_t i = 1; i < island->members; i++)
		if (!constraints->breakpoints[island->member[i]].count)
			return false;
	for (size_t i = 0; i < 2 * constraints->stamps; i++)
		if (isinf(constraints->most[i]))
			return false;
	return true;
}

/* List the uses of each clock's bounds. All are pending. */
static void add_uses(struct constraints *constraints)
{
	size_t uses = count_uses(constraints);

	constraints->pending = mem_zalloc((uses / 64 + 1) * sizeof(uint64_t));
	for (size_t use = 0; use < uses; use++) {
		int side = use % 2;
		struct breakpoints *by =
		    &constraints->breakpoints[constraints->group[use / 2].clock[side]];

		*MEM_NEXT(by->use[side], by->uses[side], by->use_capacity[side]) =
		    (uint32_t)use;
		constraints->pending[use / 64] |= UINT64_C(1) << use % 64;
	}
}

struct constraints *constraints_new(const struct network *net, const struct lines *lines,
				    const struct island *island,
				    const struct pair_messages *messages,
				    const struct clock_events_found *events)
{
	struct constraints *constraints = mem_zalloc(sizeof(*constraints));
	double *most;

	constraints->net = net;
	constraints->lines = lines;
	constraints->island = island;
	constraints->events = events;
	constraints->breakpoints =
	    mem_zalloc(net->clocks.count * sizeof(*constraints->breakpoints));
	constraints->group =
	    mem_zalloc((2 * island->insides + 1) * sizeof(*constraints->group));
	add_messages(constraints, messages);
	most = mem_alloc((2 * constraints->stamps + 1) * sizeof(*most));
	constraints->before = mem_alloc((2 * constraints->stamps + 1) * sizeof(*most));
	constraints->most = most;
	for (size_t i = 0; i < island->members; i++)
		most = prepare_bounds(constraints, island->member[i], most);
	constraints->stamps = (size_t)(most - constraints->most) / 2;
	for (size_t k = 0, i = 0; k < 2 * island->insides; k++)
		for (; i < constraints->group[k].end; i++)
			for (int end = 0; end < 2; end++)
				number_stamp(constraints,
					     constraints->group[k].clock[end],
					     &constraints->link[i].at[end]);
	add_uses(constraints);
	if (is_solved(constraints))
		return constraints;
	constraints_free(constraints);
	return NULL;
}

/* Return true if a neighbouring bound implies this one. Those next to an event are kept,
 * because a curve is found to change between them. */
static bool is_implied(const struct breakpoints *breakpoints, size_t k, int side)
{
	const double *most = breakpoints->most[side];

	if (breakpoints->is_cut[k] ||
	    (k + 1 < breakpoints->count && breakpoints->is_cut[k + 1]))
		return false;
	if (k && most[k] >= most[k - 1] - STILL_NS + limit_growth(breakpoints, k, side))
		return true;
	return k + 1 < breakpoints->count &&
	       most[k] >=
		   most[k + 1] - STILL_NS + limit_growth(breakpoints, k + 1, !side);
}

void constraints_bounds(const struct constraints *constraints, uint32_t clock,
			struct piecewise_bounds *bounds)
{
	const struct breakpoints *breakpoints = &constraints->breakpoints[clock];

	bounds->count = 0;
	for (size_t k = 0; k < breakpoints->count; k++) {
		nsec_t line =
		    straight_time(constraints->lines, clock, breakpoints->at[k]);

		for (int above = 0; above < 2; above++) {
			double most = breakpoints->most[above][k];

			if (is_implied(breakpoints, k, above))
				continue;
			*MEM_NEXT(bounds->item, bounds->count, bounds->capacity) =
			    (struct piecewise_bound){
				.x = breakpoints->at[k],
				.y = line + nsec_round(above ? most : -most),
				.above = above,
			    };
		}
	}
}

/* Undo the current fix: all was at rest before, and so is again. */
static void restore_bounds(const struct constraints *constraints)
{
	const struct island *island = constraints->island;

	for (size_t i = 0; i < 2 * island->members; i++) {
		const struct breakpoints *breakpoints =
		    &constraints->breakpoints[island->member[i / 2]];
		double *most = breakpoints->most[i % 2];

		if (breakpoints->saved[i % 2] == constraints->fixes)
			memcpy(most, constraints->before + (most - constraints->most),
			       breakpoints->count * sizeof(*most));
	}
}

bool constraints_fix(struct constraints *constraints, uint32_t clock,
		     const struct clock *curve)
{
	struct breakpoints *breakpoints = &constraints->breakpoints[clock];

	constraints->fixes++;
	for (int side = 0; side < 2; side++)
		save_bounds(constraints, breakpoints, side);
	for (size_t k = 0; k < breakpoints->count; k++) {
		breakpoints->most[true][k] =
		    (double)(clock_correct(curve, breakpoints->at[k]) -
			     straight_time(constraints->lines, clock,
					   breakpoints->at[k]));
		breakpoints->most[false][k] = -breakpoints->most[true][k];
	}
	for (int side = 0; side < 2; side++)
		add_moves(constraints, breakpoints, side, 1);
	breakpoints->fixed = find_limits(constraints);
	if (!breakpoints->fixed)
		restore_bounds(constraints);
	return breakpoints->fixed;
}

static double middle_at(const struct breakpoints *breakpoints, size_t k)
{
	return (breakpoints->most[true][k] - breakpoints->most[false][k]) / 2;
}

void constraints_middle(const struct constraints *constraints, uint32_t clock,
			struct piecewise_fit *found)
{
	const struct breakpoints *breakpoints = &constraints->breakpoints[clock];
	double rate = constraints->lines->clock[clock].rate;

	*found = (struct piecewise_fit){.segments = breakpoints->count};
	found->segment = mem_alloc(breakpoints->count * sizeof(*found->segment));
	for (size_t k = 0; k < breakpoints->count; k++) {
		double error = middle_at(breakpoints, k), more = 0;

		if (k + 1 < breakpoints->count)
			more = (middle_at(breakpoints, k + 1) - error) /
			       (double)(breakpoints->at[k + 1] - breakpoints->at[k]);
		found->segment[k] = (struct clock_segment){
		    .local_ns = breakpoints->at[k],
		    .ref_ns =
			straight_time(constraints->lines, clock, breakpoints->at[k]) +
			nsec_round(error),
		    .rate_ppb = (rate + more) * 1e9,
		};
	}
}

static void breakpoints_clear(struct breakpoints *breakpoints)
{
	free(breakpoints->at);
	free(breakpoints->is_cut);
	free(breakpoints->use[false]);
	free(breakpoints->use[true]);
}

void constraints_free(struct constraints *constraints)
{
	if (!constraints)
		return;
	for (size_t i = 0; i < constraints->net->clocks.count; i++)
		breakpoints_clear(&constraints->breakpoints[i]);
	free(constraints->most);
	free(constraints->before);
	free(constraints->group);
	free(constraints->breakpoints);
	free(constraints->link);
	free(constraints->pending);
	free(constraints);
}
