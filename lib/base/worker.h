/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_WORKER_H
#define CT_BASE_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A thread that consumes what its owner produces. The owner has a ring of slots: it fills
 * slot `at` and passes it, while the thread consumes the slots passed before.
 */
struct worker {
	/* Return 0, or the failure after which no slot is consumed any more. */
	int (*consume)(void *context, size_t slot);
	void *context;
	size_t slots; /* 1: no thread; each slot is consumed when it is passed */
	size_t at;    /* the slot to fill; only the owner uses this */
	pthread_t thread;
	bool has_begun, has_thread;
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t changed;
	size_t full; /* slots that wait or are being consumed */
	bool has_ended;
	int failure;
};

void worker_init(struct worker *worker, size_t slots,
		 int (*consume)(void *context, size_t slot), void *context);

/*
 * Pass the slot and wait until the next one can be filled. The first call starts the
 * thread; if none can be created, slots are consumed here. Return 0, or the failure of a
 * slot.
 */
int worker_pass(struct worker *worker);

/* Wait until all slots are consumed. Return 0, or the failure of a slot. */
int worker_wait(struct worker *worker);

/* The same, and end the thread. */
int worker_end(struct worker *worker);

#endif
