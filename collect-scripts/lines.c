/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collect-scripts/lines.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* What needs no quotes: nothing of it means anything to a shell inside `set --`. */
static bool is_plain(const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_./:,+@%=-";

	return *text && !text[strspn(text, plain)];
}

void lines_begin(struct lines *lines, const char *kind)
{
	assert(!lines->open && is_plain(kind));
	fputs(kind, lines->file);
	lines->open = true;
}

void lines_word(struct lines *lines, const char *text)
{
	assert(lines->open);
	putc(' ', lines->file);
	if (!text)
		text = "";
	if (is_plain(text)) {
		fputs(text, lines->file);
		return;
	}
	putc('\'', lines->file);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", lines->file);
		else if (*text == '\n')
			fputs("'\"$NL\"'", lines->file);
		else
			putc(*text, lines->file);
	putc('\'', lines->file);
}

void lines_number(struct lines *lines, int64_t value)
{
	assert(lines->open);
	fprintf(lines->file, " %" PRId64, value);
}

void lines_end(struct lines *lines)
{
	assert(lines->open);
	putc('\n', lines->file);
	lines->open = false;
}
