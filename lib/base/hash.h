/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_HASH_H
#define CT_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 64-bit FNV-1a (Fowler, Noll, Vo). `hash` is HASH_INIT or the hash of preceding bytes.
 */
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

/* Hash a string including its NUL, so that consecutive strings do not run together. */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text, strlen(text) + 1);
}

/*
 * Return an id that depends on the hash alone: its 47 bits, with the 48th set. Two of a
 * thousand such ids are equal with a probability of 4e-9.
 */
static inline int64_t hash_id(uint64_t hash)
{
	return (int64_t)((hash ^ hash >> 32) & ((UINT64_C(1) << 47) - 1)) | INT64_C(1)
										<< 47;
}

/* A hash map from integers to integers with open addressing. Zero-initialize before use.
 */
struct intmap {
	struct intmap_slot *slot;
	size_t slots, count; /* slots is 0 or a power of two */
};

void intmap_put(struct intmap *map, uint64_t key, int64_t value);

/* Return true and set `value` if the map contains the key. */
bool intmap_get(const struct intmap *map, uint64_t key, int64_t *value);

/* Remove the key. Return true and set `value` if the map contained it. */
bool intmap_remove(struct intmap *map, uint64_t key, int64_t *value);

void intmap_clear(struct intmap *map);

/* A set of strings, each stored once and numbered. Zero-initialize before use. */
struct texts {
	struct texts_entry {
		char *text;
		size_t size;
		int64_t next; /* index of an earlier entry with the same hash, or -1 */
	} * entry;
	size_t count, capacity;
	struct intmap first; /* hash to the index of the latest entry with it */
};

/* Return the number of a string, adding a copy if it is new. Numbers count from 0 in
 * order of insertion. */
size_t texts_put(struct texts *texts, const char *text);

/* Do the same for bytes, which may contain NULs. */
size_t texts_put_bytes(struct texts *texts, const char *bytes, size_t size);

bool texts_have(const struct texts *texts, const char *text);
bool texts_have_bytes(const struct texts *texts, const char *bytes, size_t size);

/* Return the string with this number. It is valid until texts_clear(). */
const char *texts_get(const struct texts *texts, size_t number);

void texts_clear(struct texts *texts);

#endif
