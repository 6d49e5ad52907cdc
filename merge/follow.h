/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_FOLLOW_H
#define CT_MERGE_FOLLOW_H

#include "merge/event_class.h"

/*
 * Which thread an event belongs to: by its context where `tid`, or `vtid` of user
 * space, was recorded, else by the last sched_switch on its CPU; the switch itself is
 * its prev_tid's. What lies before the first switch of a CPU cannot be known: then -1.
 */
struct follow;

struct follow *follow_new(size_t sources);

/*
 * Say that a source is of the same machine and clock as an earlier one, as user space
 * is with its kernel: then a switch that either recorded counts for both.
 */
void follow_share(struct follow *follow, uint32_t source, uint32_t with);

/* The thread of an event, -1: unknown. Events of a source come in order. */
int64_t follow_event(struct follow *follow, uint32_t source,
		     const struct event_class *class, const struct ctf_event *record);

void follow_free(struct follow *follow);

#endif
