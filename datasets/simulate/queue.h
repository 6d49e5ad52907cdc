/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_QUEUE_H
#define CT_SIMULATE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/nsec.h"

/*
 * What is going to happen, in order of true time; what is due at the same
 * time comes in the order in which it was put there. A heap with four
 * children a parent, which touches less memory than one with two.
 */
struct occasion {
	nsec_t at;
	uint64_t order;
	uint32_t what; /* number of the thread, parcel ... that it is about */
	uint32_t kind : 8;
	uint32_t age : 24; /* to tell one that was given up meanwhile */
};

#define OCCASION_AGE 0xffffffu

struct queue {
	struct occasion *item;
	size_t count, room;
	uint64_t order;
};

void queue_add(struct queue *queue, nsec_t at, unsigned kind, uint32_t what,
	       uint32_t age);

/* Take the earliest; false when there is none. */
bool queue_take(struct queue *queue, struct occasion *occasion);

void queue_clear(struct queue *queue);

#endif
