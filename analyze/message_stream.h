/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_MESSAGE_STREAM_H
#define CT_ANALYZE_MESSAGE_STREAM_H

#include "analyze/bounds.h"
#include "analyze/question.h"

/* One message between nodes, with what is known of its latency. */
struct message_row {
	int64_t id, from, to; /* nodes */
	nsec_t send_ns, recv_ns, latency_ns;
	struct bound bound; /* true latency is within latency_ns + low and + high */
	const struct cell *protocol, *src, *sport, *dst, *dport, *bytes;
	int64_t size;                   /* bytes; 0 if not known */
	int64_t send_event, recv_event; /* 0: not in the timeline */
};

/*
 * Give every message of the scope to `take`, by the time it was sent: those that were
 * sent within it from or to a chosen node. What a capture saw besides its node's kernel
 * trace is left out, so that a packet counts once for two nodes. What `take` returned if
 * it was not 0, or 0, or -1 with error.
 */
int message_stream(struct question *question, const struct bounds *bounds,
		   int (*take)(void *context, const struct message_row *row),
		   void *context, struct error *error);

#endif
