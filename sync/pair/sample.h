/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PAIR_SAMPLE_H
#define CT_SYNC_PAIR_SAMPLE_H

#include "sync/pair/message_log.h"

/* An even sample of a pair's messages, with at most `capacity` in each direction: those
 * whose hash of timestamps is divisible by a power of two, which doubles whenever the
 * capacity is reached. It does not depend on the order of messages. */
struct sample_side {
	struct hull_point *point; /* in the pair's plane, by ascending x */
	size_t count, capacity;
	uint64_t every;
};

struct pair_sample {
	struct sample_side ab, ba;
};

/*
 * Choose from the log, at most `most` each way a pair; an array by pair, for
 * pair_samples_free. NULL with error on failure.
 */
struct pair_sample *pair_samples_new(const struct message_log *log, size_t pairs,
				     size_t most, struct error *error);
void pair_samples_free(struct pair_sample *samples, size_t pairs);

#endif
