/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_AUTHORIZER_H
#define CT_TIMELINE_AUTHORIZER_H

#include <stdbool.h>

struct sqlite3;
struct value_checks;

struct authorizer {
	bool keeps;                  /* statements may make temporary tables */
	bool skips_checks;           /* statements take values of any type */
	struct value_checks *checks; /* checks of the columns that are read */
};

/*
 * Restrict all further statements to reading, and to functions that do not access files.
 * `authorizer` must outlive the connection. Return an SQLite code.
 */
int authorize_reading(struct sqlite3 *db, struct authorizer *authorizer);

#endif
