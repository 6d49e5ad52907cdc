/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_FILE_H
#define CT_ANALYZE_QUERY_FILE_H

#include "analyze/analysis.h"

#define QUERY_FORMS "stats top freq log"

/* Columns that something is said of. */
struct query_columns {
	struct query_column {
		const char *key, *title; /* NULL: as the key is called */
		enum unit unit;
	} * item;
	size_t count, room;
};

/*
 * A file of SQL that is an analysis: comments that say what it is, and statements.
 * analyze/queries/README.md describes it.
 */
struct query_file {
	struct analysis analysis; /* good as long as the file */
	const char *path, *example, *options;
	const char *forms;   /* QUERY_FORMS; the default of analysis.forms */
	const char *records; /* NULL; or nodes without a kernel trace are named */
	struct query_columns column;
	struct query_need {
		const char *what, *events;
	} * need;
	size_t needs, need_room;
	struct query_block *block; /* in the order of the file */
	size_t blocks, block_room;
	struct text_list texts;          /* what all of these point to */
	const struct query_file *shared; /* what all files may name; of the catalog */
};

enum query_kind { QUERY_TABLE, QUERY_WITH, QUERY_TEMPORARY, QUERY_NOTES };

/* A table that a statement fills, and when it is wanted. Of notes only the latter. */
struct query_table {
	const char *key, *title, *sort;
	const char *groups; /* NULL: all */
	const char *form;   /* QUERY_FORMS; NULL: all */
	unsigned forms;     /* these as FORM_... */
	const char *when;   /* NULL: always; else with --interval */
	int64_t limit;
};

/* A statement with what is said before it. */
struct query_block {
	enum query_kind kind;
	const char *name, *index; /* of a relation */
	const char *shown; /* "KEY [GROUP ...], ...": columns of some groups only */
	struct query_table *table;
	size_t tables, table_room;
	struct query_columns column;
	const char *path;
	char *sql;   /* without the semicolon */
	size_t line; /* of the file, where the statement begins */
};

/* The user's; NULL with an error that names file and line. */
struct query_file *query_file_read(const char *path, struct error *error);

/* One that is built in. Borrows the text until it returns. */
struct query_file *query_file_parse(const char *path, const char *text,
				    struct error *error);

/* Add a block, and a table of it; keep a text without the blanks around it. */
struct query_block *query_file_add(struct query_file *file, enum query_kind kind,
				   const char *name);
const char *query_file_keep(struct query_file *file, const char *text, size_t length);

/* What frees a file's own members, and the file, too. */
void query_file_clear(struct query_file *file);
void query_file_free(struct query_file *file);

/* Whether a list of words, "thread process", has the word; NULL has all. */
bool query_words_have(const char *words, const char *word);

/* Whether a statement of the file has this word: a table's name, say. */
bool query_file_names(const struct query_file *file, const char *word);

/* What is said of a column: by the block, the file, or what all share; NULL: nothing. */
const struct query_column *query_file_column(const struct query_file *file,
					     const struct query_block *block,
					     const char *key);

#endif
