/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/query_tables.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/query_text.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/output.h"
#include "base/process.h"
#include "timeline/names.h"
#include "timeline/sql.h"
#include "timeline/writer.h"

#define ANSWER  "duckdb_answer"
#define TABLES  "tables"
#define ANSWERS "answers"

extern char **environ;

struct query_tables {
	const char *directory;
	struct output_stage
	    *stage; /* with TABLES, a link to the directory, and ANSWERS */
	struct timeline_reader *reader;
};

static const struct cell *the_cell(void *context, const char *name)
{
	(void)name;
	return context;
}

/* Write SQL with this text as the value of every parameter. */
static void write_sql(FILE *file, const char *sql, const char *text)
{
	struct cell cell = cell_of_text(text);

	sql_write(file, sql, SQL_DUCKDB, the_cell, &cell);
}

static bool has_parts(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry = NULL;

	while (directory && (entry = readdir(directory)) &&
	       strncmp(entry->d_name, "part=", 5) != 0)
		;
	if (directory)
		closedir(directory);
	return entry;
}

/* Return a path or glob of a table's files, through the link to the directory, or
 * NULL. */
static char *table_files(const struct query_tables *tables, const char *name)
{
	AUTOFREE char *file = file_name_escape(name, strlen(name));
	AUTOFREE char *path = mem_printf("%s/%s", tables->directory, file);
	AUTOFREE char *whole = mem_printf("%s.parquet", path);
	const char *stage = tables->stage ? tables->stage->path : "";

	if (access(whole, F_OK) == 0)
		return mem_printf("%s/" TABLES "/%s.parquet", stage, file);
	return has_parts(path)
		   ? mem_printf("%s/" TABLES "/%s/part=*/*.parquet", stage, file)
		   : NULL;
}

/* Return true if a name can be written between quotes on one line, and in a glob. */
static bool is_plain_name(const char *name)
{
	for (const char *byte = name; *byte; byte++)
		if ((unsigned char)*byte < ' ' || strchr("*?[/\"\x7f", *byte))
			return false;
	return *name;
}

/* Create views of the tables that a statement may name. Each view opens a file. */
static void write_views(const struct query_tables *tables, const char *text,
			struct text_list *seen, FILE *script)
{
	struct sql_token token;

	while (sql_next(&text, &token)) {
		bool is_quoted = token.kind == SQL_QUOTED;
		AUTOFREE char *name = mem_strndup(token.text + is_quoted,
						  token.length - (is_quoted ? 2 : 0));
		bool is_new = (is_quoted || token.kind == SQL_WORD) &&
			      is_plain_name(name) && !text_list_has(seen, name);
		AUTOFREE char *files = is_new ? table_files(tables, name) : NULL;

		if (is_new)
			text_list_add(seen, name);
		if (files) {
			fprintf(script, "CREATE VIEW \"%s\" AS SELECT * FROM ", name);
			write_sql(script,
				  "read_parquet(:files, hive_partitioning = false);\n",
				  files);
		}
	}
}

static int find_tables(const struct query_tables *tables, struct error *error)
{
	char *nodes;

	if (access(tables->directory, F_OK))
		return error_errno(error, tables->directory);
	nodes = table_files(tables, "node");
	free(nodes);
	return nodes ? 0
		     : error_set(error,
				 "%s: missing table 'node' (expected tables of ctexport "
				 "parquet, ctmerge --join or ctbatch)",
				 tables->directory);
}

/* Set an error from what duckdb printed. Return -1. */
static int set_duckdb_error(const char *path, int status, struct error *error)
{
	FILE *file = fopen(path, "r");
	char text[2000];
	size_t size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file)
		fclose(file);
	text[size] = '\0';
	size = strcspn(text, "\n"); /* then it quotes our own statement */
	text[size] = '\0';
	if (size && strstr(text, "allowed_directories"))
		return error_set(error, "duckdb: too old; install version 1.2 or later");
	if (size)
		return error_set(error, "duckdb: %s", text);
	if (WIFSIGNALED(status))
		return error_set(error, "duckdb: ended by signal %d", WTERMSIG(status));
	return error_set(error, "duckdb: exit status %d", WEXITSTATUS(status));
}

/* Run the script, with PATH as the only environment variable. Return 0, or -1 with error.
 */
static int run_duckdb(const struct query_tables *tables, struct error *error)
{
	AUTOFREE char *script = mem_printf("%s/script.sql", tables->stage->path);
	AUTOFREE char *complaints = mem_printf("%s/complaints", tables->stage->path);
	char *words[] = {(char *)"duckdb",
			 (char *)"-init",
			 (char *)"/dev/null",
			 (char *)"-batch",
			 (char *)"-bail",
			 (char *)":memory:",
			 NULL};
	const char *path = getenv("PATH");
	AUTOFREE char *search = mem_printf("PATH=%s", path ? path : "/usr/bin:/bin");
	char *environment[] = {search, NULL};
	posix_spawn_file_actions_t actions;
	int status, failed;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, script, O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, complaints,
					 O_WRONLY | O_CREAT | O_TRUNC, 0600);
	status = run_program(words, &actions, environment);
	failed = errno;
	posix_spawn_file_actions_destroy(&actions);
	errno = failed;
	if (status > 0)
		return set_duckdb_error(complaints, status, error);
	if (status < 0 && errno == ENOENT)
		return error_set(
		    error, "--tables: no program 'duckdb' in PATH; install it, or run "
			   "what --print-sql=duckdb prints elsewhere, or merge the run "
			   "into one timeline by ctmerge");
	return status ? error_errno(error, "duckdb") : 0;
}

static FILE *open_scratch(const struct query_tables *tables, const char *name,
			  const char *mode, struct error *error)
{
	AUTOFREE char *path = mem_printf("%s/%s", tables->stage->path, name);
	FILE *file = fopen(path, mode);

	if (!file)
		error_errno(error, path);
	return file;
}

static int end_script(FILE *script, struct error *error)
{
	bool failed = ferror(script);

	if (!fclose(script) && !failed)
		return 0;
	return error_errno(error, "the script for duckdb");
}

/*
 * Write the first statements of a session. They restrict it irrevocably to files in two
 * directories (duckdb.org/docs/stable/operations_manual/securing_duckdb). A version
 * before 1.2 does not know allowed_directories and ends there, before it has received any
 * part of an analysis.
 */
static void write_settings(const struct query_tables *tables, FILE *script)
{
	const char *stage = tables->stage->path;
	AUTOFREE char *input = mem_printf("%s/" TABLES "/", stage);
	AUTOFREE char *output = mem_printf("%s/" ANSWERS "/", stage);

	fputs("SET autoinstall_known_extensions = false;\n"
	      "SET autoload_known_extensions = false;\n"
	      "SET allow_community_extensions = false;\n"
	      "SET allowed_directories = [",
	      script);
	write_sql(script, ":directory, ", input);
	write_sql(script, ":directory];\n", output);
	write_sql(script, "SET temp_directory = :directory;\n", output);
	fputs("SET enable_external_access = false;\n"
	      "SET lock_configuration = true;\n",
	      script);
}

/*
 * Write the statement that makes a table of a SELECT's rows. Hexadecimal digits contain
 * no line end, quote or command of the program; query() refuses all but a single SELECT.
 */
static void write_select(FILE *script, const char *name, const char *select)
{
	fprintf(script,
		"CREATE OR REPLACE TEMPORARY TABLE \"%s\" AS FROM query(decode(unhex('",
		name);
	for (; *select; select++)
		fprintf(script, "%02x", (unsigned char)*select);
	fputs("')));\n", script);
}

/* Write the answer to NAME.csv and its columns to NAME.columns. */
static void write_query(const struct query_tables *tables, const char *name,
			const char *select, FILE *script)
{
	AUTOFREE char *columns =
	    mem_printf("%s/" ANSWERS "/%s.columns", tables->stage->path, name);
	AUTOFREE char *rows =
	    mem_printf("%s/" ANSWERS "/%s.csv", tables->stage->path, name);

	write_select(script, ANSWER, select);
	write_sql(script,
		  "COPY (SELECT column_name, data_type FROM duckdb_columns() WHERE "
		  "table_name = '" ANSWER "' ORDER BY column_index) TO :file "
		  "(FORMAT csv, HEADER false, USE_TMP_FILE false);\n",
		  columns);
	write_sql(script,
		  "COPY " ANSWER
		  " TO :file (FORMAT csv, HEADER false, USE_TMP_FILE false);\n",
		  rows);
}

/* CSV as DuckDB writes it: NULL is an empty field without quotes. */
struct answer {
	FILE *file;
	char *text;
	size_t size, capacity;
	struct text_list name, type;
};

static void add_byte(struct answer *answer, int byte)
{
	answer->text = mem_grow(answer->text, answer->size, &answer->capacity, 1);
	answer->text[answer->size++] = (char)byte;
}

/* Read a field, and set its start in `text`, or SIZE_MAX for NULL. Return the character
 * that ends it: a comma, a line end or EOF. */
static int read_field(struct answer *answer, size_t *begin)
{
	int byte = getc(answer->file);
	bool is_quoted = byte == '"';

	*begin = answer->size;
	if (is_quoted) {
		while ((byte = getc(answer->file)) != EOF &&
		       (byte != '"' || (byte = getc(answer->file)) == '"'))
			add_byte(answer, byte);
	} else {
		for (; byte != ',' && byte != '\n' && byte != EOF;
		     byte = getc(answer->file))
			add_byte(answer, byte);
	}
	if (!is_quoted && answer->size == *begin)
		*begin = SIZE_MAX;
	add_byte(answer, '\0');
	return byte;
}

/* Read a row. Return 1, 0 at the end, or -1 with error. */
static int read_fields(struct answer *answer, size_t *begin, size_t count,
		       struct error *error)
{
	int end = getc(answer->file);

	answer->size = 0;
	if (end == EOF)
		return ferror(answer->file) ? error_errno(error, "duckdb's answer") : 0;
	ungetc(end, answer->file);
	for (size_t i = 0; i < count; i++) {
		end = read_field(answer, &begin[i]);
		if ((end == ',') != (i + 1 < count))
			return error_set(error,
					 "duckdb's answer: expected %zu columns in a row",
					 count);
	}
	return 1;
}

static void set_number(struct cell *cell, const char *text)
{
	char *end;

	errno = 0;
	*cell = cell_of_integer(strtoll(text, &end, 10));
	if (!*end && !errno)
		return;
	*cell = cell_of_real(strtod(text, NULL));
	if (isnan(cell->real))
		*cell = cell_of_null();
}

static void set_cell(struct cell *cell, const char *type, const char *text)
{
	if (!strcmp(type, "BOOLEAN"))
		*cell = cell_of_integer(!strcmp(text, "true"));
	else if (!strcmp(type, "DOUBLE") || !strcmp(type, "FLOAT"))
		*cell = isnan(strtod(text, NULL)) ? cell_of_null()
						  : cell_of_real(strtod(text, NULL));
	else if (strstr(type, "INT") || !strncmp(type, "DECIMAL", 7))
		set_number(cell, text);
	else
		*cell = cell_of_text(text);
}

/* Add the rows of an answer to a table. Return 0, or -1 with error. */
static int add_rows(struct timeline_rows *rows, struct answer *answer,
		    struct error *error)
{
	const size_t columns = answer->name.count;
	AUTOFREE size_t *begin = mem_zalloc((columns + 1) * sizeof(*begin));
	AUTOFREE struct cell *row = mem_zalloc((columns + 1) * sizeof(*row));
	int more;

	while ((more = read_fields(answer, begin, columns, error)) > 0) {
		for (size_t i = 0; i < columns; i++)
			if (begin[i] == SIZE_MAX)
				row[i] = cell_of_null();
			else
				set_cell(&row[i], answer->type.item[i],
					 answer->text + begin[i]);
		timeline_rows_add(rows, row);
	}
	return more;
}

static int read_columns(const struct query_tables *tables, const char *name,
			struct answer *answer, struct error *error)
{
	AUTOFREE char *file = mem_printf(ANSWERS "/%s.columns", name);
	size_t field[2];
	int more = -1;

	answer->file = open_scratch(tables, file, "r", error);
	while (answer->file && (more = read_fields(answer, field, 2, error)) > 0) {
		text_list_add(&answer->name, answer->text + field[0]);
		text_list_add(&answer->type, answer->text + field[1]);
	}
	if (answer->file)
		fclose(answer->file);
	return more;
}

/* Return `NAME ("column", ...)`. The caller frees it. */
static char *name_columns(const struct answer *answer, const char *name)
{
	char *text;
	size_t size;
	FILE *file = mem_stream(&text, &size);

	fputs(name, file);
	for (size_t i = 0; i < answer->name.count; i++) {
		AUTOFREE char *quoted = name_quote(answer->name.item[i]);

		fprintf(file, "%s%s", i ? ", " : " (", quoted);
	}
	putc(')', file);
	fclose(file);
	return text;
}

/* Load an answer into a temporary table of that name. Return 0, or -1 with error. */
static int load_answer(const struct query_tables *tables, const char *name,
		       struct error *error)
{
	AUTOFREE char *file = mem_printf(ANSWERS "/%s.csv", name);
	struct answer answer = {.file = NULL};
	int status = read_columns(tables, name, &answer, error);
	AUTOFREE char *table = name_columns(&answer, name);

	answer.file = status ? NULL : open_scratch(tables, file, "r", error);
	if (answer.file) {
		struct timeline_rows *added =
		    timeline_rows_begin(tables->reader, table, answer.name.count, error);

		status = add_rows(added, &answer, error);
		status = timeline_rows_end(added) || status ? -1 : 0;
		fclose(answer.file);
	}
	free(answer.text);
	text_list_clear(&answer.name);
	text_list_clear(&answer.type);
	return answer.file ? status : -1;
}

int query_tables_ask(struct query_tables *tables, const struct text_list *before,
		     char **select, struct error *error)
{
	struct text_list seen = {0};
	FILE *script;

	for (size_t i = 1; i < before->count; i += 2)
		if (sql_check_select(before->item[i], "--tables", error))
			return -1;
	if (sql_check_select(*select, "--tables", error))
		return -1;
	script = open_scratch(tables, "script.sql", "w", error);
	if (!script)
		return -1;
	write_settings(tables, script);
	for (size_t i = 1; i < before->count; i += 2)
		write_views(tables, before->item[i], &seen, script);
	write_views(tables, *select, &seen, script);
	for (size_t i = 0; i < before->count; i += 2)
		write_select(script, before->item[i], before->item[i + 1]);
	write_query(tables, ANSWER, *select, script);
	text_list_clear(&seen);
	if (end_script(script, error) || run_duckdb(tables, error))
		return -1;
	if (load_answer(tables, ANSWER, error))
		return -1;
	free(*select);
	*select = mem_strdup("SELECT * FROM " ANSWER);
	return 0;
}

/* Queries for the reader's own tables: small tables as a whole, and the first and last
 * timestamps of large ones, which define the scope. */
static const struct known {
	const char *name, *select;
} known[] = {
    {"node", "SELECT * FROM node"},
    {"source", "SELECT * FROM source"},
    {"meta", "SELECT * FROM meta"},
    {"recorded", "SELECT * FROM recorded"},
    {"event_class", "SELECT * FROM event_class"},
    {"event_column", "SELECT * FROM event_column"},
    {"metric", "SELECT * FROM metric"},
    {"metric_item", "SELECT * FROM metric_item"},
    {"thread", "SELECT DISTINCT comm FROM thread"},
    {"process", "SELECT DISTINCT comm FROM process"},
    {"event", "SELECT 0 AS id, unnest([min(ts_ns), max(ts_ns)]) AS ts_ns FROM event"},
    {"sample", "SELECT unnest([min(ts_ns), max(ts_ns)]) AS ts_ns FROM sample"},
    {"message", "SELECT 1 AS id, min(send_ns) AS send_ns, max(recv_ns) AS recv_ns, "
		"NULL::BIGINT AS recv_event FROM message"},
    {"invocation", "SELECT min(coalesce(enqueue_ns, begin_ns)) AS enqueue_ns, "
		   "NULL::BIGINT AS begin_ns, max(end_ns) AS end_ns FROM invocation"},
};

enum { KNOWN = sizeof(known) / sizeof(*known) };

static int load_known(struct query_tables *tables, struct error *error)
{
	FILE *script = open_scratch(tables, "script.sql", "w", error);
	struct text_list seen = {0};
	bool is_there[KNOWN];
	int status;

	if (!script)
		return -1;
	write_settings(tables, script);
	for (size_t i = 0; i < KNOWN; i++) {
		AUTOFREE char *files = table_files(tables, known[i].name);

		is_there[i] = files != NULL;
		if (!is_there[i])
			continue;
		write_views(tables, known[i].name, &seen, script);
		write_query(tables, known[i].name, known[i].select, script);
	}
	text_list_clear(&seen);
	status = end_script(script, error) || run_duckdb(tables, error) ? -1 : 0;
	for (size_t i = 0; i < KNOWN && !status; i++)
		if (is_there[i])
			status = load_answer(tables, known[i].name, error);
	return status;
}

/* Make the link, with a plain name because globs cannot quote, and ANSWERS. */
static int make_places(const struct query_tables *tables)
{
	AUTOFREE char *directory = realpath(tables->directory, NULL);
	AUTOFREE char *link = mem_printf("%s/" TABLES, tables->stage->path);
	AUTOFREE char *answers = mem_printf("%s/" ANSWERS, tables->stage->path);

	return !directory || symlink(directory, link) || mkdir(answers, 0700);
}

/* Make the directory of scripts and answers, which a signal removes. */
static int make_stage(struct query_tables *tables, struct error *error)
{
	const char *parent = getenv("TMPDIR");
	AUTOFREE char *whole = NULL;

	parent = parent && *parent ? parent : "/tmp";
	whole = realpath(parent, NULL);
	if (!whole)
		return error_errno(error, parent);
	if (strpbrk(whole, "*?[\n"))
		return error_set(
		    error,
		    "%s: --tables cannot use a temporary directory with *, ? "
		    "or [ in its name; set TMPDIR",
		    whole);
	tables->stage = output_stage_new(whole, "ctanalyze");
	return tables->stage && !make_places(tables) ? 0 : error_errno(error, parent);
}

static int open_empty(struct query_tables *tables, struct error *error)
{
	AUTOFREE char *path = mem_printf("%s/empty.db", tables->stage->path);
	struct timeline_writer *writer = timeline_writer_new(path, NULL, false, error);

	if (writer && !timeline_writer_finish(writer, error))
		tables->reader = timeline_reader_open(path, error);
	timeline_writer_free(writer);
	return tables->reader ? 0 : -1;
}

struct query_tables *query_tables_open(const char *directory, struct error *error)
{
	struct query_tables *tables = mem_zalloc(sizeof(*tables));

	tables->directory = directory;
	if (!find_tables(tables, error) && !make_stage(tables, error) &&
	    !open_empty(tables, error) && !load_known(tables, error))
		return tables;
	query_tables_free(tables);
	return NULL;
}

struct timeline_reader *query_tables_reader(const struct query_tables *tables)
{
	return tables->reader;
}

void query_tables_free(struct query_tables *tables)
{
	if (!tables)
		return;
	timeline_reader_free(tables->reader);
	output_stage_free(tables->stage);
	free(tables);
}
