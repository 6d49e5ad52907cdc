/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "merge/requests.h"

/* A thread's state, and the sums of all before it. */
struct state {
	nsec_t begin_ns, end_ns;
	nsec_t sum[REQUEST_PARTS];
	enum request_part part;
};

/* A system call that receives or sends. */
struct call {
	nsec_t begin_ns, end_ns;
	int64_t fd;
	bool sends, got; /* it sends; it received something */
};

/* What one serving thread did in the time of its requests. */
struct server {
	struct timeline_query *states, *calls;
	struct state *state;
	size_t count, room;
	struct call *call;
	size_t call_count, call_room;
};

static const char states_sql[] =
    "SELECT begin_ns, end_ns, CASE state WHEN 'running' THEN 1 WHEN 'runnable' THEN 2"
    " ELSE CASE wait WHEN 'disk' THEN 3 WHEN 'network' THEN 4"
    " ELSE iif(wait IS NULL, 6, 5) END END FROM thread_state"
    " WHERE node = ? AND tid = ? AND begin_ns < ?4 AND end_ns > ?3 AND state <> 'dead'"
    " ORDER BY begin_ns";

static const char calls_sql[] =
    "SELECT begin_ns, end_ns, fd, name LIKE 'w%' OR name LIKE 's%', ret > 0 FROM syscall"
    " WHERE node = ? AND tid = ? AND begin_ns <= ?4 AND end_ns >= ?3"
    " AND name IN ('read', 'readv', 'recv', 'recvfrom', 'recvmsg', 'recvmmsg', 'write',"
    " 'writev', 'send', 'sendto', 'sendmsg', 'sendmmsg') ORDER BY begin_ns";

static void add_state(struct server *server, const struct cell *row)
{
	struct state state = {
	    .begin_ns = row[0].integer,
	    .end_ns = row[1].integer,
	    .part = (enum request_part)row[2].integer,
	};

	if (server->count) {
		const struct state *last = &server->state[server->count - 1];

		memcpy(state.sum, last->sum, sizeof(state.sum));
		state.sum[last->part] = nsec_add(state.sum[last->part],
						 nsec_sub(last->end_ns, last->begin_ns));
		if (state.begin_ns < last->end_ns)
			state.begin_ns = last->end_ns;
	}
	if (state.begin_ns >= state.end_ns)
		return;
	server->state =
	    mem_grow(server->state, server->count, &server->room, sizeof(*server->state));
	server->state[server->count++] = state;
}

static void add_call(struct server *server, const struct cell *row)
{
	server->call = mem_grow(server->call, server->call_count, &server->call_room,
				sizeof(*server->call));
	server->call[server->call_count++] = (struct call){
	    .begin_ns = row[0].integer,
	    .end_ns = row[1].integer,
	    .fd = row[2].type == CELL_INTEGER ? row[2].integer : -1,
	    .sends = row[3].integer,
	    .got = row[4].type == CELL_INTEGER && row[4].integer,
	};
}

static int read_server(struct server *server, const struct cell key[4],
		       struct error *error)
{
	int more = timeline_query_ask(server->states, key, 4, error) ? -1 : 1;

	server->count = server->call_count = 0;
	while (more > 0 && (more = timeline_query_next(server->states, error)) > 0)
		add_state(server, timeline_query_row(server->states));
	if (more || timeline_query_ask(server->calls, key, 4, error))
		return -1;
	while ((more = timeline_query_next(server->calls, error)) > 0)
		add_call(server, timeline_query_row(server->calls));
	return more;
}

/* How many states begin before that time. */
static size_t states_before(const struct server *server, nsec_t at_ns)
{
	return FIRST_NOT(server->count, i, server->state[i].begin_ns < at_ns);
}

/* How many calls end before that time. */
static size_t calls_before(const struct server *server, nsec_t at_ns)
{
	return FIRST_NOT(server->call_count, i, server->call[i].end_ns < at_ns);
}

/* The sums of all states up to a time. */
static void sums_at(const struct server *server, nsec_t at_ns, nsec_t sum[REQUEST_PARTS])
{
	size_t count = states_before(server, at_ns);
	const struct state *state;

	memset(sum, 0, REQUEST_PARTS * sizeof(*sum));
	if (!count)
		return;
	state = &server->state[count - 1];
	memcpy(sum, state->sum, sizeof(state->sum));
	sum[state->part] = nsec_add(
	    sum[state->part],
	    nsec_sub(state->end_ns < at_ns ? state->end_ns : at_ns, state->begin_ns));
}

/* When the thread first ran from then on; NSEC_MAX: it did not. */
static nsec_t first_run(const struct server *server, nsec_t from_ns)
{
	size_t at = states_before(server, from_ns);

	for (at -= at > 0; at < server->count; at++) {
		const struct state *state = &server->state[at];

		if (state->part == REQUEST_RUNNING && state->end_ns > from_ns)
			return state->begin_ns > from_ns ? state->begin_ns : from_ns;
	}
	return NSEC_MAX;
}

/* On which descriptor it sent what was given to the kernel then; -1: not known. */
static int64_t sent_on(const struct server *server, nsec_t given_ns)
{
	size_t at = calls_before(server, given_ns);

	return at < server->call_count && server->call[at].sends &&
		       server->call[at].begin_ns <= given_ns
		   ? server->call[at].fd
		   : -1;
}

/* When the thread took the request. */
static nsec_t taken_at(const struct server *server, const struct request_row *row)
{
	int64_t fd = sent_on(server, row->given_ns);
	nsec_t taken = NSEC_MAX;

	for (size_t i = calls_before(server, row->arrived_ns);
	     i < server->call_count && fd >= 0 && taken == NSEC_MAX &&
	     server->call[i].end_ns <= row->responded_ns;
	     i++)
		if (server->call[i].fd == fd && server->call[i].got &&
		    !server->call[i].sends)
			taken = server->call[i].end_ns;
	if (taken == NSEC_MAX)
		taken = first_run(server, row->arrived_ns);
	/* It has to run to send; else that was not recorded. */
	return taken > row->responded_ns ? row->arrived_ns : taken;
}

static void find_parts(const struct server *server, struct request_row *row)
{
	nsec_t before[REQUEST_PARTS], after[REQUEST_PARTS];
	nsec_t taken = taken_at(server, row), rest = nsec_sub(row->responded_ns, taken);

	sums_at(server, taken, before);
	sums_at(server, row->responded_ns, after);
	row->part[REQUEST_QUEUE] = nsec_sub(taken, row->arrived_ns);
	for (size_t i = REQUEST_RUNNING; i < REQUEST_UNKNOWN; i++) {
		row->part[i] = after[i] - before[i];
		rest -= row->part[i];
	}
	row->part[REQUEST_UNKNOWN] = rest;
}

/* Whose server's thread is not known comes first. */
static int compare_servers(const void *a, const void *b)
{
	const struct request_row *one = a, *other = b;

	if (one->server != other->server)
		return one->server < other->server ? -1 : 1;
	if (one->server_tid != other->server_tid)
		return one->server_tid < other->server_tid ? -1 : 1;
	return one->id < other->id ? -1 : one->id > other->id;
}

/* Requests of one thread. */
static int find_all_parts(struct server *server, struct request_row *row, size_t count,
			  struct error *error)
{
	nsec_t begin_ns = NSEC_MAX, end_ns = NSEC_MIN;
	struct cell key[4] = {{.type = CELL_INTEGER, .integer = row->server},
			      {.type = CELL_INTEGER, .integer = row->server_tid},
			      {.type = CELL_INTEGER},
			      {.type = CELL_INTEGER}};

	for (size_t i = 0; i < count; i++) {
		if (row[i].end_ns == NSEC_MIN)
			continue;
		if (row[i].arrived_ns < begin_ns)
			begin_ns = row[i].arrived_ns;
		if (row[i].responded_ns > end_ns)
			end_ns = row[i].responded_ns;
	}
	key[2].integer = begin_ns;
	key[3].integer = end_ns;
	server->count = server->call_count = 0;
	if (row->server_tid > 0 && begin_ns <= end_ns && read_server(server, key, error))
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (row[i].end_ns == NSEC_MIN)
			continue;
		if (row[i]
			.server_by_kernel) /* whoever was interrupted did nothing of it */
			row[i].part[REQUEST_OTHER] =
			    nsec_sub(row[i].responded_ns, row[i].arrived_ns);
		else
			find_parts(server, &row[i]);
	}
	return 0;
}

int request_parts(struct request_row *row, size_t count, struct timeline_reader *timeline,
		  struct error *error)
{
	struct server server = {
	    .states = timeline_query_new(timeline, states_sql, error),
	    .calls = timeline_query_new(timeline, calls_sql, error),
	};
	int status = server.states && server.calls ? 0 : -1;

	if (count)
		qsort(row, count, sizeof(*row), compare_servers);
	for (size_t first = 0, i = 1; i <= count && !status; i++) {
		if (i < count && row[i].server == row[first].server &&
		    row[i].server_tid == row[first].server_tid)
			continue;
		status = find_all_parts(&server, row + first, i - first, error);
		first = i;
	}
	timeline_query_free(server.states);
	timeline_query_free(server.calls);
	free(server.state);
	free(server.call);
	return status;
}
