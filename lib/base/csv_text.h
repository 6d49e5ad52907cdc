/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_CSV_TEXT_H
#define CT_BASE_CSV_TEXT_H

#include <stdio.h>

#include "base/cell.h"
#include "base/number.h"

/*
 * A writer of comma-separated values (RFC 4180) in UTF-8. Records end with CR LF; a field
 * that contains a comma, a quote or a line break is quoted. NULL is an empty field, an
 * empty text is "". Reals have as many digits as are needed to read back the same number,
 * and a point or an exponent. Blobs are hexadecimal. In texts, bytes that are not UTF-8
 * become U+FFFD.
 *
 * Write errors are left in the file (ferror). The file is not locked: only one thread may
 * use it.
 */
void csv_put(FILE *file, const struct cell *cell);

/* Format a number, without a terminating NUL. Return its length. */
size_t csv_number(char text[NUMBER_TEXT], const struct cell *cell);

void csv_put_text(FILE *file, const char *bytes, size_t size);

/* Write a comma between fields, and the end of a record. */
void csv_put_comma(FILE *file);
void csv_put_end(FILE *file);

#endif
