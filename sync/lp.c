/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/lp.h"

#include <glpk.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

struct lp {
	glp_prob *problem;
	size_t columns;
	/* Rows wait here and are loaded at once: GLPK adds single rows slowly. */
	int *row, *column;
	double *factor, *low;
	size_t terms, term_room, factor_room, column_room, rows, row_room;
	bool loaded;
};

struct lp *lp_new(size_t columns)
{
	struct lp *lp = mem_zalloc(sizeof(*lp));

	glp_term_out(GLP_OFF);
	lp->problem = glp_create_prob();
	lp->columns = columns;
	glp_set_obj_dir(lp->problem, GLP_MAX);
	glp_add_cols(lp->problem, (int)columns);
	for (size_t i = 0; i < columns; i++)
		glp_set_col_bnds(lp->problem, (int)i + 1, GLP_FR, 0, 0);
	return lp;
}

void lp_bound(struct lp *lp, size_t column, double low, double high)
{
	bool has_low = low > -LP_INFINITY, has_high = high < LP_INFINITY;
	int kind = GLP_FR;

	if (has_low && has_high)
		kind = low < high ? GLP_DB : GLP_FX;
	else if (has_low || has_high)
		kind = has_low ? GLP_LO : GLP_UP;
	glp_set_col_bnds(lp->problem, (int)column + 1, kind, low, high);
}

void lp_row(struct lp *lp, const struct lp_term *term, size_t terms, double low)
{
	lp->low = mem_grow(lp->low, lp->rows, &lp->row_room, sizeof(*lp->low));
	lp->low[lp->rows++] = low;
	for (size_t i = 0; i < terms; i++) {
		/* GLPK counts from 1. */
		size_t at = ++lp->terms;

		lp->row = mem_grow(lp->row, at, &lp->term_room, sizeof(*lp->row));
		lp->column =
		    mem_grow(lp->column, at, &lp->column_room, sizeof(*lp->column));
		lp->factor =
		    mem_grow(lp->factor, at, &lp->factor_room, sizeof(*lp->factor));
		lp->row[at] = (int)lp->rows;
		lp->column[at] = (int)term[i].column + 1;
		lp->factor[at] = term[i].factor;
	}
	lp->loaded = false;
}

void lp_objective(struct lp *lp, size_t column, double factor)
{
	glp_set_obj_coef(lp->problem, (int)column + 1, factor);
}

static void load(struct lp *lp)
{
	int have = glp_get_num_rows(lp->problem);

	if (lp->loaded)
		return;
	if ((int)lp->rows > have)
		glp_add_rows(lp->problem, (int)lp->rows - have);
	for (size_t i = (size_t)have; i < lp->rows; i++)
		glp_set_row_bnds(lp->problem, (int)i + 1, GLP_LO, lp->low[i], 0);
	glp_load_matrix(lp->problem, (int)lp->terms, lp->row, lp->column, lp->factor);
	glp_adv_basis(lp->problem, 0);
	lp->loaded = true;
}

enum lp_status lp_maximize(struct lp *lp)
{
	glp_smcp control;

	load(lp);
	glp_init_smcp(&control);
	control.msg_lev = GLP_MSG_OFF;
	control.tol_bnd = control.tol_dj = 1e-9;
	if (glp_simplex(lp->problem, &control)) {
		/* A basis that does not fit any more: start anew. */
		glp_adv_basis(lp->problem, 0);
		if (glp_simplex(lp->problem, &control))
			return LP_FAILED;
	}
	switch (glp_get_status(lp->problem)) {
	case GLP_OPT:
		return LP_OPTIMAL;
	case GLP_NOFEAS:
		return LP_INFEASIBLE;
	case GLP_UNBND:
		return LP_UNBOUNDED;
	default:
		return LP_FAILED;
	}
}

double lp_value(const struct lp *lp, size_t column)
{
	return glp_get_col_prim(lp->problem, (int)column + 1);
}

double lp_maximum(const struct lp *lp)
{
	return glp_get_obj_val(lp->problem);
}

void lp_free(struct lp *lp)
{
	if (!lp)
		return;
	glp_delete_prob(lp->problem);
	free(lp->row);
	free(lp->column);
	free(lp->factor);
	free(lp->low);
	free(lp);
}

char *lp_library_version(void)
{
	return mem_printf("GLPK %s", glp_version());
}
