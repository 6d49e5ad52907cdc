/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parquet-dump FILE: what our reader finds, a line of JSON each: the leaves, and then for
 * each leaf its rows. Integers and booleans are in decimal, reals are the bits and bytes
 * the bytes in hexadecimal; a list is an array.
 */
#include <inttypes.h>
#include <stdio.h>

#include "export/parquet/read.h"

static void print_leaf(const struct parquet_leaf *leaf)
{
	printf("{\"name\":\"%s\",\"path\":\"%s\",\"type\":%d,\"top\":%d,\"list\":%d,"
	       "\"string\":%d,\"milli\":%d}\n",
	       leaf->name, leaf->path, leaf->type, (int)leaf->top, leaf->list,
	       leaf->string, leaf->timestamp_milli);
}

static void print_value(const struct parquet_leaf *leaf, const struct parquet_item *item)
{
	if (item->null) {
		fputs("null", stdout);
		return;
	}
	putchar('"');
	switch (leaf->type) {
	case PARQUET_BOOLEAN:
	case PARQUET_INT32:
		printf("%" PRId32, (int32_t)item->bits);
		break;
	case PARQUET_INT64:
		printf("%" PRId64, (int64_t)item->bits);
		break;
	case PARQUET_FLOAT:
		printf("%08" PRIx64, item->bits);
		break;
	case PARQUET_DOUBLE:
		printf("%016" PRIx64, item->bits);
		break;
	default:
		for (uint32_t i = 0; i < item->size; i++)
			printf("%02x", item->bytes[i]);
	}
	putchar('"');
}

/* A list of one level: null, empty, or of elements. */
static int print_list(struct parquet_cursor *cursor, const struct parquet_leaf *leaf,
		      const struct parquet_item *first, struct error *error)
{
	unsigned empty = leaf->top == PARQUET_OPTIONAL;
	struct parquet_item item = *first;
	int more = 1;

	if (item.definition < empty) {
		fputs("null", stdout);
		return 0;
	}
	putchar('[');
	if (item.definition > empty)
		print_value(leaf, &item);
	while (more > 0 && (more = parquet_cursor_in_row(cursor, error)) > 0) {
		more = parquet_cursor_next(cursor, &item, error);
		putchar(',');
		print_value(leaf, &item);
	}
	putchar(']');
	return more < 0 ? -1 : 0;
}

static int print_rows(struct parquet_reader *reader, const struct parquet_leaf *leaf,
		      struct error *error)
{
	struct parquet_cursor *cursor = parquet_cursor_new(reader, leaf);
	struct parquet_item item;
	const char *comma = "";
	int more;

	putchar('[');
	while ((more = parquet_cursor_next(cursor, &item, error)) > 0) {
		fputs(comma, stdout);
		comma = ",";
		if (!leaf->most_repetition)
			print_value(leaf, &item);
		else if (print_list(cursor, leaf, &item, error)) {
			more = -1;
			break;
		}
	}
	puts("]");
	parquet_cursor_free(cursor);
	return more;
}

int main(int argc, char **argv)
{
	struct error error = ERROR_INIT;
	struct parquet_reader *reader;
	int status = 0;

	if (argc != 2) {
		fputs("usage: parquet-dump FILE\n", stderr);
		return 2;
	}
	reader = parquet_reader_open(argv[1], &error);
	for (size_t i = 0; reader && i < parquet_reader_leaves(reader); i++)
		print_leaf(parquet_reader_leaf(reader, i));
	for (size_t i = 0; reader && !status && i < parquet_reader_leaves(reader); i++)
		status = print_rows(reader, parquet_reader_leaf(reader, i), &error);
	parquet_reader_free(reader);
	if (error.text)
		fprintf(stderr, "parquet-dump: %s\n", error.text);
	status = error.text || fflush(stdout) ? 1 : 0;
	error_clear(&error);
	return status;
}
