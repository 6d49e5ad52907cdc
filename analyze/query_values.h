/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_VALUES_H
#define CT_ANALYZE_QUERY_VALUES_H

#include "analyze/query_file.h"
#include "analyze/question.h"

/*
 * What the options say, for SQL (analyze/queries/README.md): a value a parameter. What
 * takes several is a text of SQL, which the relations of relations.sql name: ":of_nodes"
 * is ":nodes_1, :nodes_2". The text is ours; what the user or the timeline says in it is
 * a parameter.
 */
struct query_values {
	struct query_value {
		char *name;
		struct cell cell; /* its own; a CELL_BLOB is SQL, ":of_nodes" */
	} * item;
	size_t count, room;
	struct query_file relations;
};

/* All that the file may name, into what is zeroed but for texts kept. 0, or -1 with
 * error. */
int query_values_init(struct query_values *values, struct question *question,
		      const struct query_file *file, struct error *error);

/* Copies, and gives back the name, which lives as long as the values. */
const char *query_values_add(struct query_values *values, struct cell cell,
			     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A relation's text; takes it. */
void query_values_add_relation(struct query_values *values, const char *name,
			       const char *index, char *sql);

/* Of ":begin_ns"; NULL: there is none. */
const struct cell *query_values_find(const struct query_values *values, const char *name);

/* The values of a query's parameters, in their order; for free(). NULL with error. */
struct cell *query_values_of(const struct query_values *values,
			     const struct timeline_query *query, struct error *error);

void query_values_clear(struct query_values *values);

/* ---- period_events.c */

/*
 * The relations `begin_event` and `end_event` of --from, --to and --group: id, node,
 * ts_ns, and `name` of the group, "cpu=1 tid=42". Also :from_class, :to_class,
 * :from_classes and :to_classes (how many classes there are of that name), :grouped.
 *
 * An event is "CLASS" or "CLASS[FIELD OP VALUE && ...]". A class may have * and ? in it.
 * OP is one of = == != < <= > >=, or ~ for a text with * and ?. A value is a number, or a
 * text with or without quotes. Fields are the event's, and node, cpu, tid and procname;
 * .tid is the event's own where it has one of such a name. Classes and columns are those
 * that event_class and event_column have. 0, or -1 with error.
 */
int period_events(struct query_values *values, struct question *question,
		  struct error *error);

/* ---- query_groups.c */

/*
 * Sum up the groups of a statement, which then becomes the outer one. False, and it stays
 * as it is, where it cannot be cut, or where that goes wrong: SQLite then does all of it,
 * and says what is wrong with it, if anything.
 */
bool query_groups_run(char **sql, struct timeline_reader *reader,
		      const struct query_values *values);

#endif
