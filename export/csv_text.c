/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/csv_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static void put_real(FILE *file, double real)
{
	char text[40];

	if (isinf(real)) {
		fputs(real < 0 ? "-inf" : "inf", file);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, real);
		if (strtod(text, NULL) == real)
			break;
	}
	fputs(text, file);
	if (!strpbrk(text, ".en"))
		fputs(".0", file);
}

static void put_integer(FILE *file, int64_t integer)
{
	char text[24], *at = text + sizeof(text);
	uint64_t rest = integer < 0 ? -(uint64_t)integer : (uint64_t)integer;

	do
		*--at = (char)('0' + rest % 10);
	while (rest /= 10);
	if (integer < 0)
		*--at = '-';
	fwrite(at, 1, (size_t)(text + sizeof(text) - at), file);
}

static void put_blob(FILE *file, const struct cell *cell)
{
	static const char digit[] = "0123456789abcdef";

	if (!cell->size)
		fputs("\"\"", file);
	for (uint32_t i = 0; i < cell->size; i++) {
		unsigned char byte = (unsigned char)cell->bytes[i];

		putc(digit[byte >> 4], file);
		putc(digit[byte & 15], file);
	}
}

/* In quotes, with bytes that are no UTF-8 replaced. */
static void put_quoted(FILE *file, const char *bytes, size_t size)
{
	putc('"', file);
	for (size_t at = 0; at < size;) {
		size_t length = utf8_length_within(bytes + at, size - at);

		if (length == 0)
			fputs(UTF8_REPLACEMENT, file);
		else if (bytes[at] == '"')
			fputs("\"\"", file);
		else
			fwrite(bytes + at, 1, length, file);
		at += length ? length : 1;
	}
	putc('"', file);
}

/* Whether a reader takes the bytes as they are for this text and no other. */
static bool is_plain(const char *bytes, size_t size)
{
	if (!size || bytes[0] == ' ' || bytes[size - 1] == ' ')
		return false;
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)bytes[i] < ' ' || (unsigned char)bytes[i] >= 0x7f ||
		    bytes[i] == '"' || bytes[i] == ',')
			return false;
	return true;
}

void csv_put_text(FILE *file, const char *bytes, size_t size)
{
	if (is_plain(bytes, size))
		fwrite(bytes, 1, size, file);
	else
		put_quoted(file, bytes, size);
}

void csv_put(FILE *file, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_NULL:
		break;
	case CELL_INTEGER:
		put_integer(file, cell->integer);
		break;
	case CELL_REAL:
		put_real(file, cell->real);
		break;
	case CELL_TEXT:
		csv_put_text(file, cell->bytes, cell->size);
		break;
	case CELL_BLOB:
		put_blob(file, cell);
	}
}

void csv_put_comma(FILE *file)
{
	putc(',', file);
}

void csv_put_end(FILE *file)
{
	fputs("\r\n", file);
}
