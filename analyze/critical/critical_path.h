/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_CRITICAL_PATH_ANALYSIS_H
#define CT_ANALYZE_CRITICAL_PATH_ANALYSIS_H

#include "analyze/analysis.h"
#include "analyze/critical/path.h"

/* A row of the table `request` with a response. Its path runs back from the arrival of
 * the response's last message at the client's thread (-1: unknown, or the kernel). */
struct node_request {
	struct path_start start; /* at the client */
	int64_t id, server;      /* `server` is a node */
	int64_t server_port;     /* -1 if unknown */
	nsec_t arrived_ns;       /* at the server */
	nsec_t resent_there_ns;  /* the part of the way there after data was lost */
	nsec_t bound_ns;         /* of the times between the nodes; NSEC_MAX: unbounded */
};

/* Read the slowest requests from or to a selected node in the selected time, up to
 * `most`. Return their number, or -1 with error. */
int node_requests_slowest(struct node_request *request, int most, struct query *query,
			  struct error *error);

/* The analysis critical-path, and the analysis why: the paths of all requests. */
int run_critical_path(struct query *query, struct result *result, struct error *error);
int run_why(struct query *query, struct result *result, struct error *error);

#endif
