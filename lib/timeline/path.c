/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/path.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"

const char *path_state_name(enum path_state state)
{
	static const char *const names[PATH_STATES] = {"running", "runnable", "disk",
						       "network", "timer",    "interrupt",
						       "thread",  "unknown",  "resent"};

	return names[state];
}

struct node_request node_request_of_row(const struct cell *row)
{
	return (struct node_request){
	    .id = row[0].integer,
	    .start = {.node = cell_integer(&row[2], -1),
		      .tid = cell_integer(&row[4], -1),
		      .begin_ns = row[6].integer,
		      .end_ns = cell_integer(&row[7], NSEC_MIN),
		      .message = cell_integer(&row[1], 0),
		      .resent_ns = cell_integer(&row[13], 0),
		      .sender_tid = cell_integer(&row[10], -1),
		      .given_ns = cell_integer(&row[11], NSEC_MIN)},
	    .server = cell_integer(&row[3], -1),
	    .server_port = cell_integer(&row[5], -1),
	    .bound_ns = cell_integer(&row[8], NSEC_MAX),
	    .arrived_ns = cell_integer(&row[9], NSEC_MIN),
	    .resent_there_ns = cell_integer(&row[12], 0),
	};
}

enum history_state { STATE_RUNNING, STATE_RUNNABLE, STATE_SLEEPING };

/* Packets that one softirq received, as event ids; 0: none. */
struct packet_batch {
	int64_t first, last;
};

/* A row of thread_state. */
struct history_span {
	nsec_t begin_ns, end_ns;
	enum history_state state;
	int64_t cpu;       /* RUNNING, RUNNABLE; -1 */
	int64_t other_tid; /* SLEEPING: woke it; RUNNABLE: ran before it on its processor;
			      or -1 */
	enum path_state wait;      /* SLEEPING */
	struct packet_batch batch; /* SLEEPING: packets received when it ended */
	bool ended;                /* its end was recorded */
};

struct history_message {
	int64_t id, recv_event;
	nsec_t send_ns, recv_ns;
	int64_t src_node, dst_node;
	enum path_state by;          /* what sent it */
	int64_t tid;                 /* -1: not known */
	struct packet_batch answers; /* by CAUSE_NETWORK: one of these */
};

/* A search for a span, and its result. */
struct span_search {
	int64_t node, tid;
	nsec_t at_ns;
	bool is_found;
	struct history_span span;
};

struct history {
	struct error *error;
	bool failed;
	struct timeline_query *span, *idle, *message, *batch, *sent;
	struct span_search last;
	struct texts senders; /* threads and flows in which they send, of these chunks */
	struct intmap chunks; /* of messages, by the first id; SENDERS_CHUNK ids each */
	bool has_all_senders;
	struct bytes key;
};

enum { SENDERS_CHUNK = 4096 };

static const char span_sql[] =
    "SELECT begin_ns, end_ns, CASE state WHEN 'running' THEN 0 WHEN 'runnable' THEN 1"
    " ELSE 2 END, cpu, CASE state WHEN 'runnable' THEN prev_tid ELSE waker_tid END,"
    " wait, wake_first_recv, wake_last_recv, cut % 4 < 2 FROM thread_state"
    " WHERE node = ? AND tid = ? AND begin_ns < ? AND state <> 'dead'"
    " ORDER BY begin_ns DESC LIMIT 1";

static const char idle_sql[] = "SELECT begin_ns, end_ns FROM thread_state"
			       " WHERE node = ? AND tid = 0 AND begin_ns < ? AND cpu = ?"
			       " ORDER BY begin_ns DESC LIMIT 1";

#define MESSAGE                                                                          \
	"m.id, m.recv_event, m.send_ns, m.recv_ns, m.src_node, m.dst_node, m.send_by,"   \
	" m.send_tid, m.send_first_recv, m.send_last_recv"
enum { MESSAGE_COLUMNS = 10 };

static const char message_sql[] =
    "SELECT " MESSAGE " FROM message AS m WHERE m.id = ? AND m.send_ns IS NOT NULL"
    " AND m.recv_ns IS NOT NULL";

/* The flows in which threads send. */
static const char sent_sql[] =
    "SELECT " TIMELINE_ROW "(src_node, send_tid, protocol, src, sport, dst, dport)"
    " FROM message WHERE id BETWEEN ? AND ? AND send_by = 'thread' AND send_tid > 0";

/* Select the packets of a batch (events ?1 to ?2), with ?3 = 0 only those in the flow of
 * message ?4, and the thread that sent that one. First come those in that flow, then the
 * latest arrival, then a known sender, then the latest send: receive offload merges
 * packets. */
static const char batch_sql[] =
    "SELECT " MESSAGE ", m.protocol, m.src, m.sport, m.dst, m.dport, f.src_node, CASE"
    " f.send_by WHEN 'thread' THEN f.send_tid END FROM message AS m LEFT JOIN message AS "
    "f ON f.id = ?4 AND f.protocol IS m.protocol AND ((f.src IS"
    " m.src AND f.sport IS m.sport AND f.dst IS m.dst AND f.dport IS m.dport) OR (f.src"
    " IS m.dst AND f.sport IS m.dport AND f.dst IS m.src AND f.dport IS m.sport))"
    " WHERE m.recv_event BETWEEN ?1 AND ?2 AND m.recv_batch = ?1"
    " AND m.send_ns IS NOT NULL AND m.recv_ns IS NOT NULL"
    " AND (?3 OR f.id IS NOT NULL) ORDER BY f.id IS NULL, m.recv_event DESC,"
    " coalesce(m.send_by IN ('disk', 'network', 'timer', 'interrupt', 'thread'), 0) DESC,"
    " m.send_ns DESC, m.id";

struct history *history_new(struct timeline_reader *reader, struct error *error)
{
	struct history *history = mem_zalloc(sizeof(*history));

	history->error = error;
	if ((history->span = timeline_query_new(reader, span_sql, error)) &&
	    (history->idle = timeline_query_new(reader, idle_sql, error)) &&
	    (history->message = timeline_query_new(reader, message_sql, error)) &&
	    (history->batch = timeline_query_new(reader, batch_sql, error)) &&
	    (history->sent = timeline_query_new(reader, sent_sql, error)))
		return history;
	history_free(history);
	return NULL;
}

/* Parse a `wait` or `send_by` cell. Return PATH_UNKNOWN for NULL and other words. */
static enum path_state cause_of(const struct cell *cell)
{
	for (enum path_state i = PATH_DISK; i <= PATH_THREAD; i++)
		if (cell->type == CELL_TEXT && !strcmp(cell->bytes, path_state_name(i)))
			return i;
	return PATH_UNKNOWN;
}

/* Return the next row, or NULL. */
static const struct cell *query_next_row(struct history *history,
					 struct timeline_query *query)
{
	int more = history->failed ? -1 : timeline_query_next(query, history->error);

	history->failed |= more < 0;
	return more > 0 ? timeline_query_row(query) : NULL;
}

/* Return the first row that there is with these values, or NULL. */
static const struct cell *query_first_row(struct history *history,
					  struct timeline_query *query,
					  const struct cell *value, size_t values)
{
	history->failed |=
	    history->failed || timeline_query_ask(query, value, values, history->error);
	return query_next_row(history, query);
}

static struct history_span span_of_row(const struct cell *row)
{
	return (struct history_span){
	    .begin_ns = row[0].integer,
	    .end_ns = row[1].integer,
	    .state = (enum history_state)row[2].integer,
	    .cpu = cell_integer(&row[3], -1),
	    .other_tid = cell_integer(&row[4], -1),
	    .wait = cause_of(&row[5]),
	    .batch = {cell_integer(&row[6], 0), cell_integer(&row[7], 0)},
	    .ended = row[8].integer,
	};
}

/* Find the thread's span with begin_ns < at_ns <= end_ns, or else the last one before.
 * Return false if there is none. */
static bool history_span_before(struct history *history, int64_t node, int64_t tid,
				nsec_t at_ns, struct history_span *span)
{
	const struct cell key[] = {cell_of_integer(node), cell_of_integer(tid),
				   cell_of_integer(at_ns)};
	struct span_search *last = &history->last;
	const struct cell *row;

	if (tid <= 0)
		return false;
	/* A thread is followed after it was found to run. */
	if (last->node != node || last->tid != tid || last->at_ns != at_ns) {
		row = query_first_row(history, history->span, key, 3);
		*last = (struct span_search){node, tid, at_ns, .is_found = row};
		if (row)
			last->span = span_of_row(row);
	}
	*span = last->span;
	return last->is_found;
}

static struct history_message message_of_row(const struct cell *row)
{
	return (struct history_message){
	    .id = row[0].integer,
	    .recv_event = cell_integer(&row[1], 0),
	    .send_ns = row[2].integer,
	    .recv_ns = row[3].integer,
	    .src_node = cell_integer(&row[4], -1),
	    .dst_node = cell_integer(&row[5], -1),
	    .by = cause_of(&row[6]),
	    .tid = cell_integer(&row[7], -1),
	    .answers = {cell_integer(&row[8], 0), cell_integer(&row[9], 0)},
	};
}

static int add_sender(void *context, const struct cell *row, struct error *error)
{
	struct history *history = context;
	struct bytes *key = &history->key;

	(void)error;
	key->size = 0;
	for (size_t i = 0; i < 7; i++)
		cell_add_key(&row[i], key);
	texts_put_bytes(&history->senders, (const char *)key->data, key->size);
	return 0;
}

/* Read the senders of the messages from `first` to `last`. */
static void read_senders(struct history *history, int64_t first, int64_t last)
{
	const struct cell id[] = {cell_of_integer(first), cell_of_integer(last)};

	history->failed |=
	    history->failed || timeline_query_ask(history->sent, id, 2, history->error) ||
	    timeline_query_each(history->sent, add_sender, history, history->error);
}

/* Return true if the thread is known to send in the flow: protocol, address, port, other
 * address, its port. */
static bool is_known_sender(struct history *history, int64_t node, int64_t tid,
			    const struct cell *flow)
{
	static const size_t order[2][5] = {{0, 1, 2, 3, 4}, {0, 3, 4, 1, 2}};
	const struct cell thread[] = {cell_of_integer(node), cell_of_integer(tid)};
	struct bytes *key = &history->key;
	bool is_known = false;

	for (size_t way = 0; way < 2 && !is_known; way++) {
		key->size = 0;
		for (size_t i = 0; i < 2; i++)
			cell_add_key(&thread[i], key);
		for (size_t i = 0; i < 5; i++)
			cell_add_key(&flow[order[way][i]], key);
		is_known = texts_have_bytes(&history->senders, (const char *)key->data,
					    key->size);
	}
	return is_known;
}

/* Return true if a thread sends in the flow of a message of batch_sql. Mostly it sent the
 * message whose flow that is, or another one soon before or after; only if it did not,
 * read all messages. */
static bool sends_in_flow(struct history *history, int64_t node, int64_t tid,
			  const struct cell *row)
{
	const struct cell *flow = &row[MESSAGE_COLUMNS];
	const int64_t message = row[0].integer;
	int64_t first = nsec_sub(message - message % SENDERS_CHUNK, SENDERS_CHUNK), done;

	if (tid > 0 && cell_integer(&flow[6], -1) == tid &&
	    cell_integer(&flow[5], -1) == node)
		return true;
	for (int i = 0; i < 3 && !history->has_all_senders; i++) {
		if (!intmap_get(&history->chunks, (uint64_t)first, &done)) {
			intmap_put(&history->chunks, (uint64_t)first, 1);
			read_senders(history, first, nsec_add(first, SENDERS_CHUNK - 1));
		}
		first = nsec_add(first, SENDERS_CHUNK);
	}
	if (is_known_sender(history, node, tid, flow))
		return true;
	if (history->has_all_senders)
		return false;
	read_senders(history, INT64_MIN, INT64_MAX);
	history->has_all_senders = true;
	return is_known_sender(history, node, tid, flow);
}

/* Find the message of a batch that ended a wait of the thread: the first one in a flow in
 * which the thread sends, or for tid -1 in the flow of message `flow_of`. */
static bool find_received(struct history *history, const struct packet_batch *batch,
			  int64_t node, int64_t tid, int64_t flow_of,
			  struct history_message *message)
{
	const struct cell key[] = {cell_of_integer(batch->first),
				   cell_of_integer(batch->last),
				   cell_of_integer(tid != -1), cell_of_integer(flow_of)};
	const struct cell *row =
	    batch->first ? query_first_row(history, history->batch, key, 4) : NULL;

	while (row && tid != -1 && !sends_in_flow(history, node, tid, row))
		row = query_next_row(history, history->batch);
	if (row)
		*message = message_of_row(row);
	return row;
}

/* Find the message that a kernel answered with this one. Return false if it is unknown.
 */
static bool history_answered(struct history *history,
			     const struct history_message *message,
			     struct history_message *answered)
{
	return message->by == PATH_NETWORK &&
	       find_received(history, &message->answers, -1, -1, message->id, answered);
}

void history_free(struct history *history)
{
	if (!history)
		return;
	timeline_query_free(history->span);
	timeline_query_free(history->idle);
	timeline_query_free(history->message);
	timeline_query_free(history->batch);
	timeline_query_free(history->sent);
	texts_clear(&history->senders);
	intmap_clear(&history->chunks);
	bytes_clear(&history->key);
	free(history);
}

/* A thread being followed, and the time to follow it back to. The frame below is the
 * thread that waits for it. */
struct frame {
	int64_t node, tid;
	nsec_t floor_ns;
};

struct walk {
	struct path *path;
	struct history *history;
	int64_t flow_of; /* message whose flow is preferred; or 0 */
	struct frame frame[PATH_DEEPEST];
	size_t deep;
	nsec_t at_ns; /* the segments so far begin here */
};

/* Add a segment that begins at begin_ns, but not before the floor. */
static struct path_segment *add_path_segment(struct walk *walk, enum path_state state,
					     nsec_t begin_ns)
{
	const struct frame *frame = &walk->frame[walk->deep - 1];
	struct path *path = walk->path;
	struct path_segment *segment;

	if (begin_ns < frame->floor_ns)
		begin_ns = frame->floor_ns;
	if (begin_ns >= walk->at_ns)
		return NULL;
	segment = MEM_NEXT(path->segment, path->count, path->capacity);
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

static void push_frame(struct walk *walk, int64_t node, int64_t tid, nsec_t floor_ns)
{
	assert(walk->deep < PATH_DEEPEST);
	walk->frame[walk->deep++] =
	    (struct frame){.node = node, .tid = tid, .floor_ns = floor_ns};
}

/* Return true if another wait can be followed within the current ones. */
static bool can_nest(struct walk *walk)
{
	walk->path->deep += walk->deep == PATH_DEEPEST;
	return walk->deep < PATH_DEEPEST;
}

/* Return true if the thread ran until at_ns, as a thread that wakes or sends must have.
 */
static bool was_running(const struct walk *walk, int64_t node, int64_t tid, nsec_t at_ns)
{
	struct history_span span;

	return history_span_before(walk->history, node, tid, at_ns, &span) &&
	       span.end_ns >= at_ns && span.state == STATE_RUNNING;
}

/* Add a message's time in flight. */
static void add_message_segment(struct walk *walk, const struct history_message *message)
{
	struct path_segment *segment =
	    add_path_segment(walk, PATH_NETWORK, message->send_ns);

	walk->path->backward += message->send_ns > message->recv_ns;
	if (!segment)
		return;
	segment->node = message->dst_node;
	segment->tid = -1;
	segment->from_node = message->src_node;
	segment->message = message->id;
	segment->sent_ns = message->send_ns;
}

/* Continue with the thread that sent a message. If something else did, add that for the
 * rest of the wait. */
static void follow_sender(struct walk *walk, const struct history_message *message,
			  nsec_t floor_ns)
{
	enum path_state state = message->by;

	if (message->by == PATH_THREAD &&
	    was_running(walk, message->src_node, message->tid, walk->at_ns)) {
		push_frame(walk, message->src_node, message->tid, floor_ns);
		return;
	}
	push_frame(walk, message->src_node, -1, floor_ns);
	add_path_segment(walk, state == PATH_THREAD ? PATH_UNKNOWN : state, floor_ns);
	walk->deep--;
}

/* Follow a message back, then what it answered if a kernel sent it by itself (an
 * acknowledgement, the next segment after one), then its sender. */
static void follow_message(struct walk *walk, struct history_message message,
			   nsec_t floor_ns)
{
	for (size_t hops = 0; walk->at_ns > floor_ns; hops++) {
		struct history_message answered;

		push_frame(walk, message.dst_node, -1, floor_ns);
		add_path_segment(walk, PATH_INTERRUPT, message.recv_ns);
		add_message_segment(walk, &message);
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

/* Add a message's time in flight or until it was sent again. */
static void add_transfer_segment(struct walk *walk, enum path_state state,
				 nsec_t begin_ns, const struct history_message *message)
{
	struct path_segment *segment = add_path_segment(walk, state, begin_ns);

	if (segment)
		segment->from_node = message->src_node;
}

/* Follow a message back whose data was lost before: to its first transmission, then to
 * the thread that sent its first byte. */
static void follow_resent(struct walk *walk, const struct history_message *message,
			  const struct path_start *start)
{
	nsec_t floor_ns = start->begin_ns;

	push_frame(walk, message->dst_node, -1, floor_ns);
	add_path_segment(walk, PATH_INTERRUPT, message->recv_ns);
	add_message_segment(walk, message);
	add_transfer_segment(walk, PATH_RESENT, nsec_sub(walk->at_ns, start->resent_ns),
			     message);
	if (!was_running(walk, message->src_node, start->sender_tid, walk->at_ns))
		add_transfer_segment(walk, PATH_NETWORK, start->given_ns, message);
	walk->deep--;
	if (was_running(walk, message->src_node, start->sender_tid, walk->at_ns)) {
		push_frame(walk, message->src_node, start->sender_tid, floor_ns);
		return;
	}
	push_frame(walk, message->src_node, -1, floor_ns);
	add_path_segment(walk, PATH_UNKNOWN, floor_ns);
	walk->deep--;
}

/* Follow a wait back: to what ended it, if that is known, and to its beginning. */
static void follow_wait(struct walk *walk, const struct history_span *span,
			nsec_t floor_ns)
{
	const struct frame *frame = &walk->frame[walk->deep - 1];
	bool at_end = span->ended && walk->at_ns == span->end_ns;
	struct history_message message;
	struct path_segment *segment;

	if (at_end && span->wait == PATH_NETWORK &&
	    find_received(walk->history, &span->batch, frame->node, frame->tid,
			  walk->flow_of, &message) &&
	    can_nest(walk)) {
		follow_message(walk, message, floor_ns);
		return;
	}
	if (at_end && span->wait == PATH_THREAD && span->other_tid > 0 &&
	    span->other_tid != frame->tid &&
	    was_running(walk, frame->node, span->other_tid, walk->at_ns) &&
	    can_nest(walk)) {
		push_frame(walk, frame->node, span->other_tid, floor_ns);
		return;
	}
	segment = add_path_segment(walk, span->wait, floor_ns);
	if (segment)
		segment->other_tid = span->wait == PATH_THREAD ? span->other_tid : -1;
}

/* Go one step back: add a segment, or enter a wait. */
static void step_back(struct walk *walk)
{
	const struct frame *frame = &walk->frame[walk->deep - 1];
	struct path_segment *segment;
	struct history_span span;
	bool any = history_span_before(walk->history, frame->node, frame->tid,
				       walk->at_ns, &span);
	nsec_t begin_ns;

	if (!any || span.end_ns < walk->at_ns) {
		add_path_segment(walk, PATH_UNKNOWN, any ? span.end_ns : frame->floor_ns);
		return;
	}
	begin_ns = span.begin_ns > frame->floor_ns ? span.begin_ns : frame->floor_ns;
	if (span.state == STATE_SLEEPING) {
		follow_wait(walk, &span, begin_ns);
		return;
	}
	segment = add_path_segment(
	    walk, span.state == STATE_RUNNING ? PATH_RUNNING : PATH_RUNNABLE, begin_ns);
	if (!segment)
		return;
	segment->cpu = span.cpu;
	if (span.state == STATE_RUNNABLE)
		segment->other_tid = span.other_tid;
}

static void reverse_path(struct path *path)
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
			    .flow_of = start->message,
			    .at_ns = start->end_ns};
	const struct cell first = cell_of_integer(start->message);
	struct history_message message;
	const struct cell *row;

	*path = (struct path){.count = 0};
	if (start->begin_ns >= start->end_ns)
		return 0;
	push_frame(&walk, start->node, start->tid, start->begin_ns);
	row = query_first_row(history, history->message, &first, 1);
	if (row) {
		message = message_of_row(row);
		if (start->resent_ns > 0)
			follow_resent(&walk, &message, start);
		else
			follow_message(&walk, message, start->begin_ns);
	}
	while (walk.deep && !history->failed) {
		if (walk.at_ns <= walk.frame[walk.deep - 1].floor_ns)
			walk.deep--;
		else
			step_back(&walk);
	}
	reverse_path(path);
	return history->failed ? -1 : 0;
}

/* Find when a thread, or idle (0), that left a processor at at_ns had started to run
 * there. Return false if that is unknown. */
static bool find_run_begin(struct history *history, const struct path_segment *wait,
			   int64_t tid, nsec_t at_ns, nsec_t *begin_ns)
{
	const struct cell key[] = {cell_of_integer(wait->node), cell_of_integer(at_ns),
				   cell_of_integer(wait->cpu)};
	struct history_span span;
	const struct cell *idle =
	    tid == 0 ? query_first_row(history, history->idle, key, 3) : NULL;

	if (idle && idle[1].integer == at_ns)
		*begin_ns = idle[0].integer;
	else if (history_span_before(history, wait->node, tid, at_ns, &span) &&
		 span.state == STATE_RUNNING && span.end_ns == at_ns)
		*begin_ns = span.begin_ns;
	else
		return false;
	return true;
}

/* Return the thread that had the processor before this one, or -1 if unknown. */
static int64_t find_predecessor(struct history *history, int64_t node, int64_t tid,
				nsec_t at_ns)
{
	struct history_span span;

	return history_span_before(history, node, tid, at_ns, &span) &&
		       span.state == STATE_RUNNABLE && span.end_ns == at_ns
		   ? span.other_tid
		   : -1;
}

static void split_wait(struct path *path, struct history *history,
		       const struct path_segment *wait)
{
	struct path_segment part = *wait;

	while (part.end_ns > wait->begin_ns) {
		nsec_t begin_ns = wait->begin_ns;

		if (!find_run_begin(history, wait, part.other_tid, part.end_ns,
				    &begin_ns))
			part.other_tid = -1;
		part.begin_ns = begin_ns > wait->begin_ns ? begin_ns : wait->begin_ns;
		*MEM_NEXT(path->segment, path->count, path->capacity) = part;
		part.other_tid =
		    find_predecessor(history, wait->node, part.other_tid, part.begin_ns);
		part.end_ns = part.begin_ns;
	}
}

int path_split_waits(struct path *path, struct history *history)
{
	struct path split = {.deep = path->deep, .backward = path->backward};

	for (size_t i = 0; i < path->count; i++)
		if (path->segment[i].state == PATH_RUNNABLE)
			split_wait(&split, history, &path->segment[i]);
		else
			*MEM_NEXT(split.segment, split.count, split.capacity) =
			    path->segment[i];
	path_clear(path);
	*path = split;
	return history->failed ? -1 : 0;
}

void path_clear(struct path *path)
{
	free(path->segment);
	*path = (struct path){.count = 0};
}
