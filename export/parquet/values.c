/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/values.h"

#include "export/parquet/delta.h"

/* Values of a dictionary that come so often each are taken to come again. */
enum { REPEATED = 8 };

static bool is_integer(const struct parquet_column *column)
{
	return column->type == PARQUET_INT32 || column->type == PARQUET_INT64;
}

void parquet_values_add_levels(struct bytes *content, struct parquet_hybrid *levels)
{
	parquet_hybrid_finish(levels);
	bytes_add_le(content, levels->out.size, 4);
	bytes_add(content, levels->out.data, levels->out.size);
}

void parquet_values_add_codes(struct bytes *content, const struct parquet_chunk *chunk)
{
	struct parquet_hybrid codes = {.out = *content};
	uint32_t count = chunk->dictionary.count;

	/* One bit at least: not every reader knows numbers of none. */
	codes.width = count > 2 ? parquet_bits(count - 1) : 1;
	bytes_add_byte(&codes.out, (uint8_t)codes.width);
	parquet_hybrid_add_all(&codes, chunk->code, chunk->codes);
	parquet_hybrid_finish(&codes);
	*content = codes.out;
}

bool parquet_values_pays(const struct parquet_chunk *chunk, size_t codes)
{
	size_t plain = chunk->page_bytes - chunk->page.nulls, delta;
	struct bytes *scratch = &chunk->press->delta;

	/* One that is small by now will not grow much, and serves many more pages. */
	codes += (size_t)chunk->dictionary.count * REPEATED <= chunk->codes
		     ? chunk->dictionary.plain.size / REPEATED
		     : chunk->dictionary.plain.size;
	if (codes >= plain || !is_integer(chunk->column))
		return codes < plain;
	scratch->size = 0;
	parquet_delta_add(scratch, chunk->values.data, chunk->codes,
			  chunk->dictionary.width);
	delta = scratch->size;
	return codes < delta;
}

/* Eight to a byte, the first one lowest. */
static void add_bits(struct bytes *content, const struct bytes *values)
{
	for (size_t i = 0; i < values->size; i += 8) {
		unsigned packed = 0;

		for (size_t j = 0; j < 8 && i + j < values->size; j++)
			packed |= (unsigned)values->data[i + j] << j;
		bytes_add_byte(content, (uint8_t)packed);
	}
}

int32_t parquet_values_add(struct bytes *content, const struct parquet_chunk *chunk)
{
	const struct parquet_column *column = chunk->column;
	struct bytes *delta = &chunk->press->delta;
	unsigned width = parquet_width(column);

	if (column->type == PARQUET_BOOLEAN) {
		add_bits(content, &chunk->values);
		return FORMAT_PLAIN;
	}
	delta->size = 0;
	if (is_integer(column) &&
	    (column->encoding == PARQUET_DELTA || column->encoding == PARQUET_AUTO))
		parquet_delta_add(delta, chunk->values.data, chunk->values.size / width,
				  width);
	if (delta->size > 0 &&
	    (column->encoding == PARQUET_DELTA || delta->size < chunk->values.size)) {
		bytes_add(content, delta->data, delta->size);
		return FORMAT_DELTA_BINARY_PACKED;
	}
	bytes_add(content, chunk->values.data, chunk->values.size);
	return FORMAT_PLAIN;
}
