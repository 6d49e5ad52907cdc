/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parquet/parquet.h"

#include <stdio.h>
#include <stdlib.h>

#include "../export/export.h"
#include "base/mem.h"
#include "base/version.h"
#include "parquet/parquet_private.h"

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

static void discard(struct sink *sink, struct parquet_writer *writer)
{
	parquet_writer_free(writer);
	fclose(sink->file);
	free(sink->data);
}

static void add(struct parquet_writer *writer, const struct cell *cell,
		const struct parquet_list *list)
{
	struct error error = ERROR_INIT;

	if (parquet_add_rows(writer, cell, list, 1, &error))
		fail_msg("%s", error_text(&error));
}

/* Every byte of a file without rows, from the definitions of the format. */
TEST(a_file_without_rows_is_whole)
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

	finish(&sink, begin(&sink, &column, 1, &bare));
	assert_int_equal(sink.size, sizeof(whole) - 1);
	assert_memory_equal(sink.data, whole, sink.size);
	free(sink.data);
}

TEST(a_page_is_what_the_format_says)
{
	static const struct parquet_column column = {.name = "a", .type = PARQUET_INT32};
	static const struct cell seven = INTEGER(7);
	static const char head[] = "PAR1"
				   "\x15\x00\x15\x08\x15\x08"
				   "\x2c\x15\x02\x15\x00\x15\x06\x15\x06\x00\x00"
				   "\x07\x00\x00\x00";
	struct parquet_writer *writer;
	struct sink sink;

	writer = begin(&sink, &column, 1, &bare);
	add(writer, &seven, NULL);
	finish(&sink, writer);
	assert_memory_equal(sink.data, head, sizeof(head) - 1);
	free(sink.data);
}

/* An empty list, and a list with a null and a value. */
TEST(lists_are_levels)
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

	assert_int_equal(parquet_add_rows(writer, &cell, NULL, 1, &error), -1);
	assert_string_equal(error_text(&error), message);
	error_clear(&error);
}

TEST(values_that_do_not_fit_are_refused)
{
	static const struct {
		struct parquet_column column;
		struct cell bad, good;
		const char *message;
	} test[] = {
	    {{.type = PARQUET_INT32},
	     INTEGER(INT64_C(1) << 31),
	     INTEGER(INT32_MAX),
	     "invalid integer 2147483648 (expected -2147483648 to 2147483647)"},
	    {{.type = PARQUET_BOOLEAN, .optional = true},
	     INTEGER(1),
	     {.type = CELL_NULL},
	     "invalid value of type integer (expected null)"},
	    {{.type = PARQUET_INT64},
	     TEXT("1"),
	     INTEGER(1),
	     "invalid value of type text (expected an integer)"},
	    {{.type = PARQUET_INT64},
	     {.type = CELL_NULL},
	     INTEGER(1),
	     "invalid value of type null (expected a value)"},
	    {{.type = PARQUET_DOUBLE},
	     INTEGER((INT64_C(1) << 53) + 1),
	     INTEGER(INT64_C(1) << 53),
	     "invalid integer 9007199254740993 (expected up to 2^53)"},
	    {{.type = PARQUET_DOUBLE},
	     TEXT("x"),
	     REAL(0.1),
	     "invalid value of type text (expected a number)"},
	    {{.type = PARQUET_BYTE_ARRAY, .logical = PARQUET_STRING},
	     TEXT("\xff"),
	     TEXT(""),
	     "invalid UTF-8"},
	    {{.type = PARQUET_BYTE_ARRAY},
	     REAL(1),
	     TEXT("\xff"),
	     "invalid value of type real (expected text or a blob)"},
	};

	for (size_t i = 0; i < COUNT(test); i++) {
		struct parquet_column column = test[i].column;
		AUTOFREE char *message =
		    mem_printf("row 2: column a: %s", test[i].message);
		struct parquet_writer *writer;
		struct sink sink;

		column.name = "a";
		writer = begin(&sink, &column, 1, &bare);
		add(writer, &test[i].good, NULL);
		assert_refused(writer, test[i].bad, message);
		discard(&sink, writer);
	}
}

static void assert_list_refused(const struct parquet_column *column,
				const struct parquet_list *list, const char *message)
{
	struct error error = ERROR_INIT;
	struct sink sink;
	struct parquet_writer *writer = begin(&sink, column, 1, NULL);

	assert_int_equal(parquet_add_rows(writer, NULL, list, 1, &error), -1);
	assert_string_equal(error_text(&error), message);
	error_clear(&error);
	discard(&sink, writer);
}

/* A page cannot have more bytes than fit into 31 bits, and a list is on one. */
TEST(lists_that_do_not_fit_are_refused)
{
	static const struct parquet_column number = {
	    .name = "a", .type = PARQUET_INT32, .list = true};
	static const struct parquet_column blob = {
	    .name = "a", .type = PARQUET_BYTE_ARRAY, .list = true};
	static const struct cell element[] = {INTEGER(1), INTEGER(INT64_C(1) << 31)};
	const struct cell huge = {
	    .type = CELL_BLOB, .size = PARQUET_LONGEST_VALUE, .bytes = ""};
	const struct cell larger = {
	    .type = CELL_BLOB, .size = PARQUET_LONGEST_VALUE + 1, .bytes = ""};
	const struct cell three[] = {huge, huge, huge};

	assert_list_refused(&number, &(struct parquet_list){.cell = element, .count = 2},
			    "row 1: column a: element 2: invalid integer 2147483648 "
			    "(expected -2147483648 to 2147483647)");
	assert_list_refused(&blob, &(struct parquet_list){.cell = three, .count = 3},
			    "row 1: column a: list too long (limit 1073741824 bytes)");
	assert_list_refused(&blob, &(struct parquet_list){.cell = &larger, .count = 1},
			    "row 1: column a: element 1: too many bytes: 536870913 "
			    "(limit 536870912)");
}

TEST(a_full_disk_is_told)
{
	static const struct parquet_column column = {.name = "a", .type = PARQUET_INT64};
	const struct parquet_settings settings = {.group_rows = 1};
	const struct cell cell = INTEGER(1);
	struct error error = ERROR_INIT;
	FILE *full = fopen("/dev/full", "w");
	struct parquet_writer *writer;
	int status = 0;

	assert_non_null(full);
	writer = parquet_writer_new(full, &column, 1, &settings, &error);
	assert_non_null(writer);
	for (int i = 0; i < 10000 && status == 0; i++)
		status = parquet_add_rows(writer, &cell, NULL, 1, &error);
	assert_int_equal(status, -1);
	assert_string_equal(error_text(&error), "cannot write: No space left on device");
	error_clear(&error);
	parquet_writer_free(writer);
	fclose(full);
}

/* However many rows there are, a row group goes when it is large enough. */
TEST(row_groups_are_bounded)
{
	static const struct parquet_column column = {.name = "a",
						     .type = PARQUET_BYTE_ARRAY};
	const struct parquet_settings settings = {.codec = PARQUET_UNCOMPRESSED,
						  .group_bytes = 4 << 20};
	const size_t size = 100000;
	char *text = mem_alloc(size);
	struct sink sink;
	struct parquet_writer *writer = begin(&sink, &column, 1, &settings);

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

TEST(a_dictionary_has_a_limit)
{
	struct parquet_dictionary dictionary = {.width = 8, .most = 8 * 3000};

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
