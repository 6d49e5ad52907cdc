/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PAIR_MESSAGE_H
#define CT_SYNC_PAIR_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/nsec.h"
#include "base/spill.h"

/*
 * A message: sent by one host and received by another, each stamp on its own
 * host's clock. It is a constraint, not a sample: it was received after it
 * was sent.
 */
struct message {
	uint32_t pair;     /* index in the pair table */
	bool forward : 1;  /* from the pair's a to its b */
	bool rejected : 1; /* left out as a false match */
	uint8_t protocol;  /* of its packet: IPPROTO_TCP, ...; 0: not known */
	uint16_t port;     /* the lower one, mostly the server's; 0: not known */
	nsec_t send_ns, recv_ns;
};

/*
 * Every message of a run, in the order of matching. The first ones are kept
 * in memory, the rest in an unnamed file in $TMPDIR, so that memory does not
 * grow with the run.
 */
struct message_log {
	struct message *block; /* what is not in the file yet */
	size_t used;
	struct spill spill;
	uint64_t count;
};

void message_log_init(struct message_log *log);

/* 0, or -1 with error when the file cannot be made or written. */
int message_log_add(struct message_log *log, const struct message *message,
		    struct error *error);

/*
 * Hand every message to `look`, in order, until it returns other than 0. With
 * `changed`, what look did to the message is kept. 0, or -1 with error.
 */
int message_log_walk(struct message_log *log, bool changed,
		     int (*look)(void *context, struct message *message), void *context,
		     struct error *error);

void message_log_clear(struct message_log *log);

#endif
