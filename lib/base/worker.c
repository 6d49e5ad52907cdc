/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/worker.h"

#include "base/process.h"

void worker_init(struct worker *worker, size_t slots,
		 int (*consume)(void *context, size_t slot), void *context)
{
	*worker = (struct worker){.consume = consume, .context = context, .slots = slots};
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->changed, NULL);
}

static void *consume_slots(void *context)
{
	struct worker *worker = context;

	pthread_mutex_lock(&worker->lock);
	for (size_t at = 0; worker->full || !worker->has_ended;
	     at = (at + 1) % worker->slots) {
		int failure = worker->failure;

		while (!worker->full && !worker->has_ended)
			pthread_cond_wait(&worker->changed, &worker->lock);
		if (!worker->full)
			break;
		pthread_mutex_unlock(&worker->lock);
		if (!failure)
			failure = worker->consume(worker->context, at);
		pthread_mutex_lock(&worker->lock);
		worker->failure = failure;
		worker->full--;
		pthread_cond_signal(&worker->changed);
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

/* Wait until fewer than `most` slots are full. */
static int wait_for_slots(struct worker *worker, size_t most)
{
	int failure;

	pthread_mutex_lock(&worker->lock);
	while (worker->full >= most)
		pthread_cond_wait(&worker->changed, &worker->lock);
	failure = worker->failure;
	pthread_mutex_unlock(&worker->lock);
	return failure;
}

int worker_pass(struct worker *worker)
{
	if (!worker->has_begun)
		worker->has_thread = worker->slots > 1 &&
				     thread_start(&worker->thread, consume_slots, worker);
	worker->has_begun = true;
	if (worker->has_thread) {
		pthread_mutex_lock(&worker->lock);
		worker->full++;
		pthread_cond_signal(&worker->changed);
		pthread_mutex_unlock(&worker->lock);
	} else if (!worker->failure) {
		worker->failure = worker->consume(worker->context, worker->at);
	}
	worker->at = (worker->at + 1) % worker->slots;
	return wait_for_slots(worker, worker->slots);
}

int worker_wait(struct worker *worker)
{
	return wait_for_slots(worker, 1);
}

int worker_end(struct worker *worker)
{
	pthread_mutex_lock(&worker->lock);
	worker->has_ended = true;
	pthread_cond_signal(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
	if (worker->has_thread)
		pthread_join(worker->thread, NULL);
	pthread_mutex_destroy(&worker->lock);
	pthread_cond_destroy(&worker->changed);
	return worker->failure;
}
