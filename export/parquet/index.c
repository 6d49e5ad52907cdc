/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/index.h"

#include "export/parquet/thrift.h"

/* BoundaryOrder of the format. */
enum { UNORDERED, ASCENDING, DESCENDING };

static int32_t order_of(const struct parquet_column *column,
			const struct parquet_page *page, size_t pages)
{
	const struct parquet_range *last = NULL;
	bool up = true, down = true;

	for (size_t i = 0; i < pages; i++) {
		const struct parquet_range *range = &page[i].range;

		if (!range->any)
			continue;
		if (last) {
			int least = parquet_range_compare_least(last, range, column);
			int most = parquet_range_compare_most(last, range, column);

			up &= least <= 0 && most <= 0;
			down &= least >= 0 && most >= 0;
		}
		last = range;
	}
	return up ? ASCENDING : down ? DESCENDING : UNORDERED;
}

static bool has_bounds(const struct parquet_column *column,
		       const struct parquet_page *page, size_t pages)
{
	struct parquet_bound bound;

	for (size_t i = 0; i < pages; i++) {
		if (page[i].nulls == page[i].values)
			continue;
		if (!parquet_range_least(&page[i].range, column, &bound) ||
		    !parquet_range_most(&page[i].range, column, &bound))
			return false;
	}
	return true;
}

bool parquet_index_columns(struct bytes *out, const struct parquet_column *column,
			   const struct parquet_page *page, size_t pages)
{
	struct parquet_bound bound;
	struct thrift thrift;

	if (!has_bounds(column, page, pages))
		return false;
	thrift_begin(&thrift, out);
	thrift_list(&thrift, 1, THRIFT_BOOL, pages); /* null_pages */
	for (size_t i = 0; i < pages; i++)
		thrift_item_bool(&thrift, page[i].nulls == page[i].values);
	thrift_list(&thrift, 2, THRIFT_BINARY, pages); /* min_values */
	for (size_t i = 0; i < pages; i++) {
		if (!parquet_range_least(&page[i].range, column, &bound))
			bound.size = 0;
		thrift_item_binary(&thrift, bound.byte, bound.size);
	}
	thrift_list(&thrift, 3, THRIFT_BINARY, pages); /* max_values */
	for (size_t i = 0; i < pages; i++) {
		if (!parquet_range_most(&page[i].range, column, &bound))
			bound.size = 0;
		thrift_item_binary(&thrift, bound.byte, bound.size);
	}
	thrift_i32(&thrift, 4, order_of(column, page, pages));
	thrift_list(&thrift, 5, THRIFT_I64, pages); /* null_counts */
	for (size_t i = 0; i < pages; i++)
		thrift_item_i64(&thrift, page[i].nulls);
	thrift_end(&thrift);
	return true;
}

void parquet_index_offsets(struct bytes *out, uint64_t offset,
			   const struct parquet_page *page, size_t pages)
{
	struct thrift thrift;

	thrift_begin(&thrift, out);
	thrift_list(&thrift, 1, THRIFT_STRUCT, pages);
	for (size_t i = 0; i < pages; i++) {
		thrift_item_struct(&thrift);
		thrift_i64(&thrift, 1, (int64_t)(offset + page[i].offset));
		thrift_i32(&thrift, 2, (int32_t)page[i].size);
		thrift_i64(&thrift, 3, (int64_t)page[i].first_row);
		thrift_end(&thrift);
	}
	thrift_end(&thrift);
}
