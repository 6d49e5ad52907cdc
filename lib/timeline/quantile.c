/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/quantile.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* The values of one group. */
struct quantile_values {
	double *value, share;
	size_t count, capacity;
};

static void swap_values(double *a, double *b)
{
	double kept = *a;

	*a = *b;
	*b = kept;
}

/* Move the value of this rank to its index, so that no value before it is greater and no
 * value after it is less (Hoare 1961, FIND). */
static void select_rank(double *value, size_t count, size_t rank)
{
	size_t low = 0, high = count - 1;

	while (low < high) {
		double middle = value[low + (high - low) / 2];
		size_t i = low, k = high;

		for (;;) {
			while (value[i] < middle)
				i++;
			while (value[k] > middle)
				k--;
			if (i >= k)
				break;
			swap_values(&value[i++], &value[k--]);
		}
		/* Values up to k are not greater than those from k + 1 on. */
		if (rank <= k)
			high = k;
		else
			low = k + 1;
	}
}

double quantile_of(double *value, size_t count, double share)
{
	double at = share * (double)(count - 1), below;
	size_t rank = (size_t)floor(at);
	double least;

	select_rank(value, count, rank);
	below = value[rank];
	if (rank + 1 >= count || at == floor(at))
		return below;
	least = value[rank + 1];
	for (size_t i = rank + 2; i < count; i++)
		least = value[i] < least ? value[i] : least;
	return below + (least - below) * (at - floor(at));
}

static void add_value(sqlite3_context *context, int count, sqlite3_value **value)
{
	struct quantile_values *quantile =
	    sqlite3_aggregate_context(context, sizeof(*quantile));

	(void)count;
	if (!quantile || sqlite3_value_numeric_type(value[0]) == SQLITE_NULL)
		return;
	if (!quantile->count)
		quantile->share = sqlite3_value_double(value[1]);
	*MEM_NEXT(quantile->value, quantile->count, quantile->capacity) =
	    sqlite3_value_double(value[0]);
}

static void finish_quantile(sqlite3_context *context)
{
	struct quantile_values *quantile = sqlite3_aggregate_context(context, 0);

	if (!quantile || !quantile->count) {
		sqlite3_result_null(context);
		return;
	}
	if (quantile->share >= 0 && quantile->share <= 1)
		sqlite3_result_double(
		    context,
		    quantile_of(quantile->value, quantile->count, quantile->share));
	else
		sqlite3_result_error(context, "quantile: invalid share (expected 0 to 1)",
				     -1);
	free(quantile->value);
	quantile->value = NULL;
}

int quantile_define(sqlite3 *db)
{
	return sqlite3_create_function_v2(
	    db, "quantile", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
	    NULL, NULL, add_value, finish_quantile, NULL);
}
