/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Help: packets that are gone through ahead of the reader, in its own thread or in
 * others at the same time. Whatever help there is, events, facts and problems are the
 * same as without. Traces of random layouts, damaged ones, and the recorded one.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "random_trace.h"
#include "reader_compare.h"

enum { TRACES = 40, HELPERS = 3, PACKETS = 60 };

/* Who helps a reader while it is read. */
struct helpers {
	struct reader *reader;
	atomic_bool stop;
	atomic_uint packets; /* gone through */
	pthread_t thread[HELPERS];
};

static void *help(void *context)
{
	struct helpers *helpers = context;

	while (!atomic_load(&helpers->stop))
		if (reader_help(helpers->reader))
			atomic_fetch_add(&helpers->packets, 1);
	return NULL;
}

static void begin_help(struct helpers *helpers, struct reader *reader)
{
	helpers->reader = reader;
	atomic_init(&helpers->stop, false);
	atomic_init(&helpers->packets, 0);
	for (int i = 0; i < HELPERS; i++)
		assert_int_equal(pthread_create(&helpers->thread[i], NULL, help, helpers),
				 0);
}

static void end_help(struct helpers *helpers)
{
	atomic_store(&helpers->stop, true);
	for (int i = 0; i < HELPERS; i++)
		pthread_join(helpers->thread[i], NULL);
}

/* Read all of a trace; `own` packets are helped with before each step. */
static unsigned read_side(struct side *side, const char *path,
			  const struct all_wishes *wished, unsigned own, bool threads)
{
	struct helpers helpers;
	unsigned helped = 0;

	open_side(side, path, READER_NATIVE, wished);
	if (threads)
		begin_help(&helpers, side->reader);
	while (side->more) {
		for (unsigned i = 0; i < own && reader_help(side->reader); i++)
			helped++;
		side->more = reader_step(side->reader, put_event, side);
	}
	if (threads)
		end_help(&helpers);
	return threads ? atomic_load(&helpers.packets) : helped;
}

static void side_clear(struct side *side)
{
	reader_free(side->reader);
	free(side->bytes);
}

/* Returns how many packets somebody else has gone through. */
static unsigned compare_help(const char *path, const struct all_wishes *wished)
{
	struct side alone, other;
	unsigned helped = 0;

	read_side(&alone, path, wished, 0, false);
	for (unsigned own = 0; own <= 8; own += 4) {
		helped += read_side(&other, path, wished, own, own == 0);
		assert_int_equal(other.size, alone.size);
		if (alone.size)
			assert_memory_equal(other.bytes, alone.bytes, alone.size);
		compare_facts(reader_facts(other.reader), reader_facts(alone.reader),
			      wished->count);
		compare_problems(other.reader, alone.reader);
		side_clear(&other);
	}
	side_clear(&alone);
	return helped;
}

/* Every second event class is wished. */
static struct all_wishes half_of(const struct all_wishes *all)
{
	struct all_wishes half = {mem_zalloc(all->count * sizeof(*all->wish)), 0, 0};

	for (size_t i = 0; i < all->count; i += 2) {
		half.wish[half.count] = all->wish[i];
		half.wish[half.count].tag = (int)half.count;
		half.count++;
	}
	return half;
}

static unsigned compare_helps(const char *path)
{
	struct all_wishes all = all_wishes(path), half = half_of(&all);
	unsigned helped = compare_help(path, &all) + compare_help(path, &half);

	free(half.wish);
	all_wishes_clear(&all);
	return helped;
}

static void write_file(struct bits *bits, unsigned stream, unsigned instance, int number,
		       int damage)
{
	char *path = mem_printf("t/ch%u_%u_%d", stream, instance, number);

	for (int i = 0; i < damage; i++)
		bits->byte[draw_between(0, (int64_t)(bits->at / 8 - 1))] ^=
		    (unsigned char)(1 << draw_between(0, 7));
	scratch_bytes(path, bits->byte,
		      damage ? (size_t)draw_between(1, (int64_t)(bits->at / 8))
			     : bits->at / 8);
	free(path);
	bits->at = 0;
}

/*
 * One instance: many packets in a file or in several, some damaged, the clock now and
 * then back.
 */
static void put_instance(struct whole_trace *whole, unsigned stream, unsigned instance,
			 int damage)
{
	uint64_t counter[2] = {0, 0};
	struct bits bits = {.big = whole->say.big};
	int rotation = chance(40) ? 10 : 0;

	whole->clock = 1u << 30;
	for (int n = (int)draw_between(1, PACKETS); n > 0; n--) {
		if (chance(10))
			whole->clock -= (uint64_t)draw_between(0, 5000);
		put_packet(whole, stream, instance, &bits, counter);
		if (n == 1 || chance(rotation))
			write_file(&bits, stream, instance, n, damage);
	}
	free(bits.byte);
}

static unsigned compare_random(int damage)
{
	unsigned helped = 0;

	for (int i = 0; i < TRACES; i++) {
		struct whole_trace whole = {.clock = 0};

		say_trace(&whole);
		scratch_text("t/metadata", whole.say.text.text);
		for (unsigned k = 0; k < whole.streams; k++)
			for (int64_t n = draw_between(1, 2); n > 0; n--)
				put_instance(&whole, k, (unsigned)n, damage);
		helped += compare_helps("t");
		whole_clear(&whole);
		assert_int_equal(nftw("t", scratch_unlink, 16, FTW_DEPTH | FTW_PHYS), 0);
	}
	return helped;
}

static void help_changes_no_event(void **state)
{
	unsigned helped = compare_random(0);

	(void)state;
	print_message("%u packets helped with\n", helped);
	assert_true(helped > 0);
}

static void help_changes_nothing_of_what_is_damaged(void **state)
{
	(void)state;
	assert_true(compare_random(4) > 0);
}

static void help_changes_nothing_of_the_recorded_run(void **state)
{
	const char *tree = getenv("CT_SOURCE");
	char *path;

	(void)state;
	if (!tree)
		skip();
	path = mem_printf("%s/datasets/sample/node1/kernel", tree);
	assert_true(compare_helps(path) > 0);
	free(path);
}

static int enter(void **state)
{
	draw_restart(state);
	return scratch_enter(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(help_changes_no_event, enter, scratch_leave),
	    cmocka_unit_test_setup_teardown(help_changes_nothing_of_what_is_damaged,
					    enter, scratch_leave),
	    cmocka_unit_test(help_changes_nothing_of_the_recorded_run),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
