/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/hybrid.h"

#include <stdbool.h>

/* So many groups have a header of one byte, which can be put in later. */
enum { MOST_GROUPS = 63 };

unsigned parquet_bits(uint64_t most)
{
	return most ? 64 - (unsigned)__builtin_clzll(most) : 0;
}

static void end_groups(struct parquet_hybrid *hybrid)
{
	if (!hybrid->header)
		return;
	hybrid->out.data[hybrid->header - 1] = (uint8_t)(hybrid->groups << 1 | 1);
	hybrid->header = 0;
	hybrid->groups = 0;
}

/* Eight numbers of `width` bits are `width` bytes. */
static void add_group(struct parquet_hybrid *hybrid, const uint32_t value[8])
{
	uint64_t bits = 0;
	unsigned filled = 0;

	if (!hybrid->header) {
		bytes_add_byte(&hybrid->out, 0);
		hybrid->header = hybrid->out.size;
	}
	if (hybrid->width <= 8) {
		for (unsigned i = 0; i < 8; i++)
			bits |= (uint64_t)value[i] << i * hybrid->width;
		bytes_add_le(&hybrid->out, bits, 8);
		hybrid->out.size -= 8 - hybrid->width;
	} else {
		for (unsigned i = 0; i < 8; i++) {
			bits |= (uint64_t)value[i] << filled;
			filled += hybrid->width;
			if (filled < 32)
				continue;
			bytes_add_le(&hybrid->out, bits, 4);
			bits >>= 32;
			filled -= 32;
		}
		bytes_add_le(&hybrid->out, bits, filled / 8);
	}
	hybrid->holds = 0;
	if (++hybrid->groups == MOST_GROUPS)
		end_groups(hybrid);
}

static void add_run(struct parquet_hybrid *hybrid)
{
	end_groups(hybrid);
	bytes_add_varint(&hybrid->out, hybrid->repeats << 1);
	bytes_add_le(&hybrid->out, hybrid->value, (hybrid->width + 7) / 8);
	hybrid->holds = 0;
	hybrid->repeats = 0;
}

void parquet_hybrid_add(struct parquet_hybrid *hybrid, uint32_t value)
{
	if (hybrid->repeats && value == hybrid->value) {
		/* From the eighth on a run grows for nothing. */
		if (++hybrid->repeats > 8)
			return;
	} else {
		if (hybrid->repeats >= 8)
			add_run(hybrid);
		hybrid->value = value;
		hybrid->repeats = 1;
	}
	hybrid->held[hybrid->holds++] = value;
	if (hybrid->holds < 8)
		return;
	/* A run begins with a group, or its first numbers are in groups already. */
	if (hybrid->repeats == 8) {
		hybrid->holds = 0;
		return;
	}
	add_group(hybrid, hybrid->held);
	hybrid->repeats = 0;
}

void parquet_hybrid_repeat(struct parquet_hybrid *hybrid, uint32_t value, size_t times)
{
	for (; times && (hybrid->repeats < 8 || hybrid->value != value); times--)
		parquet_hybrid_add(hybrid, value);
	hybrid->repeats += times;
}

static bool is_one(const uint32_t value[8])
{
	uint32_t differ = 0;

	for (unsigned i = 1; i < 8; i++)
		differ |= value[i] ^ value[0];
	return differ == 0;
}

void parquet_hybrid_add_all(struct parquet_hybrid *hybrid, const uint32_t *value,
			    size_t count)
{
	const uint32_t *end = value + count;

	while (value < end) {
		if (hybrid->repeats >= 8 && *value == hybrid->value) {
			hybrid->repeats++;
			value++;
		} else if (hybrid->repeats || end - value < 8 || is_one(value)) {
			parquet_hybrid_add(hybrid, *value++);
		} else { /* between groups, and eight that are no run */
			add_group(hybrid, value);
			value += 8;
		}
	}
}

void parquet_hybrid_finish(struct parquet_hybrid *hybrid)
{
	if (hybrid->repeats >= 8) {
		add_run(hybrid);
	} else if (hybrid->holds && hybrid->repeats == hybrid->holds) {
		add_run(hybrid);
	} else if (hybrid->holds) {
		while (hybrid->holds < 8)
			hybrid->held[hybrid->holds++] = 0;
		add_group(hybrid, hybrid->held);
	}
	end_groups(hybrid);
}

void parquet_hybrid_reset(struct parquet_hybrid *hybrid, unsigned width)
{
	struct bytes out = hybrid->out;

	out.size = 0;
	*hybrid = (struct parquet_hybrid){.out = out, .width = width};
}
