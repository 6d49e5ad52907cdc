/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_UTF8_H
#define CT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/bytes.h"

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/*
 * How many bytes of UTF-8 make the character at text (Unicode, table 3-7);
 * 0 where they make none. The terminating NUL is no continuation byte, so
 * nothing past the end is read.
 */
size_t utf8_length(const char *text);

/* The same of a text that is `size` bytes long and has no terminating NUL. */
size_t utf8_length_within(const char *text, size_t size);

/* The bytes of a character, one to four; how many. */
size_t utf8_encode(uint32_t character, char bytes[4]);

/*
 * Append text of UTF-16 or UTF-32, with `unit` bytes of either order. False where some of
 * it is not text; U+FFFD stands there.
 */
bool utf8_add_wide(struct bytes *utf8, const char *text, size_t size, unsigned unit,
		   bool is_big);

/* Whether all bytes are UTF-8; a NUL is a character like others. */
bool utf8_is_valid(const char *bytes, size_t size);

/* Return true if the character is a control (C0, DEL, C1), or a format character that is
 * invisible or reorders the text around it (U+202E). */
bool utf8_is_control(const char *character);

/*
 * Print text for people, with nothing in it that moves a cursor or hides or reorders
 * text: the bytes of controls (utf8_is_control), and bytes that are not UTF-8, become
 * \x1b.
 */
void utf8_print(FILE *file, const char *text);

/* A copy with U+FFFD for each byte that is no UTF-8; the caller frees it. */
char *utf8_clean(const char *text);

#endif
