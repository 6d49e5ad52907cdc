/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/critical/critical_path.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/query.h"
#include "analyze/query_file.h"
#include "base/mem.h"

static const char slowest_sql[] =
    NODE_REQUEST "WHERE r.begin_ns >= ? AND r.responded_ns <= ? AND r.id >= ?"
		 " ORDER BY r.end_ns - r.begin_ns DESC, r.begin_ns, r.id LIMIT ?";

/* The last request of the message's flow before the message, or the message's own. */
static const char of_message_sql[] = NODE_REQUEST
    "JOIN message AS m ON m.id = ? WHERE r.id <= m.id AND r.protocol = m.protocol"
    " AND ((r.client_address = m.src AND r.server_address = m.dst"
    " AND r.client_port IS m.sport AND r.server_port IS m.dport)"
    " OR (r.client_address = m.dst AND r.server_address = m.src"
    " AND r.client_port IS m.dport AND r.server_port IS m.sport))"
    " ORDER BY r.id DESC LIMIT 1";

/* Read up to `most` requests; of the slowest, only those of selected nodes. Return their
 * number, or -1 with error. */
static int read_requests(struct node_request *request, int most, struct query *query,
			 const char *sql, const struct cell *value, struct error *error)
{
	const struct scope *scope = &query->scope;
	struct timeline_query *rows = query_start(query->reader, sql, value, error);
	int more = rows ? 1 : -1, count = 0;

	while (count < most && more > 0 &&
	       (more = timeline_query_next(rows, error)) > 0) {
		request[count] = node_request_of_row(timeline_query_row(rows));
		count += sql != slowest_sql ||
			 scope_has_node(scope, request[count].start.node) ||
			 scope_has_node(scope, request[count].server);
	}
	timeline_query_free(rows);
	return more < 0 ? -1 : count;
}

int node_requests_slowest(struct node_request *request, int most, struct query *query,
			  struct error *error)
{
	const struct scope *scope = &query->scope;
	int64_t id[2];
	const int status = scope_message_ids(scope, query->reader, id, error);
	const struct cell span[] = {
	    cell_of_integer(scope->begin_ns), cell_of_integer(scope->end_ns),
	    cell_of_integer(id[0]), cell_of_integer(scope->all_nodes ? most : -1)};

	return status ? status
		      : read_requests(request, most, query, slowest_sql, span, error);
}

/* Find the request of a message. Return 1, 0 if it had no response, or -1 with error. */
static int node_request_of(struct node_request *request, int64_t message,
			   struct query *query, struct error *error)
{
	const struct cell key = cell_of_integer(message);
	int found = read_requests(request, 1, query, of_message_sql, &key, error);

	return found > 0 ? request->start.message >= message : found;
}

enum { MOST_NAMED = 4 }; /* limit of threads in an error */

struct critical {
	struct query *query;
	struct result *result;
	struct history *history;
	struct path path;
	bool is_found;
	char *about; /* note on the path, or on why there is none */
	/* The threads that the options name: their number, the first few names, and the
	 * last one. */
	size_t threads;
	char *names;
	struct path_start thread;
};

/* The table that critical-path.sql reads. */
static const char path_segment[] =
    "path_segment (n, state, begin_ns, end_ns, node, tid, cpu, other_tid, from_node, "
    "message, sent_ns)";

static int store_segments(const struct critical *critical, struct error *error)
{
	struct timeline_rows *rows =
	    timeline_rows_begin(critical->query->reader, path_segment, 11, error);

	for (size_t i = 0; i < critical->path.count; i++) {
		const struct path_segment *at = &critical->path.segment[i];

		timeline_rows_add(
		    rows,
		    (const struct cell[]){
			cell_of_integer((int64_t)i),
			cell_of_text(path_state_name(at->state)),
			cell_of_integer(at->begin_ns), cell_of_integer(at->end_ns),
			cell_of_integer(at->node), cell_of_known(at->tid, -1),
			cell_of_known(at->cpu, -1), cell_of_known(at->other_tid, -1),
			cell_of_known(at->from_node, -1), cell_of_known(at->message, 0),
			cell_of_integer(at->sent_ns)});
	}
	return timeline_rows_end(rows);
}

/* Print the notes, and the tables of a path. */
static int print_path(struct critical *critical, struct error *error)
{
	const struct path *path = &critical->path;
	struct query *query = critical->query;
	struct result *result = critical->result;

	if (query->scope.without_spans)
		result_note(result, "%s", no_spans_note);
	query->tables = critical->is_found ? NULL : "";
	if (store_segments(critical, error) || query_file_run(query, result, error))
		return -1;
	if (path->deep)
		result_note(result,
			    "%zu waits are nested within more than %d others and were "
			    "not followed",
			    path->deep, PATH_DEEPEST);
	if (path->backward)
		result_note(result, "%zu messages were received before they were sent",
			    path->backward);
	if (critical->about)
		result_note(result, "%s", critical->about);
	return 0;
}

static char *describe_request(struct query *query, const struct node_request *request)
{
	const struct path_start *start = &request->start;
	AUTOFREE char *from =
	    start->tid > 0 ? mem_printf("thread %" PRId64 " (%s)", start->tid,
					query_thread_name(query, start->node, start->tid,
							  start->begin_ns))
			   : mem_strdup("an unknown thread");
	char *text =
	    mem_printf("of request %" PRId64 ": from %s of %s to %s, port %" PRId64,
		       request->id, from, query_node_name(query, start->node),
		       query_node_name(query, request->server), request->server_port);

	return text;
}

static int find_request_path(struct critical *critical, struct error *error)
{
	struct query *query = critical->query;
	int64_t wanted = query->request->request;
	struct node_request request;
	int found = wanted ? node_request_of(&request, wanted, query, error)
			   : node_requests_slowest(&request, 1, query, error);

	if (found < 0)
		return -1;
	if (!found && wanted)
		return error_set(error,
				 "%s: --request: message %" PRId64
				 " belongs to no request with a response; see "
				 "ctanalyze requests --log",
				 query->path, wanted);
	critical->is_found = found;
	critical->about = found ? describe_request(query, &request)
				: mem_strdup("no request between nodes was found; to "
					     "follow a thread, use --tid");
	return found ? path_walk(&critical->path, critical->history, &request.start) : 0;
}

static int add_thread(void *context, const struct cell *row, struct error *error)
{
	struct critical *critical = context;
	struct query *query = critical->query;
	const struct scope *scope = &query->scope;
	struct path_start thread = {.node = row[0].integer,
				    .tid = row[1].integer,
				    .begin_ns = row[2].integer,
				    .end_ns = row[3].integer};
	char *names;

	(void)error;
	if (thread.begin_ns < scope->begin_ns)
		thread.begin_ns = scope->begin_ns;
	if (thread.end_ns > scope->end_ns)
		thread.end_ns = scope->end_ns;
	if (!scope_has_node(scope, thread.node) ||
	    !query_has_thread(query, thread.node, thread.tid, thread.begin_ns))
		return 0;
	critical->thread = thread;
	if (critical->threads++ >= MOST_NAMED)
		return 0;
	names = mem_printf(
	    "%s%s%s/%" PRId64 " %s", critical->names ? critical->names : "",
	    critical->names ? ", " : "", query_node_name(query, thread.node), thread.tid,
	    query_thread_name(query, thread.node, thread.tid, thread.begin_ns));
	free(critical->names);
	critical->names = names;
	return 0;
}

/* Choose the only thread that the options name. Return 0, or -1 with an error that lists
 * several. */
static int choose_thread(struct critical *critical, struct error *error)
{
	static const char sql[] =
	    "SELECT node, tid, min(begin_ns), max(end_ns) FROM thread_state"
	    " WHERE tid > 0 AND begin_ns < ?2 AND end_ns > ?1 AND state <> 'dead'"
	    " GROUP BY node, tid ORDER BY node, tid";
	struct query *query = critical->query;
	const struct cell span[] = {cell_of_integer(query->scope.begin_ns),
				    cell_of_integer(query->scope.end_ns)};

	if (query_rows(query->reader, sql, span, add_thread, critical, error))
		return -1;
	if (!critical->threads)
		return error_set(
		    error,
		    "%s: no such thread in the selected time range; see ctanalyze cpu",
		    query->path);
	if (critical->threads > 1)
		return error_set(
		    error, "%s: %zu threads match (%s%s); choose one by --node and --tid",
		    query->path, critical->threads, critical->names,
		    critical->threads > MOST_NAMED ? ", ..." : "");
	return 0;
}

static int find_thread_path(struct critical *critical, struct error *error)
{
	const struct path_start *thread = &critical->thread;
	struct query *query = critical->query;

	if (choose_thread(critical, error))
		return -1;
	critical->is_found = true;
	critical->about = mem_printf(
	    "of thread %" PRId64 " (%s) of %s, as long as it is known in the "
	    "selected time",
	    thread->tid,
	    query_thread_name(query, thread->node, thread->tid, thread->begin_ns),
	    query_node_name(query, thread->node));
	return path_walk(&critical->path, critical->history, thread);
}

static const char switches_sql[] = "SELECT 1 FROM event_class WHERE name = "
				   "'sched_switch' AND events > 0";

int run_critical_path(struct query *query, struct result *result, struct error *error)
{
	const struct request *request = query->request;
	struct critical critical = {.query = query, .result = result};
	bool by_thread =
	    request->tids.count || request->pids.count || request->names.count;
	int64_t switches = 0;
	int status = -1;

	if (request->request && by_thread)
		return error_misuse(
		    error, "--request cannot be used with --tid, --pid or --procname");
	critical.history = history_new(query->reader, error);
	if (critical.history &&
	    query_integer(query->reader, switches_sql, NULL, &switches, error) >= 0)
		status = !switches   ? 0
			 : by_thread ? find_thread_path(&critical, error)
				     : find_request_path(&critical, error);
	if (!status)
		status = print_path(&critical, error);
	path_clear(&critical.path);
	free(critical.names);
	free(critical.about);
	history_free(critical.history);
	return status;
}
