/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/block.h"

#include "../scratch.h"

static char name[] = "x";
static struct ctf_column column[4] = {
    {name, CELL_INTEGER, false},
    {name, CELL_TEXT, false},
    {name, CELL_BLOB, false},
    {name, CELL_REAL, false},
};
static struct ctf_class class = {.name = name, .column = column, .columns = 4};

static void check(const struct row *row, int number, size_t blob)
{
	const struct cell *cell = row->record.cell;

	assert_int_equal(row->ts_ns, number);
	assert_ptr_equal(row->class, &class);
	assert_int_equal(row->record.ordinal, number);
	assert_int_equal(cell[0].integer, number);
	assert_int_equal(cell[1].size, 4);
	assert_memory_equal(cell[1].bytes, "text", 4);
	assert_int_equal(cell[2].size, blob);
	for (size_t i = 0; i < blob; i++)
		assert_int_equal(cell[2].bytes[i], 'b');
	assert_int_equal(cell[3].type, CELL_NULL);
}

/* What was copied is whole though the reader's memory is gone. */
static void rows_keep_their_bytes(void **state)
{
	struct block *block = block_new(0);
	size_t blob[] = {0, 1, 7, 8, 1000}, at = 0;

	(void)state;
	for (int i = 0; i < 5; i++) {
		char text[] = "text", *bytes = mem_alloc(blob[i] + 1);
		struct cell cell[] = {
		    {.type = CELL_INTEGER, .integer = i},
		    {.type = CELL_TEXT, .size = 4, .bytes = text},
		    {.type = CELL_BLOB, .size = (uint32_t)blob[i], .bytes = bytes},
		    {.type = CELL_NULL},
		};
		struct row row = {.ts_ns = i,
				  .class = &class,
				  .record = {.ordinal = (uint64_t)i, .cell = cell}};

		memset(bytes, 'b', blob[i]);
		block_add(block, &row, 4, row_size(&row, 4));
		memset(bytes, 'x', blob[i]);
		memset(text, 'x', 4);
		free(bytes);
	}
	for (int i = 0; i < 5; i++) {
		check(block_row(block, at), i, blob[i]);
		at += block_row(block, at)->length;
	}
	assert_int_equal(at, block->used);
	free(block);
}

static void a_row_without_cells_is_small(void **state)
{
	struct block *block = block_new(0);
	struct row row = {.ts_ns = 7, .class = &class, .selected = true};

	(void)state;
	assert_int_equal(row_size(&row, 4), sizeof(row));
	block_add(block, &row, 4, row_size(&row, 4));
	assert_null(block_row(block, 0)->record.cell);
	assert_true(block_row(block, 0)->selected);
	assert_int_equal(block->used, sizeof(row));
	free(block);
}

static void a_large_row_gets_a_block_of_its_own(void **state)
{
	struct block *block = block_new(BLOCK_BYTES * 3);

	(void)state;
	assert_true(block->size >= BLOCK_BYTES * 3);
	assert_int_equal(block->used, 0);
	free(block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_keep_their_bytes),
	    cmocka_unit_test(a_row_without_cells_is_small),
	    cmocka_unit_test(a_large_row_gets_a_block_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
