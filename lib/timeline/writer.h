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
 * A writer of timelines. The file is valid only after timeline_writer_finish(): it is
 * written without a journal and without syncing, and must be deleted if anything fails.
 * The functions for rows of most tables are in timeline/rows.h.
 *
 * Return 0, or -1 with error. Unless stated otherwise, a failure is final: the disk is
 * full or broken, and all later calls fail, too.
 */
struct timeline_writer;

/*
 * Create a timeline in an empty or absent file. Errors name `place`, the file that the
 * user gave, or if it is NULL the path. If `payload` is false, an event has only its row
 * in `event`. Return NULL with error.
 */
struct timeline_writer *timeline_writer_new(const char *path, const char *place,
					    bool payload, struct error *error);

/* Make it the timeline of one node, to be joined with others: ids of classes then depend
 * only on the classes. Call before the first class is added. */
void timeline_writer_set_part(struct timeline_writer *writer);

/* Add a fact about the whole run, such as version or command. A later value of a key
 * replaces an earlier one. */
int timeline_add_meta(struct timeline_writer *writer, const char *key,
		      const struct cell *value, struct error *error);

struct timeline_column {
	const char *name;
	enum cell_type type; /* CELL_NULL: values of any type, stored unchanged */
	bool context;        /* a field of the event's context, not of its payload */
};

struct timeline_class {
	const char *kind; /* "kernel", "user", "capture", ... */
	const char *name;
	const struct timeline_column *column;
	size_t columns;
};

#define TIMELINE_COLUMNS_MOST                                                            \
	1990 /* SQLite's limit is 2000, and the view adds columns                        \
	      */

/*
 * Set `id` to the id of an event class for struct timeline_event. Copies everything.
 *
 * Classes with the same kind and name are one class of the timeline and share a table,
 * which has the columns of all of them. In a part, or if these are more than
 * TIMELINE_COLUMNS_MOST, they must also have the same columns. A class with more columns
 * is refused; that failure is not final.
 */
int timeline_add_class(struct timeline_writer *writer, const struct timeline_class *class,
		       uint32_t *id, struct error *error);

struct timeline_event {
	nsec_t ts_ns;
	int64_t node, source; /* ids of their rows; source 0 if there is none */
	int64_t tid;          /* negative if unknown */
	int32_t cpu;          /* negative if unknown */
	uint32_t class;
	/* One cell for each column of the class, of its type or NULL; or NULL without
	 * payload. Numbers in a text column are stored as digits, NaN as an SQL NULL. */
	const struct cell *cell;
	/* The payload as bytes, instead of `cell`, by row_bytes_make() in any thread. */
	const struct row_bytes *row;
};

/* Add an event, in ascending order of ts_ns. Set `id`, unless it is NULL, to the event's
 * id; they count from 1. */
int timeline_add_event(struct timeline_writer *writer, const struct timeline_event *event,
		       int64_t *id, struct error *error);

/* Write the remaining rows, create the indexes, and close the file. */
int timeline_writer_finish(struct timeline_writer *writer, struct error *error);

/* Free the writer. The file stays, finished or not. */
void timeline_writer_free(struct timeline_writer *writer);

/* Return the version of SQLite, such as "3.40.1". */
const char *timeline_library_version(void);

#endif
