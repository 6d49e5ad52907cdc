/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/origins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/spill.h"

enum { BLOCK = 1 << 12, BITS = 64 }; /* origins, half a MiB */

struct origins {
	struct message_origin *block; /* what is not in the file yet */
	size_t used;
	FILE *spill;
	uint64_t added, spilled, dropped;
	uint64_t *drop; /* a bit an origin; NULL: none is dropped */
};

struct origins *origins_new(void)
{
	struct origins *origins = mem_zalloc(sizeof(*origins));

	origins->block = mem_alloc(BLOCK * sizeof(*origins->block));
	return origins;
}

static int fail(struct error *error, const char *what)
{
	return error_set(error, "%s of messages' events: %s", what, strerror(errno));
}

static int spill(struct origins *origins, struct error *error)
{
	if (!origins->spill && !(origins->spill = spill_open()))
		return fail(error, "cannot make a temporary file");
	if (fwrite(origins->block, sizeof(*origins->block), origins->used,
		   origins->spill) != origins->used)
		return fail(error, "cannot write the temporary file");
	origins->spilled += origins->used;
	origins->used = 0;
	return 0;
}

int origins_add(struct origins *origins, const struct message_origin *origin,
		struct error *error)
{
	if (origins->used == BLOCK && spill(origins, error))
		return -1;
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
	struct message_origin *block;
	uint64_t first = 0;
	int stop = 0, failed = 0;

	if (origins->spill && fseeko(origins->spill, 0, SEEK_SET))
		return fail(error, "cannot read the temporary file");
	block = mem_alloc((origins->spilled ? BLOCK : 1) * sizeof(*block));
	for (; first < origins->spilled && !stop && !failed; first += BLOCK)
		if (fread(block, sizeof(*block), BLOCK, origins->spill) != BLOCK)
			failed = fail(error, "cannot read the temporary file");
		else
			stop = walk_block(origins, block, first, BLOCK, look, context);
	free(block);
	if (!failed && origins->spill && fseeko(origins->spill, 0, SEEK_END))
		failed = fail(error, "cannot read the temporary file");
	if (!failed && !stop)
		walk_block(origins, origins->block, first, origins->used, look, context);
	return failed;
}

void origins_free(struct origins *origins)
{
	if (!origins)
		return;
	if (origins->spill)
		fclose(origins->spill);
	free(origins->block);
	free(origins->drop);
	free(origins);
}
