/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

/* Return true if the second byte is possible after the first. */
static bool second_fits(const unsigned char *byte)
{
	unsigned char least = 0x80, most = 0xbf;

	if (byte[0] == 0xe0)
		least = 0xa0; /* smaller values are overlong forms */
	if (byte[0] == 0xed)
		most = 0x9f; /* larger values are surrogates */
	if (byte[0] == 0xf0)
		least = 0x90;
	if (byte[0] == 0xf4)
		most = 0x8f; /* larger values are above U+10FFFF */
	return byte[1] >= least && byte[1] <= most;
}

size_t utf8_length_within(const char *text, size_t size)
{
	const unsigned char *byte = (const unsigned char *)text;
	size_t length;

	if (!size)
		return 0;
	if (byte[0] < 0x80)
		return 1;
	if (byte[0] < 0xc2 || byte[0] > 0xf4)
		return 0;
	length = byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
	if (size < length || !second_fits(byte))
		return 0;
	for (size_t k = 2; k < length; k++)
		if (byte[k] < 0x80 || byte[k] > 0xbf)
			return 0;
	return length;
}

size_t utf8_length(const char *text)
{
	return utf8_length_within(text, *text ? strnlen(text, 4) : 1);
}

size_t utf8_from_character(uint32_t character, char bytes[4])
{
	uint32_t c = character;
	size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = size; i-- > 1; c >>= 6)
		bytes[i] = (char)(0x80 | (c & 0x3f));
	bytes[0] = (char)(c | (size == 1 ? 0 : 0xf00u >> size));
	return size;
}

static uint32_t unit_at(const char *text, unsigned unit, bool is_big)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < unit; i++)
		value = value << 8 | (unsigned char)text[is_big ? i : unit - 1 - i];
	return value;
}

bool utf8_add_wide(struct bytes *utf8, const char *text, size_t size, unsigned unit,
		   bool is_big)
{
	bool is_right = size % unit == 0;

	for (size_t at = 0; at + unit <= size; at += unit) {
		uint32_t c = unit_at(text + at, unit, is_big), low = 0;
		char bytes[4];

		if (unit == 2 && c >= 0xd800 && c < 0xdc00 && at + 4 <= size)
			low = unit_at(text + at + 2, unit, is_big);
		if (low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			at += unit;
		}
		if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
			is_right = false;
			c = 0xfffd;
		}
		bytes_add(utf8, bytes, utf8_from_character(c, bytes));
	}
	return is_right;
}

bool utf8_is_valid(const char *bytes, size_t size)
{
	while (size) {
		size_t step = size < 8 ? size : 8;
		uint64_t eight = 0;

		/* Check up to eight ASCII characters at once. */
		if (step == 8)
			memcpy(&eight, bytes, 8);
		else
			memcpy(&eight, bytes, step);
		if (eight & 0x8080808080808080u)
			step = utf8_length_within(bytes, size);
		if (!step)
			return false;
		bytes += step;
		size -= step;
	}
	return true;
}

/* Characters that are invisible or reorder text: the bidirectional controls (Unicode,
 * annex 9), all others that a font may leave out (Default_Ignorable_Code_Point), line and
 * paragraph separators, and the format characters of annotations and hieroglyphs. */
static bool is_format(uint32_t c)
{
	static const uint32_t range[][2] = {
	    {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},
	    {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
	    {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
	    {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
	    {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0x13430, 0x1343f},
	    {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
	};

	for (size_t i = 0; i < sizeof(range) / sizeof(*range); i++)
		if (c >= range[i][0] && c <= range[i][1])
			return true;
	return false;
}

bool utf8_is_control(const char *character)
{
	const unsigned char *byte = (const unsigned char *)character;
	size_t length;
	uint32_t c;

	if (*byte < 0x80)
		return *byte < ' ' || *byte == 0x7f;
	length = utf8_length(character);
	c = *byte & (0x7fu >> length);
	for (size_t i = 1; i < length; i++)
		c = c << 6 | (byte[i] & 0x3f);
	return length && (c < 0xa0 || is_format(c));
}

void utf8_print(FILE *file, const char *text)
{
	while (*text) {
		size_t shown = 0, length = utf8_length(text);

		/* Find all that can be written at once: standard error has no buffer. */
		while (length && !utf8_is_control(text + shown)) {
			shown += length;
			length = utf8_length(text + shown);
		}
		fwrite(text, 1, shown, file);
		text += shown;
		for (length += !length; length && *text; length--)
			fprintf(file, "\\x%02x", (unsigned char)*text++);
	}
}

char *utf8_shorten(const char *text)
{
	size_t size = 0, length;

	if (strnlen(text, UTF8_SHOWN + 1) <= UTF8_SHOWN)
		return mem_strdup(text);
	while (size + (length = utf8_length(text + size)) <= UTF8_SHOWN)
		size += length ? length : 1;
	return mem_printf("%.*s...", (int)size, text);
}

char *utf8_clean(const char *text)
{
	char *clean = mem_alloc(3 * strlen(text) + 1), *end = clean;

	while (*text) {
		size_t length = utf8_length(text);

		end = mempcpy(end, length ? text : UTF8_REPLACEMENT, length ? length : 3);
		text += length ? length : 1;
	}
	*end = '\0';
	return clean;
}
