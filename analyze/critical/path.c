/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/critical/path.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "timeline/query.h"

const char *path_state_name(enum path_state state)
{
	static const char *const names[PATH_STATES] = {"running", "runnable", "disk",
						       "network", "timer",    "interrupt",
						       "thread",  "unknown"};

	return names[state];
}

enum history_state { STATE_RUNNING, STATE_RUNNABLE, STATE_SLEEPING };

/* The packets of a softirq up to some time: event.id; 0: none. */
struct packet_batch {
	int64_t first, last;
};

/* A row of thread_state. */
struct history_span {
	nsec_t begin_ns, end_ns;
	enum history_state state;
	int64_t cpu; /* RUNNING, RUNNABLE; -1 */
	int64_t
	    other_tid; /* SLEEPING: who woke it; RUNNABLE: who left the processor; -1 */
	enum path_state wait;      /* SLEEPING */
	struct packet_batch batch; /* SLEEPING: what came as it ended */
	bool ended; /* it ended as told; else its end was lost, or is not recorded */
};

struct history_message {
	int64_t id, recv_event;
	nsec_t send_ns, recv_ns;
	int64_t src_node, dst_node;
	size_t flow;                 /* protocol, addresses and ports, either way */
	enum path_state by;          /* what sent it */
	int64_t tid;                 /* -1: not known */
	struct packet_batch answers; /* by CAUSE_NETWORK: one of these */
};

#define HISTORY_ANY SIZE_MAX /* a message of any flow */

struct history {
	struct timeline_reader *reader;
	struct error *error;
	bool failed;
	struct timeline_query *span, *message, *batch;
	struct bytes key;            /* of a flow that is looked for */
	struct texts flows, threads; /* threads by node and number */
	struct intmap sends;         /* by thread and flow: it sends in it */
	bool has_sends;              /* they are read */
};

static const char span_sql[] =
    "SELECT begin_ns, end_ns, CASE state WHEN 'running' THEN 0 WHEN 'runnable' THEN 1"
    " ELSE 2 END, cpu, CASE state WHEN 'runnable' THEN prev_tid ELSE waker_tid END,"
    " wait, wake_first_recv, wake_last_recv, cut < 2 FROM thread_state"
    " WHERE node = ? AND tid = ? AND begin_ns < ? AND state <> 'dead'"
    " ORDER BY begin_ns DESC LIMIT 1";

#define MESSAGE                                                                          \
	"SELECT protocol, src, sport, dst, dport, id, recv_event, send_ns, recv_ns,"     \
	" src_node, dst_node, send_by, send_tid, send_first_recv, send_last_recv"        \
	" FROM message WHERE send_ns IS NOT NULL AND recv_ns IS NOT NULL AND "

static const char message_sql[] = MESSAGE "id = ?";
static const char batch_sql[] =
    MESSAGE "recv_event BETWEEN ?1 AND ?2 AND recv_batch = ?1 ORDER BY recv_event, id";

static const char sends_sql[] =
    "SELECT protocol, src, sport, dst, dport, src_node, send_tid FROM message"
    " WHERE send_by = 'thread' AND send_tid > 0";

struct history *history_new(struct timeline_reader *reader, struct error *error)
{
	struct history *history = mem_zalloc(sizeof(*history));

	history->reader = reader;
	history->error = error;
	history->span = timeline_query_new(reader, span_sql, error);
	history->message = timeline_query_new(reader, message_sql, error);
	history->batch = timeline_query_new(reader, batch_sql, error);
	if (history->span && history->message && history->batch)
		return history;
	history_free(history);
	return NULL;
}

/* What ended a wait, or sent a message. */
static enum path_state cause_of(const struct cell *cell)
{
	for (enum path_state i = PATH_DISK; i <= PATH_THREAD; i++)
		if (cell->type == CELL_TEXT && !strcmp(cell->bytes, path_state_name(i)))
			return i;
	return PATH_UNKNOWN;
}

/* Ask with new values; false: it failed. */
static bool ask(struct history *history, struct timeline_query *query,
		const struct cell *value, size_t values)
{
	history->failed =
	    history->failed || timeline_query_ask(query, value, values, history->error);
	return !history->failed;
}

/* The next row, or NULL. */
static const struct cell *next(struct history *history, struct timeline_query *query)
{
	int more = history->failed ? 0 : timeline_query_next(query, history->error);

	history->failed = history->failed || more < 0;
	return more > 0 ? timeline_query_row(query) : NULL;
}

/* The thread's span with begin_ns < at_ns <= end_ns, or else the last one that ended
 * before; false: there is none. */
static bool history_span_before(struct history *history, int64_t node, int64_t tid,
				nsec_t at_ns, struct history_span *span)
{
	const struct cell key[] = {cell_of_integer(node), cell_of_integer(tid),
				   cell_of_integer(at_ns)},
			  *row = NULL;

	if (tid > 0 && ask(history, history->span, key, 3))
		row = next(history, history->span);
	if (!row)
		return false;
	*span = (struct history_span){
	    .begin_ns = row[0].integer,
	    .end_ns = row[1].integer,
	    .state = (enum history_state)row[2].integer,
	    .cpu = cell_integer(&row[3], -1),
	    .other_tid = cell_integer(&row[4], -1),
	    .wait = cause_of(&row[5]),
	    .batch = {cell_integer(&row[6], 0), cell_integer(&row[7], 0)},
	    .ended = row[8].integer,
	};
	return true;
}

static void add_end(struct bytes *key, const struct cell *address, int64_t port)
{
	bytes_add(key, &port, sizeof(port));
	if (address->type == CELL_TEXT)
		bytes_add(key, address->bytes, address->size);
}

/* The same number both ways; `row` is protocol, address, port, address, port. */
static size_t flow_of(struct history *history, const struct cell *row)
{
	const struct cell *src = &row[1], *dst = &row[3];
	int64_t sport = cell_integer(&row[2], -1), dport = cell_integer(&row[4], -1);
	bool turned = sport > dport;

	if (sport == dport && src->type == CELL_TEXT && dst->type == CELL_TEXT)
		turned = strcmp(src->bytes, dst->bytes) > 0;
	history->key.size = 0;
	add_end(&history->key, turned ? dst : src, turned ? dport : sport);
	add_end(&history->key, turned ? src : dst, turned ? sport : dport);
	if (row->type == CELL_TEXT)
		bytes_add(&history->key, row->bytes, row->size);
	return texts_put_bytes(&history->flows, (const char *)history->key.data,
			       history->key.size);
}

static size_t thread_of(struct history *history, int64_t node, int64_t tid)
{
	const int64_t key[] = {node, tid};

	return texts_put_bytes(&history->threads, (const char *)key, sizeof(key));
}

static uint64_t key_of(size_t thread, size_t flow)
{
	return (uint64_t)thread << 32 | (uint32_t)flow;
}

static void read_sends(struct history *history)
{
	struct timeline_query *query =
	    timeline_query_new(history->reader, sends_sql, history->error);
	const struct cell *row;

	history->has_sends = true;
	history->failed = history->failed || !query;
	if (query && ask(history, query, NULL, 0))
		while ((row = next(history, query))) {
			size_t thread = thread_of(history, cell_integer(&row[5], -1),
						  cell_integer(&row[6], -1));

			intmap_put(&history->sends, key_of(thread, flow_of(history, row)),
				   1);
		}
	timeline_query_free(query);
}

static struct history_message message_of(struct history *history, const struct cell *row)
{
	return (struct history_message){
	    .id = row[5].integer,
	    .recv_event = cell_integer(&row[6], 0),
	    .send_ns = row[7].integer,
	    .recv_ns = row[8].integer,
	    .src_node = cell_integer(&row[9], -1),
	    .dst_node = cell_integer(&row[10], -1),
	    .flow = flow_of(history, row),
	    .by = cause_of(&row[11]),
	    .tid = cell_integer(&row[12], -1),
	    .answers = {cell_integer(&row[13], 0), cell_integer(&row[14], 0)},
	};
}

static bool history_find_message(struct history *history, int64_t id,
				 struct history_message *message)
{
	const struct cell key = cell_of_integer(id), *row = NULL;

	if (ask(history, history->message, &key, 1))
		row = next(history, history->message);
	if (row)
		*message = message_of(history, row);
	return row;
}

/*
 * Whether one message rather than another ended a wait: the one of the flow; else the one
 * that came last; of those that were merged on arrival the one that was sent last, where
 * one of which it is known who sent it goes before.
 */
static bool is_rather(const struct history_message *one,
		      const struct history_message *other, size_t flow)
{
	bool one_known = one->by != PATH_UNKNOWN, other_known = other->by != PATH_UNKNOWN;

	if ((one->flow == flow) != (other->flow == flow))
		return one->flow == flow;
	if (one->recv_event != other->recv_event)
		return one->recv_event > other->recv_event;
	if (one_known != other_known)
		return one_known;
	return one->send_ns > other->send_ns;
}

/* Of the batch's packets the one of this flow; else, with a thread, of one in which that
 * thread sends. */
static bool find_received(struct history *history, const struct packet_batch *batch,
			  size_t flow, size_t thread, struct history_message *best)
{
	const struct cell key[] = {cell_of_integer(batch->first),
				   cell_of_integer(batch->last)},
			  *row;
	bool found = false;
	int64_t any;

	if (!batch->first || !ask(history, history->batch, key, 2))
		return false;
	while ((row = next(history, history->batch))) {
		struct history_message message = message_of(history, row);

		if (thread == SIZE_MAX ? message.flow != flow
				       : !intmap_get(&history->sends,
						     key_of(thread, message.flow), &any))
			continue;
		if (!found || is_rather(&message, best, flow))
			*best = message;
		found = true;
	}
	return found;
}

/* The message that ended the thread's wait, of that flow where that is possible. False:
 * none that is known. */
static bool history_wait_message(struct history *history, int64_t node, int64_t tid,
				 const struct packet_batch *batch, size_t flow,
				 struct history_message *message)
{
	if (batch->first && !history->has_sends)
		read_sends(history);
	return find_received(history, batch, flow, thread_of(history, node, tid),
			     message);
}

/* What a kernel answered with a message; false: nothing that is known. */
static bool history_answered(struct history *history,
			     const struct history_message *message,
			     struct history_message *answered)
{
	return message->by == PATH_NETWORK &&
	       find_received(history, &message->answers, message->flow, SIZE_MAX,
			     answered);
}

void history_free(struct history *history)
{
	if (!history)
		return;
	timeline_query_free(history->span);
	timeline_query_free(history->message);
	timeline_query_free(history->batch);
	bytes_clear(&history->key);
	texts_clear(&history->flows);
	texts_clear(&history->threads);
	intmap_clear(&history->sends);
	free(history);
}

static int take_events(void *context, const struct cell *row)
{
	struct history_events *events = context;

	events->switches = row[0].integer;
	events->wakeups = row[1].integer;
	events->interrupts = row[2].integer && row[3].integer;
	events->receives = row[4].integer;
	return 0;
}

/* Older tracers leave out what stands in front of the names of newer ones. */
int history_events_read(struct history_events *events, struct question *question,
			struct error *error)
{
	static const char sql[] =
	    "SELECT count(CASE WHEN name = 'sched_switch' THEN 1 END),"
	    " count(CASE WHEN name IN ('sched_waking', 'sched_wakeup') THEN 1 END),"
	    " count(DISTINCT CASE WHEN name IN ('irq_handler_entry', 'irq_handler_exit')"
	    "  THEN name END) = 2,"
	    " count(DISTINCT CASE WHEN name IN ('irq_softirq_entry', 'softirq_entry')"
	    "  THEN 1 WHEN name IN ('irq_softirq_exit', 'softirq_exit') THEN 2 END) = 2,"
	    " count(CASE WHEN name IN ('net_if_receive_skb', 'netif_receive_skb') THEN 1"
	    "  END) FROM event_class WHERE events > 0";

	*events = (struct history_events){.switches = false};
	return question_ask(question, sql, NULL, take_events, events, error);
}

/* ---- the walk */

/* Whom the walk is with, and how far back; below it in the stack who waits for it. */
struct frame {
	int64_t node, tid;
	nsec_t floor_ns;
};

struct walk {
	struct path *path;
	struct history *history;
	size_t flow; /* a request's, which goes first; HISTORY_ANY */
	struct frame frame[PATH_DEEPEST];
	size_t deep;
	nsec_t at_ns; /* all after it is told */
};

/* Back to begin_ns, of which nothing before the floor counts. */
static struct path_segment *tell(struct walk *walk, enum path_state state,
				 nsec_t begin_ns)
{
	const struct frame *frame = &walk->frame[walk->deep - 1];
	struct path *path = walk->path;
	struct path_segment *segment;

	if (begin_ns < frame->floor_ns)
		begin_ns = frame->floor_ns;
	if (begin_ns >= walk->at_ns)
		return NULL;
	path->segment =
	    mem_grow(path->segment, path->count, &path->room, sizeof(*path->segment));
	segment = &path->segment[path->count++];
	*segment = (struct path_segment){
	    .state = state,
	    .begin_ns = begin_ns,
	    .end_ns = walk->at_ns,
	    .node = frame->node,
	    .tid = frame->tid,
	    .cpu = -1,
	    .other_tid = -1,
	    .from_node = -1,
	    .sent_ns = begin_ns,
	};
	walk->at_ns = begin_ns;
	return segment;
}

static void push(struct walk *walk, int64_t node, int64_t tid, nsec_t floor_ns)
{
	assert(walk->deep < PATH_DEEPEST);
	walk->frame[walk->deep++] =
	    (struct frame){.node = node, .tid = tid, .floor_ns = floor_ns};
}

/* Whether there is room for another wait within the waits. */
static bool has_room(struct walk *walk)
{
	walk->path->deep += walk->deep == PATH_DEEPEST;
	return walk->deep < PATH_DEEPEST;
}

/* Whether the thread ran just before that time, as who wakes or sends has to. */
static bool ran(const struct walk *walk, int64_t node, int64_t tid, nsec_t at_ns)
{
	struct history_span span;

	return history_span_before(walk->history, node, tid, at_ns, &span) &&
	       span.end_ns >= at_ns && span.state == STATE_RUNNING;
}

/* From where the message is known to have come back to its sending. */
static void tell_message(struct walk *walk, const struct history_message *message)
{
	struct path_segment *segment = tell(walk, PATH_NETWORK, message->send_ns);

	walk->path->backward += message->send_ns > message->recv_ns;
	if (!segment)
		return;
	segment->node = message->dst_node;
	segment->tid = -1;
	segment->from_node = message->src_node;
	segment->message = message->id;
	segment->sent_ns = message->send_ns;
}

/* Who sent it: a thread goes on from there; the rest of the wait is else as it is. */
static void follow_sender(struct walk *walk, const struct history_message *message,
			  nsec_t floor_ns)
{
	enum path_state state = message->by;

	if (message->by == PATH_THREAD &&
	    ran(walk, message->src_node, message->tid, walk->at_ns)) {
		push(walk, message->src_node, message->tid, floor_ns);
		return;
	}
	push(walk, message->src_node, -1, floor_ns);
	tell(walk, state == PATH_THREAD ? PATH_UNKNOWN : state, floor_ns);
	walk->deep--;
}

/*
 * Back over a message and what it answered, where a kernel did so by itself: an
 * acknowledgement, the next segment after one. Then over its sender.
 */
static void follow_message(struct walk *walk, struct history_message message,
			   nsec_t floor_ns)
{
	for (size_t hops = 0; walk->at_ns > floor_ns; hops++) {
		struct history_message answered;

		push(walk, message.dst_node, -1, floor_ns);
		tell(walk, PATH_INTERRUPT, message.recv_ns);
		tell_message(walk, &message);
		walk->deep--;
		if (hops >= PATH_DEEPEST ||
		    !history_answered(walk->history, &message, &answered) ||
		    answered.recv_event == message.recv_event) {
			follow_sender(walk, &message, floor_ns);
			return;
		}
		message = answered;
	}
}

/* Back over a wait: to what ended it, if that is known, and to where it began. */
static void follow_wait(struct walk *walk, const struct history_span *span,
			nsec_t floor_ns)
{
	const struct frame *frame = &walk->frame[walk->deep - 1];
	bool at_end = span->ended && walk->at_ns == span->end_ns;
	struct history_message message;
	struct path_segment *segment;

	if (at_end && span->wait == PATH_NETWORK &&
	    history_wait_message(walk->history, frame->node, frame->tid, &span->batch,
				 walk->flow, &message) &&
	    has_room(walk)) {
		follow_message(walk, message, floor_ns);
		return;
	}
	if (at_end && span->wait == PATH_THREAD && span->other_tid > 0 &&
	    span->other_tid != frame->tid &&
	    ran(walk, frame->node, span->other_tid, walk->at_ns) && has_room(walk)) {
		push(walk, frame->node, span->other_tid, floor_ns);
		return;
	}
	segment = tell(walk, span->wait, floor_ns);
	if (segment)
		segment->other_tid = span->wait == PATH_THREAD ? span->other_tid : -1;
}

/* One step back, which moves at_ns or goes into a wait. */
static void step(struct walk *walk)
{
	const struct frame *frame = &walk->frame[walk->deep - 1];
	struct path_segment *segment;
	struct history_span span;
	bool any = history_span_before(walk->history, frame->node, frame->tid,
				       walk->at_ns, &span);
	nsec_t begin_ns;

	if (!any || span.end_ns < walk->at_ns) {
		tell(walk, PATH_UNKNOWN, any ? span.end_ns : frame->floor_ns);
		return;
	}
	begin_ns = span.begin_ns > frame->floor_ns ? span.begin_ns : frame->floor_ns;
	if (span.state == STATE_SLEEPING) {
		follow_wait(walk, &span, begin_ns);
		return;
	}
	segment = tell(walk, span.state == STATE_RUNNING ? PATH_RUNNING : PATH_RUNNABLE,
		       begin_ns);
	if (!segment)
		return;
	segment->cpu = span.cpu;
	if (span.state == STATE_RUNNABLE)
		segment->other_tid = span.other_tid;
}

static void reverse(struct path *path)
{
	for (size_t i = 0; i < path->count / 2; i++) {
		struct path_segment *other = &path->segment[path->count - 1 - i];
		struct path_segment kept = path->segment[i];

		path->segment[i] = *other;
		*other = kept;
	}
}

int path_walk(struct path *path, struct history *history, const struct path_start *start)
{
	struct walk walk = {.path = path,
			    .history = history,
			    .flow = HISTORY_ANY,
			    .at_ns = start->end_ns};
	struct history_message message;

	*path = (struct path){.count = 0};
	if (start->begin_ns >= start->end_ns)
		return 0;
	push(&walk, start->node, start->tid, start->begin_ns);
	if (start->message && history_find_message(history, start->message, &message)) {
		walk.flow = message.flow;
		follow_message(&walk, message, start->begin_ns);
	}
	while (walk.deep && !history->failed) {
		if (walk.at_ns <= walk.frame[walk.deep - 1].floor_ns)
			walk.deep--;
		else
			step(&walk);
	}
	reverse(path);
	return history->failed ? -1 : 0;
}

void path_clear(struct path *path)
{
	free(path->segment);
	*path = (struct path){.count = 0};
}
