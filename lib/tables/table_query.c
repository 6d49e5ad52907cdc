/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/table_query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/names.h"
#include "timeline/names.h"
#include "timeline/reader.h"

enum table_query_kind {
	TABLE_QUERY_TABLE, /* any table but those of the classes; as read_table asks */
	TABLE_QUERY_CLASS_TABLE, /* fields of events: id is event.id */
	TABLE_QUERY_EVENT_VIEW,  /* a view with id, ts_ns and the node's name */
};

/*
 * The time and node of a table's rows: ?1 and ?2 are the scope's begin and end, or, for
 * tables of events, its first and last event.id; ?3 is a list of the selected nodes.
 */
struct extent {
	const char *table, *time, *node;
};

#define NODES   "(SELECT value FROM json_each(?3))"
#define OF_NODE "t.node IN " NODES
#define LIFE    "coalesce(t.end_ns, ?2) >= ?1 AND coalesce(t.begin_ns, ?1) <= ?2"
#define SPAN    "t.end_ns >= ?1 AND t.begin_ns <= ?2"

static const struct extent extents[] = {
    /* by their kind, from TABLE_QUERY_CLASS_TABLE on */
    {NULL, "t.id BETWEEN ?1 AND ?2",
     "(SELECT e.node FROM event AS e WHERE e.id = t.id) IN " NODES},
    {NULL, "t.id BETWEEN ?1 AND ?2",
     "t.node IN (SELECT n.name FROM node AS n WHERE n.id IN " NODES ")"},
    {"event", "t.ts_ns BETWEEN ?1 AND ?2", OF_NODE},
    {"sample", "t.ts_ns BETWEEN ?1 AND ?2", OF_NODE},
    {"message", "t.recv_ns >= ?1 AND t.send_ns <= ?2",
     "(t.src_node IN " NODES " OR t.dst_node IN " NODES ")"},
    {"message_observation",
     "(SELECT m.recv_ns >= ?1 AND m.send_ns <= ?2 FROM message AS m "
     "WHERE m.id = t.message)",
     "(SELECT m.src_node IN " NODES " OR m.dst_node IN " NODES " FROM message AS m "
     "WHERE m.id = t.message)"},
    {"process", LIFE, OF_NODE},
    {"thread", LIFE, OF_NODE},
    {"thread_state", SPAN, OF_NODE},
    {"syscall", SPAN, OF_NODE},
    {"irq", SPAN, OF_NODE},
    {"block_request", SPAN, OF_NODE},
    {"recorded", SPAN, OF_NODE},
    {"request", "coalesce(t.end_ns, ?2) >= ?1 AND t.begin_ns <= ?2",
     "(t.client IN " NODES " OR t.server IN " NODES ")"},
    {"invocation",
     "coalesce(t.end_ns, ?2) >= ?1 AND coalesce(t.enqueue_ns, t.begin_ns, ?1) <= ?2",
     OF_NODE},
    {"node", NULL, "t.id IN " NODES},
    {"source", NULL, OF_NODE},
};

static const struct extent *extent_of(enum table_query_kind kind, const char *table)
{
	if (kind != TABLE_QUERY_TABLE)
		return &extents[kind - 1];
	for (size_t i = TABLE_QUERY_EVENT_VIEW; i < sizeof(extents) / sizeof(*extents);
	     i++)
		if (strcmp(extents[i].table, table) == 0)
			return &extents[i];
	return NULL;
}

/*
 * Return " WHERE ..." for the scope's part of a table with the alias t, or "" if all of
 * it is in the scope. The caller frees it.
 */
static char *where_of(const struct scope *scope, enum table_query_kind kind,
		      const char *table)
{
	const struct extent *extent = extent_of(kind, table);
	const char *time = extent && extent->time && !scope->all_time ? extent->time : "";
	const char *node = extent && !scope->all_nodes ? extent->node : "";

	return mem_printf("%s%s%s%s", *time || *node ? " WHERE " : "", time,
			  *time && *node ? " AND " : "", node);
}

/* Columns of the timeline's own that are instants; spans end in _ns, too. */
static bool is_instant(const char *name)
{
	static const char *const instants[] = {
	    "ts_ns",  "begin_ns", "end_ns",  "local_ns",
	    "ref_ns", "send_ns",  "recv_ns", "enqueue_ns",
	};

	for (size_t i = 0; i < sizeof(instants) / sizeof(*instants); i++)
		if (strcmp(name, instants[i]) == 0)
			return true;
	return false;
}

/* SQLite's rules of affinity (datatype3.html, 3.1), for the types in the schema. */
static enum cell_type type_of(const char *declared)
{
	return strcasecmp(declared, "INTEGER") == 0 ? CELL_INTEGER
	       : strcasecmp(declared, "REAL") == 0  ? CELL_REAL
	       : strcasecmp(declared, "TEXT") == 0  ? CELL_TEXT
	       : strcasecmp(declared, "BLOB") == 0  ? CELL_BLOB
						    : CELL_NULL;
}

static struct table_query_column *add_column(struct table_query *wanted,
					     struct name_set *names, const char *name,
					     enum cell_type type)
{
	size_t capacity = wanted->columns;

	wanted->column =
	    mem_grow(wanted->column, wanted->columns, &capacity, sizeof(*wanted->column));
	wanted->column[wanted->columns] =
	    (struct table_query_column){.name = name_pick(names, name, ""), .type = type};
	return &wanted->column[wanted->columns++];
}

int table_query_list_tables(struct timeline_reader *timeline, struct text_list *names,
			    struct error *error)
{
	return query_texts(timeline,
			   "SELECT name FROM sqlite_master WHERE type = 'table' "
			   "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
			   NULL, names, error);
}

struct table_facts {
	struct table_query *wanted;
	struct name_set names;
	bool is_view;
	enum table_query_kind kind;
};

static int add_table_column(void *context, const struct cell *cell, struct error *error)
{
	struct table_facts *facts = context;
	AUTOFREE char *name = cell_text(&cell[0]), *declared = cell_text(&cell[1]);
	struct table_query_column *column;

	(void)error;
	column = add_column(facts->wanted, &facts->names, name, type_of(declared));
	/* A rowid is never NULL; columns of a view have nothing declared. */
	column->required = cell_integer(&cell[2], 0) ||
			   (cell_integer(&cell[3], 0) && column->type == CELL_INTEGER);
	column->instant = is_instant(name);
	return 0;
}

static int no_such_table(struct timeline_reader *timeline, const char *name,
			 struct error *error)
{
	struct text_list names = {0};

	if (query_texts(timeline,
			"SELECT name FROM sqlite_master WHERE type IN ('table', 'view')",
			NULL, &names, error) == 0)
		error_unknown_word(error, "--table: unknown table", name,
				   (const char *const *)names.item, names.count, NULL);
	text_list_clear(&names);
	return -1;
}

static int read_table(struct timeline_reader *timeline, struct table_facts *facts,
		      const char *name, struct error *error)
{
	static const char sql[] =
	    "SELECT name, type, \"notnull\", pk FROM pragma_table_xinfo(?1)";
	const struct cell word = cell_of_text(name);
	enum timeline_kind kind = timeline_reader_kind(timeline, name);

	facts->is_view = kind == TIMELINE_CLASS_VIEW || strcmp(name, "timeline") == 0;
	facts->kind = facts->is_view                 ? TABLE_QUERY_EVENT_VIEW
		      : kind == TIMELINE_CLASS_TABLE ? TABLE_QUERY_CLASS_TABLE
						     : TABLE_QUERY_TABLE;
	if (query_rows(timeline, sql, &word, add_table_column, facts, error))
		return -1;
	return facts->wanted->columns ? 0 : no_such_table(timeline, name, error);
}

/* The greatest rowid is found at once, and no table has many gaps. */
static void count_rows(struct timeline_reader *timeline, struct table_query *wanted,
		       const char *quoted)
{
	struct error error = ERROR_INIT; /* a table without rowid has none */
	AUTOFREE char *sql = mem_printf("SELECT max(rowid) FROM %s", quoted);

	query_integer(timeline, sql, NULL, &wanted->rows, &error);
	error_clear(&error);
}

/* Return the list of columns in order, with `first` added to ids of rows. The caller
 * frees it. */
static char *column_list(const struct table_query *wanted, int64_t first)
{
	char *text;
	size_t size;
	FILE *sql = mem_stream(&text, &size);

	for (size_t i = 0; i < wanted->columns; i++) {
		AUTOFREE char *column = name_quote(wanted->column[i].name);

		fprintf(sql, "%st.%s", i ? ", " : "", column);
		if (wanted->column[i].is_row)
			fprintf(sql, " + %" PRId64, first);
	}
	fclose(sql);
	return text;
}

/*
 * Set the query to "SELECT columns FROM rest". Takes ownership of both. `walks` means
 * that rows can also be read by TIMELINE_ROW, in the same order, by their ids: not by an
 * index that has all selected columns.
 */
static void set_sql(struct table_query *wanted, char *columns, char *rest, bool walks)
{
	free(wanted->sql);
	wanted->sql = mem_printf("SELECT %s FROM %s", columns, rest);
	wanted->walked =
	    walks && wanted->columns <= TIMELINE_MOST_ROW ? strlen(columns) : 0;
	free(columns);
	free(rest);
}

struct table_query *table_query_of_table(struct timeline_reader *timeline,
					 const struct scope *scope, const char *name,
					 struct error *error)
{
	struct table_query *wanted = mem_zalloc(sizeof(*wanted));
	struct table_facts facts = {.wanted = wanted};
	char *quoted = name_quote(name), *where;
	int status = read_table(timeline, &facts, name, error);
	bool walks;

	wanted->name = mem_strdup(name);
	/* Fields are the tracer's, whatever they are called. */
	for (size_t i = 0; i < wanted->columns; i++)
		if (facts.kind == TABLE_QUERY_CLASS_TABLE ||
		    (facts.kind == TABLE_QUERY_EVENT_VIEW && i > 1))
			wanted->column[i].instant = false;
	where = where_of(scope, facts.kind, name);
	wanted->is_by_id = facts.kind != TABLE_QUERY_TABLE;
	walks = !facts.is_view && (wanted->is_by_id || !strstr(where, "?1"));
	set_sql(wanted, column_list(wanted, 0),
		mem_printf("%s AS t%s%s%s", quoted, walks ? " NOT INDEXED" : "", where,
			   facts.kind == TABLE_QUERY_TABLE ? "" : " ORDER BY t.id"),
		walks);
	if (!status && !facts.is_view)
		count_rows(timeline, wanted, quoted);
	name_clear(&facts.names);
	free(where);
	free(quoted);
	if (!status)
		return wanted;
	table_query_free(wanted);
	return NULL;
}

static int set_reference(void *context, const struct cell *cell, struct error *error)
{
	struct table_query *wanted = context;
	AUTOFREE char *name = cell_text(cell);

	(void)error;
	for (size_t i = 0; i < wanted->columns; i++)
		if (strcmp(wanted->column[i].name, name) == 0)
			wanted->column[i].is_row = true;
	return 0;
}

/* Find the columns that number rows: `id`, unless the ids of this table are the same in
 * all parts, and references to such ids. */
static int find_row_columns(struct table_query *wanted, struct timeline_reader *timeline,
			    struct error *error)
{
	static const char *const fixed[] = {"node", "source", "event_class", "metric",
					    "metric_item"};
	const struct cell name = cell_of_text(wanted->name);
	bool counts = true;

	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		counts = counts && strcmp(wanted->name, fixed[i]) != 0;
	for (size_t i = 0; i < wanted->columns; i++)
		wanted->column[i].is_row =
		    counts && strcmp(wanted->column[i].name, "id") == 0;
	return query_rows(timeline,
			  "SELECT \"from\" FROM pragma_foreign_key_list(?1) "
			  "WHERE \"table\" IN ('event', 'message', 'process', 'thread')",
			  &name, set_reference, wanted, error);
}

struct table_query *table_query_of_part(struct timeline_reader *timeline,
					const char *name, int64_t first,
					struct error *error)
{
	const struct scope all = {.all_time = true, .all_nodes = true};
	struct table_query *wanted = table_query_of_table(timeline, &all, name, error);
	char *quoted;

	if (!wanted || find_row_columns(wanted, timeline, error)) {
		table_query_free(wanted);
		return NULL;
	}
	for (size_t i = 0; i < wanted->columns; i++)
		if (wanted->column[i].type == CELL_NULL) {
			wanted->column[i].type = CELL_TEXT;
			wanted->column[i].mixed = true;
		}
	quoted = name_quote(name);
	set_sql(wanted, column_list(wanted, first),
		mem_printf("%s AS t NOT INDEXED", quoted), true);
	free(quoted);
	return wanted;
}

/* Set a column's affinity. SQLite gives a table made by a SELECT those of its
 * expressions. */
static int set_affinity(void *context, const struct cell *cell, struct error *error)
{
	struct table_query *wanted = context;
	AUTOFREE char *type = cell_text(&cell[1]);
	size_t column = (size_t)cell[0].integer;

	(void)error;
	if (column < wanted->columns && wanted->column[column].declared == CELL_NULL)
		wanted->column[column].declared =
		    strcmp(type, "INT") == 0 ? CELL_INTEGER : type_of(type);
	return 0;
}

/* Add the affinities of columns that are expressions. If there are no rows, or SQLite
 * does not know, the columns are unchanged. */
static void add_affinities(struct timeline_reader *timeline, struct table_query *wanted)
{
	struct error error = ERROR_INIT;
	AUTOFREE char *rows = mem_printf("SELECT * FROM (%s\n) LIMIT 0", wanted->sql);
	const struct timeline_temporary table = {.name = "query_columns", .sql = rows};
	bool are_declared = true;

	for (size_t i = 0; i < wanted->columns; i++)
		are_declared &= wanted->column[i].declared != CELL_NULL;
	if (!are_declared && timeline_reader_keep(timeline, &table, &error) == 0)
		query_rows(timeline,
			   "SELECT cid, type FROM pragma_table_info('query_columns')",
			   NULL, set_affinity, wanted, &error);
	error_clear(&error);
}

struct table_query *table_query_of_query(struct timeline_reader *timeline,
					 const char *sql, struct error *error)
{
	struct timeline_query *query = timeline_query_new(timeline, sql, error);
	struct table_query *wanted;
	struct name_set names = {0};

	if (!query)
		return NULL;
	if (timeline_query_parameters(query) || !timeline_query_columns(query)) {
		error_misuse(error,
			     timeline_query_columns(query)
				 ? "--query cannot have parameters (?, :name); use values"
				 : "--query returns no columns (expected a SELECT)");
		timeline_query_free(query);
		return NULL;
	}
	wanted = mem_zalloc(sizeof(*wanted));
	wanted->name = mem_strdup("");
	wanted->sql = mem_strdup(sql);
	for (size_t i = 0; i < timeline_query_columns(query); i++) {
		const char *name = timeline_query_name(query, i);
		const char *declared = timeline_query_declared(query, i);
		struct table_query_column *column =
		    add_column(wanted, &names, name, CELL_NULL);

		column->instant = is_instant(name);
		column->declared = declared ? type_of(declared) : CELL_NULL;
	}
	name_clear(&names);
	timeline_query_free(query);
	add_affinities(timeline, wanted);
	return wanted;
}

static void add_event_columns(struct table_query *wanted, struct name_set *names)
{
	struct table_query_column *column;

	add_column(wanted, names, "id", CELL_INTEGER)->required = true;
	column = add_column(wanted, names, "ts_ns", CELL_INTEGER);
	column->required = column->instant = true;
	column = add_column(wanted, names, "node", CELL_TEXT);
	column->required = column->is_node = true;
	add_column(wanted, names, "cpu", CELL_INTEGER);
	add_column(wanted, names, "tid", CELL_INTEGER);
}

struct class_facts {
	struct table_query *wanted;
	struct name_set names;
	FILE *sql;
};

static int add_class(void *context, const struct cell *cell, struct error *error)
{
	struct class_facts *facts = context;

	(void)error;
	facts->wanted->class = cell_text(&cell[0]);
	facts->wanted->name = cell_text(&cell[1]);
	facts->wanted->rows = cell_integer(&cell[2], 0);
	return 0;
}

static int add_field(void *context, const struct cell *cell, struct error *error)
{
	struct class_facts *facts = context;
	AUTOFREE char *name = cell_text(&cell[0]), *declared = cell_text(&cell[1]);
	AUTOFREE char *quoted = name_quote(name);

	(void)error;
	fprintf(facts->sql, ", t.%s", quoted);
	add_column(facts->wanted, &facts->names, name, type_of(declared));
	return 0;
}

/* The class's facts and the list of what is selected of it. */
static int select_class(struct timeline_reader *timeline, struct class_facts *facts,
			int64_t id, struct error *error)
{
	const struct cell value = cell_of_integer(id);

	return query_rows(timeline,
			  "SELECT name, table_name, events FROM event_class WHERE id = ?",
			  &value, add_class, facts, error) ||
		       query_rows(timeline,
				  "SELECT column_name, type FROM event_column "
				  "WHERE class = ? ORDER BY position",
				  &value, add_field, facts, error)
		   ? -1
		   : 0;
}

static void finish_class(struct table_query *wanted, const struct scope *scope,
			 const char *selected)
{
	AUTOFREE char *quoted = name_quote(wanted->name);
	AUTOFREE char *where = where_of(scope, TABLE_QUERY_CLASS_TABLE, "");

	wanted->is_by_id = true;
	set_sql(wanted, mem_printf("t.id, e.ts_ns, e.node, e.cpu, e.tid%s", selected),
		mem_printf("%s AS t NOT INDEXED CROSS JOIN event AS e ON e.id = t.id%s "
			   "ORDER BY t.id",
			   quoted, where),
		true);
}

/* Without fields. */
static struct table_query *table_query_of_all_events(const struct scope *scope)
{
	struct table_query *wanted = mem_zalloc(sizeof(*wanted));
	AUTOFREE char *where = where_of(scope, TABLE_QUERY_TABLE, "event");
	struct name_set names = {0};

	add_event_columns(wanted, &names);
	add_column(wanted, &names, "class", CELL_TEXT)->required = true;
	wanted->name = mem_strdup("event");
	wanted->sql = mem_printf("SELECT t.id, t.ts_ns, t.node, t.cpu, t.tid, "
				 "(SELECT c.name FROM event_class AS c "
				 "WHERE c.id = t.class) FROM event AS t%s ORDER BY t.id",
				 where);
	name_clear(&names);
	return wanted;
}

struct table_query *table_query_of_events(struct timeline_reader *timeline,
					  const struct scope *scope, int64_t class_id,
					  const struct text_list *taken,
					  struct error *error)
{
	struct class_facts facts = {0};
	char *selected;
	size_t size;
	int status;

	if (class_id == 0)
		return table_query_of_all_events(scope);
	facts.wanted = mem_zalloc(sizeof(*facts.wanted));
	facts.sql = mem_stream(&selected, &size);
	add_event_columns(facts.wanted, &facts.names);
	for (size_t i = 0; i < taken->count; i++)
		name_reserve(&facts.names, taken->item[i]);
	status = select_class(timeline, &facts, class_id, error);
	fclose(facts.sql);
	if (!status)
		finish_class(facts.wanted, scope, selected);
	free(selected);
	name_clear(&facts.names);
	if (status) {
		table_query_free(facts.wanted);
		facts.wanted = NULL;
	}
	return facts.wanted;
}

int table_query_each(const struct table_query *wanted, struct timeline_reader *timeline,
		     const struct scope *scope, timeline_row_fn *on_row, void *context,
		     struct error *error)
{
	const char *columns = wanted->sql + strlen("SELECT ");
	int64_t bound[2] = {scope->begin_ns, scope->end_ns};
	AUTOFREE char *nodes = scope_nodes(scope), *sql = NULL;
	struct cell value[3];

	if (wanted->is_by_id && !scope->all_time &&
	    scope_event_ids(scope, timeline, bound, error))
		return -1;
	for (int i = 0; i < 2; i++)
		value[i] = cell_of_integer(bound[i]);
	value[2] = cell_of_text(nodes);
	if (!wanted->walked)
		return query_rows(timeline, wanted->sql, value, on_row, context, error);
	sql = mem_printf("SELECT " TIMELINE_ROW "(%.*s)%s", (int)wanted->walked, columns,
			 columns + wanted->walked);
	return query_each(timeline, sql, value, on_row, context, error);
}

void table_query_free(struct table_query *wanted)
{
	if (!wanted)
		return;
	for (size_t i = 0; i < wanted->columns; i++)
		free(wanted->column[i].name);
	free(wanted->column);
	free(wanted->class);
	free(wanted->name);
	free(wanted->sql);
	free(wanted);
}
