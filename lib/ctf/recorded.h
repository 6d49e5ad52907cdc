/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_RECORDED_H
#define CT_CTF_RECORDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/nsec.h"

/*
 * From when to when the streams of a trace were recorded, by the heads of their packets:
 * a packet says so also if it has no event. Packets with consecutive sequence numbers
 * follow each other without a hole, whatever their times: LTTng may begin one with its
 * first event. Without sequence numbers their times tell.
 */
struct ctf_period {
	nsec_t begin_ns, end_ns; /* NSEC_MIN, NSEC_MAX: the packets do not say */
	nsec_t first_end_ns;     /* of its first packet */
	nsec_t first_event_ns;   /* in its first packet; NSEC_MAX: none */
	bool has_last_events;    /* its last packet is not empty */
	uint32_t channel;        /* as in struct ctf_class */
	int32_t cpu;             /* -1: not recorded */
	uint64_t instance;       /* of the stream in its channel; without: the CPU */
	unsigned sequence_size, discarded_size; /* bits of the counters; 0: none */
	uint64_t first_sequence, last_sequence, first_discarded, last_discarded;
};

/* Within this time events were lost, nobody knows when. */
struct ctf_loss {
	nsec_t begin_ns, end_ns;
	uint32_t channel;
	int32_t cpu;
};

struct ctf_recorded {
	unsigned char uuid[16];    /* of the trace; 0: none */
	struct ctf_period *period; /* those of a stream in order */
	size_t periods, period_capacity;
	struct ctf_loss *loss;
	size_t losses, loss_capacity;
};

struct ctf_streams;
struct schema;

/* Read the heads of all packets, up to the first of each stream that begins after
 * `until_ns`. */
void ctf_streams_recorded(const struct ctf_streams *streams, const struct schema *schema,
			  nsec_t until_ns, struct ctf_recorded *recorded);

void ctf_recorded_clear(struct ctf_recorded *recorded);

/* Return how much a counter of `size` bits, which may wrap, has grown; 0 if it fell. */
static inline uint64_t counter_growth(unsigned size, uint64_t from, uint64_t to)
{
	uint64_t growth = (to - from) & UINT64_MAX >> (64 - size);

	return growth >> (size - 1) ? 0 : growth;
}

#endif
