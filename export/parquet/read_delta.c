/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/read_delta.h"

#include <stddef.h>

#include "export/parquet/varint.h"

/* A block has at most so many numbers; every writer's has 128 or 256. */
enum { MOST_BLOCK = 1 << 20 };

int parquet_delta_read(struct parquet_delta_reader *delta, const uint8_t *data,
		       const uint8_t *end)
{
	uint64_t block, count, first;

	*delta = (struct parquet_delta_reader){.at = data, .end = end, .first = true};
	if (varint_read(&delta->at, end, &block) ||
	    varint_read(&delta->at, end, &delta->miniblocks) ||
	    varint_read(&delta->at, end, &count) || varint_read(&delta->at, end, &first))
		return -1;
	if (block == 0 || block > MOST_BLOCK || delta->miniblocks == 0 ||
	    delta->miniblocks > block || block % delta->miniblocks)
		return -1;
	delta->miniblock = block / delta->miniblocks;
	delta->left = count;
	delta->read = delta->miniblock;
	delta->begun = delta->miniblocks;
	delta->last = (uint64_t)varint_unzigzag(first);
	return delta->miniblock % 8 ? -1 : 0;
}

static int begin_block(struct parquet_delta_reader *delta)
{
	uint64_t least;

	if (varint_read(&delta->at, delta->end, &least) ||
	    (uint64_t)(delta->end - delta->at) < delta->miniblocks)
		return -1;
	delta->least = (uint64_t)varint_unzigzag(least);
	delta->width = delta->at;
	delta->at += delta->miniblocks;
	delta->begun = 0;
	return 0;
}

/* A writer may leave out those bytes of the very last one that are nobody's. */
static int begin_miniblock(struct parquet_delta_reader *delta)
{
	uint64_t room;

	if (delta->begun == delta->miniblocks && begin_block(delta))
		return -1;
	delta->bits = delta->width[delta->begun++];
	if (delta->bits > 64)
		return -1;
	room = (uint64_t)(delta->end - delta->at);
	delta->packed = delta->at;
	delta->packed_size = delta->miniblock / 8 * delta->bits;
	if (delta->packed_size > room)
		delta->packed_size = room;
	delta->at += delta->packed_size;
	delta->read = 0;
	return 0;
}

/* The n-th number of the miniblock. */
static int unpack(const struct parquet_delta_reader *delta, uint64_t n, uint64_t *number)
{
	uint64_t from = n * delta->bits;

	*number = 0;
	for (unsigned got = 0; got < delta->bits;) {
		uint64_t byte = (from + got) / 8;
		unsigned skip = (unsigned)((from + got) % 8);
		unsigned take =
		    8 - skip < delta->bits - got ? 8 - skip : delta->bits - got;

		if (byte >= delta->packed_size)
			return -1;
		*number |= ((uint64_t)delta->packed[byte] >> skip & ((1u << take) - 1))
			   << got;
		got += take;
	}
	return 0;
}

int parquet_delta_next(struct parquet_delta_reader *delta, int64_t *value)
{
	uint64_t number;

	if (delta->left == 0)
		return -1;
	if (!delta->first) {
		if (delta->read == delta->miniblock && begin_miniblock(delta))
			return -1;
		if (unpack(delta, delta->read++, &number))
			return -1;
		delta->last += delta->least + number;
	}
	delta->first = false;
	delta->left--;
	*value = (int64_t)delta->last;
	return 0;
}

const uint8_t *parquet_delta_end(struct parquet_delta_reader delta)
{
	int64_t value;

	while (delta.left)
		if (parquet_delta_next(&delta, &value))
			return NULL;
	return delta.at;
}
