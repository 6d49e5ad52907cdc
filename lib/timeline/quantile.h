/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_QUANTILE_H
#define CT_TIMELINE_QUANTILE_H

#include <sqlite3.h>
#include <stddef.h>

/*
 * The quantile of some values, which are put in another order: linear interpolation
 * between order statistics (type 7 of Hyndman, Fan 1996). No value is a NaN; there is one
 * at least.
 */
double quantile_of(double *value, size_t count, double share);

/*
 * Define the SQL function quantile(x, share), an aggregate: of a share of 0.5 the median;
 * NULL of no value. An SQLite code.
 */
int quantile_define(sqlite3 *db);

#endif
