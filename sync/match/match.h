/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_MATCH_MATCH_H
#define CT_SYNC_MATCH_MATCH_H

#include "clock/map.h"
#include "input/packet.h"
#include "sync/pair/pair.h"

/*
 * Matching sent with received packets.
 *
 * Packets of one identity form an entry, which collects who sent and who
 * received it, at which devices. An entry that two hosts saw waits a while for
 * repeats and then becomes messages (path.c). One that a single host saw waits for
 * others; what waits longest is looked at again by TCP sequence ranges (segmentation
 * offload), and without its addresses (translated ones, or traces that record none).
 *
 * What becomes of a packet depends on the order in which packets are added, and on
 * nothing else.
 */
struct matcher;

/*
 * What a source says of a packet on its way out: when it went to the driver, and to
 * those who listen there, at the earliest and at the latest.
 */
struct match_handing {
	uint32_t source;
	nsec_t queued_ns, handed_ns; /* handed_ns is NSEC_MAX where nothing tells */
};

/* Who hears of more than messages. Any may be NULL. */
struct match_listener {
	/*
	 * By source, which host it is of: what one source of a host sent and another
	 * received is no message. NULL: each is one.
	 */
	const uint32_t *host;

	/*
	 * A packet was first seen on both sides: roughly at once, so that readers can
	 * stay together. Not a message yet.
	 */
	void (*tie)(void *context, uint32_t sender, nsec_t send_ns, uint32_t receiver,
		    nsec_t recv_ns);

	/*
	 * A message goes to the log. The ends' sources are the traces of matcher_add,
	 * their stamps those of the message; a merged receive may have several. -1 with
	 * error ends the matching. Only with this do packet events remember where they
	 * came from.
	 */
	int (*message)(void *context, const struct message_ends *ends,
		       struct error *error);

	/*
	 * A packet is let go that two sources of one host, p before q, sent once each
	 * and by one device each.
	 */
	void (*handing)(void *context, const struct match_handing *p,
			const struct match_handing *q);
	void *context;
};

/*
 * Messages go to `pairs` and `log`, which the caller keeps, as it does `listener` (or
 * NULL). At most `in_flight` entries wait at a time.
 */
struct matcher *matcher_new(struct pair_table *pairs, struct message_log *log,
			    size_t in_flight, const struct match_listener *listener);

/*
 * One packet of a source, which is a clock: `trace` tells traces of one clock
 * apart, for who hears of messages. 0, or -1 with error when the log cannot be
 * written.
 */
int matcher_add(struct matcher *matcher, uint32_t source, uint32_t trace,
		const struct packet_event *packet_event, struct error *error);

/* Packets of these hashes come some ten and some five packets from now: fetch ahead. */
void matcher_expect(const struct matcher *matcher, uint64_t hash, uint64_t sooner);

/* Nothing more comes: decide what still waits. 0, or -1 with error. */
int matcher_finish(struct matcher *matcher, struct error *error);

const struct clock_matching *matcher_counts(const struct matcher *matcher);

/* Entries given up unmatched because too many waited. */
uint64_t matcher_given_up(const struct matcher *matcher);

void matcher_free(struct matcher *matcher);

#endif
