/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_SAME_H
#define CT_INPUT_SAME_H

#include "input/run.h"

/* What two sources have in common. */
enum same_clock {
	SAME_NOT,
	SAME_CLOCK,  /* kernel and user space of one boot of one node */
	SAME_CLONED, /* one identity, as if of one boot, and yet two nodes */
};

/* Whether two sources say that they have one clock, whatever their nodes. */
bool same_clock_identity(const struct ctf_facts *a, const struct ctf_facts *b);

/*
 * A clock's identity is copied with a machine: two that were resumed from one snapshot
 * have the same. So it counts only within a node: in one node's directory, or where that
 * is not known of both, under one recorded host name.
 */
enum same_clock same_clock(const struct source *a, const struct ctf_facts *a_facts,
			   const struct source *b, const struct ctf_facts *b_facts);

/*
 * Equal for two sources that hold the same events: one under two names, or a copy. Of a
 * trace its metadata and streams tell, of a capture its file, by their names, sizes, and
 * how they begin and end. 0: it has no events, or they cannot be read.
 */
uint64_t same_events_fingerprint(const struct source *source);

#endif
