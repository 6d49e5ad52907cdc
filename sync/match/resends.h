/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_MATCH_RESENDS_H
#define CT_SYNC_MATCH_RESENDS_H

#include "input/packet.h"

/*
 * TCP data that a clock recorded as sent before. A packet that was lost on the way gives
 * no message, so only the send events show when its data was first sent.
 *
 * For each flow, the sequence numbers of up to RESENDS_REMEMBERED last sends are stored.
 * If the first send was earlier, it is unknown.
 */
enum { RESENDS_REMEMBERED = 4096 };

struct resends;

/* The location of a send event, and its time by the clock. */
struct sent_place {
	uint32_t trace_index, stream;
	uint64_t ordinal;
	nsec_t ns; /* or NSEC_MAX */
};

/* Create an empty history. It needs 48 bytes of memory for each stored send. */
struct resends *resends_new(void);

/*
 * Add a send of a clock. Sends must be added in the order of the clock. Return
 * the send that first contained its first byte (for a SYN, the first SYN). Its `ns` is
 * NSEC_MAX if the added send itself is the first, or the same packet at another device,
 * or if the first one is unknown.
 */
struct sent_place resends_add(struct resends *resends, uint32_t clock_index,
			      uint32_t trace_index,
			      const struct packet_event *packet_event);

void resends_free(struct resends *resends);

#endif
