/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Our own reader against libbabeltrace2 on traces of layouts drawn at random:
 * sizes, alignments, byte orders, nested types, headers, contexts, packets.
 */
#include "random_trace.h"
#include "record_compare.h"

enum { TRACES = 60 };

/*
 * The packets of a stream instance, in one file or, as LTTng rotates them, in
 * several whose names are not in the order of time.
 */
static void put_instance(struct whole_trace *whole, unsigned stream, unsigned instance)
{
	uint64_t counter[2] = {0, chance(50) ? 0 : 5};
	int rotation = chance(20) ? 60 : 0;
	struct bits bits = {.big = whole->say.big};
	int64_t packets = draw_between(1, 5);

	whole->clock = 1u << 30;
	for (int64_t n = 1; n <= packets; n++) {
		char *path =
		    mem_printf("t/ch%u_%u_%d", 9 - stream, instance, (int)(n * 7 % 10));

		/* Files that begin at one instant have no order. */
		whole->clock += (uint64_t)draw_between(1, 100);
		put_packet(whole, stream, instance, &bits, counter);
		if (n == packets || chance(rotation)) {
			scratch_bytes(path, bits.byte, bits.at / 8);
			bits.at = 0;
		}
		free(path);
	}
	free(bits.byte);
}

/* All of them of the same time. */
static void put_streams(struct whole_trace *whole)
{
	for (unsigned i = 0; i < whole->streams; i++)
		for (int64_t k = draw_between(1, 3); k > 0; k--)
			put_instance(whole, i, (unsigned)k);
}

static void traces_of_any_layout_are_read_the_same(void **state)
{
	const char *given = getenv("CT_TRACES");
	long traces = given ? strtol(given, NULL, 10) : TRACES;
	uint64_t events = 0;

	(void)state;
	for (long i = 0; i < traces; i++) {
		struct whole_trace whole = {.clock = 0};

		say_trace(&whole);
		scratch_text("t/metadata", whole.say.text.text);
		put_streams(&whole);
		events += compare_readers("t");
		compare_records("t");
		whole_clear(&whole);
		assert_int_equal(nftw("t", scratch_unlink, 16, FTW_DEPTH | FTW_PHYS), 0);
	}
	print_message("%ld traces, %" PRIu64 " events\n", traces, events);
}

static int enter(void **state)
{
	draw_restart(state);
	return scratch_enter(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
	    traces_of_any_layout_are_read_the_same, enter, scratch_leave)};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
