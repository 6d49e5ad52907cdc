/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/readers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/heap.h"
#include "base/mem.h"

/* Packets read in one step of one source, on their way to the matcher; never none. */
struct batch {
	struct batch *next;
	struct sighting *item;
	size_t count, room;
};

enum {
	MOST_AHEAD = 1 << 17,         /* packets that are read and not yet given; or */
	MOST_AHEAD_A_SOURCE = 1 << 9, /* so many for each source, where that is more */
	GIVEN_AT_ONCE = 64,
	MOST_DELAY = 5000000, /* ns */
};

struct reading {
	struct packet_source *source;
	bool busy;       /* in a step */
	bool begun;      /* it had an event, and stands somewhere on the axis */
	bool ended;      /* read to its end */
	nsec_t begin_ns; /* local time */
	uint64_t events, bytes, total_bytes; /* as of the last step */
	nsec_t read_ns;                      /* where it was read to, local time */
	bool is_listed;                      /* in `behind` */
	struct batch *first, **last;         /* read and not yet given */
	size_t next;                         /* to be given, of the first */
	uint32_t group;                      /* sources tied to each other */
	nsec_t to_axis_ns;                   /* local time plus this is the common axis */
};

struct readers {
	struct reading *reading;
	size_t count, read; /* in all, and those read to their end */
	int threads;
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	struct heap behind; /* sources to be read on */
	struct heap heads;  /* of those that have a packet: its time on the axis */
	bool is_retied;     /* axes were moved since the heads were ordered */
	struct batch *spare;
	struct batch *used; /* of which all is given, or about to be */
	size_t ahead, most_ahead;
	uint64_t events, bytes, total_bytes; /* of all, as of their last steps */
	struct reading *wanted;              /* its next packet is waited for, or NULL */
	struct progress *progress;
	uint64_t delay; /* state of the random delays, 0: none */
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

/* Where a source was read to on the common axis. A fresh one stands at its begin. */
static nsec_t position(const struct reading *reading)
{
	return reading->begun ? nsec_add(reading->read_ns, reading->to_axis_ns)
			      : NSEC_MIN;
}

/* One that is read as it is waited for keeps its place until it comes up. */
static void note_behind(struct readers *readers, struct reading *reading)
{
	if (!reading->is_listed)
		heap_push(&readers->behind, position(reading),
			  (uint32_t)(reading - readers->reading));
	reading->is_listed = true;
}

struct readers *readers_new(struct packet_source **sources, size_t count, int threads)
{
	struct readers *readers = mem_zalloc(sizeof(*readers));

	readers->reading = mem_zalloc(count * sizeof(*readers->reading));
	readers->count = count;
	readers->threads = threads;
	readers->delay = first_delay();
	readers->most_ahead = count * MOST_AHEAD_A_SOURCE;
	if (readers->most_ahead < MOST_AHEAD)
		readers->most_ahead = MOST_AHEAD;
	for (size_t i = 0; i < count; i++) {
		struct reading *reading = &readers->reading[i];

		reading->source = sources[i];
		reading->last = &reading->first;
		reading->group = (uint32_t)i;
		reading->total_bytes = sources[i]->facts.total_bytes;
		readers->total_bytes += reading->total_bytes;
		note_behind(readers, reading);
	}
	pthread_mutex_init(&readers->lock, NULL);
	pthread_cond_init(&readers->filled, NULL);
	pthread_cond_init(&readers->emptied, NULL);
	return readers;
}

/* The source that is furthest behind of those to be read, or NULL. */
static struct reading *furthest_behind(struct readers *readers)
{
	struct heap *behind = &readers->behind;

	while (behind->count) {
		struct reading *reading = &readers->reading[behind->item[0].item];

		heap_pop(behind);
		reading->is_listed = false;
		if (!reading->busy && !reading->ended)
			return reading;
	}
	return NULL;
}

/* The source to read on: what is waited for, else what is furthest behind; or NULL. */
static struct reading *next_read(struct readers *readers)
{
	struct reading *wanted = readers->wanted;

	if (wanted && !wanted->first && !wanted->busy && !wanted->ended)
		return wanted;
	return readers->ahead < readers->most_ahead ? furthest_behind(readers) : NULL;
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

/* For the progress: what all sources have. */
static void count_step(struct readers *readers, struct reading *reading,
		       const struct ctf_facts *facts)
{
	readers->events += facts->events - reading->events;
	readers->bytes += facts->bytes - reading->bytes;
	readers->total_bytes += facts->total_bytes - reading->total_bytes;
	reading->events = facts->events;
	reading->bytes = facts->bytes;
	reading->total_bytes = facts->total_bytes;
}

/* After a step, under the lock: what the others need to know of it. */
static void note_step(struct readers *readers, struct reading *reading,
		      struct batch *batch, bool ended)
{
	const struct ctf_facts *facts = &reading->source->facts;

	count_step(readers, reading, facts);
	reading->busy = false;
	reading->ended = ended;
	readers->read += ended;
	reading->read_ns = facts->end_ns;
	if (facts->events && !reading->begun) {
		reading->begun = true;
		reading->begin_ns = facts->begin_ns;
		reading->to_axis_ns = nsec_sub(0, facts->begin_ns);
	}
	if (batch->count) {
		*reading->last = batch;
		reading->last = &batch->next;
		readers->ahead += batch->count;
	} else {
		give_back(readers, batch);
	}
	if (!ended)
		note_behind(readers, reading);
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

/* Under the lock, which is free meanwhile. */
static void step(struct readers *readers, struct reading *reading)
{
	struct batch *batch = take_spare(readers);
	bool ended;

	reading->busy = true;
	wait_a_while(readers);
	pthread_mutex_unlock(&readers->lock);
	ended = !packet_source_step(reading->source, collect, batch);
	pthread_mutex_lock(&readers->lock);
	note_step(readers, reading, batch, ended);
}

static void *work(void *context)
{
	struct readers *readers = context;

	pthread_mutex_lock(&readers->lock);
	while (!readers->stop && readers->read < readers->count) {
		struct reading *reading = next_read(readers);

		if (!reading) {
			pthread_cond_wait(&readers->emptied, &readers->lock);
			continue;
		}
		step(readers, reading);
		pthread_cond_signal(&readers->filled);
		pthread_cond_broadcast(&readers->emptied);
	}
	pthread_cond_broadcast(&readers->emptied);
	pthread_cond_signal(&readers->filled);
	pthread_mutex_unlock(&readers->lock);
	return NULL;
}

/* Under the lock: put the first batch, of which all was given, aside. */
static void put_aside(struct readers *readers, struct reading *reading)
{
	struct batch *batch = reading->first;

	reading->first = batch->next;
	if (!reading->first)
		reading->last = &reading->first;
	reading->next = 0;
	readers->ahead -= batch->count;
	batch->next = readers->used;
	readers->used = batch;
}

/*
 * Have the next packet of a source there; false: there is none. Nothing is given before
 * each source has one, or has ended.
 */
static bool have_head(struct readers *readers, struct reading *reading)
{
	bool found;

	pthread_mutex_lock(&readers->lock);
	if (reading->first && reading->next == reading->first->count)
		put_aside(readers, reading);
	while (!reading->first && !reading->ended) {
		if (readers->threads) {
			readers->wanted = reading;
			pthread_cond_broadcast(&readers->emptied);
			pthread_cond_wait(&readers->filled, &readers->lock);
		} else {
			step(readers, reading);
		}
	}
	readers->wanted = NULL;
	/* Not for every batch: waking up costs as much as reading one. */
	if (readers->ahead < readers->most_ahead / 2)
		pthread_cond_broadcast(&readers->emptied);
	progress_update(readers->progress, "reading", readers->events, readers->bytes,
			readers->total_bytes);
	found = reading->first != NULL;
	pthread_mutex_unlock(&readers->lock);
	return found;
}

static nsec_t head_ns(const struct reading *reading)
{
	const struct sighting *head = &reading->first->item[reading->next];

	return nsec_add(head->event_ns ? head->event_ns : head->ns, reading->to_axis_ns);
}

static void order_heads(struct readers *readers)
{
	readers->heads.count = 0;
	for (uint32_t i = 0; i < readers->count; i++)
		if (readers->reading[i].first)
			heap_push(&readers->heads, head_ns(&readers->reading[i]), i);
	readers->is_retied = false;
}

/* The packet after the next is asked for when many other sources had their turn. */
static void fetch_ahead(const struct reading *reading)
{
	const struct batch *batch = reading->first;

	if (reading->next + 1 < batch->count) {
		const char *at = (const char *)&batch->item[reading->next + 1];

		__builtin_prefetch(at);
		__builtin_prefetch(at + sizeof(*batch->item) / 2);
		__builtin_prefetch(at + sizeof(*batch->item) - 1);
	}
}

/* The next packets in the order of time; returns how many. */
static size_t take_arrivals(struct readers *readers, struct arrival *arrival)
{
	struct heap *heads = &readers->heads;
	size_t n = 0;

	while (n < GIVEN_AT_ONCE && heads->count) {
		uint32_t source = heads->item[0].item;
		struct reading *reading = &readers->reading[source];

		arrival[n++] =
		    (struct arrival){source, &reading->first->item[reading->next++]};
		fetch_ahead(reading);
		if (reading->next < reading->first->count || have_head(readers, reading))
			heap_replace(heads, head_ns(reading));
		else
			heap_pop(heads);
	}
	return n;
}

static void give_back_used(struct readers *readers)
{
	struct batch *batch;

	if (!readers->used)
		return;
	pthread_mutex_lock(&readers->lock);
	while ((batch = readers->used)) {
		readers->used = batch->next;
		give_back(readers, batch);
	}
	pthread_mutex_unlock(&readers->lock);
}

static int give_all(struct readers *readers, reader_fn *give, void *context)
{
	struct arrival arrival[GIVEN_AT_ONCE];
	int status = 0;
	size_t n;

	for (size_t i = 0; i < readers->count; i++)
		have_head(readers, &readers->reading[i]);
	order_heads(readers);
	while (!status && (n = take_arrivals(readers, arrival))) {
		status = give(context, arrival, n);
		give_back_used(readers);
		if (readers->is_retied)
			order_heads(readers);
	}
	return status;
}

int readers_run(struct readers *readers, reader_fn *give, void *context,
		struct progress *progress)
{
	int wanted = readers->threads > 1 ? readers->threads : 0, status;
	pthread_t *thread = mem_zalloc((size_t)wanted * sizeof(*thread));

	readers->progress = progress;
	for (readers->threads = 0; readers->threads < wanted; readers->threads++)
		if (pthread_create(&thread[readers->threads], NULL, work, readers))
			break;
	status = give_all(readers, give, context);
	pthread_mutex_lock(&readers->lock);
	readers->stop = true;
	pthread_cond_broadcast(&readers->emptied);
	pthread_mutex_unlock(&readers->lock);
	for (int i = 0; i < readers->threads; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	progress_end(progress);
	return status;
}

nsec_t readers_begin(const struct readers *readers, uint32_t source)
{
	return readers->reading[source].begin_ns;
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
	readers->behind.count = 0;
	for (size_t i = 0; i < readers->count; i++) {
		struct reading *reading = &readers->reading[i];

		if (reading->group == group) {
			reading->group = from->group;
			reading->to_axis_ns = nsec_add(reading->to_axis_ns, shift);
		}
		reading->is_listed = false;
		if (!reading->busy && !reading->ended)
			note_behind(readers, reading);
	}
	readers->is_retied = true;
	pthread_mutex_unlock(&readers->lock);
}

void readers_free(struct readers *readers)
{
	struct batch *batch;

	if (!readers)
		return;
	give_back_used(readers);
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
	heap_clear(&readers->behind);
	heap_clear(&readers->heads);
	free(readers->reading);
	free(readers);
}
