/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_ORIGINS_H
#define CT_MERGE_ORIGINS_H

#include "base/error.h"
#include "input/packet.h"

/*
 * Of every message that was not rejected: the two events that it was made of,
 * and its packet. In memory up to some thousand, the rest in an unnamed file.
 */
struct origin {
	uint32_t source; /* index in the run */
	uint32_t stream;
	uint64_t ordinal; /* of the event within its stream, as in struct ctf_event */
	nsec_t local_ns;  /* the stamp that counts for the message */
};

struct message_origin {
	struct origin send, recv;
	struct packet packet; /* as the receiver saw it */
};

struct origins;

struct origins *origins_new(void);
int origins_add(struct origins *origins, const struct message_origin *origin,
		struct error *error);

/*
 * Leave one out that was added as the index-th, from 0: its message turned out
 * to be false. After the last one was added.
 */
void origins_drop(struct origins *origins, uint64_t index);

/* How many are left. */
uint64_t origins_count(const struct origins *origins);

/* Hand each to `look`, in order, until it returns other than 0. 0, or -1 with error. */
int origins_walk(struct origins *origins,
		 int (*look)(void *context, const struct message_origin *origin),
		 void *context, struct error *error);

void origins_free(struct origins *origins);

#endif
