/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_FIT_ISLAND_LP_H
#define CT_SYNC_FIT_ISLAND_LP_H

#include "sync/fit/fit.h"
#include "sync/fit/lp.h"

/*
 * The linear program of an island's clocks (Sirdey and Maurice 2005;
 * Scheuermann et al. 2009). It is written about the fit at hand: a clock's
 * columns are what is added to its line, at its origin and from there to its
 * end, so that every number is a difference of the size of the delays. One
 * row a corner of a hull: received after sent.
 */
struct island_lp {
	struct fit_island *island;
	struct lp *lp;
	int *place;      /* by trace: its place among the members, -1: none */
	double unit_ns;  /* of the offsets' columns and the rows */
	double *half_ns; /* by place: from a clock's origin to its end */
	double least_ns; /* what a message must take at least; 0 at first */
	size_t extra;    /* the first of the caller's own columns */
};

/* Columns of the member at a place; the reference, place 0, has none. */
static inline size_t island_lp_offset(size_t place)
{
	return 2 * (place - 1);
}

static inline size_t island_lp_rate(size_t place)
{
	return 2 * (place - 1) + 1;
}

/* Make the columns, bound the rates, with `extra` columns after them. No rows. */
void island_lp_init(struct island_lp *program, struct fit_island *island, size_t extra);

/* Add the rows of a pair's corners: each has a slack of least_ns or more. */
void island_lp_add_pair(struct island_lp *program, const struct pair *pair);

/* Move the island's clocks by the clocks' columns. */
void island_lp_move(struct island_lp *program, const double *column);

/* Take the solution over into the island's clocks. */
void island_lp_apply(struct island_lp *program);

/* A column's amount per unit of change of the clock at a local time. */
double island_lp_rate_factor(const struct island_lp *program, size_t place,
			     nsec_t local_ns);

void island_lp_clear(struct island_lp *program);

#endif
