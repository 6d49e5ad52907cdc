/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_CRITICAL_NODE_REQUEST_H
#define CT_ANALYZE_CRITICAL_NODE_REQUEST_H

#include "analyze/critical/path.h"
#include "analyze/question.h"

/* What to say where interrupts are not recorded. */
extern const char assumed_note[];

/* A row of the table `request` that had a response. */
struct node_request {
	int64_t id, last_message;
	int64_t client, server; /* nodes */
	int64_t client_tid;     /* -1: not known, or a kernel by itself */
	int64_t server_port;    /* -1: none */
	nsec_t begin_ns, end_ns;
	nsec_t bound_ns; /* of the times between the nodes; NSEC_MAX: open */
};

/* The slowest ones from or to a chosen node in the time asked for, up to `most`. How many
 * there are, or -1 with error. */
int node_requests_slowest(struct node_request *request, int most,
			  struct question *question, struct error *error);

/* The one that a message belongs to. 1; 0: none that was answered; -1 with error. */
int node_request_of(struct node_request *request, int64_t message,
		    struct question *question, struct error *error);

/*
 * From the sending of a request to the arrival of the last of its response: back from
 * that message, as far as the client's thread. To be cleared. 0, or -1 with error.
 */
int node_request_path(struct path *path, struct history *history,
		      const struct node_request *request);

#endif
