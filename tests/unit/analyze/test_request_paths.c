/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * All requests of whole runs, the recorded and simulated ones or those timelines that are
 * named as arguments: no critical path contradicts what `requests` says. A message leads
 * to a thread only if that thread sends in the message's flow, and where the serving
 * thread was woken by a message after the request's arrival, the path is on that
 * message's way, and not with another flow's.
 */
#include <inttypes.h>

#include "../scratch.h"
#include "analyze/analysis.h"
#include "analyze/critical/critical_path.h"

struct asked {
	const char *path;
	struct request request;
	struct query query;
	uint64_t networks; /* rows of paths that are a message's way to a thread */
	uint64_t ways;     /* requests whose way there is on their path */
};

static void shell(const char *words)
{
	char *command = mem_printf("PATH=\"$CT_BUILD/bin:$PATH\" && %s", words);

	assert_int_equal(system(command), 0);
	free(command);
}

static int64_t count(struct asked *asked, const char *sql, const struct cell *values)
{
	struct error error = ERROR_INIT;
	int64_t counted = -1;

	assert_int_equal(
	    query_integer(asked->query.reader, sql, values, &counted, &error), 1);
	return counted;
}

/* Return true if messages of the message's flow were sent while that thread ran. */
static bool sends_in_flow(struct asked *asked, const struct path_segment *to,
			  int64_t message)
{
	const struct cell values[] = {cell_of_integer(message), cell_of_integer(to->node),
				      cell_of_integer(to->tid)};

	return count(asked,
		     "SELECT EXISTS (SELECT 1 FROM message AS m, message AS o"
		     " JOIN event AS e ON e.id = o.send_event WHERE m.id = ?1"
		     " AND o.src_node = ?2 AND e.tid = ?3 AND o.protocol = m.protocol"
		     " AND o.src = m.dst AND o.sport IS m.dport"
		     " AND o.dst = m.src AND o.dport IS m.sport)",
		     values) == 1;
}

static bool is_of_flow(struct asked *asked, int64_t one, int64_t other)
{
	const struct cell values[] = {cell_of_integer(one), cell_of_integer(other)};

	return count(
		   asked,
		   "SELECT (SELECT protocol || min(src || '/' || ifnull(sport, ''), dst "
		   "|| "
		   "'/' || ifnull(dport, '')) || ' ' || max(src || '/' || ifnull(sport, "
		   "''), dst || '/' || ifnull(dport, '')) FROM message WHERE id = ?1) = "
		   "(SELECT protocol || min(src || '/' || ifnull(sport, ''), dst || '/' "
		   "|| "
		   "ifnull(dport, '')) || ' ' || max(src || '/' || ifnull(sport, ''), "
		   "dst "
		   "|| '/' || ifnull(dport, '')) FROM message WHERE id = ?2)",
		   values) == 1;
}

/* The thread to which a message's way leads, over the interrupt that took it; or NULL. */
static const struct path_segment *led_to(const struct path *path, size_t at)
{
	while (++at < path->count)
		if (path->segment[at].state != PATH_INTERRUPT)
			return path->segment[at].tid > 0 ? &path->segment[at] : NULL;
	return NULL;
}

static void check_path(struct asked *asked, const struct node_request *request,
		       const struct path *path)
{
	const struct cell id[] = {cell_of_integer(request->id)};
	int64_t server_tid = count(
	    asked, "SELECT coalesce(server_tid, -1) FROM request WHERE id = ?1", id);
	nsec_t arrived_ns =
	    count(asked, "SELECT arrived_ns FROM request WHERE id = ?1", id);
	bool first = true;

	for (size_t i = 0; i < path->count; i++) {
		const struct path_segment *at = &path->segment[i], *to;

		if (at->state != PATH_NETWORK || !at->message)
			continue;
		to = led_to(path, i);
		asked->networks += to != NULL;
		if (to && !sends_in_flow(asked, to, at->message))
			fail_msg("%s: request %" PRId64 ": message %" PRId64
				 " leads to thread %" PRId64
				 ", which sends nothing in its flow",
				 asked->path, request->id, at->message, to->tid);
		/* Nothing that came no later than the request was awaited but itself. */
		if (first && to && to->node == request->server && to->tid == server_tid &&
		    at->end_ns >= arrived_ns) {
			if (!is_of_flow(asked, at->message, request->id))
				fail_msg("%s: request %" PRId64
					 " begins with message %" PRId64
					 " of another flow",
					 asked->path, request->id, at->message);
			asked->ways++;
		}
		first = false;
	}
}

static void check_timeline(const char *name)
{
	static const struct analysis critical = {.name = "critical-path"};
	enum { MOST = 10000 };
	struct node_request *request = mem_zalloc(MOST * sizeof(*request));
	struct asked asked = {.path = name};
	struct error error = ERROR_INIT;
	struct history *history;
	int requests;

	request_init(&asked.request);
	assert_int_equal(request_check(&asked.request, &error), 0);
	assert_int_equal(
	    query_open(&asked.query, &critical, &asked.request, name, &error), 0);
	requests = node_requests_slowest(request, MOST, &asked.query, &error);
	assert_true(requests > 100);
	history = history_new(asked.query.reader, &error);
	assert_non_null(history);
	for (int i = 0; i < requests; i++) {
		struct path path;

		assert_int_equal(path_walk(&path, history, &request[i].start), 0);
		check_path(&asked, &request[i], &path);
		path_clear(&path);
	}
	print_message("%s: %d requests, %" PRIu64 " ways to threads, %" PRIu64
		      " of requests\n",
		      name, requests, asked.networks, asked.ways);
	assert_true(asked.ways > (uint64_t)requests / 2);
	history_free(history);
	query_close(&asked.query);
	request_clear(&asked.request);
	free(request);
}

SCRATCH_TEST(paths_agree_with_requests)
{
	for (char **timeline = test_arguments; *timeline; timeline++)
		check_timeline(*timeline);
	if (*test_arguments)
		return;
	shell("ctmerge -q \"$CT_SOURCE/datasets/sample\" -o sample.db");
	check_timeline("sample.db");
	shell("ctsim -q --seed 31 --set seconds=2 --set workers=4 clients -o workers && "
	      "ctmerge -q workers -o workers.db 2>log");
	check_timeline("workers.db");
}
