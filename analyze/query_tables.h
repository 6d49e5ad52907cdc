/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_TABLES_H
#define CT_ANALYZE_QUERY_TABLES_H

#include "base/error.h"
#include "base/options.h"
#include "timeline/reader.h"

/*
 * A directory of Parquet tables in place of a timeline: those of ctexport parquet
 * (TABLE.parquet) or of ctmerge --join (TABLE/part=NAME/...). The program `duckdb` reads
 * them. Its answers become temporary tables of an otherwise empty timeline, as do the
 * small tables (nodes, classes, metrics, threads, limits of time).
 */
struct query_tables;

/* Return NULL with error. Borrows the directory's name. */
struct query_tables *query_tables_open(const char *directory, struct error *error);

/* Return the reader of the answers, which is valid as long as the tables. */
struct timeline_reader *query_tables_reader(const struct query_tables *tables);

/*
 * Run a SELECT in duckdb. It may name the relations of `before`, which has the name and
 * the SELECT of each. Replace `select` by one that reads the answer with the reader;
 * nothing may still be reading the previous answer. Return 0, or -1 with error.
 *
 * Any SELECT may be hostile. It is passed to duckdb as hexadecimal digits, for the
 * function query(), which runs only a single SELECT, in a session that can read the
 * tables and write the answer, but cannot load or configure anything.
 */
int query_tables_ask(struct query_tables *tables, const struct text_list *before,
		     char **select, struct error *error);

/* Free the tables and their reader. Free the reader's queries first. */
void query_tables_free(struct query_tables *tables);

#endif
