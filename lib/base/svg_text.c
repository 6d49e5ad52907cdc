/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/svg.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

/* Whether the byte goes on with a character of UTF-8. */
static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Widths in a font size of 1, on the side of too much. */
static double advance(char c)
{
	if (continues(c))
		return 0;
	if ((unsigned char)c >= 0xe3) /* Chinese, Japanese, Korean and beyond */
		return 1;
	if (strchr("iIjl.,:;|!'()[] -", c))
		return c == '-' ? 0.37 : 0.35;
	if (strchr("mwMW@%", c))
		return 0.95;
	if (c >= 'A' && c <= 'Z')
		return 0.72;
	return 0.63;
}

double svg_text_width(const char *text, double size)
{
	double width = 0;

	while (*text)
		width += advance(*text++);
	return width * size;
}

char *svg_text_fit(const char *text, double size, double room)
{
	size_t head = 0, tail = strlen(text);
	double left = room - 0.9 * size;

	if (svg_text_width(text, size) <= room)
		return mem_strdup(text);
	/* Names of hosts tend to differ at both ends: keep those. */
	while (head < tail) {
		const int from_head = head <= strlen(text) - tail;
		const char c = from_head ? text[head] : text[tail - 1];

		left -= advance(c) * size;
		if (left < 0)
			break;
		if (from_head)
			head++;
		else
			tail--;
	}
	while (head > 0 && continues(text[head]))
		head--;
	while (continues(text[tail]))
		tail++;
	return mem_printf("%.*s\xe2\x80\xa6%s", (int)head, text, text + tail);
}

size_t svg_text_break(const char *text, double size, double room)
{
	size_t end = 0, word = 0;
	double width = 0;

	while (text[end]) {
		width += advance(text[end]) * size;
		if (width > room && end > 0 && !continues(text[end]))
			break;
		if (text[end++] == ' ')
			word = end;
	}
	return text[end] && word ? word : end;
}
