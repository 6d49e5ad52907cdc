/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_MARKUP_H
#define CT_BASE_MARKUP_H

#include <stdbool.h>
#include <stddef.h>

/* What XML and HTML, and so SVG, make of characters. */

/* The entity of a character that has a meaning of its own there, or NULL. */
const char *markup_entity(char c);

/*
 * Whether the UTF-8 character of so many bytes may stand there: all may but the controls
 * of C0, save tab and newline, and of C1, U+FFFE and U+FFFF.
 */
bool markup_allows(const char *character, size_t length);

#endif
