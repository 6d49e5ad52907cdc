/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_SCHEMA_CHECK_H
#define CT_TIMELINE_SCHEMA_CHECK_H

#include <stdbool.h>

#include "base/error.h"
#include "base/hash.h"

/*
 * Whether a timeline may be written to a path: nothing is there, or with `force` a
 * timeline or an empty file, which can be made again. Links, devices and pipes never are.
 * 0, or -1 with error.
 */
int timeline_check_target(const char *path, bool force, struct error *error);

/* Return 0 if a file is a timeline of this version, or -1 with error. */
int timeline_check_version(const char *path, struct error *error);

struct sqlite3;

/* What a timeline has besides the tables of schema.sql and classes.sql. */
struct timeline_classes {
	struct texts tables, views; /* by name */
};

/*
 * Check a timeline that may come from anybody, open as `schema` ("main") of `db`, whose
 * tables nobody has read. It must have the tables, views and indexes that this version of
 * ctmerge makes, by their very SQL, and besides only plain tables: a view in the place of
 * a table may compute without end, and a trigger runs. An index may be missing. The short
 * tables that others refer to must have values of their types, and ids that resolve. Fill
 * `classes`. Return 0, or -1 with an error that names `place`.
 */
int schema_check(struct sqlite3 *db, const char *schema, const char *place,
		 struct timeline_classes *classes, struct error *error);

void timeline_classes_clear(struct timeline_classes *classes);

#endif
