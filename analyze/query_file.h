/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_FILE_H
#define CT_ANALYZE_QUERY_FILE_H

#include "analyze/analysis.h"

/*
 * A file of SQL that is an analysis: comments that say what it is, and statements.
 * analyze/queries/README.md describes it.
 */
struct query_file {
	struct analysis analysis; /* good as long as the file */
	char *path;
	char *name, *summary, *description, *example, *groups, *options;
	bool of_kernels; /* nodes without a kernel trace are named */
	struct query_need {
		char *what, *events;
	} * need;
	size_t needs, need_room;
	struct query_block *block; /* in the order of the file */
	size_t blocks, block_room;
};

enum query_kind { QUERY_TABLE, QUERY_WITH, QUERY_TEMPORARY, QUERY_NOTES };

/* A table that a statement fills, and when it is wanted. Of notes only the latter. */
struct query_table {
	char *key, *title, *sort;
	char *groups;   /* NULL: all */
	unsigned forms; /* FORM_...; 0: all */
	bool of_interval;
	int64_t limit;
};

struct query_column {
	char *key, *title;
	char *groups; /* NULL: all */
	enum unit unit;
};

/* A statement with what is said before it. */
struct query_block {
	enum query_kind kind;
	char *name, *index; /* of a relation */
	struct query_table *table;
	size_t tables, table_room;
	struct query_column *column;
	size_t columns, column_room;
	char *sql;   /* without the semicolon */
	size_t line; /* of the file, where the statement begins */
};

/* The user's; NULL with an error that names file and line. */
struct query_file *query_file_read(const char *path, struct error *error);

/* One that is built in. Borrows the text until it returns. */
struct query_file *query_file_parse(const char *path, const char *text,
				    struct error *error);

/* Whether a list of words, "thread process", has the word; NULL has all. */
bool query_words_have(const char *words, const char *word);

void query_file_free(struct query_file *file);

/* Whether a statement of the file has this word: a table's name, say. */
bool query_file_names(const struct query_file *file, const char *word);

#endif
