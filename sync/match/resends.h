/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_MATCH_RESENDS_H
#define CT_SYNC_MATCH_RESENDS_H

#include "input/packet.h"

/*
 * TCP data that a source saw sent before. What was lost on the way is no message, so only
 * the sends tell when the data was first sent.
 *
 * A flow remembers where its last sends are in the sequence numbers, up to
 * RESENDS_REMEMBERED of them. An earlier first send is unknown.
 */
enum { RESENDS_REMEMBERED = 4096 };

struct resends;

/* Where a packet event is, and its time by the source's clock. */
struct sent_place {
	uint32_t trace, stream;
	uint64_t ordinal;
	nsec_t ns; /* NSEC_MAX: there is none */
};

/* Memory: 48 bytes for each send that is remembered. */
struct resends *resends_new(void);

/*
 * Add a send of a source, in the order of its clock. Return the send that was first with
 * its first byte (of a SYN, with that), or one with NSEC_MAX if the send itself is first,
 * is the same packet at another device, or the first one is unknown.
 */
struct sent_place resends_add(struct resends *resends, uint32_t source, uint32_t trace,
			      const struct packet_event *packet_event);

void resends_free(struct resends *resends);

#endif
