/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/critical/path.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

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

const char *path_state_name(enum path_state state)
{
	static const char *const names[PATH_STATES] = {"running", "runnable", "disk",
						       "network", "timer",    "interrupt",
						       "thread",  "unknown"};

	return names[state];
}

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

static enum path_state state_of(enum history_cause cause)
{
	switch (cause) {
	case CAUSE_DISK:
		return PATH_DISK;
	case CAUSE_NETWORK:
		return PATH_NETWORK;
	case CAUSE_TIMER:
		return PATH_TIMER;
	case CAUSE_INTERRUPT:
		return PATH_INTERRUPT;
	case CAUSE_THREAD:
		return PATH_THREAD;
	case CAUSE_UNKNOWN:
		break;
	}
	return PATH_UNKNOWN;
}

/* Who sent it: a thread goes on from there; the rest of the wait is else as it is. */
static void follow_sender(struct walk *walk, const struct history_message *message,
			  nsec_t floor_ns)
{
	enum path_state state = state_of(message->by);

	if (message->by == CAUSE_THREAD &&
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

	if (at_end && span->wait == CAUSE_NETWORK &&
	    history_wait_message(walk->history, frame->node, frame->tid, &span->batch,
				 walk->flow, &message) &&
	    has_room(walk)) {
		follow_message(walk, message, floor_ns);
		return;
	}
	if (at_end && span->wait == CAUSE_THREAD && span->other_tid > 0 &&
	    span->other_tid != frame->tid &&
	    ran(walk, frame->node, span->other_tid, walk->at_ns) && has_room(walk)) {
		push(walk, frame->node, span->other_tid, floor_ns);
		return;
	}
	segment = tell(walk, state_of(span->wait), floor_ns);
	if (segment)
		segment->other_tid = span->wait == CAUSE_THREAD ? span->other_tid : -1;
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
	while (walk.deep && !history_failed(history)) {
		if (walk.at_ns <= walk.frame[walk.deep - 1].floor_ns)
			walk.deep--;
		else
			step(&walk);
	}
	reverse(path);
	return history_failed(history) ? -1 : 0;
}

void path_clear(struct path *path)
{
	free(path->segment);
	*path = (struct path){.count = 0};
}
