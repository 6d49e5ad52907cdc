/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/spans/request_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "merge/spans/spans_private.h"

/*
 * All requests of a thread are served in one reading of its spans: those of one kind do
 * not overlap, so each request needs the ones from the first that ends at its start or
 * later. Memory grows with the requests of one thread, not with its spans.
 */
struct service {
	struct timeline_request *row;
	nsec_t from_ns, to_ns; /* it needs the spans at these times */
	int64_t fd; /* descriptor that the response was written to, or TIMELINE_NONE */
	bool is_accepted; /* queue_ns is known */
};

struct sweep {
	const struct spans *spans;
	struct service *service; /* of one thread, in order of from_ns */
	size_t count, next;
	struct service **open; /* those before `next` that need further spans */
	size_t opens;
	void (*add)(const struct spans *spans, struct service *service,
		    const struct span *span);
};

static bool is_call(const struct spans *spans, const struct span *span,
		    const char *const *names)
{
	const char *name = texts_get(&spans->texts, (size_t)span->syscall.name);

	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names;
}

/* The call in which the thread gave the response to the kernel; the last one counts. */
static void add_sending_call(const struct spans *spans, struct service *service,
			     const struct span *span)
{
	static const char *const names[] = {"write",   "writev",   "send", "sendto",
					    "sendmsg", "sendmmsg", NULL};

	service->fd = is_call(spans, span, names) ? span->syscall.fd : TIMELINE_NONE;
}

/* The thread accepted the request at the end of the first successful receiving call on
 * the response's descriptor. */
static void add_receiving_call(const struct spans *spans, struct service *service,
			       const struct span *span)
{
	static const char *const names[] = {"read",    "readv",    "recv", "recvfrom",
					    "recvmsg", "recvmmsg", NULL};

	if (service->is_accepted || service->fd == TIMELINE_NONE ||
	    span->syscall.fd != service->fd || span->syscall.ret <= 0 ||
	    span->end_ns > service->to_ns || !is_call(spans, span, names))
		return;
	service->is_accepted = true;
	service->row->queue_ns = nsec_sub(span->end_ns, service->row->arrived_ns);
}

static void clear_parts(struct timeline_request *row)
{
	row->queue_ns = row->running_ns = row->runnable_ns = 0;
	row->disk_ns = row->node_ns = row->other_ns = 0;
}

/* Set the rest of the time at the server, which is in no other part. */
static void set_unknown(struct timeline_request *row)
{
	const nsec_t part[] = {row->queue_ns, row->running_ns, row->runnable_ns,
			       row->disk_ns,  row->node_ns,    row->other_ns};

	row->unknown_ns = nsec_sub(row->responded_ns, row->arrived_ns);
	for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
		row->unknown_ns = nsec_sub(row->unknown_ns, part[i]);
}

/* Return the part that a state belongs to; NULL: unknown. */
static nsec_t *find_part(struct timeline_request *row, const struct span *span)
{
	if (span->state.state_code == STATE_RUNNING)
		return &row->running_ns;
	if (span->state.state_code == STATE_RUNNABLE)
		return &row->runnable_ns;
	switch (span->state.wait) {
	case TIMELINE_NONE:
	case WAIT_UNKNOWN:
		return NULL;
	case WAIT_DISK:
		return &row->disk_ns;
	case WAIT_NETWORK:
		return &row->node_ns;
	default:
		return &row->other_ns;
	}
}

/* If no call accepted the request, the thread did when it first ran: it has to run to
 * send. Without even that, its states count from the arrival on. */
static void add_state(const struct spans *spans, struct service *service,
		      const struct span *span)
{
	struct timeline_request *row = service->row;
	nsec_t begin_ns, end_ns, *part = find_part(row, span);

	(void)spans;
	if (!service->is_accepted && part == &row->running_ns &&
	    span->end_ns > row->arrived_ns) {
		service->is_accepted = true;
		clear_parts(row);
		if (span->begin_ns > row->arrived_ns)
			row->queue_ns = nsec_sub(span->begin_ns, row->arrived_ns);
	}
	begin_ns = nsec_add(row->arrived_ns, row->queue_ns);
	if (begin_ns < span->begin_ns)
		begin_ns = span->begin_ns;
	end_ns = span->end_ns < row->responded_ns ? span->end_ns : row->responded_ns;
	if (part && begin_ns < end_ns)
		*part = nsec_add(*part, nsec_sub(end_ns, begin_ns));
}

static int compare_services(const void *a, const void *b)
{
	const struct service *p = a, *q = b;

	return COMPARE(p->from_ns, q->from_ns);
}

static int sweep_span(void *context, const struct span *span)
{
	struct sweep *sweep = context;
	size_t left = 0;

	while (sweep->next < sweep->count &&
	       sweep->service[sweep->next].from_ns <= span->end_ns)
		sweep->open[sweep->opens++] = &sweep->service[sweep->next++];
	for (size_t i = 0; i < sweep->opens; i++) {
		if (sweep->open[i]->to_ns < span->begin_ns)
			continue;
		sweep->add(sweep->spans, sweep->open[i], span);
		sweep->open[left++] = sweep->open[i];
	}
	sweep->opens = left;
	return 0;
}

static int sweep_spans(struct sweep *sweep, enum span_kind kind,
		       const struct served_request *of, struct error *error)
{
	SORT(sweep->service, sweep->count, compare_services);
	sweep->next = sweep->opens = 0;
	return spans_read(sweep->spans, kind, of->node, of->tid, sweep_span, sweep,
			  error);
}

/* Set the parts of requests that one thread served. */
static int set_thread_parts(const struct spans *spans,
			    const struct served_request *request, size_t count,
			    struct error *error)
{
	AUTOFREE struct service *service = mem_alloc(count * sizeof(*service));
	AUTOFREE struct service **open = mem_alloc(count * sizeof(struct service *));
	struct sweep sweep = {
	    .spans = spans, .service = service, .count = count, .open = open};

	for (size_t i = 0; i < count; i++)
		service[i] = (struct service){.row = request[i].row,
					      .from_ns = request[i].row->given_ns,
					      .to_ns = request[i].row->given_ns,
					      .fd = TIMELINE_NONE};
	sweep.add = add_sending_call;
	if (sweep_spans(&sweep, SPAN_SYSCALL, request, error))
		return -1;
	for (size_t i = 0; i < count; i++) {
		service[i].from_ns = service[i].row->arrived_ns;
		service[i].to_ns = service[i].row->responded_ns;
	}
	sweep.add = add_receiving_call;
	if (sweep_spans(&sweep, SPAN_SYSCALL, request, error))
		return -1;
	sweep.add = add_state;
	if (sweep_spans(&sweep, SPAN_THREAD, request, error))
		return -1;
	for (size_t i = 0; i < count; i++)
		set_unknown(request[i].row);
	return 0;
}

/* Set the parts of requests whose server had no known thread, and remove them. Return how
 * many are left. */
static size_t set_threadless_parts(struct served_request *request, size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		struct timeline_request *row = request[i].row;

		clear_parts(row);
		if (request[i].tid > 0 && row->server_by_kernel != 1) {
			request[left++] = request[i];
			continue;
		}
		if (row->server_by_kernel == 1)
			row->other_ns = nsec_sub(row->responded_ns, row->arrived_ns);
		set_unknown(row);
	}
	return left;
}

static int compare_requests(const void *a, const void *b)
{
	const struct served_request *p = a, *q = b;

	return COMPARE(p->node, q->node) ?:
	       COMPARE(p->tid, q->tid) ?:
	       COMPARE(p->row, q->row);
}

int request_parts_set(const struct spans *spans, struct served_request *request,
		      size_t count, struct error *error)
{
	int status = 0;

	count = set_threadless_parts(request, count);
	SORT(request, count, compare_requests);
	for (size_t first = 0, end; first < count && !status; first = end) {
		const struct served_request *of = &request[first];

		for (end = first + 1; end < count; end++)
			if (request[end].node != of->node || request[end].tid != of->tid)
				break;
		status = set_thread_parts(spans, of, end - first, error);
	}
	return status;
}
