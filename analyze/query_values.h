/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_VALUES_H
#define CT_ANALYZE_QUERY_VALUES_H

#include "analyze/query_file.h"
#include "base/cell.h"
#include "base/error.h"
#include "timeline/reader.h"

/*
 * The values of the parameters that statements can use (analyze/queries/README.md).
 *
 * An option with several values becomes SQL text: ":of_nodes" is ":nodes_1, :nodes_2".
 * That text is made here; strings from the user or the timeline are always parameters.
 */
struct query_values {
	struct query_value {
		char *name;
		struct cell cell; /* owned; a CELL_BLOB is SQL text */
	} * item;
	size_t count, capacity;
	struct query_file relations;
	struct timeline_reader *reader; /* NULL without a timeline */
};

/* Add the values of a query, and the relations that its file names, to zeroed `values`.
 * Return 0, or -1 with error. */
int query_values_init(struct query_values *values, struct query *query,
		      const struct query_file *file, struct error *error);

/* Copy the value under a formatted name. Return the name, which is valid as long as
 * `values`. */
const char *query_values_add(struct query_values *values, struct cell cell,
			     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Add a common table expression. Takes ownership of `sql`. */
void query_values_add_relation(struct query_values *values, const char *name, char *sql);

/* Return the value of a parameter such as ":begin_ns", or NULL. */
const struct cell *query_values_find(const struct query_values *values, const char *name);

/* Return the values of a query's parameters, in their order, or NULL with error. The
 * caller frees the array. */
struct cell *query_values_of(const struct query_values *values,
			     const struct timeline_query *query, struct error *error);

void query_values_clear(struct query_values *values);

#endif
