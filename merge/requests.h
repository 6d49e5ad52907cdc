/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_REQUESTS_H
#define CT_MERGE_REQUESTS_H

#include "merge/run.h"
#include "merge/sent_packets.h"
#include "merge/spans/spans.h"
#include "timeline/reader.h"
#include "timeline/rows.h"

/*
 * Requests between nodes and their responses, from the messages alone.
 *
 * A flow is two nodes, and two addresses and ports of a protocol as either node sees them
 * (NAT makes these differ); for declared messages it is the key. In a flow, the messages
 * with data in one direction up to the first one in the other direction are a request,
 * and those in the other direction up to the next one back are its response. The client
 * is the end that sent the SYN, otherwise the end with an ephemeral port, otherwise the
 * end that sent data first; for declared messages, the end whose message can be answered.
 * TCP segments without data, and those whose data was received before, do not count.
 *
 * A second request that is sent before the first is answered counts as part of the first.
 * The packets of a tunnel, which carry other packets, are not requests.
 */

struct requests;

/* Memory: 300 bytes a request, 560 a flow. */
struct requests *requests_new(const struct merge_run *run);

/* A send of a message's data: the message's own, or an earlier one that TCP repeated. */
struct request_send {
	nsec_t ns;
	int64_t event;  /* TIMELINE_NONE: not loaded */
	const char *by; /* as send_by of `message` */
	struct sent_packet sent;
};

/* An address and a port; NULL: not translated. */
struct request_name {
	const char *address;
	int64_t port; /* or TIMELINE_NONE */
};

struct request_message {
	struct timeline_message row;
	/* Behind NAT: the destination as its sender saw it, and the source as its
	 * receiver saw it. The row has what either calls itself. */
	struct request_name sent_to, received_from;
	struct request_send first;
	bool is_carrier;                   /* as in struct sent_packet */
	uint32_t send_source, recv_source; /* indexes in the run */
	int64_t data;                      /* bytes of it; TIMELINE_NONE: unknown */
	uint8_t flags;                     /* TCP's; 0 if unknown */
	uint8_t declared;                  /* PACKET_ASKS or PACKET_ANSWERS; 0: neither */
	uint64_t key[2]; /* key of such a message: its answer has the same one */
};

/* Add a row of `message`. Call in the order of their ids. */
void requests_message(struct requests *requests, const struct request_message *message);

/* After the last message: find the requests, with the parts of their times at the servers
 * unless `spans` is NULL. Return 0, or -1 with error if spans cannot be read. */
int requests_finish(struct requests *requests, const struct spans *spans,
		    struct error *error);

/* Then fill the table `request`. Return 0, or -1 with error. */
int requests_write(const struct requests *requests, struct timeline_writer *writer,
		   struct error *error);

/*
 * Pass each flow that seems to be a tunnel to `on_row`, as the columns protocol, node,
 * address and port of either end (the lower address, or port, first), and the number of
 * its messages. Return 0, or -1 with error.
 */
int requests_tunnels(const struct requests *requests, timeline_row_fn *on_row,
		     void *context, struct error *error);

void requests_free(struct requests *requests);

#endif
