/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_H
#define CT_ANALYZE_QUERY_H

#include <spawn.h>
#include <stdio.h>

#include "analyze/analysis.h"

/* ---- query_text.c */

/*
 * The text of SQL statements, as far as it must be understood to find where they end,
 * what they name, and how another dialect spells them. analyze/queries/README.md tells
 * what the spelling of the files is.
 */
enum sql_kind {
	SQL_BLANK,   /* blanks and comments */
	SQL_WORD,    /* a name, a keyword, a number */
	SQL_VALUE,   /* a parameter, ":begin_ns" */
	SQL_STRING,  /* 'text' */
	SQL_QUOTED,  /* "name" */
	SQL_END,     /* ; */
	SQL_OPERATOR /* one byte of anything else */
};

struct sql_token {
	enum sql_kind kind;
	const char *text;
	size_t length;
};

/* The next token; moves `at` behind it. False at the end of the text. */
bool sql_next(const char **at, struct sql_token *token);

/* Whether the text has the word, or the parameter, ":begin_ns"; not within quotes or
 * comments. */
bool sql_has(const char *text, const char *word);

/*
 * Find what this lexer and those of SQLite, DuckDB and Spark could read differently, so
 * that text which is a string or a comment here is a statement there. Return its place,
 * and what it is; NULL if there is none.
 */
const char *sql_find_fault(const char *text, const char **what);

/*
 * Check that a statement is a SELECT that names only tables: no function or file in the
 * place of a table, no function that reads, writes or runs anything else. Return 0, or -1
 * with error, which begins with the option's name.
 */
int sql_check_select(const char *text, const char *option, struct error *error);

/* What the columns of a SELECT are called, as far as the text says. */
void sql_columns(const char *text, struct text_list *names);

/*
 * What our spelling has short, at length, for free(): distribution(x) are six columns,
 * min_ns, mean_ns, p50_ns, p95_ns, p99_ns and max_ns; frequency(x, rows) is a statement.
 */
char *sql_expand(const char *text);

enum sql_dialect { SQL_SQLITE, SQL_DUCKDB, SQL_SPARK, SQL_DIALECTS };

/* Write what makes a relation of a SELECT that is computed but once. */
void sql_write_temporary(FILE *file, const char *name, const char *select,
			 enum sql_dialect dialect);

/* What is known of a parameter; NULL: it stays as it is. A CELL_BLOB is a text of SQL. */
typedef const struct cell *sql_value(void *context, const char *name);

/*
 * Write a text as a dialect spells it. Values that `value` gives are written as literals;
 * NULL: parameters stay.
 */
void sql_write(FILE *file, const char *text, enum sql_dialect dialect, sql_value *value,
	       void *context);

/* ---- query_file.c */

#define QUERY_FORMS "stats top freq log"

/* Columns that something is said of; one without a title is called as its key. */
struct query_columns {
	struct result_column *item;
	size_t count, capacity;
};

/*
 * A file of SQL that is an analysis: comments that say what it is, and statements.
 * analyze/queries/README.md describes it.
 */
struct query_file {
	struct analysis analysis; /* good as long as the file */
	const char *path, *example;
	const char *forms;   /* QUERY_FORMS; the default of analysis.forms */
	const char *records; /* NULL; or nodes without a kernel trace are named */
	struct query_columns column;
	struct query_block *block; /* in the order of the file */
	size_t blocks, block_capacity;
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
	const char *when; /* "interval": with it; "plot": for that alone; "rows": printed
			   * if it has some; NULL: always */
	int64_t limit;
};

/* A statement with what is said before it. */
struct query_block {
	enum query_kind kind;
	const char *name, *index; /* of a relation */
	const char *shown; /* "KEY [GROUP ...], ...": columns of some groups only */
	struct query_table *table;
	size_t tables, table_capacity;
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

/* Return the SELECT of a relation of the file, which must have it. */
const char *query_file_sql(const struct query_file *file, const char *relation);

/* Whether a statement of the file has this word: a table's name, say. */
bool query_file_names(const struct query_file *file, const char *word);

/* What is said of a column: by the block, the file, or what all share; NULL: nothing. */
const struct result_column *query_file_column(const struct query_file *file,
					      const struct query_block *block,
					      const char *key);

/* ---- query_values.c */

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
	size_t count, capacity;
	struct query_file relations;
	struct timeline_reader *reader; /* NULL: no timeline is asked */
};

/* All that the file may name, into what is zeroed but for texts kept. 0, or -1 with
 * error. */
int query_values_init(struct query_values *values, struct query *query,
		      const struct query_file *file, struct error *error);

/* Copies, and gives back the name, which lives as long as the values. */
const char *query_values_add(struct query_values *values, struct cell cell,
			     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Add a common table expression. Takes ownership of the text. */
void query_values_add_relation(struct query_values *values, const char *name, char *sql);

/* Of ":begin_ns"; NULL: there is none. */
const struct cell *query_values_find(const struct query_values *values, const char *name);

/* The values of a query's parameters, in their order; for free(). NULL with error. */
struct cell *query_values_of(const struct query_values *values,
			     const struct timeline_query *query, struct error *error);

void query_values_clear(struct query_values *values);

/* ---- period_events.c */

/*
 * The relations `begin_event` and `end_event` of --from, --to and --group: id, node,
 * source, ts_ns, and `name` of the group, "cpu=1 tid=42". Also :from_class, :to_class,
 * :from_classes and :to_classes (how many classes there are of that name), :grouped.
 *
 * An event is "CLASS" or "CLASS[FIELD OP VALUE && ...]". A class may have * and ? in it.
 * OP is one of = == != < <= > >=, or ~ for a text with * and ?. A value is a number, or a
 * text with or without quotes. Fields are the event's, and node, cpu, tid and procname;
 * .tid is the event's own where it has one of such a name. Classes and columns are those
 * that event_class and event_column have. 0, or -1 with error.
 */
int period_events(struct query_values *values, struct query *query, struct error *error);

/* ---- query_groups.c */

/*
 * Sum up the groups of a statement, which then becomes the outer one. False, and it stays
 * as it is, where it cannot be cut, or where that goes wrong: SQLite then does all of it,
 * and says what is wrong with it, if anything.
 */
bool query_groups_run(char **sql, struct timeline_reader *reader,
		      const struct query_values *values);

/* ---- query_tables.c */

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

/* With its reader, after the queries of that. */
void query_tables_free(struct query_tables *tables);

/* Run a program, found by PATH, without a shell. Return its status as in wait(2), or -1
 * with errno. `actions` may be NULL; if `environment` is NULL, the program gets ours. */
int query_spawn(char *const *words, const posix_spawn_file_actions_t *actions,
		char *const *environment);

/* ---- metric_plots.c */

struct output_directory;

/* Draw the table `plots` as SVG into the directory of --plot, which is opened, and say so
 * in a note. The caller commits the directory, or discards it. Return 0, or -1 with
 * error. */
int metric_plots_draw(struct query *query, struct result *result,
		      struct output_directory *directory, struct error *error);

/* ---- query.c */

/* Run the statements of the query's analysis into tables and notes; 0, or -1 with error.
 */
int query_file_run(struct query *query, struct result *result, struct error *error);

/*
 * Write the statements of an analysis as they would run, in a dialect, with the values of
 * their parameters. The query may have no timeline: then its scope is all there is.
 * 0, or -1 with error.
 */
int query_file_print(struct query *query, enum sql_dialect dialect, FILE *file,
		     struct error *error);

#endif
