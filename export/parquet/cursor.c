/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/mem.h"
#include "export/parquet/hybrid.h"
#include "export/parquet/read_page.h"
#include "export/parquet/read_private.h"
#include "export/parquet/read_values.h"

/* RLE of the format, the one encoding of levels that anybody writes; PLAIN pages may
 * name it for levels that they do not have. */
enum { LEVELS_RLE = 3, LEVELS_SIZE = 4 };

struct parquet_cursor {
	struct parquet_reader *reader;
	const struct parquet_leaf *leaf;
	size_t index; /* of the leaf */
	size_t group; /* the next one to begin */
	const struct parquet_read_chunk *chunk;
	uint64_t offset; /* of its next page */
	uint64_t left;   /* values of the chunk on further pages */
	uint64_t rows;   /* begun in the chunk */
	struct parquet_read_page page, dictionary_page;
	uint32_t on_page; /* values left of it */
	struct parquet_hybrid_reader repetition, definition;
	struct parquet_values_reader values;
	struct parquet_read_dictionary dictionary;
	bool has_dictionary;
	bool peeked; /* the repetition level of the next value is known */
	uint32_t next_repetition;
};

struct parquet_cursor *parquet_cursor_new(struct parquet_reader *reader,
					  const struct parquet_leaf *leaf)
{
	struct parquet_cursor *cursor = mem_zalloc(sizeof(*cursor));

	cursor->reader = reader;
	cursor->leaf = leaf;
	cursor->index = (size_t)(leaf - reader->leaf);
	cursor->values.leaf = leaf;
	return cursor;
}

static int at_place(const struct parquet_cursor *cursor, struct error *error)
{
	return error_prefix(error, "%s: row group %zu, column %s", cursor->reader->path,
			    cursor->group, cursor->leaf->path);
}

/* Levels of version 1: with their length in front, where there are any. */
static int take_levels(struct parquet_read_page *page, unsigned most, int32_t encoding,
		       struct parquet_hybrid_reader *levels, struct error *error)
{
	uint64_t size;

	if (most == 0)
		return 0;
	if (encoding != LEVELS_RLE)
		return error_set(error, "levels of encoding %d, want RLE", (int)encoding);
	size = page->size < LEVELS_SIZE ? UINT64_MAX : bytes_le(page->data, LEVELS_SIZE);
	if (size > page->size - LEVELS_SIZE)
		return error_set(error, "levels of more bytes than their page");
	parquet_hybrid_read(levels, page->data + LEVELS_SIZE,
			    page->data + LEVELS_SIZE + size, parquet_bits(most));
	page->data += LEVELS_SIZE + size;
	page->size -= LEVELS_SIZE + (size_t)size;
	return 0;
}

static int begin_page(struct parquet_cursor *cursor, struct error *error)
{
	struct parquet_read_page *page = &cursor->page;
	const struct parquet_leaf *leaf = cursor->leaf;

	if (page->values > cursor->left)
		return error_set(error, "pages of more values than the chunk's %llu",
				 (unsigned long long)cursor->chunk->values);
	if (page->kind == PAGE_DATA_V2) {
		parquet_hybrid_read(&cursor->repetition, page->repetition,
				    page->repetition + page->repetition_size,
				    parquet_bits(leaf->most_repetition));
		parquet_hybrid_read(&cursor->definition, page->definition,
				    page->definition + page->definition_size,
				    parquet_bits(leaf->most_definition));
	} else if (take_levels(page, leaf->most_repetition, page->repetition_encoding,
			       &cursor->repetition, error) ||
		   take_levels(page, leaf->most_definition, page->definition_encoding,
			       &cursor->definition, error)) {
		return -1;
	}
	cursor->values.dictionary = cursor->has_dictionary ? &cursor->dictionary : NULL;
	cursor->values.most = page->values;
	cursor->left -= page->values;
	cursor->on_page = page->values;
	/* A page without values need not have an encoding that holds. */
	return page->values == 0 ? 0
				 : parquet_values_begin(&cursor->values, page->encoding,
							page->data, page->size, error);
}

static int begin_dictionary(struct parquet_cursor *cursor, struct error *error)
{
	struct parquet_read_page page = cursor->page;

	if (cursor->has_dictionary)
		return error_set(error, "a second dictionary");
	/* Its bytes are needed as long as the chunk is read. */
	cursor->page = cursor->dictionary_page;
	cursor->dictionary_page = page;
	cursor->has_dictionary = true;
	return parquet_dictionary_read(&cursor->dictionary, cursor->leaf, page.data,
				       page.size, page.values, error);
}

static int next_page(struct parquet_cursor *cursor, struct error *error)
{
	if (cursor->offset >= cursor->chunk->end)
		return error_set(error, "its pages lack %llu of %llu values",
				 (unsigned long long)cursor->left,
				 (unsigned long long)cursor->chunk->values);
	if (parquet_page_read(cursor->reader, cursor->chunk, &cursor->offset,
			      &cursor->page, error))
		return -1;
	if (cursor->page.kind == PAGE_INDEX)
		return 0;
	return cursor->page.kind == PAGE_DICTIONARY ? begin_dictionary(cursor, error)
						    : begin_page(cursor, error);
}

static int end_chunk(struct parquet_cursor *cursor, struct error *error)
{
	uint64_t rows = cursor->reader->group[cursor->group - 1].rows;

	cursor->chunk = NULL;
	return cursor->rows == rows
		   ? 0
		   : error_set(error, "%llu rows, and the row group says %llu",
			       (unsigned long long)cursor->rows,
			       (unsigned long long)rows);
}

static void begin_chunk(struct parquet_cursor *cursor)
{
	const struct parquet_read_group *group = &cursor->reader->group[cursor->group++];

	cursor->chunk = &cursor->reader->chunk[group->chunk + cursor->index];
	cursor->offset = cursor->chunk->begin;
	cursor->left = cursor->chunk->values;
	cursor->rows = 0;
	cursor->has_dictionary = false;
}

/* Go on to a page that has a value: 1, or 0 at the end, or -1 with error. */
static int find_value(struct parquet_cursor *cursor, struct error *error)
{
	while (!cursor->on_page) {
		if (cursor->chunk && cursor->left) {
			if (next_page(cursor, error))
				return at_place(cursor, error);
		} else if (cursor->chunk) {
			if (end_chunk(cursor, error))
				return at_place(cursor, error);
		} else if (cursor->group == cursor->reader->groups) {
			return 0;
		} else {
			begin_chunk(cursor);
		}
	}
	return 1;
}

static int read_level(struct parquet_hybrid_reader *levels, unsigned most,
		      uint32_t *level)
{
	*level = 0;
	return most && (parquet_hybrid_next(levels, level) || *level > most) ? -1 : 0;
}

static int peek(struct parquet_cursor *cursor, struct error *error)
{
	int status = find_value(cursor, error);

	if (status <= 0 || cursor->peeked)
		return status;
	if (read_level(&cursor->repetition, cursor->leaf->most_repetition,
		       &cursor->next_repetition) ||
	    (cursor->next_repetition && !cursor->rows)) {
		error_set(error, "its repetition levels are broken");
		return at_place(cursor, error);
	}
	cursor->peeked = true;
	return 1;
}

int parquet_cursor_next(struct parquet_cursor *cursor, struct parquet_item *item,
			struct error *error)
{
	struct parquet_datum datum = {0};
	uint32_t definition;
	int status = peek(cursor, error);

	if (status <= 0)
		return status;
	cursor->peeked = false;
	cursor->on_page--;
	cursor->rows += cursor->next_repetition == 0;
	if (read_level(&cursor->definition, cursor->leaf->most_definition, &definition)) {
		error_set(error, "its definition levels are broken");
		return at_place(cursor, error);
	}
	*item = (struct parquet_item){.repetition = cursor->next_repetition,
				      .definition = definition,
				      .null = definition < cursor->leaf->most_definition};
	if (item->null)
		return 1;
	if (parquet_values_next(&cursor->values, &datum)) {
		error_set(error, "its values are broken");
		return at_place(cursor, error);
	}
	item->bits = datum.bits;
	item->bytes = datum.bytes;
	item->size = datum.size;
	return 1;
}

int parquet_cursor_in_row(struct parquet_cursor *cursor, struct error *error)
{
	int status;

	/* Rows do not go on from one row group to the next; nor need a page be read
	 * where there are no lists. */
	if (!cursor->leaf->most_repetition || (!cursor->on_page && !cursor->left))
		return 0;
	status = peek(cursor, error);
	return status <= 0 ? status : cursor->next_repetition > 0;
}

void parquet_cursor_free(struct parquet_cursor *cursor)
{
	if (!cursor)
		return;
	parquet_page_clear(&cursor->page);
	parquet_page_clear(&cursor->dictionary_page);
	bytes_clear(&cursor->values.text);
	free(cursor->dictionary.entry);
	free(cursor);
}
