/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/origins.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/spill.h"

enum { BLOCK = 1 << 12, BITS = 64 }; /* origins, half a MiB */

struct origins {
	struct message_origin *block; /* what is not in the file yet */
	size_t used;
	struct spill spill;
	uint64_t added, dropped;
	uint64_t *drop; /* a bit an origin; NULL: none is dropped */
};

struct origins *origins_new(void)
{
	struct origins *origins = mem_zalloc(sizeof(*origins));

	origins->block = mem_alloc(BLOCK * sizeof(*origins->block));
	origins->spill.what = "of messages' events";
	return origins;
}

int origins_add(struct origins *origins, const struct message_origin *origin,
		struct error *error)
{
	if (origins->used == BLOCK) {
		if (spill_add(&origins->spill, origins->block,
			      BLOCK * sizeof(*origins->block), error))
			return -1;
		origins->used = 0;
	}
	origins->block[origins->used++] = *origin;
	origins->added++;
	return 0;
}

static bool is_dropped(const struct origins *origins, uint64_t index)
{
	return origins->drop && origins->drop[index / BITS] >> index % BITS & 1;
}

void origins_drop(struct origins *origins, uint64_t index)
{
	if (!origins->drop)
		origins->drop =
		    mem_zalloc((origins->added / BITS + 1) * sizeof(*origins->drop));
	if (is_dropped(origins, index))
		return;
	origins->drop[index / BITS] |= UINT64_C(1) << index % BITS;
	origins->dropped++;
}

uint64_t origins_count(const struct origins *origins)
{
	return origins->added - origins->dropped;
}

/* A block that begins with that index. Whether to go on. */
static int walk_block(const struct origins *origins, const struct message_origin *block,
		      uint64_t first, size_t count,
		      int (*look)(void *, const struct message_origin *), void *context)
{
	int stop = 0;

	for (size_t i = 0; !stop && i < count; i++)
		if (!is_dropped(origins, first + i))
			stop = look(context, &block[i]);
	return stop;
}

int origins_walk(struct origins *origins,
		 int (*look)(void *context, const struct message_origin *origin),
		 void *context, struct error *error)
{
	const size_t bytes = BLOCK * sizeof(struct message_origin);
	struct message_origin *block = mem_alloc(origins->spill.size ? bytes : 1);
	uint64_t first = 0;
	int stop = 0, failed = 0;

	for (uint64_t at = 0; at < origins->spill.size && !stop && !failed; at += bytes) {
		failed = spill_read(&origins->spill, at, block, bytes, error);
		if (!failed)
			stop = walk_block(origins, block, first, BLOCK, look, context);
		first += BLOCK;
	}
	free(block);
	if (!failed && !stop)
		walk_block(origins, origins->block, first, origins->used, look, context);
	return failed;
}

void origins_free(struct origins *origins)
{
	if (!origins)
		return;
	spill_clear(&origins->spill);
	free(origins->block);
	free(origins->drop);
	free(origins);
}
