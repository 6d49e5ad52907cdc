/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/piecewise/segments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { ROUNDS_MOST = 2000 };

/* So long must a message take, for the rounding of what comes of it, which is less. */
#define LEAST_TRAVEL_NS 4.0
#define ROUNDING_NS     2.0
/* A bound that moves by less than this has not moved. */
#define STILL_NS        0.01

/*
 * A clock at the stamps of its messages: bounds of the error, how far its true correction
 * is above the line of its island's fit, and of its negative. What bounds the one from
 * above bounds the other from below, so both are treated alike.
 */
struct breakpoints {
	nsec_t *at; /* ascending */
	size_t count, capacity;
	double
	    *most[2];   /* of the error at [true], of its negative at [false]; borrowed */
	double rate[2]; /* how fast these can grow, no unit */
	bool fixed;     /* the bounds are one value */
};

/* sent + travel >= received, of the two errors. */
struct message_link {
	uint32_t from, to;     /* clocks */
	nsec_t sent, received; /* stamps; once these are in order, their indexes */
	double travel_ns;      /* by the lines */
};

struct constraints {
	const struct sync *sync;
	const struct island *island;
	struct breakpoints *breakpoints; /* by clock */
	double *most;                    /* of all of them */
	size_t stamps;
	struct message_link *link;
	size_t links, link_capacity;
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
static nsec_t straight(const struct sync *sync, uint32_t clock, nsec_t at)
{
	const struct fit_clock *fit = &sync->clock[clock];

	return fit->ref_ns + nsec_round(fit_correct(fit, at, fit->ref_ns));
}

static void add_stamp(struct constraints *constraints, uint32_t clock, nsec_t at)
{
	struct breakpoints *breakpoints = &constraints->breakpoints[clock];

	*MEM_NEXT(breakpoints->at, breakpoints->count, breakpoints->capacity) = at;
	constraints->stamps++;
}

static void add_link(struct constraints *constraints, struct message_link link)
{
	const struct sync *sync = constraints->sync;

	link.travel_ns = (double)(straight(sync, link.to, link.received) -
				  straight(sync, link.from, link.sent)) -
			 LEAST_TRAVEL_NS;
	*MEM_NEXT(constraints->link, constraints->links, constraints->link_capacity) =
	    link;
	add_stamp(constraints, link.from, link.sent);
	add_stamp(constraints, link.to, link.received);
}

/* Every message between the island's clocks. */
static void add_messages(struct constraints *constraints,
			 const struct pair_messages *messages)
{
	const struct island *island = constraints->island;

	for (size_t k = 0; k < 2 * island->insides; k++) {
		uint32_t index = island->inside[k / 2];
		const struct pair *pair = &constraints->sync->pairs.pair[index];
		bool forward = k % 2;
		const struct point_list *side = &messages[index].side[forward];

		for (size_t i = 0; i < side->count; i++) {
			struct hull_point p = side->point[i];

			add_link(
			    constraints,
			    forward
				? (struct message_link){pair->a, pair->b, p.x, p.y, 0}
				: (struct message_link){pair->b, pair->a, p.y, p.x, 0});
		}
	}
}

/* Put a clock's stamps in order, with nothing known at them. Returns the end of `most`.
 */
static double *prepare(const struct constraints *constraints, uint32_t clock,
		       double *most)
{
	const struct sync *sync = constraints->sync;
	struct breakpoints *breakpoints = &constraints->breakpoints[clock];
	double limit = sync->options.drift_limit_ppm * 1e-6;
	size_t kept = 0;

	if (breakpoints->count)
		qsort(breakpoints->at, breakpoints->count, sizeof(*breakpoints->at),
		      nsec_compare);
	for (size_t i = 0; i < breakpoints->count; i++)
		if (!kept || breakpoints->at[i] != breakpoints->at[kept - 1])
			breakpoints->at[kept++] = breakpoints->at[i];
	breakpoints->count = kept;
	breakpoints->fixed = clock == constraints->island->reference;
	breakpoints->rate[true] = limit - sync->clock[clock].rate;
	breakpoints->rate[false] = limit + sync->clock[clock].rate;
	for (int side = 0; side < 2; side++) {
		breakpoints->most[side] = most;
		for (size_t i = 0; i < kept; i++)
			*most++ = breakpoints->fixed ? 0 : INFINITY;
	}
	return most;
}

static nsec_t breakpoint_at(const struct breakpoints *breakpoints, nsec_t at)
{
	const nsec_t *found = bsearch(&at, breakpoints->at, breakpoints->count,
				      sizeof(nsec_t), nsec_compare);

	return found - breakpoints->at;
}

static bool tighten(double *bound, double value)
{
	bool moves = value < *bound - STILL_NS;

	if (moves)
		*bound = value;
	return moves;
}

static bool relax_messages(const struct constraints *constraints)
{
	bool moves = false;

	for (size_t i = 0; i < constraints->links; i++) {
		const struct message_link *link = &constraints->link[i];
		struct breakpoints *from = &constraints->breakpoints[link->from];
		struct breakpoints *to = &constraints->breakpoints[link->to];

		if (!from->fixed)
			moves |=
			    tighten(&from->most[true][link->sent],
				    to->most[true][link->received] + link->travel_ns);
		if (!to->fixed)
			moves |= tighten(&to->most[false][link->received],
					 from->most[false][link->sent] + link->travel_ns);
	}
	return moves;
}

/* How far the bounds on a side can grow from the time before k to k's. */
static double growth(const struct breakpoints *breakpoints, size_t k, int side)
{
	return breakpoints->rate[side] *
	       (double)(breakpoints->at[k] - breakpoints->at[k - 1]);
}

/* Let each time bound the next ones. */
static bool sweep(struct breakpoints *breakpoints)
{
	bool moves = false;

	for (int side = 0; side < 2; side++) {
		double *most = breakpoints->most[side];

		for (size_t k = 1; k < breakpoints->count; k++)
			moves |=
			    tighten(&most[k], most[k - 1] + growth(breakpoints, k, side));
		for (size_t k = breakpoints->count; k-- > 1;)
			moves |= tighten(&most[k - 1],
					 most[k] + growth(breakpoints, k, !side));
	}
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

/* The shortest ways; false where the messages contradict each other. */
static bool relax(const struct constraints *constraints)
{
	const struct island *island = constraints->island;

	for (int round = 0; round < ROUNDS_MOST; round++) {
		bool moves = relax_messages(constraints);

		for (size_t i = 1; i < island->members; i++) {
			struct breakpoints *breakpoints =
			    &constraints->breakpoints[island->member[i]];

			if (breakpoints->fixed)
				continue;
			moves |= sweep(breakpoints);
			if (!is_possible(breakpoints))
				return false;
		}
		if (!moves)
			return true;
	}
	return false;
}

/* All of the island's are bounded from both sides, and can be at once. */
static bool is_solved(const struct constraints *constraints)
{
	const struct island *island = constraints->island;

	if (!relax(constraints))
		return false;
	for (size_t i = 1; i < island->members; i++)
		if (!constraints->breakpoints[island->member[i]].count)
			return false;
	for (size_t i = 0; i < 2 * constraints->stamps; i++)
		if (isinf(constraints->most[i]))
			return false;
	return true;
}

struct constraints *constraints_new(const struct sync *sync, const struct island *island,
				    const struct pair_messages *messages)
{
	struct constraints *constraints = mem_zalloc(sizeof(*constraints));
	double *most;

	constraints->sync = sync;
	constraints->island = island;
	constraints->breakpoints =
	    mem_zalloc(sync->clocks * sizeof(*constraints->breakpoints));
	add_messages(constraints, messages);
	most = mem_alloc((2 * constraints->stamps + 1) * sizeof(*most));
	constraints->most = most;
	for (size_t i = 0; i < island->members; i++)
		most = prepare(constraints, island->member[i], most);
	constraints->stamps = (size_t)(most - constraints->most) / 2;
	for (size_t i = 0; i < constraints->links; i++) {
		struct message_link *link = &constraints->link[i];

		link->sent =
		    breakpoint_at(&constraints->breakpoints[link->from], link->sent);
		link->received =
		    breakpoint_at(&constraints->breakpoints[link->to], link->received);
	}
	if (is_solved(constraints))
		return constraints;
	constraints_free(constraints);
	return NULL;
}

/* Whether a bound is no tighter than what the one before or after it leaves. */
static bool is_implied(const struct breakpoints *breakpoints, size_t k, int side)
{
	const double *most = breakpoints->most[side];

	if (k && most[k] >= most[k - 1] - STILL_NS + growth(breakpoints, k, side))
		return true;
	return k + 1 < breakpoints->count &&
	       most[k] >= most[k + 1] - STILL_NS + growth(breakpoints, k + 1, !side);
}

void constraints_bounds(const struct constraints *constraints, uint32_t clock,
			struct piecewise_bounds *bounds)
{
	const struct breakpoints *breakpoints = &constraints->breakpoints[clock];

	bounds->count = 0;
	for (size_t k = 0; k < breakpoints->count; k++) {
		nsec_t line = straight(constraints->sync, clock, breakpoints->at[k]);

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

bool constraints_fix(struct constraints *constraints, uint32_t clock,
		     const struct clock *curve)
{
	size_t size = 2 * constraints->stamps * sizeof(double);
	AUTOFREE double *before = mem_alloc(size + 1);
	struct breakpoints *breakpoints = &constraints->breakpoints[clock];

	memcpy(before, constraints->most, size);
	for (size_t k = 0; k < breakpoints->count; k++) {
		breakpoints->most[true][k] =
		    (double)(clock_correct(curve, breakpoints->at[k]) -
			     straight(constraints->sync, clock, breakpoints->at[k]));
		breakpoints->most[false][k] = -breakpoints->most[true][k];
	}
	breakpoints->fixed = relax(constraints);
	if (!breakpoints->fixed)
		memcpy(constraints->most, before, size);
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
	double rate = constraints->sync->clock[clock].rate;

	*found = (struct piecewise_fit){.segments = breakpoints->count};
	found->segment = mem_alloc(breakpoints->count * sizeof(*found->segment));
	for (size_t k = 0; k < breakpoints->count; k++) {
		double error = middle_at(breakpoints, k), more = 0;

		if (k + 1 < breakpoints->count)
			more = (middle_at(breakpoints, k + 1) - error) /
			       (double)(breakpoints->at[k + 1] - breakpoints->at[k]);
		found->segment[k] = (struct clock_segment){
		    .local_ns = breakpoints->at[k],
		    .ref_ns = straight(constraints->sync, clock, breakpoints->at[k]) +
			      nsec_round(error),
		    .rate_ppb = (rate + more) * 1e9,
		};
	}
}

void constraints_free(struct constraints *constraints)
{
	if (!constraints)
		return;
	for (size_t i = 0; i < constraints->sync->clocks; i++)
		free(constraints->breakpoints[i].at);
	free(constraints->most);
	free(constraints->breakpoints);
	free(constraints->link);
	free(constraints);
}
