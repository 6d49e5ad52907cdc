/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parquet/parquet_private.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/version.h"

#if CT_HAVE_SNAPPY
#include <snappy-c.h>
#endif

/* Pages are already encoded compactly, so higher levels of zstd are much slower and save
 * little. */
enum { DEFAULT_LEVEL = 1 };

/* Bytes of a buffer kept from page to page; more, for a huge value, are freed. */
enum { KEEP_PAGE = 4 << 20 };

static int zstd_add(struct parquet_press *press, struct error *error)
{
	const struct bytes *raw = &press->content;
	size_t capacity = ZSTD_compressBound(raw->size), size;

	if (!press->zstd)
		press->zstd = ZSTD_createCCtx();
	if (!press->zstd)
		return error_set(error, "zstd: cannot create a context");
	size = ZSTD_compressCCtx(press->zstd, bytes_extend(&press->packed, capacity),
				 capacity, raw->data, raw->size,
				 press->level ? press->level : DEFAULT_LEVEL);
	if (ZSTD_isError(size))
		return error_set(error, "zstd: %s", ZSTD_getErrorName(size));
	press->packed.size = size;
	return 0;
}

#if CT_HAVE_SNAPPY
static int snappy_add(struct parquet_press *press, struct error *error)
{
	const struct bytes *raw = &press->content;
	size_t size = snappy_max_compressed_length(raw->size);

	bytes_reserve(&press->packed, size);
	if (snappy_compress((const char *)raw->data, raw->size,
			    (char *)press->packed.data, &size) != SNAPPY_OK)
		return error_set(error, "snappy: cannot compress %zu bytes", raw->size);
	press->packed.size = size;
	return 0;
}

#else
static int snappy_add(struct parquet_press *press, struct error *error)
{
	(void)press;
	return error_set(error, "--codec snappy: %s",
			 CT_WITHOUT("snappy", "libsnappy-dev"));
}
#endif

/* Compress `content` into `packed`, which is empty. Return 0, or -1 with error. */
static int compress_page(struct parquet_press *press, struct error *error)
{
	if (press->codec == PARQUET_ZSTD)
		return zstd_add(press, error);
	return snappy_add(press, error);
}

int32_t parquet_codec_number(enum parquet_codec codec)
{
	return codec == PARQUET_ZSTD ? 6 : codec == PARQUET_SNAPPY;
}

struct page_head {
	int32_t type; /* FORMAT_..._PAGE */
	int32_t values;
	int32_t encoding;
};

/* Write the struct PageHeader (parquet.thrift). */
static void add_header(struct bytes *out, const struct page_head *head, size_t raw_size,
		       size_t size)
{
	struct thrift thrift;

	thrift_begin(&thrift, out);
	thrift_i32(&thrift, 1, head->type);
	thrift_i32(&thrift, 2, (int32_t)raw_size);
	thrift_i32(&thrift, 3, (int32_t)size);
	if (head->type == FORMAT_DICTIONARY_PAGE) {
		thrift_struct(&thrift, 7);
		thrift_i32(&thrift, 1, head->values);
		thrift_i32(&thrift, 2, head->encoding);
	} else {
		thrift_struct(&thrift, 5);
		thrift_i32(&thrift, 1, head->values);
		thrift_i32(&thrift, 2, head->encoding);
		thrift_i32(&thrift, 3, FORMAT_RLE); /* definition levels */
		thrift_i32(&thrift, 4, FORMAT_RLE); /* repetition levels */
	}
	thrift_end(&thrift);
	thrift_end(&thrift);
}

/*
 * Compress the content and append it to `out` as a page with its header. Add its
 * uncompressed size to `raw_size`, and empty the content. Return 0, or -1 with error.
 */
static int press_page(struct parquet_press *press, const struct page_head *head,
		      struct bytes *out, uint64_t *raw_size, struct error *error)
{
	const struct bytes *page = &press->content;
	size_t begin = out->size;

	if (press->codec != PARQUET_UNCOMPRESSED) {
		if (compress_page(press, error))
			return -1;
		page = &press->packed;
	}
	add_header(out, head, press->content.size, page->size);
	*raw_size += out->size - begin + press->content.size;
	bytes_add(out, page->data, page->size);
	bytes_empty(&press->content, KEEP_PAGE);
	bytes_empty(&press->delta, KEEP_PAGE);
	bytes_empty(&press->packed, KEEP_PAGE);
	return 0;
}

void parquet_press_clear(struct parquet_press *press)
{
	ZSTD_freeCCtx(press->zstd);
	press->zstd = NULL;
	bytes_clear(&press->content);
	bytes_clear(&press->delta);
	bytes_clear(&press->packed);
}

/* Bytes of a buffer kept for the next page or row group. */
enum { KEEP = 1 << 20 };

/* A dictionary whose values occur this often on average in the first page is expected to
 * serve further pages. */
enum { REPEATED = 8 };

/* Append encoded levels, preceded by their size. */
static void add_levels(struct bytes *content, const struct bytes *levels, unsigned most)
{
	AUTOFREE uint32_t *level = mem_alloc(levels->size * sizeof(*level));
	size_t begin = content->size;
	uint32_t size;

	for (size_t i = 0; i < levels->size; i++)
		level[i] = levels->data[i];
	bytes_add_le(content, 0, sizeof(size));
	parquet_hybrid_add(content, parquet_bits(most), level, levels->size);
	size = htole32((uint32_t)(content->size - begin - sizeof(size)));
	memcpy(content->data + begin, &size, sizeof(size));
}

/* Return the number of the page's values without nulls. */
static size_t value_count(const struct parquet_chunk *chunk)
{
	return chunk->page_values - chunk->page_nulls;
}

/* Append the values as codes of the dictionary. */
static void add_codes(struct bytes *content, const struct parquet_chunk *chunk,
		      const uint32_t *code)
{
	uint32_t count = chunk->dictionary.count;
	/* At least one bit, as not every reader supports a width of 0. */
	unsigned width = count > 2 ? parquet_bits(count - 1) : 1;

	bytes_add_byte(content, (uint8_t)width);
	parquet_hybrid_add(content, width, code, value_count(chunk));
}

/* Return true if the dictionary and `codes` bytes of codes are smaller than the values
 * without it. */
static bool dictionary_pays(const struct parquet_chunk *chunk, size_t codes)
{
	size_t count = value_count(chunk);
	size_t plain = chunk->page_bytes - chunk->page_nulls, delta;
	struct bytes *scratch = &chunk->press->delta;

	/* A small dictionary will hardly grow, and its size is shared by many pages. */
	codes += (size_t)chunk->dictionary.count * REPEATED <= count
		     ? chunk->dictionary.plain.size / REPEATED
		     : chunk->dictionary.plain.size;
	if (codes >= plain || chunk->column->type != PARQUET_INT64)
		return codes < plain;
	scratch->size = 0;
	parquet_delta_add(scratch, chunk->values.data, count);
	delta = scratch->size;
	return codes < delta;
}

/* Append the values without a dictionary. Return their encoding. */
static int32_t add_values(struct bytes *content, const struct parquet_chunk *chunk)
{
	struct bytes *delta = &chunk->press->delta;

	delta->size = 0;
	if (chunk->column->type == PARQUET_INT64 && !chunk->settings->plain)
		parquet_delta_add(delta, chunk->values.data, chunk->values.size / 8);
	if (delta->size > 0 && delta->size < chunk->values.size) {
		bytes_add(content, delta->data, delta->size);
		return FORMAT_DELTA_BINARY_PACKED;
	}
	bytes_add(content, chunk->values.data, chunk->values.size);
	return FORMAT_PLAIN;
}

static void begin_page(struct parquet_chunk *chunk)
{
	chunk->page_rows = chunk->page_values = chunk->page_nulls = 0;
	chunk->page_bytes = 0;
	bytes_empty(&chunk->values, KEEP);
	chunk->repetition.size = chunk->definition.size = 0;
}

void parquet_chunk_init(struct parquet_chunk *chunk, const struct parquet_column *column,
			const struct parquet_settings *settings,
			struct parquet_press *press)
{
	*chunk = (struct parquet_chunk){
	    .column = column, .settings = settings, .press = press};
	chunk->most_definition = column->list ? 3 : column->optional;
	chunk->dictionary.width = parquet_width(column);
	chunk->dictionary.most = settings->dictionary_bytes;
	chunk->by_dictionary = column->type != PARQUET_BOOLEAN && !settings->plain;
	begin_page(chunk);
}

void parquet_chunk_add_levels(struct parquet_chunk *chunk, enum parquet_place place,
			      unsigned definition, size_t count)
{
	if (!count)
		return;
	chunk->page_values += (uint32_t)count;
	if (chunk->column->list)
		memset(bytes_extend(&chunk->repetition, count), (int)place, count);
	if (chunk->most_definition)
		memset(bytes_extend(&chunk->definition, count), (int)definition, count);
	if (definition == chunk->most_definition)
		return;
	chunk->page_nulls += (uint32_t)count;
	chunk->page_bytes += count; /* an estimate, to limit the nulls of a page too */
}

/* Encode the values of this page and of later ones without a dictionary. */
static void leave_dictionary(struct parquet_chunk *chunk)
{
	chunk->by_dictionary = false;
	if (chunk->pages_of[FORMAT_RLE_DICTIONARY] == 0)
		parquet_dictionary_clear(&chunk->dictionary);
}

void parquet_chunk_add(struct parquet_chunk *chunk, enum parquet_place place,
		       const struct parquet_value *value)
{
	size_t before = chunk->values.size;

	parquet_chunk_add_levels(chunk, place, chunk->most_definition - value->null, 1);
	if (value->null)
		return;
	if (value->bytes) {
		bytes_add_le(&chunk->values, value->size, 4);
		bytes_add(&chunk->values, value->bytes, value->size);
	} else {
		bytes_add_le(&chunk->values, value->bits, value->size);
	}
	chunk->page_bytes += chunk->values.size - before;
}

/* Read the page's next value and advance `at`. */
static struct parquet_value next_value(const struct parquet_chunk *chunk,
				       const uint8_t **at)
{
	unsigned width = parquet_width(chunk->column);
	struct parquet_value value = {.size = width};

	if (width) {
		value.bits = bytes_le(*at, width);
	} else {
		value.size = (uint32_t)bytes_le(*at, 4);
		value.bytes = *at += 4;
	}
	*at += value.size;
	return value;
}

/* Set the codes of the values of a full page, and add them to the chunk's bounds. Values
 * that are in the dictionary already are skipped there: they cannot change the bounds. */
static void code_values(struct parquet_chunk *chunk, uint32_t *code)
{
	const uint8_t *at = chunk->values.data, *end = at + chunk->values.size;

	while (at < end) {
		struct parquet_value value = next_value(chunk, &at);

		if (chunk->by_dictionary) {
			uint32_t before = chunk->dictionary.count;
			int64_t number =
			    parquet_dictionary_code(&chunk->dictionary, &value);

			if (number == PARQUET_FULL)
				leave_dictionary(chunk);
			else
				*code++ = (uint32_t)number;
			if (number != PARQUET_FULL && number != before)
				continue;
		}
		parquet_range_add(&chunk->range, chunk->column, &value);
	}
}

/* Write the page's content. Return the encoding of its values. */
static int32_t add_content(struct parquet_chunk *chunk)
{
	struct bytes *content = &chunk->press->content;
	AUTOFREE uint32_t *code = mem_alloc((value_count(chunk) + 1) * sizeof(*code));

	if (!chunk->settings->plain)
		code_values(chunk, code);
	if (chunk->column->list)
		add_levels(content, &chunk->repetition, 1);
	if (chunk->most_definition)
		add_levels(content, &chunk->definition, chunk->most_definition);
	if (chunk->by_dictionary) {
		size_t begin = content->size, codes;

		add_codes(content, chunk, code);
		codes = content->size - begin;
		if (chunk->pages > 0 || dictionary_pays(chunk, codes))
			return FORMAT_RLE_DICTIONARY;
		content->size = begin;
		leave_dictionary(chunk);
	}
	return add_values(content, chunk);
}

static int end_page(struct parquet_chunk *chunk, struct error *error)
{
	struct page_head head = {.type = FORMAT_DATA_PAGE,
				 .values = (int32_t)chunk->page_values};

	if (chunk->page_values == 0)
		return 0;
	head.encoding = add_content(chunk);
	if (press_page(chunk->press, &head, &chunk->body, &chunk->raw_size, error))
		return -1;
	chunk->pages_of[head.encoding]++;
	chunk->value_count += chunk->page_values;
	chunk->nulls += chunk->page_nulls;
	chunk->pages++;
	begin_page(chunk);
	return 0;
}

int parquet_chunk_end_rows(struct parquet_chunk *chunk, size_t rows, struct error *error)
{
	chunk->page_rows += (uint32_t)rows;
	if (chunk->page_rows < chunk->settings->page_rows &&
	    chunk->page_bytes < chunk->settings->page_bytes)
		return 0;
	return end_page(chunk, error);
}

int parquet_chunk_finish(struct parquet_chunk *chunk, struct error *error)
{
	struct page_head head = {.type = FORMAT_DICTIONARY_PAGE,
				 .encoding = FORMAT_PLAIN};

	if (end_page(chunk, error))
		return -1;
	if (chunk->pages_of[FORMAT_RLE_DICTIONARY] == 0)
		return 0;
	head.values = (int32_t)chunk->dictionary.count;
	bytes_add(&chunk->press->content, chunk->dictionary.plain.data,
		  chunk->dictionary.plain.size);
	return press_page(chunk->press, &head, &chunk->head, &chunk->raw_size, error);
}

void parquet_chunk_reset(struct parquet_chunk *chunk)
{
	const struct parquet_chunk old = *chunk;

	parquet_chunk_clear(chunk);
	parquet_chunk_init(chunk, old.column, old.settings, old.press);
}

size_t parquet_chunk_held(const struct parquet_chunk *chunk)
{
	/* Count the page's buffers by size, since their capacity depends on how the rows
	 * arrived. */
	return chunk->body.capacity + chunk->head.capacity + chunk->values.size +
	       chunk->repetition.size + chunk->definition.size +
	       parquet_dictionary_held(&chunk->dictionary);
}

void parquet_chunk_clear(struct parquet_chunk *chunk)
{
	bytes_clear(&chunk->repetition);
	bytes_clear(&chunk->definition);
	bytes_clear(&chunk->values);
	bytes_clear(&chunk->head);
	bytes_clear(&chunk->body);
	parquet_dictionary_clear(&chunk->dictionary);
}
