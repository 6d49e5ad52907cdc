/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/events.h"

#include <fnmatch.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/heap.h"
#include "base/mem.h"
#include "timeline/names.h"
#include "timeline/query.h"
#include "timeline/reader_private.h"
#include "timeline/sql.h"

/*
 * There are two ways to the same rows. Many events: read `event` from one end to the
 * other, and step each class's table alongside, whose rows come in the same order. Few:
 * read the tables of the classes, each row with its event, and put them in order by a
 * heap. A step of `event` costs less than a row that is looked up in it (measured:
 * docs/benchmarks.md), so few is less than JOIN_SHARE of them.
 */
#define JOIN_SHARE 0.35

/* A wished class of the timeline, and where its fields are read. */
struct events_class {
	int64_t id, rows; /* of event_class */
	char *name;
	char *table; /* NULL: its fields were left out */
	size_t wish;
	int tag;
	size_t fields;               /* as many as its wish names */
	char *column[EVENTS_FIELDS]; /* of the table; NULL: none of that name */
	int place[EVENTS_FIELDS];    /* in the statement's rows; -1: none */
	sqlite3_stmt *statement;     /* NULL: nothing to be read, or all was */
	int64_t at;                  /* id of the row that the statement stands on */
	struct cell cell[EVENTS_FIELDS];
};

struct events_class_list {
	struct events_class *item;
	size_t count, room;
};

enum { EVENTS_JOINED = 4 };

/* NULL where there is none: of a class without fields, say. */
static char *text_or_null(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? mem_strndup(cell->bytes, cell->size) : NULL;
}

static size_t count_fields(const struct events_wish *wish)
{
	size_t count = 0;

	while (count < EVENTS_FIELDS && wish->field[count])
		count++;
	return count;
}

static void add_class(struct events_class_list *list, const struct cell *row,
		      const struct events_wish *wish, size_t wishes)
{
	char *name = text_or_null(&row[1]);
	size_t chosen = 0;

	while (name && chosen < wishes && fnmatch(wish[chosen].class, name, 0) != 0)
		chosen++;
	if (!name || chosen == wishes) {
		free(name);
		return;
	}
	list->item = mem_grow(list->item, list->count, &list->room, sizeof(*list->item));
	list->item[list->count] = (struct events_class){
	    .id = row[0].integer,
	    .name = name,
	    .table = text_or_null(&row[2]),
	    .rows = row[3].type == CELL_INTEGER ? row[3].integer : 0,
	    .wish = chosen,
	    .tag = wish[chosen].tag,
	    .fields = count_fields(&wish[chosen]),
	};
	for (size_t i = 0; i < EVENTS_FIELDS; i++)
		list->item[list->count].place[i] = -1;
	list->count++;
}

static void name_column(struct events_class *class, const struct events_wish *wish,
			const struct cell *row)
{
	bool of_context = row[2].type == CELL_INTEGER && row[2].integer;
	char *name = text_or_null(&row[0]);

	for (size_t i = 0; name && i < class->fields; i++) {
		const char *wanted = wish->field[i];
		bool in_context =
		    strncmp(wanted, EVENTS_CONTEXT, strlen(EVENTS_CONTEXT)) == 0;

		if (in_context)
			wanted += strlen(EVENTS_CONTEXT);
		if (!class->column[i] && in_context == of_context &&
		    strcmp(wanted, name) == 0)
			class->column[i] = text_or_null(&row[1]);
	}
	free(name);
}

static int read_columns(struct events_class *class, struct timeline_query *query,
			const struct events_wish *wish, struct error *error)
{
	const struct cell id = {.type = CELL_INTEGER, .integer = class->id};
	int more;

	if (timeline_query_ask(query, &id, 1, error))
		return -1;
	while ((more = timeline_query_next(query, error)) > 0)
		name_column(class, wish, timeline_query_row(query));
	return more;
}

/*
 * The classes that the wishes name, by id; a class that two wishes name is the
 * first one's. `total` becomes the number of events of all classes. 0, or -1.
 */
static int events_classes_read(struct events_class_list *list,
			       struct timeline_reader *reader,
			       const struct events_wish *wish, size_t wishes,
			       int64_t *total, struct error *error)
{
	struct timeline_query *classes = timeline_query_new(
	    reader, "SELECT id, name, table_name, events FROM event_class ORDER BY id",
	    error);
	struct timeline_query *columns = timeline_query_new(
	    reader,
	    "SELECT name, column_name, context FROM event_column WHERE class = ? "
	    "ORDER BY position",
	    error);
	int status = -1;

	*total = 0;
	if (!classes || !columns || timeline_query_ask(classes, NULL, 0, error))
		goto out;
	while ((status = timeline_query_next(classes, error)) > 0) {
		const struct cell *row = timeline_query_row(classes);

		*total += row[3].type == CELL_INTEGER ? row[3].integer : 0;
		add_class(list, row, wish, wishes);
	}
	for (size_t i = 0; i < list->count && !status; i++)
		status = read_columns(&list->item[i], columns, &wish[list->item[i].wish],
				      error);
out:
	timeline_query_free(classes);
	timeline_query_free(columns);
	return status;
}

/* SELECT c.id [, e.ts_ns, e.node, e.cpu, e.tid] [, c.FIELD]... */
static char *write_select(struct events_class *class, bool joined)
{
	char *text, *quoted = name_quote(class->table);
	int place = joined ? 1 + EVENTS_JOINED : 1;
	size_t size;
	FILE *sql = open_memstream(&text, &size);

	fputs("SELECT c.id", sql);
	if (joined)
		fputs(", e.ts_ns, e.node, e.cpu, e.tid", sql);
	for (size_t i = 0; i < class->fields; i++) {
		char *column;

		if (!class->column[i])
			continue;
		column = name_quote(class->column[i]);
		fprintf(sql, ", c.%s", column);
		free(column);
		class->place[i] = place++;
	}
	fprintf(sql, " FROM %s AS c", quoted);
	if (joined) /* CROSS: the class's rows outside, each event by its rowid */
		fputs(" CROSS JOIN event AS e ON e.id = c.id", sql);
	fputs(" WHERE c.id BETWEEN ? AND ? ORDER BY c.id", sql);
	fclose(sql);
	free(quoted);
	return text;
}

/*
 * Prepare the reading of a class's own rows of the ids from `first` to `last`;
 * `joined`: with the event's columns (EVENTS_JOINED of them, behind the id) in
 * front of the fields. 0, or -1.
 */
static int events_class_open(struct events_class *class, struct timeline_reader *reader,
			     bool joined, const int64_t range[2], struct error *error)
{
	bool any = joined;
	char *sql;
	int code;

	for (size_t i = 0; i < class->fields; i++)
		any = any || class->column[i];
	if (!any || !class->table)
		return 0;
	sql = write_select(class, joined);
	code = sqlite3_prepare_v3(reader->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
				  &class->statement, NULL);
	free(sql);
	if (code != SQLITE_OK)
		return sql_error(reader->db, reader->path, error);
	sqlite3_bind_int64(class->statement, 1, range[0]);
	sqlite3_bind_int64(class->statement, 2, range[1]);
	return 0;
}

/* Stand on the next row. 1, 0 at the end, or -1. */
static int events_class_step(struct events_class *class, struct timeline_reader *reader,
			     struct error *error)
{
	int code;

	if (!class->statement)
		return 0;
	code = sqlite3_step(class->statement);
	if (code == SQLITE_ROW) {
		class->at = sqlite3_column_int64(class->statement, 0);
		return 1;
	}
	if (code != SQLITE_DONE)
		return sql_error(reader->db, reader->path, error);
	sqlite3_finalize(class->statement);
	class->statement = NULL;
	return 0;
}

/* Fill the cells from the row that it stands on, or with NULL. */
static void events_class_fill(struct events_class *class, bool stands)
{
	for (size_t i = 0; i < class->fields; i++)
		class->cell[i] = stands && class->place[i] >= 0
				     ? sql_cell(class->statement, class->place[i])
				     : (struct cell){.type = CELL_NULL};
}

static void events_classes_clear(struct events_class_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct events_class *class = &list->item[i];

		sqlite3_finalize(class->statement);
		for (size_t k = 0; k < EVENTS_FIELDS; k++)
			free(class->column[k]);
		free(class->name);
		free(class->table);
	}
	free(list->item);
	*list = (struct events_class_list){0};
}

struct events {
	struct timeline_reader *reader;
	const struct scope *scope;
	struct events_class_list class;
	size_t wishes;
	bool (*has_field)[EVENTS_FIELDS]; /* a wish */
	int64_t range[2];                 /* first and last id of the scope */
	bool joined;
	sqlite3_stmt *event;         /* scanning: the events */
	struct intmap class_at;      /* scanning: place in `class`, by event_class.id */
	struct events_class **dense; /* the same for small ids */
	size_t densest;
	struct heap heap; /* joined: those with rows left, by `at` */
	bool advance;     /* joined: the first was handed out */
};

enum { DENSE = 4096 };

static void note_fields(struct events *events, size_t wishes)
{
	events->wishes = wishes;
	events->has_field = mem_zalloc((wishes + 1) * sizeof(*events->has_field));
	for (size_t i = 0; i < events->class.count; i++) {
		const struct events_class *class = &events->class.item[i];

		for (size_t k = 0; k < class->fields; k++)
			if (class->table && class->column[k])
				events->has_field[class->wish][k] = true;
	}
}

/* The first class of the heap goes to its next row, or leaves. */
static int heap_advance(struct events *events, struct error *error)
{
	struct events_class *class = &events->class.item[events->heap.item[0].item];
	int more = events_class_step(class, events->reader, error);

	if (more < 0)
		return -1;
	if (more)
		heap_replace(&events->heap, class->at);
	else
		heap_pop(&events->heap);
	return 0;
}

static int open_joined(struct events *events, struct error *error)
{
	for (size_t i = 0; i < events->class.count; i++) {
		struct events_class *class = &events->class.item[i];
		int more;

		if (events_class_open(class, events->reader, true, events->range, error))
			return -1;
		more = events_class_step(class, events->reader, error);
		if (more < 0)
			return -1;
		if (more > 0)
			heap_push(&events->heap, class->at, (uint32_t)i);
	}
	return 0;
}

static int open_scan(struct events *events, struct error *error)
{
	struct timeline_reader *reader = events->reader;

	events->dense = mem_zalloc(DENSE * sizeof(*events->dense));
	for (size_t i = 0; i < events->class.count; i++) {
		struct events_class *class = &events->class.item[i];

		if (events_class_open(class, reader, false, events->range, error) ||
		    events_class_step(class, reader, error) < 0)
			return -1;
		if (class->id >= 0 && class->id < DENSE)
			events->dense[class->id] = class;
		else
			intmap_put(&events->class_at, (uint64_t) class->id, (int64_t)i);
	}
	if (sqlite3_prepare_v3(reader->db,
			       "SELECT class, id, ts_ns, node, cpu, tid FROM event "
			       "WHERE id BETWEEN ? AND ? ORDER BY id",
			       -1, SQLITE_PREPARE_PERSISTENT, &events->event,
			       NULL) != SQLITE_OK)
		return sql_error(reader->db, reader->path, error);
	sqlite3_bind_int64(events->event, 1, events->range[0]);
	sqlite3_bind_int64(events->event, 2, events->range[1]);
	return 0;
}

/* Whether all classes have a table, and their rows are few among all events. */
static bool are_few(const struct events *events, int64_t total)
{
	int64_t rows = 0;

	for (size_t i = 0; i < events->class.count; i++) {
		if (!events->class.item[i].table)
			return false;
		rows += events->class.item[i].rows;
	}
	return (double)rows < JOIN_SHARE * (double)total;
}

struct events *events_new(struct timeline_reader *reader, const struct scope *scope,
			  const struct events_wish *wish, size_t wishes,
			  struct error *error)
{
	struct events *events = mem_zalloc(sizeof(*events));
	int64_t total;
	int status;

	events->reader = reader;
	events->scope = scope;
	if (scope_event_ids(scope, reader, events->range, error) ||
	    events_classes_read(&events->class, reader, wish, wishes, &total, error)) {
		events_free(events);
		return NULL;
	}
	note_fields(events, wishes);
	events->joined = are_few(events, total);
	status = events->joined ? open_joined(events, error) : open_scan(events, error);
	if (status) {
		events_free(events);
		return NULL;
	}
	return events;
}

bool events_has_field(const struct events *events, size_t wish, size_t field)
{
	return events->has_field[wish][field];
}

static int64_t integer_or(sqlite3_stmt *statement, int column, int64_t none)
{
	if (sqlite3_column_type(statement, column) == SQLITE_NULL)
		return none;
	return sqlite3_column_int64(statement, column);
}

/* `column` is the one of ts_ns; node, cpu and tid are behind it. */
static void fill_row(struct event_row *row, struct events_class *class,
		     sqlite3_stmt *statement, int column)
{
	row->ts_ns = sqlite3_column_int64(statement, column);
	row->node = sqlite3_column_int64(statement, column + 1);
	row->cpu = integer_or(statement, column + 2, -1);
	row->tid = integer_or(statement, column + 3, -1);
	row->tag = class->tag;
	row->class = class->name;
	row->field = class->cell;
}

static int next_joined(struct events *events, struct event_row *row, struct error *error)
{
	for (;;) {
		struct events_class *class;

		if (events->advance && heap_advance(events, error))
			return -1;
		events->advance = events->heap.count > 0;
		if (!events->advance)
			return 0;
		class = &events->class.item[events->heap.item[0].item];
		row->id = class->at;
		fill_row(row, class, class->statement, 1);
		if (!events->scope->all_nodes &&
		    !scope_has_node(events->scope, row->node))
			continue;
		events_class_fill(class, true);
		return 1;
	}
}

static struct events_class *class_of(const struct events *events, int64_t id)
{
	int64_t at;

	if (id >= 0 && id < DENSE)
		return events->dense[id];
	return intmap_get(&events->class_at, (uint64_t)id, &at) ? &events->class.item[at]
								: NULL;
}

/* The class's own row of that id; an event may be without one. */
static int find_fields(struct events *events, struct events_class *class, int64_t id,
		       struct error *error)
{
	int more = class->statement != NULL;

	while (more > 0 && class->at < id)
		more = events_class_step(class, events->reader, error);
	if (more >= 0)
		events_class_fill(class, more > 0 && class->at == id);
	return more < 0 ? -1 : 0;
}

static int next_scanned(struct events *events, struct event_row *row, struct error *error)
{
	struct timeline_reader *reader = events->reader;
	int code;

	while ((code = sqlite3_step(events->event)) == SQLITE_ROW) {
		struct events_class *class =
		    class_of(events, sqlite3_column_int64(events->event, 0));

		if (!class)
			continue;
		row->id = sqlite3_column_int64(events->event, 1);
		fill_row(row, class, events->event, 2);
		if (!events->scope->all_nodes &&
		    !scope_has_node(events->scope, row->node))
			continue;
		return find_fields(events, class, row->id, error) ? -1 : 1;
	}
	if (code != SQLITE_DONE)
		return sql_error(reader->db, reader->path, error);
	sqlite3_reset(events->event);
	sqlite3_bind_int64(events->event, 2, events->range[0] - 1); /* stay at the end */
	return 0;
}

int events_next(struct events *events, struct event_row *row, struct error *error)
{
	return events->joined ? next_joined(events, row, error)
			      : next_scanned(events, row, error);
}

void events_free(struct events *events)
{
	if (!events)
		return;
	events_classes_clear(&events->class);
	sqlite3_finalize(events->event);
	intmap_clear(&events->class_at);
	free(events->dense);
	heap_clear(&events->heap);
	free(events->has_field);
	free(events);
}

struct wishing {
	struct events_wishes *wishes;
	const struct text_list *globs;
};

static bool is_wanted(const struct text_list *globs, const char *class)
{
	for (size_t i = 0; i < globs->count; i++)
		if (fnmatch(globs->item[i], class, 0) == 0)
			return true;
	return globs->count == 0;
}

/* Takes the name. */
static struct events_wish *wish_of(struct events_wishes *wishes, char *class)
{
	for (size_t i = 0; i < wishes->count; i++)
		if (strcmp(wishes->item[i].class, class) == 0) {
			free(class);
			return &wishes->item[i];
		}
	wishes->item =
	    mem_grow(wishes->item, wishes->count, &wishes->room, sizeof(*wishes->item));
	wishes->item[wishes->count] =
	    (struct events_wish){.class = class, .tag = (int)wishes->count};
	return &wishes->item[wishes->count++];
}

/* A row: class, field or NULL, whether it is of the context. */
static int add_field(void *own, const struct cell *row, struct error *error)
{
	const struct wishing *wishing = own;
	char *class = cell_text(&row[0]), *field;
	struct events_wish *wish;
	size_t n = 0;

	if (!is_wanted(wishing->globs, class)) {
		free(class);
		return 0;
	}
	wish = wish_of(wishing->wishes, class);
	if (row[1].type != CELL_TEXT)
		return 0;
	field = mem_printf("%s%.*s", cell_integer(&row[2], 0) ? EVENTS_CONTEXT : "",
			   (int)row[1].size, row[1].bytes);
	while (n < EVENTS_FIELDS && wish->field[n] && strcmp(wish->field[n], field) != 0)
		n++;
	if (n == EVENTS_FIELDS) {
		free(field);
		return error_set(error, "%s: more than %d fields", wish->class,
				 EVENTS_FIELDS);
	}
	if (wish->field[n])
		free(field);
	else
		wish->field[n] = field;
	return 0;
}

int events_wish_all(struct events_wishes *wishes, struct timeline_reader *reader,
		    const struct text_list *globs, struct error *error)
{
	struct wishing wishing = {wishes, globs};

	return query_rows(reader,
			  "SELECT c.name, f.name, f.context FROM event_class AS c LEFT "
			  "JOIN event_column AS f ON f.class = c.id"
			  " ORDER BY c.id, f.context DESC, f.position",
			  NULL, add_field, &wishing, error);
}

void events_wishes_clear(struct events_wishes *wishes)
{
	for (size_t i = 0; i < wishes->count; i++) {
		for (size_t k = 0; k < EVENTS_FIELDS; k++)
			free((char *)wishes->item[i].field[k]);
		free((char *)wishes->item[i].class);
	}
	free(wishes->item);
	*wishes = (struct events_wishes){.item = NULL};
}
