/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_VALUES_H
#define CT_ANALYZE_QUERY_VALUES_H

#include "analyze/query_file.h"
#include "analyze/question.h"

/*
 * What the options say, for SQL: a value a parameter, and relations of what takes several
 * (analyze/queries/README.md). The text of a relation is ours; what the user or the
 * timeline says in it is a parameter with a number, ":node_1".
 */
struct query_values {
	struct query_value {
		char *name;
		struct cell cell; /* texts are its own */
	} * item;
	size_t count, room;
	struct query_file relations;
};

/* All values that are no list, into what is zeroed but for texts kept. */
void query_values_init(struct query_values *values, const struct question *question);

/* Add the relations that the file may name. 0, or -1 with error. */
int query_values_relations(struct query_values *values, struct question *question,
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

#endif
