/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_READ_PAGE_H
#define CT_EXPORT_PARQUET_READ_PAGE_H

#include "export/parquet/read_private.h"

/* One page of a chunk, decompressed. */
enum parquet_page_kind { PAGE_DATA, PAGE_INDEX, PAGE_DICTIONARY, PAGE_DATA_V2 };

struct parquet_read_page {
	enum parquet_page_kind kind;
	uint32_t values; /* with nulls; of a dictionary, its entries */
	int32_t encoding;
	int32_t definition_encoding, repetition_encoding;
	uint32_t nulls; /* of version 2 */
	/* Levels of version 2 stand apart, without a length of their own. */
	const uint8_t *repetition, *definition;
	uint32_t repetition_size, definition_size;
	const uint8_t *data; /* of version 1 with the levels in front */
	size_t size;
	struct bytes packed, raw; /* what the above point to */
};

/* The longest page, before and after compression. */
#define PARQUET_LONGEST_PAGE ((int64_t)1 << 28)

/*
 * The page at *offset, which goes on to the next; `end` is that of its chunk. 0, or -1
 * with error.
 */
int parquet_page_read(const struct parquet_reader *reader,
		      const struct parquet_read_chunk *chunk, uint64_t *offset,
		      struct parquet_read_page *page, struct error *error);

void parquet_page_clear(struct parquet_read_page *page);

#endif
