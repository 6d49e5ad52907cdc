/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SPANS_REQUEST_PARTS_H
#define CT_MERGE_SPANS_REQUEST_PARTS_H

#include "merge/spans/spans.h"
#include "timeline/rows.h"

/* A request that was answered by a node of the run. */
struct served_request {
	uint32_t node; /* the server's index */
	int64_t tid;   /* the row's server_tid */
	struct timeline_request *row;
};

/*
 * Set the parts of requests' times at their servers, queue_ns to unknown_ns, which add up
 * to responded_ns - arrived_ns. They follow from the spans of the thread that sent the
 * response; if a kernel responded by itself, the thread that it interrupted had no part
 * in it. Sorts `request`. Call after spans_end(). Return 0, or -1 with error if spans
 * cannot be read.
 */
int request_parts_set(const struct spans *spans, struct served_request *request,
		      size_t count, struct error *error);

#endif
