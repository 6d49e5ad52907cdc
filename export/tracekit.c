/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The files of a Tracekit run, a directory a node: node_meta.json, link_meta.json and,
 * below cctf/, what its scripts read. Names of members and units are Tracekit's: ts_ms is
 * milliseconds since the epoch, rss_kb KiB, cpu_util percent, rx_Bps bytes a second. A
 * member whose value is not known is null where Tracekit's scripts want it there, and
 * left out elsewhere. SQL makes the records; parameters are the node's id (?1), the begin
 * (?2) and end (?3) of what was asked for, the node's name (?4) and the stage (?5).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/formats.h"
#include "tables/dataset.h"
#include "tables/directory.h"
#include "timeline/query.h"

/* Nanoseconds to milliseconds, rounded down. */
#define MS(ns) "((" ns " - (" ns " % 1000000 + 1000000) % 1000000) / 1000000)"

/* The interface that moved the most, but for the loopback. */
#define NIC                                                                              \
	"(SELECT i.name FROM sample AS s JOIN metric AS m ON m.id = s.metric "           \
	"JOIN metric_item AS i ON i.id = s.item WHERE s.node = ?1 AND m.activity = "     \
	"'net' AND m.name IN ('rxkB/s', 'txkB/s') AND i.name <> 'lo' "                   \
	"GROUP BY i.id ORDER BY sum(s.value) DESC, i.name LIMIT 1)"

/* What no source of a timeline knows: what a link can carry. */
#define NO_LINK "'BW_bps', NULL, 'PR_s', NULL"

#define NODE_FACTS                                                                       \
	"'cpu_cores', nullif(max(n.cpus, 0), 0), 'mem_mb',"                              \
	" CASE WHEN n.mem_kib >= 1024 THEN n.mem_kib / 1024 END, 'cpu_model',"           \
	" (SELECT CASE WHEN json_valid(value) THEN json_extract(value, '$.cpu_model') "  \
	"END FROM meta WHERE key = 'node.json.' || n.name),"                             \
	" 'cpu_freq_mhz', CASE WHEN n.cpu_mhz > 0 THEN n.cpu_mhz END"

/* Tasks, with what their records say besides as `d`. */
#define TASKS                                                                            \
	"WITH task AS (SELECT *, CASE WHEN json_valid(data) THEN CASE json_type(data)"   \
	" WHEN 'object' THEN data ELSE '{}' END ELSE '{}' END AS d,"                     \
	" coalesce(enqueue_ns, begin_ns) AS queued_ns,"                                  \
	" coalesce(begin_ns, enqueue_ns) AS started_ns FROM invocation WHERE node = ?1"  \
	" AND coalesce(end_ns, begin_ns, ?3) >= ?2"                                      \
	" AND coalesce(enqueue_ns, begin_ns, ?2) <= ?3) "
#define MODULE   "coalesce(json_extract(d, '$.module_id'), name)"
#define INSTANCE "coalesce(json_extract(d, '$.instance_id'), 'pid-' || pid)"

/* Processes by time: the item's name begins with the pid; NULL where not sampled. */
#define PROCESSES                                                                        \
	"WITH seen AS (SELECT s.ts_ns, s.item, CAST(i.name AS INTEGER) AS pid,"          \
	" CAST(round(max(s.value) FILTER (WHERE m.name = 'utime')) AS INTEGER) AS "      \
	"utime,"                                                                         \
	" CAST(round(max(s.value) FILTER (WHERE m.name = 'stime')) AS INTEGER) AS "      \
	"stime,"                                                                         \
	" CAST(round(max(s.value) FILTER (WHERE m.name = 'rss')) AS INTEGER) AS rss "    \
	"FROM metric AS m CROSS JOIN sample AS s ON s.metric = m.id AND s.node = ?1"     \
	" AND s.ts_ns BETWEEN ?2 AND ?3 JOIN metric_item AS i ON i.id = s.item "         \
	"WHERE m.activity = 'process' AND m.name IN ('utime', 'stime', 'rss') "          \
	"GROUP BY s.ts_ns, s.item) "

/* A file: a line a row. */
struct file {
	const char *name;
	const char *empty; /* what is missing where it has no line; NULL: nothing */
	const char *sql;
};

static const struct file files[] = {
    {"node_meta.json", NULL,
     "SELECT json_object('run_id', (SELECT value FROM meta WHERE key = 'name'),"
     " 'node', n.name, 'stage', ?5, 'host', n.hostname, 'iface', " NIC ", " NODE_FACTS
     ") FROM node AS n WHERE n.id = ?1"},
    {"link_meta.json", NULL, "SELECT json_object('iface', " NIC ", " NO_LINK ")"},
    {"cctf/nodes.json", NULL,
     "SELECT json_array(json_object('node_id', n.name, 'stage', ?5, " NODE_FACTS
     ")) FROM node AS n WHERE n.id = ?1"},
    {"cctf/links.json", NULL,
     "SELECT json_array(json_object('u', ?4, 'v', ?4 || '.net', " NO_LINK "))"},
    {"cctf/invocations.jsonl",
     "no tasks (invocations.jsonl): invocations, placement_events and system_stats "
     "are "
     "empty",
     TASKS
     "SELECT json_patch(json_object("
     "'trace_id', coalesce(json_extract(d, '$.trace_id'), 'invocation-' || id),"
     " 'span_id', coalesce(json_extract(d, '$.span_id'), 'invocation-' || id),"
     " 'parent_id', json_extract(d, '$.parent_id'), 'module_id', " MODULE
     ", 'instance_id', " INSTANCE ", 'method', json_extract(d, '$.method'),"
     " 'path', json_extract(d, '$.path'), 'bytes_in', json_extract(d, "
     "'$.bytes_in'),"
     " 'bytes_out', coalesce(json_extract(d, '$.bytes_out'), json_extract(d, "
     "'$.bytes')),"
     " 'ts_enqueue', " MS("queued_ns") ", 'ts_start', " MS(
	 "started_ns") ", 'ts_end', " MS("end_ns") ", 'node', ?4, 'stage', ?5, "
						   "'pid', pid,"
						   " 'status', coalesce(status, "
						   "json_extract(d, '$.status'))),"
						   " json_object('queue_time_ms',"
						   " " MS("started_ns") " - " MS(
						       "que"
						       "ued"
						       "_n"
						       "s") ", "
							    "'service_time_ms',"
							    " " MS(
								"end_ns") " -"
									  " " MS(
									      "started_"
									      "ns") ", "
										    "'rt_"
										    "ms',"
										    " " MS("end_ns") " - " MS(
											"queued_ns") ")) FROM task ORDER BY queued_ns, id"},
    {"cctf/placement_events.jsonl", NULL,
     TASKS ", change AS (SELECT 0 AS place, 'start' AS event, begin_ns AS at_ns, * "
	   "FROM task "
	   "UNION ALL SELECT 1, 'stop', end_ns, * FROM task) "
	   "SELECT json_object('ts', " MS(
	       "at_ns") ", 'app_id',"
			" coalesce(json_extract(d, '$.app_id'), " MODULE
			"), 'module_id', " MODULE ", 'instance_id', " INSTANCE
			", 'node_id', ?4, 'event', event, 'stage', ?5) "
			"FROM change WHERE at_ns IS NOT NULL ORDER BY queued_ns, id, "
			"place"},
    {"cctf/proc_metrics.jsonl",
     "no samples of processes (proc.csv): proc_metrics, proc_cpu and proc_rss are "
     "empty",
     PROCESSES "SELECT json_patch('{}', json_object('ts_ms', " MS(
	 "ts_ns") ", 'pid', pid,"
		  " 'rss_kb', rss, 'utime', CASE WHEN stime IS NOT NULL THEN utime / "
		  "10000000 END,"
		  " 'stime', CASE WHEN utime IS NOT NULL THEN stime / 10000000 END)) "
		  "FROM seen ORDER BY ts_ns, item"},
    /* Whole counts: their sum is right, though each is cut to whole ones. A count
     * that went back is of another process. */
    {"cctf/proc_cpu.jsonl", NULL,
     PROCESSES
     ", step AS (SELECT ts_ns, item, pid, utime + stime AS used_ns,"
     " lag(ts_ns) OVER one AS last_ns, lag(utime + stime) OVER one AS last_used_ns "
     "FROM seen WHERE utime + stime IS NOT NULL"
     " WINDOW one AS (PARTITION BY pid ORDER BY ts_ns, item)) "
     "SELECT json_object('ts_ms', " MS("ts_ns") ", 'pid', pid, 'cpu_ms', " MS(
	 "used_"
	 "ns") " - " MS("last_used_ns") ", 'dt_ms', " MS("ts_ns") " - " MS("last_ns") ") "
										      "FR"
										      "OM"
										      " s"
										      "te"
										      "p "
										      "WH"
										      "ER"
										      "E "
										      "us"
										      "ed"
										      "_n"
										      "s "
										      ">="
										      " "
										      "la"
										      "st"
										      "_u"
										      "se"
										      "d_"
										      "ns"
										      " "
										      "OR"
										      "DE"
										      "R "
										      "BY"
										      " "
										      "ts"
										      "_n"
										      "s,"
										      " i"
										      "te"
										      "m"},
    {"cctf/proc_rss.jsonl", NULL,
     PROCESSES "SELECT json_object('ts_ms', " MS(
	 "ts_ns") ", 'pid', pid, 'rss_kb', rss) "
		  "FROM seen WHERE rss IS NOT NULL ORDER BY ts_ns, item"},
    {"cctf/host_metrics.jsonl",
     "no samples of %idle and kbmemfree (sar): host_metrics is empty",
     "SELECT CASE m.name WHEN '%idle' THEN json_object('ts_ms', " MS(
	 "s.ts_ns") ", 'node', ?4, 'stage', ?5, 'cpu_util', 100 - s.value)"
		    " ELSE json_object('ts_ms', " MS(
			"s.ts_ns") ", 'node', ?4, 'stage', ?5,"
				   " 'mem_free_mb', CAST(s.value / 1024 AS INTEGER)) "
				   "END "
				   "FROM metric AS m CROSS JOIN sample AS s ON "
				   "s.metric = m.id AND s.node = ?1"
				   " AND s.ts_ns BETWEEN ?2 AND ?3 "
				   "WHERE (m.activity = 'cpu' AND m.name = '%idle' "
				   "AND s.item IN"
				   " (SELECT id FROM metric_item WHERE type = 'cpu' "
				   "AND name = 'all'))"
				   " OR (m.activity = 'memory' AND m.name = "
				   "'kbmemfree') ORDER BY s.ts_ns, m.name"},
    {"cctf/link_metrics.jsonl",
     "no samples of rxkB/s and txkB/s (sar): link_metrics is empty",
     "WITH link AS (SELECT s.ts_ns, i.name,"
     " max(s.value) FILTER (WHERE m.name = 'rxkB/s') AS received,"
     " max(s.value) FILTER (WHERE m.name = 'txkB/s') AS sent "
     "FROM metric AS m CROSS JOIN sample AS s ON s.metric = m.id AND s.node = ?1"
     " AND s.ts_ns BETWEEN ?2 AND ?3 JOIN metric_item AS i ON i.id = s.item "
     "WHERE m.activity = 'net' AND m.name IN ('rxkB/s', 'txkB/s') AND i.name <> 'lo' "
     "GROUP BY s.ts_ns, s.item) "
     "SELECT json_object('ts_ms', " MS(
	 "ts_ns") ", 'node', ?4, 'stage', ?5, 'link',"
		  " ?4 || '.' || CASE name WHEN " NIC " THEN 'nic' ELSE name END,"
		  " 'rx_Bps', CAST(received * 1024 AS INTEGER),"
		  " 'tx_Bps', CAST(sent * 1024 AS INTEGER)) "
		  "FROM link WHERE received + sent IS NOT NULL ORDER BY ts_ns, name"},
};

/* One more task at a time, or one less. */
static const char changes_sql[] =
    TASKS "SELECT queued_ns AS at_ns, 1 AS by FROM task WHERE queued_ns IS NOT NULL "
	  "UNION ALL SELECT end_ns, -1 FROM task WHERE queued_ns + end_ns IS NOT NULL "
	  "ORDER BY at_ns, by";

/* Of a longer time without a change only the begin is told, as a stamp may be of 2068. */
#define QUIET_NS (3600 * NSEC_PER_SEC)

struct writing {
	struct export *export;
	char *directory; /* below the export's */
	struct cell value[5];
	FILE *file;
	nsec_t now_ns; /* of tasks in flight */
	int64_t in_flight;
	bool any;
};

static int take_line(void *context, const struct cell *row, struct error *error)
{
	struct writing *writing = context;

	(void)error; /* what could not be written is told at the close */
	fwrite(row->bytes, 1, row->type == CELL_TEXT ? row->size : 0, writing->file);
	putc('\n', writing->file);
	return 0;
}

/* Every row of a statement to a file; for the last part of one, `end` adds what it has.
 */
static int write_file(struct writing *writing, const struct file *file,
		      timeline_take *take, int (*end)(struct writing *, struct error *),
		      struct error *error)
{
	char *path = mem_printf("%s/%s", writing->directory, file->name);
	int status = -1;

	writing->file = export_create(writing->export->directory, path, error);
	if (writing->file) {
		status = query_rows(writing->export->timeline, file->sql, writing->value,
				    take, writing, error);
		if (!status && end)
			status = end(writing, error);
		if (!status && file->empty && ftell(writing->file) == 0)
			problem_add(&writing->export->notes, writing->value[3].bytes,
				    "empty", 1, "%s", file->empty);
		if (status)
			fclose(writing->file);
		else
			status = export_close(writing->file, file->name, error);
	}
	free(path);
	return status;
}

/* How many tasks wait or run now. */
static int put_in_flight(struct writing *writing, struct error *error)
{
	struct cell value[] = {cell_of_integer(writing->now_ns), writing->value[3],
			       writing->value[4], cell_of_integer(writing->in_flight)};

	return writing->any
		   ? query_rows(
			 writing->export->timeline,
			 "SELECT json_object('ts_ms', " MS(
			     "?1") ", 'node', ?2, 'stage', ?3, 'metric', 'in_flight', "
				   "'value', ?4, 'instance_id', ?2)",
			 value, take_line, writing, error)
		   : 0;
}

/* Every second from the first to the last change. */
static int take_change(void *context, const struct cell *row, struct error *error)
{
	struct writing *writing = context;
	nsec_t at_ns = row[0].integer;

	if (!writing->any)
		writing->now_ns = at_ns;
	writing->any = true;
	while (writing->now_ns < at_ns) {
		nsec_t left;

		if (put_in_flight(writing, error))
			return -1;
		writing->now_ns = nsec_add(writing->now_ns, NSEC_PER_SEC);
		left = nsec_sub(at_ns, writing->now_ns);
		if (left > QUIET_NS)
			writing->now_ns =
			    nsec_add(writing->now_ns, left / NSEC_PER_SEC * NSEC_PER_SEC);
	}
	writing->in_flight += row[1].integer;
	return 0;
}

static int write_node(struct export *export, const struct scope_node *node,
		      const char *stage, struct error *error)
{
	static const struct file stats = {"cctf/system_stats.jsonl", NULL, changes_sql};
	struct writing writing = {
	    .export = export,
	    .directory = dataset_escape(node->name, strlen(node->name)),
	    .value = {cell_of_integer(node->id), cell_of_integer(export->scope.begin_ns),
		      cell_of_integer(export->scope.end_ns)}};
	int status = 0;

	cell_set_bytes(&writing.value[3], CELL_TEXT, node->name, strlen(node->name));
	cell_set_bytes(&writing.value[4], CELL_TEXT, stage, strlen(stage));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !status; i++)
		status = write_file(&writing, &files[i], take_line, NULL, error);
	if (!status)
		status = write_file(&writing, &stats, take_change, put_in_flight, error);
	free(writing.directory);
	return status;
}

struct tracekit_options {
	char *stage;
};

static void *new_options(void)
{
	return mem_zalloc(sizeof(struct tracekit_options));
}

static size_t option_rows(void *options, struct option_row *row)
{
	struct tracekit_options *tracekit = options;

	row[0] = (struct option_row){.name = "stage",
				     .kind = OPTION_STRING,
				     .target = &tracekit->stage,
				     .argument = "NAME",
				     .help = "the stage of all nodes (default: cloud)"};
	return 1;
}

static void free_options(void *options)
{
	struct tracekit_options *tracekit = options;

	free(tracekit->stage);
	free(tracekit);
}

static int make_plan(const void *options, const char *output, struct export_plan *plan,
		     struct error *error)
{
	(void)options;
	(void)output;
	(void)error;
	plan->target = EXPORT_TO_DIRECTORY;
	return 0;
}

static int run(struct export *export, struct error *error)
{
	const struct tracekit_options *tracekit = export->options;
	const struct scope *scope = &export->scope;

	for (size_t i = 0; i < scope->nodes; i++)
		if (scope->node[i].chosen &&
		    write_node(export, &scope->node[i],
			       tracekit->stage ? tracekit->stage : "cloud", error))
			return -1;
	return 0;
}

const struct export_format export_tracekit = {
    .name = "tracekit",
    .summary = "the JSON files of a Tracekit run, a directory a node",
    .usage = "[OPTION...] RUN.db -o DIR",
    .options_new = new_options,
    .rows = option_rows,
    .options_free = free_options,
    .plan = make_plan,
    .run = run,
};
