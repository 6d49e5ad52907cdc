/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_CRITICAL_PAST_H
#define CT_ANALYZE_CRITICAL_PAST_H

#include <stddef.h>
#include <stdint.h>

#include "activity/activity.h"
#include "base/error.h"
#include "base/nsec.h"

/*
 * What the threads of a cluster did in a span of time, and which message of another node
 * ended which wait: kept in memory, to be asked backwards in time: 32 bytes a span of a
 * thread, 88 a message, and as much again while they grow.
 *
 * Of the packets that one softirq received, that one ended a thread's wait which is of a
 * flow in which this thread sends something, in what was read; if there is none, it is
 * not known which one did. Likewise a kernel answers in the flow of what it answers.
 */
struct past;

/* A message as a wait's end: who sent it, and in answer to what. */
struct past_message {
	int64_t id, send_event, recv_event; /* message.id, event.id */
	nsec_t send_ns, recv_ns;
	int64_t src_node, dst_node;
	int64_t batch; /* as of struct packet_received; 0: its receive was not told */
	uint32_t flow; /* protocol, addresses and ports, either way */
	/* What sent it, as of struct packet_sent; WAIT_UNKNOWN if that was not recorded.
	 */
	enum activity_wait by;
	int64_t tid;    /* -1: not known */
	uint32_t cause; /* by WAIT_NETWORK: the message that was answered; PAST_NONE */
};

#define PAST_NONE UINT32_MAX

/* A thread in one state; as struct thread_span. */
struct past_span {
	nsec_t begin_ns, end_ns;
	uint32_t batch;    /* BLOCKED: what came as it ended; see past_wait_message */
	int32_t other_tid; /* BLOCKED: who woke it; RUNNABLE: who had its processor; -1 */
	int16_t cpu;       /* RUNNING, RUNNABLE; -1 */
	uint8_t state;     /* enum activity_state */
	uint8_t wait;      /* BLOCKED: enum activity_wait */
	bool ended; /* it ended as told; else its end was lost, or is out of the scope */
};

/* For progress: 0 to 1. */
struct past_watch {
	void (*share)(void *context, double share);
	void *context;
};

/*
 * Read what happened in the scope, on its chosen nodes. Messages that were sent up to 10
 * s before it count, too. NULL with error.
 */
struct past *past_read(struct timeline_reader *reader, const struct scope *scope,
		       const struct past_watch *watch, struct error *error);

/* The thread's span with begin_ns < at_ns <= end_ns, or else the last one that ended
 * before; NULL: there is none. */
const struct past_span *past_span_before(const struct past *past, int64_t node,
					 int64_t tid, nsec_t at_ns);

const struct past_message *past_message(const struct past *past, uint32_t at);

/* What ended a thread's wait, of `flow`'s flow where that is possible (NULL: of any);
 * NULL: no message that is known. */
const struct past_message *past_wait_message(const struct past *past, int64_t node,
					     int64_t tid, const struct past_span *wait,
					     const struct past_message *flow);

/* By its message.id; NULL: it is not among them. */
const struct past_message *past_find_message(const struct past *past, int64_t id);

/* Threads that had a span, by node and number, as they came. */
struct past_thread {
	int64_t node, tid;
	const char *comm; /* as of its last span; "" if not known */
	nsec_t begin_ns, end_ns;
	nsec_t running_ns;
};

size_t past_threads(const struct past *past);
struct past_thread past_thread(const struct past *past, size_t at);

void past_free(struct past *past);

#endif
