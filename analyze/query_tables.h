/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_TABLES_H
#define CT_ANALYZE_QUERY_TABLES_H

#include "base/error.h"
#include "timeline/reader.h"

/*
 * Tables in Parquet, as ctexport parquet (TABLE.parquet) and ctmerge --join
 * (TABLE/part=NAME/...) write them, which the program `duckdb` reads. Its answers become
 * temporary tables of an otherwise empty timeline, so that they are read as ever; so do
 * the tables that tell of nodes, classes, metrics and threads, and the bounds of time.
 */
struct query_tables;

/* NULL with error. Borrows the directory's name. */
struct query_tables *query_tables_open(const char *directory, struct error *error);

/* Good as long as the tables. */
struct timeline_reader *query_tables_reader(const struct query_tables *tables);

/*
 * Ask duckdb a SELECT, after the statements of `before`. It then becomes what selects the
 * answer by the reader, once nothing reads the last answer. 0, or -1 with error.
 */
int query_tables_ask(struct query_tables *tables, const char *before, char **select,
		     struct error *error);

/* With its reader, after the queries of that. */
void query_tables_free(struct query_tables *tables);

#endif
