/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/text.h"

#include <string.h>

#include "base/utf8.h"

bool parquet_is_text(const char *text, size_t size)
{
	size_t at = 0;

	while (at < size) {
		/* A copy that ends, as the text need not. */
		char character[5] = {0};
		size_t length, left = size - at;
		uint64_t eight;

		if (left >= 8) {
			memcpy(&eight, text + at, 8);
			if (!(eight & UINT64_C(0x8080808080808080))) {
				at += 8;
				continue;
			}
		}
		if (!((uint8_t)text[at] & 0x80)) {
			at++;
			continue;
		}
		memcpy(character, text + at, left < 4 ? left : 4);
		length = utf8_length(character);
		if (length == 0)
			return false;
		at += length;
	}
	return true;
}

/* Where the last character begins. */
static size_t last_character(const uint8_t *text, size_t size)
{
	size_t at = size - 1;

	while (at > 0 && (text[at] & 0xc0) == 0x80)
		at--;
	return at;
}

size_t parquet_whole_characters(const uint8_t *text, size_t size)
{
	char character[5] = {0};
	size_t at;

	if (size == 0)
		return 0;
	at = last_character(text, size);
	memcpy(character, text + at, size - at < 4 ? size - at : 4);
	return utf8_length(character) == size - at ? size : at;
}

size_t parquet_next_bytes(uint8_t *prefix, size_t size)
{
	while (size > 0 && prefix[size - 1] == 0xff)
		size--;
	if (size > 0)
		prefix[size - 1]++;
	return size;
}

/* The next character of as many bytes; false where this is the last of them. */
static bool next_character(uint8_t *text, size_t length)
{
	uint8_t copy[5] = {0};
	size_t at = length;

	memcpy(copy, text, length);
	while (at-- > 0) {
		/* Continuation bytes carry from 0xbf to 0x80. */
		if (at > 0 && copy[at] == 0xbf) {
			copy[at] = 0x80;
			continue;
		}
		copy[at]++;
		break;
	}
	/* U+D800 to U+DFFF are no characters: go on behind them. */
	if (length == 3 && copy[0] == 0xed && copy[1] == 0xa0)
		memcpy(copy, "\xee\x80\x80", 3);
	if (utf8_length((const char *)copy) != length)
		return false;
	memcpy(text, copy, length);
	return true;
}

size_t parquet_next_text(uint8_t *prefix, size_t size)
{
	while (size > 0) {
		size_t at = last_character(prefix, size);

		if (next_character(prefix + at, size - at))
			return size;
		size = at;
	}
	return 0;
}
