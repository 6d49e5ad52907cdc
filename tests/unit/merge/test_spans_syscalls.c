/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "told_spans.h"

SPAN_TEST(a_call_lasts_from_its_entry_to_its_exit)
{
	number_at(READ, 100, 0, 5, 3, 4096);
	number_at(READ, 110, 1, 6, 4, 10);
	number_at(READ_END, 150, 1, 6, -11, 0);
	number_at(READ_END, 200, 1, 5, 512, 0); /* it has moved meanwhile */
	assert_told(SYSCALLS, "1/6 read 110-150 = -11 fd 4 count 10 #2 #3\n"
			      "1/5 read 100-200 = 512 fd 3 count 4096 #1 #4\n");
}

/* The classes of a program of 32 bits have another name, the calls have not. */
SPAN_TEST(a_call_has_the_path_that_it_opened)
{
	name_at(OPEN, 100, 0, 5, "/etc/hosts");
	number_at(OPEN_END, 150, 0, 5, 7, 0);
	name_at(OPEN, 200, 0, 5, "");
	number_at(OPEN_END, 210, 0, 5, -2, 0);
	assert_told(SYSCALLS, "1/5 openat 100-150 = 7 path /etc/hosts #1 #2\n"
			      "1/5 openat 200-210 = -2 path  #3 #4\n");
}

SPAN_TEST(a_call_that_was_begun_before_is_cut)
{
	switch_at(40, 0, 0, 0, 5);
	number_at(READ_END, 150, 0, 5, 8, 0);
	number_at(READ_END, 180, 0, 5, 9, 0); /* by then the entry was lost */
	assert_told(SYSCALLS, "1/5 read ...40-150 = 8 #0 #2\n"
			      "1/5 read ...180-180 = 9 #0 #3\n");
}

/* A child comes back from the clone that made it: since the fork. */
SPAN_TEST(a_child_returns_from_clone)
{
	made_event(CLONE, 100, 0, 5, NULL);
	fork_at(120, 0, 5, 7);
	number_at(CLONE_END, 130, 0, 5, 7, 0);
	number_at(CLONE_END, 150, 1, 7, 0, 0);
	assert_told(SYSCALLS, "1/5 clone 100-130 = 7 #1 #3\n"
			      "1/7 clone ...120-150 = 0 #0 #4\n");
}

SPAN_TEST(a_call_without_an_exit_is_cut_by_the_next_one)
{
	number_at(READ, 100, 0, 5, 3, 1);
	number_at(READ, 200, 0, 5, 4, 2);
	name_at(OPEN, 300, 0, 5, "x");
	number_at(READ_END, 400, 0, 5, 1, 0); /* not the end of openat */
	assert_told(SYSCALLS, "1/5 read 100-200... fd 3 count 1 #1 #0\n"
			      "1/5 read 200-300... fd 4 count 2 #2 #0\n"
			      "1/5 openat 300-400... path x #3 #0\n"
			      "1/5 read ...400-400 = 1 #0 #4\n");
}

SPAN_TEST(a_thread_that_ends_does_so_in_its_call)
{
	switch_at(50, 0, 0, 0, 5);
	made_event(EXIT_GROUP, 100, 0, 5, NULL);
	number_at(EXIT, 120, 0, 5, 5, 5);
	switch_at(150, 0, 5, 32, 0);
	assert_told_has(SYSCALLS, "1/5 exit_group 100-150... #2 #0\n");
}

SPAN_TEST(calls_that_go_on_are_cut_at_the_end)
{
	number_at(READ, 100, 0, 5, 3, 1);
	assert_told(SYSCALLS, "1/5 read 100-1000... fd 3 count 1 #1 #0\n");
}

SPAN_TEST(idle_and_unknown_threads_have_no_calls)
{
	number_at(READ, 100, 0, 0, 3, 1);
	number_at(READ_END, 110, 0, 0, 1, 0);
	number_at(READ, 120, 0, -1, 3, 1);
	number_at(READ_END, 130, 0, -1, 1, 0);
	assert_told(SYSCALLS, "");
}

SPAN_TEST(nodes_have_calls_of_their_own)
{
	number_at(READ, 100, 0, 5, 3, 1);
	made_node = 2;
	number_at(READ, 110, 0, 5, 4, 1);
	number_at(READ_END, 120, 0, 5, 1, 0);
	made_node = 1;
	number_at(READ_END, 130, 0, 5, 2, 0);
	assert_told(SYSCALLS, "2/5 read 110-120 = 1 fd 4 count 1 #2 #3\n"
			      "1/5 read 100-130 = 2 fd 3 count 1 #1 #4\n");
}

SPAN_TEST(a_part_has_only_what_lies_in_it)
{
	made_select(150, 400);
	number_at(READ, 0, 0, 5, 3, 1);
	number_at(READ_END, 50, 0, 5, 1, 0);
	number_at(READ, 100, 0, 5, 3, 1);
	number_at(READ_END, 200, 0, 5, 2, 0);
	number_at(READ, 300, 0, 5, 3, 1);
	number_at(READ_END, 500, 0, 5, 3, 0);
	assert_told(SYSCALLS, "1/5 read ...200-200 = 2 #0 #4\n"
			      "1/5 read 300-400... fd 3 count 1 #5 #0\n");
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
