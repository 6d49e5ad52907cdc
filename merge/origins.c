/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/origins.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/spill.h"

enum { BLOCK = 1 << 12, BITS = 64 }; /* origins, half a MiB */

struct origins {
	struct spill_chain chain;
	struct spill spill;
	uint64_t added, dropped;
	uint64_t *drop; /* a bit an origin; NULL: none is dropped */
};

struct origins *origins_new(void)
{
	struct origins *origins = mem_zalloc(sizeof(*origins));

	origins->spill.what = "of messages' events";
	return origins;
}

int origins_add(struct origins *origins, const struct message_origin *origin,
		struct error *error)
{
	if (origins->chain.open.size == BLOCK * sizeof(*origin) &&
	    spill_chain_close(&origins->chain, &origins->spill, error))
		return -1;
	bytes_add(&origins->chain.open, origin, sizeof(*origin));
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

int origins_walk(struct origins *origins,
		 int (*look)(void *context, const struct message_origin *origin),
		 void *context, struct error *error)
{
	const struct spill_chain *chain = &origins->chain;
	struct bytes memory = {0};
	struct bytes_cursor at;
	uint64_t index = 0;
	int stop = 0, failed = 0;

	for (size_t n = 0; n <= chain->chunks && !stop && !failed; n++) {
		failed = spill_chain_read(chain, &origins->spill, n, &memory, &at, error);
		for (; !failed && !stop && at.at < at.end;
		     at.at += sizeof(struct message_origin))
			if (!is_dropped(origins, index++))
				stop = look(context, (const void *)at.at);
	}
	bytes_clear(&memory);
	return failed;
}

void origins_free(struct origins *origins)
{
	if (!origins)
		return;
	spill_clear(&origins->spill);
	spill_chain_clear(&origins->chain);
	free(origins->drop);
	free(origins);
}
