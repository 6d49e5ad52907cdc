/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/schema_check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "timeline/classes.h"
#include "timeline/names.h"
#include "timeline/reader.h"
#include "timeline/sql.h"

enum { HEADER_SIZE = 100, AT_USER_VERSION = 60, AT_APPLICATION_ID = 68 };

static unsigned big_endian(const unsigned char *byte)
{
	return (unsigned)byte[0] << 24 | (unsigned)byte[1] << 16 |
	       (unsigned)byte[2] << 8 | byte[3];
}

/*
 * Return a timeline's version from the header of the SQLite database, the file's first
 * 100 bytes (sqlite.org/fileformat.html, 1.3). Return 0 if the file is not a timeline, or
 * -1 with errno if it cannot be read. SQLite itself would accept an empty file as a
 * database, and wait for data if the path is not a file.
 */
static long read_version(const char *path)
{
	/* Opening a pipe without a writer must not block. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), cause;
	unsigned char bytes[HEADER_SIZE];
	ssize_t size;

	if (fd < 0)
		return errno == ENXIO ? 0 : -1;
	size = pread(fd, bytes, sizeof(bytes), 0);
	cause = errno;
	close(fd);
	errno = cause;
	if (size < 0)
		return errno == EISDIR || errno == ESPIPE ? 0 : -1;
	if (size < HEADER_SIZE || memcmp(bytes, "SQLite format 3", 16) != 0 ||
	    big_endian(bytes + AT_APPLICATION_ID) != SCHEMA_APPLICATION_ID)
		return 0;
	return big_endian(bytes + AT_USER_VERSION);
}

int timeline_check_target(const char *path, bool force, struct error *error)
{
	struct stat status;
	long version;

	if (lstat(path, &status))
		return errno == ENOENT ? 0 : error_errno(error, path);
	if (!S_ISREG(status.st_mode))
		return error_set(error, "%s: exists and is not a regular file", path);
	if (!force)
		return error_set(error, "%s: already exists; use --force to replace it",
				 path);
	version = status.st_size ? read_version(path) : SCHEMA_VERSION;
	if (version < 0)
		return error_errno(error, path);
	return version ? 0
		       : error_set(error,
				   "%s: not a timeline; --force replaces only timelines",
				   path);
}

int timeline_check_version(const char *path, struct error *error)
{
	long version = read_version(path);

	if (version == SCHEMA_VERSION)
		return 0;
	if (version < 0)
		return error_errno(error, path);
	if (version == 0)
		return error_set(
		    error, "%s: not a timeline (expected a file made by ctmerge)", path);
	return error_set(error,
			 "%s: timeline of version %ld (expected version %d); make it "
			 "again with ctmerge RUN -o %s --force",
			 path, version, SCHEMA_VERSION, path);
}

/* A row of sqlite_schema. */
struct schema_item {
	char *type, *sql;
	bool is_expected;
};

struct schema_check {
	sqlite3 *db, *reference, *asked; /* the last two: our own tables, in memory */
	const char *schema, *place;
	struct timeline_classes *classes;
	struct texts names;
	struct schema_item *item; /* by number in `names` */
	size_t capacity;
	sqlite3_stmt *asked_columns, *columns;
	struct error *error;
};

static int error_schema(const struct schema_check *check, const char *type,
			const char *name, const char *why)
{
	return error_set(check->error, "%s: %s '%s' %s; " TIMELINE_MAKE_AGAIN,
			 check->place, type, name, why);
}

static const char *text_at(sqlite3_stmt *row, int column)
{
	const char *text = sql_text(row, column);

	return text ? text : "";
}

typedef int row_fn(struct schema_check *check, sqlite3_stmt *row);

/* Call `on_row` with each row of a SELECT, until it returns other than 0. */
static int each_row(struct schema_check *check, sqlite3 *db, const char *sql,
		    row_fn *on_row)
{
	sqlite3_stmt *row = NULL;
	int code = sqlite3_prepare_v2(db, sql, -1, &row, NULL), status = 0;

	while (code == SQLITE_OK || code == SQLITE_ROW) {
		code = sqlite3_step(row);
		if (code == SQLITE_ROW && (status = on_row(check, row)))
			break;
	}
	if (!status && code != SQLITE_DONE)
		status = sql_error(db, check->place, check->error);
	sqlite3_finalize(row);
	return status;
}

static int stop_at_row(struct schema_check *check, sqlite3_stmt *row)
{
	(void)check;
	(void)row;
	return 1;
}

static bool query_has_row(struct schema_check *check, const char *sql)
{
	return each_row(check, check->db, sql, stop_at_row) > 0;
}

static int add_item(struct schema_check *check, sqlite3_stmt *row)
{
	const char *type = text_at(row, 0), *name = text_at(row, 1);
	size_t items = check->names.count;

	if (texts_put(&check->names, name) < items)
		return error_schema(check, type, name, "exists twice");
	*MEM_NEXT(check->item, items, check->capacity) = (struct schema_item){
	    .type = mem_strdup(type), .sql = mem_strdup(text_at(row, 2))};
	if (strcmp(type, "trigger") == 0)
		return error_schema(check, type, name, "is not one that ctmerge makes");
	return 0;
}

static bool item_is(struct schema_check *check, const char *name, const char *sql)
{
	const struct schema_item *item;

	if (!texts_have(&check->names, name))
		return false;
	item = &check->item[texts_put(&check->names, name)];
	return item->sql && strcmp(item->sql, sql) == 0;
}

/* Accept the item if it is as expected. Return 0, or 1 if it is missing, or -1 with error
 * if it differs. */
static int expect_item(struct schema_check *check, const char *type, const char *name,
		       const char *sql)
{
	size_t items = check->names.count, at = texts_put(&check->names, name);
	struct schema_item *item;

	if (at == items) {
		*MEM_NEXT(check->item, items, check->capacity) =
		    (struct schema_item){.is_expected = true};
		return 1;
	}
	item = &check->item[at];
	if (!item->type) /* expected already, and missing */
		return 1;
	if (strcmp(item->type, type) != 0 || strcmp(item->sql, sql) != 0)
		return error_schema(check, item->type, name,
				    "is not as this version of ctmerge makes it");
	item->is_expected = true;
	return 0;
}

static int expect_fixed(struct schema_check *check, sqlite3_stmt *row)
{
	const char *type = text_at(row, 0), *name = text_at(row, 1);
	int status = expect_item(check, type, name, text_at(row, 2));

	/* Parts have fewer indexes. */
	if (status > 0 && strcmp(type, "index") != 0)
		return error_schema(check, type, name, "is missing");
	return status < 0 ? -1 : 0;
}

static int expect_asked(struct schema_check *check, sqlite3_stmt *row)
{
	const char *name = text_at(row, 0);
	size_t count = check->classes->tables.count;
	struct bytes sql = {0};
	int status = 0;

	if (texts_put(&check->classes->tables, name) == count) { /* not recorded */
		class_table_sql(&sql, name, NULL, 0, check->asked_columns);
		bytes_add_byte(&sql, 0);
		status = expect_item(check, "table", name, (char *)sql.data);
		bytes_clear(&sql);
	}
	return status < 0 ? -1 : 0;
}

static bool parse_type(const char *word, enum cell_type *type)
{
	for (int i = CELL_NULL; i <= CELL_BLOB; i++)
		if (strcmp(class_type_name((enum cell_type)i), word) == 0) {
			*type = (enum cell_type)i;
			return true;
		}
	return false;
}

/* Return the columns of the class with this id, or NULL with error. The caller frees them
 * and their `sql`. */
static struct class_column *read_columns(struct schema_check *check, int64_t class,
					 size_t *count)
{
	struct class_column *column = mem_zalloc(sizeof(*column));
	size_t capacity = 1;
	int code;

	*count = 0;
	sqlite3_bind_int64(check->columns, 1, class);
	while ((code = sqlite3_step(check->columns)) == SQLITE_ROW) {
		struct class_column *added = MEM_NEXT(column, *count, capacity);

		*added =
		    (struct class_column){.sql = mem_strdup(text_at(check->columns, 0))};
		if (!parse_type(text_at(check->columns, 1), &added->type))
			break;
	}
	sqlite3_reset(check->columns);
	if (code == SQLITE_DONE)
		return column;
	if (code != SQLITE_ROW)
		sql_error(check->db, check->place, check->error);
	else
		error_schema(check, "table", "event_column", "has an unknown type");
	for (size_t i = 0; i < *count; i++)
		free(column[i].sql);
	free(column);
	return NULL;
}

/* Expect the table and the view of a class. */
static int expect_class(struct schema_check *check, sqlite3_stmt *row)
{
	size_t count;
	AUTOFREE char *table = mem_strdup(text_at(row, 1));
	AUTOFREE char *view = mem_printf("%s_v", table);
	AUTOFREE struct class_column *column =
	    read_columns(check, sqlite3_column_int64(row, 0), &count);
	struct bytes sql = {0};
	int status;

	if (!column)
		return -1;
	/* A part (ctmerge --part) has no rows of classes. */
	class_table_sql(&sql, table, NULL, 0, check->asked_columns);
	bytes_add_byte(&sql, 0);
	if (!item_is(check, table, (char *)sql.data)) {
		sql.size = 0;
		class_table_sql(&sql, table, column, count, check->asked_columns);
		bytes_add_byte(&sql, 0);
	}
	status = expect_item(check, "table", table, (char *)sql.data);
	sql.size = 0;
	class_view_sql(&sql, table, column, count);
	bytes_add_byte(&sql, 0);
	if (status >= 0)
		status = expect_item(check, "view", view, (char *)sql.data);
	texts_put(&check->classes->tables, table);
	texts_put(&check->classes->views, view);
	bytes_clear(&sql);
	for (size_t i = 0; i < count; i++)
		free(column[i].sql);
	return status < 0 ? -1 : 0;
}

static int expect_classes(struct schema_check *check)
{
	AUTOFREE char *classes = mem_printf("SELECT id, table_name FROM %s.event_class "
					    "WHERE table_name IS NOT NULL",
					    check->schema);
	AUTOFREE char *columns = mem_printf("SELECT column_name, type FROM "
					    "%s.event_column WHERE class = ? "
					    "ORDER BY position",
					    check->schema);
	int status;

	if (sqlite3_prepare_v2(check->db, columns, -1, &check->columns, NULL) !=
	    SQLITE_OK)
		return sql_error(check->db, check->place, check->error);
	if (class_asked_new(check->asked, &check->asked_columns) != SQLITE_OK)
		return sql_error(check->asked, check->place, check->error);
	status = each_row(check, check->db, classes, expect_class) ||
		 each_row(check, check->asked,
			  "SELECT name FROM sqlite_schema ORDER BY rowid", expect_asked);
	sqlite3_finalize(check->columns);
	sqlite3_finalize(check->asked_columns);
	return status;
}

/* Return true for an index, and for a user's own table that computes nothing when it is
 * read. */
static bool is_harmless(struct schema_check *check, const struct schema_item *item,
			const char *name)
{
	char *computed;
	bool is_table = strncmp(item->sql, "CREATE TABLE ", 13) == 0;

	if (!is_table)
		return strcmp(item->type, "index") == 0;
	if (name_is_reserved(name) && strncmp(name, "sqlite_", 7) != 0)
		return false;
	computed = sqlite3_mprintf("SELECT 1 FROM pragma_table_xinfo(%Q, %Q) "
				   "WHERE hidden <> 0",
				   name, check->schema);
	is_table = !query_has_row(check, computed);
	sqlite3_free(computed);
	return is_table;
}

static int check_schema(struct schema_check *check)
{
	AUTOFREE char *items =
	    mem_printf("SELECT type, name, sql FROM %s.sqlite_schema", check->schema);

	if (each_row(check, check->db, items, add_item) ||
	    each_row(check, check->reference, "SELECT type, name, sql FROM sqlite_schema",
		     expect_fixed) ||
	    expect_item(check, "table", "sqlite_stat1",
			"CREATE TABLE sqlite_stat1(tbl,idx,stat)") < 0 ||
	    expect_item(check, "table", "sqlite_stat4",
			"CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)") < 0 ||
	    expect_item(check, "table", "tunnel", "CREATE TABLE " TIMELINE_TUNNEL) < 0 ||
	    expect_classes(check))
		return -1;
	for (size_t i = 0; i < check->names.count; i++)
		if (!check->item[i].is_expected &&
		    !is_harmless(check, &check->item[i], texts_get(&check->names, i)))
			return *error_text(check->error)
				   ? -1
				   : error_schema(check, check->item[i].type,
						  texts_get(&check->names, i),
						  "is not one that ctmerge makes");
	return 0;
}

/* Check a short table. `row` has its name and the SQL condition that a value has a wrong
 * type. Return 0, or -1 with error. */
static int check_table(struct schema_check *check, sqlite3_stmt *row)
{
	const char *table = text_at(row, 0);
	AUTOFREE char *types = mem_printf("SELECT 1 FROM %s.%s WHERE %s", check->schema,
					  table, text_at(row, 1));
	/* A part refers to sources of other parts; processes are only joined. */
	AUTOFREE char *ids = mem_printf("SELECT 1 FROM pragma_foreign_key_check('%s', "
					"'%s') WHERE parent NOT IN ('source', 'process')",
					table, check->schema);

	if (query_has_row(check, types))
		return error_schema(check, "table", table, "has a value of a wrong type");
	if (query_has_row(check, ids))
		return error_schema(check, "table", table,
				    "has an id that does not resolve");
	return *error_text(check->error) ? -1 : 0;
}

/* The rows for check_table(): the tables that are short and that others refer to. */
static const char short_tables[] =
    "SELECT m.name, group_concat('typeof(\"' || c.name || '\") NOT IN (' || "
    "CASE c.type WHEN 'INTEGER' THEN '''integer''' WHEN 'TEXT' THEN '''text''' "
    "ELSE '''real'', ''integer''' END || iif(c.\"notnull\" OR c.pk, '', ', ''null''') "
    "|| ')', ' OR ') FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c "
    "WHERE c.type <> '' AND m.name IN ('node', 'source', 'clock', 'clock_pair', "
    "'event_class', 'event_column', 'metric', 'metric_item', 'recorded', 'process', "
    "'thread', 'problem') GROUP BY m.name";

sqlite3 *schema_reference(const char *place, struct error *error)
{
	sqlite3 *db = sql_open_memory(schema_tables, place, error);

	if (!db || sql_run(db, place, schema_indexes, error) == 0)
		return db;
	sqlite3_close(db);
	return NULL;
}

int schema_check(sqlite3 *db, sqlite3 *reference, const char *schema, const char *place,
		 struct timeline_classes *classes, struct error *error)
{
	struct schema_check check = {
	    .db = db,
	    .reference = reference,
	    .asked = sql_open_memory(schema_classes, place, error),
	    .schema = schema,
	    .place = place,
	    .classes = classes,
	    .error = error,
	};
	int status = !check.asked || check_schema(&check) ||
		     each_row(&check, check.reference, short_tables, check_table);

	for (size_t i = 0; i < check.names.count; i++) {
		free(check.item[i].type);
		free(check.item[i].sql);
	}
	free(check.item);
	texts_clear(&check.names);
	sqlite3_close(check.asked);
	return status ? -1 : 0;
}

void timeline_classes_clear(struct timeline_classes *classes)
{
	texts_clear(&classes->tables);
	texts_clear(&classes->views);
}
