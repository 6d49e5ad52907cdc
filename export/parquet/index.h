/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_INDEX_H
#define CT_EXPORT_PARQUET_INDEX_H

#include "base/bytes.h"
#include "export/parquet/range.h"

/* What the page index says of one data page of a column chunk. */
struct parquet_page {
	uint64_t offset; /* of its header, from the chunk's first byte */
	uint32_t size;   /* with its header */
	uint64_t first_row;
	uint32_t values, nulls; /* values counts the nulls, too */
	struct parquet_range range;
};

/*
 * Add the ColumnIndex of a chunk's pages, by which readers skip pages. False
 * and nothing where a page with values has no bounds to state, which the
 * format has no way to say of one page alone.
 */
bool parquet_index_columns(struct bytes *out, const struct parquet_column *column,
			   const struct parquet_page *page, size_t pages);

/* Add the OffsetIndex of the pages of a chunk that begins at `offset` of the file. */
void parquet_index_offsets(struct bytes *out, uint64_t offset,
			   const struct parquet_page *page, size_t pages);

#endif
