/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "timeline/reader.h"

/* The error of this thread's last open(2) that could create a file, or 0. SQLite tries to
 * open the file without creating it then, and so only knows that it does not exist. We
 * never let SQLite create a database: the file is a temporary one. */
static _Thread_local int create_errno;

/* The error of this thread's last pread(2) that failed, or 0. SQLite may report the page
 * as damaged, and make other calls before it ends. */
static _Thread_local int read_errno;

static ssize_t read_page(int fd, void *bytes, size_t size, off_t at)
{
	ssize_t got = pread(fd, bytes, size, at);

	if (got < 0 && errno != EINTR)
		read_errno = errno;
	return got;
}

static int open_file(const char *path, int flags, int mode)
{
	int fd = open(path, flags, mode);

	if (flags & O_CREAT)
		create_errno = fd < 0 ? errno : 0;
	return fd;
}

static void set_up(void)
{
	sqlite3_vfs *vfs;

	/* SQLite counts allocations under a lock otherwise; refused once it is in use. */
	if (sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) != SQLITE_OK)
		return;
	vfs = sqlite3_vfs_find(NULL);
	if (!vfs || vfs->iVersion < 3)
		return;
	vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_file);
	vfs->xSetSystemCall(vfs, "pread", (sqlite3_syscall_ptr)read_page);
	vfs->xSetSystemCall(vfs, "pread64", (sqlite3_syscall_ptr)read_page);
}

int sql_cause(sqlite3 *db, struct error *error)
{
	int code = db ? sqlite3_errcode(db) : SQLITE_NOMEM;
	/* A failed commit leaves the cause in errno only. */
	int left = errno, cause = db ? sqlite3_system_errno(db) : 0;

	if (code == SQLITE_FULL)
		return error_set(error, "no space left for the file");
	if (code == SQLITE_CANTOPEN && cause == ENOENT && create_errno)
		return error_set(error, "a temporary file of SQLite: %s",
				 strerror(create_errno));
	if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && (cause || left))
		return error_set(error, "%s", strerror(cause ? cause : left));
	if (code == SQLITE_CORRUPT && read_errno)
		return error_set(error, "%s", strerror(read_errno));
	return error_set(error, "%s", db ? sqlite3_errmsg(db) : "out of memory");
}

int sql_error(sqlite3 *db, const char *place, struct error *error)
{
	sql_cause(db, error);
	return error_prefix(error, "%s", place);
}

int sql_run(sqlite3 *db, const char *place, const char *text, struct error *error)
{
	errno = 0;
	if (sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return sql_error(db, place, error);
}

sqlite3 *sql_open(const char *path, int flags, struct error *error)
{
	/* ":memory:", "file:..." and "" have special meanings to SQLite. */
	AUTOFREE char *name = mem_printf("%s%s", *path == '/' ? "" : "./", path);
	sqlite3 *db;
	int status;

	set_up();
	status = sqlite3_open_v2(name, &db, flags, NULL);
	if (status == SQLITE_OK)
		return db;
	sql_error(db, path, error);
	sqlite3_close(db);
	return NULL;
}

sqlite3 *sql_open_memory(const char *text, const char *place, struct error *error)
{
	sqlite3 *db;

	set_up();
	if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
	    sql_run(db, place, text, error) == 0)
		return db;
	if (!*error_text(error))
		sql_error(db, place, error);
	sqlite3_close(db);
	return NULL;
}

static int bind_cell(sqlite3_stmt *statement, int at, const struct cell *value)
{
	switch (value->type) {
	case CELL_NULL:
		break;
	case CELL_INTEGER:
		return sqlite3_bind_int64(statement, at, value->integer);
	case CELL_REAL:
		return sqlite3_bind_double(statement, at, value->real);
	case CELL_TEXT: /* NULL for bytes would make an SQL NULL */
		return sqlite3_bind_text64(statement, at, value->size ? value->bytes : "",
					   value->size, SQLITE_TRANSIENT, SQLITE_UTF8);
	case CELL_BLOB:
		return sqlite3_bind_blob64(statement, at, value->size ? value->bytes : "",
					   value->size, SQLITE_TRANSIENT);
	}
	return sqlite3_bind_null(statement, at);
}

int sql_bind(sqlite3_stmt *statement, int at, const struct cell *value)
{
	int code = bind_cell(statement, at, value);

	if (code == SQLITE_NOMEM) /* the parameter is NULL */
		mem_exit();
	return code;
}

/* Get the value once, instead of by several calls: no other thread uses the connection.
 */
struct cell sql_cell(sqlite3_stmt *statement, int column)
{
	return sql_value_cell(sqlite3_column_value(statement, column));
}

struct cell sql_value_cell(sqlite3_value *value)
{
	struct cell cell = {.type = CELL_NULL};

	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		cell.type = CELL_INTEGER;
		cell.integer = sqlite3_value_int64(value);
		break;
	case SQLITE_FLOAT:
		cell.type = CELL_REAL;
		cell.real = sqlite3_value_double(value);
		break;
	case SQLITE_TEXT:
		cell.type = CELL_TEXT;
		cell.bytes = (const char *)sqlite3_value_text(value);
		if (!cell.bytes)
			mem_exit();
		break;
	case SQLITE_BLOB:
		cell.type = CELL_BLOB;
		cell.bytes = sqlite3_value_blob(value);
		break;
	}
	if (cell_has_bytes(&cell))
		cell.size = (uint32_t)sqlite3_value_bytes(value);
	return cell;
}

const char *sql_text(sqlite3_stmt *statement, int column)
{
	bool is_null = sqlite3_column_type(statement, column) == SQLITE_NULL;
	const char *text = (const char *)sqlite3_column_text(statement, column);

	if (!text && !is_null)
		mem_exit();
	return text;
}
