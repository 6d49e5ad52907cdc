/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_UNPACK_H
#define CT_INPUT_CAPTURE_UNPACK_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* A file that may be compressed by gzip or zstd, which its first bytes tell. */
struct unpacked;

/*
 * Open a file to read what is in it, from `*stream` on, which cannot be positioned. NULL
 * with error, without the path in it. Closing the stream is up to the caller, and comes
 * before unpacked_free().
 */
struct unpacked *unpacked_open(const char *path, FILE **stream, struct error *error);

/* Return how many bytes of the file itself have been read. */
uint64_t unpacked_bytes(const struct unpacked *unpacked);

/* Return why the stream could not be read on, or NULL. */
const char *unpacked_fault(const struct unpacked *unpacked);

void unpacked_free(struct unpacked *unpacked);

#endif
