/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "found.h"

#include <math.h>

static int set_up(void **state)
{
	if (scratch_enter(state))
		return -1;
	scratch_text("mesh.scenario", "# Three in a mesh\nnodes 3\nseconds 5\n");
	run_program("ctsim -q --seed 7 ./mesh.scenario -o run");
	return 0;
}

static void assert_same_clock(const struct clock *a, const struct clock *b)
{
	assert_string_equal(a->reference, b->reference);
	assert_int_equal(a->quality, b->quality);
	assert_int_equal(a->begin_ns, b->begin_ns);
	assert_int_equal(a->end_ns, b->end_ns);
	assert_int_equal(a->segments, b->segments);
	assert_int_equal(a->bounds, b->bounds);
	for (size_t i = 0; i < a->segments; i++) {
		assert_int_equal(a->segment[i].local_ns, b->segment[i].local_ns);
		assert_int_equal(a->segment[i].ref_ns, b->segment[i].ref_ns);
		assert_true(fabs(a->segment[i].rate_ppb - b->segment[i].rate_ppb) < 1e-5);
	}
	for (size_t i = 0; i < a->bounds; i++)
		assert_memory_equal(&a->bound[i], &b->bound[i], sizeof(*a->bound));
}

/* All of the run are corrected as ctsync says. */
static void assert_as_ctsync(const struct found *found)
{
	struct error error = ERROR_INIT;
	struct clock_map map;

	run_program("ctsync -q -o map.json run || [ $? = 3 ]");
	assert_int_equal(clock_map_read(&map, "map.json", &error), 0);
	assert_int_equal(found->run.count, map.clocks);
	for (size_t i = 0; i < map.clocks; i++) {
		struct merge_source *source = source_named(found, map.clock[i].trace);

		assert_true(source->is_read && source->facts.events > 0);
		assert_same_clock(&source->clock, &map.clock[i]);
		assert_ptr_equal(&found->run.source[source->island],
				 source_named(found, map.reference));
	}
	clock_map_clear(&map);
}

FIXTURE_TEST(clocks_are_those_of_ctsync, set_up, scratch_leave)
{
	struct found found;

	find_clocks(&found, "run", NULL, false);
	assert_int_equal(found.status, 0);
	assert_as_ctsync(&found);
	assert_int_equal(count_problems(&found, "clock"), 0);
	assert_int_equal(messages_of(&found), found.run.map.matching.matched);
	found_clear(&found);
}

FIXTURE_TEST(a_map_read_from_a_file_is_the_same, set_up, scratch_leave)
{
	struct found found;

	run_program("ctsync -q -o map.json run");
	find_clocks(&found, "run", "map.json", false);
	assert_int_equal(found.status, 0);
	assert_as_ctsync(&found);
	assert_int_equal(found.run.map.pairs, 3);
	assert_int_equal(found.run.problems.count, 0);
	assert_int_equal(messages_of(&found), found.run.map.matching.matched);
	found_clear(&found);
}

/* If they are of other names, none of them is a source's. */
FIXTURE_TEST(clocks_go_by_names, set_up, scratch_leave)
{
	struct found found;

	run_program("ctsync -q -o map.json -t node2=run/node1/kernel "
		    "-t b=run/node2/kernel -t node3=run/node3/kernel");
	find_clocks(&found, "run", "map.json", false);
	assert_int_equal(found.status, 0);
	assert_int_equal(count_problems(&found, "clock"), 2);
	for (size_t i = 0; i < found.run.count; i++)
		assert_int_equal(found.run.source[i].island < 0, i == 0);
	found_clear(&found);
}

FIXTURE_TEST(a_file_may_know_too_little, set_up, scratch_leave)
{
	struct found found;

	run_program("ctsync -q -o map.json -r node1 -t run/node1 -t run/node2");
	find_clocks(&found, "run", "map.json", false);
	assert_int_equal(found.status, 0);
	assert_clock_problem(&found, "run/node3/kernel",
			     "map.json has no correction to the clock of node1 for it, "
			     "kept at its own epoch");
	assert_int_equal(found.run.source[2].island, -1);
	assert_true(is_identity(&found.run.source[2].clock));
	assert_false(is_identity(&found.run.source[1].clock));
	found_clear(&found);
}

FIXTURE_TEST(a_file_may_know_too_much, set_up, scratch_leave)
{
	struct found found;

	run_program("ctsync -q -o map.json -r node1 run && rm -r run/node3");
	find_clocks(&found, "run", "map.json", false);
	assert_int_equal(found.status, 0);
	assert_clock_problem(&found, "map.json",
			     "has a clock of node3 (run/node3/kernel), which is not a "
			     "source of the run; skipped");
	for (size_t i = 0; i < found.run.count; i++)
		assert_true(found.run.source[i].island >= 0);
	found_clear(&found);
}

FIXTURE_TEST(a_broken_file_is_an_error, set_up, scratch_leave)
{
	struct found found;

	scratch_text("map.json", "{\"format\": 7}");
	find_clocks(&found, "run", "map.json", false);
	assert_int_equal(found.status, -1);
	assert_non_null(strstr(error_text(&found.error), "map.json"));
	found_clear(&found);
	find_clocks(&found, "run", "none.json", false);
	assert_int_equal(found.status, -1);
	assert_non_null(strstr(error_text(&found.error), "none.json"));
	found_clear(&found);
}

FIXTURE_TEST(clocks_may_be_left_as_they_are, set_up, scratch_leave)
{
	struct found found;

	find_clocks(&found, "run", NULL, true);
	assert_int_equal(found.status, 0);
	assert_int_equal(found.run.problems.count, 0);
	assert_true(messages_of(&found) > 100);
	assert_int_equal(messages_of(&found), found.run.map.matching.matched);
	for (size_t i = 0; i < 3; i++) {
		assert_true(found.run.source[i].is_read);
		assert_true(is_identity(&found.run.source[i].clock));
		assert_int_equal(found.run.source[i].island, -1);
		assert_true(is_identity(&found.run.map.clock[i]));
	}
	found_clear(&found);
}

FIXTURE_TEST(one_source_is_its_own_reference, set_up, scratch_leave)
{
	struct found found;

	run_program("rm -r run/node2 run/node3");
	find_clocks(&found, "run", NULL, false);
	assert_int_equal(found.status, 0);
	assert_int_equal(count_problems(&found, "clock"), 0);
	assert_int_equal(found.run.source[0].island, 0);
	assert_true(found.run.source[0].facts.events > 100);
	assert_true(is_identity(&found.run.source[0].clock));
	assert_int_equal(messages_of(&found), 0);
	found_clear(&found);
}

FIXTURE_TEST(what_cannot_be_read_is_said_once, set_up, scratch_leave)
{
	struct found found;

	scratch_text("run/node3/kernel/metadata", "/* CTF 1.8 */");
	find_clocks(&found, "run", NULL, false);
	assert_int_equal(found.status, 0);
	assert_false(found.run.source[2].is_read);
	assert_int_equal(count_problems(&found, "unreadable"), 1);
	assert_int_equal(found.run.problems.count, 1);
	found_clear(&found);
	scratch_text("run/node1/kernel/metadata", "/* CTF 1.8 */");
	scratch_text("run/node2/kernel/metadata", "/* CTF 1.8 */");
	find_clocks(&found, "run", NULL, false);
	assert_int_equal(found.status, 0);
	assert_int_equal(found.run.problems.count, 3);
	assert_true(is_identity(&found.run.source[0].clock));
	found_clear(&found);
}

/* Two islands of three, and a node alone: each island on its own reference. */
FIXTURE_TEST(other_islands_keep_an_epoch_each, set_up, scratch_leave)
{
	struct found found;
	size_t count[3] = {0, 0, 0}; /* of the first island, another one, none */

	run_program("ctsim -q --seed 7 --set seconds=20 islands -o islands");
	find_clocks(&found, "islands", NULL, false);
	assert_int_equal(found.status, 0);
	assert_int_equal(found.run.map.islands, 3);
	assert_int_equal(count_problems(&found, "clock"), 2);
	for (size_t i = 0; i < found.run.count; i++) {
		const struct merge_source *source = &found.run.source[i];
		const char *reference = source->clock.reference;

		if (source->island < 0) {
			assert_true(is_identity(&source->clock));
			count[2]++;
			continue;
		}
		assert_string_equal(reference, found.run.map.clock[source->island].trace);
		assert_true(is_identity(&found.run.map.clock[source->island]));
		count[strcmp(reference, found.run.map.reference) != 0]++;
	}
	assert_int_equal(count[0], 3);
	assert_int_equal(count[1], 3);
	assert_int_equal(count[2], 1);
	found_clear(&found);
}

/* A second trace of node2's boot, without network events, as of user space. */
#define SECOND_TRACE                                                                     \
	"cp -r run/node2/kernel run/node2/ust && LC_ALL=C sed -i -e "                    \
	"'s/net_dev_queue/app_dev_queue/; s/net_if_receive/app_if_receive/'"

FIXTURE_TEST(traces_of_one_clock_share_its_correction, set_up, scratch_leave)
{
	struct merge_source *kernel, *user;
	struct found found;

	/* Its epoch is stated some seconds off, as LTTng's sessions have it. */
	run_program(SECOND_TRACE
		    " -e 's/offset_s = \\([0-9]*\\)[0-9];/offset_s = \\17;/' "
		    "run/node2/ust/metadata");
	find_clocks(&found, "run", NULL, false);
	assert_int_equal(found.status, 0);
	kernel = source_named(&found, "node2");
	user = source_named(&found, "node2:ust");
	assert_int_equal(count_problems(&found, "clock"), 0);
	assert_true(user->facts.clock_offset_ns != kernel->facts.clock_offset_ns);
	assert_int_equal(user->island, kernel->island);
	assert_int_equal(clock_correct(&user->clock, user->facts.begin_ns),
			 clock_correct(&kernel->clock, kernel->facts.begin_ns));
	found_clear(&found);
	/* By a file that does not know it, too. */
	run_program(
	    "ctsync -q -o map.json -t run/node1 -t node2=run/node2/kernel -t run/node3");
	find_clocks(&found, "run", "map.json", false);
	assert_int_equal(count_problems(&found, "clock"), 0);
	kernel = source_named(&found, "node2");
	user = source_named(&found, "node2:ust");
	assert_int_equal(user->clock.quality, CLOCK_EXACT);
	assert_int_equal(clock_correct(&user->clock, user->facts.end_ns),
			 clock_correct(&kernel->clock, kernel->facts.end_ns));
	found_clear(&found);
}

FIXTURE_TEST(a_clock_that_nothing_ties_keeps_its_epoch, set_up, scratch_leave)
{
	struct found found;

	run_program(SECOND_TRACE
		    " -e '/^clock/,/^}/s/uuid = \"......../uuid = \"00000000/' "
		    "run/node2/ust/metadata");
	find_clocks(&found, "run", NULL, false);
	assert_int_equal(found.status, 0);
	assert_clock_problem(&found, "run/node2/ust",
			     "its clock is tied to nothing of the island of node2, kept "
			     "at its own epoch");
	assert_int_equal(source_named(&found, "node2:ust")->island, -1);
	found_clear(&found);
}
