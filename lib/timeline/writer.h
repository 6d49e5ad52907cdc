/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_WRITER_H
#define CT_TIMELINE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cell.h"
#include "base/error.h"
#include "base/nsec.h"
#include "timeline/row_bytes.h"

/*
 * Writing a timeline. The file is of use only after timeline_writer_finish:
 * it is written without a journal and without syncing, so that what fails on
 * the way leaves something to throw away (see timeline_check_target). Rows of the
 * other tables are in timeline/rows.h.
 *
 * Functions return 0, or -1 with error. Unless it says otherwise, a failure is
 * final: the disk is full or broken, and every later call fails, too.
 */
struct timeline_writer;

/*
 * Make a timeline in an empty or absent file. Errors name `place`, the file that
 * the user asked for; NULL: the path. Without `payload` there is a row
 * of `event` an event and nothing else of it. NULL with error.
 */
struct timeline_writer *timeline_writer_new(const char *path, const char *place,
					    bool payload, struct error *error);

/* Before its events: one node's alone, so that ids of classes follow from the classes. */
void timeline_writer_set_part(struct timeline_writer *writer);

/* A fact of the whole run: version, command, ...; a later one of its key counts. */
int timeline_add_meta(struct timeline_writer *writer, const char *key,
		      const struct cell *value, struct error *error);

struct timeline_column {
	const char *name;
	enum cell_type type; /* CELL_NULL: of any type, kept as it comes */
	bool context;        /* of the event's context, not of its payload */
};

struct timeline_class {
	const char *kind; /* "kernel", "user", "capture", ... */
	const char *name;
	const struct timeline_column *column;
	size_t columns;
};

#define TIMELINE_COLUMNS_MOST 1990 /* SQLite has 2000; the view adds the event's */

/*
 * The id of an event class for timeline_event; copies everything. Those of one kind and
 * name are one class of the timeline, wherever they come from, and share a table, which
 * has the columns of all; but in a part, or where these would be more than
 * TIMELINE_COLUMNS_MOST, only those with the same columns. A class with more is refused,
 * which is not final.
 */
int timeline_add_class(struct timeline_writer *writer, const struct timeline_class *class,
		       uint32_t *id, struct error *error);

struct timeline_event {
	nsec_t ts_ns;
	int64_t node, source; /* ids of their rows; source 0: none */
	int64_t tid;          /* below 0: unknown */
	int32_t cpu;          /* below 0: unknown */
	uint32_t class;
	/* One a column of its class, of its type or NULL; all NULL: no payload. A
	 * number in a column of text becomes its digits, NaN an SQL NULL. */
	const struct cell *cell;
	/* The same as bytes, instead of cells: row_bytes_make is for any thread. */
	const struct row_bytes *row;
};

/* Add an event, by ascending ts_ns. Ids count from 1; `id` may be NULL. */
int timeline_add_event(struct timeline_writer *writer, const struct timeline_event *event,
		       int64_t *id, struct error *error);

/* Write what is left, make the indexes, and close the file. */
int timeline_writer_finish(struct timeline_writer *writer, struct error *error);

/* The file is left as it is, finished or not. */
void timeline_writer_free(struct timeline_writer *writer);

/* "3.40.1" */
const char *timeline_library_version(void);

#endif
