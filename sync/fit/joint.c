/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit/method_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/fit/regression.h"

/* A corner of a hull of a pair within the island: a message that may be the quickest. */
struct corner {
	const struct pair *pair;
	struct hull_point point;
	bool forward;
};

/* The linear program of an island's clocks (Sirdey and Maurice 2008; Scheuermann et al.
 * 2009), relative to the current fit: a clock's columns are what is added to its line, at
 * its origin and from there to its end, so that every number is of the size of the
 * delays. There is a row for each corner of a hull: it was received after it was sent. */
struct program {
	const struct fit_island *island;
	struct corner *corner;
	size_t corners;
	double unit_ns;  /* unit of offset columns and rows */
	double *half_ns; /* by place: from a clock's origin to its end */
	size_t columns;  /* columns for the clocks */
};

/* Return a member's column. The reference, place 0, has none. */
static size_t offset_column(size_t place)
{
	return 2 * (place - 1);
}

static size_t rate_column(size_t place)
{
	return 2 * (place - 1) + 1;
}

/*
 * By how much the message at a corner was received after it was sent, on the fitted
 * clocks, in nanoseconds.
 */
static double slack_of(const struct fit_island *island, const struct corner *corner)
{
	const struct clock_line *line_a = &island->line[corner->pair->a];
	nsec_t ref = line_a->ref_ns;
	double a = clock_line_correct(line_a, corner->point.x, ref);
	double b =
	    clock_line_correct(&island->line[corner->pair->b], corner->point.y, ref);

	return corner->forward ? b - a : a - b;
}

static void list_corners(struct program *program)
{
	const struct fit_island *island = program->island;
	size_t capacity = 0;

	for (size_t i = 0; i < 2 * island->of->insides; i++) {
		const struct pair *pair =
		    &island->net->pairs.pair[island->of->inside[i / 2]];
		const struct hull *hull = i % 2 ? &pair->hulls.upper : &pair->hulls.lower;

		for (size_t k = 0; k < hull->count; k++)
			*MEM_NEXT(program->corner, program->corners, capacity) =
			    (struct corner){pair, hull->point[k],
					    hull == &pair->hulls.lower};
	}
}

/* Return the median slack of all corners, the unit of the program's numbers. */
static double typical_slack(const struct program *program)
{
	AUTOFREE double *slack = mem_alloc((program->corners + 1) * sizeof(*slack));

	for (size_t i = 0; i < program->corners; i++)
		slack[i] = fabs(slack_of(program->island, &program->corner[i]));
	return program->corners
		   ? fmax(1, ranked(slack, program->corners, program->corners / 2))
		   : 1;
}

static void program_init(struct program *program, const struct fit_island *island)
{
	*program = (struct program){
	    .island = island,
	    .half_ns = mem_alloc(island->of->members * sizeof(double)),
	    .columns = 2 * (island->of->members - 1),
	};
	list_corners(program);
	for (size_t i = 0; i < island->of->members; i++) {
		const struct run_clock *clock =
		    &island->net->clocks.clock[island->of->member[i]];

		program->half_ns[i] =
		    fmax(1, (double)(clock->end_ns - clock->begin_ns) / 2);
	}
}

/* Return the factor of a clock's rate column at a local time. */
static double rate_factor(const struct program *program, size_t place, nsec_t local_ns)
{
	const struct fit_island *island = program->island;
	nsec_t origin = island->line[island->of->member[place]].origin_ns;

	return (double)(local_ns - origin) / program->half_ns[place];
}

static size_t add_clock(const struct program *program, uint32_t clock, nsec_t local_ns,
			double sign, struct lp_term *term)
{
	size_t place = program->island->net->graph.node[clock].place;

	if (!place)
		return 0;
	term[0] = (struct lp_term){offset_column(place), sign};
	term[1] = (struct lp_term){rate_column(place),
				   sign * rate_factor(program, place, local_ns)};
	return 2;
}

/* Make the terms for b's clock less a's at a point, and return their number. */
static size_t add_relation(const struct program *program, const struct corner *corner,
			   struct lp_term term[4])
{
	double sign = corner->forward ? 1 : -1;
	size_t terms = add_clock(program, corner->pair->b, corner->point.y, sign, term);

	return terms +
	       add_clock(program, corner->pair->a, corner->point.x, -sign, term + terms);
}

/* Move the island's clocks by the clocks' columns. */
static void move_lines(const struct program *program, const double *column)
{
	const struct fit_island *island = program->island;

	for (size_t i = 1; i < island->of->members; i++) {
		struct clock_line *line = &island->line[island->of->member[i]];

		line->offset_ns += column[offset_column(i)] * program->unit_ns;
		line->rate +=
		    column[rate_column(i)] * program->unit_ns / program->half_ns[i];
	}
}

/*
 * All pairs of an island at once, in two steps.
 *
 * First the weighted mean. Every pair gives, by its bisector, the relation of its clocks
 * at its first and last corner, weighted by how close its tangents are there. The clocks
 * are fitted to all of this by least squares, so that errors average out and all ways
 * around a loop agree (Huygens, Geng et al. 2018, corrects loops likewise).
 *
 * Then one linear program over all pairs: the clocks nearest to the mean, by the sum of
 * what is moved at the middle and the ends, for which every message was received after it
 * was sent. If the mean satisfies that already, it stays.
 */

/* Added to each pair's width, so that no weight grows without limit. */
#define LEAST_WIDTH_NS 1000.0

/* The width of a pair without two tangents: it matters only where there is no other pair.
 */
#define WIDTH_WITHOUT 1e9

/* Least time between a message's send and receive in the program's solution. */
#define LEAST_SLACK_NS 2.0

/* A solution that breaks a message by more than this is rejected. */
#define BROKEN_NS -1.0

static nsec_t first_corner(const struct pair *pair)
{
	if (!pair->hulls.lower.count || !pair->hulls.upper.count)
		return pair->hulls.origin.x;
	return pair->hulls.lower.point[0].x < pair->hulls.upper.point[0].x
		   ? pair->hulls.lower.point[0].x
		   : pair->hulls.upper.point[0].x;
}

static nsec_t last_of(const struct hull *hull)
{
	return hull->count ? hull->point[hull->count - 1].x : NSEC_MIN;
}

static nsec_t last_corner(const struct pair *pair)
{
	nsec_t lower = last_of(&pair->hulls.lower), upper = last_of(&pair->hulls.upper);

	return lower > upper ? lower : upper;
}

/*
 * Add the difference between a pair's line and the current clocks at x as a least-squares
 * term.
 */
static void add_pair_observation(const struct program *program,
				 struct least_squares *squares, const struct pair *pair,
				 nsec_t x)
{
	struct line line;
	double width =
	    fmin(WIDTH_WITHOUT,
		 pair_line_bisector(&pair->hulls, &pair->fit,
				    fit_pair_limit(program->island, pair), x, &line));
	double above = line.offset + line.rate * (double)(x - line.x0);
	nsec_t whole = nsec_round(above);
	struct corner point = {pair, {x, line.y0 + (x - line.x0) + whole}, true};
	double have = slack_of(program->island, &point);
	struct lp_term term[4];
	size_t terms = add_relation(program, &point, term);

	least_squares_add(
	    squares, term, terms, -(have + above - (double)whole) / program->unit_ns,
	    LEAST_WIDTH_NS / (width + pair_chance_allowance(pair) + LEAST_WIDTH_NS));
}

/* Move the clocks to the weighted mean of the pairs' lines. */
static bool move_to_mean(struct program *program)
{
	const struct fit_island *island = program->island;
	struct least_squares *squares = least_squares_new(program->columns);
	AUTOFREE double *unknown = mem_zalloc(program->columns * sizeof(double));
	bool found;

	program->unit_ns = typical_slack(program);
	for (size_t i = 0; i < island->of->insides; i++) {
		const struct pair *pair = &island->net->pairs.pair[island->of->inside[i]];

		add_pair_observation(program, squares, pair, first_corner(pair));
		add_pair_observation(program, squares, pair, last_corner(pair));
	}
	found = least_squares_solve(squares, unknown);
	if (found)
		move_lines(program, unknown);
	least_squares_free(squares);
	return found;
}

/* Return the smallest latency of pairs that do not contradict themselves. */
static double least_slack(const struct program *program)
{
	double least = INFINITY;

	for (size_t i = 0; i < program->corners; i++)
		if (program->corner[i].pair->fit.margin_ns >= 0)
			least =
			    fmin(least, slack_of(program->island, &program->corner[i]));
	return least;
}

static bool are_slow(const struct fit_island *island)
{
	for (size_t i = 1; i < island->of->members; i++) {
		uint32_t at = island->of->member[i];

		if (!island->net->graph.node[at].is_too_fast &&
		    fabs(island->line[at].rate) > island->net->limit)
			return false;
	}
	return true;
}

static void bound_rates(const struct program *program, struct lp *lp)
{
	const struct fit_island *island = program->island;

	for (size_t i = 1; i < island->of->members; i++) {
		uint32_t at = island->of->member[i];
		double limit = island->net->limit, rate = island->line[at].rate;
		double scale = program->half_ns[i] / program->unit_ns;

		if (!island->net->graph.node[at].is_too_fast)
			lp_bound(lp, rate_column(i), (-limit - rate) * scale,
				 (limit - rate) * scale);
	}
}

/* Require every message to take at least `least_ns`. */
static void add_messages(const struct program *program, struct lp *lp, double least_ns)
{
	for (size_t i = 0; i < program->corners; i++) {
		const struct corner *corner = &program->corner[i];
		struct lp_term term[4];
		size_t terms = add_relation(program, corner, term);

		if (corner->pair->fit.margin_ns >= 0)
			lp_row(lp, term, terms,
			       (least_ns - slack_of(program->island, corner)) /
				   program->unit_ns);
	}
}

/* Minimize the sum of |column|, each as the larger of two rows. */
static void add_distance(const struct program *program, struct lp *lp)
{
	for (size_t i = 0; i < program->columns; i++) {
		struct lp_term term[2] = {{program->columns + i, 1}, {i, -1}};

		lp_row(lp, term, 2, 0);
		term[1].factor = 1;
		lp_row(lp, term, 2, 0);
		lp_objective(lp, program->columns + i, -1);
	}
}

/* Move to the nearest clocks that satisfy every message with some slack. */
static bool move_inside(struct program *program, double slack_ns)
{
	struct lp *lp = lp_new(2 * program->columns);
	AUTOFREE double *column = mem_alloc(program->columns * sizeof(double));
	bool found;

	program->unit_ns = typical_slack(program);
	bound_rates(program, lp);
	add_messages(program, lp, slack_ns);
	add_distance(program, lp);
	found = lp_maximize(lp);
	for (size_t i = 0; found && i < program->columns; i++)
		column[i] = lp_value(lp, i);
	if (found)
		move_lines(program, column);
	lp_free(lp);
	return found;
}

static int fit_program(struct program *program, struct error *error)
{
	if (!move_to_mean(program))
		return error_set(error, "the pairs do not determine the clocks");
	if (least_slack(program) >= LEAST_SLACK_NS && are_slow(program->island))
		return 0;
	if (!move_inside(program, LEAST_SLACK_NS) && !move_inside(program, 0))
		return error_set(error, "no clocks satisfy the messages of all pairs");
	/* Do not rely on GLPK: check its solution against the hulls. */
	if (least_slack(program) < BROKEN_NS)
		return error_set(
		    error, "the linear program's solution breaks a message by %.0f ns",
		    -least_slack(program));
	return 0;
}

int fit_joint(const struct fit_island *island, struct error *error)
{
	struct program program;
	int status;

	fit_hull(island, error);
	if (island->of->members < 2)
		return 0;
	program_init(&program, island);
	status = fit_program(&program, error);
	free(program.corner);
	free(program.half_ns);
	return status;
}
