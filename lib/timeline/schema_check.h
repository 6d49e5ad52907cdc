/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_SCHEMA_CHECK_H
#define CT_TIMELINE_SCHEMA_CHECK_H

#include <stdbool.h>

#include "base/error.h"
#include "base/hash.h"

/*
 * Return 0 if a timeline may be written to a path, or -1 with error. The path must not
 * exist or, with `force`, be a timeline or an empty file, which can be made again. Links,
 * devices and pipes are never replaced.
 */
int timeline_check_target(const char *path, bool force, struct error *error);

/* Return 0 if a file is a timeline of this version, or -1 with error. */
int timeline_check_version(const char *path, struct error *error);

struct sqlite3;

/* The tables and views of a timeline's event classes. */
struct timeline_classes {
	struct texts tables, views; /* by name */
};

/* Open an in-memory database with the tables and indexes of every timeline of this
 * version. Return NULL with error. */
struct sqlite3 *schema_reference(const char *place, struct error *error);

/*
 * Check a timeline that may be hostile, open as `schema` ("main") of `db`, before any of
 * its tables is read. It must have the tables, views and indexes that this version of
 * ctmerge makes, with exactly their SQL, and otherwise only tables that compute nothing:
 * a view in place of a table may compute without end, and a trigger runs. An index may be
 * missing. The short tables that others refer to must have values of their types, and ids
 * that resolve. `reference` is as of schema_reference(). Fill `classes`. Return 0, or -1
 * with an error that names `place`.
 */
int schema_check(struct sqlite3 *db, struct sqlite3 *reference, const char *schema,
		 const char *place, struct timeline_classes *classes,
		 struct error *error);

void timeline_classes_clear(struct timeline_classes *classes);

#endif
