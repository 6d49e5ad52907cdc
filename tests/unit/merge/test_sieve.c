/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/sieve.h"

#include "../scratch.h"

static char name[] = "x", tid[] = "tid", pid[] = "pid", vpid[] = "vpid",
	    comm[] = "procname", switches[] = "sched_switch", other[] = "irq_entry";
static struct ctf_column plain[] = {{name, CELL_INTEGER, false}};
static struct ctf_column context[] = {{name, CELL_INTEGER, false},
				      {tid, CELL_INTEGER, true}};
static struct ctf_class sched_switch = {.name = switches, .column = plain, .columns = 1};
static struct ctf_class irq_entry = {.name = other, .column = plain, .columns = 1};
static struct ctf_class with_tid = {.name = other, .column = context, .columns = 2};

static struct ctf_column told[][1] = {
    {{pid, CELL_INTEGER, true}}, {{vpid, CELL_INTEGER, true}}, {{comm, CELL_TEXT, true}}};

enum { ALL = SIEVE_SELECTED | SIEVE_CELLS };

static void what_is_not_selected_may_be_followed(void **state)
{
	struct selection selection = {.begin_ns = 10, .end_ns = 20};
	struct sieve sieve;

	(void)state;
	text_list_add(&selection.events, "irq_*");
	sieve_init(&sieve, &selection, true);
	assert_int_equal(sieve_use(&sieve, &sched_switch, 5, 15),
			 SIEVE_FOLLOWED | SIEVE_CELLS);
	assert_int_equal(sieve_use(&sieve, &irq_entry, 0, 15), ALL);
	assert_int_equal(sieve_use(&sieve, &irq_entry, 0, 10), ALL);
	assert_int_equal(sieve_use(&sieve, &irq_entry, 0, 20), ALL);
	assert_int_equal(sieve_use(&sieve, &irq_entry, 0, 9), SIEVE_NOTHING);
	assert_int_equal(sieve_use(&sieve, &irq_entry, 0, 21), SIEVE_NOTHING);
	assert_int_equal(sieve_use(&sieve, &sched_switch, 5, 9),
			 SIEVE_FOLLOWED | SIEVE_CELLS);
	assert_int_equal(sieve_use(&sieve, &sched_switch, 5, 21), SIEVE_NOTHING);
	assert_false(sieve_is_past(&sieve, 20));
	assert_true(sieve_is_past(&sieve, 21));
	sieve_clear(&sieve);
	selection_clear(&selection);
}

static void cells_are_kept_where_they_are_of_use(void **state)
{
	struct selection selection = {.begin_ns = NSEC_MIN, .end_ns = NSEC_MAX};
	struct sieve sieve;

	(void)state;
	sieve_init(&sieve, &selection, false);
	assert_int_equal(sieve_use(&sieve, &irq_entry, 0, 0), SIEVE_SELECTED);
	assert_int_equal(sieve_use(&sieve, &with_tid, 1, 0), ALL);
	assert_int_equal(sieve_use(&sieve, &sched_switch, 2, 0), ALL | SIEVE_FOLLOWED);
	assert_false(sieve_wants_cells(&sieve, &irq_entry));
	assert_true(sieve_wants_cells(&sieve, &with_tid));
	assert_true(sieve_wants_cells(&sieve, &sched_switch));
	sieve_clear(&sieve);
	text_list_add(&selection.skip, "*");
	sieve_init(&sieve, &selection, true);
	assert_false(sieve_wants_cells(&sieve, &irq_entry));
	assert_true(sieve_wants_cells(&sieve, &sched_switch));
	sieve_clear(&sieve);
	selection_clear(&selection);
}

/* Whose process it is, and its name, hold before them, too. */
static void what_contexts_tell_is_needed_before_the_begin(void **state)
{
	struct selection selection = {.begin_ns = 10, .end_ns = NSEC_MAX};
	struct sieve sieve;

	(void)state;
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		struct ctf_class class = {.name = other, .column = told[i], .columns = 1};

		sieve_init(&sieve, &selection, true);
		assert_int_equal(sieve_use_before(&sieve, &class), CTF_NEEDED);
		assert_int_equal(sieve_use(&sieve, &class, 0, 9),
				 SIEVE_FOLLOWED | SIEVE_CELLS);
		assert_int_equal(sieve_use(&sieve, &class, 0, 10), ALL);
		told[i][0].context = false;
		assert_int_equal(sieve_use_before(&sieve, &class), CTF_UNUSED);
		told[i][0].context = true;
		sieve_clear(&sieve);
	}
	sieve_init(&sieve, &selection, true);
	assert_int_equal(sieve_use_before(&sieve, &with_tid), CTF_UNUSED);
	sieve_clear(&sieve);
	selection_clear(&selection);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_not_selected_may_be_followed),
	    cmocka_unit_test(cells_are_kept_where_they_are_of_use),
	    cmocka_unit_test(what_contexts_tell_is_needed_before_the_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
