/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_MATCH_READERS_H
#define CT_SYNC_MATCH_READERS_H

#include "base/progress.h"
#include "input/packet_source.h"

/*
 * Many packet sources read at once by few threads. The threads take the
 * source that is furthest behind and read a step of it; steps are handed over, that
 * of the source furthest behind first. So sources of one run stay close together in
 * time, and packets wait shortly for their other side. `readers_tie` moves the sources'
 * axes so that "behind" means the same on every clock. The order in which packets are
 * handed over depends on the packets and the ties alone, not on the threads.
 */
struct readers;

/* Takes the sources; frees them with itself. */
struct readers *readers_new(struct packet_source **sources, size_t count, int threads);

/*
 * Called with every packet, in this thread; with all that a step of one source gave
 * at once, each with its hash. May change them. -1 ends the reading.
 */
typedef int reader_fn(void *context, uint32_t source, struct sighting *sighting,
		      size_t count);

/* Read everything. 0, or -1 as `give` returned it. */
int readers_run(struct readers *readers, reader_fn *give, void *context,
		struct progress *progress);

/* Two sources saw one packet, at these local times. Only from within `give`. */
void readers_tie(struct readers *readers, uint32_t a, nsec_t a_ns, uint32_t b,
		 nsec_t b_ns);

void readers_free(struct readers *readers);

#endif
