/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows from within SQLite: an aggregate function sees each of them, and keeps none. */
#include <string.h>

#include "timeline/reader_private.h"
#include "timeline/sql.h"

struct timeline_each {
	timeline_take *take;
	void *context;
	struct error *error;
	bool failed;
};

static void see_row(sqlite3_context *context, int count, sqlite3_value **value)
{
	struct timeline_reader *reader = sqlite3_user_data(context);
	struct timeline_each *each = reader->each;
	struct cell cell[TIMELINE_MOST_ROW];

	if (count > TIMELINE_MOST_ROW) {
		sqlite3_result_error(context, "too many values", -1);
		return;
	}
	if (!each || each->failed) /* in a SELECT of the user's */
		return;
	for (int i = 0; i < count; i++)
		cell[i] = sql_value_cell(value[i]);
	if (each->take(each->context, cell, each->error) == 0)
		return;
	each->failed = true;
	sqlite3_result_error(context, "stopped", -1);
}

static void give_null(sqlite3_context *context)
{
	sqlite3_result_null(context);
}

static void pass_key(sqlite3_context *context, int count, sqlite3_value **value)
{
	struct timeline_reader *reader = sqlite3_user_data(context);

	(void)count;
	reader->keys++;
	sqlite3_result_value(context, value[0]);
}

int timeline_each_define(struct timeline_reader *reader, struct error *error)
{
	const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;

	if (sqlite3_create_function_v2(reader->db, TIMELINE_ROW, -1, flags, reader, NULL,
				       see_row, give_null, NULL) == SQLITE_OK &&
	    sqlite3_create_function_v2(reader->db, TIMELINE_KEY, 1, flags, reader,
				       pass_key, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return sql_error(reader->db, reader->path, error);
}

uint64_t timeline_query_keys(const struct timeline_query *query)
{
	return query->reader->keys;
}

int timeline_query_each(struct timeline_query *query, timeline_take *take, void *context,
			struct error *error)
{
	struct timeline_each each = {.take = take, .context = context, .error = error};
	struct timeline_reader *reader = query->reader;
	int code;

	reader->each = &each;
	code = sqlite3_step(query->statement);
	reader->each = NULL;
	if (code != SQLITE_ROW && !each.failed)
		sql_error(reader->db, reader->path, error);
	sqlite3_reset(query->statement);
	return code == SQLITE_ROW ? 0 : -1;
}
