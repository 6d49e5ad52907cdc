/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_SVG_CHECK_H
#define CT_TEST_SVG_CHECK_H

/*
 * Checks that a string is XML and a picture.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "test.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* A reference to a character that XML knows without a declaration. */
static inline void check_entity(const char *text)
{
	static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};

	for (size_t i = 0; i < COUNT(known); i++)
		if (strncmp(text, known[i], strlen(known[i])) == 0)
			return;
	fail_msg("not an entity: %.20s", text);
}

static inline size_t name_length(const char *text)
{
	return strcspn(text, " />=\"\n");
}

/* name="value" as often as it stands there; returns what follows. */
static const char *check_attributes(const char *text)
{
	char seen[512] = " ";

	while (*text == ' ') {
		const size_t length = name_length(++text);
		char *name = mem_printf(" %.*s ", (int)length, text);

		assert_true(length > 0);
		if (strstr(seen, name))
			fail_msg("twice:%s", name);
		strncat(seen, name + 1, sizeof(seen) - strlen(seen) - 1);
		free(name);
		text += length;
		assert_memory_equal(text, "=\"", 2);
		for (text += 2; *text != '"'; text++) {
			assert_true(*text && *text != '<');
			if (*text == '&')
				check_entity(text);
		}
		text++;
	}
	return text;
}

struct open_tags {
	const char *name[16];
	size_t depth;
};

/* From "<" on; returns what follows ">". */
static const char *check_tag(const char *text, struct open_tags *open)
{
	const bool is_end = text[1] == '/';
	const char *name = text + 1 + is_end;
	const size_t length = name_length(name);

	text = name + length;
	assert_true(length > 0);
	if (is_end) {
		const char *begin = open->name[--open->depth];

		assert_int_equal(name_length(begin), length);
		assert_memory_equal(begin, name, length);
		assert_int_equal(*text, '>');
		return text + 1;
	}
	text = check_attributes(text);
	if (*text == '/')
		text++;
	else
		open->name[open->depth++] = name;
	assert_true(open->depth < COUNT(open->name));
	assert_int_equal(*text, '>');
	return text + 1;
}

static inline void check_utf8(const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c;) {
		const size_t more = *c < 0x80 ? 0 : *c < 0xe0 ? 1 : *c < 0xf0 ? 2 : 3;

		assert_true(*c < 0x80 || *c >= 0xc2);
		assert_true(*c >= ' ' || *c == '\n' || *c == '\t');
		c++;
		for (size_t i = 0; i < more; i++, c++)
			assert_int_equal(*c & 0xc0, 0x80);
	}
}

/* That it is XML, and a picture of numbers. Names in the tests have no "nan", "inf". */
static inline void check_svg(const char *text)
{
	static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
	struct open_tags open = {.depth = 0};

	check_utf8(text);
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf"));
	assert_memory_equal(text, head, strlen(head));
	text += strlen(head);
	assert_memory_equal(text, "<svg ", 5);
	do {
		if (*text == '<') {
			text = check_tag(text, &open);
			continue;
		}
		if (*text == '&')
			check_entity(text);
		assert_int_not_equal(*text, '\0');
		text++;
	} while (open.depth > 0);
	assert_string_equal(text, "\n");
}

static inline void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in the picture", part);
}

static inline void assert_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("\"%s\" in the picture", part);
}

static inline size_t occurrences(const char *text, const char *part)
{
	size_t count = 0;

	while ((text = strstr(text, part))) {
		count++;
		text += strlen(part);
	}
	return count;
}

#endif
