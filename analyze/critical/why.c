/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The critical paths of all requests, as parts that why.sql adds up. */
#include "analyze/critical/path.h"
#include "analyze/query.h"
#include "base/mem.h"

/* A position in the parts of all requests; each part becomes a row of path_part. */
struct part_cursor {
	struct query *query;
	struct history *history;
	struct timeline_query *requests;
	struct node_request request;
	struct path path;
	size_t part;
	int64_t walked, requests_count;
};

static void add_way_there(struct path *path, const struct node_request *request,
			  enum path_state state, nsec_t begin_ns, nsec_t end_ns)
{
	if (begin_ns < end_ns)
		*MEM_NEXT(path->segment, path->count, path->capacity) =
		    (struct path_segment){.state = state,
					  .begin_ns = begin_ns,
					  .end_ns = end_ns,
					  .node = request->server,
					  .tid = -1,
					  .cpu = -1,
					  .other_tid = -1,
					  .from_node = request->start.node};
}

/* Follow a request from its end back to its arrival at the server; what the server did
 * before has nothing to do with it. The parts add up to the request's time. */
static int walk_request(struct part_cursor *cursor)
{
	const struct node_request *request = &cursor->request;
	nsec_t begin_ns = request->start.begin_ns;
	nsec_t sent_ns = nsec_add(begin_ns, request->resent_there_ns);
	struct path_start start = request->start;
	struct path *path = &cursor->path;

	start.begin_ns = request->arrived_ns;
	if (path_walk(path, cursor->history, &start) ||
	    path_split_waits(path, cursor->history))
		return -1;
	add_way_there(path, request, PATH_RESENT, begin_ns, sent_ns);
	add_way_there(path, request, PATH_NETWORK, sent_ns, request->arrived_ns);
	return 0;
}

/* 1, or 0 at the end, or -1 with error. */
static int next_request(struct part_cursor *cursor, struct error *error)
{
	int more = timeline_query_next(cursor->requests, error);

	path_clear(&cursor->path);
	cursor->part = 0;
	if (more <= 0)
		return more;
	cursor->request = node_request_of_row(timeline_query_row(cursor->requests));
	query_progress(cursor->query,
		       (double)cursor->walked++ / (double)cursor->requests_count);
	return walk_request(cursor) ? -1 : 1;
}

static int next_part(void *context, struct cell *row, struct error *error)
{
	struct part_cursor *cursor = context;
	const struct path_segment *part;

	while (cursor->part == cursor->path.count) {
		int more = next_request(cursor, error);

		if (more <= 0)
			return more;
	}
	part = &cursor->path.segment[cursor->part++];
	row[0] = cell_of_integer(cursor->request.id);
	row[1] = cell_of_text(path_state_name(part->state));
	row[2] = cell_of_integer(part->begin_ns);
	row[3] = cell_of_integer(nsec_sub(part->end_ns, part->begin_ns));
	row[4] = cell_of_known(part->node, -1);
	row[5] = cell_of_known(part->tid, -1);
	row[6] = cell_of_known(part->from_node, -1);
	row[7] = cell_of_known(part->other_tid, -1);
	return 1;
}

/* Store the parts of the requests of `compared` as path_part. The slowest and those
 * around the median are enough, unless sums over all requests are wanted. */
static int store_parts(struct query *query, bool all, struct error *error)
{
	static const char count_sql[] =
	    "SELECT count(*) FROM compared WHERE ?1 OR is_slow + is_middle > 0";
	static const char requests_sql[] =
	    NODE_REQUEST "JOIN compared AS c ON c.request = r.id"
			 " WHERE ?1 OR c.is_slow + c.is_middle > 0 ORDER BY r.id";
	const struct cell which = cell_of_integer(all);
	struct part_cursor cursor = {.query = query};
	int status = -1;

	cursor.history = history_new(query->reader, error);
	cursor.requests = timeline_query_new(query->reader, requests_sql, error);
	if (cursor.history && cursor.requests &&
	    query_integer(query->reader, count_sql, &which, &cursor.requests_count,
			  error) >= 0 &&
	    !timeline_query_ask(cursor.requests, &which, 1, error))
		status = timeline_reader_keep_rows(
		    query->reader,
		    "path_part (request, state, begin_ns, took_ns, node, tid, "
		    "from_node, other_tid)",
		    8, next_part, &cursor, error);
	path_clear(&cursor.path);
	timeline_query_free(cursor.requests);
	history_free(cursor.history);
	return status;
}

/* Let why.sql select the requests, and then add up the parts of their paths. */
int run_why(struct query *query, struct result *result, struct error *error)
{
	const char *tables = query->tables;
	struct result walked;
	int status;

	if (query->scope.without_spans)
		result_note(result, "%s", no_spans_note);
	result_init(&walked, query->request);
	query->tables = "walked";
	status = query_file_run(query, &walked, error);
	result_clear(&walked);
	query->tables = tables;
	return status || store_parts(query, !tables || query_words_have(tables, "parts"),
				     error)
		   ? -1
		   : query_file_run(query, result, error);
}
