/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_PATH_H
#define CT_TIMELINE_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/nsec.h"
#include "timeline/reader.h"

/*
 * Queries on a timeline, backwards in time: what a thread did, and which message from
 * another node ended a wait. After an error every query finds nothing; the error is kept.
 *
 * If one softirq received several packets, the one that woke a thread is taken to be one
 * of a flow in which the thread also sends; without such a packet the cause is unknown. A
 * kernel's own reply belongs to the flow of the packet that it answers.
 */
struct history;

/* Return NULL with error. Borrows both arguments. */
struct history *history_new(struct timeline_reader *reader, struct error *error);

void history_free(struct history *history);

/*
 * The critical path to the end of an interval: a thread's states, where each wait is
 * replaced by what the thread that ended it did meanwhile, also on other nodes.
 *
 * Source: the backward walk is that of Giraldeau and Dagenais, "Wait analysis of
 * distributed systems using kernel tracing" (IEEE TPDS 27(8), 2016), in the bounded form
 * of Trace Compass: the thread that ended a wait is followed back to the start of the
 * wait, where the path returns to the waiting thread.
 */
enum path_state {
	PATH_RUNNING,
	PATH_RUNNABLE, /* waits for a processor */
	PATH_DISK,     /* this and the following: waits, by what ended them */
	PATH_NETWORK,  /* a message was in flight, or it is unknown which one */
	PATH_TIMER,
	PATH_INTERRUPT, /* also from a message's arrival to the wakeup */
	PATH_THREAD,    /* a thread that is not followed any further */
	PATH_UNKNOWN,   /* nothing was recorded, or not what ended the wait */
	PATH_RESENT,    /* data was lost, until it was sent again */
	PATH_STATES
};

/* Return "running", "disk", ... */
const char *path_state_name(enum path_state state);

struct path_segment {
	enum path_state state;
	nsec_t begin_ns, end_ns;
	int64_t node;      /* a message's is its destination */
	int64_t tid;       /* -1: not a thread */
	int64_t cpu;       /* RUNNING, RUNNABLE; -1 if unknown */
	int64_t other_tid; /* RUNNABLE: had the processor; THREAD: woke; or -1 */
	int64_t from_node; /* NETWORK, RESENT: the sender; -1 if unknown */
	int64_t message;   /* NETWORK: message.id; 0 if unknown */
	nsec_t sent_ns;    /* NETWORK: can be earlier than begin_ns */
};

struct path {
	struct path_segment *segment; /* in order of time, without gaps */
	size_t count, capacity;
	size_t deep;     /* waits that were nested too deeply to be followed */
	size_t backward; /* messages that were received before they were sent */
};

struct path_start {
	int64_t node, tid;
	nsec_t begin_ns, end_ns;
	int64_t message; /* message.id that ended it; 0: the thread's own activity */
	/* If data of the message was lost: for how long, the thread that sent its first
	 * byte (-1 if unknown), and when. */
	nsec_t resent_ns;
	int64_t sender_tid;
	nsec_t given_ns;
};

/* A row of the table `request` with a response. Its path runs back from the arrival of
 * the response's last message at the client's thread (-1: unknown, or the kernel). */
struct node_request {
	struct path_start start; /* at the client */
	int64_t id, server;      /* `server` is a node */
	int64_t server_port;     /* -1 if unknown */
	nsec_t arrived_ns;       /* at the server */
	nsec_t resent_there_ns;  /* the part of the way there after data was lost */
	nsec_t bound_ns;         /* uncertainty of times between the nodes, or NSEC_MAX */
};

/* The columns that node_request_of_row() reads. */
#define NODE_REQUEST                                                                     \
	"SELECT r.id, r.last_message, r.client, r.server, r.client_tid, r.server_port,"  \
	" r.begin_ns, r.end_ns, r.bound_ns, r.arrived_ns, r.server_tid, r.given_ns,"     \
	" r.arrived_ns - r.begin_ns - r.there_ns, r.end_ns - r.responded_ns"             \
	" - r.back_ns FROM request AS r "

struct node_request node_request_of_row(const struct cell *row);

enum { PATH_DEEPEST = 64 }; /* waits within waits */

/* Find the path, whose segments add up to the interval exactly. The caller clears it.
 * Return 0, or -1 if the history failed, with its error. */
int path_walk(struct path *path, struct history *history, const struct path_start *start);

/*
 * Split each wait for a processor by the threads that had the processor meanwhile:
 * `other_tid` of a part is 0 for an idle processor and -1 if unknown. Return 0, or -1 if
 * the history failed, with its error.
 */
int path_split_waits(struct path *path, struct history *history);

void path_clear(struct path *path);

#endif
