/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/events.h"

#include <stdlib.h>

#include "base/intmap.h"
#include "base/mem.h"
#include "timeline/events_private.h"
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

struct events {
	struct timeline_reader *reader;
	const struct scope *scope;
	struct events_class_list class;
	size_t wishes;
	bool *recorded;                   /* a wish */
	bool (*has_field)[EVENTS_FIELDS]; /* a wish */
	int64_t range[2];                 /* first and last id of the scope */
	nsec_t at_ns;
	bool joined;
	sqlite3_stmt *event;         /* scanning: the events */
	struct intmap class_at;      /* scanning: place in `class`, by event_class.id */
	struct events_class **dense; /* the same for small ids */
	size_t densest;
	struct events_class **heap; /* joined: those with rows left, least `at` first */
	size_t heaped;
	bool advance; /* joined: heap[0] was handed out */
};

enum { DENSE = 4096 };

/* The first id from that time on, or the last one up to it; `none` if there is none. */
static int find_id(struct events *events, const char *sql, nsec_t ts_ns, int64_t none,
		   int64_t *id, struct error *error)
{
	const struct cell value = {.type = CELL_INTEGER, .integer = ts_ns};
	struct timeline_query *query = timeline_query_new(events->reader, sql, error);
	int more = -1;

	*id = none;
	if (query && !timeline_query_ask(query, &value, 1, error))
		more = timeline_query_next(query, error);
	if (more > 0)
		*id = timeline_query_row(query)[0].integer;
	timeline_query_free(query);
	return more < 0 ? -1 : 0;
}

static int find_range(struct events *events, struct error *error)
{
	if (find_id(events,
		    "SELECT id FROM event WHERE ts_ns >= ? ORDER BY ts_ns, id LIMIT 1",
		    events->scope->begin_ns, 1, &events->range[0], error) ||
	    find_id(events,
		    "SELECT id FROM event WHERE ts_ns <= ? "
		    "ORDER BY ts_ns DESC, id DESC LIMIT 1",
		    events->scope->end_ns, 0, &events->range[1], error))
		return -1;
	return 0;
}

static void note_recorded(struct events *events, size_t wishes)
{
	events->wishes = wishes;
	events->recorded = mem_zalloc((wishes + 1) * sizeof(*events->recorded));
	events->has_field = mem_zalloc((wishes + 1) * sizeof(*events->has_field));
	for (size_t i = 0; i < events->class.count; i++) {
		const struct events_class *class = &events->class.item[i];

		events->recorded[class->wish] = true;
		for (size_t k = 0; k < class->fields; k++)
			if (class->table && class->column[k])
				events->has_field[class->wish][k] = true;
	}
}

static bool is_less(const struct events *events, size_t a, size_t b)
{
	return events->heap[a]->at < events->heap[b]->at;
}

static void sift_down(struct events *events, size_t at)
{
	for (;;) {
		size_t least = at, child = 2 * at + 1;

		if (child < events->heaped && is_less(events, child, least))
			least = child;
		if (child + 1 < events->heaped && is_less(events, child + 1, least))
			least = child + 1;
		if (least == at)
			return;
		struct events_class *other = events->heap[at];

		events->heap[at] = events->heap[least];
		events->heap[least] = other;
		at = least;
	}
}

/* heap[0] goes to its next row, or leaves. */
static int heap_advance(struct events *events, struct error *error)
{
	int more = events_class_step(events->heap[0], events->reader, error);

	if (more < 0)
		return -1;
	if (more == 0)
		events->heap[0] = events->heap[--events->heaped];
	sift_down(events, 0);
	return 0;
}

static int open_joined(struct events *events, struct error *error)
{
	events->heap = mem_zalloc((events->class.count + 1) * sizeof(*events->heap));
	for (size_t i = 0; i < events->class.count; i++) {
		struct events_class *class = &events->class.item[i];
		int more;

		if (events_class_open(class, events->reader, true, events->range, error))
			return -1;
		more = events_class_step(class, events->reader, error);
		if (more < 0)
			return -1;
		if (more > 0)
			events->heap[events->heaped++] = class;
	}
	for (size_t i = events->heaped; i-- > 0;)
		sift_down(events, i);
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
	events->at_ns = scope->begin_ns;
	if (find_range(events, error) ||
	    events_classes_read(&events->class, reader, wish, wishes, &total, error)) {
		events_free(events);
		return NULL;
	}
	note_recorded(events, wishes);
	events->joined = are_few(events, total);
	status = events->joined ? open_joined(events, error) : open_scan(events, error);
	if (status) {
		events_free(events);
		return NULL;
	}
	return events;
}

bool events_recorded(const struct events *events, size_t wish)
{
	return events->recorded[wish];
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
static void fill_row(struct events *events, struct event_row *row,
		     struct events_class *class, sqlite3_stmt *statement, int column)
{
	row->ts_ns = sqlite3_column_int64(statement, column);
	row->node = sqlite3_column_int64(statement, column + 1);
	row->cpu = integer_or(statement, column + 2, -1);
	row->tid = integer_or(statement, column + 3, -1);
	row->tag = class->tag;
	row->class = class->name;
	row->field = class->cell;
	events->at_ns = row->ts_ns;
}

static int next_joined(struct events *events, struct event_row *row, struct error *error)
{
	for (;;) {
		struct events_class *class;

		if (events->advance && heap_advance(events, error))
			return -1;
		events->advance = events->heaped > 0;
		if (!events->advance)
			return 0;
		class = events->heap[0];
		row->id = class->at;
		fill_row(events, row, class, class->statement, 1);
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
		fill_row(events, row, class, events->event, 2);
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

double events_share(const struct events *events)
{
	double span = (double)nsec_sub(events->scope->end_ns, events->scope->begin_ns);
	double done = (double)nsec_sub(events->at_ns, events->scope->begin_ns);

	return span > 0 && done < span ? done / span : 1.0;
}

void events_free(struct events *events)
{
	if (!events)
		return;
	events_classes_clear(&events->class);
	sqlite3_finalize(events->event);
	intmap_clear(&events->class_at);
	free(events->dense);
	free(events->heap);
	free(events->recorded);
	free(events->has_field);
	free(events);
}
