/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/graphite/send.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "export/connection.h"
#include "export/graphite/state.h"

/* How long a server may say nothing before a connection counts as broken. */
enum { SILENCE_S = 60 };

/* The pauses before a batch is sent again: twice as long each time. */
enum { SHORTEST_PAUSE_MS = 100, LONGEST_PAUSE_MS = 5000 };

struct graphite_sender {
	const struct graphite_target *target;
	struct graphite_text text; /* the batch */
	unsigned waiting;          /* points in it */
	uint64_t skip;             /* points yet to come that were delivered before */
	uint64_t delivered;
};

struct graphite_sender *graphite_sender_new(const struct graphite_target *target,
					    struct error *error)
{
	struct graphite_sender *sender = mem_zalloc(sizeof(*sender));

	sender->target = target;
	sender->text.pickle = target->pickle;
	if (target->state &&
	    graphite_state_read(target->state, target->key, &sender->delivered, error)) {
		graphite_sender_free(sender);
		return NULL;
	}
	sender->skip = sender->delivered;
	return sender;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int give_up(const struct graphite_sender *sender, struct error *error)
{
	const struct graphite_target *target = sender->target;

	error_prefix(error, "%s", target->address);
	if (target->state)
		return error_set(error,
				 "%s; %" PRIu64 " points were delivered, the same "
				 "command goes on from there",
				 error_text(error), sender->delivered);
	return error_set(error,
			 "%s; %" PRIu64 " points were delivered, --state FILE would let "
			 "the same command go on from there",
			 error_text(error), sender->delivered);
}

/* Again and again, until the batch is there or patience ends. */
static int deliver(struct graphite_sender *sender, struct error *error)
{
	const struct graphite_target *target = sender->target;
	double until = now_s() + target->patience_s;
	unsigned pause_ms = SHORTEST_PAUSE_MS, tries = 0;

	while (connection_deliver(target->address, target->port, sender->text.bytes.data,
				  sender->text.bytes.size, SILENCE_S, error)) {
		if (now_s() + pause_ms * 1e-3 > until)
			return give_up(sender, error);
		if (tries++ == 0)
			problem_add(target->notes, target->address, "connection", 1,
				    "%s, tried again", error_text(error));
		error_clear(error);
		usleep(pause_ms * 1000);
		pause_ms =
		    pause_ms * 2 < LONGEST_PAUSE_MS ? pause_ms * 2 : LONGEST_PAUSE_MS;
	}
	return 0;
}

static int end_batch(struct graphite_sender *sender, struct error *error)
{
	const struct graphite_target *target = sender->target;

	if (!sender->waiting)
		return 0;
	graphite_text_end(&sender->text);
	if (deliver(sender, error))
		return -1;
	sender->delivered += sender->waiting;
	sender->waiting = 0;
	bytes_empty(&sender->text.bytes, SIZE_MAX);
	return target->state ? graphite_state_write(target->state, target->key,
						    sender->delivered, error)
			     : 0;
}

int graphite_send(struct graphite_sender *sender, const struct graphite_point *point,
		  struct error *error)
{
	if (sender->skip) {
		sender->skip--;
		return 0;
	}
	graphite_text_add(&sender->text, point);
	if (++sender->waiting < sender->target->batch)
		return 0;
	return end_batch(sender, error);
}

int graphite_sender_end(struct graphite_sender *sender, struct error *error)
{
	if (end_batch(sender, error))
		return -1;
	if (sender->target->state)
		unlink(sender->target->state);
	return 0;
}

uint64_t graphite_sender_delivered(const struct graphite_sender *sender)
{
	return sender->delivered;
}

void graphite_sender_free(struct graphite_sender *sender)
{
	if (!sender)
		return;
	bytes_clear(&sender->text.bytes);
	free(sender);
}
