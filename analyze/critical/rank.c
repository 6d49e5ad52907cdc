/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/critical/rank.h"

#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/order.h"

/* A request of a group: the number of its first one, and when it is ranked its part in
 * the comparison. */
struct ranked_request {
	int64_t request, total_ns, begin_ns;
	size_t group;
	int64_t slot; /* slot of time */
	bool is_slow, is_middle, is_sample;
};

/* The requests of `answered`, by group and time. */
struct ranking {
	struct texts groups;
	struct bytes key;
	int64_t *first; /* request of each group */
	struct ranked_request *item;
	size_t count, capacity, first_capacity;
	int64_t stored;
};

/* The requests by which a report explains any window: all if they are no more than
 * FEW_REQUESTS, otherwise samples of all groups and slots of time, of each the slowest
 * two and one in the middle. */
enum { FEW_REQUESTS = 6000, SLOTS = 700, MOST_SLOTS = 100 };

enum { RANKING_KEYS = 5 };
static const char answered_sql[] =
    "SELECT " TIMELINE_ROW "(client, server, protocol, port, process, request, total_ns,"
    " begin_ns)"
    " FROM answered";

static int add_request(void *context, const struct cell *row, struct error *error)
{
	struct ranking *ranking = context;
	struct ranked_request request = {
	    .request = cell_integer(&row[RANKING_KEYS], 0),
	    .total_ns = cell_integer(&row[RANKING_KEYS + 1], 0),
	    .begin_ns = cell_integer(&row[RANKING_KEYS + 2], 0)};
	size_t groups = ranking->groups.count;

	(void)error;
	ranking->key.size = 0;
	for (size_t i = 0; i < RANKING_KEYS; i++)
		cell_add_key(&row[i], &ranking->key);
	request.group = texts_put_bytes(&ranking->groups, (char *)ranking->key.data,
					ranking->key.size);
	if (request.group == groups)
		*MEM_NEXT(ranking->first, groups, ranking->first_capacity) =
		    request.request;
	else if (request.request < ranking->first[request.group])
		ranking->first[request.group] = request.request;
	*MEM_NEXT(ranking->item, ranking->count, ranking->capacity) = request;
	return 0;
}

static int compare_requests(const void *a, const void *b)
{
	const struct ranked_request *x = a, *y = b;

	return COMPARE(x->group, y->group) ?:
	       COMPARE(x->slot, y->slot) ?:
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

/* Call `mark` for each run of requests of one group and slot. */
static void mark_groups(struct ranking *ranking,
			void (*mark)(struct ranked_request *request, size_t count))
{
	struct ranked_request *item = ranking->item;

	SORT(item, ranking->count, compare_requests);
	for (size_t i = 0, end; i < ranking->count; i = end) {
		for (end = i + 1; end < ranking->count &&
				  item[end].group == item[i].group &&
				  item[end].slot == item[i].slot;)
			end++;
		mark(&item[i], end - i);
	}
}

static void mark_samples(struct ranked_request *request, size_t count)
{
	request[(count - 1) / 2].is_sample = true;
	request[count - 1].is_sample = request[count > 1 ? count - 2 : 0].is_sample =
	    true;
}

/* Mark the requests by which a report explains any window. */
static void sample_times(struct ranking *ranking, const struct scope *scope)
{
	const double span_ns = fmax(1, (double)nsec_sub(scope->end_ns, scope->begin_ns));
	const double slots =
	    fmax(1, fmin(MOST_SLOTS, SLOTS / (double)ranking->groups.count));

	for (size_t i = 0; i < ranking->count; i++) {
		ranking->item[i].is_sample = ranking->count <= FEW_REQUESTS;
		ranking->item[i].slot =
		    (int64_t)(slots *
			      (double)nsec_sub(ranking->item[i].begin_ns,
					       scope->begin_ns) /
			      span_ns);
	}
	mark_groups(ranking, mark_samples);
}

/* Store the marked requests, or all. Return 0, or -1 with error. */
static int store_ranked(struct ranking *ranking, struct timeline_reader *reader, bool all,
			struct error *error)
{
	struct timeline_rows *rows =
	    timeline_rows_begin(reader,
				"compared (request INTEGER PRIMARY KEY, "
				"\"first\", total_ns, is_slow, is_middle, is_sample)",
				6, error);

	for (size_t i = 0; i < ranking->count; i++) {
		const struct ranked_request *request = &ranking->item[i];

		if (!all && !request->is_slow && !request->is_middle &&
		    !request->is_sample)
			continue;
		ranking->stored++;
		timeline_rows_add(
		    rows,
		    (const struct cell[]){cell_of_integer(request->request),
					  cell_of_integer(ranking->first[request->group]),
					  cell_of_integer(request->total_ns),
					  cell_of_integer(request->is_slow),
					  cell_of_integer(request->is_middle),
					  cell_of_integer(request->is_sample)});
	}
	return timeline_rows_end(rows);
}

int rank_requests(struct query *query, bool all, int64_t *count, struct error *error)
{
	struct ranking ranking = {.count = 0};
	int status =
	    query_each(query->reader, answered_sql, NULL, add_request, &ranking, error);

	mark_groups(&ranking, mark_group);
	if (!all)
		sample_times(&ranking, &query->scope);
	if (!status)
		status = store_ranked(&ranking, query->reader, all, error);
	*count = ranking.stored;
	texts_clear(&ranking.groups);
	bytes_clear(&ranking.key);
	free(ranking.first);
	free(ranking.item);
	return status;
}
