/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/dictionary.h"

#include <stdlib.h>

#include "base/mem.h"

/*
 * A table at most half full has short chains. Where they are long all the
 * same, values were chosen to collide: the dictionary counts as full.
 */
enum { FEWEST_SLOTS = 256, LONGEST_CHAIN = 128 };

static uint64_t mix(uint64_t hash)
{
	hash ^= hash >> 32;
	hash *= UINT64_C(0xd6e8feb86659fd93);
	hash ^= hash >> 32;
	hash *= UINT64_C(0xd6e8feb86659fd93);
	return hash ^ hash >> 32;
}

static uint64_t hash_bytes(const uint8_t *data, size_t size)
{
	uint64_t hash = size, part;

	for (; size >= 8; size -= 8, data += 8) {
		memcpy(&part, data, 8);
		hash = mix(hash ^ part) * UINT64_C(0x9e3779b97f4a7c15);
	}
	part = 0;
	memcpy(&part, data, size);
	return mix(hash ^ part);
}

static uint64_t hash_value(const struct parquet_value *value)
{
	return value->bytes ? hash_bytes(value->bytes, value->size) : mix(value->bits);
}

/* Where its bytes are, and how many. */
static const uint8_t *entry(const struct parquet_dictionary *dictionary, uint32_t code,
			    uint32_t *size)
{
	const uint8_t *at;

	*size = dictionary->width;
	if (dictionary->width)
		return dictionary->plain.data + (size_t)code * dictionary->width;
	at = dictionary->plain.data + dictionary->place[code];
	*size = (uint32_t)bytes_le(at, 4);
	return at + 4;
}

static bool is_entry(const struct parquet_dictionary *dictionary, uint32_t code,
		     const struct parquet_value *value)
{
	uint32_t size;
	const uint8_t *at = entry(dictionary, code, &size);

	if (!value->bytes) /* one of 4 bytes may have been sign-extended */
		return bytes_le(at, size) ==
		       (size == 4 ? (uint32_t)value->bits : value->bits);
	return size == value->size && memcmp(at, value->bytes, size) == 0;
}

/* The slot of a value, or where it would be; `slots` where the chain is too long. */
static uint32_t find(const struct parquet_dictionary *dictionary,
		     const struct parquet_value *value)
{
	uint32_t mask = dictionary->slots - 1, at = (uint32_t)hash_value(value) & mask;

	for (unsigned i = 0; i < LONGEST_CHAIN; i++, at = (at + 1) & mask) {
		uint32_t code = dictionary->slot[at];

		if (code == 0 || is_entry(dictionary, code - 1, value))
			return at;
	}
	return dictionary->slots;
}

/* The value of an entry; its bytes are the dictionary's. */
static struct parquet_value value_at(const struct parquet_dictionary *dictionary,
				     uint32_t code, bool array)
{
	struct parquet_value value = {0};
	const uint8_t *at = entry(dictionary, code, &value.size);

	if (array)
		value.bytes = at;
	else
		value.bits = bytes_le(at, value.size);
	return value;
}

/* Twice the slots; false where an entry finds no place. */
static bool grow(struct parquet_dictionary *dictionary, bool array)
{
	uint32_t slots = dictionary->slots ? dictionary->slots * 2 : FEWEST_SLOTS;

	free(dictionary->slot);
	dictionary->slot = mem_zalloc(slots * sizeof(*dictionary->slot));
	dictionary->slots = slots;
	for (uint32_t code = 0; code < dictionary->count; code++) {
		struct parquet_value value = value_at(dictionary, code, array);
		uint32_t at = find(dictionary, &value);

		if (at == slots)
			return false;
		dictionary->slot[at] = code + 1;
	}
	return true;
}

static void add(struct parquet_dictionary *dictionary, const struct parquet_value *value)
{
	if (dictionary->width == 0) {
		dictionary->place =
		    mem_grow(dictionary->place, dictionary->count,
			     &dictionary->place_room, sizeof(*dictionary->place));
		dictionary->place[dictionary->count] = (uint32_t)dictionary->plain.size;
		bytes_add_le(&dictionary->plain, value->size, 4);
	}
	if (value->bytes)
		bytes_add(&dictionary->plain, value->bytes, value->size);
	else
		bytes_add_le(&dictionary->plain, value->bits, dictionary->width);
	dictionary->count++;
}

int64_t parquet_dictionary_code(struct parquet_dictionary *dictionary,
				const struct parquet_value *value)
{
	size_t size = dictionary->width ? dictionary->width : (size_t)value->size + 4;
	uint32_t at;

	/* Values often come again at once. */
	if (dictionary->last && is_entry(dictionary, dictionary->last - 1, value))
		return dictionary->last - 1;
	if (dictionary->count >= dictionary->slots / 2 &&
	    !grow(dictionary, value->bytes != NULL))
		return PARQUET_FULL;
	/* What is too long to be an entry is not one, and need not be hashed. */
	if (size > dictionary->most)
		return PARQUET_FULL;
	at = find(dictionary, value);
	if (at == dictionary->slots)
		return PARQUET_FULL;
	if (dictionary->slot[at] == 0) {
		if (dictionary->plain.size + size > dictionary->most)
			return PARQUET_FULL;
		add(dictionary, value);
		dictionary->slot[at] = dictionary->count;
	}
	dictionary->last = dictionary->slot[at];
	return dictionary->last - 1;
}

void parquet_dictionary_copy(const struct parquet_dictionary *dictionary, uint32_t code,
			     struct bytes *out)
{
	uint32_t size;
	const uint8_t *at = entry(dictionary, code, &size);
	size_t head = dictionary->width ? 0 : 4;

	bytes_add(out, at - head, size + head);
}

size_t parquet_dictionary_held(const struct parquet_dictionary *dictionary)
{
	return dictionary->plain.room + dictionary->slots * sizeof(*dictionary->slot) +
	       dictionary->place_room * sizeof(*dictionary->place);
}

void parquet_dictionary_clear(struct parquet_dictionary *dictionary)
{
	bytes_clear(&dictionary->plain);
	free(dictionary->place);
	free(dictionary->slot);
	dictionary->place = dictionary->slot = NULL;
	dictionary->place_room = 0;
	dictionary->count = dictionary->slots = dictionary->last = 0;
}
