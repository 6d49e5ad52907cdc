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
 * Return the number of bytes of the UTF-8 character at `text` (Unicode, table 3-7), or 0
 * if it is not a character. Nothing is read past the terminating NUL, which is never a
 * continuation byte.
 */
size_t utf8_length(const char *text);

/* Do the same for `size` bytes without a terminating NUL. */
size_t utf8_length_within(const char *text, size_t size);

/* Encode a character as UTF-8. Return the number of bytes, 1 to 4. */
size_t utf8_from_character(uint32_t character, char bytes[4]);

/*
 * Convert UTF-16 (`unit` 2) or UTF-32 (`unit` 4) and append it. Return false if a part of
 * it is invalid, for which U+FFFD is appended.
 */
bool utf8_add_wide(struct bytes *utf8, const char *text, size_t size, unsigned unit,
		   bool is_big);

/* Return true if all bytes are UTF-8; a NUL is a valid character. */
bool utf8_is_valid(const char *bytes, size_t size);

/* Return true if the character is a control (C0, DEL, C1), or a format character that is
 * invisible or reorders the text around it (U+202E). */
bool utf8_is_control(const char *character);

/*
 * Print a string safely to a terminal. Controls (utf8_is_control), which could move the
 * cursor or hide or reorder text, and bytes that are not UTF-8 are printed as \x1b.
 */
void utf8_print(FILE *file, const char *text);

/* Copy a string that people read: all of it, or of a longer one UTF8_SHOWN bytes, as long
 * as a path can be, and an ellipsis. The caller frees the result. */
enum { UTF8_SHOWN = 4096 };
char *utf8_shorten(const char *text);

/* Copy a string, replacing each byte that is not UTF-8 by U+FFFD. The caller frees the
 * result. */
char *utf8_clean(const char *text);

#endif
