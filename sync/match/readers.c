/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/readers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

/* Packets read in one step of one source, on their way to the matcher. */
struct batch {
	struct batch *next;
	struct sighting *item;
	size_t count, room;
	/* How the source stood after the step. */
	bool has_events, is_last;
	nsec_t begin_ns, end_ns;
};

enum { MOST_BATCHES = 64 };    /* read and not yet given */
enum { MOST_DELAY = 5000000 }; /* ns */

/*
 * A source is where it was read to, which depends on the threads, and where it was
 * given to, which must not: what is given next depends on what was given before.
 */
struct place {
	bool begun, ended;
	nsec_t ns; /* local time */
};

struct reading {
	struct packet_source *source;
	struct ctf_facts facts; /* as of the last step */
	bool busy;              /* in a step */
	struct place read, given;
	struct batch *first, **last; /* read and not yet given */
	uint32_t group;              /* sources tied to each other */
	nsec_t to_axis_ns;           /* local time plus this is the common axis */
};

struct readers {
	struct reading *reading;
	size_t count, read; /* in all, and those read to their end */
	int threads;
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	struct batch *spare;
	size_t batches;
	struct reading *wanted; /* its next batch is waited for, or NULL */
	uint64_t delay;         /* state of the random delays, 0: none */
	bool stop;
};

/*
 * Delays of CT_READ_DELAY's seed, for tests: what threads do when is by chance, and
 * nothing may depend on it.
 */
static uint64_t first_delay(void)
{
	const char *seed = getenv("CT_READ_DELAY");

	return seed ? strtoull(seed, NULL, 10) * 2 + 1 : 0;
}

struct readers *readers_new(struct packet_source **sources, size_t count, int threads)
{
	struct readers *readers = mem_zalloc(sizeof(*readers));

	readers->reading = mem_zalloc(count * sizeof(*readers->reading));
	readers->count = count;
	readers->threads = threads;
	readers->delay = first_delay();
	for (size_t i = 0; i < count; i++) {
		readers->reading[i].source = sources[i];
		readers->reading[i].last = &readers->reading[i].first;
		readers->reading[i].group = (uint32_t)i;
		readers->reading[i].facts = sources[i]->facts;
	}
	pthread_mutex_init(&readers->lock, NULL);
	pthread_cond_init(&readers->filled, NULL);
	pthread_cond_init(&readers->emptied, NULL);
	return readers;
}

/* Where a source stands on the common axis. A fresh one stands at its begin. */
static nsec_t position(const struct reading *reading, const struct place *place)
{
	return place->begun ? nsec_add(place->ns, reading->to_axis_ns) : NSEC_MIN;
}

/* The source that is furthest behind of what is to be given, or NULL. */
static struct reading *next_given(struct readers *readers)
{
	struct reading *best = NULL;

	for (size_t i = 0; i < readers->count; i++) {
		struct reading *reading = &readers->reading[i];

		if (!reading->given.ended &&
		    (!best ||
		     position(reading, &reading->given) < position(best, &best->given)))
			best = reading;
	}
	return best;
}

/* The source to read on: what is waited for, else what is furthest behind; or NULL. */
static struct reading *next_read(struct readers *readers)
{
	struct reading *best = readers->wanted;

	if (best && !best->first && !best->busy)
		return best;
	if (readers->batches >= MOST_BATCHES)
		return NULL;
	best = NULL;
	for (size_t i = 0; i < readers->count; i++) {
		struct reading *reading = &readers->reading[i];

		if (!reading->busy && !reading->read.ended &&
		    (!best ||
		     position(reading, &reading->read) < position(best, &best->read)))
			best = reading;
	}
	return best;
}

static void collect(void *context, const struct sighting *sighting)
{
	struct batch *batch = context;

	batch->item =
	    mem_grow(batch->item, batch->count, &batch->room, sizeof(*batch->item));
	batch->item[batch->count] = *sighting;
	batch->item[batch->count].hash = packet_hash(&sighting->packet);
	batch->count++;
}

static struct batch *take_spare(struct readers *readers)
{
	struct batch *batch = readers->spare;

	if (batch)
		readers->spare = batch->next;
	else
		batch = mem_zalloc(sizeof(*batch));
	*batch = (struct batch){.item = batch->item, .room = batch->room};
	return batch;
}

static void give_back(struct readers *readers, struct batch *batch)
{
	batch->next = readers->spare;
	readers->spare = batch;
}

static void step(struct reading *reading, struct batch *batch)
{
	const struct ctf_facts *facts = &reading->source->facts;

	batch->is_last = !packet_source_step(reading->source, collect, batch);
	batch->has_events = facts->events > 0;
	batch->begin_ns = facts->begin_ns;
	batch->end_ns = facts->end_ns;
}

/* After a step, under the lock: what the others need to know of it. */
static void note_step(struct readers *readers, struct reading *reading,
		      struct batch *batch)
{
	reading->facts = reading->source->facts;
	reading->read = (struct place){batch->has_events, batch->is_last, batch->end_ns};
	readers->read += batch->is_last;
	reading->busy = false;
	*reading->last = batch;
	reading->last = &batch->next;
	readers->batches++;
}

/* Under the lock: the next batch of a source that has one. */
static struct batch *take_batch(struct readers *readers, struct reading *reading)
{
	struct batch *batch = reading->first;

	reading->first = batch->next;
	if (!reading->first)
		reading->last = &reading->first;
	readers->batches--;
	if (batch->has_events && !reading->given.begun &&
	    reading->group == reading - readers->reading)
		reading->to_axis_ns = nsec_sub(0, batch->begin_ns);
	reading->given = (struct place){batch->has_events, batch->is_last, batch->end_ns};
	return batch;
}

/* Under the lock, which is free meanwhile. */
static void wait_a_while(struct readers *readers)
{
	struct timespec delay = {0, 0};

	if (!readers->delay)
		return;
	readers->delay = readers->delay * 6364136223846793005u + 1442695040888963407u;
	delay.tv_nsec = (long)(readers->delay >> 40) % MOST_DELAY;
	pthread_mutex_unlock(&readers->lock);
	nanosleep(&delay, NULL);
	pthread_mutex_lock(&readers->lock);
}

static void *work(void *context)
{
	struct readers *readers = context;

	pthread_mutex_lock(&readers->lock);
	while (!readers->stop && readers->read < readers->count) {
		struct reading *reading = next_read(readers);
		struct batch *batch;

		if (!reading) {
			pthread_cond_wait(&readers->emptied, &readers->lock);
			continue;
		}
		reading->busy = true;
		batch = take_spare(readers);
		wait_a_while(readers);
		pthread_mutex_unlock(&readers->lock);
		step(reading, batch);
		pthread_mutex_lock(&readers->lock);
		note_step(readers, reading, batch);
		pthread_cond_signal(&readers->filled);
		pthread_cond_broadcast(&readers->emptied);
	}
	pthread_cond_broadcast(&readers->emptied);
	pthread_cond_signal(&readers->filled);
	pthread_mutex_unlock(&readers->lock);
	return NULL;
}

static void show(struct readers *readers, struct progress *progress)
{
	uint64_t events = 0, bytes = 0, total = 0;

	for (size_t i = 0; i < readers->count; i++) {
		events += readers->reading[i].facts.events;
		bytes += readers->reading[i].facts.bytes;
		total += readers->reading[i].facts.total_bytes;
	}
	progress_update(progress, "reading", events, bytes, total);
}

static int give_batch(struct readers *readers, struct reading *reading,
		      struct batch *batch, reader_fn *give, void *context)
{
	return give(context, (uint32_t)(reading - readers->reading), batch->item,
		    batch->count);
}

/* In this thread alone. */
static int run_alone(struct readers *readers, reader_fn *give, void *context,
		     struct progress *progress)
{
	struct reading *reading;
	int status = 0;

	while (!status && (reading = next_given(readers))) {
		struct batch *batch;

		if (!reading->first) {
			batch = take_spare(readers);
			step(reading, batch);
			note_step(readers, reading, batch);
			show(readers, progress);
		}
		batch = take_batch(readers, reading);
		status = give_batch(readers, reading, batch, give, context);
		give_back(readers, batch);
	}
	return status;
}

/* Under the lock: wait for the batch that is to be given next; NULL at the end. */
static struct batch *next_batch(struct readers *readers, struct reading **of)
{
	*of = next_given(readers);
	if (!*of)
		return NULL;
	readers->wanted = *of;
	while (!(*of)->first) {
		pthread_cond_broadcast(&readers->emptied);
		pthread_cond_wait(&readers->filled, &readers->lock);
	}
	readers->wanted = NULL;
	pthread_cond_broadcast(&readers->emptied);
	return take_batch(readers, *of);
}

static int run_threads(struct readers *readers, reader_fn *give, void *context,
		       struct progress *progress)
{
	pthread_t *thread = mem_zalloc((size_t)readers->threads * sizeof(*thread));
	struct reading *reading;
	struct batch *batch;
	int started = 0, status = 0;

	while (started < readers->threads &&
	       pthread_create(&thread[started], NULL, work, readers) == 0)
		started++;
	pthread_mutex_lock(&readers->lock);
	while (started && !status && (batch = next_batch(readers, &reading))) {
		show(readers, progress);
		pthread_mutex_unlock(&readers->lock);
		status = give_batch(readers, reading, batch, give, context);
		pthread_mutex_lock(&readers->lock);
		give_back(readers, batch);
	}
	readers->stop = true;
	pthread_cond_broadcast(&readers->emptied);
	pthread_mutex_unlock(&readers->lock);
	for (int i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	if (!started)
		return run_alone(readers, give, context, progress);
	return status;
}

int readers_run(struct readers *readers, reader_fn *give, void *context,
		struct progress *progress)
{
	int status;

	if (readers->threads > 1)
		status = run_threads(readers, give, context, progress);
	else
		status = run_alone(readers, give, context, progress);
	progress_end(progress);
	return status;
}

void readers_tie(struct readers *readers, uint32_t a, nsec_t a_ns, uint32_t b,
		 nsec_t b_ns)
{
	struct reading *from = &readers->reading[a], *to = &readers->reading[b];
	uint32_t group = to->group;
	nsec_t shift;

	/* Nobody else writes groups; axes are written below alone once they are tied. */
	if (from->group == group)
		return;
	pthread_mutex_lock(&readers->lock);
	shift =
	    nsec_sub(nsec_add(a_ns, from->to_axis_ns), nsec_add(b_ns, to->to_axis_ns));
	for (size_t i = 0; i < readers->count; i++) {
		struct reading *reading = &readers->reading[i];

		if (reading->group != group)
			continue;
		reading->group = from->group;
		reading->to_axis_ns = nsec_add(reading->to_axis_ns, shift);
	}
	pthread_mutex_unlock(&readers->lock);
}

void readers_free(struct readers *readers)
{
	struct batch *batch;

	if (!readers)
		return;
	for (size_t i = 0; i < readers->count; i++) {
		*readers->reading[i].last = readers->spare;
		readers->spare = readers->reading[i].first;
		packet_source_free(readers->reading[i].source);
	}
	while ((batch = readers->spare)) {
		readers->spare = batch->next;
		free(batch->item);
		free(batch);
	}
	pthread_mutex_destroy(&readers->lock);
	pthread_cond_destroy(&readers->filled);
	pthread_cond_destroy(&readers->emptied);
	free(readers->reading);
	free(readers);
}
