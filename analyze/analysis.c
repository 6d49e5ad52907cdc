/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/catalog.h"
#include "analyze/query_tables.h"
#include "base/mem.h"
#include "base/search.h"
#include "timeline/reader.h"

const char no_spans_note[] =
    "what threads, processors and disks did: omitted by ctmerge --no-spans";

/* A thread under one of its names, from `begin_ns` on. */
struct thread_facts {
	int64_t node, tid, pid;     /* pid -1: not known */
	const char *comm, *process; /* names of thread and process; "" if unknown */
	nsec_t begin_ns;            /* NSEC_MIN: open */
};

/* The threads of a timeline. About 50 bytes each and its names. */
struct threads {
	struct thread_facts *item; /* by node, tid, begin */
	size_t count, capacity;
};

static int add_thread(void *context, const struct cell *row, struct error *error)
{
	struct threads *threads = context;

	(void)error;
	*MEM_NEXT(threads->item, threads->count, threads->capacity) =
	    (struct thread_facts){
		.node = cell_integer(&row[0], 0),
		.tid = cell_integer(&row[1], -1),
		.pid = cell_integer(&row[2], -1),
		.comm = cell_text(&row[3]),
		.process = cell_text(&row[4]),
		.begin_ns = cell_integer(&row[5], NSEC_MIN),
	    };
	return 0;
}

/* A thread that changed its name has an entry for each name, from the time of the change.
 */
static const char thread_sql[] =
    "WITH RECURSIVE %s former_name AS (%s), entry AS ("
    "SELECT id AS thread, comm, begin_ns AS at_ns, 0 AS is_former FROM thread"
    " UNION ALL SELECT thread, comm, from_ns, 1 FROM former_name"
    " UNION ALL SELECT f.thread, t.comm, f.until_ns, 0"
    " FROM former_name AS f JOIN thread AS t ON t.id = f.thread) "
    "SELECT t.node, t.tid, p.pid, e.comm, p.comm, e.at_ns FROM entry AS e"
    " JOIN thread AS t ON t.id = e.thread LEFT JOIN process AS p ON p.id = t.process "
    "ORDER BY t.node, t.tid, coalesce(e.at_ns, -9223372036854775807), e.is_former, t.id";

/* The spans by which threads of a window are named. */
static const char window_sql[] = SCOPE_THREADS(
    "main.thread_state") ", thread_state AS (SELECT s.* FROM list AS l "
			 "CROSS JOIN main.thread_state AS s WHERE " SCOPE_SPANS(
			     "main.thread_state",
			     "?1") "AND s.begin_ns < ?2 AND s.comm IS NOT "
				   "NULL AND l.tid <> 0),";

/* Read the threads. If that fails, the list is empty and query_run() reports the error.
 */
static struct threads *threads_new(struct query *query)
{
	const struct catalog *catalog = query->request->catalog;
	struct threads *threads = mem_zalloc(sizeof(*threads));
	AUTOFREE char *sql = mem_printf(thread_sql, query->is_window ? window_sql : "",
					query_file_sql(catalog->shared, "former_name"));
	const struct cell span[] = {cell_of_integer(query->scope.begin_ns),
				    cell_of_integer(query->scope.end_ns)};

	query_rows(query->reader, sql, span, add_thread, threads, &query->threads_error);
	return threads;
}

/* Return true if the entry sorts before this node, tid and time. */
static bool is_before(const struct thread_facts *facts, int64_t node, int64_t tid,
		      nsec_t at)
{
	if (facts->node != node)
		return facts->node < node;
	if (facts->tid != tid)
		return facts->tid < tid;
	return facts->begin_ns <= at;
}

/* Return the thread that had this number at the time, under its name of that time;
 * otherwise the last one before it, otherwise the first one, or NULL. The result is valid
 * as long as the query. */
static const struct thread_facts *find_thread(struct query *query, int64_t node,
					      int64_t tid, nsec_t at)
{
	const struct threads *threads = query->threads;
	size_t low;

	if (!threads)
		threads = query->threads = threads_new(query);
	low = PARTITION_POINT(threads->count, i,
			      is_before(&threads->item[i], node, tid, at));
	/* Use the last entry that began before `at`, or else the tid's first. */
	if (low > 0 && threads->item[low - 1].node == node &&
	    threads->item[low - 1].tid == tid)
		return &threads->item[low - 1];
	if (low < threads->count && threads->item[low].node == node &&
	    threads->item[low].tid == tid)
		return &threads->item[low];
	return NULL;
}

static void threads_free(struct threads *threads)
{
	if (!threads)
		return;
	for (size_t i = 0; i < threads->count; i++) {
		free((char *)threads->item[i].comm);
		free((char *)threads->item[i].process);
	}
	free(threads->item);
	free(threads);
}

enum { MOST_STEPS = 100000 };

/* The steps of --interval in the selected time are rows of several tables. */
static int check_interval(const struct query *query, struct error *error)
{
	nsec_t step = query->request->interval_ns;
	nsec_t span = nsec_sub(query->scope.end_ns, query->scope.begin_ns);

	if (!step || span / step < MOST_STEPS)
		return 0;
	return error_set(error,
			 "--interval: %lld steps in the selected time range (limit %d)",
			 (long long)(span / step + 1), MOST_STEPS);
}

/* Open the timeline; `checked`, if it is not NULL, has another connection to it. */
static int open_query(struct query *query, const struct analysis *analysis,
		      const struct request *request, const char *path,
		      const struct query *checked, struct error *error)
{
	*query = (struct query){.analysis = analysis, .request = request, .path = path};
	query->forms = request->forms ? request->forms : analysis->default_forms;
	query->group = request->group;
	progress_init(&query->progress, request->quiet);
	if (!path) {
		query->scope = (struct scope){
		    .end_ns = NSEC_STAMP_MOST, .all_nodes = true, .all_time = true};
		return 0;
	}
	if (request->tables)
		query->parquet = query_tables_open(path, error);
	else
		query->reader = timeline_reader_open(path, error);
	if (query->parquet)
		query->reader = query_tables_reader(query->parquet);
	if (!query->reader)
		return -1;
	if (checked)
		timeline_reader_skip_checks(query->reader, checked->reader);
	if (!scope_init(&query->scope, query->reader, request->begin, request->end,
			&request->nodes, error) &&
	    !check_interval(query, error))
		return 0;
	query_close(query);
	return -1;
}

int query_open(struct query *query, const struct analysis *analysis,
	       const struct request *request, const char *path, struct error *error)
{
	return open_query(query, analysis, request, path, NULL, error);
}

int query_open_again(struct query *query, const struct query *first, struct error *error)
{
	if (open_query(query, first->analysis, first->request, first->path, first, error))
		return -1;
	query->is_window = first->is_window;
	return 0;
}

void query_close(struct query *query)
{
	progress_end(&query->progress);
	threads_free(query->threads);
	error_clear(&query->threads_error);
	scope_clear(&query->scope);
	if (query->parquet)
		query_tables_free(query->parquet);
	else
		timeline_reader_free(query->reader);
	query->parquet = NULL;
	query->threads = NULL;
	query->reader = NULL;
}

int query_run(struct query *query, struct result *result, struct error *error)
{
	result_init(result, query->request);
	if (query->reader) {
		result->begin_ns = query->scope.begin_ns;
		result->end_ns = query->scope.end_ns;
		result->zone = zone_at(query->request->local_time, result->begin_ns);
	}
	if (query->analysis->run(query, result, error))
		return -1;
	if (query->threads_error.text)
		return error_set(error, "%s", error_text(&query->threads_error));
	return result_finish(result, error);
}

int query_name_error(const struct analysis *analysis, struct error *error)
{
	size_t length = strlen(analysis->name);

	return strncmp(error_text(error), analysis->name, length) == 0 &&
		       error_text(error)[length] == ':'
		   ? -1
		   : error_prefix(error, "%s", analysis->name);
}

bool query_has_thread(struct query *query, int64_t node, int64_t tid, nsec_t at)
{
	const struct request *request = query->request;
	const struct thread_facts *facts;

	if (!range_list_has(&request->tids, tid))
		return false;
	if (!request->pids.count && !request->names.count)
		return true;
	facts = find_thread(query, node, tid, at);
	if (!facts || (request->pids.count &&
		       (facts->pid < 0 || !range_list_has(&request->pids, facts->pid))))
		return false;
	return !request->names.count || text_list_matches(&request->names, facts->comm) ||
	       text_list_matches(&request->names, facts->process);
}

const char *query_thread_name(struct query *query, int64_t node, int64_t tid, nsec_t at)
{
	const struct thread_facts *facts = find_thread(query, node, tid, at);

	return facts ? facts->comm : "";
}

const char *query_node_name(const struct query *query, int64_t node)
{
	const struct scope_node *found = scope_find(&query->scope, node);

	return found ? found->name : "";
}

void query_progress(struct query *query, double share)
{
	progress_share(&query->progress, query->analysis->name, share);
}
