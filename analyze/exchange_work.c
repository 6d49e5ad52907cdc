/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/exchange_work.h"

#include <stdlib.h>
#include <string.h>

#include "base/intmap.h"
#include "base/mem.h"

/* A thread's state, and the sums of all before it in the log. */
struct entry {
	nsec_t begin_ns, end_ns;
	nsec_t sum[WORK_PARTS];
	uint8_t part;
};

/* A receiving system call that got something. */
struct received {
	nsec_t end_ns;
	int64_t fd;
};

/* A thread that serves: its requests, and what of its past they still need. */
struct server {
	int64_t node, tid;
	const uint32_t *served; /* exchanges, by replied_ns */
	size_t count;
	size_t called; /* of these, whose sending system call is over */
	size_t done;   /* that are told */
	struct entry *entry;
	size_t entries, entry_room;
	struct received *received;
	size_t receiveds, received_room;
};

/* The sending of an exchange's first message, or of its response's. */
struct sending {
	int64_t event;
	uint32_t at;
	bool is_reply;
};

struct pass {
	const struct exchanges *exchanges;
	struct exchange_work *work;
	struct question *question;
	uint32_t *by_thread;     /* exchanges by server, thread, replied_ns */
	struct sending *sending; /* two an exchange, by event */
	size_t sent;             /* of these, that came */
	nsec_t *least; /* as by_thread: the first arrival of it and those after it */
	int64_t *fd;   /* on which each response was sent; -1 */
	struct server *server;
	size_t servers, server_room;
	struct intmap server_at;
	bool has_calls;
};

static uint64_t key_of(int64_t node, int64_t tid)
{
	return (uint64_t)node << 32 ^ (uint64_t)tid;
}

static struct server *find_server(const struct pass *pass, int64_t node, int64_t tid)
{
	int64_t at;

	return intmap_get(&pass->server_at, key_of(node, tid), &at) ? &pass->server[at]
								    : NULL;
}

static int compare_servers(const void *a, const void *b, void *context)
{
	const struct exchanges *exchanges = context;
	const struct exchange *one = &exchanges->item[*(const uint32_t *)a];
	const struct exchange *other = &exchanges->item[*(const uint32_t *)b];

	if (one->server != other->server)
		return one->server < other->server ? -1 : 1;
	if (one->server_tid != other->server_tid)
		return one->server_tid < other->server_tid ? -1 : 1;
	if (one->replied_ns != other->replied_ns)
		return one->replied_ns < other->replied_ns ? -1 : 1;
	return one < other ? -1 : one > other;
}

static int compare_sendings(const void *a, const void *b)
{
	const struct sending *one = a, *other = b;

	return one->event < other->event ? -1 : one->event > other->event;
}

static void add_server(struct pass *pass, size_t first, size_t count)
{
	const struct exchange *exchange = &pass->exchanges->item[pass->by_thread[first]];

	if (exchange->server_tid <= 0)
		return;
	pass->server = mem_grow(pass->server, pass->servers, &pass->server_room,
				sizeof(*pass->server));
	intmap_put(&pass->server_at, key_of(exchange->server, exchange->server_tid),
		   (int64_t)pass->servers);
	pass->server[pass->servers++] = (struct server){
	    .node = exchange->server,
	    .tid = exchange->server_tid,
	    .served = pass->by_thread + first,
	    .count = count,
	};
}

static void find_servers(struct pass *pass)
{
	const struct exchange *item = pass->exchanges->item;
	size_t count = pass->exchanges->count, first = 0;
	nsec_t least = NSEC_MAX;

	for (size_t i = 0; i < count; i++) {
		pass->by_thread[i] = (uint32_t)i;
		pass->sending[2 * i] =
		    (struct sending){item[i].ask_event, (uint32_t)i, false};
		pass->sending[2 * i + 1] =
		    (struct sending){item[i].reply_event, (uint32_t)i, true};
	}
	qsort_r(pass->by_thread, count, sizeof(*pass->by_thread), compare_servers,
		(void *)pass->exchanges);
	qsort(pass->sending, 2 * count, sizeof(*pass->sending), compare_sendings);
	for (size_t i = 1; i <= count; i++) {
		const struct exchange *last = &item[pass->by_thread[i - 1]];
		const struct exchange *at = i < count ? &item[pass->by_thread[i]] : NULL;

		if (at && at->server == last->server &&
		    at->server_tid == last->server_tid)
			continue;
		add_server(pass, first, i - first);
		least = NSEC_MAX;
		for (size_t k = i; k-- > first;) {
			const struct exchange *one = &item[pass->by_thread[k]];

			if (one->arrived_ns < least)
				least = one->arrived_ns;
			pass->least[k] = least;
		}
		first = i;
	}
}

static enum work_part part_of(const struct thread_span *span)
{
	if (span->state == ACTIVITY_RUNNING)
		return WORK_RUNNING;
	if (span->state == ACTIVITY_RUNNABLE)
		return WORK_RUNNABLE;
	switch (span->wait) {
	case WAIT_DISK:
		return WORK_DISK;
	case WAIT_NETWORK:
		return WORK_NODE;
	case WAIT_UNKNOWN:
		return WORK_UNKNOWN;
	default:
		return WORK_OTHER;
	}
}

/* The sums of all states up to a time, of which none is known outside of the log. */
static void sums_at(const struct server *server, nsec_t at_ns, nsec_t sum[WORK_PARTS])
{
	size_t low = 0, high = server->entries;
	const struct entry *entry;

	memset(sum, 0, WORK_PARTS * sizeof(*sum));
	while (low < high) { /* the first that does not begin before */
		size_t middle = low + (high - low) / 2;

		if (server->entry[middle].begin_ns < at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low) {
		if (server->entries)
			memcpy(sum, server->entry[0].sum, sizeof(server->entry[0].sum));
		return;
	}
	entry = &server->entry[low - 1];
	memcpy(sum, entry->sum, sizeof(entry->sum));
	sum[entry->part] =
	    nsec_add(sum[entry->part],
		     (entry->end_ns < at_ns ? entry->end_ns : at_ns) - entry->begin_ns);
}

/* When the thread first ran from then on; NSEC_MAX: it did not. */
static nsec_t first_run(const struct server *server, nsec_t from_ns)
{
	for (size_t i = 0; i < server->entries; i++) {
		const struct entry *entry = &server->entry[i];

		if (entry->part == WORK_RUNNING && entry->end_ns > from_ns)
			return entry->begin_ns > from_ns ? entry->begin_ns : from_ns;
	}
	return NSEC_MAX;
}

/* When the thread took the request. */
static nsec_t taken_at(const struct pass *pass, const struct server *server, uint32_t at)
{
	const struct exchange *exchange = &pass->exchanges->item[at];
	nsec_t taken = NSEC_MAX;

	for (size_t i = 0; i < server->receiveds && pass->fd[at] >= 0; i++) {
		const struct received *received = &server->received[i];

		if (received->fd == pass->fd[at] &&
		    received->end_ns >= exchange->arrived_ns) {
			taken = received->end_ns;
			break;
		}
	}
	if (taken > exchange->replied_ns)
		taken = first_run(server, exchange->arrived_ns);
	/* It has to run to send; else that was not recorded. */
	return taken > exchange->replied_ns ? exchange->arrived_ns : taken;
}

static void finish(struct pass *pass, const struct server *server, uint32_t at)
{
	const struct exchange *exchange = &pass->exchanges->item[at];
	struct exchange_work *work = &pass->work[at];
	nsec_t before[WORK_PARTS], after[WORK_PARTS], taken;
	nsec_t rest = nsec_sub(exchange->replied_ns, exchange->arrived_ns);

	taken = taken_at(pass, server, at);
	sums_at(server, taken, before);
	sums_at(server, exchange->replied_ns, after);
	work->part[WORK_QUEUE] = nsec_sub(taken, exchange->arrived_ns);
	rest -= work->part[WORK_QUEUE];
	for (size_t i = WORK_RUNNING; i < WORK_UNKNOWN; i++) {
		work->part[i] = after[i] - before[i];
		rest -= work->part[i];
	}
	work->part[WORK_UNKNOWN] = rest;
}

/* Drop what no request needs that is still to be told. */
static void forget(struct pass *pass, struct server *server)
{
	nsec_t least = server->done < server->count
			   ? pass->least[server->served + server->done - pass->by_thread]
			   : NSEC_MAX;
	size_t gone = 0;

	while (gone < server->entries && server->entry[gone].end_ns <= least)
		gone++;
	if (gone > server->entries / 2) {
		server->entries -= gone;
		memmove(server->entry, server->entry + gone,
			server->entries * sizeof(*server->entry));
	}
	for (gone = 0; gone < server->receiveds && server->received[gone].end_ns < least;)
		gone++;
	if (gone > server->receiveds / 2) {
		server->receiveds -= gone;
		memmove(server->received, server->received + gone,
			server->receiveds * sizeof(*server->received));
	}
}

static int take_span(void *context, const struct thread_span *span)
{
	struct pass *pass = context;
	struct server *server = find_server(pass, span->node, span->tid);
	struct entry entry = {.begin_ns = span->begin_ns, .end_ns = span->end_ns};
	size_t done;

	if (!server || span->state == ACTIVITY_DEAD)
		return 0;
	if (server->entries) {
		const struct entry *last = &server->entry[server->entries - 1];

		memcpy(entry.sum, last->sum, sizeof(entry.sum));
		entry.sum[last->part] = nsec_add(entry.sum[last->part],
						 nsec_sub(last->end_ns, last->begin_ns));
		if (entry.begin_ns < last->end_ns)
			entry.begin_ns = last->end_ns;
	}
	if (entry.begin_ns >= entry.end_ns)
		return 0;
	entry.part = (uint8_t)part_of(span);
	server->entry = mem_grow(server->entry, server->entries, &server->entry_room,
				 sizeof(*server->entry));
	server->entry[server->entries++] = entry;
	done = server->done;
	while (server->done < server->count &&
	       (server->done < server->called || !pass->has_calls) &&
	       pass->exchanges->item[server->served[server->done]].replied_ns <=
		   span->end_ns)
		finish(pass, server, server->served[server->done++]);
	if (server->done > done || server->entries % 64 == 0)
		forget(pass, server);
	return 0;
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

static int take_call(void *context, const struct syscall_span *span)
{
	static const char *const receiving[] = {"read",    "readv",    "recv", "recvfrom",
						"recvmsg", "recvmmsg", NULL};
	static const char *const sending[] = {"write",   "writev",   "send", "sendto",
					      "sendmsg", "sendmmsg", NULL};
	struct pass *pass = context;
	struct server *server = find_server(pass, span->node, span->tid);

	if (!server)
		return 0;
	for (; server->called < server->count; server->called++) {
		uint32_t at = server->served[server->called];
		nsec_t given_ns = pass->exchanges->item[at].given_ns;

		if (given_ns > span->end_ns)
			break;
		if (span->begin_ns <= given_ns && is_one_of(span->name, sending))
			pass->fd[at] = span->fd;
	}
	if (span->ret <= 0 || span->fd < 0 || !is_one_of(span->name, receiving))
		return 0;
	server->received = mem_grow(server->received, server->receiveds,
				    &server->received_room, sizeof(*server->received));
	server->received[server->receiveds++] =
	    (struct received){.end_ns = span->end_ns, .fd = span->fd};
	return 0;
}

static int take_sent(void *context, const struct packet_sent *packet)
{
	struct pass *pass = context;

	bool by_kernel = packet->by != WAIT_THREAD && packet->by != WAIT_UNKNOWN;

	for (; pass->sent < 2 * pass->exchanges->count; pass->sent++) {
		const struct sending *sending = &pass->sending[pass->sent];
		struct exchange_work *work = &pass->work[sending->at];

		if (sending->event > packet->event)
			break;
		if (sending->event == packet->event)
			*(sending->is_reply ? &work->by_kernel : &work->asked_by_kernel) =
			    by_kernel;
	}
	return 0;
}

static void show_share(void *context, double share)
{
	question_share(((struct pass *)context)->question, share);
}

static int walk(struct pass *pass, const struct scope *scope, struct error *error)
{
	struct activity_ops ops = {.thread = take_span,
				   .syscall = take_call,
				   .sent = take_sent,
				   .share = show_share,
				   .without = ACTIVITY_NO_SYSCALLS | ACTIVITY_ASSUME};
	struct activity_recorded recorded;

	if (activity_recorded(&recorded, pass->question->reader, error))
		return -1;
	pass->has_calls = recorded.syscalls;
	if (!recorded.syscalls)
		ops.syscall = NULL;
	return recorded.switches
		   ? activity_walk(pass->question->reader, scope, &ops, pass, error)
		   : 0;
}

static void clear(struct pass *pass)
{
	for (size_t i = 0; i < pass->servers; i++) {
		free(pass->server[i].entry);
		free(pass->server[i].received);
	}
	free(pass->server);
	intmap_clear(&pass->server_at);
	free(pass->by_thread);
	free(pass->sending);
	free(pass->least);
	free(pass->fd);
}

/* Whoever was interrupted did nothing of it. */
static void be_kernel(struct exchange_work *work, const struct exchange *exchange)
{
	memset(work->part, 0, sizeof(work->part));
	work->part[WORK_OTHER] = nsec_sub(exchange->replied_ns, exchange->arrived_ns);
}

int exchange_work_read(struct exchange_work *work, const struct exchanges *exchanges,
		       struct question *question, const struct scope *scope,
		       struct error *error)
{
	size_t count = exchanges->count;
	struct pass pass = {
	    .exchanges = exchanges,
	    .work = work,
	    .question = question,
	    .by_thread = mem_alloc((count + 1) * sizeof(*pass.by_thread)),
	    .sending = mem_alloc((2 * count + 1) * sizeof(*pass.sending)),
	    .least = mem_alloc((count + 1) * sizeof(*pass.least)),
	    .fd = mem_alloc((count + 1) * sizeof(*pass.fd)),
	};
	int status;

	for (size_t i = 0; i < count; i++) {
		const struct exchange *exchange = &exchanges->item[i];

		pass.fd[i] = -1;
		/* Until its server is known to have done something. */
		work[i].part[WORK_UNKNOWN] =
		    nsec_sub(exchange->replied_ns, exchange->arrived_ns);
	}
	find_servers(&pass);
	status = walk(&pass, scope, error);
	for (size_t i = 0; i < pass.servers && !status; i++)
		for (struct server *server = &pass.server[i];
		     server->done < server->count; server->done++)
			finish(&pass, server, server->served[server->done]);
	for (size_t i = 0; i < count; i++)
		if (work[i].by_kernel)
			be_kernel(&work[i], &exchanges->item[i]);
	clear(&pass);
	return status;
}
