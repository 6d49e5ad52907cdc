/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TABLES_TABLE_QUERY_H
#define CT_TABLES_TABLE_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/options.h"
#include "timeline/reader.h"
#include "timeline/scope.h"

/*
 * One table of rows that is asked of a timeline: a table or view of it, the events of a
 * class with their fields, or the user's own SELECT.
 */
struct table_query_column {
	char *name;              /* no two of a query are the same, whatever their case */
	enum cell_type type;     /* CELL_NULL: any, known when all rows have come */
	enum cell_type declared; /* where that is not known */
	bool required;           /* never NULL */
	bool instant;            /* an integer is nanoseconds since the epoch */
	bool mixed;              /* values may be of another type, and are converted */
	bool is_key;  /* it stands in the path of a file, and not in the file */
	bool is_node; /* it comes as node.id, and stands for the node's name */
	bool is_row;  /* of a part: the id of a row */
};

struct table_query {
	char *name; /* of the table, for files and messages; "" for the user's SELECT */
	char *sql;
	size_t walked; /* bytes of its columns, which TIMELINE_ROW may have; 0: no */
	struct table_query_column *column;
	size_t columns;
	int64_t rows;  /* about how many, 0: not known */
	bool is_by_id; /* ?1 and ?2 in it are first and last event.id of the scope's time
			*/
	char *class;   /* of events of one class: its name, else NULL */
};

/*
 * What is of the scope in a table or view: rows with a time and a node by these, what
 * lasts if any of it does, what has neither as a whole. NULL with error, also where there
 * is no such table; then the nearest name is suggested.
 */
struct table_query *table_query_of_table(struct timeline_reader *timeline,
					 const struct scope *scope, const char *name,
					 struct error *error);

/*
 * All of a table of one node's timeline, as a part of many: ids of rows, and what refers
 * to such, come by `first` more, but those of nodes, sources, classes, metrics and their
 * items, which are the same in all parts. A column of any type is text.
 */
struct table_query *table_query_of_part(struct timeline_reader *timeline,
					const char *name, int64_t first,
					struct error *error);

/* The user's SELECT. Columns that share a name, or have none, get another. */
struct table_query *table_query_of_query(struct timeline_reader *timeline,
					 const char *sql, struct error *error);

/*
 * The scope's events of one class (event_class.id), in order: id, ts_ns, node, cpu, tid
 * and the fields as NAME_v has them. A name that is among `taken` gets another. Where
 * the timeline has no fields, all classes are one query, with `class`: give id 0.
 */
struct table_query *table_query_of_events(struct timeline_reader *timeline,
					  const struct scope *scope, int64_t class_id,
					  const struct text_list *taken,
					  struct error *error);

/* Names of all tables, sorted; without SQLite's own. 0, or -1 with error. */
int table_query_list_tables(struct timeline_reader *timeline, struct text_list *names,
			    struct error *error);

/* Hand on all rows, in their order; where they come so by TIMELINE_ROW. 0, or -1 with
 * error, or where `take` returned other than 0. */
int table_query_each(const struct table_query *query, struct timeline_reader *timeline,
		     const struct scope *scope, timeline_take *take, void *context,
		     struct error *error);

void table_query_free(struct table_query *query);

#endif
