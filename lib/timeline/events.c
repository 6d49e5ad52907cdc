/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/events.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "timeline/reader.h"

/*
 * The rows of `event` are read in order of their ids, and the table of each class is read
 * alongside in the same order. If only a few events are selected, SQLite looks up the
 * rows of the classes' tables in `event` and merges them. Reading a row of `event` is
 * faster than looking one up (docs/benchmarks.md), so "a few" means less than JOIN_SHARE
 * of all events, in at most MOST_JOINED classes.
 */
#define JOIN_SHARE 0.35
#define EVENT      " e.ts_ns, e.node, e.cpu, e.tid, e.class FROM "

enum { MOST_JOINED = 32 };

struct events_class {
	int64_t id; /* event_class.id */
	char *name;
	struct events_field *field;
	size_t fields;
	struct timeline_query *query; /* its rows; NULL if there are no more */
	const struct cell *cell;      /* the current row: id, fields; or NULL */
};

struct events {
	struct timeline_reader *reader;
	const struct scope *scope;
	const struct text_list *globs; /* valid until events_new() returns */
	struct cell range[2];          /* first and last event id of the scope */
	struct events_class *class;
	size_t classes, capacity;
	struct intmap at;             /* event_class.id to its index */
	struct bytes joined;          /* SQL of all classes joined with `event` */
	bool has_tables;              /* all classes have tables */
	int64_t wanted, total;        /* number of events of these classes, and of all */
	struct timeline_query *query; /* query on `event` */
};

static int add_field(void *context, const struct cell *row, struct error *error)
{
	struct events_class *class = context;

	(void)error;
	class->field =
	    mem_realloc(class->field, class->fields + 1, sizeof(*class->field));
	class->field[class->fields++] =
	    (struct events_field){cell_text(&row[0]), cell_integer(&row[1], 0)};
	return 0;
}

/* Read the next row of a class. Return 0, or -1 with error. */
static int step_class(struct events_class *class, struct error *error)
{
	int more = timeline_query_next(class->query, error);

	class->cell = more > 0 ? timeline_query_row(class->query) : NULL;
	if (more)
		return more < 0 ? -1 : 0;
	timeline_query_free(class->query);
	class->query = NULL;
	return 0;
}

/* Add a class. The row has its id, name, number of events, and two SELECTs, of its rows
 * and of its rows joined with `event`, which are NULL if it has no table. */
static int add_class(void *context, const struct cell *row, struct error *error)
{
	struct events *events = context;
	struct events_class *class;
	char *name = cell_text(&row[1]);

	events->total += cell_integer(&row[2], 0);
	if (events->globs->count && !text_list_matches(events->globs, name)) {
		free(name);
		return 0;
	}
	events->wanted += cell_integer(&row[2], 0);
	intmap_put(&events->at, (uint64_t)row[0].integer, (int64_t)events->classes);
	class = MEM_NEXT(events->class, events->classes, events->capacity);
	*class = (struct events_class){.id = row[0].integer, .name = name};
	if (row[3].type != CELL_TEXT) {
		events->has_tables = false;
		return 0;
	}
	bytes_add_text(&events->joined, events->joined.size ? " UNION ALL " : "");
	bytes_add(&events->joined, row[4].bytes, row[4].size);
	class->query = query_start(events->reader, row[3].bytes, events->range, error);
	if (!class->query || step_class(class, error))
		return -1;
	return query_rows(events->reader,
			  "SELECT name, context FROM event_column WHERE class = ? "
			  "ORDER BY context DESC, position",
			  row, add_field, class, error);
}

static int open_events(struct events *events, struct error *error)
{
	bool is_few = events->has_tables && events->classes <= MOST_JOINED &&
		      (double)events->wanted < JOIN_SHARE * (double)events->total;
	struct bytes *sql = &events->joined;

	if (!is_few) {
		sql->size = 0;
		bytes_add_text(sql, "SELECT e.id," EVENT
				    "event AS e WHERE e.id BETWEEN ?1 AND ?2");
	}
	bytes_add_text(sql, " ORDER BY 1");
	bytes_add_byte(sql, '\0');
	events->query =
	    query_start(events->reader, (const char *)sql->data, events->range, error);
	return events->query ? 0 : -1;
}

struct events *events_new(struct timeline_reader *reader, const struct scope *scope,
			  const struct text_list *globs, struct error *error)
{
	static const char sql[] =
	    "SELECT id, name, events, CASE WHEN table_name IS NOT NULL THEN printf("
	    "'SELECT id%s FROM \"%w\" WHERE id BETWEEN ?1 AND ?2 ORDER BY id', "
	    "coalesce((SELECT group_concat(part, '') FROM (SELECT printf(', \"%w\"', "
	    "column_name) AS part FROM event_column WHERE class = c.id "
	    "ORDER BY context DESC, position)), ''), table_name) END, "
	    /* CROSS makes the class's table the outer loop. */
	    "printf('SELECT c.id," EVENT "\"%w\" AS c CROSS JOIN event AS e ON "
	    "e.id = c.id WHERE c.id BETWEEN ?1 AND ?2', table_name) "
	    "FROM event_class AS c ORDER BY id";
	struct events *events = mem_zalloc(sizeof(*events));
	int64_t range[2];

	events->reader = reader;
	events->scope = scope;
	events->globs = globs;
	events->has_tables = true;
	if (scope_event_ids(scope, reader, range, error))
		goto failed;
	for (int i = 0; i < 2; i++)
		events->range[i] = cell_of_integer(range[i]);
	if (query_rows(reader, sql, NULL, add_class, events, error) ||
	    (!events->classes && globs->count) || open_events(events, error))
		goto failed;
	return events;
failed:
	events_free(events);
	return NULL;
}

/* Find the class's row with the event's id; an event may have none. Return 1, or -1 with
 * error. */
static int find_cells(struct events_class *class, struct event_row *row,
		      struct error *error)
{
	while (class->cell && class->cell->integer < row->id)
		if (step_class(class, error))
			return -1;
	row->fields = class->cell && class->cell->integer == row->id ? class->fields : 0;
	row->cell = row->fields ? class->cell + 1 : NULL;
	row->field = class->field;
	row->class = class->name;
	return 1;
}

int events_next(struct events *events, struct event_row *row, struct error *error)
{
	int more = 0;

	while (events->query && (more = timeline_query_next(events->query, error)) > 0) {
		const struct cell *cell = timeline_query_row(events->query);
		int64_t at;

		if (!intmap_get(&events->at, (uint64_t)cell[5].integer, &at) ||
		    (!events->scope->all_nodes &&
		     !scope_has_node(events->scope, cell[2].integer)))
			continue;
		row->id = cell[0].integer;
		row->ts_ns = cell[1].integer;
		row->node = cell[2].integer;
		row->cpu = cell_integer(&cell[3], -1);
		row->tid = cell_integer(&cell[4], -1);
		return find_cells(&events->class[at], row, error);
	}
	timeline_query_free(events->query); /* another step would start again */
	events->query = NULL;
	return more;
}

void events_free(struct events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->classes; i++) {
		struct events_class *class = &events->class[i];

		timeline_query_free(class->query);
		for (size_t k = 0; k < class->fields; k++)
			free(class->field[k].name);
		free(class->field);
		free(class->name);
	}
	timeline_query_free(events->query);
	intmap_clear(&events->at);
	bytes_clear(&events->joined);
	free(events->class);
	free(events);
}
