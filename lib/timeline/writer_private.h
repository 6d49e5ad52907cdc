/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_WRITER_PRIVATE_H
#define CT_TIMELINE_WRITER_PRIVATE_H

#include <sqlite3.h>

#include "base/intmap.h"
#include "timeline/batch.h"
#include "timeline/names.h"
#include "timeline/writer.h"

enum writer_table {
	TABLE_NODE,
	TABLE_SOURCE,
	TABLE_CLOCK,
	TABLE_CLOCK_BOUND,
	TABLE_CLOCK_PAIR,
	TABLE_EVENT_CLASS,
	TABLE_EVENT_COLUMN,
	TABLE_EVENT,
	TABLE_MESSAGE,
	TABLE_METRIC,
	TABLE_METRIC_ITEM,
	TABLE_SAMPLE,
	TABLE_PROCESS,
	TABLE_THREAD,
	TABLE_INVOCATION,
	TABLE_PROBLEM,
	TABLES
};

struct writer_class {
	char *kind, *name, *table;
	struct writer_column *column; /* as it was added */
	size_t columns;
	int64_t next;        /* with the same hash, -1 at the end */
	struct batch *batch; /* NULL without payload */
	int64_t events;
};

struct timeline_writer {
	sqlite3 *db; /* NULL once finished */
	char *place; /* in front of errors */
	bool payload;
	struct batches *batches;
	struct batch *table[TABLES];
	int64_t rows[TABLES];
	struct name_set names; /* of tables, views and indexes */
	struct writer_class *class;
	size_t classes, class_room;
	struct intmap first_class; /* by hash */
};

/* Rows of event_class, whose counts are known at the end. */
int writer_finish_classes(struct timeline_writer *writer, struct error *error);

/* What ANALYZE would find out, for the tables that are long. */
int writer_add_statistics(struct timeline_writer *writer, struct error *error);

void writer_clear_classes(struct timeline_writer *writer);

static inline struct cell writer_integer(int64_t value)
{
	return (struct cell){.type = CELL_INTEGER, .integer = value};
}

#endif
