/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PAIR_MESSAGE_LOG_H
#define CT_SYNC_PAIR_MESSAGE_LOG_H

#include "base/error.h"
#include "base/hash.h"
#include "base/spill.h"
#include "input/messages_file.h"
#include "input/packet_rows.h"
#include "sync/pair/hull.h"

/*
 * A message: sent by one host and received by another, each stamp on its own
 * host's clock. It is a constraint, not a sample: it was received after it
 * was sent.
 */
struct message {
	uint32_t pair;     /* its number, by pair_numbers of the log */
	bool forward : 1;  /* from the pair's a to its b */
	bool rejected : 1; /* left out as a false match */
	bool claimed : 1;  /* a constraint by a clock daemon's claim; it has no ends */
	bool doubted : 1;  /* may be a false match; the bounds do not rest on it */
	uint8_t protocol;  /* IPPROTO_TCP, ...; 0 if unknown */
	uint16_t port;     /* the lower one, mostly the server's; 0: not known; of
			      PACKET_NO_PROTOCOL the index of a declared message */
	nsec_t send_ns, recv_ns;
};

/* The pairs of clocks that messages were sent between, in the order of their first. */
struct pair_numbers {
	struct pair_ends {
		uint32_t a, b; /* clocks, a < b */
	} * pair;
	size_t count, capacity;
	struct intmap index; /* a and b -> number */
};

/* Return the number of a pair of clocks, in either order. Add it if it is new. */
uint32_t pair_number(struct pair_numbers *numbers, uint32_t a, uint32_t b);
void pair_numbers_clear(struct pair_numbers *numbers);

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
	struct pair_numbers numbers;
	struct packet_rows rows; /* ends of the last messages, if they are kept */
	struct spill_chain ends; /* the blocks before */
	struct spill ends_spill;
};

void message_log_init(struct message_log *log);

/* Add a message between two clocks, which set its pair and direction. Return 0, or -1
 * with error if the file cannot be made or written. */
int message_log_add(struct message_log *log, uint32_t from_clock, uint32_t to_clock,
		    const struct message *message, struct error *error);

/* Add the ends of the message that was added last. Return 0, or -1 with error. */
int message_log_add_ends(struct message_log *log, const struct message_ends *ends,
			 struct error *error);

/* Call `look` with the ends of every message that is not rejected, in order. Return 0, or
 * -1 with error, also if `look` returns non-zero. */
int message_log_walk_ends(struct message_log *log,
			  int (*look)(void *context, const struct message_ends *ends,
				      struct error *error),
			  void *context, struct error *error);

/* Call `look` for every message, in order, until it returns non-zero. Return 0, or -1
 * with error. */
typedef int message_fn(void *context, const struct message *message);
int message_log_each(const struct message_log *log, message_fn *look, void *context,
		     struct error *error);

/* The same, and what `change` does to the messages is kept. */
typedef int message_change_fn(void *context, struct message *message);
int message_log_change(struct message_log *log, message_change_fn *change, void *context,
		       struct error *error);

void message_log_clear(struct message_log *log);

/* The clocks of a message. */
static inline uint32_t message_from(const struct message_log *log,
				    const struct message *message)
{
	const struct pair_ends *ends = &log->numbers.pair[message->pair];

	return message->forward ? ends->a : ends->b;
}

static inline uint32_t message_to(const struct message_log *log,
				  const struct message *message)
{
	const struct pair_ends *ends = &log->numbers.pair[message->pair];

	return message->forward ? ends->b : ends->a;
}

/* The message as a point of its pair's plane. */
static inline struct hull_point pair_point(const struct message *message)
{
	return message->forward ? (struct hull_point){message->send_ns, message->recv_ns}
				: (struct hull_point){message->recv_ns, message->send_ns};
}

#endif
