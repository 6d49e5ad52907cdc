/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_TEXT_H
#define CT_EXPORT_PARQUET_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is all of it UTF-8 (Unicode, table 3-7)? A byte 0 is a character, too. */
bool parquet_is_text(const char *text, size_t size);

/* The most bytes up to `size` that end with a whole character. */
size_t parquet_whole_characters(const uint8_t *text, size_t size);

/*
 * Turn a prefix into what sorts after everything that begins with it, in
 * place; not longer than it was. The new size, or 0 where there is no such.
 * Text stays text.
 */
size_t parquet_next_bytes(uint8_t *prefix, size_t size);
size_t parquet_next_text(uint8_t *prefix, size_t size);

#endif
