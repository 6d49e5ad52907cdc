/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit/island_lp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/fit/private.h"

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

void island_lp_move(struct island_lp *program, const double *column)
{
	struct fit_island *island = program->island;

	for (size_t i = 1; i < island->members; i++) {
		struct fit_clock *clock = &island->clock[island->member[i]];

		clock->offset_ns += column[island_lp_offset(i)] * program->unit_ns;
		clock->rate +=
		    column[island_lp_rate(i)] * program->unit_ns / program->half_ns[i];
	}
}

void island_lp_apply(struct island_lp *program)
{
	double *column = mem_alloc(program->extra * sizeof(double));

	for (size_t i = 0; i < program->extra; i++)
		column[i] = lp_value(program->lp, i);
	island_lp_move(program, column);
	free(column);
}

void island_lp_clear(struct island_lp *program)
{
	lp_free(program->lp);
	free(program->place);
	free(program->half_ns);
	memset(program, 0, sizeof(*program));
}
