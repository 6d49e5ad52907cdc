/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sorter.h"

#include "../draw.h"
#include "../scratch.h"

struct item {
	int64_t key;
	size_t added;
	char more[13];
};

enum { RUN = 100 };

static int by_key(const void *a, const void *b)
{
	const struct item *p = a, *q = b;

	if (p->key != q->key)
		return p->key < q->key ? -1 : 1;
	return (p->added > q->added) - (p->added < q->added);
}

struct walked {
	struct item last;
	size_t given, stop_at;
};

/* In order, and each once. */
static int check(void *context, const void *given)
{
	struct walked *walked = context;
	struct item item;

	memcpy(&item, given, sizeof(item));
	if (walked->given)
		assert_true(
		    walked->last.key < item.key ||
		    (walked->last.key == item.key && walked->last.added < item.added));
	assert_string_equal(item.more, "and the rest");
	walked->last = item;
	return ++walked->given == walked->stop_at ? 7 : 0;
}

static struct sorter *filled(size_t count, int64_t keys)
{
	struct sorter *sorter = sorter_new(sizeof(struct item), RUN, by_key);
	struct error error = ERROR_INIT;

	for (size_t i = 0; i < count; i++) {
		struct item item = {draw_between(0, keys), i, "and the rest"};

		assert_int_equal(sorter_add(sorter, &item, &error), 0);
	}
	return sorter;
}

TEST(items_come_back_in_order)
{
	static const size_t counts[] = {0,       1,           2,       RUN - 1,     RUN,
					RUN + 1, 2 * RUN - 1, 2 * RUN, 50 * RUN + 7};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		for (int64_t keys = 1; keys < 1000000; keys *= 100) {
			struct sorter *sorter = filled(counts[i], keys);
			struct walked walked = {.given = 0};
			struct error error = ERROR_INIT;

			assert_int_equal(sorter_each(sorter, check, &walked, &error), 0);
			assert_int_equal(walked.given, counts[i]);
			sorter_free(sorter);
		}
}

TEST(a_walk_ends_when_told_to)
{
	for (size_t count = RUN / 2; count < RUN * RUN; count *= 20) {
		struct sorter *sorter = filled(count, 10);
		struct walked walked = {.stop_at = 33};
		struct error error = ERROR_INIT;

		assert_int_equal(sorter_each(sorter, check, &walked, &error), 7);
		assert_int_equal(walked.given, 33);
		sorter_free(sorter);
	}
}

TEST(nowhere_to_spill_is_said)
{
	struct sorter *sorter = filled(RUN, 10);
	struct item item = {.key = 1};
	struct error error = ERROR_INIT;

	assert_int_equal(setenv("TMPDIR", "none/here", 1), 0);
	assert_int_equal(sorter_add(sorter, &item, &error), -1);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_string_equal(error_text(&error),
			    "cannot make a temporary file to sort in: "
			    "No such file or directory");
	error_clear(&error);
	sorter_free(sorter);
}
