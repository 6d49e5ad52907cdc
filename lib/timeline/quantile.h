/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_QUANTILE_H
#define CT_TIMELINE_QUANTILE_H

#include <sqlite3.h>
#include <stddef.h>

/*
 * Return a quantile, by linear interpolation between order statistics (type 7 of Hyndman
 * and Fan 1996). There must be at least one value and no NaN. Reorders the values.
 */
double quantile_of(double *value, size_t count, double share);

/*
 * Define the SQL aggregate function quantile(x, share): with a share of 0.5 the median;
 * NULL if there is no value. Return an SQLite code.
 */
int quantile_define(sqlite3 *db);

#endif
