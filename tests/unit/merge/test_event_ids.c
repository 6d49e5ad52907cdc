/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/event_ids.h"

#include <stdbool.h>

#include "../draw.h"
#include "../scratch.h"

enum { STREAMS = 5, MANY = 3000 };

/* Of each stream some ordinals are noted; the id says which. */
struct filled {
	struct event_ids *ids;
	bool noted[STREAMS][MANY];
};

static int64_t id_of(uint32_t stream, uint64_t ordinal)
{
	return (int64_t)(ordinal * STREAMS + stream + 1);
}

static void fill(struct filled *filled, int percent)
{
	struct error error = ERROR_INIT;

	filled->ids = event_ids_new();
	for (uint64_t n = 0; n < MANY; n++)
		for (uint32_t i = 0; i < STREAMS; i++) {
			filled->noted[i][n] = draw_between(1, 100) <= percent;
			if (filled->noted[i][n])
				assert_int_equal(
				    event_ids_add(filled->ids, event_stream(i, 7 - i), n,
						  &(struct event_link){.id = id_of(i, n)},
						  &error),
				    0);
		}
}

static void check(struct filled *filled, uint32_t stream, uint64_t n,
		  enum event_side side)
{
	struct error error = ERROR_INIT;
	struct event_link link = {.id = -1};

	assert_int_equal(event_ids_find(filled->ids, event_stream(stream, 7 - stream), n,
					side, &link, &error),
			 0);
	assert_int_equal(link.id, filled->noted[stream][n] ? id_of(stream, n) : 0);
}

static void ids_are_found_from_front_to_back(void **state)
{
	static const int percents[] = {0, 1, 7, 50, 100};

	(void)state;
	for (size_t i = 0; i < sizeof(percents) / sizeof(*percents); i++) {
		struct filled filled;

		fill(&filled, percents[i]);
		for (uint64_t n = 0; n < MANY; n++)
			for (uint32_t stream = 0; stream < STREAMS; stream++) {
				check(&filled, stream, n, EVENT_SENT);
				check(&filled, stream, MANY - 1 - n, EVENT_RECEIVED);
			}
		event_ids_free(filled.ids);
	}
}

static void ids_are_found_in_any_order(void **state)
{
	struct filled filled;

	(void)state;
	fill(&filled, 60);
	for (int i = 0; i < 20000; i++)
		check(&filled, (uint32_t)draw_between(0, STREAMS - 1),
		      (uint64_t)draw_between(0, MANY - 1), draw() % EVENT_SIDES);
	event_ids_free(filled.ids);
}

static void what_was_not_noted_has_none(void **state)
{
	struct event_ids *ids = event_ids_new();
	struct error error = ERROR_INIT;
	struct event_link link = {.id = -1};

	(void)state;
	assert_int_equal(event_ids_find(ids, 5, 0, EVENT_SENT, &link, &error), 0);
	assert_int_equal(link.id, 0);
	assert_int_equal(event_ids_add(ids, 5, 10, &(struct event_link){.id = 1}, &error),
			 0);
	assert_int_equal(event_ids_find(ids, 5, 9, EVENT_SENT, &link, &error), 0);
	assert_int_equal(link.id, 0);
	assert_int_equal(event_ids_find(ids, 5, UINT64_MAX, EVENT_SENT, &link, &error),
			 0);
	assert_int_equal(link.id, 0);
	event_ids_free(ids);
}

static void nowhere_to_spill_is_said(void **state)
{
	struct event_ids *ids = event_ids_new();
	struct error error = ERROR_INIT;
	int status = 0;

	(void)state;
	assert_int_equal(setenv("TMPDIR", "none/here", 1), 0);
	for (uint64_t n = 0; n < MANY && !status; n++)
		status = event_ids_add(ids, 1, n, &(struct event_link){.id = 1}, &error);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_int_equal(status, -1);
	assert_string_equal(
	    error_text(&error),
	    "cannot make a temporary file of event ids: No such file or directory");
	error_clear(&error);
	event_ids_free(ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    DRAW_TEST(ids_are_found_from_front_to_back),
	    DRAW_TEST(ids_are_found_in_any_order),
	    cmocka_unit_test(what_was_not_noted_has_none),
	    cmocka_unit_test(nowhere_to_spill_is_said),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
