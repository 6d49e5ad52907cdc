/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/read_page.h"

#include "export/parquet/codec_read.h"
#include "export/parquet/thrift_read.h"

/* Headers are short, unless there are long statistics in them. */
enum { HEAD_USUAL = 512, HEAD_MOST = 16 << 20, KEEP = 4 << 20 };

/* PageHeader of the format, before it is checked. */
struct header {
	int32_t kind, raw_size, size;
	int32_t values, encoding, definition_encoding, repetition_encoding;
	int32_t nulls, definition_size, repetition_size;
	bool plain; /* version 2: is_compressed is there and false */
	bool parts; /* the struct of its kind is there */
};

static void read_data(struct thrift_reader *in, struct header *header)
{
	struct thrift_field field;
	int32_t *const place[] = {NULL, &header->values, &header->encoding,
				  &header->definition_encoding,
				  &header->repetition_encoding};

	while (thrift_next(in, &field))
		if (field.id >= 1 && field.id <= 4)
			*place[field.id] = thrift_read_i32(in, &field);
		else
			thrift_skip(in, &field);
}

static void read_dictionary(struct thrift_reader *in, struct header *header)
{
	struct thrift_field field;

	while (thrift_next(in, &field))
		if (field.id == 1)
			header->values = thrift_read_i32(in, &field);
		else if (field.id == 2)
			header->encoding = thrift_read_i32(in, &field);
		else
			thrift_skip(in, &field);
}

static void read_data_v2(struct thrift_reader *in, struct header *header)
{
	struct thrift_field field;
	int32_t rows;
	int32_t *const place[] = {NULL,
				  &header->values,
				  &header->nulls,
				  &rows,
				  &header->encoding,
				  &header->definition_size,
				  &header->repetition_size};

	while (thrift_next(in, &field))
		if (field.id >= 1 && field.id <= 6)
			*place[field.id] = thrift_read_i32(in, &field);
		else if (field.id == 7)
			header->plain = !thrift_read_bool(in, &field);
		else
			thrift_skip(in, &field);
}

static void read_header(struct thrift_reader *in, struct header *header)
{
	struct thrift_field field;

	*header = (struct header){.kind = -1, .values = -1, .encoding = -1};
	while (thrift_next(in, &field)) {
		switch (field.id) {
		case 1:
			header->kind = thrift_read_i32(in, &field);
			break;
		case 2:
			header->raw_size = thrift_read_i32(in, &field);
			break;
		case 3:
			header->size = thrift_read_i32(in, &field);
			break;
		case 5:
			thrift_read_struct(in, &field);
			read_data(in, header);
			header->parts |= header->kind == PAGE_DATA;
			break;
		case 7:
			thrift_read_struct(in, &field);
			read_dictionary(in, header);
			header->parts |= header->kind == PAGE_DICTIONARY;
			break;
		case 8:
			thrift_read_struct(in, &field);
			read_data_v2(in, header);
			header->parts |= header->kind == PAGE_DATA_V2;
			break;
		default:
			thrift_skip(in, &field);
		}
	}
}

/* Its length is known when it is read: begin with a little, and take more. */
static int find_header(const struct parquet_reader *reader, uint64_t end,
		       uint64_t *offset, struct header *header, struct bytes *buffer,
		       struct error *error)
{
	for (size_t size = HEAD_USUAL;; size *= 8) {
		struct thrift_reader in;
		bool is_all = size >= end - *offset;

		size = is_all ? (size_t)(end - *offset) : size;
		buffer->size = 0;
		bytes_extend(buffer, size);
		if (parquet_read_at(reader, *offset, buffer->data, size, error))
			return -1;
		thrift_read_begin(&in, buffer->data, size);
		read_header(&in, header);
		if (!in.failed) {
			*offset += (uint64_t)(in.at - buffer->data);
			return 0;
		}
		if (!in.starved || is_all || size > HEAD_MOST)
			return error_set(error, "the page header is broken");
	}
}

static int check_header(const struct header *header, uint64_t room, struct error *error)
{
	if (header->kind == PAGE_INDEX)
		return header->size >= 0 && (uint64_t)header->size <= room
			   ? 0
			   : error_set(error, "the page header is broken");
	if (header->kind < PAGE_DATA || header->kind > PAGE_DATA_V2 || !header->parts)
		return error_set(error, "a page of kind %d, want data or a dictionary",
				 (int)header->kind);
	if (header->size < 0 || header->raw_size < 0 || header->values < 0 ||
	    header->definition_size < 0 || header->repetition_size < 0 ||
	    (uint64_t)header->size > room)
		return error_set(error, "a page of %d bytes, and %llu are left",
				 (int)header->size, (unsigned long long)room);
	if (header->raw_size > PARQUET_LONGEST_PAGE ||
	    header->size > PARQUET_LONGEST_PAGE)
		return error_set(error, "a page of %d bytes, want %lld at most",
				 header->raw_size > header->size ? (int)header->raw_size
								 : (int)header->size,
				 (long long)PARQUET_LONGEST_PAGE);
	if ((int64_t)header->definition_size + header->repetition_size > header->size ||
	    (int64_t)header->definition_size + header->repetition_size > header->raw_size)
		return error_set(error, "levels of more bytes than their page");
	return 0;
}

/* Levels of version 2 are not compressed, and count in both sizes. */
static int decompress(struct parquet_read_page *page, const struct header *header,
		      int32_t codec, struct error *error)
{
	size_t levels = (size_t)header->definition_size + (size_t)header->repetition_size;
	size_t size = (size_t)header->raw_size - levels;

	page->repetition = page->packed.data;
	page->definition = page->packed.data + header->repetition_size;
	page->data = page->packed.data + levels;
	page->size = page->packed.size - levels;
	if (codec == 0 || header->plain)
		return page->size == size
			   ? 0
			   : error_set(error, "a page of %zu bytes, want %zu", page->size,
				       size);
	/* A page of nulls alone may be of no bytes at all. */
	if (size == 0 && page->size == 0)
		return 0;
	bytes_extend(&page->raw, size);
	if (parquet_decompress(codec, page->data, page->size, page->raw.data, size,
			       error))
		return -1;
	page->data = page->raw.data;
	page->size = size;
	return 0;
}

int parquet_page_read(const struct parquet_reader *reader,
		      const struct parquet_read_chunk *chunk, uint64_t *offset,
		      struct parquet_read_page *page, struct error *error)
{
	struct header header;

	bytes_empty(&page->packed, KEEP);
	bytes_empty(&page->raw, KEEP);
	if (find_header(reader, chunk->end, offset, &header, &page->packed, error) ||
	    check_header(&header, chunk->end - *offset, error))
		return -1;
	page->kind = (enum parquet_page_kind)header.kind;
	page->values = (uint32_t)header.values;
	page->encoding = header.encoding;
	page->definition_encoding = header.definition_encoding;
	page->repetition_encoding = header.repetition_encoding;
	page->nulls = (uint32_t)header.nulls;
	page->definition_size = (uint32_t)header.definition_size;
	page->repetition_size = (uint32_t)header.repetition_size;
	if (page->kind == PAGE_INDEX) {
		*offset += (uint64_t)header.size;
		return 0;
	}
	page->packed.size = 0;
	bytes_reserve(&page->packed, (size_t)header.size + 1);
	bytes_reserve(&page->raw, (size_t)header.raw_size + 1);
	bytes_extend(&page->packed, (size_t)header.size);
	if (parquet_read_at(reader, *offset, page->packed.data, (size_t)header.size,
			    error))
		return -1;
	*offset += (uint64_t)header.size;
	return decompress(page, &header, chunk->codec, error);
}

void parquet_page_clear(struct parquet_read_page *page)
{
	bytes_clear(&page->packed);
	bytes_clear(&page->raw);
}
