/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/pair/pair.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

enum {
	BLOCK = 1 << 17,      /* messages that wait for the file, 3 MiB */
	READ = 1 << 13,       /* that are read at once */
	ENDS_BLOCK = 1 << 10, /* of messages' ends, some 20 KiB */
};

void message_log_init(struct message_log *log)
{
	memset(log, 0, sizeof(*log));
	log->block = mem_alloc(BLOCK * sizeof(*log->block));
	log->spill.what = "of messages";
	log->ends_spill.what = "of messages' events";
}

int message_log_add(struct message_log *log, const struct message *message,
		    struct error *error)
{
	if (log->used == BLOCK) {
		if (spill_add(&log->spill, log->block, sizeof(*log->block) * BLOCK,
			      error))
			return -1;
		log->used = 0;
	}
	log->block[log->used++] = *message;
	log->count++;
	return 0;
}

int message_log_put_away(struct message_log *log, struct error *error)
{
	int status =
	    spill_add(&log->spill, log->block, log->used * sizeof(*log->block), error);

	free(log->block);
	log->block = NULL;
	log->used = 0;
	return status;
}

static int walk_block(struct message *block, size_t count,
		      int (*look)(void *, struct message *), void *context)
{
	int stop = 0;

	for (size_t i = 0; !stop && i < count; i++)
		stop = look(context, &block[i]);
	return stop;
}

int message_log_walk(struct message_log *log, bool changed,
		     int (*look)(void *context, struct message *message), void *context,
		     struct error *error)
{
	const size_t bytes = READ * sizeof(struct message);
	struct message *block = mem_alloc(log->spill.size ? bytes : 1);
	int failed = 0, stop = 0;

	for (uint64_t at = 0; at < log->spill.size && !stop && !failed; at += bytes) {
		uint64_t rest = log->spill.size - at;
		size_t size = rest < bytes ? (size_t)rest : bytes;

		failed = spill_read(&log->spill, at, block, size, error);
		if (failed)
			break;
		stop = walk_block(block, size / sizeof(*block), look, context);
		if (changed)
			failed = spill_change(&log->spill, at, block, size, error);
	}
	free(block);
	if (!failed && !stop)
		walk_block(log->block, log->used, look, context);
	return failed;
}

static void open_chunk(struct message_log *log)
{
	const struct bytes *rows = &log->rows.bytes;

	if (rows->size)
		bytes_add(&log->ends.open, rows->data, rows->size);
	packet_rows_reset(&log->rows);
}

struct node_message message_of_receiver(const struct message_ends *ends)
{
	return (struct node_message){.received = true,
				     .own = ends->recv,
				     .other = ends->send,
				     .first = ends->first,
				     .packet = ends->packet,
				     .sent = ends->sent,
				     .number = ends->number,
				     .offset = ends->offset};
}

int message_log_add_ends(struct message_log *log, const struct message_ends *ends,
			 struct error *error)
{
	const struct node_message message = message_of_receiver(ends);

	message_encode(&log->rows, &message);
	if (log->rows.count < ENDS_BLOCK)
		return 0;
	open_chunk(log);
	return spill_chain_close(&log->ends, &log->ends_spill, error);
}

struct ends_walk {
	struct message_log *log;
	int (*look)(void *context, const struct message_ends *ends, struct error *error);
	void *context;
	struct error *error;
	size_t chunk;        /* the next one */
	struct bytes memory; /* of the one at hand */
	struct packet_rows rows;
	bool failed;
};

static int read_ends(struct ends_walk *walk, struct message_ends *ends)
{
	struct message_log *log = walk->log;
	struct bytes_cursor *at = &walk->rows.cursor;
	struct node_message message;

	if (at->at == at->end) {
		struct bytes_cursor chunk;

		if (spill_chain_read(&log->ends, &log->ends_spill, walk->chunk++,
				     &walk->memory, &chunk, walk->error))
			return -1;
		packet_rows_open(&walk->rows, chunk.at, (size_t)(chunk.end - chunk.at));
	}
	if (!message_decode(&walk->rows, &message))
		return error_set(walk->error, "the temporary file %s is damaged",
				 log->ends_spill.what);
	*ends = (struct message_ends){.send = message.other,
				      .recv = message.own,
				      .first = message.first,
				      .packet = message.packet,
				      .sent = message.sent,
				      .number = message.number,
				      .offset = message.offset};
	return 0;
}

static int step_ends(void *context, struct message *message)
{
	struct ends_walk *walk = context;
	struct message_ends ends;

	walk->failed =
	    read_ends(walk, &ends) ||
	    (!message->rejected && walk->look(walk->context, &ends, walk->error));
	return walk->failed;
}

int message_log_walk_ends(struct message_log *log,
			  int (*look)(void *context, const struct message_ends *ends,
				      struct error *error),
			  void *context, struct error *error)
{
	struct ends_walk walk = {
	    .log = log, .look = look, .context = context, .error = error};
	int status;

	open_chunk(log);
	status = message_log_walk(log, false, step_ends, &walk, error);
	packet_rows_clear(&walk.rows);
	bytes_clear(&walk.memory);
	return status || walk.failed ? -1 : 0;
}

void message_log_clear(struct message_log *log)
{
	free(log->block);
	spill_clear(&log->spill);
	spill_clear(&log->ends_spill);
	spill_chain_clear(&log->ends);
	packet_rows_clear(&log->rows);
	memset(log, 0, sizeof(*log));
}

struct choosing {
	struct pair_sample *samples;
	size_t most;
};

static uint64_t hash_point(struct hull_point point)
{
	return hash_mix((uint64_t)point.x * 0x9e3779b97f4a7c15u ^ (uint64_t)point.y);
}

static void halve(struct sample_side *side)
{
	size_t kept = 0;

	side->every *= 2;
	for (size_t i = 0; i < side->count; i++)
		if (hash_point(side->point[i]) % side->every == 0)
			side->point[kept++] = side->point[i];
	side->count = kept;
}

static int choose(void *context, struct message *message)
{
	struct choosing *choosing = context;
	struct pair_sample *sample = &choosing->samples[message->pair];
	struct sample_side *side = message->forward ? &sample->ab : &sample->ba;
	struct hull_point point = pair_point(message);

	if (message->rejected || hash_point(point) % side->every)
		return 0;
	*MEM_NEXT(side->point, side->count, side->capacity) = point;
	if (side->count > choosing->most)
		halve(side);
	return 0;
}

static void sort_side(struct sample_side *side)
{
	if (side->count)
		qsort(side->point, side->count, sizeof(*side->point), hull_point_compare);
}

struct pair_sample *pair_samples_new(struct message_log *log, size_t pairs, size_t most,
				     struct error *error)
{
	struct choosing choosing = {mem_zalloc(pairs * sizeof(struct pair_sample)), most};

	for (size_t i = 0; i < pairs; i++)
		choosing.samples[i].ab.every = choosing.samples[i].ba.every = 1;
	if (message_log_walk(log, false, choose, &choosing, error)) {
		pair_samples_free(choosing.samples, pairs);
		return NULL;
	}
	for (size_t i = 0; i < pairs; i++) {
		sort_side(&choosing.samples[i].ab);
		sort_side(&choosing.samples[i].ba);
	}
	return choosing.samples;
}

void pair_samples_free(struct pair_sample *samples, size_t pairs)
{
	for (size_t i = 0; samples && i < pairs; i++) {
		free(samples[i].ab.point);
		free(samples[i].ba.point);
	}
	free(samples);
}

uint32_t pair_table_find(struct pair_table *table, uint32_t a, uint32_t b)
{
	uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
	struct pair *pair;
	int64_t index;

	if (intmap_get(&table->index, key, &index))
		return (uint32_t)index;
	table->pair =
	    mem_grow(table->pair, table->count, &table->capacity, sizeof(*table->pair));
	pair = &table->pair[table->count];
	memset(pair, 0, sizeof(*pair));
	pair->a = (uint32_t)(key >> 32);
	pair->b = (uint32_t)key;
	pair->upper.upper = true;
	pair->min_latency_ab_ns = pair->min_latency_ba_ns = NSEC_MAX;
	intmap_put(&table->index, key, (int64_t)table->count);
	return (uint32_t)table->count++;
}

static int by_ends(const void *a, const void *b, void *pairs)
{
	const struct pair *p =
	    &((const struct pair_table *)pairs)->pair[*(const uint32_t *)a];
	const struct pair *q =
	    &((const struct pair_table *)pairs)->pair[*(const uint32_t *)b];

	if (p->a != q->a)
		return p->a < q->a ? -1 : 1;
	return (p->b > q->b) - (p->b < q->b);
}

uint32_t *pair_table_order(const struct pair_table *pairs)
{
	uint32_t *order = mem_alloc(pairs->count * sizeof(*order));

	for (uint32_t i = 0; i < pairs->count; i++)
		order[i] = i;
	qsort_r(order, pairs->count, sizeof(*order), by_ends, (void *)pairs);
	return order;
}

void pair_add(struct pair *pair, const struct message *message)
{
	struct hull_point point = pair_point(message);

	if (!pair->messages_ab && !pair->messages_ba)
		pair->origin = point;
	if (message->forward)
		pair->messages_ab++;
	else
		pair->messages_ba++;
	if (message->recv_ns < message->send_ns)
		pair->violations_before++;
	hull_add(message->forward ? &pair->lower : &pair->upper, point.x, point.y);
}

void pair_table_settle(struct pair_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		hull_settle(&table->pair[i].lower);
		hull_settle(&table->pair[i].upper);
	}
}

void pair_table_clear(struct pair_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		hull_clear(&table->pair[i].lower);
		hull_clear(&table->pair[i].upper);
	}
	free(table->pair);
	intmap_clear(&table->index);
	memset(table, 0, sizeof(*table));
}
