/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/output.h"
#include "timeline/authorizer.h"
#include "timeline/quantile.h"
#include "timeline/schema_check.h"
#include "timeline/sql.h"
#include "timeline/value_check.h"

struct timeline_reader {
	sqlite3 *db;
	char *path;
	uint64_t keys;              /* that TIMELINE_KEY handed on */
	struct timeline_each *each; /* receiver of the rows of TIMELINE_ROW, or NULL */
	bool may_write;             /* by timeline_update_open */
	struct authorizer authorizer;
	struct timeline_classes classes;
};

struct timeline_query {
	struct timeline_reader *reader;
	sqlite3_stmt *statement;
	struct cell *cell;
	unsigned *types; /* by column: the types that its values may have, a bit each */
	size_t columns;
};

/* The callback that the aggregate function TIMELINE_ROW passes its rows to. */
struct timeline_each {
	timeline_row_fn *on_row;
	void *context;
	struct error *error;
	bool failed;
};

static void see_row(sqlite3_context *context, int count, sqlite3_value **value)
{
	struct timeline_reader *reader = sqlite3_user_data(context);
	struct timeline_each *each = reader->each;
	struct cell cell[TIMELINE_MOST_ROW];

	if (count > TIMELINE_MOST_ROW) {
		sqlite3_result_error(context, "too many values", -1);
		return;
	}
	if (!each || each->failed) /* no callback in a user's SELECT */
		return;
	for (int i = 0; i < count; i++)
		cell[i] = sql_value_cell(value[i]);
	if (each->on_row(each->context, cell, each->error) == 0)
		return;
	each->failed = true;
	sqlite3_result_error(context, "stopped", -1);
}

static void return_null(sqlite3_context *context)
{
	sqlite3_result_null(context);
}

static void pass_key(sqlite3_context *context, int count, sqlite3_value **value)
{
	struct timeline_reader *reader = sqlite3_user_data(context);

	(void)count;
	reader->keys++;
	sqlite3_result_value(context, value[0]);
}

static int define_rows(struct timeline_reader *reader, struct error *error)
{
	const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;

	if (sqlite3_create_function_v2(reader->db, TIMELINE_ROW, -1, flags, reader, NULL,
				       see_row, return_null, NULL) == SQLITE_OK &&
	    sqlite3_create_function_v2(reader->db, TIMELINE_KEY, 1, flags, reader,
				       pass_key, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return sql_error(reader->db, reader->path, error);
}

static struct timeline_reader *open_reader(const char *path, const char *place,
					   bool is_own, struct error *error)
{
	/* A file from elsewhere may contain views that call functions. */
	static const char settings[] =
	    "PRAGMA trusted_schema = OFF; PRAGMA query_only = ON;"
	    "PRAGMA cell_size_check = ON; PRAGMA cache_size = -4096;"
	    "PRAGMA case_sensitive_like = ON;" /* as in standard SQL */
	    "SELECT count(*) FROM sqlite_master;";
	struct timeline_reader *reader;
	sqlite3 *db, *reference;
	bool is_right;

	if (timeline_check_version(path, error))
		return NULL;
	output_protect(path);
	db = sql_open(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, error);
	if (!db)
		return NULL;
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	reader = mem_zalloc(sizeof(*reader));
	reader->db = db;
	reader->path = mem_strdup(place);
	reference = schema_reference(place, error);
	is_right =
	    reference && sql_run(db, place, settings, error) == 0 &&
	    schema_check(db, reference, "main", place, &reader->classes, error) == 0 &&
	    (is_own ||
	     (reader->authorizer.checks = value_checks_new(db, reference, place, error)));
	sqlite3_close(reference);
	if (is_right && define_rows(reader, error) == 0) {
		if (quantile_define(db) == SQLITE_OK &&
		    authorize_reading(db, &reader->authorizer) == SQLITE_OK)
			return reader;
		sql_error(db, place, error);
	}
	timeline_reader_free(reader);
	return NULL;
}

struct timeline_reader *timeline_reader_open(const char *path, struct error *error)
{
	return open_reader(path, path, false, error);
}

struct timeline_reader *timeline_reader_open_own(const char *path, const char *place,
						 struct error *error)
{
	return open_reader(path, place, true, error);
}

void timeline_reader_free(struct timeline_reader *reader)
{
	if (!reader)
		return;
	sqlite3_close(reader->db);
	timeline_classes_clear(&reader->classes);
	value_checks_free(reader->authorizer.checks);
	free(reader->path);
	free(reader);
}

enum timeline_kind timeline_reader_kind(const struct timeline_reader *reader,
					const char *name)
{
	return texts_have(&reader->classes.tables, name)  ? TIMELINE_CLASS_TABLE
	       : texts_have(&reader->classes.views, name) ? TIMELINE_CLASS_VIEW
							  : TIMELINE_OTHER;
}

/* Return true if only blanks and semicolons follow: SQLite would silently ignore a second
 * statement. */
static int is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n;")] == '\0';
}

/* Return the types that values of a column may have, a bit each, from its declaration.
 * SQLite can also store others, but ctmerge does not. A computed column may have all. */
static unsigned column_types(sqlite3_stmt *statement, int column)
{
	const char *declared = sqlite3_column_decltype(statement, column);
	unsigned null = 1u << CELL_NULL, integer = 1u << CELL_INTEGER;

	if (declared && strcmp(declared, "INTEGER") == 0)
		return null | integer;
	if (declared && strcmp(declared, "REAL") == 0)
		return null | integer | 1u << CELL_REAL;
	if (declared && strcmp(declared, "TEXT") == 0) /* CELL_BLOB: not UTF-8 */
		return null | 1u << CELL_TEXT | 1u << CELL_BLOB;
	return ~0u;
}

static struct timeline_query *make_query(struct timeline_reader *reader,
					 sqlite3_stmt *statement)
{
	struct timeline_query *query = mem_zalloc(sizeof(*query));

	query->reader = reader;
	query->statement = statement;
	query->columns = (size_t)sqlite3_column_count(statement);
	query->cell = mem_zalloc(query->columns * sizeof(*query->cell));
	query->types = mem_zalloc(query->columns * sizeof(*query->types));
	for (size_t i = 0; i < query->columns; i++)
		query->types[i] = column_types(statement, (int)i);
	return query;
}

struct timeline_query *timeline_query_new(struct timeline_reader *reader, const char *sql,
					  struct error *error)
{
	sqlite3_stmt *statement = NULL;
	const char *rest;

	if (sqlite3_prepare_v3(reader->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement,
			       &rest) != SQLITE_OK &&
	    sqlite3_errcode(reader->db) != SQLITE_AUTH) {
		sql_error(reader->db, reader->path, error);
		return NULL;
	}
	if (!statement || !is_blank(rest) ||
	    (!reader->may_write && !sqlite3_stmt_readonly(statement)))
		error_set(error, "%s: not a single statement (expected a SELECT)",
			  reader->path);
	else if (value_checks_run(reader->authorizer.checks, error) == 0)
		return make_query(reader, statement);
	sqlite3_finalize(statement);
	return NULL;
}

const char *timeline_query_parameter(const struct timeline_query *query, size_t n)
{
	return sqlite3_bind_parameter_name(query->statement, (int)n + 1);
}

/* Return the byte that SQLite's error is about, or -1 if unknown. Versions before 3.38 do
 * not report it, nor does any for a missing table: then it is the first occurrence of the
 * word that the message quotes. */
static long error_place(sqlite3 *db, const char *sql)
{
	const char *message = sqlite3_errmsg(db), *word, *found;
	long at = -1;
	AUTOFREE char *copy = NULL;

#if SQLITE_VERSION_NUMBER >= 3038000
	at = sqlite3_error_offset(db);
#endif
	word = strstr(message, "near \"");
	word = word ? word + 6 : strrchr(message, ' ');
	if (at >= 0 || !word)
		return at;
	word += *word == ' ';
	copy = mem_strndup(word, strcspn(word, "\""));
	found = *copy ? strstr(sql, copy) : NULL;
	return found ? found - sql : -1;
}

struct timeline_query *timeline_query_new_user(struct timeline_reader *reader,
					       const char *sql, long *at,
					       struct error *error)
{
	sqlite3_stmt *statement = NULL;
	const char *rest;

	*at = -1;
	if (sqlite3_prepare_v2(reader->db, sql, -1, &statement, &rest) != SQLITE_OK) {
		if (sqlite3_errcode(reader->db) == SQLITE_AUTH) {
			*at = 0;
			error_set(error, "the statement writes (expected a SELECT)");
			return NULL;
		}
		*at = error_place(reader->db, sql);
		sql_cause(reader->db, error);
		return NULL;
	}
	if (!statement) {
		error_set(error, "no statement (expected a SELECT)");
	} else if (!sqlite3_stmt_readonly(statement)) {
		*at = 0;
		error_set(error, "the statement writes (expected a SELECT)");
	} else if (!is_blank(rest)) {
		*at = rest - sql + (long)strspn(rest, " \t\r\n;");
		error_set(error, "a second statement (expected one SELECT)");
	} else if (value_checks_run(reader->authorizer.checks, error) == 0) {
		return make_query(reader, statement);
	}
	sqlite3_finalize(statement);
	return NULL;
}

size_t timeline_query_parameters(const struct timeline_query *query)
{
	return (size_t)sqlite3_bind_parameter_count(query->statement);
}

int timeline_query_ask(struct timeline_query *query, const struct cell *value,
		       size_t count, struct error *error)
{
	size_t wanted = timeline_query_parameters(query);

	if (count != wanted)
		return error_set(error, "%s: %zu values for a query (expected %zu)",
				 query->reader->path, count, wanted);
	query->reader->keys = 0;
	sqlite3_reset(query->statement);
	for (size_t i = 0; i < count; i++)
		if (sql_bind(query->statement, (int)i + 1, &value[i]) != SQLITE_OK)
			return sql_error(query->reader->db, query->reader->path, error);
	return 0;
}

int timeline_query_next(struct timeline_query *query, struct error *error)
{
	int code = sqlite3_step(query->statement);

	if (code == SQLITE_DONE) {
		sqlite3_reset(query->statement);
		return 0;
	}
	if (code != SQLITE_ROW)
		return sql_error(query->reader->db, query->reader->path, error);
	for (size_t i = 0; i < query->columns; i++) {
		query->cell[i] = sql_cell(query->statement, (int)i);
		if (!(query->types[i] >> query->cell[i].type & 1))
			return error_set(error,
					 "%s: column '%s' has a value of a wrong "
					 "type; " TIMELINE_MAKE_AGAIN,
					 query->reader->path,
					 timeline_query_name(query, i));
	}
	return 1;
}

const struct cell *timeline_query_row(const struct timeline_query *query)
{
	return query->cell;
}

uint64_t timeline_query_keys(const struct timeline_query *query)
{
	return query->reader->keys;
}

int timeline_query_each(struct timeline_query *query, timeline_row_fn *on_row,
			void *context, struct error *error)
{
	struct timeline_each each = {
	    .on_row = on_row, .context = context, .error = error};
	struct timeline_reader *reader = query->reader;
	int code;

	reader->each = &each;
	code = sqlite3_step(query->statement);
	reader->each = NULL;
	if (code != SQLITE_ROW && !each.failed)
		sql_error(reader->db, reader->path, error);
	sqlite3_reset(query->statement);
	return code == SQLITE_ROW ? 0 : -1;
}

static int run_with_values(struct timeline_reader *reader, const char *text,
			   const struct cell *value, struct error *error)
{
	sqlite3_stmt *statement = NULL;
	int code =
	    (errno = 0, sqlite3_prepare_v2(reader->db, text, -1, &statement, NULL));
	int count = code == SQLITE_OK ? sqlite3_bind_parameter_count(statement) : 0;

	if (code == SQLITE_OK && value_checks_run(reader->authorizer.checks, error)) {
		sqlite3_finalize(statement);
		return -1;
	}
	for (int i = 0; i < count && code == SQLITE_OK; i++)
		code = sql_bind(statement, i + 1, &value[i]);
	if (code == SQLITE_OK)
		code = sqlite3_step(statement);
	if (code == SQLITE_IOERR || code == SQLITE_CORRUPT)
		sql_error(reader->db, reader->path, error);
	else if (code != SQLITE_DONE)
		sql_cause(reader->db, error);
	sqlite3_finalize(statement);
	return code == SQLITE_DONE ? 0 : -1;
}

/* Create the indexes of a temporary table. Return 0, or -1 with error. */
static int add_indexes(struct timeline_reader *reader,
		       const struct timeline_temporary *table, struct error *error)
{
	int status = 0, n = 0;

	for (const char *at = table->index; at && *at && !status; n++) {
		size_t length = strcspn(at, ";");
		AUTOFREE char *text =
		    mem_printf("CREATE INDEX temp.%s_index%d ON %s (%.*s)", table->name,
			       n, table->name, (int)length, at);

		status = sql_run(reader->db, reader->path, text, error);
		at += length + (at[length] == ';');
	}
	return status;
}

int timeline_reader_check(struct timeline_reader *reader, const char *table,
			  const char *const *columns, struct error *error)
{
	for (; reader->authorizer.checks && *columns; columns++)
		value_checks_note(reader->authorizer.checks, table, *columns);
	return value_checks_run(reader->authorizer.checks, error);
}

void timeline_reader_pause_checks(struct timeline_reader *reader, bool is_paused)
{
	reader->authorizer.skips_checks = is_paused;
}

void timeline_reader_limit_checks(struct timeline_reader *reader, const int64_t id[2],
				  int64_t end_ns)
{
	value_checks_limit(reader->authorizer.checks, id[0], id[1], end_ns);
}

void timeline_reader_skip_checks(struct timeline_reader *reader,
				 const struct timeline_reader *checked)
{
	value_checks_skip(reader->authorizer.checks, checked->authorizer.checks);
}

bool timeline_reader_has(struct timeline_reader *reader, const char *name)
{
	return sqlite3_table_column_metadata(reader->db, "temp", name, NULL, NULL, NULL,
					     NULL, NULL, NULL) == SQLITE_OK;
}

int timeline_reader_keep(struct timeline_reader *reader,
			 const struct timeline_temporary *table, struct error *error)
{
	AUTOFREE char *before = mem_printf("PRAGMA query_only = OFF;"
					   "DROP TABLE IF EXISTS temp.%s",
					   table->name);
	AUTOFREE char *rows =
	    mem_printf("CREATE TEMPORARY TABLE %s AS %s", table->name, table->sql);
	int status;

	reader->authorizer.keeps = true;
	status = sql_run(reader->db, reader->path, before, error) ||
		 run_with_values(reader, rows, table->value, error) ||
		 add_indexes(reader, table, error);
	sqlite3_exec(reader->db, "PRAGMA query_only = ON", NULL, NULL, NULL);
	reader->authorizer.keeps = false;
	return status ? -1 : 0;
}

/* Format a list such as "(c1, c2)" or "(?1, ?2)". The caller frees the result. */
static char *column_list(size_t columns, const char *sign)
{
	struct bytes text = {0};

	for (size_t i = 1; i <= columns; i++)
		bytes_print(&text, "%s%s%zu", i > 1 ? ", " : "(", sign, i);
	bytes_add(&text, ")", sizeof(")"));
	return (char *)text.data;
}

struct timeline_rows {
	struct timeline_reader *reader;
	sqlite3_stmt *insert; /* NULL after an error */
	size_t columns;
	struct error *error;
};

/* Report an error, after which no rows are added. */
static void stop_rows(struct timeline_rows *rows)
{
	sql_error(rows->reader->db, rows->reader->path, rows->error);
	sqlite3_finalize(rows->insert);
	rows->insert = NULL;
}

struct timeline_rows *timeline_rows_begin(struct timeline_reader *reader,
					  const char *name, size_t columns,
					  struct error *error)
{
	const char *named = strstr(name, " (");
	AUTOFREE char *table = mem_strndup(name, strcspn(name, " "));
	AUTOFREE char *names = named ? mem_strdup(named) : column_list(columns, "c");
	AUTOFREE char *values = column_list(columns, "?");
	AUTOFREE char *before = mem_printf("PRAGMA query_only = OFF; BEGIN;"
					   "DROP TABLE IF EXISTS temp.%s;"
					   "CREATE TEMPORARY TABLE %s %s",
					   table, table, names);
	AUTOFREE char *insert =
	    mem_printf("INSERT INTO temp.%s VALUES %s", table, values);
	struct timeline_rows *rows = mem_alloc(sizeof(*rows));

	*rows = (struct timeline_rows){reader, NULL, columns, error};
	reader->authorizer.keeps = true;
	if (sql_run(reader->db, reader->path, before, error) == 0 &&
	    sqlite3_prepare_v2(reader->db, insert, -1, &rows->insert, NULL) != SQLITE_OK)
		stop_rows(rows);
	return rows;
}

void timeline_rows_add(struct timeline_rows *rows, const struct cell *row)
{
	int code = SQLITE_OK;

	if (!rows->insert)
		return;
	for (size_t i = 0; i < rows->columns && code == SQLITE_OK; i++)
		code = sql_bind(rows->insert, (int)i + 1, &row[i]);
	if (code != SQLITE_OK || sqlite3_step(rows->insert) != SQLITE_DONE ||
	    sqlite3_reset(rows->insert) != SQLITE_OK)
		stop_rows(rows);
}

int timeline_rows_end(struct timeline_rows *rows)
{
	const int status = rows->insert ? 0 : -1;

	sqlite3_finalize(rows->insert);
	sqlite3_exec(rows->reader->db, "COMMIT; PRAGMA query_only = ON", NULL, NULL,
		     NULL);
	rows->reader->authorizer.keeps = false;
	free(rows);
	return status;
}

size_t timeline_query_columns(const struct timeline_query *query)
{
	return query->columns;
}

const char *timeline_query_declared(const struct timeline_query *query, size_t column)
{
	return sqlite3_column_decltype(query->statement, (int)column);
}

const char *timeline_query_name(const struct timeline_query *query, size_t column)
{
	return sqlite3_column_name(query->statement, (int)column);
}

void timeline_query_free(struct timeline_query *query)
{
	if (!query)
		return;
	sqlite3_finalize(query->statement);
	free(query->cell);
	free(query->types);
	free(query);
}

static const char update_settings[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF;"
    "PRAGMA cache_size = -65536; BEGIN EXCLUSIVE;";

struct timeline_reader *timeline_update_open(const char *path, const char *place,
					     struct error *error)
{
	sqlite3 *db = sql_open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, error);
	struct timeline_reader *reader;

	if (!db)
		return NULL;
	reader = mem_zalloc(sizeof(*reader));
	reader->db = db;
	reader->path = mem_strdup(place ? place : path);
	reader->may_write = true;
	if (sql_run(db, reader->path, update_settings, error) == 0)
		return reader;
	timeline_reader_free(reader);
	return NULL;
}

int timeline_update_run(struct timeline_reader *reader, const char *sql,
			struct error *error)
{
	return sql_run(reader->db, reader->path, sql, error);
}

int timeline_update_attach(struct timeline_reader *reader, const char *path,
			   const char *name, struct error *error)
{
	AUTOFREE char *sql = mem_printf("ATTACH ? AS %s", name);
	AUTOFREE char *plain = mem_printf("%s%s", *path == '/' ? "" : "./", path);
	struct timeline_classes classes = {0};
	const struct cell value = cell_of_text(plain);
	sqlite3 *reference = schema_reference(path, error);
	int status = !reference || timeline_check_version(path, error) ||
		     run_with_values(reader, sql, &value, error) ||
		     schema_check(reader->db, reference, name, path, &classes, error);

	sqlite3_close(reference);
	timeline_classes_clear(&classes);
	return status ? -1 : 0;
}

int timeline_update_detach(struct timeline_reader *reader, const char *name,
			   struct error *error)
{
	AUTOFREE char *sql = mem_printf("COMMIT; DETACH %s; BEGIN EXCLUSIVE", name);

	return timeline_update_run(reader, sql, error);
}

int timeline_update_commit(struct timeline_reader *reader, struct error *error)
{
	return sql_run(reader->db, reader->path, "COMMIT", error);
}

struct timeline_query *query_start(struct timeline_reader *timeline, const char *sql,
				   const struct cell *value, struct error *error)
{
	struct timeline_query *query = timeline_query_new(timeline, sql, error);

	if (!query || timeline_query_ask(query, value, timeline_query_parameters(query),
					 error) == 0)
		return query;
	timeline_query_free(query);
	return NULL;
}

int query_each(struct timeline_reader *timeline, const char *sql,
	       const struct cell *value, timeline_row_fn *on_row, void *context,
	       struct error *error)
{
	struct timeline_query *query = query_start(timeline, sql, value, error);
	int status = query ? timeline_query_each(query, on_row, context, error) : -1;

	timeline_query_free(query);
	return status;
}

int query_rows(struct timeline_reader *timeline, const char *sql,
	       const struct cell *value, timeline_row_fn *on_row, void *context,
	       struct error *error)
{
	struct timeline_query *query = query_start(timeline, sql, value, error);
	int more = query ? 1 : -1;

	while (more > 0 && (more = timeline_query_next(query, error)) > 0)
		if (on_row(context, timeline_query_row(query), error))
			more = -1;
	timeline_query_free(query);
	return more;
}

struct one_integer {
	int64_t *integer;
	int found;
};

static int store_integer(void *context, const struct cell *row, struct error *error)
{
	struct one_integer *one = context;

	(void)error;
	if (!one->found && row->type == CELL_INTEGER) {
		*one->integer = row->integer;
		one->found = 1;
	}
	return 0;
}

int query_integer(struct timeline_reader *timeline, const char *sql,
		  const struct cell *value, int64_t *integer, struct error *error)
{
	struct one_integer one = {.integer = integer};

	return query_rows(timeline, sql, value, store_integer, &one, error) ? -1
									    : one.found;
}

static int add_text(void *context, const struct cell *row, struct error *error)
{
	AUTOFREE char *text = cell_text(row);

	(void)error;
	text_list_add(context, text);
	return 0;
}

int query_texts(struct timeline_reader *timeline, const char *sql,
		const struct cell *value, struct text_list *texts, struct error *error)
{
	return query_rows(timeline, sql, value, add_text, texts, error);
}
