/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_CSV_TEXT_H
#define CT_BASE_CSV_TEXT_H

#include <stdio.h>

#include "base/cell.h"
#include "base/number.h"

/*
 * Comma separated values as RFC 4180 has them, in UTF-8: records end with CR LF, a field
 * with a comma, a quote or a line break in it stands in quotes. NULL is an empty field, a
 * text without a character is "". Reals have as many digits as make the same number when
 * read, and a point or an exponent; blobs are in hexadecimal; bytes of a text that are no
 * UTF-8 become U+FFFD. Errors of writing are the file's (ferror). One thread has the
 * file: it is not locked.
 */
void csv_put(FILE *file, const struct cell *cell);

/* A number's text, without a final 0. Returns its length. */
size_t csv_number(char text[NUMBER_TEXT], const struct cell *cell);

void csv_put_text(FILE *file, const char *bytes, size_t size);

/* Between fields, and after the last. */
void csv_put_comma(FILE *file);
void csv_put_end(FILE *file);

#endif
