/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "merge/requests.h"
#include "merge/spans/spans_private.h"

/* What a server's time from a request's arrival to its response went into. */
enum request_part {
	REQUEST_QUEUE, /* from the arrival until the serving thread took the request */
	REQUEST_RUNNING,
	REQUEST_RUNNABLE, /* the thread waited for a processor */
	REQUEST_DISK,     /* it slept, and that is what ended it */
	REQUEST_NODE,     /* a message of another node did */
	REQUEST_OTHER,    /* a thread, a timer, another interrupt did; or a kernel
			     responded by itself */
	REQUEST_UNKNOWN,  /* not recorded */
	REQUEST_PARTS
};

/* A thread's state, and the sums of all before it. */
struct state {
	nsec_t begin_ns, end_ns;
	nsec_t sum[REQUEST_PARTS];
	enum request_part part;
};

/* A system call that receives or sends. */
struct server_call {
	nsec_t begin_ns, end_ns;
	int64_t fd;
	bool sends, got; /* it sends; it received something */
};

/* What one serving thread did in the time of its requests. */
struct server {
	const struct spans *spans;
	nsec_t begin_ns, end_ns; /* of all of its requests */
	struct state *state;
	size_t count, capacity;
	struct server_call *call;
	size_t call_count, call_room;
};

/* What of the server's time a state is. */
static enum request_part part_of(const struct span *span)
{
	if (span->state.state_code == STATE_RUNNING)
		return REQUEST_RUNNING;
	if (span->state.state_code == STATE_RUNNABLE)
		return REQUEST_RUNNABLE;
	switch (span->state.wait) {
	case WAIT_THREAD:
	case WAIT_TIMER:
	case WAIT_INTERRUPT:
		return REQUEST_OTHER;
	case WAIT_DISK:
		return REQUEST_DISK;
	case WAIT_NETWORK:
		return REQUEST_NODE;
	}
	return REQUEST_UNKNOWN;
}

static int add_state(void *context, uint32_t node, int64_t tid, const struct span *span)
{
	struct server *server = context;
	struct state state = {.begin_ns = span->begin_ns, .end_ns = span->end_ns};

	(void)node;
	(void)tid;
	if (span->begin_ns >= server->end_ns || span->end_ns <= server->begin_ns ||
	    span->state.state_code == STATE_DEAD)
		return 0;
	state.part = part_of(span);
	if (server->count) {
		const struct state *last = &server->state[server->count - 1];

		memcpy(state.sum, last->sum, sizeof(state.sum));
		state.sum[last->part] = nsec_add(state.sum[last->part],
						 nsec_sub(last->end_ns, last->begin_ns));
		if (state.begin_ns < last->end_ns)
			state.begin_ns = last->end_ns;
	}
	if (state.begin_ns >= state.end_ns)
		return 0;
	*MEM_NEXT(server->state, server->count, server->capacity) = state;
	return 0;
}

/* Whether it moves data: 'r' it receives, 'w' it sends; else 0. */
static char way_of(const char *call)
{
	static const char *const receiving[] = {"read",     "readv",   "recv",
						"recvfrom", "recvmsg", "recvmmsg"};
	static const char *const sending[] = {"write",  "writev",  "send",
					      "sendto", "sendmsg", "sendmmsg"};

	for (size_t i = 0; i < sizeof(receiving) / sizeof(*receiving); i++)
		if (strcmp(call, receiving[i]) == 0)
			return 'r';
		else if (strcmp(call, sending[i]) == 0)
			return 'w';
	return 0;
}

static int add_call(void *context, uint32_t node, int64_t tid, const struct span *span)
{
	struct server *server = context;
	int64_t name = span->syscall.name, fd = span->syscall.fd;
	char way;

	(void)node;
	(void)tid;
	if (span->begin_ns > server->end_ns || span->end_ns < server->begin_ns ||
	    name == TIMELINE_NONE)
		return 0;
	way = way_of(texts_get(&server->spans->texts, (size_t)name));
	if (!way)
		return 0;
	*MEM_NEXT(server->call, server->call_count, server->call_room) =
	    (struct server_call){
		.begin_ns = span->begin_ns,
		.end_ns = span->end_ns,
		.fd = fd == TIMELINE_NONE ? -1 : fd,
		.sends = way == 'w',
		.got = span->syscall.ret > 0, /* TIMELINE_NONE is not */
	    };
	return 0;
}

/* Of a thread that is not here there is nothing. */
static int read_server(struct server *server, uint32_t node, int64_t tid,
		       struct error *error)
{
	struct span_thread thread = {.kind = SPAN_THREAD, .node = node, .tid = tid};

	if (tid <= 0 || tid > INT32_MAX || server->begin_ns > server->end_ns)
		return 0;
	if (spans_of_thread(server->spans, &thread, add_state, server, error))
		return -1;
	thread.kind = SPAN_SYSCALL;
	return spans_of_thread(server->spans, &thread, add_call, server, error);
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
static nsec_t taken_at(const struct server *server, const struct timeline_request *row)
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

static void find_parts(const struct server *server, struct timeline_request *row)
{
	nsec_t part[REQUEST_PARTS], before[REQUEST_PARTS], after[REQUEST_PARTS];
	nsec_t taken = taken_at(server, row);

	memset(part, 0, sizeof(part));
	if (row->server_by_kernel > 0) { /* whoever was interrupted did nothing of it */
		part[REQUEST_OTHER] = nsec_sub(row->responded_ns, row->arrived_ns);
	} else {
		sums_at(server, taken, before);
		sums_at(server, row->responded_ns, after);
		part[REQUEST_QUEUE] = nsec_sub(taken, row->arrived_ns);
		part[REQUEST_UNKNOWN] = nsec_sub(row->responded_ns, taken);
		for (size_t i = REQUEST_RUNNING; i < REQUEST_UNKNOWN; i++) {
			part[i] = after[i] - before[i];
			part[REQUEST_UNKNOWN] -= part[i];
		}
	}
	row->queue_ns = part[REQUEST_QUEUE];
	row->running_ns = part[REQUEST_RUNNING];
	row->runnable_ns = part[REQUEST_RUNNABLE];
	row->disk_ns = part[REQUEST_DISK];
	row->node_ns = part[REQUEST_NODE];
	row->other_ns = part[REQUEST_OTHER];
	row->unknown_ns = part[REQUEST_UNKNOWN];
}

/* Whose server's thread is not known comes first. */
static int compare_servers(const void *a, const void *b)
{
	const struct timeline_request *one =
	    &(*(const struct request_row *const *)a)->row;
	const struct timeline_request *other =
	    &(*(const struct request_row *const *)b)->row;

	if (one->server != other->server)
		return one->server < other->server ? -1 : 1;
	if (one->server_tid != other->server_tid)
		return one->server_tid < other->server_tid ? -1 : 1;
	return one->id < other->id ? -1 : one->id > other->id;
}

static bool is_answered(const struct request_row *request)
{
	return request->row.end_ns != TIMELINE_NONE;
}

/* Requests of one thread; those of a server elsewhere have no parts. */
static int find_all_parts(struct server *server, struct request_row *const *request,
			  size_t count, struct error *error)
{
	const struct spans *spans = server->spans;
	uint32_t node = 0;

	while (node < spans->nodes && spans->node[node].node != request[0]->row.server)
		node++;
	if (node == spans->nodes)
		return 0;
	server->begin_ns = NSEC_MAX;
	server->end_ns = NSEC_MIN;
	server->count = server->call_count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct timeline_request *row = &request[i]->row;

		if (is_answered(request[i]) && row->arrived_ns < server->begin_ns)
			server->begin_ns = row->arrived_ns;
		if (is_answered(request[i]) && row->responded_ns > server->end_ns)
			server->end_ns = row->responded_ns;
	}
	if (read_server(server, node, request[0]->row.server_tid, error))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (is_answered(request[i]))
			find_parts(server, &request[i]->row);
	return 0;
}

int request_parts(struct request_row **request, size_t count, const struct spans *spans,
		  struct error *error)
{
	struct server server = {.spans = spans};
	int status = 0;

	qsort(request, count, sizeof(struct request_row *), compare_servers);
	for (size_t first = 0, i = 1; i <= count && !status; i++) {
		if (i < count && request[i]->row.server == request[first]->row.server &&
		    request[i]->row.server_tid == request[first]->row.server_tid)
			continue;
		status = find_all_parts(&server, request + first, i - first, error);
		first = i;
	}
	free(server.state);
	free(server.call);
	return status;
}
