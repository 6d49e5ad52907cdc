/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TABLES_TABLE_QUERY_H
#define CT_TABLES_TABLE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/options.h"
#include "timeline/reader.h"
#include "timeline/scope.h"

/* A column of a table_query. */
struct table_query_column {
	char *name;              /* unique in the query, ignoring case */
	enum cell_type type;     /* CELL_NULL if unknown before all rows are read */
	enum cell_type declared; /* for a column whose type is unknown */
	bool required;           /* never NULL */
	bool instant;            /* integers are nanoseconds since the epoch */
	bool mixed;              /* values of other types are converted */
	bool is_key;             /* in the path of the file, not in the file */
	bool is_node;            /* the value is a node.id, to be replaced by its name */
	bool is_row;             /* the id of a row, in a part */
};

/* A query on a timeline: a table or view, the events of a class with their fields, or the
 * user's own SELECT. */
struct table_query {
	char *name; /* the table's, for files and messages; "" for a user's SELECT */
	char *sql;
	size_t walked; /* bytes of its columns, which TIMELINE_ROW may have; 0: no */
	struct table_query_column *column;
	size_t columns;
	int64_t rows;  /* about how many, 0: not known */
	bool is_by_id; /* ?1 and ?2 in it are first and last event.id of the scope's time
			*/
	char *class; /* name of the class if it has one class's events; otherwise NULL */
};

/*
 * Select the part of a table or view that is in the scope. Rows are selected by their
 * time and node; those with a duration if they overlap the selected time. Tables without
 * times and nodes are selected completely. Return NULL with error, which suggests a
 * similar name if there is no such table.
 */
struct table_query *table_query_of_table(struct timeline_reader *timeline,
					 const struct scope *scope, const char *name,
					 struct error *error);

/*
 * Select a whole table of a part, one node's timeline. Ids of rows and references to them
 * are increased by `first`, except those of nodes, sources, classes, metrics and metric
 * items, which are equal in all parts. Columns without type become text. Return NULL with
 * error.
 */
struct table_query *table_query_of_part(struct timeline_reader *timeline,
					const char *name, int64_t first,
					struct error *error);

/* Make a query of the user's SELECT. Columns with equal names or no name are renamed.
 * Return NULL with error. */
struct table_query *table_query_of_query(struct timeline_reader *timeline,
					 const char *sql, struct error *error);

/*
 * Select the scope's events of a class (event_class.id), in order: id, ts_ns, node, cpu,
 * tid and the fields, named as in NAME_v. Fields named like an entry of `taken` are
 * renamed. If `class_id` is 0, for a timeline without fields, select the events of all
 * classes, with a column `class`. Return NULL with error.
 */
struct table_query *table_query_of_events(struct timeline_reader *timeline,
					  const struct scope *scope, int64_t class_id,
					  const struct text_list *taken,
					  struct error *error);

/* Add the names of all tables except SQLite's own, sorted. Return 0, or -1 with error. */
int table_query_list_tables(struct timeline_reader *timeline, struct text_list *names,
			    struct error *error);

/* Pass all rows to `on_row`, in their order, by TIMELINE_ROW if possible. Return 0, or -1
 * with error or if `on_row` returns nonzero. */
int table_query_each(const struct table_query *query, struct timeline_reader *timeline,
		     const struct scope *scope, timeline_row_fn *on_row, void *context,
		     struct error *error);

void table_query_free(struct table_query *query);

#endif
