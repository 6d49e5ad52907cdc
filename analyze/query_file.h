/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_FILE_H
#define CT_ANALYZE_QUERY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/analysis.h"
#include "analyze/result.h"
#include "base/error.h"
#include "base/options.h"

#define QUERY_FORMS "stats top freq log"

/* Descriptions of columns. Without a title, a column's key is its title. */
struct query_columns {
	struct result_column *item;
	size_t count, capacity;
};

/* An analysis as a file of SQL: comments that describe it, and statements. The format is
 * documented in analyze/queries/README.md. */
struct query_file {
	struct analysis analysis; /* valid as long as the file */
	const char *path, *example;
	const char *forms;   /* QUERY_FORMS; the default of analysis.forms */
	const char *records; /* "kernel": add a note for nodes without such a trace; or
				NULL */
	struct query_columns column;
	struct query_block *block; /* in the order of the file */
	size_t blocks, block_capacity;
	struct text_list texts;          /* the strings that the members point to */
	const struct query_file *shared; /* relations of the catalog */
};

enum query_kind { QUERY_TABLE, QUERY_WITH, QUERY_TEMPORARY, QUERY_NOTES };

/* A table that a statement fills, with the conditions for printing it. Notes have only
 * the conditions. */
struct query_table {
	const char *key, *title, *sort;
	const char *groups; /* NULL: all */
	const char *form;   /* QUERY_FORMS; NULL: all */
	unsigned forms;     /* `form` as FORM_... */
	const char *when;   /* "interval": with --interval; "plot": only for --plot;
			     * "rows": printed if not empty; NULL: always */
	int64_t limit;
};

/* A statement with its description. */
struct query_block {
	enum query_kind kind;
	const char *name, *index; /* a relation's */
	const char *shown; /* "KEY [GROUP ...], ...": columns for some groups only */
	struct query_table *table;
	size_t tables, table_capacity;
	struct query_columns column;
	const char *path;
	char *sql;   /* without the semicolon */
	size_t line; /* line of the file at which the statement begins */
};

/* Read a user's file. Return NULL with an error that names file and line. */
struct query_file *query_file_read(const char *path, struct error *error);

/* Parse a built-in file. Return NULL with error. */
struct query_file *query_file_parse(const char *path, const char *text,
				    struct error *error);

/* Add a block without tables. Copies neither name nor path. */
struct query_block *query_file_add(struct query_file *file, enum query_kind kind,
				   const char *name);

/* Store a copy of `text` without the blanks around it. The file owns the result. */
const char *query_file_store_text(struct query_file *file, const char *text,
				  size_t length);

/* Free the members, or also the file. */
void query_file_clear(struct query_file *file);
void query_file_free(struct query_file *file);

/* Return true if a list of words, "thread process", contains the word; NULL contains
 * every word. */
bool query_words_have(const char *words, const char *word);

/* Return the SELECT of a relation, which the file must have. */
const char *query_file_sql(const struct query_file *file, const char *relation);

/* Return true if a statement of the file contains this word, such as a table's name. */
bool query_file_names(const struct query_file *file, const char *word);

/* Return the description of a column from the block, the file or the shared relations, in
 * this order; or NULL. */
const struct result_column *query_file_column(const struct query_file *file,
					      const struct query_block *block,
					      const char *key);

#endif
