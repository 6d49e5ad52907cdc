/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_OBSERVE_TIE_H
#define CT_SYNC_OBSERVE_TIE_H

#include "sync/match/match.h"
#include "trace/reader.h"

/*
 * Ties: the capture and the kernel trace of one host.
 *
 * Their clocks, CLOCK_REALTIME and CLOCK_MONOTONIC, are one oscillator: they differ
 * by an offset that changes only where the former is stepped. Packets on their way
 * out tell the offset. One is tapped for the capture after it was queued and before
 * the driver has returned, both of which the trace says; so each packet bounds the
 * offset on both sides, and the least that all leave is some microseconds.
 */

/* What packets leave of the offset between two steps; of the times of the base. */
struct tie_part {
	nsec_t at_ns;           /* some time in its first cell */
	nsec_t from_ns, to_ns;  /* the first and last packet that tell of it */
	nsec_t low_ns, high_ns; /* the offset: the tied clock less the base */
	uint64_t packets;
	size_t cells; /* of time that these are of */
};

struct tie {
	uint32_t base, tied;   /* clocks, as they were read */
	struct tie_part *cell; /* what the packets of a short time leave, and new ones */
	size_t cells;
	unsigned shift;        /* a cell is 2^shift nanoseconds long */
	struct tie_part *part; /* what the cells say; none: no tie */
	size_t parts;
	nsec_t open_ns;     /* the least that a cell leaves of the offset */
	bool is_by_samples; /* made from the samples of clock.csv, not from packets */
	uint64_t packets, rejected; /* those that contradict the others */
};

/* Packets that two captures of one host have in common. */
struct capture_pair {
	uint32_t one, other;   /* clocks, as they were read */
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

/* Whether an offset is left that both allow. */
bool tie_parts_agree(const struct tie_part *one, const struct tie_part *other);

/*
 * Whether the clocks are one oscillator that is stepped at most: each part has both
 * bounds, and steps are larger than what a cell leaves open and not all the same way.
 * Two clocks that drift against each other would take many that are neither. `tied` are
 * the facts of the tied clock's trace.
 */
bool tie_is_sound(const struct tie *tie, const struct trace_facts *tied);

/* A tied source's time on its base: at the earliest and at the latest. */
nsec_t tie_earliest(const struct tie *tie, nsec_t local_ns);
nsec_t tie_latest(const struct tie *tie, nsec_t local_ns);

/*
 * For estimates: the part that a time of the tied clock belongs to, where each but the
 * first begins, and its offset, the middle of what is left of it.
 */
size_t tie_part_at(const struct tie *tie, nsec_t local_ns);
nsec_t tie_part_begin(const struct tie *tie, size_t part);
nsec_t tie_middle(const struct tie_part *part);

/* Times of the tied clock before and after which a part was surely not in force. */
nsec_t tie_part_from(const struct tie *tie, size_t part);
nsec_t tie_part_to(const struct tie *tie, size_t part);

void tie_clear(struct tie *tie);
void tie_list_clear(struct tie_list *list);

#endif
