/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/update.h"

#include "base/mem.h"
#include "timeline/reader_private.h"
#include "timeline/sql.h"

static const char settings[] = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
			       "PRAGMA locking_mode = EXCLUSIVE;"
			       "PRAGMA cache_size = -16384; BEGIN EXCLUSIVE;";

struct timeline_reader *timeline_update_open(const char *path, const char *place,
					     struct error *error)
{
	sqlite3 *db = sql_open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, error);
	struct timeline_reader *reader;

	if (!db)
		return NULL;
	reader = mem_zalloc(sizeof(*reader));
	reader->db = db;
	reader->path = mem_strdup(place ? place : path);
	reader->may_write = true;
	if (sql_run(db, reader->path, settings, error) == 0)
		return reader;
	timeline_reader_free(reader);
	return NULL;
}

int timeline_update_commit(struct timeline_reader *reader, struct error *error)
{
	return sql_run(reader->db, reader->path, "COMMIT", error);
}
