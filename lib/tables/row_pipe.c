/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/row_pipe.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/process.h"

enum { BATCHES = 4, BATCH_CELLS = 8192, BATCH_BYTES = 256 << 10 };

/* Bytes of texts follow each other; until the batch is taken cells have none. */
struct batch {
	struct cell *cell;
	size_t rows;
	bool has_bytes; /* texts or blobs, if only empty ones */
	struct bytes bytes;
};

struct row_pipe {
	row_taker *take;
	void *context;
	size_t columns, batch_rows;
	bool direct; /* no thread: a batch is taken when it is full */
	struct batch batch[BATCHES];
	size_t put_at; /* the batch that is being filled */
	pthread_t thread;

	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t changed;
	size_t full; /* batches that wait for the taker, or are with it */
	bool ended, failed;
	struct error error; /* the taker's, read after its thread has ended */
};

/* Let the cells have their bytes. */
static void place_bytes(struct row_pipe *pipe, struct batch *batch)
{
	const char *at = (const char *)batch->bytes.data;
	size_t cells = batch->has_bytes ? batch->rows * pipe->columns : 0;

	for (size_t i = 0; i < cells; i++) {
		struct cell *cell = &batch->cell[i];

		if (cell->type != CELL_TEXT && cell->type != CELL_BLOB)
			continue;
		cell->bytes = cell->size ? at : "";
		at += cell->size;
	}
}

static int take_batch(struct row_pipe *pipe, struct batch *batch)
{
	place_bytes(pipe, batch);
	return pipe->take(pipe->context, batch->cell, batch->rows, &pipe->error);
}

static void *take_rows(void *argument)
{
	struct row_pipe *pipe = argument;
	size_t at = 0;

	pthread_mutex_lock(&pipe->lock);
	for (;;) {
		int status;

		while (!pipe->full && !pipe->ended)
			pthread_cond_wait(&pipe->changed, &pipe->lock);
		if (!pipe->full)
			break;
		pthread_mutex_unlock(&pipe->lock);
		status = take_batch(pipe, &pipe->batch[at]);
		at = (at + 1) % BATCHES;
		pthread_mutex_lock(&pipe->lock);
		pipe->full--;
		pipe->failed |= status != 0;
		pthread_cond_signal(&pipe->changed);
		if (status)
			break;
	}
	pthread_mutex_unlock(&pipe->lock);
	return NULL;
}

/* Without a signal, which are the main thread's. */
static void begin_thread(struct row_pipe *pipe)
{
	sigset_t before;

	signals_hold(&before);
	/* Where the system has none left it goes on without. */
	pipe->direct = pthread_create(&pipe->thread, NULL, take_rows, pipe) != 0;
	signals_release(&before);
}

struct row_pipe *row_pipe_new(size_t columns, bool thread, row_taker *take, void *context)
{
	struct row_pipe *pipe = mem_zalloc(sizeof(*pipe));

	pipe->take = take;
	pipe->context = context;
	pipe->columns = columns;
	pipe->batch_rows = columns < BATCH_CELLS ? BATCH_CELLS / columns : 1;
	pthread_mutex_init(&pipe->lock, NULL);
	pthread_cond_init(&pipe->changed, NULL);
	pipe->direct = true;
	if (thread)
		begin_thread(pipe);
	for (size_t i = 0; i < (pipe->direct ? 1 : BATCHES); i++)
		pipe->batch[i].cell =
		    mem_alloc(pipe->batch_rows * columns * sizeof(struct cell));
	return pipe;
}

static int empty_batch(struct row_pipe *pipe)
{
	struct batch *batch = &pipe->batch[pipe->put_at];

	batch->rows = 0;
	batch->has_bytes = false;
	bytes_empty(&batch->bytes, BATCH_BYTES * 2);
	return 0;
}

/* Hand over the batch at hand, and wait until another one is free. */
static int pass_batch(struct row_pipe *pipe)
{
	bool failed;

	if (pipe->direct) {
		pipe->failed =
		    pipe->failed || take_batch(pipe, &pipe->batch[pipe->put_at]);
		return pipe->failed ? -1 : empty_batch(pipe);
	}
	pthread_mutex_lock(&pipe->lock);
	pipe->full++;
	pthread_cond_signal(&pipe->changed);
	while (pipe->full == BATCHES && !pipe->failed)
		pthread_cond_wait(&pipe->changed, &pipe->lock);
	failed = pipe->failed;
	pthread_mutex_unlock(&pipe->lock);
	pipe->put_at = (pipe->put_at + 1) % BATCHES;
	return failed ? -1 : empty_batch(pipe);
}

int row_pipe_put(struct row_pipe *pipe, const struct cell *row)
{
	struct batch *batch = &pipe->batch[pipe->put_at];
	struct cell *at = &batch->cell[batch->rows * pipe->columns];

	for (size_t i = 0; i < pipe->columns; i++) {
		at[i] = row[i];
		if (row[i].type != CELL_TEXT && row[i].type != CELL_BLOB)
			continue;
		batch->has_bytes = true;
		bytes_add(&batch->bytes, row[i].bytes, row[i].size);
	}
	if (++batch->rows < pipe->batch_rows && batch->bytes.size < BATCH_BYTES)
		return 0;
	return pass_batch(pipe);
}

static void end_thread(struct row_pipe *pipe)
{
	pthread_mutex_lock(&pipe->lock);
	pipe->ended = true;
	pthread_cond_signal(&pipe->changed);
	pthread_mutex_unlock(&pipe->lock);
	pthread_join(pipe->thread, NULL);
}

int row_pipe_end(struct row_pipe *pipe, struct error *error)
{
	int status = pipe->batch[pipe->put_at].rows ? pass_batch(pipe) : 0;

	if (!pipe->direct)
		end_thread(pipe);
	if (pipe->failed) {
		error_clear(error);
		*error = pipe->error;
		status = -1;
	}
	for (size_t i = 0; i < BATCHES; i++) {
		free(pipe->batch[i].cell);
		bytes_clear(&pipe->batch[i].bytes);
	}
	pthread_cond_destroy(&pipe->changed);
	pthread_mutex_destroy(&pipe->lock);
	free(pipe);
	return status;
}
