/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/pair/message.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { BLOCK = 1 << 17 }; /* messages, 3 MiB */

void message_log_init(struct message_log *log)
{
	memset(log, 0, sizeof(*log));
	log->block = mem_alloc(BLOCK * sizeof(*log->block));
	log->spill.what = "of messages";
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
	const size_t bytes = BLOCK * sizeof(struct message);
	struct message *block = mem_alloc(log->spill.size ? bytes : 1);
	int failed = 0, stop = 0;

	for (uint64_t at = 0; at < log->spill.size && !stop && !failed; at += bytes) {
		failed = spill_read(&log->spill, at, block, bytes, error);
		if (failed)
			break;
		stop = walk_block(block, BLOCK, look, context);
		if (changed)
			failed = spill_change(&log->spill, at, block, bytes, error);
	}
	free(block);
	if (!failed && !stop)
		walk_block(log->block, log->used, look, context);
	return failed;
}

void message_log_clear(struct message_log *log)
{
	free(log->block);
	spill_clear(&log->spill);
	memset(log, 0, sizeof(*log));
}
