/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/hash.h"

#include <string.h>

#include "../draw.h"

enum { KEYS = 700, STEPS = 60000 };

/* The expected contents of the map. */
struct plain {
	uint64_t key[KEYS];
	int64_t value[KEYS];
	bool there[KEYS];
	size_t count;
};

/* Pointers, small numbers, and keys that differ in few bits. */
static void draw_keys(struct plain *plain)
{
	uint64_t base = draw();

	for (size_t i = 0; i < KEYS; i++) {
		if (i % 3 == 0)
			plain->key[i] = i / 3;
		else if (i % 3 == 1)
			plain->key[i] = 0xffff888000000000u + 0x400 * i;
		else
			plain->key[i] = base ^ (uint64_t)i << 40;
	}
}

static void check_key(const struct intmap *map, const struct plain *plain, size_t at)
{
	int64_t value;

	assert_int_equal(intmap_get(map, plain->key[at], &value), plain->there[at]);
	if (plain->there[at])
		assert_int_equal(value, plain->value[at]);
}

static void put(struct intmap *map, struct plain *plain, size_t at)
{
	int64_t value = (int64_t)draw();

	intmap_put(map, plain->key[at], value);
	plain->count += !plain->there[at];
	plain->there[at] = true;
	plain->value[at] = value;
}

static void take(struct intmap *map, struct plain *plain, size_t at)
{
	int64_t value;

	assert_int_equal(intmap_remove(map, plain->key[at], &value), plain->there[at]);
	if (plain->there[at])
		assert_int_equal(value, plain->value[at]);
	plain->count -= plain->there[at];
	plain->there[at] = false;
}

TEST(holds_what_a_plain_array_holds)
{
	struct plain *plain = calloc(1, sizeof(*plain));
	struct intmap map = {NULL, 0, 0};

	assert_non_null(plain);
	draw_keys(plain);
	for (int i = 0; i < STEPS; i++) {
		size_t at = (size_t)draw_between(0, KEYS - 1);
		/* It fills, empties, and fills again. */
		bool filling = i / (STEPS / 5) % 2 == 0;

		if (draw_between(0, 3) == 0 ? !filling : filling)
			put(&map, plain, at);
		else
			take(&map, plain, at);
		assert_int_equal(map.count, plain->count);
		check_key(&map, plain, (size_t)draw_between(0, KEYS - 1));
	}
	for (size_t i = 0; i < KEYS; i++)
		check_key(&map, plain, i);
	intmap_clear(&map);
	free(plain);
}

TEST(every_key_is_a_key)
{
	static const uint64_t key[] = {0, 1, UINT64_MAX, (uint64_t)1 << 63, 0xffffffff};
	struct intmap map = {NULL, 0, 0};
	int64_t value;

	for (size_t i = 0; i < sizeof(key) / sizeof(*key); i++) {
		assert_false(intmap_get(&map, key[i], &value));
		intmap_put(&map, key[i], INT64_MIN + (int64_t)i);
	}
	for (size_t i = 0; i < sizeof(key) / sizeof(*key); i++) {
		assert_true(intmap_remove(&map, key[i], &value));
		assert_int_equal(value, INT64_MIN + (int64_t)i);
		assert_false(intmap_remove(&map, key[i], &value));
	}
	assert_int_equal(map.count, 0);
	intmap_clear(&map);
}

TEST(a_cleared_map_is_empty)
{
	struct intmap map = {NULL, 0, 0};
	int64_t value;

	intmap_clear(&map);
	intmap_put(&map, 7, 8);
	intmap_clear(&map);
	assert_false(intmap_get(&map, 7, &value));
	assert_false(intmap_remove(&map, 7, &value));
	intmap_put(&map, 7, 9);
	assert_true(intmap_get(&map, 7, &value));
	assert_int_equal(value, 9);
	intmap_clear(&map);
}
