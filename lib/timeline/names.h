/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_NAMES_H
#define CT_TIMELINE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hash.h"

/*
 * The used names of tables or columns. Traces can give classes and fields any names, and
 * SQLite treats names that differ only by case as equal.
 */
struct name_set {
	struct texts texts; /* in lower case */
	struct intmap next; /* hash of a wanted name to the next suffix to try */
};

/* Add a name. Return true if it was not used yet; A to Z are equal to a to z. */
bool name_reserve(struct name_set *set, const char *name);

/*
 * Choose an unused name and reserve it: `wanted`, otherwise `wanted` followed by _2, _3
 * and so on. Bytes that are not UTF-8 become U+FFFD; an empty name becomes `unnamed`.
 * Unless `companion` is "", the name followed by this suffix must be unused as well, and
 * is also reserved. The caller frees the result.
 */
char *name_pick(struct name_set *set, const char *wanted, const char *companion);

/* Return true for a name that SQLite refuses, or by which a table would hide one of the
 * functions that statements call like tables. */
bool name_is_reserved(const char *table);

/* Choose the name of a class's table, and reserve that of its view, which ends with _v.
 * Reserved names get a prefix. The caller frees the result. */
char *name_table(struct name_set *set, const char *class);

/* Quote a name for SQL. The caller frees the result. */
char *name_quote(const char *name);

void name_clear(struct name_set *set);

#endif
