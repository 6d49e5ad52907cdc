/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_OBSERVE_READERS_H
#define CT_SYNC_OBSERVE_READERS_H

#include "base/progress.h"
#include "input/packet_source.h"

/* Many packet sources, read by a few threads. Packets are delivered in the order of time,
 * so that a packet waits only shortly for its other side. Clocks can be far apart, so
 * each source's axis starts at 0 until readers_align() shifts it to agree with another
 * one. The order depends only on the packets and the alignment, not on the threads or on
 * how much a step of a source reads. */
struct readers;

/* Begins to read. The sources, which are traces by their index, are borrowed. */
struct readers *readers_new(struct packet_source **sources, size_t count, int threads,
			    struct progress *progress);

/*
 * Before the first packets: hand over those of two traces in the order of the clock that
 * both have. Trace b's local time plus `shift_ns` is that of trace a.
 */
void readers_share_clock(struct readers *readers, uint32_t a, uint32_t b,
			 nsec_t shift_ns);

enum { ARRIVALS_AT_ONCE = 64 };

/* A packet of a trace; it may be changed, until the next ones are asked for. */
struct arrival {
	uint32_t trace_index;
	struct packet_event *packet_event; /* with its hash */
};

/* The next packets in the order of time, and how many; 0 at the end. */
size_t readers_next(struct readers *readers, struct arrival arrival[ARRIVALS_AT_ONCE]);

/* Return the time of the first event, of any kind, of a trace that has delivered a
 * packet. */
nsec_t readers_begin(const struct readers *readers, uint32_t trace_index);

/* Two traces saw one packet, at these local times. */
void readers_align(struct readers *readers, uint32_t a, nsec_t a_ns, uint32_t b,
		   nsec_t b_ns);

/* Ends the reading, wherever it is. */
void readers_free(struct readers *readers);

#endif
