/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

enum { NUMBER_TEXT = 32 };

char *ctf_text_more(struct ctf_text *text, size_t size)
{
	if (!text->data || size > text->room - text->size) {
		text->room = 2 * (text->size + size);
		text->data = mem_realloc(text->data, text->room, 1);
	}
	text->size += size;
	return text->data + text->size - size;
}

void ctf_text_add(struct ctf_text *text, const char *bytes, size_t size)
{
	if (size)
		memcpy(ctf_text_more(text, size), bytes, size);
}

static void add_char(struct ctf_text *text, char c)
{
	*ctf_text_more(text, 1) = c;
}

void ctf_text_add_string(struct ctf_text *text, const char *bytes, size_t size)
{
	add_char(text, '"');
	for (size_t i = 0, step; i < size; i += step) {
		unsigned char c = (unsigned char)bytes[i];
		char escape[8];

		step = utf8_length_within(bytes + i, size - i);
		if (!step) {
			step = 1;
			ctf_text_add(text, UTF8_REPLACEMENT, strlen(UTF8_REPLACEMENT));
		} else if (c < 0x20) {
			snprintf(escape, sizeof(escape), "\\u%04x", c);
			ctf_text_add(text, escape, 6);
		} else {
			if (c == '"' || c == '\\')
				add_char(text, '\\');
			ctf_text_add(text, bytes + i, step);
		}
	}
	add_char(text, '"');
}

void ctf_text_add_real(struct ctf_text *text, double real, int digits)
{
	char number[NUMBER_TEXT] = "null";

	if (isfinite(real))
		snprintf(number, sizeof(number), "%.*g", digits, real);
	ctf_text_add(text, number, strlen(number));
}

void ctf_text_add_integer(struct ctf_text *text, uint64_t value, bool is_signed)
{
	char number[NUMBER_TEXT];

	snprintf(number, sizeof(number), is_signed ? "%" PRId64 : "%" PRIu64, value);
	ctf_text_add(text, number, strlen(number));
}

void ctf_text_clear(struct ctf_text *text)
{
	free(text->data);
	text->data = NULL;
	text->size = text->room = 0;
}
