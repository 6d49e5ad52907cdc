/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/read_ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/process.h"

enum { MOST_DELAY = 5000000 }; /* ns */

struct queue {
	struct read_block *first, **last; /* not yet moved past by the consumer */
	bool is_given;                    /* the consumer has the first block */
	bool is_busy, has_ended;
};

struct read_ahead {
	struct read_ahead_config of;
	struct queue *queue; /* one for each source */
	pthread_t *thread;
	int threads;
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	struct read_block *spare; /* for reuse */
	struct read_block *used;  /* moved past; only the consumer uses this list */
	size_t used_bytes;
	size_t bytes;    /* in all queues */
	int idle;        /* number of threads waiting for `emptied` */
	bool is_waiting; /* the consumer waits for `filled` */
	bool stop;
	uint64_t delay; /* state of the random delays; 0 without delays */
};

struct read_step {
	struct read_ahead *ahead;
	struct read_block *first, **last, *end;
	size_t bytes;
};

/*
 * Return the state of random delays with the seed CT_READ_DELAY, or 0 without it. Tests
 * use it to show that no result depends on the order in which threads run.
 */
static uint64_t delay_seed(void)
{
	const char *seed = getenv("CT_READ_DELAY");

	return seed ? strtoull(seed, NULL, 10) * 2 + 1 : 0;
}

/* Sleep for a random time. The lock is held, and released meanwhile. */
static void sleep_randomly(struct read_ahead *ahead)
{
	struct timespec delay = {0, 0};

	if (!ahead->delay)
		return;
	ahead->delay = ahead->delay * 6364136223846793005u + 1442695040888963407u;
	delay.tv_nsec = (long)(ahead->delay >> 40) % MOST_DELAY;
	pthread_mutex_unlock(&ahead->lock);
	nanosleep(&delay, NULL);
	pthread_mutex_lock(&ahead->lock);
}

static struct read_block *new_block(struct read_ahead *ahead, size_t size)
{
	struct read_block *block = NULL;

	if (size <= ahead->of.block_bytes) {
		size = ahead->of.block_bytes;
		pthread_mutex_lock(&ahead->lock);
		block = ahead->spare;
		if (block)
			ahead->spare = block->next;
		pthread_mutex_unlock(&ahead->lock);
	}
	if (!block)
		block = mem_alloc(sizeof(*block) + size);
	block->next = NULL;
	block->size = size;
	block->used = 0;
	return block;
}

void *read_step_add(struct read_step *step, size_t size)
{
	struct read_block *block = step->end;

	if (!block || size > block->size - block->used) {
		block = new_block(step->ahead, size);
		*step->last = step->end = block;
		step->last = &block->next;
		step->bytes += block->size;
	}
	block->used += size;
	return block->byte + block->used - size;
}

/*
 * Return the source to read next, or the number of sources if there is none. An empty
 * queue can block the consumer, so its source is read even if the limit is exceeded.
 */
static uint32_t most_needed_source(const struct read_ahead *ahead)
{
	bool is_full = ahead->bytes >= ahead->of.most_bytes, best_waits = true;
	uint32_t best = (uint32_t)ahead->of.sources;
	nsec_t best_ns = NSEC_MAX;

	for (uint32_t i = 0; i < ahead->of.sources; i++) {
		const struct queue *queue = &ahead->queue[i];
		bool waits = queue->first;
		nsec_t at;

		if (queue->is_busy || queue->has_ended || waits > best_waits ||
		    (waits && is_full))
			continue;
		at = ahead->of.position(ahead->of.context, i);
		if (waits < best_waits || at < best_ns) {
			best = i;
			best_ns = at;
			best_waits = waits;
		}
	}
	return best;
}

/* Read one step of a source. The lock is held, and released while reading: no other
 * thread touches a busy source. */
static void read_source(struct read_ahead *ahead, uint32_t source)
{
	struct queue *queue = &ahead->queue[source];
	struct read_step step = {.ahead = ahead, .last = &step.first};
	bool more;

	queue->is_busy = true;
	sleep_randomly(ahead);
	pthread_mutex_unlock(&ahead->lock);
	more = ahead->of.read(ahead->of.context, source, &step);
	pthread_mutex_lock(&ahead->lock);
	ahead->of.note(ahead->of.context, source);
	queue->is_busy = false;
	queue->has_ended = !more;
	ahead->bytes += step.bytes;
	if (step.first) {
		*queue->last = step.first;
		queue->last = step.last;
	}
	if (ahead->is_waiting)
		pthread_cond_signal(&ahead->filled);
}

static void *reader_thread(void *context)
{
	struct read_ahead *ahead = context;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->stop) {
		uint32_t source = most_needed_source(ahead);

		if (source < ahead->of.sources) {
			read_source(ahead, source);
			continue;
		}
		ahead->idle++;
		pthread_cond_wait(&ahead->emptied, &ahead->lock);
		ahead->idle--;
	}
	pthread_mutex_unlock(&ahead->lock);
	return NULL;
}

struct read_ahead *read_ahead_new(const struct read_ahead_config *of)
{
	struct read_ahead *ahead = mem_zalloc(sizeof(*ahead));

	ahead->of = *of;
	ahead->delay = delay_seed();
	ahead->queue = mem_zalloc(of->sources * sizeof(*ahead->queue) + 1);
	for (size_t i = 0; i < of->sources; i++)
		ahead->queue[i].last = &ahead->queue[i].first;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->filled, NULL);
	pthread_cond_init(&ahead->emptied, NULL);
	ahead->thread = mem_zalloc((size_t)of->threads * sizeof(*ahead->thread) + 1);
	while (ahead->threads < of->threads && (size_t)ahead->threads < of->sources &&
	       thread_start(&ahead->thread[ahead->threads], reader_thread, ahead))
		ahead->threads++;
	return ahead;
}

/* Move the first block of a queue to the used ones. The lock is held. */
static void move_to_used(struct read_ahead *ahead, struct queue *queue)
{
	struct read_block *used = queue->first;

	queue->first = used->next;
	if (!queue->first)
		queue->last = &queue->first;
	ahead->bytes -= used->size;
	used->next = ahead->used;
	ahead->used = used;
	ahead->used_bytes += used->size;
	/* Not for every block: waking a thread costs as much as reading a block. */
	if (ahead->idle && (!queue->first || ahead->bytes < ahead->of.most_bytes / 2))
		pthread_cond_signal(&ahead->emptied);
}

struct read_block *read_ahead_take_used(struct read_ahead *ahead)
{
	struct read_block *used = ahead->used;

	ahead->used = NULL;
	ahead->used_bytes = 0;
	return used;
}

size_t read_ahead_used_bytes(const struct read_ahead *ahead)
{
	return ahead->used_bytes;
}

void read_ahead_reuse(struct read_ahead *ahead, struct read_block *used)
{
	struct read_block *block;

	if (!used)
		return;
	pthread_mutex_lock(&ahead->lock);
	while ((block = used)) {
		used = block->next;
		if (block->size == ahead->of.block_bytes) {
			block->next = ahead->spare;
			ahead->spare = block;
		} else {
			free(block);
		}
	}
	pthread_mutex_unlock(&ahead->lock);
}

const struct read_block *read_ahead_next(struct read_ahead *ahead, uint32_t source)
{
	struct queue *queue = &ahead->queue[source];
	const struct read_block *block;

	pthread_mutex_lock(&ahead->lock);
	if (queue->is_given)
		move_to_used(ahead, queue);
	while (!queue->first && !queue->has_ended) {
		ahead->is_waiting = ahead->threads > 0;
		if (ahead->is_waiting)
			pthread_cond_wait(&ahead->filled, &ahead->lock);
		else
			read_source(ahead, source);
	}
	ahead->is_waiting = false;
	block = queue->first;
	queue->is_given = block;
	pthread_mutex_unlock(&ahead->lock);
	return block;
}

void read_ahead_lock(struct read_ahead *ahead)
{
	pthread_mutex_lock(&ahead->lock);
}

void read_ahead_unlock(struct read_ahead *ahead)
{
	pthread_mutex_unlock(&ahead->lock);
}

static void free_blocks(struct read_block *block)
{
	while (block) {
		struct read_block *next = block->next;

		free(block);
		block = next;
	}
}

void read_ahead_free(struct read_ahead *ahead)
{
	if (!ahead)
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->stop = true;
	pthread_cond_broadcast(&ahead->emptied);
	pthread_mutex_unlock(&ahead->lock);
	for (int i = 0; i < ahead->threads; i++)
		pthread_join(ahead->thread[i], NULL);
	for (size_t i = 0; i < ahead->of.sources; i++)
		free_blocks(ahead->queue[i].first);
	free_blocks(ahead->spare);
	free_blocks(ahead->used);
	pthread_mutex_destroy(&ahead->lock);
	pthread_cond_destroy(&ahead->filled);
	pthread_cond_destroy(&ahead->emptied);
	free(ahead->thread);
	free(ahead->queue);
	free(ahead);
}
