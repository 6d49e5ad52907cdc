/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_READER_PRIVATE_H
#define CT_TIMELINE_READER_PRIVATE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "timeline/reader.h"

/* For those who read a timeline without the detour over a row of cells. */
struct timeline_reader {
	sqlite3 *db;
	char *path;
	uint64_t keys;              /* that TIMELINE_KEY handed on */
	struct timeline_each *each; /* who takes rows of TIMELINE_ROW now, or NULL */
	bool may_write;             /* by timeline_update_open */
};

struct timeline_query {
	struct timeline_reader *reader;
	sqlite3_stmt *statement;
	struct cell *cell;
	size_t columns;
};

#endif
