/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/csv_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/number.h"
#include "base/utf8.h"

static size_t write_real(char text[NUMBER_TEXT], double real)
{
	if (!strpbrk(number_print(text, real), ".en"))
		strcat(text, ".0");
	return strlen(text);
}

static size_t write_integer(char text[NUMBER_TEXT], int64_t integer)
{
	char digits[24], *at = digits + sizeof(digits);
	uint64_t rest = integer < 0 ? -(uint64_t)integer : (uint64_t)integer;
	size_t size;

	do
		*--at = (char)('0' + rest % 10);
	while (rest /= 10);
	if (integer < 0)
		*--at = '-';
	size = (size_t)(digits + sizeof(digits) - at);
	memcpy(text, at, size);
	return size;
}

size_t csv_number(char text[NUMBER_TEXT], const struct cell *cell)
{
	return cell->type == CELL_REAL ? write_real(text, cell->real)
				       : write_integer(text, cell->integer);
}

static void put_blob(FILE *file, const struct cell *cell)
{
	static const char digit[] = "0123456789abcdef";

	if (!cell->size)
		fputs_unlocked("\"\"", file);
	for (uint32_t i = 0; i < cell->size; i++) {
		unsigned char byte = (unsigned char)cell->bytes[i];

		putc_unlocked(digit[byte >> 4], file);
		putc_unlocked(digit[byte & 15], file);
	}
}

static void put_quoted(FILE *file, const char *bytes, size_t size)
{
	putc_unlocked('"', file);
	for (size_t at = 0; at < size;) {
		size_t length = utf8_length_within(bytes + at, size - at);

		if (length == 0)
			fputs_unlocked(UTF8_REPLACEMENT, file);
		else if (bytes[at] == '"')
			fputs_unlocked("\"\"", file);
		else
			fwrite_unlocked(bytes + at, 1, length, file);
		at += length ? length : 1;
	}
	putc_unlocked('"', file);
}

/* Return true if every CSV reader reads the unquoted bytes as exactly this text. */
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
		fwrite_unlocked(bytes, 1, size, file);
	else
		put_quoted(file, bytes, size);
}

void csv_put(FILE *file, const struct cell *cell)
{
	char text[NUMBER_TEXT];

	switch (cell->type) {
	case CELL_NULL:
		break;
	case CELL_INTEGER:
	case CELL_REAL:
		fwrite_unlocked(text, 1, csv_number(text, cell), file);
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
	putc_unlocked(',', file);
}

void csv_put_end(FILE *file)
{
	fputs_unlocked("\r\n", file);
}
