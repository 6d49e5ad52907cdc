/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/names.h"
#include "base/version.h"
#include "merge/node_messages.h"
#include "tables/dataset.h"
#include "tables/table_query.h"
#include "tables/table_write.h"
#include "timeline/names.h"
#include "timeline/reader.h"
#include "timeline/writer.h"

#define PART_DB   "part.db"
#define JOIN_MARK "_SUCCESS"
#define INSTEAD   "one that ctmerge made, an empty or a new directory"

const struct output_kind part_directory = {OUTPUT_OURS, ".ctmerge-part", INSTEAD, true,
					   PART_DB};
static const struct output_kind join_directory = {OUTPUT_OURS, ".ctmerge-tables", INSTEAD,
						  true, JOIN_MARK};

/* Tables, apart from those of classes, that the parts have as DIR/tables/NAME.parquet;
 * part.db has the others. */
#define FILED                                                                            \
	"(VALUES ('event'), ('thread_state'), ('syscall'), ('irq'), ('block_request'), " \
	"('recorded'), ('sample'), ('process'), ('thread'), ('invocation'))"

#define OTHER_TABLES                                                                     \
	"SELECT name FROM main.sqlite_schema AS m WHERE type = 'table' "                 \
	"AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT IN " FILED

/* True for a class's table, including one that queries name but was not recorded. */
#define IS_OF_CLASS                                                                      \
	"EXISTS (SELECT 1 FROM pragma_foreign_key_list(m.name) AS f "                    \
	"WHERE f.\"from\" = 'id' AND f.\"table\" = 'event')"

static int run_with(struct timeline_reader *db, const char *sql, const struct cell *value,
		    struct error *error)
{
	return query_rows(db, sql, value, NULL, NULL, error);
}

/* Return the path of a table's file below a directory. The caller frees it. */
static char *table_file(const char *directory, const char *table)
{
	AUTOFREE char *name = file_name_escape(table, strlen(table));

	return mem_printf("%s/%s.parquet", directory, name);
}

/* Tables of a timeline, below which directory, and how table_query_of_part counts. */
struct files {
	const struct text_list *tables;
	const char *below;
	int64_t first;
	int threads;
};

/* Write the files. Uses the work's `timeline`, `directory` and `progress`. Return 0, or
 * -1 with error. */
static int write_files(struct table_work *work, const struct files *files,
		       struct error *error)
{
	static const struct table_style style = {.parquet = true};
	static const struct scope all = {.all_time = true, .all_nodes = true};
	struct timeline_reader *timeline =
	    timeline_reader_open_own(work->timeline, work->own, error);
	int status = timeline ? 0 : -1;

	work->style = &style;
	work->scope = &all;
	for (size_t i = 0; i < files->tables->count && !status; i++) {
		const char *name = files->tables->item[i];
		struct table_query *query =
		    table_query_of_part(timeline, name, files->first, error);

		status = query ? 0 : -1;
		if (query)
			table_work_add(work, query)->name =
			    table_file(files->below, name);
	}
	timeline_reader_free(timeline);
	if (!status) {
		table_work_plan(work, files->threads);
		status = table_work_run(work, error);
	}
	table_work_clear(work);
	return status;
}

/* The id before the first row of a part. */
static int64_t first_id(const struct part *part)
{
	return node_first_id(part->run->node[0].id);
}

static int copy_table(const struct part *part, struct timeline_reader *db,
		      const char *name, struct error *error)
{
	struct table_query *query = table_query_of_part(db, name, first_id(part), error);
	AUTOFREE char *sql =
	    query ? mem_printf("INSERT INTO part.%s %s", name, query->sql) : NULL;
	int status = sql ? timeline_update_run(db, sql, error) : -1;

	table_query_free(query);
	return status;
}

static int write_tunnel(void *db, const struct cell *row, struct error *error)
{
	return run_with(db, "INSERT INTO part.tunnel VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			row, error);
}

/* A join is faster without these indexes. */
#define DROP_INDEXES(schema)                                                             \
	"DROP INDEX " schema "message_send_event;"                                       \
	"DROP INDEX " schema "message_recv_event;"                                       \
	"DROP INDEX " schema "message_observation_message;"

/* A commit to two databases ignores what fails while it removes a journal. */
#define NO_JOURNAL "PRAGMA part.journal_mode = OFF;"

/* `db`: the timeline, and as `part` part.db. */
static int fill_db(const struct part *part, struct timeline_reader *db,
		   const struct text_list *tables, struct error *error)
{
	const struct cell marks[] = {
	    cell_of_integer(part->run->node[0].id),
	    cell_of_integer((int64_t)clock_map_fingerprint(&part->run->map))};
	int status = timeline_update_run(
	    db, NO_JOURNAL DROP_INDEXES("part.") "CREATE TABLE part." TIMELINE_TUNNEL,
	    error);

	for (size_t i = 0; i < tables->count && !status; i++)
		status = copy_table(part, db, tables->item[i], error);
	if (!status)
		status = requests_tunnels(part->requests, write_tunnel, db, error) ||
			 run_with(db,
				  "INSERT INTO part.meta VALUES ('part.node', ?1), "
				  "('part.clocks', printf('%016x', ?2))",
				  marks, error) ||
			 timeline_update_commit(db, error);
	return status ? -1 : 0;
}

/* A timeline without rows. `place` as timeline_writer_new. */
static int write_empty(const char *path, const char *place, struct error *error)
{
	struct timeline_writer *writer = timeline_writer_new(path, place, true, error);
	int status = writer ? timeline_writer_finish(writer, error) : -1;

	timeline_writer_free(writer);
	return status;
}

static int write_db(const struct part *part, struct error *error)
{
	AUTOFREE char *path = mem_printf("%s/" PART_DB, part->directory);
	struct timeline_reader *db =
	    write_empty(path, NULL, error)
		? NULL
		: timeline_update_open(part->timeline, path, error);
	struct text_list tables = {0};
	int status =
	    !db || timeline_update_attach(db, path, "part", error) ||
	    query_texts(db, OTHER_TABLES " AND NOT " IS_OF_CLASS, NULL, &tables, error) ||
	    fill_db(part, db, &tables, error);

	timeline_reader_free(db);
	text_list_clear(&tables);
	return status ? -1 : 0;
}

static int write_tables(const struct part *part, struct error *error)
{
	struct timeline_reader *timeline =
	    timeline_reader_open_own(part->timeline, part->directory, error);
	struct text_list tables = {0};
	const struct files files = {&tables, "tables", first_id(part), part->threads};
	struct table_work work = {.timeline = part->timeline,
				  .own = part->directory,
				  .directory = part->directory,
				  .progress = part->progress};
	int status = !timeline ||
		     query_texts(timeline,
				 "SELECT * FROM " FILED " UNION ALL SELECT table_name "
				 "FROM event_class WHERE table_name IS NOT NULL",
				 NULL, &tables, error);

	timeline_reader_free(timeline);
	if (!status)
		status = write_files(&work, &files, error);
	text_list_clear(&tables);
	return status ? -1 : 0;
}

int part_write(const struct part *part, struct error *error)
{
	return write_tables(part, error) || write_db(part, error) ? -1 : 0;
}

/* Create the temporary tables of the join. */
static const char begin_sql[] = DROP_INDEXES(
    "") "CREATE TEMP TABLE part (path, node, name, clocks);"
	/* The parts' names of the tables of classes. */
	"CREATE TEMP TABLE class_table (node, class, table_name);"
	"CREATE TEMP TABLE part_problem (source, kind, count, text, place);"
	"CREATE TEMP TABLE " TIMELINE_TUNNEL "; CREATE INDEX temp.tunnel_ends ON "
	"tunnel (a, b, a_address, b_address, a_port, b_port, protocol);"
	"CREATE TEMP TABLE half (id, node, src, dst, place, "
	"PRIMARY KEY (node, src, dst, place)) WITHOUT ROWID;"
	"CREATE TEMP TABLE half_observation (id, node, src, dst, place, "
	"PRIMARY KEY (node, src, dst, place)) WITHOUT ROWID;"
	"CREATE TEMP TABLE pair (sent INTEGER PRIMARY KEY, received INTEGER)";

static const char mark_sql[] =
    "INSERT INTO temp.part SELECT ?, node.id, node.name, (SELECT value FROM part.meta "
    "WHERE key = 'part.clocks') FROM (SELECT 1) LEFT JOIN part.node AS node ON node.id = "
    "(SELECT value FROM part.meta WHERE key = 'part.node')";

/* Select an error of the parts: of one alone, or of one and the previous. */
static const char wrong_sql[] =
    "SELECT CASE WHEN name IS NULL OR clocks IS NULL "
    "THEN path || ': not a part (expected a directory that ctmerge --part wrote)' "
    "WHEN clocks <> lag(clocks) OVER w THEN path || ': of another clock map than ' || "
    "lag(path) OVER w || ' (expected parts of one run of ctsync)' "
    "WHEN node = lag(node) OVER w AND name = lag(name) OVER w "
    "THEN path || ': of node ' || name || ', as ' || lag(path) OVER w || ' is' "
    "WHEN node = lag(node) OVER w THEN path || ': ' || lag(name) OVER w || ' and ' || "
    "name || ', which the clock map lacks, have the same number; rename one' END AS "
    "wrong FROM temp.part WINDOW w AS (ORDER BY node, rowid) "
    "ORDER BY wrong IS NULL, node, rowid LIMIT 1";

/* Copy the rows of a part to those of the parts before. */
static const char copy_sql[] =
    "INSERT OR IGNORE INTO meta SELECT key, value FROM part.meta WHERE key NOT LIKE "
    "'part.%' AND key NOT IN ('version', 'command', 'tunnel_messages');"
    "INSERT INTO node SELECT * FROM part.node;"
    "INSERT INTO source SELECT * FROM part.source;"
    "INSERT INTO clock SELECT * FROM part.clock;"
    "INSERT INTO clock_bound SELECT * FROM part.clock_bound;"
    "INSERT INTO clock_pair SELECT * FROM part.clock_pair;"
    "INSERT INTO event_class SELECT id, kind, name, NULL, events FROM part.event_class "
    "WHERE true ON CONFLICT (id) DO UPDATE SET events = events + excluded.events;"
    "INSERT OR IGNORE INTO event_column SELECT * FROM part.event_column;"
    "INSERT OR IGNORE INTO metric SELECT * FROM part.metric;"
    "INSERT OR IGNORE INTO metric_item SELECT * FROM part.metric_item;"
    "INSERT INTO message SELECT * FROM part.message;"
    "INSERT INTO message_observation SELECT * FROM part.message_observation;"
    "INSERT INTO request SELECT * FROM part.request;"
    "INSERT INTO part_problem SELECT source, kind, count, text, place FROM part.problem "
    "ORDER BY id;"
    "INSERT INTO temp.tunnel SELECT * FROM part.tunnel;"
    "INSERT INTO class_table SELECT (SELECT value FROM part.meta "
    "WHERE key = 'part.node'), id, table_name FROM part.event_class "
    "WHERE table_name IS NOT NULL";

/* The plain name is for the layout of the most events. */
static const char classes_sql[] =
    "SELECT name, id FROM event_class WHERE id IN (SELECT class FROM class_table) "
    "ORDER BY events DESC, id";

/* Number the messages and observations with one known end, by pair of nodes. */
static const char pair_sql[] =
    "INSERT INTO half SELECT id, id >> 40, src_node, dst_node, row_number() OVER "
    "(PARTITION BY id >> 40, src_node, dst_node ORDER BY id) FROM message "
    "WHERE src_node <> dst_node;"
    "INSERT INTO half_observation SELECT o.rowid, m.id >> 40, src_node, dst_node, "
    "row_number() OVER (PARTITION BY m.id >> 40, src_node, dst_node "
    "ORDER BY o.message, o.rowid) FROM message_observation AS o "
    "JOIN message AS m ON m.id = o.message WHERE src_node <> dst_node";

static const char differ_sql[] =
    "SELECT 'the parts of ' || s.name || ' and ' || r.name || ' differ in their "
    "messages' FROM (SELECT src, dst, count(*) FILTER (WHERE node = src) AS "
    "sent, count(*) FILTER (WHERE node = dst) AS received FROM half GROUP BY src, dst) "
    "JOIN node AS s ON s.id = src JOIN node AS r ON r.id = dst WHERE sent <> received";

/* Merge the facts of both ends into the receiver's row, and into the server's. */
static const char resolve_sql[] =
    "INSERT INTO pair SELECT s.id, r.id FROM half AS s JOIN half AS r ON r.node = s.dst "
    "AND r.src = s.src AND r.dst = s.dst AND r.place = s.place WHERE s.node = s.src;"
    "UPDATE message SET (send_event, send_by, send_tid, send_first_recv, send_last_recv, "
    "send_assumed) = (SELECT s.send_event, s.send_by, s.send_tid, s.send_first_recv, "
    "s.send_last_recv, s.send_assumed FROM message AS s WHERE s.id = pair.sent) "
    "FROM pair WHERE message.id = pair.received;"
    "UPDATE message_observation SET send_event = s.send_event "
    "FROM half_observation AS sent JOIN half_observation AS received "
    "ON received.node = sent.dst AND received.src = sent.src AND received.dst = sent.dst "
    "AND received.place = sent.place JOIN message_observation AS s ON s.rowid = sent.id "
    "WHERE sent.node = sent.src AND message_observation.rowid = received.id;"
    "UPDATE request SET (client_tid, client_by_kernel, request_event) = "
    "(SELECT c.client_tid, c.client_by_kernel, c.request_event FROM request AS c "
    "WHERE c.id = pair.sent) FROM pair WHERE request.id = pair.received;"
    "DELETE FROM request WHERE id IN (SELECT sent FROM pair);"
    "UPDATE request SET last_message = pair.received FROM pair "
    "WHERE request.last_message = pair.sent;"
    "DELETE FROM message WHERE id IN (SELECT sent FROM pair) "
    "OR (send_event IS NULL AND recv_event IS NULL);"
    "DELETE FROM message_observation WHERE message NOT IN (SELECT id FROM message) "
    "OR (send_event IS NULL AND recv_event IS NULL);"
    /* A flow that one end knows to be a tunnel is not a request of the other end. */
    "DELETE FROM request WHERE EXISTS (SELECT 1 FROM tunnel AS t "
    "WHERE t.protocol = request.protocol "
    "AND ((t.a = client AND t.a_address = client_address AND t.a_port IS client_port "
    "AND t.b = server AND t.b_address = server_address AND t.b_port IS server_port) "
    "OR (t.b = client AND t.b_address = client_address AND t.b_port IS client_port "
    "AND t.a = server AND t.a_address = server_address AND t.a_port IS server_port)));"
    "INSERT INTO meta SELECT 'tunnel_messages', sum(messages) FROM "
    "(SELECT DISTINCT * FROM tunnel) HAVING count(*) > 0;"
    "DELETE FROM clock_pair WHERE a NOT IN (SELECT id FROM source) "
    "OR b NOT IN (SELECT id FROM source);"
    /* Several parts can have the same problem if it belongs to no source. */
    "INSERT INTO problem SELECT NULL, source, kind, count, text, place FROM part_problem "
    "WHERE source IS NOT NULL OR rowid IN (SELECT min(rowid) FROM part_problem GROUP BY "
    "kind, count, text, place) ORDER BY rowid;"
    /* A file has the columns of its part. */
    "INSERT INTO problem SELECT NULL, NULL, 'layouts', count(*), name || ' was "
    "recorded with different fields, and so has the tables ' || "
    "group_concat(table_name, ', ') || ': a query over one of them misses the "
    "events of the others', name FROM (SELECT * FROM event_class WHERE "
    "table_name IS NOT NULL ORDER BY table_name) GROUP BY kind, name "
    "HAVING count(*) > 1";

/* Select the files of parts: the part, its table, and the joined table. */
static const char links_sql[] =
    "SELECT path, name, column1, column1 FROM temp.part, " FILED " UNION ALL "
    "SELECT p.path, p.name, t.table_name, c.table_name FROM temp.part AS p "
    "JOIN class_table AS t ON t.node = p.node JOIN event_class AS c ON c.id = t.class";

struct join {
	const struct text_list *parts; /* directories */
	const char *output, *command;
	struct progress *progress;
	struct timeline_reader
	    *db;            /* the timeline of tables that are not split by part */
	struct output file; /* the timeline's file */
	struct output_directory directory;
	struct name_set names; /* names of its tables */
};

/* A part as `part`, for some statements with its path. */
static int with_part(struct join *join, const char *path, const char *sql,
		     struct error *error)
{
	AUTOFREE char *db = mem_printf("%s/" PART_DB, path);
	const struct cell value = cell_of_text(path);
	int status = timeline_update_attach(join->db, db, "part", error);

	if (!status)
		status = (sql == mark_sql ? run_with(join->db, sql, &value, error)
					  : timeline_update_run(join->db, sql, error)) ||
				 timeline_update_detach(join->db, "part", error)
			     ? error_prefix(error, "%s", path)
			     : 0;
	return status;
}

static int error_of_row(void *context, const struct cell *row, struct error *error)
{
	AUTOFREE char *text = cell_text(row);

	(void)context;
	if (*text)
		error_set(error, "%s", text);
	return row->type == CELL_NULL ? 0 : -1;
}

static int read_parts(struct join *join, struct error *error)
{
	const struct text_list *parts = join->parts;
	struct text_list paths = {0};
	int status = 0;

	for (size_t i = 0; i < parts->count && !status; i++)
		status = with_part(join, parts->item[i], mark_sql, error);
	if (!status)
		status =
		    query_rows(join->db, wrong_sql, NULL, error_of_row, NULL, error) ||
		    query_texts(join->db, "SELECT path FROM temp.part ORDER BY node",
				NULL, &paths, error);
	for (size_t i = 0; i < paths.count && !status; i++)
		status = with_part(join, paths.item[i], copy_sql, error);
	text_list_clear(&paths);
	return status ? -1 : 0;
}

static int reserve_name(void *context, const struct cell *row, struct error *error)
{
	struct join *join = context;
	AUTOFREE char *name = cell_text(row);

	(void)error;
	name_reserve(&join->names, name);
	return 0;
}

static int name_class(void *context, const struct cell *row, struct error *error)
{
	struct join *join = context;
	AUTOFREE char *class = cell_text(row), *table = name_table(&join->names, class);
	const struct cell value[] = {cell_of_text(table), row[1]};

	return run_with(join->db, "UPDATE event_class SET table_name = ? WHERE id = ?",
			value, error);
}

/* One without rows, and what names its own tables have. */
static int open_timeline(struct join *join, struct error *error)
{
	const char *path = join->file.temporary, *target = join->output;

	if (write_empty(path, target, error))
		return -1;
	join->db = timeline_update_open(path, target, error);
	return !join->db ||
		       query_rows(join->db,
				  "SELECT name FROM sqlite_schema AS m "
				  "WHERE NOT " IS_OF_CLASS,
				  NULL, reserve_name, join, error) ||
		       timeline_update_run(join->db, begin_sql, error)
		   ? -1
		   : 0;
}

static int fill_timeline(struct join *join, struct error *error)
{
	const struct cell facts[] = {cell_of_text(CT_VERSION),
				     cell_of_text(join->command)};

	return read_parts(join, error) ||
		       query_rows(join->db, classes_sql, NULL, name_class, join, error) ||
		       timeline_update_run(join->db, pair_sql, error) ||
		       query_rows(join->db, differ_sql, NULL, error_of_row, NULL,
				  error) ||
		       timeline_update_run(join->db, resolve_sql, error) ||
		       run_with(join->db,
				"INSERT OR REPLACE INTO meta VALUES ('version', ?1), "
				"('command', ?2)",
				facts, error)
		   ? -1
		   : 0;
}

/* Link the part's file into TABLE/part=NODE/. */
static int link_table(void *context, const struct cell *row, struct error *error)
{
	const struct join *join = context;
	AUTOFREE char *part = cell_text(&row[0]), *own = cell_text(&row[2]);
	AUTOFREE char *node = file_name_escape(row[1].bytes, row[1].size);
	AUTOFREE char *table = file_name_escape(row[3].bytes, row[3].size);
	AUTOFREE char *tables = mem_printf("%s/tables", part),
		      *from = table_file(tables, own);
	AUTOFREE char *above = mem_printf("%s/%s", join->directory.temporary, table);
	AUTOFREE char *directory = mem_printf("%s/part=%s", above, node);
	AUTOFREE char *to = mem_printf("%s/part-0.parquet", directory);
	int status = 0;

	if ((mkdir(above, 0777) && errno != EEXIST) || mkdir(directory, 0777))
		status = error_errno(error, directory);
	else if (link(from, to))
		status = errno == EXDEV ? error_set(error,
						    "%s: on another file system than %s "
						    "(expected the same one)",
						    part, join->output)
					: error_errno(error, from);
	return status;
}

/* Write the tables that are not split by part. Threads read the timeline then, so no
 * connection may hold a lock for writing. */
static int write_once(struct join *join, struct error *error)
{
	struct text_list tables = {0};
	const struct files files = {&tables, ".", 0, 0};
	struct table_work work = {.timeline = join->file.temporary,
				  .own = join->output,
				  .directory = join->directory.temporary,
				  .progress = join->progress};
	int status = query_texts(join->db,
				 OTHER_TABLES " AND name NOT IN (SELECT table_name FROM "
					      "event_class WHERE table_name IS NOT NULL)",
				 NULL, &tables, error) ||
		     timeline_update_commit(join->db, error);

	timeline_reader_free(join->db);
	join->db = NULL;
	if (!status)
		status = write_files(&work, &files, error);
	text_list_clear(&tables);
	return status ? -1 : 0;
}

static int write_mark(const struct join *join, struct error *error)
{
	FILE *file = export_create(join->directory.temporary, JOIN_MARK, error);

	return file ? export_close(file, JOIN_MARK, error) : -1;
}

static int join_all(struct join *join, struct error *error)
{
	for (size_t i = 0; i < join->parts->count; i++)
		output_protect(join->parts->item[i]);
	if (output_directory_open(&join->directory, join->output, &join_directory, error))
		return -1;
	if (output_open_spooled(&join->file, -1, error) || open_timeline(join, error) ||
	    fill_timeline(join, error) ||
	    query_rows(join->db, links_sql, NULL, link_table, join, error) ||
	    write_once(join, error) || write_mark(join, error)) {
		output_directory_explain(&join->directory, error);
		return -1;
	}
	return output_directory_commit(&join->directory, error);
}

int parts_join(const struct text_list *parts, const char *output, const char *command,
	       struct progress *progress, struct error *error)
{
	struct join join = {.parts = parts,
			    .output = output,
			    .command = command,
			    .progress = progress,
			    .file = {.stream = -1}};
	int status = join_all(&join, error);

	timeline_reader_free(join.db);
	name_clear(&join.names);
	output_directory_discard(&join.directory);
	output_discard(&join.file);
	return status;
}
