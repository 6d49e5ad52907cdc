/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_KEYS_H
#define CT_ANALYZE_KEYS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Numbers for keys: the first key is 0, the next that differs 1, and so on. A key is
 * bytes, built part by part. Zeroed is empty.
 */
struct keys {
	struct key_entry {
		char *bytes;
		size_t size;
		uint64_t hash;
	} * entry;
	size_t count, room;
	uint32_t *slot; /* entry + 1; a power of two of them */
	size_t slots;
	char *part; /* the key that is being built */
	size_t part_size, part_room;
};

/* Build a key: begin, then parts in turn. A text keeps apart from its neighbours. */
void keys_begin(struct keys *keys);
void keys_integer(struct keys *keys, int64_t value);
void keys_text(struct keys *keys, const char *bytes, size_t size);

/* The number of the key that was built; keys->count grows where it is new. */
size_t keys_find(struct keys *keys);

/* Its number if it is known; SIZE_MAX: it is not, and does not become so. */
size_t keys_lookup(const struct keys *keys);

void keys_clear(struct keys *keys);

#endif
