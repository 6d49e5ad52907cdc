/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_SCHEMA_CHECK_H
#define CT_TIMELINE_SCHEMA_CHECK_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/hash.h"

/* What a timeline has besides the tables of schema.sql and classes.sql. */
struct timeline_classes {
	struct texts tables, views; /* by name */
};

/*
 * Check a timeline that may come from anybody, open as `schema` ("main") of `db`, whose
 * tables nobody has read. It must have the tables, views and indexes that this version of
 * ctmerge makes, by their very SQL, and nothing else: a view in the place of a table may
 * compute without end, and a trigger runs. An index may be missing. The short tables that
 * others refer to must have values of their types, and ids that resolve. Fill `classes`.
 * Return 0, or -1 with an error that names `place`.
 */
int schema_check(sqlite3 *db, const char *schema, const char *place,
		 struct timeline_classes *classes, struct error *error);

void timeline_classes_clear(struct timeline_classes *classes);

#endif
