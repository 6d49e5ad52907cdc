/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/readers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Packets read in one step of one source, on their way to the matcher. */
struct batch {
	struct batch *next;
	uint32_t source;
	struct sighting *item;
	size_t count, room;
};

enum { MOST_BATCHES = 64 }; /* read and not yet taken over */

struct reading {
	struct packet_source *source;
	struct packet_source_facts facts; /* as of the last step */
	bool busy, ended;
	uint32_t group;    /* sources tied to each other */
	nsec_t to_axis_ns; /* local time plus this is the common axis */
};

struct readers {
	struct reading *reading;
	size_t count, ended;
	int threads;
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	struct batch *first, **last, *spare;
	size_t batches;
	bool stop;
};

struct readers *readers_new(struct packet_source **sources, size_t count, int threads)
{
	struct readers *readers = mem_zalloc(sizeof(*readers));

	readers->reading = mem_zalloc(count * sizeof(*readers->reading));
	readers->count = count;
	readers->threads = threads;
	readers->last = &readers->first;
	for (size_t i = 0; i < count; i++) {
		readers->reading[i].source = sources[i];
		readers->reading[i].group = (uint32_t)i;
		readers->reading[i].facts = *packet_source_facts(sources[i]);
	}
	pthread_mutex_init(&readers->lock, NULL);
	pthread_cond_init(&readers->filled, NULL);
	pthread_cond_init(&readers->emptied, NULL);
	return readers;
}

/* Where a source stands on the common axis. A fresh one stands at its begin. */
static nsec_t position(const struct reading *reading)
{
	if (!reading->facts.events)
		return NSEC_MIN;
	return nsec_add(reading->facts.end_ns, reading->to_axis_ns);
}

/* The source that is furthest behind and free, or NULL. */
static struct reading *furthest_behind(struct readers *readers)
{
	struct reading *best = NULL;

	for (size_t i = 0; i < readers->count; i++) {
		struct reading *reading = &readers->reading[i];

		if (!reading->busy && !reading->ended &&
		    (!best || position(reading) < position(best)))
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
	batch->count = 0;
	batch->next = NULL;
	return batch;
}

static void give_back(struct readers *readers, struct batch *batch)
{
	batch->next = readers->spare;
	readers->spare = batch;
}

static void step(struct readers *readers, struct reading *reading, struct batch *batch)
{
	enum step status;

	batch->source = (uint32_t)(reading - readers->reading);
	status = packet_source_step(reading->source, collect, batch);
	if (status == STEP_END)
		reading->ended = true;
}

/* After a step, under the lock: what the others need to know of it. */
static void note_step(struct readers *readers, struct reading *reading)
{
	bool first = !reading->facts.events;

	reading->facts = *packet_source_facts(reading->source);
	if (first && reading->facts.events &&
	    reading->group == reading - readers->reading)
		reading->to_axis_ns = nsec_sub(0, reading->facts.begin_ns);
	readers->ended += reading->ended;
	reading->busy = false;
}

static void *work(void *context)
{
	struct readers *readers = context;

	pthread_mutex_lock(&readers->lock);
	while (!readers->stop && readers->ended < readers->count) {
		struct reading *reading = furthest_behind(readers);
		struct batch *batch;

		if (!reading || readers->batches >= MOST_BATCHES) {
			pthread_cond_wait(&readers->emptied, &readers->lock);
			continue;
		}
		reading->busy = true;
		batch = take_spare(readers);
		pthread_mutex_unlock(&readers->lock);
		step(readers, reading, batch);
		pthread_mutex_lock(&readers->lock);
		note_step(readers, reading);
		*readers->last = batch;
		readers->last = &batch->next;
		readers->batches++;
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

/* In this thread alone. */
static int run_alone(struct readers *readers, reader_fn *give, void *context,
		     struct progress *progress)
{
	struct batch *batch = take_spare(readers);
	int status = 0;

	while (!status && readers->ended < readers->count) {
		struct reading *reading = furthest_behind(readers);

		batch->count = 0;
		step(readers, reading, batch);
		note_step(readers, reading);
		show(readers, progress);
		status = give(context, batch->source, batch->item, batch->count);
	}
	give_back(readers, batch);
	return status;
}

static struct batch *next_batch(struct readers *readers)
{
	struct batch *batch;

	while (!readers->first && readers->ended < readers->count)
		pthread_cond_wait(&readers->filled, &readers->lock);
	batch = readers->first;
	if (!batch)
		return NULL;
	readers->first = batch->next;
	if (!readers->first)
		readers->last = &readers->first;
	readers->batches--;
	pthread_cond_broadcast(&readers->emptied);
	return batch;
}

static int run_threads(struct readers *readers, reader_fn *give, void *context,
		       struct progress *progress)
{
	pthread_t *thread = mem_zalloc((size_t)readers->threads * sizeof(*thread));
	struct batch *batch;
	int started = 0, status = 0;

	while (started < readers->threads &&
	       pthread_create(&thread[started], NULL, work, readers) == 0)
		started++;
	pthread_mutex_lock(&readers->lock);
	while (started && !status && (batch = next_batch(readers))) {
		show(readers, progress);
		pthread_mutex_unlock(&readers->lock);
		status = give(context, batch->source, batch->item, batch->count);
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
	*readers->last = readers->spare;
	while ((batch = readers->first)) {
		readers->first = batch->next;
		free(batch->item);
		free(batch);
	}
	for (size_t i = 0; i < readers->count; i++)
		packet_source_free(readers->reading[i].source);
	pthread_mutex_destroy(&readers->lock);
	pthread_cond_destroy(&readers->filled);
	pthread_cond_destroy(&readers->emptied);
	free(readers->reading);
	free(readers);
}
