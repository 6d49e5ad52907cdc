/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/sql.h"
#include "timeline/writer_private.h"

/*
 * The tables of the events and their index of stamps, as pages of the file. SQLite
 * makes the same tables later, empty, and the roots of ours replace theirs.
 */
enum { ROW_MOST = 1000000000 }; /* bytes that SQLite takes, unless built otherwise */

int writer_open_pages(struct timeline_writer *writer, struct error *error)
{
	int fd = open(writer->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0)
		return error_errno(error, writer->place);
	writer->pages = pages_new(fd, writer->place);
	writer->event = tree_new(writer->pages, false);
	writer->stamps = tree_new(writer->pages, true);
	return 0;
}

static int add_to_class(struct timeline_writer *writer, const struct writer_class *class,
			const struct timeline_event *event, int64_t id,
			struct error *error)
{
	const struct row_bytes *row = event->row;

	if (!row) {
		row = &writer->row;
		row_bytes_make(&writer->row, class->type, event->cell, class->columns);
	}
	if (row->size <= ROW_MOST)
		return tree_add(class->tree, id, row, error);
	return error_set(error, "%s: an event %s of %zu bytes, SQLite takes up to %d",
			 writer->place, class->name, row->size, ROW_MOST);
}

static int add_event(struct timeline_writer *writer, const struct timeline_event *event,
		     int64_t id, struct error *error)
{
	static const enum cell_type type[] = {CELL_INTEGER, CELL_INTEGER, CELL_INTEGER,
					      CELL_INTEGER, CELL_INTEGER, CELL_INTEGER};
	const struct writer_class *class = &writer->class[event->class - 1];
	const struct cell row[] = {
	    writer_integer(event->ts_ns),
	    writer_integer(event->node),
	    {.type = event->cpu < 0 ? CELL_NULL : CELL_INTEGER, .integer = event->cpu},
	    {.type = event->tid < 0 ? CELL_NULL : CELL_INTEGER, .integer = event->tid},
	    writer_integer(class->id),
	    {.type = event->source ? CELL_INTEGER : CELL_NULL, .integer = event->source},
	};

	row_bytes_make(&writer->row, type, row, sizeof(row) / sizeof(row[0]));
	if (tree_add(writer->event, id, &writer->row, error))
		return -1;
	row_bytes_make_key(&writer->row, event->ts_ns, id);
	if (tree_add(writer->stamps, 0, &writer->row, error))
		return -1;
	if (!class->tree || !(event->cell || event->row))
		return 0;
	return add_to_class(writer, class, event, id, error);
}

int writer_failed(struct timeline_writer *writer, struct error *error)
{
	if (!writer->failure)
		writer->failure = mem_strdup(error_text(error));
	return error_set(error, "%s", writer->failure);
}

int timeline_add_event(struct timeline_writer *writer, const struct timeline_event *event,
		       int64_t *id, struct error *error)
{
	int64_t number = ++writer->rows[TABLE_EVENT];

	assert(event->class >= 1 && event->class <= writer->classes);
	assert(!writer->db && event->ts_ns >= writer->last_ns);
	if (writer->failure || add_event(writer, event, number, error))
		return writer_failed(writer, error);
	writer->class[event->class - 1].events++;
	writer->last_ns = event->ts_ns;
	if (id)
		*id = number;
	return 0;
}

int writer_finish_pages(struct timeline_writer *writer, struct error *error)
{
	if (tree_finish(writer->event, error) || tree_finish(writer->stamps, error))
		return -1;
	for (size_t i = 0; i < writer->classes; i++)
		if (writer->class[i].tree && tree_finish(writer->class[i].tree, error))
			return -1;
	for (size_t i = 0; i < writer->sorteds; i++)
		if (tree_finish(writer->sorted[i].tree, error))
			return -1;
	return pages_flush(writer->pages, error);
}

/* The tables of the classes stand in the schema in the order of the classes. */
int writer_find_roots(struct timeline_writer *writer, struct writer_roots *roots,
		      struct error *error)
{
	static const char text[] = "SELECT name, rootpage FROM sqlite_schema "
				   "WHERE type IN ('table', 'index') ORDER BY rowid";
	sqlite3_stmt *query;
	size_t next = 0;
	int code;

	if (sqlite3_prepare_v2(writer->db, text, -1, &query, NULL) != SQLITE_OK)
		return sql_error(writer->db, writer->place, error);
	while ((code = sqlite3_step(query)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(query, 0);
		uint32_t page = (uint32_t)sqlite3_column_int64(query, 1);

		for (size_t i = 0; i < writer->sorteds; i++)
			if (strcmp(name, writer->sorted[i].name) == 0)
				roots->sorted[i] = page;
		if (strcmp(name, "event") == 0)
			roots->event = page;
		else if (strcmp(name, "event_ts_ns") == 0)
			roots->stamps = page;
		else if (next < writer->classes && writer->class[next].table &&
			 strcmp(name, writer->class[next].table) == 0)
			roots->class[next++] = page;
	}
	sqlite3_finalize(query);
	assert(code != SQLITE_DONE || next == (writer->payload ? writer->classes : 0));
	return code == SQLITE_DONE ? 0 : sql_error(writer->db, writer->place, error);
}

int writer_put_roots(struct timeline_writer *writer, const struct writer_roots *roots,
		     struct error *error)
{
	if (tree_write_root(writer->event, roots->event, error) ||
	    tree_write_root(writer->stamps, roots->stamps, error))
		return -1;
	for (size_t i = 0; i < writer->classes; i++)
		if (writer->class[i].tree &&
		    tree_write_root(writer->class[i].tree, roots->class[i], error))
			return -1;
	for (size_t i = 0; i < writer->sorteds; i++)
		if (tree_write_root(writer->sorted[i].tree, roots->sorted[i], error))
			return -1;
	return 0;
}

void writer_clear_pages(struct timeline_writer *writer)
{
	tree_free(writer->event);
	tree_free(writer->stamps);
	for (size_t i = 0; i < writer->sorteds; i++) {
		tree_free(writer->sorted[i].tree);
		free(writer->sorted[i].name);
		for (size_t k = 0; k < writer->sorted[i].columns; k++)
			free(writer->sorted[i].column[k]);
		for (size_t k = 0; k < SORTED_KEYS; k++)
			free(writer->sorted[i].text[k]);
	}
	pages_free(writer->pages);
	row_bytes_clear(&writer->row);
	free(writer->failure);
}
