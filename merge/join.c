/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/join.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/version.h"
#include "merge/part.h"
#include "timeline/query.h"
#include "timeline/writer.h"

#define JOIN_LIST ".ctmerge-tables"
#define JOIN_MARK "_SUCCESS"

struct joined_part {
	const char *path;
	struct timeline_reader *db;
	int64_t node; /* node.id */
	char *name;   /* of the node */
	char *clocks; /* fingerprint of the clock map */
};

/* A class of events of any part. */
struct joined_class {
	int64_t id, events;
	nsec_t begin_ns; /* its first event; NSEC_MAX: it has no table */
	size_t part;     /* which has it */
	char *kind, *name;
	struct timeline_column *column;
	size_t columns;
};

struct join {
	const struct join_wish *wish;
	struct error *error;
	struct joined_part *part;
	size_t parts;
	struct joined_class *class;
	size_t classes, class_room;
	struct intmap class_at; /* by id */
	size_t reading;         /* which part */
	struct part_output output;
	struct output file; /* the timeline of what stands once */
	struct timeline_reader *all;
};

/* Rows of what each part has of the others' messages. */
static const char pair_sql[] =
    "INSERT INTO half SELECT id, id >> 40, src_node, dst_node, row_number() OVER "
    "(PARTITION BY id >> 40, src_node, dst_node ORDER BY id) FROM message "
    "WHERE src_node <> dst_node";

static const char differ_sql[] =
    "SELECT s.name, r.name FROM (SELECT src, dst, count(*) FILTER (WHERE node = src) AS "
    "sent, count(*) FILTER (WHERE node = dst) AS received FROM half GROUP BY src, dst) "
    "JOIN node AS s ON s.id = src JOIN node AS r ON r.id = dst WHERE sent <> received";

/* What each end tells goes to the receiver's row, and to the server's. */
static const char *const resolve_sql[] = {
    "INSERT INTO pair SELECT s.id, r.id FROM half AS s JOIN half AS r ON r.node = s.dst "
    "AND r.src = s.src AND r.dst = s.dst AND r.place = s.place WHERE s.node = s.src",
    "UPDATE message SET (send_event, send_by, send_tid, send_first_recv, send_last_recv, "
    "send_assumed) = (SELECT s.send_event, s.send_by, s.send_tid, s.send_first_recv, "
    "s.send_last_recv, s.send_assumed FROM message AS s WHERE s.id = pair.sent) "
    "FROM pair WHERE message.id = pair.received",
    "UPDATE request SET (client_tid, client_by_kernel, request_event) = "
    "(SELECT c.client_tid, c.client_by_kernel, c.request_event FROM request AS c "
    "WHERE c.id = pair.sent) FROM pair WHERE request.id = pair.received",
    "DELETE FROM request WHERE id IN (SELECT sent FROM pair)",
    "UPDATE request SET last_message = pair.received FROM pair "
    "WHERE request.last_message = pair.sent",
    "DELETE FROM message WHERE id IN (SELECT sent FROM pair) "
    "OR (send_event IS NULL AND recv_event IS NULL)",
    /* What one end knows to be a tunnel is none of the other's requests. */
    "DELETE FROM request WHERE EXISTS (SELECT 1 FROM tunnel AS t "
    "WHERE t.protocol = request.protocol "
    "AND ((t.a = client AND t.a_address = client_address AND t.a_port IS client_port "
    "AND t.b = server AND t.b_address = server_address AND t.b_port IS server_port) "
    "OR (t.b = client AND t.b_address = client_address AND t.b_port IS client_port "
    "AND t.a = server AND t.a_address = server_address AND t.a_port IS server_port)))",
    "INSERT INTO meta SELECT 'tunnel_messages', sum(messages) FROM "
    "(SELECT DISTINCT * FROM tunnel) HAVING count(*) > 0",
    "DELETE FROM clock_pair WHERE a NOT IN (SELECT id FROM source) "
    "OR b NOT IN (SELECT id FROM source)",
};

/* How the rows of the short tables of parts come together. */
static const struct {
	const char *table, *select, *how;
} short_tables[] = {
    {"meta",
     "SELECT key, value FROM meta WHERE key NOT LIKE 'part.%' "
     "AND key NOT IN ('version', 'command', 'tunnel_messages')",
     "INSERT OR IGNORE"},
    {"node", "SELECT * FROM node", "INSERT"},
    {"source", "SELECT * FROM source", "INSERT"},
    {"clock", "SELECT * FROM clock", "INSERT"},
    {"clock_bound", "SELECT * FROM clock_bound", "INSERT"},
    {"clock_pair", "SELECT * FROM clock_pair", "INSERT"},
    {"metric", "SELECT * FROM metric", "INSERT OR IGNORE"},
    {"metric_item", "SELECT * FROM metric_item", "INSERT OR IGNORE"},
    {"message", "SELECT * FROM message", "INSERT"},
    {"request", "SELECT * FROM request", "INSERT"},
    {"told", "SELECT source, kind, count, text, place FROM problem ORDER BY id",
     "INSERT"},
    {"tunnel", "SELECT * FROM tunnel", "INSERT"},
};

static const char *const begin_sql[] = {
    "DROP INDEX message_send_event",
    "DROP INDEX message_recv_event",
    "CREATE TEMP TABLE told (source, kind, count, text, place)",
    /* With types, or no index serves the comparison with a request's columns. */
    "CREATE TEMP TABLE tunnel (protocol TEXT, a INTEGER, a_address TEXT, a_port INTEGER, "
    "b INTEGER, b_address TEXT, b_port INTEGER, messages INTEGER)",
    "CREATE INDEX temp.tunnel_ends ON tunnel (a, b, a_address, b_address, a_port, "
    "b_port, "
    "protocol)",
    "CREATE TEMP TABLE half (id, node, src, dst, place, "
    "PRIMARY KEY (node, src, dst, place)) WITHOUT ROWID",
    "CREATE TEMP TABLE pair (sent INTEGER PRIMARY KEY, received INTEGER)",
};

static int run_all(struct join *join, const char *const *sql, size_t count)
{
	int status = 0;

	for (size_t i = 0; i < count && !status; i++)
		status = part_run(join->all, sql[i], NULL, 0, join->error);
	return status;
}

static int take_mark(void *context, const struct cell *row, struct error *error)
{
	struct joined_part *part = context;

	(void)error;
	part->node = cell_integer(&row[0], 0);
	part->clocks = cell_text(&row[1]);
	part->name = cell_text(&row[2]);
	return 0;
}

/* One part's file is open at a time: there may be many. */
static int open_db(const struct join *join, struct joined_part *part)
{
	char *path = mem_printf("%s/%s", part->path, PART_DB);

	part->db = timeline_reader_open(path, join->error);
	free(path);
	return part->db ? 0 : -1;
}

static void close_db(struct joined_part *part)
{
	timeline_reader_free(part->db);
	part->db = NULL;
}

static int open_part(struct join *join, struct joined_part *part, const char *path)
{
	static const char sql[] =
	    "SELECT n.value, c.value, node.name FROM meta AS n, meta AS c, node "
	    "WHERE n.key = 'part.node' AND c.key = 'part.clocks' AND node.id = n.value";
	int status;

	part->path = path;
	output_protect(path);
	status = open_db(join, part);
	if (!status)
		status = query_rows(part->db, sql, NULL, take_mark, part, join->error);
	if (!status && !part->name)
		status = error_set(
		    join->error,
		    "%s: no part, want a directory that ctmerge --part wrote", path);
	close_db(part);
	return status;
}

static int compare_parts(const void *a, const void *b)
{
	const struct joined_part *p = a, *q = b;

	return (p->node > q->node) - (p->node < q->node);
}

static int open_parts(struct join *join)
{
	const struct text_list *paths = join->wish->parts;

	join->part = mem_zalloc(paths->count * sizeof(*join->part));
	for (; join->parts < paths->count; join->parts++)
		if (open_part(join, &join->part[join->parts], paths->item[join->parts])) {
			join->parts++;
			return -1;
		}
	qsort(join->part, join->parts, sizeof(*join->part), compare_parts);
	for (size_t i = 1; i < join->parts; i++) {
		const struct joined_part *one = &join->part[i - 1], *next = one + 1;

		if (strcmp(one->clocks, next->clocks) != 0)
			return error_set(
			    join->error,
			    "%s: of another clock map than %s, want parts of "
			    "one run of ctsync",
			    next->path, one->path);
		if (one->node == next->node && strcmp(one->name, next->name) == 0)
			return error_set(join->error, "%s: of node %s, as %s is",
					 next->path, next->name, one->path);
		if (one->node == next->node)
			return error_set(
			    join->error,
			    "%s: %s and %s, which the clock map lacks, come to "
			    "one number, want another name for one",
			    next->path, one->name, next->name);
	}
	return 0;
}

static enum cell_type type_of(const struct cell *cell)
{
	static const char *const names[] = {[CELL_INTEGER] = "INTEGER",
					    [CELL_REAL] = "REAL",
					    [CELL_TEXT] = "TEXT",
					    [CELL_BLOB] = "BLOB"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i] && cell->size == strlen(names[i]) &&
		    memcmp(cell->bytes, names[i], cell->size) == 0)
			return (enum cell_type)i;
	return CELL_NULL;
}

static int take_column(void *context, const struct cell *row, struct error *error)
{
	struct joined_class *class = context;

	(void)error;
	class->column =
	    mem_realloc(class->column, class->columns + 1, sizeof(*class->column));
	class->column[class->columns++] = (struct timeline_column){
	    cell_text(&row[0]), type_of(&row[1]), cell_integer(&row[2], 0)};
	return 0;
}

static int take_class(void *context, const struct cell *row, struct error *error)
{
	struct join *join = context;
	int64_t id = row[0].integer, events = row[3].integer, at;
	nsec_t begin_ns = cell_integer(&row[4], NSEC_MAX);
	struct joined_class *class;

	if (intmap_get(&join->class_at, (uint64_t)id, &at)) {
		class = &join->class[at];
		class->events += events;
		if (begin_ns < class->begin_ns)
			class->begin_ns = begin_ns;
		return 0;
	}
	join->class =
	    mem_grow(join->class, join->classes, &join->class_room, sizeof(*join->class));
	intmap_put(&join->class_at, (uint64_t)id, (int64_t)join->classes);
	class = &join->class[join->classes++];
	*class = (struct joined_class){.id = id,
				       .kind = cell_text(&row[1]),
				       .name = cell_text(&row[2]),
				       .events = events,
				       .begin_ns = begin_ns,
				       .part = join->reading};
	return query_rows(join->part[join->reading].db,
			  "SELECT name, type, context FROM event_column WHERE class = ? "
			  "ORDER BY position",
			  row, take_column, class, error);
}

/* As a merge of the whole run meets them. */
static int compare_classes(const void *a, const void *b)
{
	const struct joined_class *p = a, *q = b;

	if (p->begin_ns != q->begin_ns)
		return p->begin_ns < q->begin_ns ? -1 : 1;
	if (p->part != q->part)
		return p->part < q->part ? -1 : 1;
	return p->id < q->id ? -1 : p->id > q->id;
}

static int read_classes(struct join *join)
{
	static const char sql[] =
	    "SELECT c.id, c.kind, c.name, c.events, b.ts_ns FROM event_class AS c "
	    "LEFT JOIN class_begin AS b ON b.class = c.id ORDER BY b.ts_ns, c.id";
	int status = 0;

	for (; join->reading < join->parts && !status; join->reading++) {
		struct joined_part *part = &join->part[join->reading];

		status = open_db(join, part) ||
			 query_rows(part->db, sql, NULL, take_class, join, join->error);
		close_db(part);
	}
	if (join->classes)
		qsort(join->class, join->classes, sizeof(*join->class), compare_classes);
	return status;
}

/* A timeline without rows that has the classes, with their tables' names. */
static int make_timeline(struct join *join)
{
	bool payload = !join->classes || join->class[0].begin_ns != NSEC_MAX;
	struct timeline_writer *writer = timeline_writer_new(
	    join->file.temporary, join->wish->output, payload, join->error);
	uint32_t id;
	int status = writer ? 0 : -1;

	if (writer)
		timeline_writer_set_part(writer);
	for (size_t i = 0; i < join->classes && !status; i++) {
		const struct joined_class *class = &join->class[i];

		status = timeline_add_class(
		    writer,
		    &(struct timeline_class){class->kind, class->name, class->column,
					     class->columns},
		    &id, join->error);
	}
	if (!status)
		status = timeline_writer_finish(writer, join->error);
	timeline_writer_free(writer);
	return status;
}

static int add_meta(struct join *join, const char *key, const char *value)
{
	const struct cell cell[] = {part_text(key), part_text(value)};

	return part_run(join->all, "INSERT OR REPLACE INTO meta VALUES (?, ?)", cell, 2,
			join->error);
}

static int refuse_halves(void *context, const struct cell *row, struct error *error)
{
	char *from = cell_text(&row[0]), *to = cell_text(&row[1]);

	(void)context;
	error_set(error, "the parts of %s and %s differ in their messages", from, to);
	free(from);
	free(to);
	return -1;
}

static int count_events(struct join *join)
{
	int status = 0;

	for (size_t i = 0; i < join->classes && !status; i++) {
		const struct cell cell[] = {cell_of_integer(join->class[i].events),
					    cell_of_integer(join->class[i].id)};

		status =
		    part_run(join->all, "UPDATE event_class SET events = ? WHERE id = ?",
			     cell, 2, join->error);
	}
	return status;
}

static int copy_part(struct join *join, const struct joined_part *part)
{
	int status = 0;

	for (size_t i = 0; i < sizeof(short_tables) / sizeof(*short_tables) && !status;
	     i++) {
		const struct part_copy copy = {part->db, join->all, short_tables[i].how,
					       short_tables[i].table};

		status =
		    part_copy_rows(&copy, short_tables[i].select, NULL, 0, join->error);
	}
	return status ? error_prefix(join->error, "%s", part->path) : 0;
}

static int copy_parts(struct join *join)
{
	int status = 0;

	for (size_t i = 0; i < join->parts && !status; i++) {
		struct joined_part *part = &join->part[i];

		status = open_db(join, part) || copy_part(join, part);
		close_db(part);
	}
	return status;
}

static int fill_timeline(struct join *join)
{
	/* What is of no source each part may tell. */
	static const char problems[] =
	    "INSERT INTO problem SELECT NULL, source, kind, count, text, place FROM told "
	    "WHERE source IS NOT NULL OR rowid IN (SELECT min(rowid) FROM told GROUP BY "
	    "kind, count, text, place) ORDER BY rowid";
	/* A file has the columns of its part. */
	static const char layouts[] =
	    "INSERT INTO problem SELECT NULL, NULL, 'layouts', count(*), name || ' was "
	    "recorded with different fields, and so has the tables ' || "
	    "group_concat(table_name, ', ') || ': a query over one of them misses the "
	    "events of the others', name FROM (SELECT * FROM event_class WHERE "
	    "table_name IS NOT NULL ORDER BY table_name) GROUP BY kind, name "
	    "HAVING count(*) > 1";

	join->all =
	    timeline_update_open(join->file.temporary, join->wish->output, join->error);
	if (!join->all ||
	    run_all(join, begin_sql, sizeof(begin_sql) / sizeof(*begin_sql)) ||
	    copy_parts(join) || count_events(join) ||
	    part_run(join->all, problems, NULL, 0, join->error) ||
	    part_run(join->all, layouts, NULL, 0, join->error) ||
	    part_run(join->all, pair_sql, NULL, 0, join->error) ||
	    query_rows(join->all, differ_sql, NULL, refuse_halves, NULL, join->error) ||
	    run_all(join, resolve_sql, sizeof(resolve_sql) / sizeof(*resolve_sql)) ||
	    add_meta(join, "version", CT_VERSION) ||
	    add_meta(join, "command", join->wish->command))
		return -1;
	return timeline_update_commit(join->all, join->error);
}

/* Whether a table stands in the files of the parts. */
static bool is_of_parts(const struct text_list *of_classes, const char *table)
{
	for (size_t i = 0; part_tables[i]; i++)
		if (strcmp(part_tables[i], table) == 0)
			return true;
	for (size_t i = 0; i < of_classes->count; i++)
		if (strcmp(of_classes->item[i], table) == 0)
			return true;
	return false;
}

static int write_once(struct join *join)
{
	struct text_list all = {0}, of_classes = {0}, tables = {0};
	const struct part_files files = {&tables, ".", 0, 0};
	struct table_work work = {.timeline = join->file.temporary,
				  .directory = join->output.directory.temporary,
				  .progress = join->wish->progress};
	int status;

	/* Threads read the tables: nobody may hold a lock for writing. */
	timeline_reader_free(join->all);
	join->all = timeline_reader_open(join->file.temporary, join->error);
	status = !join->all ||
		 query_texts(join->all,
			     "SELECT table_name FROM event_class "
			     "WHERE table_name IS NOT NULL",
			     NULL, &of_classes, join->error) ||
		 question_list_tables(join->all, &all, join->error);
	for (size_t i = 0; i < all.count; i++)
		if (!is_of_parts(&of_classes, all.item[i]))
			text_list_add(&tables, all.item[i]);
	if (!status)
		status = part_write_tables(&work, join->all, &files, join->error);
	text_list_clear(&all);
	text_list_clear(&of_classes);
	text_list_clear(&tables);
	return status ? -1 : 0;
}

struct linking {
	struct join *join;
	struct part_link link;
};

/* A class's table may be called otherwise in the part. */
static int link_class(void *context, const struct cell *row, struct error *error)
{
	struct linking *linking = context;
	struct text_list name = {0};
	char *own = cell_text(&row[1]);
	int status = query_texts(linking->join->all,
				 "SELECT table_name FROM event_class WHERE id = ?", row,
				 &name, error);

	if (!status)
		status = part_link_table(&linking->link, own, name.item[0], error);
	text_list_clear(&name);
	free(own);
	return status;
}

static int link_parts(struct join *join)
{
	int status = 0;

	for (size_t i = 0; i < join->parts && !status; i++) {
		struct joined_part *part = &join->part[i];
		struct linking linking = {join,
					  {part->path, part->name,
					   join->output.directory.temporary,
					   join->wish->output}};

		for (size_t k = 0; part_tables[k] && !status; k++)
			status = part_link_table(&linking.link, part_tables[k],
						 part_tables[k], join->error);
		if (!status)
			status = open_db(join, part) ||
				 query_rows(part->db,
					    "SELECT id, table_name FROM event_class "
					    "WHERE table_name IS NOT NULL",
					    NULL, link_class, &linking, join->error);
		close_db(part);
	}
	return status;
}

static int write_mark(const struct join *join)
{
	char *path = mem_printf("%s/" JOIN_MARK, join->output.directory.temporary);
	FILE *file = fopen(path, "wxe");
	int status = file && !fclose(file) ? 0 : error_errno(join->error, path);

	free(path);
	return status;
}

static int join_all(struct join *join)
{
	if (open_parts(join) ||
	    part_output_open(&join->output, join->wish->output, JOIN_LIST, JOIN_MARK,
			     join->error) ||
	    output_open_spooled(&join->file, -1, join->error) || read_classes(join) ||
	    make_timeline(join) || fill_timeline(join) || link_parts(join) ||
	    write_once(join) || write_mark(join)) {
		if (join->output.directory.temporary)
			output_directory_explain(&join->output.directory, join->error);
		return -1;
	}
	return part_output_commit(&join->output, join->error);
}

static void clear(struct join *join)
{
	for (size_t i = 0; i < join->parts; i++) {
		timeline_reader_free(join->part[i].db);
		free(join->part[i].name);
		free(join->part[i].clocks);
	}
	for (size_t i = 0; i < join->classes; i++) {
		struct joined_class *class = &join->class[i];

		for (size_t k = 0; k < class->columns; k++)
			free((char *)class->column[k].name);
		free(class->column);
		free(class->kind);
		free(class->name);
	}
	free(join->part);
	free(join->class);
	intmap_clear(&join->class_at);
	timeline_reader_free(join->all);
	part_output_discard(&join->output);
	output_discard(&join->file);
}

int join_parts(const struct join_wish *wish, struct error *error)
{
	struct join join = {.wish = wish, .error = error, .file = {.stream = -1}};
	int status = join_all(&join);

	clear(&join);
	return status;
}
