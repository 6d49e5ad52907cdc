/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_MATCH_MATCH_H
#define CT_SYNC_MATCH_MATCH_H

#include "clock/map.h"
#include "input/messages_file.h"
#include "input/packet.h"

/*
 * Matching sent with received packets.
 *
 * Packets of one identity form an entry, which collects its senders and
 * receivers, with their devices. An entry that two hosts saw waits a while for
 * repeats and then becomes messages (path.c). One that a single host saw waits for
 * others; what waits longest is looked at again by TCP sequence ranges (segmentation
 * offload), and without its addresses (translated ones, or traces that record none).
 *
 * The result for a packet depends only on the order in which packets are added.
 */
struct matcher;

/* A message: a packet that one host sent and another received, each by its own clock. */
struct matched {
	uint32_t from_clock, to_clock;
	nsec_t send_ns, recv_ns;
	uint16_t port;    /* as in struct message */
	uint8_t protocol; /* as in struct message */
};

/* The events of a declared message (input/declared.h), and what became of them. */
struct declared_counts {
	char name[PACKET_NAME_MOST + 1];
	uint64_t sent, received, messages;
	uint64_t unmatched_sent, unmatched_received;
	uint64_t ambiguous; /* events of a key that was sent several times */
	uint64_t inside;    /* events of messages that stayed in their host */
};

/*
 * A packet that was seen on both sides for the first time, at about the same time, so
 * that readers can stay together. It is not a message yet.
 */
struct match_meeting {
	uint32_t from_clock, to_clock;
	nsec_t send_ns, recv_ns;
};

/*
 * A clock's bounds on when an outgoing packet was passed to the driver, and to captures
 * there: the earliest and the latest time.
 */
struct match_handing {
	uint32_t clock_index;
	nsec_t queued_ns, handed_ns; /* handed_ns is NSEC_MAX if unknown */
};

/* The results since the output was emptied, each array in the order of matching. */
struct match_output {
	struct matched *message;
	struct message_ends
	    *ends; /* ends of each message, if they are kept; by trace index */
	struct match_meeting *meeting;
	struct match_handing (
	    *handing)[2]; /* transmissions between two clocks of one host, by clock */
	size_t messages, ends_count, meetings, handings;
	size_t message_capacity, ends_capacity, meeting_capacity, handing_capacity;
};

/*
 * Make a matcher. A packet that one clock of a host sent and another received is not a
 * message. Borrows `host_of_clock`; if it is NULL, each clock is a host. At most
 * `in_flight` entries wait at a time. With `keeps_ends`, packet events store their
 * origin.
 */
struct matcher *matcher_new(const uint32_t *host_of_clock, size_t in_flight,
			    bool keeps_ends);

/* Add a packet event. `trace_index` distinguishes the traces of a clock. */
void matcher_add(struct matcher *matcher, uint32_t clock_index, uint32_t trace_index,
		 const struct packet_event *packet_event);

/* Prefetch the entries of these hashes, which are needed about ten and five packets
 * later. */
void matcher_expect(const struct matcher *matcher, uint64_t hash, uint64_t sooner);

/* Decide some waiting entries after the last packet. Return false if none is left. */
bool matcher_finish(struct matcher *matcher);

/* Return the output. The caller drains it and resets its counts. */
struct match_output *matcher_output(struct matcher *matcher);

const struct clock_matching *matcher_counts(const struct matcher *matcher);

/* The declared messages that had an event, in the order of their first. */
const struct declared_counts *matcher_declared(const struct matcher *matcher,
					       size_t *count);

/* Return the number of entries that were given up because too many waited. */
uint64_t matcher_given_up(const struct matcher *matcher);

void matcher_free(struct matcher *matcher);

#endif
