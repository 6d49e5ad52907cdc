/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parquet/codec.h"

#include <snappy-c.h>
#include <zstd.h>

#include "parquet/format.h"
#include "parquet/thrift.h"

/*
 * Pages were cut and encoded for their content already: higher levels of zstd take much
 * longer and save little.
 */
enum { DEFAULT_LEVEL = 1 };

/* Memory to keep from page to page; a page with a huge value has its own. */
enum { KEEP = 4 << 20 };

static int zstd_add(struct parquet_press *press, struct error *error)
{
	const struct bytes *raw = &press->content;
	size_t room = ZSTD_compressBound(raw->size), size;

	if (!press->zstd)
		press->zstd = ZSTD_createCCtx();
	if (!press->zstd)
		return error_set(error, "zstd: no context");
	size = ZSTD_compressCCtx(press->zstd, bytes_extend(&press->packed, room), room,
				 raw->data, raw->size,
				 press->level ? press->level : DEFAULT_LEVEL);
	if (ZSTD_isError(size))
		return error_set(error, "zstd: %s", ZSTD_getErrorName(size));
	press->packed.size = size;
	return 0;
}

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

/* From the content to what is packed, which is empty before. */
static int compress(struct parquet_press *press, struct error *error)
{
	if (press->codec == PARQUET_ZSTD)
		return zstd_add(press, error);
	if (press->codec == PARQUET_SNAPPY)
		return snappy_add(press, error);
	bytes_add(&press->packed, press->content.data, press->content.size);
	return 0;
}

int32_t parquet_codec_number(enum parquet_codec codec)
{
	return codec == PARQUET_ZSTD ? 6 : codec == PARQUET_SNAPPY;
}

/* PageHeader of the format. */
static void add_header(struct bytes *out, const struct parquet_page_head *head,
		       size_t raw_size, size_t size)
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

int parquet_press_page(struct parquet_press *press, const struct parquet_page_head *head,
		       struct bytes *out, uint64_t *raw_size, struct error *error)
{
	size_t begin = out->size;

	if (compress(press, error))
		return -1;
	add_header(out, head, press->content.size, press->packed.size);
	*raw_size += out->size - begin + press->content.size;
	bytes_add(out, press->packed.data, press->packed.size);
	bytes_empty(&press->content, KEEP);
	bytes_empty(&press->delta, KEEP);
	bytes_empty(&press->packed, KEEP);
	return 0;
}

void parquet_press_clear(struct parquet_press *press)
{
	ZSTD_freeCCtx(press->zstd);
	press->zstd = NULL;
	bytes_clear(&press->content);
	bytes_clear(&press->delta);
	bytes_clear(&press->direct);
	bytes_clear(&press->packed);
}
