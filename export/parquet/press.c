/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/press.h"

#include "export/parquet/format.h"
#include "export/parquet/thrift.h"

/* Memory to keep from page to page; a page with a huge value has its own. */
enum { KEEP = 4 << 20 };

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

	if (parquet_compress(press->compressor, &press->content, &press->packed, error))
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
	parquet_compressor_free(press->compressor);
	press->compressor = NULL;
	bytes_clear(&press->content);
	bytes_clear(&press->delta);
	bytes_clear(&press->direct);
	bytes_clear(&press->packed);
}
