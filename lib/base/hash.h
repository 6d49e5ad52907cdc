/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_HASH_H
#define CT_BASE_HASH_H

#include <stdbool.h>
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

/* Mix the bits of a number: the finalizer of splitmix64 (Steele, Lea and Flood 2014). */
static inline uint64_t hash_mix(uint64_t hash)
{
	hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
	return hash ^ (hash >> 31);
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

/* A map from integers to integers, by open addressing. Zeroed is empty. */
struct intmap {
	struct intmap_slot *slot;
	size_t slots, count; /* slots is 0 or a power of two */
};

void intmap_put(struct intmap *map, uint64_t key, int64_t value);

/* Whether the key is there, and its value. */
bool intmap_get(const struct intmap *map, uint64_t key, int64_t *value);

/* As intmap_get, and the key is gone after it. */
bool intmap_take(struct intmap *map, uint64_t key, int64_t *value);

void intmap_clear(struct intmap *map);

/* Texts that come again and again, each kept once and numbered. Zeroed is empty. */
struct texts {
	struct texts_entry {
		char *text;
		size_t size;
		int64_t next; /* another with its hash, or -1 */
	} * entry;
	size_t count, capacity;
	struct intmap first; /* by hash: the latest entry with it */
};

/* The number of a text, from 0 on in the order of their coming; copies it. */
size_t texts_put(struct texts *texts, const char *text);

/* The same of any bytes. */
size_t texts_put_bytes(struct texts *texts, const char *bytes, size_t size);

/* Return true if the text is in the set. */
bool texts_have(const struct texts *texts, const char *text);

/* The text of a number; borrowed until the clear. */
const char *texts_get(const struct texts *texts, size_t number);

void texts_clear(struct texts *texts);

#endif
