/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_READER_H
#define CT_TIMELINE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cell.h"
#include "base/error.h"

/* A reader of timelines. It never changes the file. */
struct timeline_reader;
struct text_list;

/*
 * Open a timeline. It may be hostile, so its schema and its short tables are checked
 * (timeline/schema_check.h). Return NULL with an error that says whether the file is
 * unreadable, not a timeline, of another version, or invalid.
 */
struct timeline_reader *timeline_reader_open(const char *path, struct error *error);

/* Open a timeline that this program has just written: its values need no check, and ids
 * can be of other parts. Errors name `place`, the file that the user gave. */
struct timeline_reader *timeline_reader_open_own(const char *path, const char *place,
						 struct error *error);

/* Close the reader. Free its queries first. */
void timeline_reader_free(struct timeline_reader *reader);

/* The kind of a table: that of an event class, a class's view, or another one. */
enum timeline_kind { TIMELINE_OTHER, TIMELINE_CLASS_TABLE, TIMELINE_CLASS_VIEW };

enum timeline_kind timeline_reader_kind(const struct timeline_reader *reader,
					const char *name);

/* Advice at the end of a message about a timeline that is not as ctmerge makes it. */
#define TIMELINE_MAKE_AGAIN "make the timeline again with ctmerge RUN -o FILE --force"

/* The additional table of a part of a timeline (ctmerge --part). */
#define TIMELINE_TUNNEL                                                                  \
	"tunnel (protocol TEXT, a INTEGER, a_address TEXT, a_port INTEGER, b INTEGER, "  \
	"b_address TEXT, b_port INTEGER, messages INTEGER)"

struct timeline_query;

/* Prepare one SELECT, our own or the user's. It must never contain text from the input:
 * pass values as parameters. Return NULL with error. */
struct timeline_query *timeline_query_new(struct timeline_reader *reader, const char *sql,
					  struct error *error);

/*
 * Prepare a user's SELECT. Return NULL with an error that does not contain the timeline's
 * path, and set `at` to the byte of `sql` that it is about, or -1 if unknown.
 */
struct timeline_query *timeline_query_new_user(struct timeline_reader *reader,
					       const char *sql, long *at,
					       struct error *error);

/* Return the name of the n-th parameter, counted from 0, such as ":begin_ns", or NULL. */
const char *timeline_query_parameter(const struct timeline_query *query, size_t n);

/* Return the type with which the n-th column, from 0, was declared; NULL for an
 * expression. */
const char *timeline_query_declared(const struct timeline_query *query, size_t column);

/* Return the number of parameters (?, ?2, :name). */
size_t timeline_query_parameters(const struct timeline_query *query);

/* Start or restart a query with a value for each parameter. Copies the values. Return 0,
 * or -1 with error. */
int timeline_query_ask(struct timeline_query *query, const struct cell *value,
		       size_t count, struct error *error);

/* Prepare one SELECT and start it, with a value for each parameter. Return NULL with
 * error. */
struct timeline_query *query_start(struct timeline_reader *timeline, const char *sql,
				   const struct cell *value, struct error *error);

/* Read the next row. Return 1, 0 at the end, or -1 with error. */
int timeline_query_next(struct timeline_query *query, struct error *error);

/* Return the row's cells, which are valid until the next call. */
const struct cell *timeline_query_row(const struct timeline_query *query);

/* A callback for a row. Return 0, or -1 with error to stop the query. */
typedef int timeline_row_fn(void *context, const struct cell *row, struct error *error);

/*
 * An SQL function whose arguments are the values of a row, at most TIMELINE_MOST_ROW. A
 * query that selects only this function passes all rows to the callback of query_each(),
 * in the order in which SQLite visits them. The rows are passed on while SQLite computes
 * them, which takes two thirds of the time of timeline_query_next().
 */
#define TIMELINE_ROW "timeline_row"
enum { TIMELINE_MOST_ROW = 100 };

/* Call `on_row` for each row of such a query, which has been started. The cells are valid
 * during the call. Return 0, or -1 with error. */
int timeline_query_each(struct timeline_query *query, timeline_row_fn *on_row,
			void *context, struct error *error);

/* Run a SELECT of TIMELINE_ROW, with a value for each parameter, and call `on_row` for
 * each row. Return 0, or -1 with error. */
int query_each(struct timeline_reader *timeline, const char *sql,
	       const struct cell *value, timeline_row_fn *on_row, void *context,
	       struct error *error);

/* Call `on_row` for each row of any SELECT, with a value for each parameter. Return 0, or
 * -1 with error or if `on_row` did not return 0. */
int query_rows(struct timeline_reader *timeline, const char *sql,
	       const struct cell *value, timeline_row_fn *on_row, void *context,
	       struct error *error);

/* Read the first cell of the first row. Return 1 if it is an integer, 0 if not or if
 * there is no row, or -1 with error. */
int query_integer(struct timeline_reader *timeline, const char *sql,
		  const struct cell *value, int64_t *integer, struct error *error);

/* Add the first cell of each row, as a string, to a list. Return 0, or -1 with error. */
int query_texts(struct timeline_reader *timeline, const char *sql,
		const struct cell *value, struct text_list *texts, struct error *error);

/* An SQL function that returns its argument and counts its calls. In ORDER BY, the count
 * since the query was started is the number of rows before a LIMIT. */
#define TIMELINE_KEY "timeline_key"

uint64_t timeline_query_keys(const struct timeline_query *query);

/* A temporary table that exists as long as the reader, with the rows of a SELECT, which
 * is our own or was checked by timeline_query_new_user(). */
struct timeline_temporary {
	const char *name; /* consists of letters, digits and _ */
	const char *sql;
	const struct cell *value; /* value of each parameter */
	const char *index; /* columns of indexes, "id; node, tid" for two; or NULL */
};

/* Check the values of these columns now, each row once, and not for each statement that
 * reads further columns of the table. The list ends with NULL. Return 0, or -1 with
 * error. */
int timeline_reader_check(struct timeline_reader *reader, const char *table,
			  const char *const *columns, struct error *error);

/* Pause checks: statements prepared meanwhile are right for values of any type. */
void timeline_reader_pause_checks(struct timeline_reader *reader, bool is_paused);

/* Check only the messages with these ids, and the requests from the first one on that
 * began until `end_ns`, of a window: what is wrong with others does not matter to it. */
void timeline_reader_limit_checks(struct timeline_reader *reader, const int64_t id[2],
				  int64_t end_ns);

/* Skip the checks that another reader of the same timeline has run. */
void timeline_reader_skip_checks(struct timeline_reader *reader,
				 const struct timeline_reader *checked);

/* Return true if the reader has a temporary table of this name. */
bool timeline_reader_has(struct timeline_reader *reader, const char *name);

/* Create the table, replacing one of the same name. Return 0, or -1 with an error, which
 * contains the timeline's path only if that cannot be read. */
int timeline_reader_keep(struct timeline_reader *reader,
			 const struct timeline_temporary *table, struct error *error);

/* A temporary table that is being filled, row by row. */
struct timeline_rows;

/*
 * Create a temporary table, replacing one of the same name, that exists as long as the
 * reader. `name` is "NAME (node, cpu)", or "NAME" for columns c1, c2 and so on. Add rows,
 * then call timeline_rows_end(), which reports an error of any of these calls; `error`
 * must stay valid until then. Queries may run in between, but no other such table.
 */
struct timeline_rows *timeline_rows_begin(struct timeline_reader *reader,
					  const char *name, size_t columns,
					  struct error *error);

/* Copies a cell for each column. After an error this does nothing. */
void timeline_rows_add(struct timeline_rows *rows, const struct cell *row);

/* Return 0, or -1 with error. */
int timeline_rows_end(struct timeline_rows *rows);

size_t timeline_query_columns(const struct timeline_query *query);
const char *timeline_query_name(const struct timeline_query *query, size_t column);

void timeline_query_free(struct timeline_query *query);

/*
 * Open a timeline that its writer has just finished, to add derived rows: queries may
 * also INSERT. Errors name `place`, the file that the user gave, or if it is NULL the
 * path. The file must not be in use, and must be deleted if it is not committed, as there
 * is no journal. Return NULL with error.
 */
struct timeline_reader *timeline_update_open(const char *path, const char *place,
					     struct error *error);

/* Run our own statements without results. Return 0, or -1 with error. */
int timeline_update_run(struct timeline_reader *reader, const char *sql,
			struct error *error);

/* Attach another timeline, whose tables are then NAME.TABLE. Return 0, or -1 with error
 * as timeline_reader_open(). */
int timeline_update_attach(struct timeline_reader *reader, const char *path,
			   const char *name, struct error *error);

/* Detach it, committing the rows added so far. Return 0, or -1 with error. */
int timeline_update_detach(struct timeline_reader *reader, const char *name,
			   struct error *error);

/* Commit the added rows. Free the queries first, and the reader with
 * timeline_reader_free() in any case. Return 0, or -1 with error. */
int timeline_update_commit(struct timeline_reader *reader, struct error *error);

#endif
