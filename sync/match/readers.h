/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_MATCH_READERS_H
#define CT_SYNC_MATCH_READERS_H

#include "base/progress.h"
#include "input/packet_source.h"

/*
 * Many packet sources read at once by few threads. Packets are handed over in the order
 * of time, so that they wait shortly for their other side: the sources' clocks may be
 * anywhere, so each stands at 0 when it begins, until `readers_tie` moves their axes to
 * where the same time means the same. The order depends on the packets and the ties
 * alone, neither on the threads nor on how much a step of a source reads.
 */
struct readers;

/* Takes the sources; frees them with itself. */
struct readers *readers_new(struct packet_source **sources, size_t count, int threads);

/* A packet of a source; it may be changed. */
struct arrival {
	uint32_t source;
	struct packet_event *packet_event; /* with its hash */
};

/* Called with some packets, in this thread. -1 ends the reading. */
typedef int reader_fn(void *context, const struct arrival *arrival, size_t count);

/* Read everything. 0, or -1 as `handle` returned it. */
int readers_run(struct readers *readers, reader_fn *handle, void *context,
		struct progress *progress);

/* When the first event of a source was, of any kind. Only from within `handle`. */
nsec_t readers_begin(const struct readers *readers, uint32_t source);

/* Two sources saw one packet, at these local times. Only from within `handle`. */
void readers_tie(struct readers *readers, uint32_t a, nsec_t a_ns, uint32_t b,
		 nsec_t b_ns);

void readers_free(struct readers *readers);

#endif
