/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/read_hybrid.h"

#include "export/parquet/varint.h"

void parquet_hybrid_read(struct parquet_hybrid_reader *hybrid, const uint8_t *data,
			 const uint8_t *end, unsigned width)
{
	*hybrid = (struct parquet_hybrid_reader){.at = data, .end = end, .width = width};
}

static int read_run(struct parquet_hybrid_reader *hybrid, uint64_t count)
{
	unsigned bytes = (hybrid->width + 7) / 8;

	if ((uint64_t)(hybrid->end - hybrid->at) < bytes)
		return -1;
	hybrid->value = 0;
	for (unsigned i = 0; i < bytes; i++)
		hybrid->value |= (uint32_t)*hybrid->at++ << 8 * i;
	hybrid->repeats = count;
	/* Bits past the width are nobody's. */
	if (hybrid->width < 32)
		hybrid->value &= (UINT32_C(1) << hybrid->width) - 1;
	return 0;
}

/* The next run or groups that have a number. */
static int read_head(struct parquet_hybrid_reader *hybrid)
{
	while (!hybrid->repeats && !hybrid->packed) {
		uint64_t head;

		if (varint_read(&hybrid->at, hybrid->end, &head))
			return -1;
		if (head & 1) {
			if (head >> 1 > UINT64_MAX / 8)
				return -1;
			hybrid->packed = (head >> 1) * 8;
			hybrid->bits = 0;
			hybrid->filled = 0;
		} else if (read_run(hybrid, head >> 1)) {
			return -1;
		}
	}
	return 0;
}

/* The last group may be cut: what is not there are zeros that nobody asks for. */
static int next_packed(struct parquet_hybrid_reader *hybrid, uint32_t *value)
{
	uint64_t mask = (UINT64_C(1) << hybrid->width) - 1;

	while (hybrid->filled < hybrid->width) {
		if (hybrid->at == hybrid->end)
			return -1;
		hybrid->bits |= (uint64_t)*hybrid->at++ << hybrid->filled;
		hybrid->filled += 8;
	}
	*value = (uint32_t)(hybrid->bits & mask);
	hybrid->bits >>= hybrid->width;
	hybrid->filled -= hybrid->width;
	hybrid->packed--;
	return 0;
}

int parquet_hybrid_next(struct parquet_hybrid_reader *hybrid, uint32_t *value)
{
	if (!hybrid->repeats && !hybrid->packed && read_head(hybrid))
		return -1;
	if (!hybrid->repeats)
		return next_packed(hybrid, value);
	hybrid->repeats--;
	*value = hybrid->value;
	return 0;
}
