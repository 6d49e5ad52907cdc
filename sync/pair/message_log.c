/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/pair/message_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

enum {
	BLOCK = 1 << 17,      /* messages that wait for the file, 3 MiB */
	READ = 1 << 13,       /* that are read at once */
	ENDS_BLOCK = 1 << 10, /* ends per block of about 20 KiB */
};

void message_log_init(struct message_log *log)
{
	memset(log, 0, sizeof(*log));
	log->block = mem_alloc(BLOCK * sizeof(*log->block));
	log->spill.what = "of messages";
	log->ends_spill.what = "of messages' events";
}

uint32_t pair_number(struct pair_numbers *numbers, uint32_t a, uint32_t b)
{
	uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
	int64_t number;

	if (intmap_get(&numbers->index, key, &number))
		return (uint32_t)number;
	intmap_put(&numbers->index, key, (int64_t)numbers->count);
	*MEM_NEXT(numbers->pair, numbers->count, numbers->capacity) =
	    (struct pair_ends){(uint32_t)(key >> 32), (uint32_t)key};
	return (uint32_t)numbers->count - 1;
}

void pair_numbers_clear(struct pair_numbers *numbers)
{
	free(numbers->pair);
	intmap_clear(&numbers->index);
	memset(numbers, 0, sizeof(*numbers));
}

int message_log_add(struct message_log *log, uint32_t from_clock, uint32_t to_clock,
		    const struct message *message, struct error *error)
{
	struct message *added;

	if (log->used == BLOCK) {
		if (spill_add(&log->spill, log->block, sizeof(*log->block) * BLOCK,
			      error))
			return -1;
		log->used = 0;
	}
	added = &log->block[log->used++];
	*added = *message;
	added->pair = pair_number(&log->numbers, from_clock, to_clock);
	added->forward = from_clock < to_clock;
	log->count++;
	return 0;
}

/* A walk over the log with one of the two functions. */
struct walk {
	message_fn *look;
	message_change_fn *change;
	void *context;
};

static int walk_block(const struct walk *walk, struct message *block, size_t count)
{
	int stop = 0;

	for (size_t i = 0; !stop && i < count; i++)
		stop = walk->look ? walk->look(walk->context, &block[i])
				  : walk->change(walk->context, &block[i]);
	return stop;
}

static int walk_log(const struct message_log *log, const struct walk *walk,
		    struct error *error)
{
	const size_t bytes = READ * sizeof(struct message);
	AUTOFREE struct message *block = mem_alloc(log->spill.size ? bytes : 1);
	int stop = 0;

	for (uint64_t at = 0; at < log->spill.size && !stop; at += bytes) {
		uint64_t rest = log->spill.size - at;
		size_t size = rest < bytes ? (size_t)rest : bytes;

		if (spill_read(&log->spill, at, block, size, error))
			return -1;
		stop = walk_block(walk, block, size / sizeof(*block));
		if (walk->change && spill_change(&log->spill, at, block, size, error))
			return -1;
	}
	if (!stop)
		walk_block(walk, log->block, log->used);
	return 0;
}

int message_log_each(const struct message_log *log, message_fn *look, void *context,
		     struct error *error)
{
	return walk_log(log, &(struct walk){.look = look, .context = context}, error);
}

int message_log_change(struct message_log *log, message_change_fn *change, void *context,
		       struct error *error)
{
	return walk_log(log, &(struct walk){.change = change, .context = context}, error);
}

static void open_chunk(struct message_log *log)
{
	const struct bytes *rows = &log->rows.bytes;

	if (rows->size)
		bytes_add(&log->ends.open, rows->data, rows->size);
	packet_rows_reset(&log->rows);
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
	struct bytes memory; /* memory of the current block */
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

static int step_ends(void *context, const struct message *message)
{
	struct ends_walk *walk = context;
	struct message_ends ends;

	if (message->claimed)
		return 0;
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
	status = message_log_each(log, step_ends, &walk, error);
	packet_rows_clear(&walk.rows);
	bytes_clear(&walk.memory);
	return status || walk.failed ? -1 : 0;
}

void message_log_clear(struct message_log *log)
{
	free(log->block);
	pair_numbers_clear(&log->numbers);
	spill_clear(&log->spill);
	spill_clear(&log->ends_spill);
	spill_chain_clear(&log->ends);
	packet_rows_clear(&log->rows);
	memset(log, 0, sizeof(*log));
}
