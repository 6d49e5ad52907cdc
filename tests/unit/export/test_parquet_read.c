/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random files of our writer, read back value by value; and the same files damaged:
 * whatever is in them, reading ends with values or an error. CT_ROUNDS says how many.
 */
#include "export/parquet/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../draw.h"
#include "../scratch.h"
#include "base/mem.h"
#include "export.h"
#include "export/parquet/codec_read.h"
#include "export/parquet/lz4.h"
#include "export/parquet/read_values.h"

enum { COLUMNS = 6, ROWS = 1500, LIST_MOST = 4, BYTES_MOST = 40, READ_MOST = 200000 };

struct value {
	bool null;
	int64_t integer;
	double real;
	uint32_t size;
	char bytes[BYTES_MOST];
};

/* A table as it was drawn: a column's values one after the other. */
struct table {
	struct parquet_column column[COLUMNS];
	char name[COLUMNS][32];
	size_t columns, rows;
	size_t count[COLUMNS][ROWS]; /* values of the row, of lists */
	bool empty[COLUMNS][ROWS];   /* a list that is null */
	struct value *value[COLUMNS];
	size_t values[COLUMNS];
};

static size_t rounds(size_t usual)
{
	const char *given = getenv("CT_ROUNDS");

	return given ? strtoull(given, NULL, 0) : usual;
}

static void draw_column_of(struct table *table, size_t i)
{
	static const enum parquet_type types[] = {
	    PARQUET_BOOLEAN, PARQUET_INT32,
	    PARQUET_INT64,   PARQUET_FLOAT,
	    PARQUET_DOUBLE,  PARQUET_BYTE_ARRAY,
	    PARQUET_INT64,   PARQUET_FIXED_LEN_BYTE_ARRAY};
	enum parquet_type type = types[draw_between(0, 7)];
	bool integer = type == PARQUET_INT32 || type == PARQUET_INT64;

	snprintf(table->name[i], sizeof(table->name[i]), "c%zu", i);
	table->column[i] = (struct parquet_column){
	    .name = table->name[i],
	    .type = type,
	    .encoding = integer ? (enum parquet_encoding)draw_between(0, 3)
			: type != PARQUET_BOOLEAN
			    ? (enum parquet_encoding)draw_between(0, 2)
			    : PARQUET_AUTO,
	    .length =
		type == PARQUET_FIXED_LEN_BYTE_ARRAY ? (uint32_t)draw_between(1, 20) : 0,
	    .optional = draw_between(0, 1),
	    .list = draw_between(0, 3) == 0,
	};
	table->column[i].optional_elements = table->column[i].list && draw_between(0, 1);
}

static struct value draw_value(const struct parquet_column *column, bool optional)
{
	struct value value = {.null = optional && draw_between(0, 4) == 0};
	bool few = draw_between(0, 1);

	switch (column->type) {
	case PARQUET_BOOLEAN:
		value.integer = draw_between(0, 1);
		break;
	case PARQUET_INT32:
		value.integer =
		    few ? draw_between(-3, 3) : draw_between(INT32_MIN, INT32_MAX);
		break;
	case PARQUET_INT64:
		value.integer =
		    few ? draw_between(-3, 3) : draw_between(INT64_MIN, INT64_MAX);
		break;
	case PARQUET_FLOAT:
		value.real = (float)draw_real(-10, 10);
		break;
	case PARQUET_DOUBLE:
		value.real = few ? (double)draw_between(0, 5) : draw_real(-1e9, 1e9);
		break;
	default:
		value.size = column->length ? column->length
					    : (uint32_t)draw_between(0, BYTES_MOST - 1);
		for (uint32_t i = 0; i < value.size; i++)
			value.bytes[i] =
			    (char)draw_between(few ? 'x' : 0, few ? 'y' : 255);
	}
	return value;
}

static struct cell cell_of(const struct parquet_column *column, const struct value *value)
{
	struct cell cell = {.type = CELL_NULL};

	if (value->null)
		return cell;
	if (column->type == PARQUET_FLOAT || column->type == PARQUET_DOUBLE) {
		cell.type = CELL_REAL;
		cell.real = value->real;
	} else if (column->type >= PARQUET_BYTE_ARRAY) {
		cell_set_bytes(&cell, CELL_BLOB, value->bytes, value->size);
	} else {
		cell.type = CELL_INTEGER;
		cell.integer = value->integer;
	}
	return cell;
}

static void draw_table(struct table *table)
{
	table->columns = (size_t)draw_between(1, COLUMNS);
	table->rows = (size_t)draw_between(0, draw_between(0, 1) ? ROWS : 20);
	for (size_t i = 0; i < table->columns; i++) {
		draw_column_of(table, i);
		table->value[i] =
		    mem_zalloc((table->rows * LIST_MOST + 1) * sizeof(struct value));
		table->values[i] = 0;
		for (size_t row = 0; row < table->rows; row++) {
			const struct parquet_column *column = &table->column[i];
			bool empty =
			    column->list && column->optional && draw_between(0, 4) == 0;
			size_t count = !column->list ? 1
				       : empty       ? 0
						     : (size_t)draw_between(0, LIST_MOST);

			table->empty[i][row] = empty;
			table->count[i][row] = count;
			for (size_t j = 0; j < count; j++)
				table->value[i][table->values[i]++] = draw_value(
				    column, column->list ? column->optional_elements
							 : column->optional);
		}
	}
}

static void clear_table(struct table *table)
{
	for (size_t i = 0; i < table->columns; i++)
		free(table->value[i]);
}

static void write_row(const struct table *table, size_t row, size_t *at,
		      struct parquet_writer *writer)
{
	struct cell cell[COLUMNS], element[COLUMNS][LIST_MOST];
	struct parquet_list list[COLUMNS], *next = list;
	struct error error = ERROR_INIT;

	for (size_t i = 0; i < table->columns; i++) {
		const struct parquet_column *column = &table->column[i];

		for (size_t j = 0; j < table->count[i][row]; j++)
			element[i][j] = cell_of(column, &table->value[i][at[i]++]);
		cell[i] = element[i][0];
		if (column->list)
			*next++ = (struct parquet_list){.cell = element[i],
							.count = table->count[i][row],
							.null = table->empty[i][row]};
	}
	if (parquet_add_row(writer, cell, list, &error))
		fail_msg("%s", error_text(&error));
}

static void write_table(const struct table *table, const char *path)
{
	struct parquet_settings settings = {
	    .codec = (enum parquet_codec)draw_between(0, 2),
	    .group_rows = draw_between(0, 1) ? (uint64_t)draw_between(1, 400) : 0,
	    .page_rows = draw_between(0, 1) ? (uint32_t)draw_between(1, 100) : 0,
	    .dictionary_bytes = draw_between(0, 1) ? (size_t)draw_between(1, 200) : 0,
	};
	struct error error = ERROR_INIT;
	size_t at[COLUMNS] = {0};
	FILE *file = fopen(path, "wb");
	struct parquet_writer *writer;

	assert_non_null(file);
	writer =
	    parquet_writer_new(file, table->column, table->columns, &settings, &error);
	if (!writer)
		fail_msg("%s", error_text(&error));
	parquet_add_metadata(writer, "key", "value");
	for (size_t row = 0; row < table->rows; row++)
		write_row(table, row, at, writer);
	assert_int_equal(parquet_writer_finish(writer, &error), 0);
	parquet_writer_free(writer);
	assert_int_equal(fclose(file), 0);
}

static void compare(const struct parquet_column *column, const struct value *value,
		    const struct parquet_item *item)
{
	float narrow = (float)value->real;
	uint64_t bits = 0;

	assert_int_equal(item->null, value->null);
	if (value->null)
		return;
	switch (column->type) {
	case PARQUET_FLOAT:
		memcpy(&bits, &narrow, sizeof(narrow));
		break;
	case PARQUET_DOUBLE:
		memcpy(&bits, &value->real, sizeof(bits));
		break;
	case PARQUET_INT32:
		bits = (uint32_t)value->integer;
		break;
	case PARQUET_BYTE_ARRAY:
	case PARQUET_FIXED_LEN_BYTE_ARRAY:
		assert_int_equal(item->size, value->size);
		assert_memory_equal(item->bytes, value->bytes, value->size);
		return;
	default:
		bits = (uint64_t)value->integer;
	}
	assert_true(item->bits == bits);
}

static void read_row(const struct table *table, size_t i, size_t row, size_t *at,
		     struct parquet_cursor *cursor)
{
	const struct parquet_column *column = &table->column[i];
	struct error error = ERROR_INIT;
	struct parquet_item item;
	size_t count = 0;

	do {
		if (parquet_cursor_next(cursor, &item, &error) != 1)
			fail_msg("row %zu: %s", row, error_text(&error));
		assert_int_equal(item.repetition > 0, count > 0);
		/* Null or an empty list: its level says which. */
		if (column->list && !table->count[i][row]) {
			assert_true(item.null);
			assert_int_equal(item.definition,
					 column->optional && !table->empty[i][row]);
			assert_int_equal(parquet_cursor_in_row(cursor, &error), 0);
			return;
		}
		compare(column, &table->value[i][(*at)++], &item);
		count++;
	} while (parquet_cursor_in_row(cursor, &error) == 1);
	assert_null(error.text);
	assert_int_equal(count, table->count[i][row]);
}

static void read_table(const struct table *table, const char *path)
{
	struct error error = ERROR_INIT;
	struct parquet_reader *reader = parquet_reader_open(path, &error);
	struct parquet_item item;

	if (!reader)
		fail_msg("%s", error_text(&error));
	assert_int_equal(parquet_reader_rows(reader), table->rows);
	assert_int_equal(parquet_reader_leaves(reader), table->columns);
	assert_string_equal(parquet_reader_metadata(reader, "key"), "value");
	assert_null(parquet_reader_metadata(reader, "no"));
	for (size_t i = 0; i < table->columns; i++) {
		const struct parquet_leaf *leaf =
		    parquet_reader_find(reader, table->name[i]);
		struct parquet_cursor *cursor;
		size_t at = 0;

		assert_non_null(leaf);
		assert_int_equal(leaf->type, table->column[i].type);
		assert_int_equal(leaf->list, table->column[i].list);
		assert_int_equal(leaf->top, table->column[i].optional);
		cursor = parquet_cursor_new(reader, leaf);
		for (size_t row = 0; row < table->rows; row++)
			read_row(table, i, row, &at, cursor);
		assert_int_equal(parquet_cursor_next(cursor, &item, &error), 0);
		assert_int_equal(at, table->values[i]);
		parquet_cursor_free(cursor);
	}
	parquet_reader_free(reader);
}

static void what_was_written_is_read(void **state)
{
	struct table *table = mem_zalloc(sizeof(*table));

	(void)state;
	for (size_t i = rounds(60); i > 0; i--) {
		draw_table(table);
		write_table(table, "a.parquet");
		read_table(table, "a.parquet");
		clear_table(table);
	}
	free(table);
}

/* Read all that there is, up to some number of values. */
static size_t read_anything(const char *path)
{
	struct error error = ERROR_INIT;
	struct parquet_reader *reader = parquet_reader_open(path, &error);
	volatile uint64_t sum = 0; /* so that every byte is looked at */
	size_t wrong = !reader;

	for (size_t i = 0; reader && i < parquet_reader_leaves(reader); i++) {
		struct parquet_cursor *cursor =
		    parquet_cursor_new(reader, parquet_reader_leaf(reader, i));
		struct parquet_item item;
		size_t count = 0;
		int more = 1;

		while (more == 1 && count++ < READ_MOST) {
			more = parquet_cursor_next(cursor, &item, &error);
			for (uint32_t j = 0; more == 1 && !item.null && j < item.size;
			     j++)
				sum += item.bytes ? item.bytes[j] : 0;
			if (more == 1 && parquet_cursor_in_row(cursor, &error) < 0)
				more = -1;
		}
		wrong += more < 0;
		parquet_cursor_free(cursor);
	}
	assert_int_equal(wrong > 0, error.text != NULL);
	error_clear(&error);
	parquet_reader_free(reader);
	return wrong;
}

static void damage_is_told(void **state)
{
	struct table *table = mem_zalloc(sizeof(*table));
	size_t wrong = 0, count = rounds(60);

	(void)state;
	for (size_t i = count; i > 0; i--) {
		size_t size;
		char *bytes;

		draw_table(table);
		write_table(table, "a.parquet");
		clear_table(table);
		bytes = scratch_read("a.parquet", &size);
		for (int j = 0; j < 10; j++) {
			size_t cut = draw_between(0, 9)
					 ? size
					 : (size_t)draw_between(0, (int64_t)size);
			char *broken = mem_strndup("", 0);

			broken = mem_realloc(broken, size + 1, 1);
			memcpy(broken, bytes, size);
			/* Half of the damage goes to the footer. */
			for (int64_t k = draw_between(1, 6); k > 0; k--) {
				size_t tail = size < 400 ? size : 400;
				size_t at =
				    draw_between(0, 1)
					? size - 1 -
					      (size_t)draw_between(0, (int64_t)tail - 1)
					: (size_t)draw_between(0, (int64_t)size - 1);

				broken[at] = (char)draw();
			}
			scratch_bytes("b.parquet", broken, cut);
			wrong += read_anything("b.parquet") > 0;
			free(broken);
		}
		free(bytes);
	}
	/* Damage to a value's own bytes shows to nobody, but most does. */
	assert_true(count < 10 || wrong > count * 2);
	free(table);
}

static void what_is_no_file_is_refused(void **state)
{
	struct error error = ERROR_INIT;

	(void)state;
	assert_null(parquet_reader_open("missing", &error));
	assert_string_equal(error_text(&error), "missing: No such file or directory");
	assert_null(parquet_reader_open(".", &error));
	assert_string_equal(error_text(&error), ".: no plain file");
	scratch_text("short", "PAR1");
	assert_null(parquet_reader_open("short", &error));
	assert_string_equal(error_text(&error), "short: 4 bytes, no Parquet file");
	scratch_text("text", "this is a text and nothing else");
	assert_null(parquet_reader_open("text", &error));
	assert_string_equal(error_text(&error),
			    "text: no Parquet file, or one without its end");
	scratch_bytes("long", "PAR1\xff\xff\xff\x7fPAR1", 12);
	assert_null(parquet_reader_open("long", &error));
	assert_string_equal(error_text(&error), "long: a footer of 2147483647 bytes, "
						"more than there are");
	error_clear(&error);
}

static void lz4_blocks_are_unpacked(void **state)
{
	/* Literals "abcd", then 4 + 15 + 3 bytes from 4 back; the last literal "!". */
	static const uint8_t packed[] = {0x4f, 'a', 'b', 'c', 'd', 4, 0, 3, 0x10, '!'};
	uint8_t out[27];

	(void)state;
	assert_int_equal(parquet_lz4_decode(packed, sizeof(packed), out, sizeof(out)), 0);
	assert_memory_equal(out, "abcdabcdabcdabcdabcdabcdab!", sizeof(out));
	/* Too much room, too little, cut anywhere, and from before the begin. */
	assert_int_equal(parquet_lz4_decode(packed, sizeof(packed), out, 28 - 2), -1);
	for (size_t i = 0; i < sizeof(packed); i++)
		assert_int_equal(parquet_lz4_decode(packed, i, out, sizeof(out)), -1);
	assert_int_equal(parquet_lz4_decode((const uint8_t *)"\x10"
							     "a\x02\x00\x00",
					    5, out, sizeof(out)),
			 -1);
}

static void gzip_members_are_unpacked(void **state)
{
	/* printf hello | gzip -n, twice. */
	static const uint8_t packed[] =
	    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd\xc9\xc9\x07"
	    "\x00\x86\xa6\x10\x36\x05\x00\x00\x00"
	    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd\xc9\xc9\x07"
	    "\x00\x86\xa6\x10\x36\x05\x00\x00\x00";
	struct error error = ERROR_INIT;
	uint8_t out[10];

	(void)state;
	assert_int_equal(
	    parquet_decompress(2, packed, sizeof(packed) - 1, out, 10, &error), 0);
	assert_memory_equal(out, "hellohello", 10);
	assert_int_equal(
	    parquet_decompress(2, packed, sizeof(packed) - 1, out, 9, &error), -1);
	assert_string_equal(error_text(&error), "no 9 bytes of gzip within 50");
	assert_int_equal(parquet_codec_check(4, &error), -1);
	assert_string_equal(error_text(&error), "codec brotli, want none, snappy, gzip, "
						"zstd or LZ4_RAW");
	assert_int_equal(parquet_codec_check(-7, &error), -1);
	error_clear(&error);
}

/* Encodings of texts that our writer does not use, from Encodings.md. */
static void texts_that_share_bytes_are_read(void **state)
{
	static const struct parquet_leaf leaf = {.type = PARQUET_BYTE_ARRAY};
	/* "axis", "axle", "", "axle": 0, 2, 0, 0 in common, then 4, 2, 0, 4 bytes of
	 * their own, both as deltas in blocks of 128 with 4 miniblocks. */
	static const uint8_t shared[] =
	    "\x80\x01\x04\x04\x00\x03\x03\x00\x00\x00\x84\x00\x00\x00\x00\x00\x00\x00\x00"
	    "\x00\x00\x00";
	static const uint8_t lengths[] =
	    "\x80\x01\x04\x04\x08\x03\x03\x00\x00\x00\x80\x01\x00\x00\x00\x00\x00\x00\x00"
	    "\x00\x00\x00";
	static const char *const want[] = {"axis", "axle", "", "axle"};
	struct parquet_values_reader values = {.leaf = &leaf, .most = 4};
	struct error error = ERROR_INIT;
	struct bytes page = {0};

	(void)state;
	bytes_add(&page, shared, sizeof(shared) - 1);
	bytes_add(&page, lengths, sizeof(lengths) - 1);
	bytes_add(&page, "axisleaxle", 10);
	if (parquet_values_begin(&values, 7, page.data, page.size, &error))
		fail_msg("%s", error_text(&error));
	for (size_t i = 0; i < COUNT(want); i++) {
		struct parquet_datum datum;

		assert_int_equal(parquet_values_next(&values, &datum), 0);
		assert_int_equal(datum.size, strlen(want[i]));
		assert_memory_equal(datum.bytes, want[i], datum.size);
	}
	/* Cut anywhere it is no page, or one of fewer values. */
	for (size_t size = 0; size < page.size; size++) {
		struct parquet_datum datum;
		size_t count = 0;

		if (!parquet_values_begin(&values, 7, page.data, size, &error))
			while (count < 4 && !parquet_values_next(&values, &datum))
				count++;
		assert_true(count < 4);
	}
	bytes_clear(&values.text);
	bytes_clear(&page);
	error_clear(&error);
}

#define DRAWN(function)                                                                  \
	{                                                                                \
#function, function, enter, scratch_leave, NULL                          \
	}

static int enter(void **state)
{
	return draw_restart(state) | scratch_enter(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    DRAWN(what_was_written_is_read),
	    DRAWN(damage_is_told),
	    SCRATCH_TEST(what_is_no_file_is_refused),
	    cmocka_unit_test(texts_that_share_bytes_are_read),
	    cmocka_unit_test(lz4_blocks_are_unpacked),
	    cmocka_unit_test(gzip_members_are_unpacked),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
