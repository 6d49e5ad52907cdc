/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_REQUESTS_H
#define CT_MERGE_REQUESTS_H

#include "merge/run.h"
#include "merge/sent_packets.h"
#include "timeline/reader.h"
#include "timeline/rows.h"

/*
 * Requests between nodes and their responses, from the messages alone: in each flow (two
 * nodes, and two addresses and ports of a protocol as either node sees them, which NAT
 * makes differ; of declared messages the key), the messages with data one way up to
 * the first one the other way are a request, those the other way up to the next one back
 * its response. The client is who sent the SYN, else whose port is ephemeral, else who
 * sent data first; of declared messages, who sent what can be answered. TCP's segments
 * without data, and those of which all was received before, do not count.
 *
 * Who sends a second request before the first is answered has both counted as one. What a
 * tunnel sends, which carries the packets of others, is no request.
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
	int64_t port; /* TIMELINE_NONE: none */
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
	uint8_t flags;                     /* TCP's; 0: none, or not known */
	uint8_t declared;                  /* PACKET_ASKS or PACKET_ANSWERS; 0: neither */
	uint64_t key[2]; /* key of such a message: its answer has the same one */
};

/* Each row of `message`, as they are numbered. */
void requests_message(struct requests *requests, const struct request_message *message);

/* After the last message: fill the table `request`, except for the parts of the server's
 * time (derived.sql). Return 0, or -1 with error. */
int requests_write(struct requests *requests, struct timeline_writer *writer,
		   struct error *error);

/*
 * Hand on each flow that seems to be a tunnel, as the columns protocol, node,
 * address and port of either end, that whose address (or else port) is less first, and
 * its messages. 0, or -1 with error.
 */
int requests_tunnels(const struct requests *requests, timeline_row_fn *take,
		     void *context, struct error *error);

void requests_free(struct requests *requests);

#endif
