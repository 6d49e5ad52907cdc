/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_FUNCTIONS_H
#define CT_TIMELINE_FUNCTIONS_H

#include <sqlite3.h>
#include <stddef.h>

/*
 * SQL functions of a timeline's reader:
 *
 *	quantile(x, share)	an aggregate: of a share of 0.5 the median; NULL of no
 *value
 *
 * An SQLite code.
 */
int functions_define(sqlite3 *db);

/*
 * The quantile of some values, which are put in another order: linear interpolation
 * between order statistics (type 7 of Hyndman, Fan 1996). No value is a NaN; there is one
 * at least.
 */
double quantile_of(double *value, size_t count, double share);

#endif
