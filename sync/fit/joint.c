/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/fit/fit.h"

struct slacks {
	struct fit_island *island;
	double *item;
	size_t count, room;
};

static void note_slack(void *context, const struct pair *pair, struct hull_point corner,
		       bool forward)
{
	struct slacks *slacks = context;

	slacks->item =
	    mem_grow(slacks->item, slacks->count, &slacks->room, sizeof(double));
	slacks->item[slacks->count++] =
	    fabs(fit_corner_slack(slacks->island, pair, corner, forward));
}

/* The median slack of all corners: what the numbers are measured in. */
static double typical_slack(struct fit_island *island)
{
	struct slacks slacks = {island, NULL, 0, 0};
	double median = 1;

	fit_each_corner(island, note_slack, &slacks);
	if (slacks.count)
		median = ranked(slacks.item, slacks.count, slacks.count / 2);
	free(slacks.item);
	return fmax(1, median);
}

static void bound_rate(struct island_lp *program, size_t place)
{
	const struct fit_island *island = program->island;
	const struct fit_clock *clock = &island->clock[island->member[place]];
	double scale = program->half_ns[place] / program->unit_ns;

	if (!clock->too_fast)
		lp_bound(program->lp, island_lp_rate(place),
			 (-island->limit - clock->rate) * scale,
			 (island->limit - clock->rate) * scale);
}

void island_lp_init(struct island_lp *program, struct fit_island *island, size_t extra)
{
	size_t traces = 0;

	for (size_t i = 0; i < island->members; i++)
		if (island->member[i] >= traces)
			traces = island->member[i] + 1;
	program->island = island;
	program->unit_ns = typical_slack(island);
	program->least_ns = 0;
	program->half_ns = mem_alloc(island->members * sizeof(double));
	program->place = mem_alloc(traces * sizeof(int));
	memset(program->place, -1, traces * sizeof(int));
	program->extra = 2 * (island->members - 1);
	program->lp = lp_new(program->extra + extra);
	for (size_t i = 0; i < island->members; i++) {
		const struct fit_clock *clock = &island->clock[island->member[i]];

		program->place[island->member[i]] = (int)i;
		program->half_ns[i] =
		    fmax(1, (double)(clock->end_ns - clock->begin_ns) / 2);
		if (i)
			bound_rate(program, i);
	}
}

double island_lp_rate_factor(const struct island_lp *program, size_t place,
			     nsec_t local_ns)
{
	const struct fit_island *island = program->island;
	nsec_t origin = island->clock[island->member[place]].origin_ns;

	return (double)(local_ns - origin) / program->half_ns[place];
}

static size_t add_clock(const struct island_lp *program, uint32_t trace, nsec_t local_ns,
			double sign, struct lp_term *term)
{
	size_t place = (size_t)program->place[trace];

	if (!place)
		return 0;
	term[0] = (struct lp_term){island_lp_offset(place), sign};
	term[1] =
	    (struct lp_term){island_lp_rate(place),
			     sign * island_lp_rate_factor(program, place, local_ns)};
	return 2;
}

static void add_corner(struct island_lp *program, const struct pair *pair,
		       struct hull_point corner, bool forward)
{
	double sign = forward ? 1 : -1;
	double have = fit_corner_slack(program->island, pair, corner, forward);
	struct lp_term term[4];
	size_t terms = 0;

	terms += add_clock(program, pair->b, corner.y, sign, term + terms);
	terms += add_clock(program, pair->a, corner.x, -sign, term + terms);
	lp_row(program->lp, term, terms, (program->least_ns - have) / program->unit_ns);
}

void island_lp_add_pair(struct island_lp *program, const struct pair *pair)
{
	for (size_t i = 0; i < pair->lower.count; i++)
		add_corner(program, pair, pair->lower.point[i], true);
	for (size_t i = 0; i < pair->upper.count; i++)
		add_corner(program, pair, pair->upper.point[i], false);
}

/* Move the island's clocks by the clocks' columns. */
static void move(struct island_lp *program, const double *column)
{
	struct fit_island *island = program->island;

	for (size_t i = 1; i < island->members; i++) {
		struct fit_clock *clock = &island->clock[island->member[i]];

		clock->offset_ns += column[island_lp_offset(i)] * program->unit_ns;
		clock->rate +=
		    column[island_lp_rate(i)] * program->unit_ns / program->half_ns[i];
	}
}

void island_lp_clear(struct island_lp *program)
{
	lp_free(program->lp);
	free(program->place);
	free(program->half_ns);
	memset(program, 0, sizeof(*program));
}

/*
 * All pairs of an island at once, in two steps.
 *
 * First the weighted mean: every pair says by its bisector what the relation
 * of its two clocks is at its first and at its last corner, as surely as its
 * tangents are close there, and the clocks are fitted to all of this by least
 * squares, so that errors average out and no way around a loop differs
 * (Huygens, Geng et al. 2018, corrects loops likewise).
 *
 * Then one linear program over all pairs: the clocks nearest to that, by the
 * sum of what is moved at the middle and the ends, for which every message
 * was received after it was sent. Where the mean does so already, it stays.
 */

/* A pair's word counts as if it were this much surer of nothing. */
#define LEAST_WIDTH_NS 1000.0

/*
 * Two messages and one back may agree to the nanosecond, by luck. With n of
 * them, the fastest is as much slower than the least delay as one of n is, so
 * this many times the margin over n stands for what is not known of it.
 */
#define LUCK 32.0

/* Pairs without two tangents count for little: only where nobody else speaks. */
#define WIDTH_WITHOUT 1e9

/* What the program keeps between a message's send and receive at least. */
#define LEAST_SLACK_NS 2.0

/* A solution that breaks a message by more than this is none. */
#define BROKEN_NS -1.0

static nsec_t first_corner(const struct pair *pair)
{
	if (!pair->lower.count || !pair->upper.count)
		return pair->origin.x;
	return pair->lower.point[0].x < pair->upper.point[0].x ? pair->lower.point[0].x
							       : pair->upper.point[0].x;
}

static nsec_t last_of(const struct hull *hull)
{
	return hull->count ? hull->point[hull->count - 1].x : NSEC_MIN;
}

static nsec_t last_corner(const struct pair *pair)
{
	nsec_t lower = last_of(&pair->lower), upper = last_of(&pair->upper);

	return lower > upper ? lower : upper;
}

static double luck_of(const struct pair *pair)
{
	uint64_t ab = pair->messages_ab, ba = pair->messages_ba;

	return LUCK * fmax(0, pair->margin_ns) / (double)(1 + (ab < ba ? ab : ba));
}

/* What a pair's line says at x, against what the clocks at hand say. */
static void add_word(const struct island_lp *program, struct least_squares *squares,
		     const struct pair *pair, nsec_t x)
{
	struct line line;
	double width =
	    fmin(WIDTH_WITHOUT,
		 fit_bisector(pair, fit_pair_limit(program->island, pair), x, &line));
	double above = line.offset + line.rate * (double)(x - line.x0);
	nsec_t whole = nsec_round(above);
	struct hull_point point = {x, line.y0 + (x - line.x0) + whole};
	double have = fit_corner_slack(program->island, pair, point, true);
	struct lp_term term[4];
	size_t terms = 0;

	terms += add_clock(program, pair->b, point.y, 1, term + terms);
	terms += add_clock(program, pair->a, point.x, -1, term + terms);
	least_squares_add(squares, term, terms,
			  -(have + above - (double)whole) / program->unit_ns,
			  LEAST_WIDTH_NS / (width + luck_of(pair) + LEAST_WIDTH_NS));
}

static bool take_mean(struct fit_island *island)
{
	struct island_lp program;
	struct least_squares *squares;
	double *unknown;
	bool found;

	island_lp_init(&program, island, 0);
	squares = least_squares_new(program.extra);
	unknown = mem_zalloc(program.extra * sizeof(double));
	for (size_t i = 0; i < island->insides; i++) {
		const struct pair *pair = &island->pairs->pair[island->inside[i]];

		add_word(&program, squares, pair, first_corner(pair));
		add_word(&program, squares, pair, last_corner(pair));
	}
	found = least_squares_solve(squares, unknown);
	if (found)
		move(&program, unknown);
	free(unknown);
	least_squares_free(squares);
	island_lp_clear(&program);
	return found;
}

struct least {
	const struct fit_island *island;
	double slack;
};

static void note_least(void *context, const struct pair *pair, struct hull_point corner,
		       bool forward)
{
	struct least *least = context;

	if (pair->margin_ns >= 0)
		least->slack = fmin(
		    least->slack, fit_corner_slack(least->island, pair, corner, forward));
}

/* The smallest latency, of pairs that do not contradict themselves. */
static double least_slack(struct fit_island *island)
{
	struct least least = {island, INFINITY};

	fit_each_corner(island, note_least, &least);
	return least.slack;
}

static bool are_slow(const struct fit_island *island)
{
	for (size_t i = 1; i < island->members; i++) {
		const struct fit_clock *clock = &island->clock[island->member[i]];

		if (!clock->too_fast && fabs(clock->rate) > island->limit)
			return false;
	}
	return true;
}

/* Minimize what the columns move: |column| as the larger of two rows. */
static void add_distance(struct island_lp *program)
{
	for (size_t i = 0; i < program->extra; i++) {
		struct lp_term term[2] = {{program->extra + i, 1}, {i, -1}};

		lp_row(program->lp, term, 2, 0);
		term[1].factor = 1;
		lp_row(program->lp, term, 2, 0);
		lp_objective(program->lp, program->extra + i, -1);
	}
}

/* The nearest clocks that satisfy every message with some slack. */
static enum lp_status move_inside(struct fit_island *island, double slack_ns)
{
	struct island_lp program;
	enum lp_status status;
	double *column;

	island_lp_init(&program, island, 2 * (island->members - 1));
	column = mem_alloc(program.extra * sizeof(double));
	program.least_ns = slack_ns;
	for (size_t i = 0; i < island->insides; i++) {
		const struct pair *pair = &island->pairs->pair[island->inside[i]];

		if (pair->margin_ns >= 0)
			island_lp_add_pair(&program, pair);
	}
	add_distance(&program);
	status = lp_maximize(program.lp);
	for (size_t i = 0; status == LP_OPTIMAL && i < program.extra; i++)
		column[i] = lp_value(program.lp, i);
	if (status == LP_OPTIMAL)
		move(&program, column);
	free(column);
	island_lp_clear(&program);
	return status;
}

int fit_joint(struct fit_island *island, struct error *error)
{
	fit_hull(island, error);
	if (island->members < 2)
		return 0;
	if (!take_mean(island))
		return error_set(error, "the pairs do not determine the clocks");
	if (least_slack(island) >= LEAST_SLACK_NS && are_slow(island))
		return 0;
	if (move_inside(island, LEAST_SLACK_NS) != LP_OPTIMAL &&
	    move_inside(island, 0) != LP_OPTIMAL)
		return error_set(error, "no clocks satisfy the messages of all pairs");
	/* GLPK is not taken at its word: the hulls are asked again. */
	if (least_slack(island) < BROKEN_NS)
		return error_set(
		    error, "the linear program's solution breaks a message by %.0f ns",
		    -least_slack(island));
	return 0;
}
