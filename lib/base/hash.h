/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_HASH_H
#define CT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* FNV-1a (Fowler, Noll, Vo), 64 bits: HASH_INIT, or the hash of what came before. */
#define HASH_INIT UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash =
		    (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* A text with its end. */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text, strlen(text) + 1);
}

/*
 * A hash as an id that is the same wherever it is made: of 47 bits, with the 48th set.
 * Among a thousand two are the same with a probability of 4e-9.
 */
static inline int64_t hash_id(uint64_t hash)
{
	return (int64_t)((hash ^ hash >> 32) & ((UINT64_C(1) << 47) - 1)) | INT64_C(1)
										<< 47;
}

#endif
