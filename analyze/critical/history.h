/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_CRITICAL_HISTORY_H
#define CT_ANALYZE_CRITICAL_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/question.h"
#include "base/error.h"
#include "base/nsec.h"
#include "timeline/reader.h"

/*
 * What threads did, and which message of another node ended which wait, asked of the
 * timeline backwards in time. An error is kept: every answer is then "nothing".
 *
 * Of the packets that one softirq received, that one ended a thread's wait which is of a
 * flow in which this thread sends something; if there is none, it is not known which one
 * did. Likewise a kernel answers in the flow of what it answers.
 */
struct history;

enum history_state { STATE_RUNNING, STATE_RUNNABLE, STATE_SLEEPING };

/* What ended a wait, or sent a message. */
enum history_cause {
	CAUSE_UNKNOWN,
	CAUSE_THREAD,
	CAUSE_DISK,
	CAUSE_NETWORK,
	CAUSE_TIMER,
	CAUSE_INTERRUPT
};

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
	enum history_cause wait;   /* SLEEPING */
	struct packet_batch batch; /* SLEEPING: what came as it ended */
	bool ended; /* it ended as told; else its end was lost, or is not recorded */
};

struct history_message {
	int64_t id, recv_event;
	nsec_t send_ns, recv_ns;
	int64_t src_node, dst_node;
	size_t flow;                 /* protocol, addresses and ports, either way */
	enum history_cause by;       /* what sent it */
	int64_t tid;                 /* -1: not known */
	struct packet_batch answers; /* by CAUSE_NETWORK: one of these */
};

/* NULL with error. Borrows both until the end. Memory: the flows in which threads send.
 */
struct history *history_new(struct timeline_reader *reader, struct error *error);

/* The thread's span with begin_ns < at_ns <= end_ns, or else the last one that ended
 * before; false: there is none. */
bool history_span_before(struct history *history, int64_t node, int64_t tid, nsec_t at_ns,
			 struct history_span *span);

bool history_find_message(struct history *history, int64_t id,
			  struct history_message *message);

/* The message that ended the thread's wait, of that flow where that is possible;
 * HISTORY_ANY: of any. False: none that is known. */
#define HISTORY_ANY SIZE_MAX
bool history_wait_message(struct history *history, int64_t node, int64_t tid,
			  const struct packet_batch *batch, size_t flow,
			  struct history_message *message);

/* What a kernel answered with a message; false: nothing that is known. */
bool history_answered(struct history *history, const struct history_message *message,
		      struct history_message *answered);

/* Whether a question failed; then there is an error. */
bool history_failed(const struct history *history);

void history_free(struct history *history);

/* Which events there are, of those that tell what ended waits. */
struct history_events {
	bool switches;   /* sched_switch */
	bool wakeups;    /* sched_waking or sched_wakeup */
	bool interrupts; /* begins and ends of interrupts and softirqs */
	bool receives;   /* packets that came */
};

/* 0, or -1 with error. */
int history_events_read(struct history_events *events, struct question *question,
			struct error *error);

#endif
