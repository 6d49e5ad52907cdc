/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/origins.h"

#include "../draw.h"
#include "../scratch.h"

enum { MANY = 10000 }; /* more than stay in memory */

static struct message_origin numbered(uint64_t n)
{
	return (struct message_origin){
	    .send = {.source = 1, .stream = 2, .ordinal = n, .local_ns = (nsec_t)n * 10},
	    .recv = {.source = 2, .stream = 3, .ordinal = 2 * n, .local_ns = -1},
	    .packet = {.known = PACKET_NETWORK, .id = (uint32_t)n},
	};
}

struct walked {
	const bool *dropped; /* NULL: none */
	uint64_t next, given, stop_at;
};

static int check(void *context, const struct message_origin *origin)
{
	struct walked *walked = context;

	while (walked->dropped && walked->dropped[walked->next])
		walked->next++;
	assert_int_equal(origin->send.ordinal, walked->next);
	assert_int_equal(origin->send.local_ns, (nsec_t)walked->next * 10);
	assert_int_equal(origin->recv.ordinal, 2 * walked->next);
	assert_int_equal(origin->packet.id, walked->next);
	walked->next++;
	return ++walked->given == walked->stop_at;
}

static struct origins *filled(uint64_t count)
{
	struct origins *origins = origins_new();
	struct error error = ERROR_INIT;

	for (uint64_t n = 0; n < count; n++) {
		struct message_origin origin = numbered(n);

		assert_int_equal(origins_add(origins, &origin, &error), 0);
	}
	assert_int_equal(origins_count(origins), count);
	return origins;
}

static void assert_walk(struct origins *origins, const bool *dropped, uint64_t given)
{
	struct walked walked = {.dropped = dropped};
	struct error error = ERROR_INIT;

	assert_int_equal(origins_walk(origins, check, &walked, &error), 0);
	assert_int_equal(walked.given, given);
}

static void what_is_added_comes_back_in_order(void **state)
{
	(void)state;
	for (uint64_t count = 0; count < 5; count++) {
		/* Around the borders of the blocks that go to the file. */
		uint64_t many = count < 3 ? 4095 + count : MANY * (count - 3);
		struct origins *origins = filled(many);

		assert_walk(origins, NULL, many);
		assert_walk(origins, NULL, many);
		origins_free(origins);
	}
}

static void those_of_false_messages_are_left_out(void **state)
{
	struct origins *origins = filled(MANY);
	bool dropped[MANY + 1] = {false};
	uint64_t left = MANY;

	(void)state;
	for (int i = 0; i < 500; i++) {
		uint64_t n = i < 2 ? (uint64_t)i * (MANY - 1)
				   : (uint64_t)draw_between(0, MANY - 1);

		left -= !dropped[n];
		dropped[n] = true;
		origins_drop(origins, n);
	}
	assert_int_equal(origins_count(origins), left);
	assert_walk(origins, dropped, left);
	origins_free(origins);
}

static void a_walk_ends_when_told_to(void **state)
{
	static const uint64_t stops[] = {1, 4096, 4097, MANY};
	struct origins *origins = filled(MANY);

	(void)state;
	for (size_t i = 0; i < sizeof(stops) / sizeof(*stops); i++) {
		struct walked walked = {.stop_at = stops[i]};
		struct error error = ERROR_INIT;

		assert_int_equal(origins_walk(origins, check, &walked, &error), 0);
		assert_int_equal(walked.given, stops[i]);
	}
	origins_free(origins);
}

static void nowhere_to_spill_is_said(void **state)
{
	struct origins *origins = origins_new();
	struct message_origin origin = numbered(1);
	struct error error = ERROR_INIT;
	int status = 0;

	(void)state;
	assert_int_equal(setenv("TMPDIR", "none/here", 1), 0);
	for (int i = 0; i < MANY && !status; i++)
		status = origins_add(origins, &origin, &error);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_int_equal(status, -1);
	assert_string_equal(error_text(&error),
			    "cannot make a temporary file of messages' events: No such "
			    "file or directory");
	error_clear(&error);
	origins_free(origins);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_added_comes_back_in_order),
	    cmocka_unit_test(those_of_false_messages_are_left_out),
	    cmocka_unit_test(a_walk_ends_when_told_to),
	    cmocka_unit_test(nowhere_to_spill_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
