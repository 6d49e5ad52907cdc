/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_READER_H
#define CT_TIMELINE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cell.h"
#include "base/error.h"

/* Reading a timeline. Nothing here changes the file. */
struct timeline_reader;
struct text_list;

/*
 * Open a timeline. It may be hostile, so its schema and its short tables are checked
 * (timeline/schema_check.h). Return NULL with an error that says whether the file is
 * unreadable, not a timeline, of another version, or invalid.
 */
struct timeline_reader *timeline_reader_open(const char *path, struct error *error);

/* The same for a timeline that this program has just written: its values need no check,
 * and ids may be of other parts. Errors name `place`, the file that the user asked for.
 */
struct timeline_reader *timeline_reader_open_own(const char *path, const char *place,
						 struct error *error);

/* After its queries are freed. */
void timeline_reader_free(struct timeline_reader *reader);

/* The kind of a table: that of an event class, a class's view, or another one. */
enum timeline_kind { TIMELINE_OTHER, TIMELINE_CLASS_TABLE, TIMELINE_CLASS_VIEW };

enum timeline_kind timeline_reader_kind(const struct timeline_reader *reader,
					const char *name);

/* The additional table of a part of a timeline (ctmerge --part). */
#define TIMELINE_TUNNEL                                                                  \
	"tunnel (protocol TEXT, a INTEGER, a_address TEXT, a_port INTEGER, b INTEGER, "  \
	"b_address TEXT, b_port INTEGER, messages INTEGER)"

struct timeline_query;

/* Prepare one SELECT. It is ours or the user's, never made from input: values
 * come as parameters. NULL with error. */
struct timeline_query *timeline_query_new(struct timeline_reader *reader, const char *sql,
					  struct error *error);

/*
 * The same for a user's text: the error says what is wrong, without the timeline's path,
 * and `at` gets the byte of the text where, as far as SQLite tells; -1: not known.
 */
struct timeline_query *timeline_query_new_user(struct timeline_reader *reader,
					       const char *sql, long *at,
					       struct error *error);

/* The name of the n-th parameter, from 0: ":begin_ns"; NULL: it has none. */
const char *timeline_query_parameter(const struct timeline_query *query, size_t n);

/* Return the type with which the n-th column, from 0, was declared; NULL for an
 * expression. */
const char *timeline_query_declared(const struct timeline_query *query, size_t column);

/* How many parameters (?, ?2, :name) it has. */
size_t timeline_query_parameters(const struct timeline_query *query);

/*
 * Ask with these values, one a parameter; also to ask again. Copies them.
 * 0, or -1 with error.
 */
int timeline_query_ask(struct timeline_query *query, const struct cell *value,
		       size_t count, struct error *error);

/* The next row: 1, or 0 at the end, or -1 with error. */
int timeline_query_next(struct timeline_query *query, struct error *error);

/* The row's cells; theirs and the array's memory is good until the next call. */
const struct cell *timeline_query_row(const struct timeline_query *query);

/* What takes a row: 0, or -1 with error, which ends the walk. */
typedef int timeline_row_fn(void *context, const struct cell *row, struct error *error);

/*
 * An SQL function. A query that selects nothing but it, with the values of a row (of up
 * to TIMELINE_MOST_ROW), hands on all its rows by timeline_query_each, in the order in
 * which SQLite walks: they are taken where SQLite computes them, so this takes two
 * thirds of the time of timeline_query_next.
 */
#define TIMELINE_ROW "timeline_row"
enum { TIMELINE_MOST_ROW = 100 };

/* 0, or -1 with error. The cells are good during the call. */
int timeline_query_each(struct timeline_query *query, timeline_row_fn *take,
			void *context, struct error *error);

/* All rows of a SELECT, with a value a parameter, one by one. 0; or -1 with error, or
 * where `take` returned other than 0.
 */
int query_rows(struct timeline_reader *timeline, const char *sql,
	       const struct cell *value, timeline_row_fn *take, void *context,
	       struct error *error);

/* The first row's first cell: 1 where there is one and it is an integer, 0, or -1. */
int query_integer(struct timeline_reader *timeline, const char *sql,
		  const struct cell *value, int64_t *integer, struct error *error);

/* Add the texts of the rows' first cells. 0, or -1 with error. */
int query_texts(struct timeline_reader *timeline, const char *sql,
		const struct cell *value, struct text_list *texts, struct error *error);

/*
 * An SQL function that hands on its value, for ORDER BY ... LIMIT: how often it did so
 * since the query was asked is how many rows there were before the limit.
 */
#define TIMELINE_KEY "timeline_key"

uint64_t timeline_query_keys(const struct timeline_query *query);

/*
 * A temporary table, which lives as long as the reader: the rows of a SELECT, which is
 * ours or was checked by timeline_query_new_user, with a value a parameter.
 */
struct timeline_temporary {
	const char *name; /* of letters, digits and _ */
	const char *sql;
	const struct cell *value;
	const char *index; /* "id; node, tid": two; or NULL */
};

/* One of that name goes away. 0, or -1 with error, without the timeline's path. */
int timeline_reader_keep(struct timeline_reader *reader,
			 const struct timeline_temporary *table, struct error *error);

/* What gives a row to keep: 1, or 0 at the end, or -1 with error. */
typedef int timeline_source_fn(void *context, struct cell *row, struct error *error);

/*
 * A temporary table of rows of our own: "NAME (node, cpu)", or "NAME", whose columns are
 * c1, c2, ... As timeline_reader_keep.
 */
int timeline_reader_keep_rows(struct timeline_reader *reader, const char *name,
			      size_t columns, timeline_source_fn *give, void *context,
			      struct error *error);

size_t timeline_query_columns(const struct timeline_query *query);
const char *timeline_query_name(const struct timeline_query *query, size_t column);

void timeline_query_free(struct timeline_query *query);

/*
 * Open a timeline that its writer has just finished, to add rows that follow from those
 * that it has: its queries may INSERT, too. Errors name `place`, the file that the user
 * asked for; NULL: the path. Nobody else has the file, and one that was not committed is
 * thrown away, so there is no journal. NULL with error.
 */
struct timeline_reader *timeline_update_open(const char *path, const char *place,
					     struct error *error);

/* Run statements of ours that give no rows. 0, or -1 with error. */
int timeline_update_run(struct timeline_reader *reader, const char *sql,
			struct error *error);

/* Tables of another timeline are there as NAME.TABLE. 0, or -1 with error, as
 * timeline_reader_open has it. */
int timeline_update_attach(struct timeline_reader *reader, const char *path,
			   const char *name, struct error *error);

/* They are no longer. What was added is part of the file from here on. */
int timeline_update_detach(struct timeline_reader *reader, const char *name,
			   struct error *error);

/* Make what was added part of the file, after its queries are freed. The reader is left
 * to timeline_reader_free, as it is without this. 0, or -1 with error. */
int timeline_update_commit(struct timeline_reader *reader, struct error *error);

#endif
