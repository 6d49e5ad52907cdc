/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parquet/parquet.h"

#include <stdio.h>
#include <stdlib.h>

#include "../export/export.h"
#include "base/mem.h"
#include "base/version.h"
#include "parquet/encoding.h"

static const struct parquet_settings bare = {.codec = PARQUET_UNCOMPRESSED};

/* A file in memory, that grows while it is written. */
struct sink {
	char *data;
	size_t size;
	FILE *file;
};

static struct parquet_writer *begin(struct sink *sink,
				    const struct parquet_column *column, size_t columns,
				    const struct parquet_settings *settings)
{
	struct error error = ERROR_INIT;
	struct parquet_writer *writer;

	*sink = (struct sink){0};
	sink->file = open_memstream(&sink->data, &sink->size);
	writer = parquet_writer_new(sink->file, column, columns, settings, &error);
	if (!writer)
		fail_msg("%s", error_text(&error));
	return writer;
}

static void finish(struct sink *sink, struct parquet_writer *writer)
{
	struct error error = ERROR_INIT;

	assert_int_equal(parquet_writer_finish(writer, &error), 0);
	fclose(sink->file);
	parquet_writer_free(writer);
}

static void add(struct parquet_writer *writer, const struct cell *cell,
		const struct parquet_list *list)
{
	struct error error = ERROR_INIT;

	if (parquet_add_row(writer, cell, list, &error))
		fail_msg("%s", error_text(&error));
}

/* Every byte of a file without rows, from the definitions of the format. */
static void a_file_without_rows_is_whole(void **state)
{
	static const struct parquet_column column = {.name = "a", .type = PARQUET_INT32};
	static const char whole[] =
	    "PAR1"
	    "\x15\x04"
	    "\x19\x2c"
	    "\x48\x06schema\x15\x02\x00"
	    "\x15\x02\x25\x00\x18\x01"
	    "a\x00"
	    "\x16\x00"
	    "\x19\x0c"
	    "\x28\x1a"
	    "clustertrace version " CT_VERSION "\x19\x1c\x1c\x00\x00"
	    "\x00"
	    "\x3d\x00\x00\x00"
	    "PAR1";
	struct sink sink;

	(void)state;
	finish(&sink, begin(&sink, &column, 1, &bare));
	assert_int_equal(sink.size, sizeof(whole) - 1);
	assert_memory_equal(sink.data, whole, sink.size);
	free(sink.data);
}

static void a_page_is_what_the_format_says(void **state)
{
	static const struct parquet_column column = {.name = "a", .type = PARQUET_INT32};
	static const struct cell seven = INTEGER(7);
	static const char head[] = "PAR1"
				   "\x15\x00\x15\x08\x15\x08"
				   "\x2c\x15\x02\x15\x00\x15\x06\x15\x06\x00\x00"
				   "\x07\x00\x00\x00";
	struct parquet_writer *writer;
	struct sink sink;

	(void)state;
	writer = begin(&sink, &column, 1, &bare);
	add(writer, &seven, NULL);
	finish(&sink, writer);
	assert_memory_equal(sink.data, head, sizeof(head) - 1);
	free(sink.data);
}

/* An empty list, and a list with a null and a value. */
static void lists_are_levels(void **state)
{
	static const struct parquet_column column = {
	    .name = "a", .type = PARQUET_INT32, .list = true};
	static const struct cell element[] = {{.type = CELL_NULL}, INTEGER(5)};
	static const struct parquet_list list[] = {{.count = 0},
						   {.cell = element, .count = 2}};
	static const char page[] = "\x02\x00\x00\x00\x03\x04"
				   "\x03\x00\x00\x00\x03\x39\x00"
				   "\x05\x00\x00\x00";
	struct parquet_writer *writer;
	struct sink sink;

	(void)state;
	writer = begin(&sink, &column, 1, &bare);
	for (size_t i = 0; i < COUNT(list); i++)
		add(writer, NULL, &list[i]);
	finish(&sink, writer);
	assert_non_null(memmem(sink.data, sink.size, page, sizeof(page) - 1));
	free(sink.data);
}

static void assert_refused(struct parquet_writer *writer, struct cell cell,
			   const char *message)
{
	struct error error = ERROR_INIT;

	assert_int_equal(parquet_add_row(writer, &cell, NULL, &error), PARQUET_REFUSED);
	assert_string_equal(error_text(&error), message);
	error_clear(&error);
}

/* A row that does not fit is left out, and the next one is not. */
static void values_that_do_not_fit_are_refused(void **state)
{
	static const struct {
		struct parquet_column column;
		struct cell bad, good;
		const char *message;
	} test[] = {
	    {{.type = PARQUET_INT32},
	     INTEGER(INT64_C(1) << 31),
	     INTEGER(INT32_MAX),
	     "column a: 2147483648, want -2147483648 to 2147483647"},
	    {{.type = PARQUET_BOOLEAN},
	     INTEGER(2),
	     INTEGER(1),
	     "column a: 2, want 0 to 1"},
	    {{.type = PARQUET_INT64},
	     TEXT("1"),
	     INTEGER(1),
	     "column a: text, want an integer"},
	    {{.type = PARQUET_INT64},
	     {.type = CELL_NULL},
	     INTEGER(1),
	     "column a: null, want a value"},
	    {{.type = PARQUET_DOUBLE},
	     INTEGER((INT64_C(1) << 53) + 1),
	     INTEGER(INT64_C(1) << 53),
	     "column a: 9007199254740993, want an integer up to 2^53"},
	    {{.type = PARQUET_DOUBLE},
	     TEXT("x"),
	     REAL(0.1),
	     "column a: text, want a number"},
	    {{.type = PARQUET_BYTE_ARRAY, .logical = PARQUET_STRING},
	     TEXT("\xff"),
	     TEXT(""),
	     "column a: no UTF-8, want text"},
	    {{.type = PARQUET_BYTE_ARRAY},
	     REAL(1),
	     TEXT("\xff"),
	     "column a: a real, want text or a blob"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(test); i++) {
		struct parquet_column column = test[i].column;
		struct parquet_writer *writer;
		struct sink sink;

		column.name = "a";
		writer = begin(&sink, &column, 1, &bare);
		assert_refused(writer, test[i].bad, test[i].message);
		add(writer, &test[i].good, NULL);
		finish(&sink, writer);
		free(sink.data);
	}
}

static void lists_that_do_not_fit_are_refused(void **state)
{
	static const struct parquet_column column = {
	    .name = "a", .type = PARQUET_BOOLEAN, .list = true};
	static const struct cell element[] = {INTEGER(1), INTEGER(2)};
	const struct parquet_list bad = {.cell = element, .count = 2};
	struct error error = ERROR_INIT;
	struct sink sink;
	struct parquet_writer *writer = begin(&sink, &column, 1, NULL);

	(void)state;
	assert_int_equal(parquet_add_row(writer, NULL, &bad, &error), PARQUET_REFUSED);
	assert_string_equal(error_text(&error), "column a: element 2: 2, want 0 to 1");
	error_clear(&error);
	finish(&sink, writer);
	free(sink.data);
}

/* A page cannot have more bytes than fit into 31 bits, and a list is on one. */
static void too_long_lists_are_refused(void **state)
{
	static const struct parquet_column column = {
	    .name = "a", .type = PARQUET_BYTE_ARRAY, .list = true};
	const struct cell huge = {
	    .type = CELL_BLOB, .size = PARQUET_LONGEST_VALUE, .bytes = ""};
	const struct cell larger = {
	    .type = CELL_BLOB, .size = PARQUET_LONGEST_VALUE + 1, .bytes = ""};
	const struct cell element[] = {huge, huge, huge};
	const struct parquet_list lists[] = {{.cell = element, .count = 3},
					     {.cell = &larger, .count = 1}};
	struct error error = ERROR_INIT;
	struct sink sink;
	struct parquet_writer *writer = begin(&sink, &column, 1, NULL);

	(void)state;
	assert_int_equal(parquet_add_row(writer, NULL, &lists[0], &error),
			 PARQUET_REFUSED);
	assert_string_equal(error_text(&error),
			    "column a: a list of more than 1073741824 bytes, want less");
	assert_int_equal(parquet_add_row(writer, NULL, &lists[1], &error),
			 PARQUET_REFUSED);
	assert_string_equal(error_text(&error),
			    "column a: element 1: 536870913 bytes, want up to 536870912");
	error_clear(&error);
	finish(&sink, writer);
	free(sink.data);
}

static void assert_no_schema(const struct parquet_column *column, size_t columns,
			     const char *message)
{
	struct error error = ERROR_INIT;

	assert_null(parquet_writer_new(stderr, column, columns, NULL, &error));
	assert_string_equal(error_text(&error), message);
	error_clear(&error);
}

static void columns_are_checked(void **state)
{
	struct parquet_column column[] = {{.name = "a", .type = PARQUET_INT32},
					  {.name = "a", .type = PARQUET_INT64}};

	(void)state;
	assert_no_schema(column, 0, "no column, want one at least");
	assert_no_schema(column, 2, "columns 1 and 2 are both named a");
	column->name = "";
	assert_no_schema(column, 1, "column 1 has no name, want one of UTF-8");
}

/* What fails once fails for good, with the same words. */
static void a_full_disk_is_told(void **state)
{
	static const struct parquet_column column = {.name = "a", .type = PARQUET_INT64};
	const struct parquet_settings settings = {.group_rows = 1};
	const struct cell cell = INTEGER(1);
	struct error error = ERROR_INIT;
	FILE *full = fopen("/dev/full", "w");
	struct parquet_writer *writer;
	int status = 0;

	(void)state;
	assert_non_null(full);
	writer = parquet_writer_new(full, &column, 1, &settings, &error);
	assert_non_null(writer);
	for (int i = 0; i < 10000 && status == 0; i++)
		status = parquet_add_row(writer, &cell, NULL, &error);
	assert_int_equal(status, -1);
	assert_string_equal(error_text(&error), "cannot write: No space left on device");
	error_clear(&error);
	assert_int_equal(parquet_writer_finish(writer, &error), -1);
	assert_string_equal(error_text(&error), "cannot write: No space left on device");
	error_clear(&error);
	parquet_writer_free(writer);
	fclose(full);
}

/* However many rows there are, a row group goes when it is large enough. */
static void row_groups_are_bounded(void **state)
{
	static const struct parquet_column column = {.name = "a",
						     .type = PARQUET_BYTE_ARRAY};
	const struct parquet_settings settings = {.codec = PARQUET_UNCOMPRESSED,
						  .group_bytes = 4 << 20};
	const size_t size = 100000;
	char *text = mem_alloc(size);
	struct sink sink;
	struct parquet_writer *writer = begin(&sink, &column, 1, &settings);

	(void)state;
	memset(text, 'x', size);
	for (int i = 0; i < 300; i++) {
		const struct cell cell = {
		    .type = CELL_BLOB, .size = (uint32_t)size, .bytes = text};

		memcpy(text, &i, sizeof(i));
		add(writer, &cell, NULL);
		fflush(sink.file);
		assert_true(sink.size + (8 << 20) > (size_t)i * size);
	}
	finish(&sink, writer);
	free(text);
	free(sink.data);
}

static void a_dictionary_has_a_limit(void **state)
{
	struct parquet_dictionary dictionary = {.width = 8, .most = 8 * 3000};

	(void)state;
	for (uint64_t round = 0; round < 2; round++)
		for (uint64_t i = 0; i < 3000; i++) {
			const struct parquet_value value = {.size = 8, .bits = i << 40};

			assert_int_equal(parquet_dictionary_code(&dictionary, &value), i);
		}
	assert_int_equal(parquet_dictionary_code(
			     &dictionary, &(struct parquet_value){.size = 8, .bits = 1}),
			 PARQUET_FULL);
	assert_int_equal(dictionary.plain.size, dictionary.most);
	parquet_dictionary_clear(&dictionary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_file_without_rows_is_whole),
	    cmocka_unit_test(a_page_is_what_the_format_says),
	    cmocka_unit_test(lists_are_levels),
	    cmocka_unit_test(values_that_do_not_fit_are_refused),
	    cmocka_unit_test(lists_that_do_not_fit_are_refused),
	    cmocka_unit_test(too_long_lists_are_refused),
	    cmocka_unit_test(columns_are_checked),
	    cmocka_unit_test(a_full_disk_is_told),
	    cmocka_unit_test(row_groups_are_bounded),
	    cmocka_unit_test(a_dictionary_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
