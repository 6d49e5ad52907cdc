/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_OBSERVE_TIE_H
#define CT_SYNC_OBSERVE_TIE_H

#include "sync/match/match.h"
#include "trace/reader.h"

/*
 * Ties: the capture and the kernel trace of one host.
 *
 * Their clocks, CLOCK_REALTIME and CLOCK_MONOTONIC, count one oscillator, so they differ
 * by an offset that changes only when the former is stepped. Outgoing packets give the
 * offset: the capture's tap is after the packet was queued and before the driver
 * returned, and the trace has both times. So each packet bounds the offset on both sides,
 * and all together leave some microseconds.
 */

/* The offset that packets leave between two steps. Times are the base's. */
struct tie_part {
	nsec_t at_ns;           /* some time in its first cell */
	nsec_t from_ns, to_ns;  /* the first and last packet of the part */
	nsec_t low_ns, high_ns; /* the offset: the tied clock less the base */
	uint64_t packets;
	size_t cells; /* cells of time in the part */
};

struct tie {
	uint32_t base, tied;   /* clocks, before ties renumber them */
	struct tie_part *cell; /* what the packets of a short time leave, and new ones */
	size_t cells;
	unsigned shift;        /* a cell is 2^shift nanoseconds long */
	struct tie_part *part; /* the parts; empty if there is no tie */
	size_t parts;
	nsec_t open_ns;     /* the least that a cell leaves of the offset */
	bool is_by_samples; /* made from the samples of clock.csv, not from packets */
	uint64_t packets, rejected; /* those that contradict the others */
};

/* Packets that two captures of one host have in common. */
struct capture_pair {
	uint32_t one, other;   /* clocks, before ties renumber them */
	uint64_t packets, far; /* all; those with times that one clock cannot show */
};

struct tie_list {
	struct tie *item;
	size_t count, capacity;
	struct capture_pair *captures;
	size_t captures_count, captures_capacity;
};

/* A packet that both saw on its way out: the host's trace, the base, and its capture. */
void tie_note(struct tie_list *list, const struct match_handing *base,
	      const struct match_handing *tied);

/* Note a packet that two captures of a host recorded on its way out. */
void tie_note_captures(struct tie_list *list, const struct match_handing *one,
		       const struct match_handing *other);

/*
 * After the reading: bring what the packets of a tie say into parts, without those that
 * the others contradict.
 */
void tie_settle(struct tie *tie);

/* Return true if some offset satisfies both. */
bool tie_parts_agree(const struct tie_part *one, const struct tie_part *other);

/* Return true if the clocks count one oscillator, at most with steps: each part has both
 * bounds, and steps exceed what a cell leaves open and are not all in one direction.
 * Clocks that drift apart would need many such steps. `tied` has the facts of the tied
 * clock's trace. */
bool tie_is_sound(const struct tie *tie, const struct trace_facts *tied);

/* A tied source's time on its base: at the earliest and at the latest. */
nsec_t tie_earliest(const struct tie *tie, nsec_t local_ns);
nsec_t tie_latest(const struct tie *tie, nsec_t local_ns);

/* For estimates: the part of a time on the tied clock, the start of each part but the
 * first, and the offset of a part, the middle of its range. */
size_t tie_part_at(const struct tie *tie, nsec_t local_ns);
nsec_t tie_part_begin(const struct tie *tie, size_t part);
nsec_t tie_middle(const struct tie_part *part);

/* Times of the tied clock before and after which a part was surely not in force. */
nsec_t tie_part_from(const struct tie *tie, size_t part);
nsec_t tie_part_to(const struct tie *tie, size_t part);

struct tie tie_copy(const struct tie *tie);
void tie_clear(struct tie *tie);
void tie_list_clear(struct tie_list *list);

#endif
