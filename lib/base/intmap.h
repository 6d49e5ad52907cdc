/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_INTMAP_H
#define CT_BASE_INTMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
