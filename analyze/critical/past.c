/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/critical/past.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/keys.h"
#include "base/intmap.h"
#include "base/mem.h"

/* Messages take no longer than that; retransmissions are sent anew. */
#define LONGEST_NS (10 * NSEC_PER_SEC)

/* The packets of which one may have ended a wait; see struct thread_span. */
struct batch {
	int64_t first, last; /* event.id */
};

struct line { /* of a thread */
	int64_t node, tid;
	char *comm;
	struct past_span *span; /* in order of time */
	size_t count, room;
	nsec_t running_ns;
};

struct past {
	struct line *line;
	size_t lines, line_room;
	struct intmap line_at;        /* by node and tid */
	struct past_message *message; /* by recv_event */
	size_t messages, message_room;
	uint32_t *by_send; /* messages by send_event */
	size_t sent;       /* of by_send, whose sending was looked at */
	size_t received;   /* of message, whose receive was looked at */
	struct keys flows;
	struct intmap sends; /* by thread's line and flow: it sends in it */
	struct batch *batch; /* of the spans */
	size_t batches, batch_room;
	const struct past_watch *watch;
};

static uint64_t key_of(int64_t node, int64_t tid)
{
	return (uint64_t)node << 32 ^ (uint64_t)tid;
}

static const struct line *find_line(const struct past *past, int64_t node, int64_t tid)
{
	int64_t at;

	return intmap_get(&past->line_at, key_of(node, tid), &at) ? &past->line[at]
								  : NULL;
}

static struct line *get_line(struct past *past, int64_t node, int64_t tid)
{
	int64_t at;

	if (!intmap_get(&past->line_at, key_of(node, tid), &at)) {
		past->line = mem_grow(past->line, past->lines, &past->line_room,
				      sizeof(*past->line));
		at = (int64_t)past->lines++;
		past->line[at] = (struct line){.node = node, .tid = tid};
		intmap_put(&past->line_at, key_of(node, tid), at);
	}
	return &past->line[at];
}

static int64_t integer(const struct cell *cell, int64_t none)
{
	return cell->type == CELL_INTEGER ? cell->integer : none;
}

static void add_end(struct keys *keys, const struct cell end[2])
{
	if (end[0].type == CELL_TEXT)
		keys_text(keys, end[0].bytes, end[0].size);
	keys_integer(keys, integer(&end[1], -1));
}

/* The same number both ways; `row` is protocol, address, port, address, port. */
static uint32_t flow_of(struct past *past, const struct cell *row)
{
	const struct cell *src = &row[1], *dst = &row[3];
	bool turned = integer(&src[1], -1) > integer(&dst[1], -1);

	if (integer(&src[1], -1) == integer(&dst[1], -1) && src->type == CELL_TEXT &&
	    dst->type == CELL_TEXT)
		turned = src->size != dst->size
			     ? src->size > dst->size
			     : memcmp(src->bytes, dst->bytes, src->size) > 0;
	keys_begin(&past->flows);
	if (row->type == CELL_TEXT)
		keys_text(&past->flows, row->bytes, row->size);
	add_end(&past->flows, turned ? dst : src);
	add_end(&past->flows, turned ? src : dst);
	return (uint32_t)keys_find(&past->flows);
}

static void add_message(struct past *past, const struct cell *row)
{
	const struct past_message message = {
	    .id = integer(&row[0], 0),
	    .send_event = integer(&row[1], 0),
	    .recv_event = integer(&row[2], 0),
	    .send_ns = integer(&row[3], NSEC_MIN),
	    .recv_ns = integer(&row[4], NSEC_MIN),
	    .src_node = integer(&row[5], -1),
	    .dst_node = integer(&row[6], -1),
	    .tid = -1,
	    .cause = PAST_NONE,
	};

	if (message.send_ns == NSEC_MIN || message.recv_ns == NSEC_MIN ||
	    past->messages == PAST_NONE)
		return;
	past->message = mem_grow(past->message, past->messages, &past->message_room,
				 sizeof(*past->message));
	past->message[past->messages] = message;
	past->message[past->messages++].flow = flow_of(past, &row[7]);
}

static int compare_received(const void *a, const void *b)
{
	const struct past_message *one = a, *other = b;

	if (one->recv_event != other->recv_event)
		return one->recv_event < other->recv_event ? -1 : 1;
	return one->id < other->id ? -1 : one->id > other->id;
}

static int compare_sent(const void *a, const void *b, void *context)
{
	const struct past_message *message = context;
	const struct past_message *one = &message[*(const uint32_t *)a];
	const struct past_message *other = &message[*(const uint32_t *)b];

	if (one->send_event != other->send_event)
		return one->send_event < other->send_event ? -1 : 1;
	return one->id < other->id ? -1 : one->id > other->id;
}

static int read_messages(struct past *past, struct timeline_reader *reader,
			 const struct scope *scope, struct error *error)
{
	static const char sql[] =
	    "SELECT id, send_event, recv_event, send_ns, recv_ns, src_node, dst_node, "
	    "protocol, src, sport, dst, dport "
	    "FROM message WHERE send_ns BETWEEN ? AND ?";
	const struct cell span[] = {
	    {.type = CELL_INTEGER, .integer = nsec_sub(scope->begin_ns, LONGEST_NS)},
	    {.type = CELL_INTEGER, .integer = scope->end_ns}};
	struct timeline_query *query = timeline_query_new(reader, sql, error);
	int more = -1;

	if (query && !timeline_query_ask(query, span, 2, error))
		while ((more = timeline_query_next(query, error)) > 0)
			add_message(past, timeline_query_row(query));
	timeline_query_free(query);
	if (more || !past->messages)
		return more;
	qsort(past->message, past->messages, sizeof(*past->message), compare_received);
	past->by_send = mem_alloc(past->messages * sizeof(*past->by_send));
	for (size_t i = 0; i < past->messages; i++)
		past->by_send[i] = (uint32_t)i;
	qsort_r(past->by_send, past->messages, sizeof(*past->by_send), compare_sent,
		past->message);
	return 0;
}

/* The first message that was received so, of those by recv_event. */
static size_t first_received(const struct past *past, int64_t recv_event)
{
	size_t low = 0, high = past->messages;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (past->message[middle].recv_event < recv_event)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether the thread, by its line, sends in the flow. */
static bool sends_in(const struct past *past, size_t line, uint32_t flow)
{
	int64_t one;

	return intmap_get(&past->sends, (uint64_t)line << 32 | flow, &one);
}

/*
 * Of the batch's packets the one of this flow; else, with a line, of one in which that
 * thread sends. Of several the last that came; and of those that were merged on arrival
 * the one that was sent last was waited for, where one of which it is known who sent it
 * goes before.
 */
static uint32_t received_by(const struct past *past, const struct batch *batch,
			    uint32_t flow, size_t line)
{
	const struct past_message *best = NULL;

	for (size_t i = first_received(past, batch->first);
	     batch->first && i < past->messages &&
	     past->message[i].recv_event <= batch->last;
	     i++) {
		const struct past_message *message = &past->message[i];
		bool is_flow = message->flow == flow, known = message->by != WAIT_UNKNOWN;

		if (message->batch != batch->first ||
		    !(line == SIZE_MAX ? is_flow : sends_in(past, line, message->flow)))
			continue;
		if (best && is_flow != (best->flow == flow)) {
			best = is_flow ? message : best;
			continue;
		}
		if (!best || message->recv_event > best->recv_event ||
		    known > (best->by != WAIT_UNKNOWN) ||
		    (known == (best->by != WAIT_UNKNOWN) &&
		     message->send_ns > best->send_ns))
			best = message;
	}
	return best ? (uint32_t)(best - past->message) : PAST_NONE;
}

/* Events come in their order, so the messages are walked once. */
static int take_received(void *context, const struct packet_received *packet)
{
	struct past *past = context;

	for (; past->received < past->messages; past->received++) {
		struct past_message *message = &past->message[past->received];

		if (message->recv_event > packet->event)
			break;
		if (message->recv_event == packet->event)
			message->batch = packet->batch;
	}
	return 0;
}

/* As take_received. */
static int take_sent(void *context, const struct packet_sent *packet)
{
	struct past *past = context;

	for (; past->sent < past->messages; past->sent++) {
		struct past_message *message = &past->message[past->by_send[past->sent]];

		if (message->send_event > packet->event)
			break;
		if (message->send_event < packet->event)
			continue;
		message->by = packet->by;
		message->tid = packet->tid;
		if (packet->by == WAIT_NETWORK)
			message->cause = received_by(
			    past, &(struct batch){packet->batch, packet->recv},
			    message->flow, SIZE_MAX);
		if (packet->by == WAIT_THREAD && packet->tid > 0)
			intmap_put(&past->sends,
				   (uint64_t)(get_line(past, packet->node, packet->tid) -
					      past->line)
					   << 32 |
				       message->flow,
				   1);
	}
	return 0;
}

/* Which packet it was is known only when all flows of the thread are. */
static uint32_t add_batch(struct past *past, const struct thread_span *span)
{
	if (!span->wake_batch || past->batches == PAST_NONE)
		return PAST_NONE;
	past->batch =
	    mem_grow(past->batch, past->batches, &past->batch_room, sizeof(*past->batch));
	past->batch[past->batches] = (struct batch){span->wake_batch, span->wake_recv};
	return (uint32_t)past->batches++;
}

static int take_span(void *context, const struct thread_span *span)
{
	struct past *past = context;
	struct past_span kept = {
	    .begin_ns = span->begin_ns,
	    .end_ns = span->end_ns,
	    .batch = PAST_NONE,
	    .other_tid = -1,
	    .cpu = span->cpu > INT16_MAX ? -1 : (int16_t)span->cpu,
	    .state = (uint8_t)span->state,
	    .ended = !span->cut_end,
	};
	struct line *line;

	if (span->tid <= 0 || span->state == ACTIVITY_DEAD)
		return 0;
	line = get_line(past, span->node, span->tid);
	if (span->state == ACTIVITY_BLOCKED) {
		kept.wait = (uint8_t)span->wait;
		kept.other_tid = (int32_t)span->waker_tid;
		kept.batch = add_batch(past, span);
	} else if (span->state == ACTIVITY_RUNNABLE) {
		kept.other_tid = (int32_t)span->prev_tid;
	} else {
		line->running_ns =
		    nsec_add(line->running_ns, nsec_sub(span->end_ns, span->begin_ns));
	}
	if (*span->comm && (!line->comm || strcmp(line->comm, span->comm) != 0)) {
		free(line->comm);
		line->comm = mem_strdup(span->comm);
	}
	/* A number that another thread had before may come out of order by a little. */
	if (line->count && kept.begin_ns < line->span[line->count - 1].end_ns)
		kept.begin_ns = line->span[line->count - 1].end_ns;
	if (kept.begin_ns >= kept.end_ns)
		return 0;
	line->span = mem_grow(line->span, line->count, &line->room, sizeof(*line->span));
	line->span[line->count++] = kept;
	return 0;
}

static void show_share(void *context, double share)
{
	const struct past *past = context;

	if (past->watch && past->watch->share)
		past->watch->share(past->watch->context, share);
}

struct past *past_read(struct timeline_reader *reader, const struct scope *scope,
		       const struct past_watch *watch, struct error *error)
{
	static const struct activity_ops ops = {
	    .thread = take_span,
	    .sent = take_sent,
	    .received = take_received,
	    .share = show_share,
	    .without = ACTIVITY_NO_SYSCALLS | ACTIVITY_ASSUME,
	};
	struct past *past = mem_zalloc(sizeof(*past));

	past->watch = watch;
	if (read_messages(past, reader, scope, error) ||
	    activity_walk(reader, scope, &ops, past, error)) {
		past_free(past);
		return NULL;
	}
	past->watch = NULL;
	return past;
}

const struct past_span *past_span_before(const struct past *past, int64_t node,
					 int64_t tid, nsec_t at_ns)
{
	const struct line *line = find_line(past, node, tid);
	size_t low = 0, high = line ? line->count : 0;

	while (low < high) { /* the first that does not begin before */
		size_t middle = low + (high - low) / 2;

		if (line->span[middle].begin_ns < at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &line->span[low - 1] : NULL;
}

const struct past_message *past_message(const struct past *past, uint32_t at)
{
	return at < past->messages ? &past->message[at] : NULL;
}

const struct past_message *past_wait_message(const struct past *past, int64_t node,
					     int64_t tid, const struct past_span *wait,
					     const struct past_message *flow)
{
	const struct line *line = find_line(past, node, tid);

	if (!line || wait->batch >= past->batches)
		return NULL;
	return past_message(past, received_by(past, &past->batch[wait->batch],
					      flow ? flow->flow : PAST_NONE,
					      (size_t)(line - past->line)));
}

const struct past_message *past_find_message(const struct past *past, int64_t id)
{
	for (size_t i = 0; i < past->messages; i++)
		if (past->message[i].id == id)
			return &past->message[i];
	return NULL;
}

size_t past_threads(const struct past *past)
{
	return past->lines;
}

struct past_thread past_thread(const struct past *past, size_t at)
{
	const struct line *line = &past->line[at];

	return (struct past_thread){
	    .node = line->node,
	    .tid = line->tid,
	    .comm = line->comm ? line->comm : "",
	    .begin_ns = line->count ? line->span[0].begin_ns : NSEC_MAX,
	    .end_ns = line->count ? line->span[line->count - 1].end_ns : NSEC_MIN,
	    .running_ns = line->running_ns,
	};
}

void past_free(struct past *past)
{
	if (!past)
		return;
	for (size_t i = 0; i < past->lines; i++) {
		free(past->line[i].comm);
		free(past->line[i].span);
	}
	free(past->line);
	intmap_clear(&past->line_at);
	intmap_clear(&past->sends);
	keys_clear(&past->flows);
	free(past->batch);
	free(past->message);
	free(past->by_send);
	free(past);
}
