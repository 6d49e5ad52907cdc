/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_CRITICAL_PATH_H
#define CT_ANALYZE_CRITICAL_PATH_H

#include "analyze/analysis.h"

/*
 * What threads did, and which message of another node ended which wait, asked of the
 * timeline backwards in time. An error is kept: every answer is then "nothing".
 *
 * Of the packets that one softirq received, that one ended a thread's wait which is of a
 * flow in which this thread sends something; if there is none, it is not known which one
 * did. Likewise a kernel answers in the flow of what it answers.
 */
struct history;

/* NULL with error. Borrows both until the end. Memory: the flows in which threads send.
 */
struct history *history_new(struct timeline_reader *reader, struct error *error);

void history_free(struct history *history);

/*
 * What the end of an interval waited for, back to its begin: the chain of a thread's
 * states where each wait is replaced by what whoever ended it did meanwhile, on other
 * nodes too.
 *
 * Source: the backward walk is that of Giraldeau and Dagenais, "Wait analysis of
 * distributed systems using kernel tracing" (IEEE TPDS 27(8), 2016), in the bounded form
 * that Trace Compass has: who ended a wait is followed back to the wait's begin, and from
 * there the path goes on with who waited.
 */
enum path_state {
	PATH_RUNNING,
	PATH_RUNNABLE, /* waits for a processor */
	PATH_DISK,     /* the rest are waits, by what ended them */
	PATH_NETWORK,  /* a message was on its way, or nobody knows whose is awaited */
	PATH_TIMER,
	PATH_INTERRUPT, /* in an interrupt, from a message's arrival to the wakeup, too */
	PATH_THREAD,    /* a thread that is not followed any further */
	PATH_UNKNOWN,   /* nothing was recorded of it, or not what ended a wait */
	PATH_RESENT,    /* data was lost, until it was sent again */
	PATH_STATES
};

/* "running", "disk", ... */
const char *path_state_name(enum path_state state);

struct path_segment {
	enum path_state state;
	nsec_t begin_ns, end_ns;
	int64_t node;      /* where; of a message where it came */
	int64_t tid;       /* -1: no thread */
	int64_t cpu;       /* RUNNING, RUNNABLE; -1: not known */
	int64_t other_tid; /* RUNNABLE: who had the processor; THREAD: who woke; -1 */
	int64_t from_node; /* NETWORK, RESENT: where from; -1: not known */
	int64_t message;   /* NETWORK: message.id; 0: not known */
	nsec_t sent_ns;    /* NETWORK: when it was sent, perhaps before begin_ns */
};

struct path {
	struct path_segment *segment; /* in order of time, without gaps */
	size_t count, capacity;
	size_t deep;     /* waits that were not followed, as others stood in them */
	size_t backward; /* messages that came before they were sent */
};

struct path_start {
	int64_t node, tid;
	nsec_t begin_ns, end_ns;
	int64_t message; /* message.id of what ended it; 0: what the thread did */
	/* If the data of the message was lost: for how long, the thread that sent the
	 * first of it (-1: not known), and when. */
	nsec_t resent_ns;
	int64_t sender_tid;
	nsec_t given_ns;
};

enum { PATH_DEEPEST = 64 }; /* waits within waits */

/* The segments add up to the interval exactly. To be cleared. 0, or -1 where the history
 * failed, with its error. */
int path_walk(struct path *path, struct history *history, const struct path_start *start);

/*
 * Split the waits for a processor by the threads that had it meanwhile, one after the
 * other: other_tid of each part, 0 for an idle processor, -1 where it is not known.
 * Return 0, or -1 where the history failed, with its error.
 */
int path_split_waits(struct path *path, struct history *history);

void path_clear(struct path *path);

/* A row of the table `request` that had a response: its path is from the sending to the
 * arrival of the last of the response, back from that message as far as the client's
 * thread (-1: not known, or a kernel by itself). */
struct node_request {
	struct path_start start; /* at the client */
	int64_t id, server;      /* a node */
	int64_t server_port;     /* -1: none */
	nsec_t arrived_ns;       /* at the server */
	nsec_t resent_there_ns;  /* of the time until then: data was lost */
	nsec_t bound_ns;         /* of the times between the nodes; NSEC_MAX: open */
};

/* The slowest ones from or to a chosen node in the time asked for, up to `most`. How many
 * there are, or -1 with error. */
int node_requests_slowest(struct node_request *request, int most, struct query *query,
			  struct error *error);

/* The columns that node_request_of_row reads, of `request AS r`. */
#define NODE_REQUEST                                                                     \
	"SELECT r.id, r.last_message, r.client, r.server, r.client_tid, r.server_port,"  \
	" r.begin_ns, r.end_ns, r.bound_ns, r.arrived_ns, r.server_tid, r.given_ns,"     \
	" r.arrived_ns - r.begin_ns - r.there_ns, r.end_ns - r.responded_ns"             \
	" - r.back_ns FROM request AS r "

struct node_request node_request_of_row(const struct cell *row);

/* The analysis why. */
int run_why(struct query *query, struct result *result, struct error *error);

/* The analysis critical-path. */
int run_critical_path(struct query *query, struct result *result, struct error *error);

#endif
