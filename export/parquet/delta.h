/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_DELTA_H
#define CT_EXPORT_PARQUET_DELTA_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/*
 * Add `count` integers, given as PLAIN has them (`width` 4 or 8 bytes each), as
 * DELTA_BINARY_PACKED of the Parquet format (Encodings.md): blocks of 128
 * differences, less the least of them, bit-packed 32 at a time. Differences
 * wrap around, so that any integers go.
 */
void parquet_delta_add(struct bytes *out, const uint8_t *plain, size_t count,
		       unsigned width);

#endif
