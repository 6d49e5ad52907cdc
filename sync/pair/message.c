/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/pair/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/spill.h"

enum { BLOCK = 1 << 17 }; /* messages, 3 MiB */

void message_log_init(struct message_log *log)
{
	memset(log, 0, sizeof(*log));
	log->block = mem_alloc(BLOCK * sizeof(*log->block));
}

static int fail(struct error *error, const char *what)
{
	return error_set(error, "%s of messages: %s", what, strerror(errno));
}

static int spill(struct message_log *log, struct error *error)
{
	if (!log->spill && !(log->spill = spill_open()))
		return fail(error, "cannot make a temporary file");
	if (fwrite(log->block, sizeof(*log->block), log->used, log->spill) != log->used)
		return fail(error, "cannot write the temporary file");
	log->spilled += log->used;
	log->used = 0;
	return 0;
}

int message_log_add(struct message_log *log, const struct message *message,
		    struct error *error)
{
	if (log->used == BLOCK && spill(log, error))
		return -1;
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

static int rewrite(FILE *file, const struct message *block, size_t count)
{
	return fseeko(file, -(off_t)(count * sizeof(*block)), SEEK_CUR) ||
	       fwrite(block, sizeof(*block), count, file) != count ||
	       fseeko(file, 0, SEEK_CUR);
}

int message_log_walk(struct message_log *log, bool changed,
		     int (*look)(void *context, struct message *message), void *context,
		     struct error *error)
{
	struct message *block;
	uint64_t left = log->spilled;
	int failed = 0, stop = 0;

	if (log->spill && fseeko(log->spill, 0, SEEK_SET))
		return fail(error, "cannot read the temporary file");
	block = mem_alloc((left ? BLOCK : 1) * sizeof(*block));
	while (left && !stop && !failed) {
		size_t count = left < BLOCK ? (size_t)left : BLOCK;

		if (fread(block, sizeof(*block), count, log->spill) != count) {
			failed = 1;
			break;
		}
		stop = walk_block(block, count, look, context);
		if (changed && rewrite(log->spill, block, count))
			failed = 1;
		left -= count;
	}
	free(block);
	if (log->spill && fseeko(log->spill, 0, SEEK_END))
		failed = 1;
	if (failed)
		return fail(error, "cannot read the temporary file");
	if (!stop)
		walk_block(log->block, log->used, look, context);
	return 0;
}

void message_log_clear(struct message_log *log)
{
	free(log->block);
	if (log->spill)
		fclose(log->spill);
	memset(log, 0, sizeof(*log));
}
