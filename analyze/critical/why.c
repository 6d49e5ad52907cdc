/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/critical/why.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/query.h"
#include "analyze/query_file.h"
#include "base/mem.h"
#include "base/order.h"
#include "timeline/path.h"

/* A request of a group: the number of its first one, and when it is ranked its part in
 * the comparison. qsort() moves items of up to 32 bytes, and takes twice as long for
 * larger ones, which it sorts by pointers. */
struct ranked_request {
	int64_t request, total_ns, begin_ns;
	uint32_t group;
	uint16_t weight; /* requests that it stands for in a report; 0: none */
	bool is_slow, is_middle;
};

/* The requests of `answered`, by group and time. */
struct ranking {
	int64_t *first; /* request of each group */
	struct ranked_request *item;
	size_t count, capacity, groups, first_capacity;
	int64_t stored;
};

/* A report explains any window by all requests, or if they are more than MOST_REQUESTS,
 * by the slowest 1 % of each group and about SAMPLES of its others, every Nth by time. */
enum { MOST_REQUESTS = 30000, SAMPLES = 10000 };

static const char *const ranked_columns[] = {"request", "total_ns", "begin_ns", NULL};

static int add_request(void *context, size_t group, const struct cell *row,
		       struct error *error)
{
	struct ranking *ranking = context;
	const struct ranked_request request = {.request = cell_integer(&row[0], 0),
					       .total_ns = cell_integer(&row[1], 0),
					       .begin_ns = cell_integer(&row[2], 0),
					       .group = (uint32_t)group};

	(void)error;
	if (group == ranking->groups)
		*MEM_NEXT(ranking->first, ranking->groups, ranking->first_capacity) =
		    request.request;
	else if (request.request < ranking->first[group])
		ranking->first[group] = request.request;
	*MEM_NEXT(ranking->item, ranking->count, ranking->capacity) = request;
	return 0;
}

static int compare_requests(const void *a, const void *b)
{
	const struct ranked_request *x = a, *y = b;

	return COMPARE(x->group, y->group) ?:
	       COMPARE(x->total_ns, y->total_ns) ?:
	       COMPARE(x->request, y->request);
}

/* Mark the slowest 1 % of a group and the middle tenth, which is of more than 1,000
 * requests a hundred, or 1 %. */
static void mark_group(struct ranked_request *request, size_t count)
{
	const double requests = (double)count;
	const double middle = fmax(1, fmin(requests / 10, fmax(100, requests / 100)));

	for (size_t i = 0; i < count; i++) {
		request[i].is_slow =
		    (double)(i + 1) > requests - requests / 100 || i + 1 == count;
		request[i].is_middle = fabs(2 * (double)i + 1 - requests) <= middle;
	}
}

/* Mark the requests by which a report explains any window, of one group. */
static void weight_group(struct ranked_request *request, size_t count, size_t every)
{
	for (size_t i = 0; i < count; i++)
		request[i].weight = every == 1 || request[i].is_slow ? 1
				    : i % every == every / 2         ? (uint16_t)every
								     : 0;
}

static void mark_groups(struct ranking *ranking)
{
	struct ranked_request *item = ranking->item;
	size_t every =
	    ranking->count > MOST_REQUESTS ? 1 + (ranking->count - 1) / SAMPLES : 1;

	every = every < UINT16_MAX ? every : UINT16_MAX;
	SORT(item, ranking->count, compare_requests);
	for (size_t i = 0, end; i < ranking->count; i = end) {
		for (end = i + 1;
		     end < ranking->count && item[end].group == item[i].group;)
			end++;
		mark_group(&item[i], end - i);
		weight_group(&item[i], end - i, every);
	}
}

/* Store the marked requests, or all. Return 0, or -1 with error. */
static int store_ranked(struct ranking *ranking, struct timeline_reader *reader, bool all,
			struct error *error)
{
	struct timeline_rows *rows =
	    timeline_rows_begin(reader,
				"compared (request INTEGER PRIMARY KEY, "
				"\"first\", begin_ns, total_ns, is_slow, is_middle, "
				"weight)",
				7, error);

	for (size_t i = 0; i < ranking->count; i++) {
		const struct ranked_request *request = &ranking->item[i];

		if (!all && !request->is_slow && !request->is_middle && !request->weight)
			continue;
		ranking->stored++;
		timeline_rows_add(
		    rows,
		    (const struct cell[]){cell_of_integer(request->request),
					  cell_of_integer(ranking->first[request->group]),
					  cell_of_integer(request->begin_ns),
					  cell_of_integer(request->total_ns),
					  cell_of_integer(request->is_slow),
					  cell_of_integer(request->is_middle),
					  cell_of_integer(request->weight)});
	}
	return timeline_rows_end(rows);
}

/* Let why.sql group the requests, rank them within their groups by time, and store those
 * whose paths are followed as `compared`: the slowest, those around the median and those
 * of a report, or all of them. Set how many are stored. Return 0, or -1 with error. */
static int rank_requests(struct query *query, bool all, int64_t *count,
			 struct error *error)
{
	struct ranking ranking = {.count = 0};
	const struct group_listener listener = {"answered_group", ranked_columns,
						add_request, &ranking};
	const char *tables = query->tables;
	struct result walked;
	int status;

	result_init(&walked, query->request);
	query->tables = "walked";
	query->listener = &listener;
	status = query_file_run(query, &walked, error);
	query->listener = NULL;
	query->tables = tables;
	result_clear(&walked);
	mark_groups(&ranking);
	if (!status)
		status = store_ranked(&ranking, query->reader, all, error);
	*count = ranking.stored;
	free(ranking.first);
	free(ranking.item);
	return status;
}

/* The walk of the requests of `compared`; each part of a path becomes a row. */
struct parts_context {
	struct query *query;
	struct history *history;
	struct timeline_rows *rows;
	struct path path;
	int64_t walked, requests_count;
};

static void add_forward_segment(struct path *path, const struct node_request *request,
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
static int walk_request(struct path *path, struct history *history,
			const struct node_request *request)
{
	nsec_t begin_ns = request->start.begin_ns;
	nsec_t sent_ns = nsec_add(begin_ns, request->resent_there_ns);
	struct path_start start = request->start;

	start.begin_ns = request->arrived_ns;
	if (path_walk(path, history, &start) || path_split_waits(path, history))
		return -1;
	add_forward_segment(path, request, PATH_RESENT, begin_ns, sent_ns);
	add_forward_segment(path, request, PATH_NETWORK, sent_ns, request->arrived_ns);
	return 0;
}

static int add_request_parts(void *context, const struct cell *row, struct error *error)
{
	struct parts_context *parts = context;
	const struct node_request request = node_request_of_row(row);

	(void)error; /* set by the history */
	query_progress(parts->query,
		       (double)parts->walked++ / (double)parts->requests_count);
	path_clear(&parts->path);
	if (walk_request(&parts->path, parts->history, &request))
		return -1;
	for (size_t i = 0; i < parts->path.count; i++) {
		const struct path_segment *at = &parts->path.segment[i];

		timeline_rows_add(parts->rows,
				  (const struct cell[]){
				      cell_of_integer(request.id),
				      cell_of_text(path_state_name(at->state)),
				      cell_of_integer(at->begin_ns),
				      cell_of_integer(nsec_sub(at->end_ns, at->begin_ns)),
				      cell_of_known(at->node, -1),
				      cell_of_known(at->tid, -1),
				      cell_of_known(at->from_node, -1),
				      cell_of_known(at->other_tid, -1)});
	}
	return 0;
}

/* Store the parts of the requests of `compared` as path_part. */
static int store_parts(struct query *query, int64_t requests_count, struct error *error)
{
	static const char requests_sql[] =
	    NODE_REQUEST "WHERE r.id IN (SELECT request FROM compared) ORDER BY r.id";
	struct parts_context parts = {.query = query, .requests_count = requests_count};
	int status = -1;

	parts.history = history_new(query->reader, error);
	if (parts.history) {
		parts.rows = timeline_rows_begin(
		    query->reader,
		    "path_part (request, state, begin_ns, took_ns, node, tid, "
		    "from_node, other_tid)",
		    8, error);
		status = query_rows(query->reader, requests_sql, NULL, add_request_parts,
				    &parts, error);
		status = timeline_rows_end(parts.rows) || status ? -1 : 0;
	}
	path_clear(&parts.path);
	history_free(parts.history);
	return status;
}

/* Let why.sql select the requests, and then add up the parts of their paths. */
int run_why(struct query *query, struct result *result, struct error *error)
{
	const bool all = !query->tables || query_words_have(query->tables, "parts");
	int64_t requests_count = 0;
	int status;

	if (query->scope.without_spans)
		result_note(result, "%s", no_spans_note);
	status = rank_requests(query, all, &requests_count, error);
	query->computed = "answered_group";
	status = status || store_parts(query, requests_count, error) ||
			 query_file_run(query, result, error)
		     ? -1
		     : 0;
	query->computed = NULL;
	return status;
}
