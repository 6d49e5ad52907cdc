/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_REQUESTS_H
#define CT_MERGE_REQUESTS_H

#include "merge/run.h"
#include "merge/sent_packets.h"
#include "merge/spans/spans.h"
#include "timeline/rows.h"

/*
 * Requests between nodes and their responses, from the messages alone: in each flow (two
 * nodes, and two addresses and ports of a protocol), the messages with data one way up to
 * the first one the other way are a request, those the other way up to the next one back
 * its response. The client is who sent the SYN, else whose port is ephemeral, else who
 * sent data first. TCP's segments without data, and those of which all was received
 * before, do not count.
 *
 * Who sends a second request before the first is answered has both taken for one. What a
 * tunnel sends, which carries the packets of others, is no request.
 */

/* What a server's time from a request's arrival to its response went into. */
enum request_part {
	REQUEST_QUEUE, /* from the arrival until the serving thread took the request */
	REQUEST_RUNNING,
	REQUEST_RUNNABLE, /* the thread waited for a processor */
	REQUEST_DISK,     /* it slept, and that is what ended it */
	REQUEST_NODE,     /* a message of another node did */
	REQUEST_OTHER,    /* a thread, a timer, another interrupt did; or a kernel
			     responded by itself */
	REQUEST_UNKNOWN,  /* not recorded */
	REQUEST_PARTS
};

struct request_row {
	int64_t id,
	    last_message;       /* message.id of its first, and of its response's last */
	int64_t client, server; /* nodes */
	uint32_t client_source, server_source; /* indexes */
	int64_t client_tid, server_tid; /* who gave them to the kernel; -1: not known */
	/* No thread did, but an interrupt: in answer to another packet, or a timer, as it
	 * was sent again. */
	bool client_by_kernel, server_by_kernel;
	int64_t request_event, response_event; /* when they were given; event.id */
	nsec_t given_ns;                       /* the response; <= responded_ns */
	nsec_t begin_ns;                       /* the request's first message was sent, */
	nsec_t arrived_ns;                     /* its last one came; <= responded_ns */
	nsec_t responded_ns;                   /* the response's first one was sent, */
	nsec_t end_ns; /* its last one came; NSEC_MIN: there was no response */
	int64_t request_bytes, response_bytes; /* of data where headers are known */
	size_t flow;
	nsec_t part[REQUEST_PARTS]; /* add up to responded_ns - arrived_ns */
};

struct requests;

/* Memory: 208 bytes a request, 460 a flow. */
struct requests *requests_new(const struct merge_run *run);

struct request_message {
	const struct timeline_message *row;
	uint32_t send_source, recv_source; /* indexes in the run */
	int header;                        /* bytes of IP's and TCP's; -1: not known */
	uint8_t flags;                     /* TCP's; 0: none, or not known */
	const struct sent_packet *sent;
};

/* Each row of `message`, as they are numbered. */
void requests_message(struct requests *requests, const struct request_message *message);

/*
 * After the last message: fill the table `request`. Without `spans` the parts of the
 * server's time are NULL. 0, or -1 with error. Memory: 80 bytes a span of the one thread
 * that is looked at.
 */
int requests_write(struct requests *requests, const struct spans *spans,
		   struct timeline_writer *writer, struct error *error);

/* A flow that is taken for a tunnel, by what of it is here; ports TIMELINE_NONE: none. */
struct request_tunnel {
	const char *protocol;
	int64_t node[2];
	const char *address[2];
	int64_t port[2];
	int64_t messages;
};

/* Hand on each, until `take` returns other than 0, which is returned. */
int requests_tunnels(const struct requests *requests,
		     int (*take)(void *context, const struct request_tunnel *tunnel),
		     void *context);

void requests_free(struct requests *requests);

/*
 * The parts of each request's time. The serving thread is who sent the response. It took
 * the request with the first successful receiving system call that ended after the
 * arrival, of the file descriptor on which it then sent; where there is no such call,
 * when it first ran after the arrival. 0, or -1 with error.
 */
int request_parts(struct request_row *row, size_t count, const struct spans *spans,
		  struct error *error);

#endif
