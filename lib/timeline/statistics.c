/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "timeline/sql.h"
#include "timeline/writer_private.h"

/*
 * SQLite plans joins by sqlite_stat1. For the long tables we know what it
 * would count; the others are short, and ANALYZE makes the table, too.
 */
static const char analyze[] = "ANALYZE main.node; ANALYZE main.clock;"
			      "ANALYZE main.message; ANALYZE main.sample;"
			      "ANALYZE main.process; ANALYZE main.thread;"
			      "ANALYZE main.invocation; ANALYZE main.event_class;";

static int add_row(sqlite3_stmt *insert, const char *table, const char *index,
		   int64_t rows)
{
	char text[32];
	int code;

	if (rows == 0)
		return SQLITE_DONE;
	/* An index of stamps finds about one row each. */
	snprintf(text, sizeof(text), "%" PRId64 "%s", rows, index ? " 1" : "");
	sqlite3_bind_text(insert, 1, table, -1, SQLITE_STATIC);
	sqlite3_bind_text(insert, 2, index, -1, SQLITE_STATIC);
	sqlite3_bind_text(insert, 3, text, -1, SQLITE_TRANSIENT);
	code = sqlite3_step(insert);
	sqlite3_reset(insert);
	return code;
}

/* "ROWS by-node by-thread 1 1": how many rows the columns of the key leave. */
static int add_sorted(sqlite3_stmt *insert, const struct timeline_sorted *table)
{
	char text[24 * (SORTED_KEYS + 1)];
	int code, size = snprintf(text, sizeof(text), "%" PRId64, table->rows);

	if (table->rows == 0 || table->has_rowid)
		return SQLITE_DONE;
	for (unsigned i = 0; i + 2 < table->keys; i++)
		size += snprintf(text + size, sizeof(text) - (size_t)size, " %" PRId64,
				 (table->rows + table->groups[i] - 1) / table->groups[i]);
	snprintf(text + size, sizeof(text) - (size_t)size, " 1 1");
	sqlite3_bind_text(insert, 1, table->name, -1, SQLITE_STATIC);
	sqlite3_bind_text(insert, 2, table->name, -1, SQLITE_STATIC);
	sqlite3_bind_text(insert, 3, text, -1, SQLITE_TRANSIENT);
	code = sqlite3_step(insert);
	sqlite3_reset(insert);
	return code;
}

int writer_add_statistics(struct timeline_writer *writer, struct error *error)
{
	static const char text[] = "INSERT INTO sqlite_stat1 VALUES (?, ?, ?)";
	sqlite3_stmt *insert;
	int code;

	if (sql_run(writer->db, writer->place, analyze, error))
		return -1;
	if (sqlite3_prepare_v2(writer->db, text, -1, &insert, NULL) != SQLITE_OK)
		return sql_error(writer->db, writer->place, error);
	code = add_row(insert, "event", "event_ts_ns", writer->rows[TABLE_EVENT]);
	for (size_t i = 0; i < writer->classes && code == SQLITE_DONE; i++)
		if (writer->class[i].table)
			code = add_row(insert, writer->class[i].table, NULL,
				       writer->class[i].events);
	for (size_t i = 0; i < writer->sorteds && code == SQLITE_DONE; i++)
		code = add_sorted(insert, &writer->sorted[i]);
	sqlite3_finalize(insert);
	return code == SQLITE_DONE ? 0 : sql_error(writer->db, writer->place, error);
}
