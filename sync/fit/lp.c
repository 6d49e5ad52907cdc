/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit/lp.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/version.h"

#if CT_HAVE_GLPK
#include <glpk.h>
#else
typedef struct glp_prob glp_prob;
#endif

/* Simplex steps of one solution; GLPK may go round in circles for ever. */
enum { MOST_STEPS = 10000 };

/*
 * There are many more rows than columns, and a simplex step costs by the rows. So GLPK
 * gets the dual,
 *
 * minimize sum of -low[r] y[r] + sum of high[c] u[c] - sum of low[c] v[c]
 *
 * such that for each column c: sum of -a[r][c] y[r] + u[c] - v[c] = objective[c]
 *
 * with y, u, v >= 0, and u or v only if the column has that bound. The columns' values
 * are its rows' shadow prices.
 */
struct lp {
	size_t columns;
	struct column {
		double low, high, objective;
	} * column;
	/* The matrix, transposed: GLPK wants all of it at once. Counted from 1. */
	int *row, *col;
	double *factor, *cost;
	size_t terms, row_capacity, col_capacity, factor_capacity, costs, cost_capacity;
	glp_prob *problem; /* made by lp_maximize */
};

struct lp *lp_new(size_t columns)
{
	struct lp *lp = mem_zalloc(sizeof(*lp));

	lp->columns = columns;
	lp->column = mem_alloc(columns * sizeof(*lp->column));
	for (size_t i = 0; i < columns; i++)
		lp->column[i] = (struct column){-LP_INFINITY, LP_INFINITY, 0};
	return lp;
}

void lp_bound(struct lp *lp, size_t column, double low, double high)
{
	lp->column[column].low = low;
	lp->column[column].high = high;
}

static void add_cost(struct lp *lp, double cost)
{
	*MEM_NEXT(lp->cost, lp->costs, lp->cost_capacity) = cost;
}

/* A factor of the dual's last column. */
static void add_factor(struct lp *lp, size_t row, double factor)
{
	size_t at = ++lp->terms;

	lp->row = mem_grow(lp->row, at, &lp->row_capacity, sizeof(*lp->row));
	lp->col = mem_grow(lp->col, at, &lp->col_capacity, sizeof(*lp->col));
	lp->factor = mem_grow(lp->factor, at, &lp->factor_capacity, sizeof(*lp->factor));
	lp->row[at] = (int)row + 1;
	lp->col[at] = (int)lp->costs;
	lp->factor[at] = factor;
}

void lp_row(struct lp *lp, const struct lp_term *term, size_t terms, double low)
{
	add_cost(lp, -low);
	for (size_t i = 0; i < terms; i++)
		add_factor(lp, term[i].column, -term[i].factor);
}

void lp_objective(struct lp *lp, size_t column, double factor)
{
	lp->column[column].objective = factor;
}

static void add_bounds(struct lp *lp)
{
	for (size_t i = 0; i < lp->columns; i++) {
		if (lp->column[i].high < LP_INFINITY) {
			add_cost(lp, lp->column[i].high);
			add_factor(lp, i, 1);
		}
		if (lp->column[i].low > -LP_INFINITY) {
			add_cost(lp, -lp->column[i].low);
			add_factor(lp, i, -1);
		}
	}
}

#if CT_HAVE_GLPK
static void load_problem(struct lp *lp)
{
	glp_prob *problem = glp_create_prob();

	add_bounds(lp);
	glp_set_obj_dir(problem, GLP_MIN);
	glp_add_rows(problem, (int)lp->columns);
	for (size_t i = 0; i < lp->columns; i++)
		glp_set_row_bnds(problem, (int)i + 1, GLP_FX, lp->column[i].objective,
				 lp->column[i].objective);
	if (lp->costs)
		glp_add_cols(problem, (int)lp->costs);
	for (size_t i = 0; i < lp->costs; i++) {
		glp_set_col_bnds(problem, (int)i + 1, GLP_LO, 0, 0);
		glp_set_obj_coef(problem, (int)i + 1, lp->cost[i]);
	}
	glp_load_matrix(problem, (int)lp->terms, lp->row, lp->col, lp->factor);
	glp_adv_basis(problem, 0);
	lp->problem = problem;
}

bool lp_maximize(struct lp *lp)
{
	glp_smcp control;

	glp_term_out(GLP_OFF);
	glp_init_smcp(&control);
	control.msg_lev = GLP_MSG_OFF;
	control.tol_bnd = control.tol_dj = 1e-9;
	control.it_lim = MOST_STEPS + (int)(lp->columns + lp->costs);
	load_problem(lp);
	return !glp_simplex(lp->problem, &control) &&
	       glp_get_status(lp->problem) == GLP_OPT;
}

double lp_value(const struct lp *lp, size_t column)
{
	return glp_get_row_dual(lp->problem, (int)column + 1);
}

static void delete_problem(glp_prob *problem)
{
	if (problem)
		glp_delete_prob(problem);
}

const char *lp_missing(void)
{
	return NULL;
}

char *lp_library_version(void)
{
	return mem_printf("GLPK %s", glp_version());
}
#else
bool lp_maximize(struct lp *lp)
{
	add_bounds(lp);
	return false;
}

double lp_value(const struct lp *lp, size_t column)
{
	(void)lp;
	(void)column;
	return 0;
}

static void delete_problem(glp_prob *problem)
{
	(void)problem;
}

const char *lp_missing(void)
{
	return CT_WITHOUT("GLPK", "libglpk-dev");
}

char *lp_library_version(void)
{
	return mem_strdup("no GLPK");
}
#endif

void lp_free(struct lp *lp)
{
	if (!lp)
		return;
	delete_problem(lp->problem);
	free(lp->column);
	free(lp->row);
	free(lp->col);
	free(lp->factor);
	free(lp->cost);
	free(lp);
}
