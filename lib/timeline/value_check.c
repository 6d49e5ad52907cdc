/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/value_check.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "timeline/reader.h"
#include "timeline/sql.h"

struct value_check {
	char *table;
	char *column; /* NULL: any */
	char
	    *sql; /* a SELECT of a wrong column, without a row if all is right; or NULL */
	char *wrong;    /* the condition that a row's value is wrong; or NULL */
	bool is_number; /* or NULL: all that is wrong is a text or blob */
	bool is_noted, is_done;
};

struct value_checks {
	sqlite3 *db;
	char *place;
	struct value_check *item;
	size_t count, capacity;
	int64_t first, last; /* ids of messages and requests that are checked */
	int64_t end_ns;      /* requests that began later are not */
	bool any_noted;
	struct error
	    error; /* error of the check that failed; each further run repeats it */
};

/* Spans, with the second column of their keys, which begin with the node. */
static const struct {
	const char *table, *second;
} spans[] = {
    {"thread_state", "tid"}, {"syscall", "tid"}, {"irq", NULL}, {"block_request", "dev"}};

/* Each next node is found by the key. */
#define UNKNOWN_NODE                                                                     \
	"WITH RECURSIVE n (node) AS ("                                                   \
	"SELECT * FROM (SELECT node FROM %1$s ORDER BY node LIMIT 1) UNION ALL "         \
	"SELECT (SELECT min(node) FROM %1$s WHERE node > n.node) FROM n "                \
	"WHERE EXISTS (SELECT 1 FROM %1$s WHERE node > n.node)) "                        \
	"SELECT 'node' FROM n WHERE (node IN (SELECT id FROM node)) IS NOT TRUE"

/* Likewise each next thread or disk of a node. Its last span has the greatest time; texts
 * sort after numbers. */
#define WRONG_KEY                                                                        \
	"WITH RECURSIVE k (node, second) AS ("                                           \
	"SELECT n.id, (SELECT min(%2$s) FROM %1$s WHERE node = n.id) FROM node AS n "    \
	"UNION ALL SELECT node, (SELECT min(%2$s) FROM %1$s WHERE node = k.node AND "    \
	"%2$s > k.second) FROM k WHERE second IS NOT NULL) "                             \
	"SELECT '%2$s or begin_ns' FROM k WHERE second IS NOT NULL AND "                 \
	"(typeof(second) <> 'integer' OR EXISTS (SELECT 1 FROM %1$s WHERE "              \
	"node = k.node AND %2$s = k.second AND begin_ns >= ''))"

/* NULL: there are no events. */
#define WRONG_EVENT_TIME                                                                 \
	"SELECT 'ts_ns' WHERE typeof((SELECT ts_ns FROM event ORDER BY ts_ns LIMIT 1)) " \
	"NOT IN ('integer', 'null') OR typeof((SELECT ts_ns FROM event ORDER BY ts_ns "  \
	"DESC LIMIT 1)) NOT IN ('integer', 'null')"

/* Columns of tables without such keys, by our own schema: the timeline may have a table
 * of any name, such as pragma_table_info. Events are too many to read each: statements
 * join their nodes by LEFT JOIN. */
static const char columns_sql[] =
    "SELECT m.name, c.name, c.\"notnull\", f.\"table\" FROM sqlite_schema AS m "
    "JOIN pragma_table_info(m.name) AS c "
    "LEFT JOIN pragma_foreign_key_list(m.name) AS f ON f.\"from\" = c.name "
    "AND f.\"table\" IN ('node', 'source', 'metric', 'metric_item') "
    "WHERE c.type IN ('INTEGER', 'REAL') AND c.pk = 0 AND m.name IN ('message', "
    "'message_observation', 'request', 'sample', 'invocation', 'clock_bound')";

/* The condition that an id is right: it is between the first and the last of its table,
 * if all of these exist, which is faster than to look it up. A part (ctmerge --part)
 * refers to nodes and sources of other parts. */
#define RIGHT_ID                                                                         \
	"SELECT CASE WHEN '%1$s' IN ('node', 'source') AND EXISTS (SELECT 1 FROM "       \
	"sqlite_schema WHERE name = 'tunnel') THEN '< ''''' "                            \
	"WHEN count(*) = max(id) - min(id) + 1 THEN "                                    \
	"printf('BETWEEN %%d AND %%d AND @ | 0 = @', min(id), max(id)) "                 \
	"ELSE 'IN (SELECT id FROM %1$s)' END FROM %1$s"

/* A number sorts before any text. */
#define RIGHT_NUMBER "SELECT '< '''''"

/* Return true if one of the values is a text or a blob, which takes less time than to
 * compare each with a text. */
#define HAS_TEXT "timeline_has_text"

static void find_text(sqlite3_context *context, int count, sqlite3_value **value)
{
	bool has_text = false;

	for (int i = 0; i < count && !has_text; i++) {
		const int type = sqlite3_value_type(value[i]);

		has_text = type == SQLITE_TEXT || type == SQLITE_BLOB;
	}
	sqlite3_result_int(context, has_text);
}

/* Return the condition that a value of a column is wrong, or NULL. The caller frees it.
 */
static char *wrong_value(sqlite3 *db, sqlite3_stmt *column)
{
	const char *parent = sql_text(column, 3);
	const char *is_wrong = sqlite3_column_int(column, 2) ? "NOT TRUE" : "FALSE";
	AUTOFREE char *right =
	    parent ? mem_printf(RIGHT_ID, parent) : mem_strdup(RIGHT_NUMBER);
	AUTOFREE char *sql = mem_printf(
	    "SELECT replace(printf('(@ %%s) IS %s', (%s)), '@', ?)", is_wrong, right);
	sqlite3_stmt *row = NULL;
	char *wrong = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK) {
		sqlite3_bind_value(row, 1, sqlite3_column_value(column, 1));
		if (sqlite3_step(row) == SQLITE_ROW) {
			const char *text = sql_text(row, 0);

			if (!text) /* printf() is NULL when SQLite has no memory */
				mem_exit();
			wrong = mem_strdup(text);
		}
	}
	sqlite3_finalize(row);
	return wrong;
}

static void add_check(struct value_checks *checks, struct value_check check)
{
	*MEM_NEXT(checks->item, checks->count, checks->capacity) = check;
}

static char *copy_column(sqlite3_stmt *row, int column)
{
	return mem_strdup(sql_text(row, column));
}

static int add_columns(struct value_checks *checks, sqlite3 *reference,
		       struct error *error)
{
	sqlite3_stmt *row = NULL;
	int code = sqlite3_prepare_v2(reference, columns_sql, -1, &row, NULL);

	while (code == SQLITE_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
		char *wrong = wrong_value(checks->db, row);

		code = wrong ? SQLITE_OK : SQLITE_ERROR;
		if (wrong)
			add_check(checks, (struct value_check){
					      .table = copy_column(row, 0),
					      .column = copy_column(row, 1),
					      .wrong = wrong,
					      .is_number = !sqlite3_column_int(row, 2) &&
							   !sqlite3_column_text(row, 3)});
		else
			sql_error(checks->db, checks->place, error);
	}
	if (code != SQLITE_DONE && !*error_text(error))
		sql_error(reference, checks->place, error);
	sqlite3_finalize(row);
	return code == SQLITE_DONE ? 0 : -1;
}

struct value_checks *value_checks_new(sqlite3 *db, sqlite3 *reference, const char *place,
				      struct error *error)
{
	struct value_checks *checks = mem_zalloc(sizeof(*checks));

	checks->db = db;
	checks->first = 1;
	checks->end_ns = INT64_MAX;
	checks->place = mem_strdup(place);
	for (size_t i = 0; i < sizeof(spans) / sizeof(*spans); i++) {
		const char *table = spans[i].table;

		add_check(checks,
			  (struct value_check){.table = mem_strdup(table),
					       .sql = mem_printf(UNKNOWN_NODE, table)});
		if (spans[i].second)
			add_check(checks, (struct value_check){
					      .table = mem_strdup(table),
					      .sql = mem_printf(WRONG_KEY, table,
								spans[i].second)});
	}
	add_check(checks, (struct value_check){.table = mem_strdup("event"),
					       .column = mem_strdup("ts_ns"),
					       .sql = mem_strdup(WRONG_EVENT_TIME)});
	if (sqlite3_create_function_v2(db, HAS_TEXT, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
				       NULL, find_text, NULL, NULL, NULL) != SQLITE_OK)
		sql_error(db, place, error);
	else if (add_columns(checks, reference, error) == 0)
		return checks;
	value_checks_free(checks);
	return NULL;
}

void value_checks_free(struct value_checks *checks)
{
	if (!checks)
		return;
	for (size_t i = 0; i < checks->count; i++) {
		free(checks->item[i].table);
		free(checks->item[i].column);
		free(checks->item[i].sql);
		free(checks->item[i].wrong);
	}
	error_clear(&checks->error);
	free(checks->item);
	free(checks->place);
	free(checks);
}

void value_checks_note(struct value_checks *checks, const char *table, const char *column)
{
	for (size_t i = 0; i < checks->count; i++) {
		struct value_check *check = &checks->item[i];

		if (check->is_done || strcmp(check->table, table) != 0 ||
		    (column && check->column && strcmp(check->column, column) != 0))
			continue;
		check->is_noted = checks->any_noted = true;
	}
}

void value_checks_skip(struct value_checks *checks, const struct value_checks *other)
{
	for (size_t i = 0; checks && i < checks->count; i++)
		checks->item[i].is_done |= other->item[i].is_done;
	if (checks)
		value_checks_limit(checks, other->first, other->last, other->end_ns);
}

void value_checks_limit(struct value_checks *checks, int64_t first, int64_t last,
			int64_t end_ns)
{
	if (checks) {
		checks->first = first;
		checks->last = last;
		checks->end_ns = end_ns;
	}
}

/* Return a SELECT that reads each row of a table once and returns the first noted column
 * with a wrong value. Mark their checks as done. The caller frees it. */
static char *scan_sql(struct value_checks *checks, const char *table)
{
	struct bytes sql = {0}, numbers = {0}, others = {0};

	bytes_print(&sql, "SELECT CASE");
	bytes_print(&numbers, HAS_TEXT "(NULL");
	for (size_t i = 0; i < checks->count; i++) {
		struct value_check *check = &checks->item[i];

		if (!check->is_noted || check->is_done || !check->wrong ||
		    strcmp(check->table, table) != 0)
			continue;
		check->is_done = true;
		bytes_print(&sql, " WHEN %s THEN '%s'", check->wrong, check->column);
		if (check->is_number)
			bytes_print(&numbers, ", %s", check->column);
		else
			bytes_print(&others, " OR %s", check->wrong);
	}
	bytes_print(&sql, " END FROM %s WHERE ", table);
	/* A request can have the id of a later message. Texts are after any number. */
	if (checks->first <= checks->last && !strcmp(table, "request"))
		bytes_print(&sql,
			    "id >= %" PRId64 " AND (begin_ns <= %" PRId64
			    " OR begin_ns >= '') AND ",
			    checks->first, checks->end_ns);
	else if (checks->first <= checks->last && !strcmp(table, "message"))
		bytes_print(&sql, "id BETWEEN %" PRId64 " AND %" PRId64 " AND ",
			    checks->first, checks->last);
	bytes_print(&sql, "(%.*s)%.*s)", (int)numbers.size, (const char *)numbers.data,
		    (int)others.size, (const char *)others.data);
	bytes_add_byte(&sql, 0);
	bytes_clear(&numbers);
	bytes_clear(&others);
	return (char *)sql.data;
}

static void run_check(struct value_checks *checks, const char *table, const char *sql)
{
	struct error *error = &checks->error;
	sqlite3_stmt *row = NULL;
	int code = sqlite3_prepare_v2(checks->db, sql, -1, &row, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(row);
	if (code == SQLITE_ROW)
		error_set(error,
			  "%s: column '%s' of table '%s' has a value of a wrong "
			  "type or an id that does not resolve; " TIMELINE_MAKE_AGAIN,
			  checks->place, sql_text(row, 0), table);
	else if (code != SQLITE_DONE)
		sql_error(checks->db, checks->place, error);
	sqlite3_finalize(row);
}

int value_checks_run(struct value_checks *checks, struct error *error)
{
	if (!checks || (!checks->any_noted && !checks->error.text))
		return 0;
	checks->any_noted = false;
	for (size_t i = 0; i < checks->count && !checks->error.text; i++) {
		struct value_check *check = &checks->item[i];
		AUTOFREE char *scan = NULL;

		if (!check->is_noted || check->is_done)
			continue;
		if (check->wrong)
			scan = scan_sql(checks, check->table);
		check->is_done = true;
		run_check(checks, check->table, scan ? scan : check->sql);
	}
	return checks->error.text ? error_set(error, "%s", error_text(&checks->error))
				  : 0;
}
