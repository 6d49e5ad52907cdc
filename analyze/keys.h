/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_KEYS_H
#define CT_ANALYZE_KEYS_H

#include "base/bytes.h"
#include "base/hash.h"

/*
 * Numbers for keys of several parts: the first key is 0, the next that differs 1, and so
 * on. Zeroed is empty.
 */
struct keys {
	struct texts known;
	struct bytes key; /* that is being built */
};

static inline void keys_begin(struct keys *keys)
{
	keys->key.size = 0;
}

static inline void keys_integer(struct keys *keys, int64_t value)
{
	bytes_add(&keys->key, &value, sizeof(value));
}

/* A text keeps apart from its neighbours. */
static inline void keys_text(struct keys *keys, const char *bytes, size_t size)
{
	keys_integer(keys, (int64_t)size);
	bytes_add(&keys->key, bytes, size);
}

/* The number of the key that was built. */
static inline size_t keys_find(struct keys *keys)
{
	keys_integer(keys, 0); /* so it has a byte */
	return texts_put_bytes(&keys->known, (const char *)keys->key.data,
			       keys->key.size);
}

static inline void keys_clear(struct keys *keys)
{
	texts_clear(&keys->known);
	bytes_clear(&keys->key);
}

#endif
