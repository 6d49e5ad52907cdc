/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_UNPACK_H
#define CT_INPUT_CAPTURE_UNPACK_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* A file that may be compressed by gzip or zstd, which its first bytes show. */
struct unpacked;

/*
 * Open a file and set `*stream` to its unpacked content, which is not seekable. The
 * caller closes the stream before unpacked_free(). Return NULL with error, which does not
 * contain the path.
 */
struct unpacked *unpacked_open(const char *path, FILE **stream, struct error *error);

/* Return how many bytes of the file itself have been read. */
uint64_t unpacked_bytes(const struct unpacked *unpacked);

/* Return the reason why reading the stream failed, or NULL. */
const char *unpacked_fault(const struct unpacked *unpacked);

void unpacked_free(struct unpacked *unpacked);

#endif
