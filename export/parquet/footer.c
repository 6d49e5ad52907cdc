/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/footer.h"

#include <stdlib.h>

#include "base/mem.h"
#include "export/parquet/schema.h"

struct parquet_footer_chunk {
	uint32_t metadata; /* sizes in bytes */
	uint32_t column_index, offset_index;
};

struct parquet_footer_group {
	size_t chunks;
	uint64_t offset, rows;
	uint64_t raw_size, size;
};

/* Field 12 of ColumnMetaData. */
static void add_statistics(struct thrift *thrift, const struct parquet_chunk *chunk)
{
	struct parquet_bound least, most;
	bool low = parquet_range_least(&chunk->range, chunk->column, &least);
	bool high = parquet_range_most(&chunk->range, chunk->column, &most);

	thrift_struct(thrift, 12);
	thrift_i64(thrift, 3, (int64_t)chunk->nulls);
	if (high)
		thrift_binary(thrift, 5, most.byte, most.size);
	if (low)
		thrift_binary(thrift, 6, least.byte, least.size);
	if (high)
		thrift_bool(thrift, 7, most.exact);
	if (low)
		thrift_bool(thrift, 8, least.exact);
	thrift_end(thrift);
}

static void add_encodings(struct thrift *thrift, const struct parquet_chunk *chunk)
{
	bool dictionary = chunk->head.size > 0;
	bool used[FORMAT_ENCODINGS] = {
	    [FORMAT_RLE] = chunk->most_definition > 0, [FORMAT_PLAIN] = dictionary};
	size_t count = 0;

	for (int i = 0; i < FORMAT_ENCODINGS; i++) {
		used[i] |= chunk->pages_of[i] > 0;
		count += used[i];
	}
	thrift_list(thrift, 2, THRIFT_I32, count);
	for (int i = 0; i < FORMAT_ENCODINGS; i++)
		if (used[i])
			thrift_item_i32(thrift, i);
}

static void add_page_count(struct thrift *thrift, int type, int encoding, uint32_t count)
{
	thrift_item_struct(thrift);
	thrift_i32(thrift, 1, type);
	thrift_i32(thrift, 2, encoding);
	thrift_i32(thrift, 3, (int32_t)count);
	thrift_end(thrift);
}

/* Field 13: readers see in it whether all values are in the dictionary. */
static void add_page_counts(struct thrift *thrift, const struct parquet_chunk *chunk)
{
	bool dictionary = chunk->head.size > 0;
	size_t count = dictionary;

	for (int i = 0; i < FORMAT_ENCODINGS; i++)
		count += chunk->pages_of[i] > 0;
	thrift_list(thrift, 13, THRIFT_STRUCT, count);
	if (dictionary)
		add_page_count(thrift, FORMAT_DICTIONARY_PAGE, FORMAT_PLAIN, 1);
	for (int i = 0; i < FORMAT_ENCODINGS; i++)
		if (chunk->pages_of[i])
			add_page_count(thrift, FORMAT_DATA_PAGE, i, chunk->pages_of[i]);
}

static void add_metadata(struct bytes *out, const struct parquet_chunk *chunk,
			 uint64_t offset)
{
	size_t size = chunk->head.size + chunk->body.size;
	struct thrift thrift;

	thrift_begin(&thrift, out);
	thrift_i32(&thrift, 1, (int32_t)chunk->column->type);
	add_encodings(&thrift, chunk);
	parquet_schema_add_path(&thrift, 3, chunk->column);
	thrift_i32(&thrift, 4, parquet_codec_number(chunk->settings->codec));
	thrift_i64(&thrift, 5, (int64_t)chunk->value_count);
	thrift_i64(&thrift, 6, (int64_t)chunk->raw_size);
	thrift_i64(&thrift, 7, (int64_t)size);
	thrift_i64(&thrift, 9, (int64_t)(offset + chunk->head.size));
	if (chunk->head.size)
		thrift_i64(&thrift, 11, (int64_t)offset);
	add_statistics(&thrift, chunk);
	add_page_counts(&thrift, chunk);
	thrift_end(&thrift);
}

void parquet_footer_add_group(struct parquet_footer *footer, uint64_t offset,
			      uint64_t rows)
{
	footer->group = mem_grow(footer->group, footer->groups, &footer->group_room,
				 sizeof(*footer->group));
	footer->group[footer->groups++] =
	    (struct parquet_footer_group){.offset = offset, .rows = rows};
}

void parquet_footer_add_chunk(struct parquet_footer *footer,
			      const struct parquet_chunk *chunk, uint64_t offset)
{
	struct parquet_footer_group *group = &footer->group[footer->groups - 1];
	size_t metadata = footer->metadata.size, columns = footer->column_indexes.size;
	size_t offsets = footer->offset_indexes.size;

	group->chunks++;
	group->raw_size += chunk->raw_size;
	group->size += chunk->head.size + chunk->body.size;
	add_metadata(&footer->metadata, chunk, offset);
	parquet_index_columns(&footer->column_indexes, chunk->column, chunk->full,
			      chunk->pages);
	parquet_index_offsets(&footer->offset_indexes, offset, chunk->full, chunk->pages);
	footer->chunk = mem_grow(footer->chunk, footer->chunks, &footer->chunk_room,
				 sizeof(*footer->chunk));
	footer->chunk[footer->chunks++] = (struct parquet_footer_chunk){
	    .metadata = (uint32_t)(footer->metadata.size - metadata),
	    .column_index = (uint32_t)(footer->column_indexes.size - columns),
	    .offset_index = (uint32_t)(footer->offset_indexes.size - offsets),
	};
}

void parquet_footer_add_pair(struct parquet_footer *footer, const char *key,
			     const char *value)
{
	footer->pair = mem_grow(footer->pair, footer->pairs, &footer->pair_room,
				sizeof(*footer->pair));
	footer->pair[footer->pairs++] =
	    (struct parquet_pair){mem_strdup(key), mem_strdup(value)};
}

/* Where the writing of groups has come to. */
struct cursor {
	const struct parquet_footer_chunk *chunk;
	const uint8_t *metadata;
	uint64_t column_index, offset_index;
};

static void add_chunk(struct thrift *thrift, struct cursor *cursor)
{
	const struct parquet_footer_chunk *chunk = cursor->chunk++;

	thrift_item_struct(thrift);
	thrift_i64(thrift, 2, 0); /* the metadata stands here and nowhere else */
	thrift_copy(thrift, 3, cursor->metadata, chunk->metadata);
	thrift_i64(thrift, 4, (int64_t)cursor->offset_index);
	thrift_i32(thrift, 5, (int32_t)chunk->offset_index);
	if (chunk->column_index) {
		thrift_i64(thrift, 6, (int64_t)cursor->column_index);
		thrift_i32(thrift, 7, (int32_t)chunk->column_index);
	}
	thrift_end(thrift);
	cursor->metadata += chunk->metadata;
	cursor->column_index += chunk->column_index;
	cursor->offset_index += chunk->offset_index;
}

static void add_groups(struct thrift *thrift, const struct parquet_footer *footer,
		       uint64_t offset)
{
	struct cursor cursor = {
	    .chunk = footer->chunk,
	    .metadata = footer->metadata.data,
	    .column_index = offset,
	    .offset_index = offset + footer->column_indexes.size,
	};

	thrift_list(thrift, 4, THRIFT_STRUCT, footer->groups);
	for (size_t i = 0; i < footer->groups; i++) {
		const struct parquet_footer_group *group = &footer->group[i];

		thrift_item_struct(thrift);
		thrift_list(thrift, 1, THRIFT_STRUCT, group->chunks);
		for (size_t j = 0; j < group->chunks; j++)
			add_chunk(thrift, &cursor);
		thrift_i64(thrift, 2, (int64_t)group->raw_size);
		thrift_i64(thrift, 3, (int64_t)group->rows);
		thrift_i64(thrift, 5, (int64_t)group->offset);
		thrift_i64(thrift, 6, (int64_t)group->size);
		thrift_end(thrift);
	}
}

void parquet_footer_add(const struct parquet_footer *footer,
			const struct parquet_file *file, struct bytes *out)
{
	struct thrift thrift;

	thrift_begin(&thrift, out);
	thrift_i32(&thrift, 1, 2); /* version */
	parquet_schema_add(&thrift, 2, file->column, file->columns);
	thrift_i64(&thrift, 3, (int64_t)file->rows);
	add_groups(&thrift, footer, file->offset);
	if (footer->pairs) {
		thrift_list(&thrift, 5, THRIFT_STRUCT, footer->pairs);
		for (size_t i = 0; i < footer->pairs; i++) {
			thrift_item_struct(&thrift);
			thrift_text(&thrift, 1, footer->pair[i].key);
			thrift_text(&thrift, 2, footer->pair[i].value);
			thrift_end(&thrift);
		}
	}
	thrift_text(&thrift, 6, file->created_by);
	/* Bounds are in the order of each column's type; without this they count
	 * for nothing. */
	thrift_list(&thrift, 7, THRIFT_STRUCT, file->columns);
	for (size_t i = 0; i < file->columns; i++) {
		thrift_item_struct(&thrift);
		thrift_struct(&thrift, 1);
		thrift_end(&thrift);
		thrift_end(&thrift);
	}
	thrift_end(&thrift);
}

void parquet_footer_clear(struct parquet_footer *footer)
{
	for (size_t i = 0; i < footer->pairs; i++) {
		free(footer->pair[i].key);
		free(footer->pair[i].value);
	}
	free(footer->pair);
	free(footer->chunk);
	free(footer->group);
	bytes_clear(&footer->metadata);
	bytes_clear(&footer->column_indexes);
	bytes_clear(&footer->offset_indexes);
	*footer = (struct parquet_footer){0};
}
