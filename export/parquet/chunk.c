/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/chunk.h"

#include <stdlib.h>

#include "base/mem.h"
#include "export/parquet/numbers.h"
#include "export/parquet/values.h"

/* Memory to keep for the next page or row group. */
enum { KEEP = 1 << 20 };

static bool wants_dictionary(const struct parquet_column *column)
{
	return column->type != PARQUET_BOOLEAN &&
	       (column->encoding == PARQUET_AUTO ||
		column->encoding == PARQUET_DICTIONARY);
}

static void begin_page(struct parquet_chunk *chunk)
{
	chunk->page =
	    (struct parquet_page){.offset = chunk->body.size, .first_row = chunk->rows};
	chunk->page_rows = 0;
	chunk->page_bytes = 0;
	chunk->codes = 0;
	bytes_empty(&chunk->values, KEEP);
	parquet_hybrid_reset(&chunk->repetition, 1);
	parquet_hybrid_reset(&chunk->definition, parquet_bits(chunk->most_definition));
}

void parquet_chunk_init(struct parquet_chunk *chunk, const struct parquet_column *column,
			const struct parquet_settings *settings,
			struct parquet_press *press)
{
	*chunk = (struct parquet_chunk){
	    .column = column, .settings = settings, .press = press};
	chunk->most_definition = (unsigned)column->optional + column->list +
				 (column->list && column->optional_elements);
	chunk->is_array = column->type == PARQUET_BYTE_ARRAY ||
			  column->type == PARQUET_FIXED_LEN_BYTE_ARRAY;
	chunk->dictionary.width = parquet_width(column);
	chunk->dictionary.most = settings->dictionary_bytes;
	chunk->by_dictionary = wants_dictionary(column);
	begin_page(chunk);
}

static void add_levels(struct parquet_chunk *chunk, enum parquet_place place,
		       unsigned definition)
{
	chunk->page.values++;
	if (chunk->column->list)
		parquet_hybrid_add(&chunk->repetition, place == PARQUET_FURTHER);
	if (chunk->most_definition)
		parquet_hybrid_add(&chunk->definition, definition);
	if (definition == chunk->most_definition)
		return;
	chunk->page.nulls++;
	chunk->page_bytes++; /* about that, and no page may have too many */
}

void parquet_chunk_add_levels(struct parquet_chunk *chunk, bool null, size_t count)
{
	chunk->page.values += (uint32_t)count;
	if (chunk->most_definition)
		parquet_hybrid_repeat(&chunk->definition, !null, count);
	if (!null)
		return;
	chunk->page.nulls += (uint32_t)count;
	chunk->page_bytes += count;
}

/* The code of an array has been on this page: it changes no bound. */
static bool is_known(struct parquet_chunk *chunk, uint32_t code)
{
	uint32_t page = (uint32_t)chunk->pages + 1;
	bool known;

	while (chunk->seens <= code) {
		chunk->seen = mem_grow(chunk->seen, chunk->seens, &chunk->seen_room,
				       sizeof(*chunk->seen));
		chunk->seen[chunk->seens++] = 0;
	}
	known = chunk->seen[code] == page;
	chunk->seen[code] = page;
	return known;
}

/* From here on values are PLAIN, those of this page, too. */
static void leave_dictionary(struct parquet_chunk *chunk)
{
	for (size_t i = 0; i < chunk->codes && chunk->is_array; i++)
		parquet_dictionary_copy(&chunk->dictionary, chunk->code[i],
					&chunk->values);
	chunk->codes = 0;
	chunk->by_dictionary = false;
	if (chunk->pages_of[FORMAT_RLE_DICTIONARY] == 0)
		parquet_dictionary_clear(&chunk->dictionary);
}

static void add_plain(struct parquet_chunk *chunk, const struct parquet_value *value)
{
	if (chunk->column->type == PARQUET_BYTE_ARRAY)
		bytes_add_le(&chunk->values, value->size, 4);
	bytes_add(&chunk->values, value->bytes, value->size);
}

/* False: there is no place for it any more. */
static bool add_code(struct parquet_chunk *chunk, const struct parquet_value *value)
{
	int64_t code = parquet_dictionary_code(&chunk->dictionary, value);

	if (code == PARQUET_FULL)
		return false;
	if (chunk->codes == chunk->code_room)
		chunk->code = mem_grow(chunk->code, chunk->codes, &chunk->code_room,
				       sizeof(*chunk->code));
	chunk->code[chunk->codes++] = (uint32_t)code;
	if (!is_known(chunk, (uint32_t)code))
		parquet_range_add(&chunk->page.range, chunk->column, value);
	return true;
}

void parquet_chunk_add(struct parquet_chunk *chunk, enum parquet_place place,
		       const struct parquet_value *value)
{
	add_levels(chunk, place, chunk->most_definition - value->null);
	if (value->null)
		return;
	chunk->page_bytes += value->size;
	if (!chunk->is_array) {
		bytes_add_le(&chunk->values, value->bits, value->size);
		return;
	}
	if (chunk->column->type == PARQUET_BYTE_ARRAY)
		chunk->page_bytes += 4; /* for its size */
	if (chunk->by_dictionary) {
		if (add_code(chunk, value))
			return;
		leave_dictionary(chunk);
	}
	add_plain(chunk, value);
	parquet_range_add(&chunk->page.range, chunk->column, value);
}

void parquet_chunk_add_empty(struct parquet_chunk *chunk, bool null)
{
	add_levels(chunk, PARQUET_FIRST, chunk->column->optional && !null);
}

/* Numbers get their codes, and the page its bounds, when the page is whole. */
static void code_numbers(struct parquet_chunk *chunk)
{
	size_t width = parquet_width(chunk->column);
	const struct parquet_numbers numbers = {chunk->column, chunk->values.data,
						chunk->values.size / width};

	parquet_numbers_range(&numbers, &chunk->page.range);
	if (!chunk->by_dictionary)
		return;
	if (numbers.count > chunk->code_room) {
		free(chunk->code);
		chunk->code = mem_alloc(numbers.count * sizeof(*chunk->code));
		chunk->code_room = numbers.count;
	}
	chunk->codes = numbers.count;
	if (!parquet_numbers_code(&numbers, &chunk->page.range, &chunk->dictionary,
				  &chunk->press->direct, chunk->code))
		leave_dictionary(chunk);
}

/* The page's content, and how its values are encoded. */
static int32_t add_content(struct parquet_chunk *chunk)
{
	struct bytes *content = &chunk->press->content;

	if (chunk->column->list)
		parquet_values_add_levels(content, &chunk->repetition);
	if (chunk->most_definition)
		parquet_values_add_levels(content, &chunk->definition);
	if (chunk->by_dictionary) {
		size_t begin = content->size, codes;

		parquet_values_add_codes(content, chunk);
		codes = content->size - begin;
		if (chunk->pages > 0 || chunk->column->encoding == PARQUET_DICTIONARY ||
		    parquet_values_pays(chunk, codes))
			return FORMAT_RLE_DICTIONARY;
		content->size = begin;
		leave_dictionary(chunk);
	}
	return parquet_values_add(content, chunk);
}

static int end_page(struct parquet_chunk *chunk, struct error *error)
{
	struct parquet_page_head head = {.type = FORMAT_DATA_PAGE,
					 .values = (int32_t)chunk->page.values};

	if (chunk->page.values == 0)
		return 0;
	if (!chunk->is_array)
		code_numbers(chunk);
	head.encoding = add_content(chunk);
	if (parquet_press_page(chunk->press, &head, &chunk->body, &chunk->raw_size,
			       error))
		return -1;
	chunk->pages_of[head.encoding]++;
	chunk->page.size = (uint32_t)(chunk->body.size - chunk->page.offset);
	chunk->value_count += chunk->page.values;
	chunk->nulls += chunk->page.nulls;
	parquet_range_join(&chunk->range, &chunk->page.range);
	chunk->full =
	    mem_grow(chunk->full, chunk->pages, &chunk->page_room, sizeof(*chunk->full));
	chunk->full[chunk->pages++] = chunk->page;
	begin_page(chunk);
	return 0;
}

int parquet_chunk_end_rows(struct parquet_chunk *chunk, size_t rows, struct error *error)
{
	chunk->rows += rows;
	chunk->page_rows += (uint32_t)rows;
	if (chunk->page_rows < chunk->settings->page_rows &&
	    chunk->page_bytes < chunk->settings->page_bytes)
		return 0;
	return end_page(chunk, error);
}

int parquet_chunk_finish(struct parquet_chunk *chunk, struct error *error)
{
	struct parquet_page_head head = {.type = FORMAT_DICTIONARY_PAGE,
					 .encoding = FORMAT_PLAIN};

	if (end_page(chunk, error))
		return -1;
	if (chunk->pages_of[FORMAT_RLE_DICTIONARY] == 0)
		return 0;
	head.values = (int32_t)chunk->dictionary.count;
	bytes_add(&chunk->press->content, chunk->dictionary.plain.data,
		  chunk->dictionary.plain.size);
	if (parquet_press_page(chunk->press, &head, &chunk->head, &chunk->raw_size,
			       error))
		return -1;
	for (size_t i = 0; i < chunk->pages; i++)
		chunk->full[i].offset += chunk->head.size;
	return 0;
}

void parquet_chunk_reset(struct parquet_chunk *chunk)
{
	const struct parquet_chunk old = *chunk;

	parquet_chunk_clear(chunk);
	parquet_chunk_init(chunk, old.column, old.settings, old.press);
}

size_t parquet_chunk_held(const struct parquet_chunk *chunk)
{
	/* The page's values by their size: their room depends on how they came. */
	return chunk->body.room + chunk->head.room + chunk->values.size +
	       chunk->repetition.out.room + chunk->definition.out.room +
	       chunk->code_room * sizeof(*chunk->code) +
	       chunk->seen_room * sizeof(*chunk->seen) +
	       chunk->page_room * sizeof(*chunk->full) +
	       parquet_dictionary_held(&chunk->dictionary);
}

void parquet_chunk_clear(struct parquet_chunk *chunk)
{
	bytes_clear(&chunk->repetition.out);
	bytes_clear(&chunk->definition.out);
	bytes_clear(&chunk->values);
	bytes_clear(&chunk->head);
	bytes_clear(&chunk->body);
	parquet_dictionary_clear(&chunk->dictionary);
	free(chunk->code);
	free(chunk->seen);
	free(chunk->full);
	chunk->code = chunk->seen = NULL;
	chunk->full = NULL;
}
