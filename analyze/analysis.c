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

/* A name that a thread had before its last one. */
struct former_name {
	char *comm;
	nsec_t begin_ns, end_ns;
};

/* A thread, from `begin_ns` on. */
struct thread_facts {
	int64_t id, node, tid, pid; /* pid -1: not known */
	const char *comm, *process; /* last names of thread and process; "" if unknown */
	nsec_t begin_ns;            /* NSEC_MIN: open */
	struct former_name *former; /* by time; read on first use */
	size_t formers, capacity;
	bool has_formers;
};

/* The threads of a timeline. About 80 bytes each and its names. */
struct threads {
	struct thread_facts *item; /* by node, tid, begin */
	size_t count, capacity;
	struct timeline_query *former;
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
		.id = cell_integer(&row[6], 0),
	    };
	return 0;
}

static const char thread_sql[] =
    "SELECT t.node, t.tid, p.pid, t.comm, p.comm, t.begin_ns, t.id FROM thread AS t"
    " LEFT JOIN process AS p ON p.id = t.process "
    "ORDER BY t.node, t.tid, coalesce(t.begin_ns, -9223372036854775807), t.id";

/* Idle is not one thread. */
static const char former_sql[] =
    "SELECT comm, begin_ns, end_ns FROM thread_state WHERE node = ? AND tid = ?"
    " AND thread = ? AND comm IS NOT NULL AND tid <> 0 ORDER BY begin_ns";

/* Read the threads. If that fails, the list is empty and query_run() reports the error.
 */
static struct threads *threads_new(struct query *query)
{
	struct threads *threads = mem_zalloc(sizeof(*threads));

	query_rows(query->reader, thread_sql, NULL, add_thread, threads,
		   &query->threads_error);
	return threads;
}

static void add_former_name(struct thread_facts *facts, const struct cell *row)
{
	const nsec_t begin_ns = cell_integer(&row[1], 0),
		     end_ns = cell_integer(&row[2], 0);
	struct former_name *last =
	    facts->formers ? &facts->former[facts->formers - 1] : NULL;
	char *comm = cell_text(&row[0]);

	if (last && last->end_ns == begin_ns && !strcmp(last->comm, comm)) {
		last->end_ns = end_ns;
		free(comm);
		return;
	}
	*MEM_NEXT(facts->former, facts->formers, facts->capacity) =
	    (struct former_name){comm, begin_ns, end_ns};
}

/* Read the names that a thread had before its last one. query_run() reports an error. */
static void read_former_names(struct query *query, struct thread_facts *facts)
{
	struct threads *threads = query->threads;
	struct error *error = &query->threads_error;
	const struct cell key[] = {cell_of_integer(facts->node),
				   cell_of_integer(facts->tid),
				   cell_of_integer(facts->id)};

	facts->has_formers = true;
	if (error->text)
		return;
	if (!threads->former)
		threads->former = timeline_query_new(query->reader, former_sql, error);
	if (!threads->former || timeline_query_ask(threads->former, key, 3, error))
		return;
	while (timeline_query_next(threads->former, error) > 0)
		add_former_name(facts, timeline_query_row(threads->former));
}

/* Return the name that a thread had at that time. */
static const char *name_at(struct query *query, struct thread_facts *facts, nsec_t at)
{
	size_t low;

	if (!facts->has_formers)
		read_former_names(query, facts);
	low = PARTITION_POINT(facts->formers, i, facts->former[i].begin_ns <= at);
	return low > 0 && at < facts->former[low - 1].end_ns ? facts->former[low - 1].comm
							     : facts->comm;
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

/* Return the thread that had this number at the time, otherwise the last one before it,
 * otherwise the first one, or NULL. The result is valid as long as the query. */
static struct thread_facts *find_thread(struct query *query, int64_t node, int64_t tid,
					nsec_t at)
{
	struct threads *threads = query->threads;
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
		struct thread_facts *facts = &threads->item[i];

		for (size_t k = 0; k < facts->formers; k++)
			free(facts->former[k].comm);
		free(facts->former);
		free((char *)facts->comm);
		free((char *)facts->process);
	}
	timeline_query_free(threads->former);
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
	return open_query(query, first->analysis, first->request, first->path, first,
			  error);
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
	struct thread_facts *facts;

	if (!range_list_has(&request->tids, tid))
		return false;
	if (!request->pids.count && !request->names.count)
		return true;
	facts = find_thread(query, node, tid, at);
	if (!facts || (request->pids.count &&
		       (facts->pid < 0 || !range_list_has(&request->pids, facts->pid))))
		return false;
	return !request->names.count ||
	       text_list_matches(&request->names, name_at(query, facts, at)) ||
	       text_list_matches(&request->names, facts->process);
}

const char *query_thread_name(struct query *query, int64_t node, int64_t tid, nsec_t at)
{
	struct thread_facts *facts = find_thread(query, node, tid, at);

	return facts ? name_at(query, facts, at) : "";
}

const char *query_last_name(struct query *query, int64_t node, int64_t tid, nsec_t at)
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
