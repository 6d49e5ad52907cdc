/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_VALUE_CHECK_H
#define CT_TIMELINE_VALUE_CHECK_H

#include <stdint.h>

#include "base/error.h"

struct sqlite3;
struct value_checks;

/*
 * The checks of the long tables of a timeline that may be hostile. schema_check() has no
 * time for them. Each runs once, before the first statement that reads its column:
 * a comparison or a join would drop a row whose value is of a wrong type, or is an id
 * that does not resolve, silently. The keys of spans and the times of events are
 * checked by their indexes, in which a wrong type sorts first or last. `reference` is as
 * of schema_reference(), and is read only here. Return NULL with error.
 */
struct value_checks *value_checks_new(struct sqlite3 *db, struct sqlite3 *reference,
				      const char *place, struct error *error);
void value_checks_free(struct value_checks *checks);

/* Note that a statement being prepared reads this column; NULL: all of the table. */
void value_checks_note(struct value_checks *checks, const char *table,
		       const char *column);

/* Skip the checks that another reader of the same timeline has run. */
void value_checks_skip(struct value_checks *checks, const struct value_checks *other);

/* Check only the messages and requests with these ids. */
void value_checks_limit(struct value_checks *checks, int64_t first, int64_t last,
			int64_t end_ns);

/* Run the checks of the noted columns. Return 0, or -1 with error. */
int value_checks_run(struct value_checks *checks, struct error *error);

#endif
