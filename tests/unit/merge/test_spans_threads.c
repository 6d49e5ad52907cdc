/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "told_spans.h"

SPAN_TEST(whoever_is_switched_in_runs_until_the_next_switch)
{
	switch_at(100, 0, 0, 0, 5);
	switch_at(250, 0, 5, 1, 6);
	switch_at(300, 0, 6, 2, 0);
	/* A processor's first event tells who ran before it, from its first event on. */
	number_at(READ, 300, 1, 7, 3, 1);
	switch_at(400, 1, 7, 1, 0);
	assert_told(THREADS, "1/5 runs 100-250 cpu0 then 6\n"
			     "1/6 runs 250-300 cpu0 then 0\n"
			     "1/7 runs ...300-400 cpu1 in read then 0\n"
			     "1/0 runs 300-1000... cpu0\n"
			     "1/0 runs 400-1000... cpu1\n"
			     "1/5 sleeps 250-1000... state 1\n"
			     "1/6 sleeps 300-1000... state 2\n"
			     "1/7 sleeps 400-1000... in read state 1\n");
}

SPAN_TEST(who_is_preempted_waits_for_the_processor)
{
	switch_at(100, 0, 0, 0, 5);
	switch_at(200, 0, 5, 0, 6);    /* gave it up */
	switch_at(300, 0, 6, 256, 5);  /* was interrupted by the scheduler */
	switch_at(400, 0, 5, 1024, 6); /* the same, of an older kernel */
	switch_at(500, 0, 6, 1, 5);
	assert_told(THREADS, "1/5 runs 100-200 cpu0 preempted then 6\n"
			     "1/6 runs 200-300 cpu0 preempted then 5\n"
			     "1/5 waits 200-300 cpu0 preempted after 6\n"
			     "1/5 runs 300-400 cpu0 preempted then 6\n"
			     "1/6 waits 300-400 cpu0 preempted after 5\n"
			     "1/6 runs 400-500 cpu0 then 5\n"
			     "1/5 waits 400-500 cpu0 preempted after 6\n"
			     "1/5 runs 500-1000... cpu0\n"
			     "1/6 sleeps 500-1000... state 1\n");
}

static void switch_by_name(nsec_t ts_ns, int64_t prev, const char *state, int64_t next)
{
	char name[2][24];
	const struct cell cells[] = {
	    made_comm(prev, name[0]), INTEGER(prev), INTEGER(20), made_text(state),
	    made_comm(next, name[1]), INTEGER(next), INTEGER(20)};

	made_event(SWITCH, ts_ns, 0, prev, cells);
}

/* As LTTng records states where it is built with bitwise enumerations. */
SPAN_TEST(states_have_names)
{
	switch_at(100, 0, 0, 0, 5);
	switch_by_name(200, 5, "TASK_RUNNING", 6);
	switch_by_name(300, 6, "TASK_UNINTERRUPTIBLE", 5);
	switch_by_name(400, 5, "TASK_SOMETHING", 0);
	assert_told(THREADS, "1/5 runs 100-200 cpu0 preempted then 6\n"
			     "1/6 runs 200-300 cpu0 then 5\n"
			     "1/5 waits 200-300 cpu0 preempted after 6\n"
			     "1/5 runs 300-400 cpu0 then 0\n"
			     "1/0 runs 400-1000... cpu0\n"
			     "1/5 sleeps 400-1000... state 1\n"
			     "1/6 sleeps 300-1000... state 2\n");
}

/* Threads 5 and 6 run; 5 sleeps. */
static void two(void)
{
	switch_at(100, 0, 0, 0, 5);
	switch_at(100, 1, 0, 0, 6);
	switch_at(200, 0, 5, 1, 0);
}

SPAN_TEST(waking_begins_the_wait_and_names_the_waker)
{
	two();
	wake_at(WAKING, 300, 1, 6, 5, 0);
	wake_at(WAKEUP, 310, 0, 0, 5, 0); /* by the interrupt on its own processor */
	switch_at(320, 0, 0, 0, 5);
	assert_told(THREADS, "1/5 runs 100-200 cpu0 then 0\n"
			     "1/5 sleeps 200-300 by unknown 6 #4 state 1\n"
			     "1/0 runs 200-320 cpu0 then 5\n"
			     "1/5 waits 300-320 cpu0 by unknown 6 #4 after 0\n"
			     "1/5 runs 320-1000... cpu0\n"
			     "1/6 runs 100-1000... cpu1\n");
}

SPAN_TEST(a_wakeup_will_do_without_waking)
{
	two();
	wake_at(WAKEUP, 310, 1, 6, 5, 0);
	switch_at(320, 0, 0, 0, 5);
	assert_told(THREADS, "1/5 runs 100-200 cpu0 then 0\n"
			     "1/5 sleeps 200-310 by unknown 6 #4 state 1\n"
			     "1/0 runs 200-320 cpu0 then 5\n"
			     "1/5 waits 310-320 cpu0 by unknown 6 #4 after 0\n"
			     "1/5 runs 320-1000... cpu0\n"
			     "1/6 runs 100-1000... cpu1\n");
}

SPAN_TEST(who_is_woken_before_it_leaves_waits_when_it_does)
{
	made_records(WAKEUP);
	switch_at(100, 0, 0, 0, 5);
	switch_at(100, 1, 0, 0, 6);
	wake_at(WAKING, 190, 1, 6, 5, 0);
	switch_at(200, 0, 5, 1, 0);
	wake_at(WAKEUP, 210, 0, 0, 5, 0);
	switch_at(220, 0, 0, 0, 5);
	/* Woken while it runs, and it stays awake: nothing of that is left over. */
	wake_at(WAKING, 300, 1, 6, 5, 0);
	wake_at(WAKEUP, 300, 1, 6, 5, 0);
	switch_at(400, 0, 5, 1, 0);
	wake_at(WAKEUP, 500, 0, 0, 5, 0);
	assert_told(THREADS, "1/5 runs 100-200 cpu0 then 0\n"
			     "1/0 runs 200-220 cpu0 then 5\n"
			     "1/5 waits 200-220 cpu0 by unknown 6 #3 after 0\n"
			     "1/5 runs 220-400 cpu0 then 0\n"
			     "1/5 sleeps 400-500 by unknown 0 #10 state 1\n"
			     "1/0 runs 400-1000... cpu0\n"
			     "1/6 runs 100-1000... cpu1\n"
			     "1/5 waits 500-1000... cpu0 by unknown 0 #10\n");
}

SPAN_TEST(without_sched_wakeup_waking_before_the_sleep_counts)
{
	switch_at(100, 0, 0, 0, 5);
	switch_at(100, 1, 0, 0, 6);
	wake_at(WAKING, 190, 1, 6, 5, 0);
	switch_at(200, 0, 5, 1, 0);
	switch_at(220, 0, 0, 0, 5);
	assert_told(THREADS, "1/5 runs 100-200 cpu0 then 0\n"
			     "1/0 runs 200-220 cpu0 then 5\n"
			     "1/5 waits 200-220 cpu0 by unknown 6 #3 after 0\n"
			     "1/5 runs 220-1000... cpu0\n"
			     "1/6 runs 100-1000... cpu1\n");
}

/* The stamps of two processors differ: the second sched_waking proves the sleep, with
 * sched_wakeup and without. */
SPAN_TEST(a_waking_that_is_too_early_is_of_no_sleep)
{
	for (int has_wakeup = 0; has_wakeup < 2; has_wakeup++) {
		made_begin();
		switch_at(100, 0, 0, 0, 5);
		switch_at(100, 1, 0, 0, 6);
		wake_at(WAKING, 190, 1, 6, 5, 0);
		switch_at(200, 0, 5, 1, 0);
		wake_at(WAKING, 500, 1, 6, 5, 0);
		if (has_wakeup)
			wake_at(WAKEUP, 505, 0, 0, 5, 0);
		switch_at(510, 0, 0, 0, 5);
		assert_told(THREADS, "1/5 runs 100-200 cpu0 then 0\n"
				     "1/5 sleeps 200-500 by unknown 6 #5 state 1\n"
				     "1/0 runs 200-510 cpu0 then 5\n"
				     "1/5 waits 500-510 cpu0 by unknown 6 #5 after 0\n"
				     "1/5 runs 510-1000... cpu0\n"
				     "1/6 runs 100-1000... cpu1\n");
	}
}

SPAN_TEST(who_is_not_seen_to_run_again_may_sleep)
{
	switch_at(100, 0, 0, 0, 5);
	wake_at(WAKING, 190, 1, 6, 5, 0);
	switch_at(200, 0, 5, 1, 0);
	assert_told(THREADS, "1/5 runs 100-200 cpu0 then 0\n"
			     "1/0 runs 200-1000... cpu0\n"
			     "1/5 sleeps 200-1000... state 1\n");
}

SPAN_TEST(a_thread_lives_from_its_fork_to_its_end)
{
	switch_at(100, 0, 0, 0, 5);
	fork_at(150, 0, 5, 8);
	wake_at(WAKEUP_NEW, 160, 0, 5, 8, 0);
	switch_at(200, 0, 5, 1, 8);
	number_at(EXIT, 300, 0, 8, 8, 0);
	switch_at(310, 0, 8, 2, 0); /* it waits for something on the way out */
	wake_at(WAKEUP, 320, 0, 0, 8, 0);
	switch_at(330, 0, 0, 0, 8);
	number_at(EXIT, 330, 0, 8, 8, 0);
	switch_at(340, 0, 8, 128, 0);
	number_at(FREE, 400, 0, 0, 8, 0);
	fork_at(500, 0, 0, 8); /* the number comes again */
	switch_at(510, 0, 0, 0, 8);
	switch_at(520, 0, 8, 128, 0); /* 128 is no end of one that does not exit */
	assert_told(THREADS, "1/5 runs 100-200 cpu0 then 8\n"
			     "1/8 waits 160-200 cpu0 by unknown 5 #3 after 5\n"
			     "1/8 runs 200-310 cpu0 then 0\n"
			     "1/8 sleeps 310-320 by unknown 0 #7 state 2\n"
			     "1/0 runs 310-330 cpu0 then 8\n"
			     "1/8 waits 320-330 cpu0 by unknown 0 #7 after 0\n"
			     "1/8 runs 330-340 cpu0 then 0\n"
			     "1/8 dead 340-400\n"
			     "1/0 runs 340-510 cpu0 then 8\n"
			     "1/8 waits 500-510 cpu0 by thread 0 #12 after 0\n"
			     "1/8 runs 510-520 cpu0 then 0\n"
			     "1/0 runs 520-1000... cpu0\n"
			     "1/5 sleeps 200-1000... state 1\n"
			     "1/8 sleeps 520-1000... state 128\n");
}

SPAN_TEST(a_number_that_is_forked_again_was_another_thread)
{
	switch_at(100, 0, 0, 0, 5);
	switch_at(200, 0, 5, 1, 6);
	fork_at(300, 0, 6, 5);
	switch_at(400, 0, 6, 1, 5);
	assert_told(THREADS, "1/5 runs 100-200 cpu0 then 6\n"
			     "1/5 sleeps 200-300... state 1\n"
			     "1/6 runs 200-400 cpu0 then 5\n"
			     "1/5 waits 300-400 cpu0 by thread 6 #3 after 6\n"
			     "1/5 runs 400-1000... cpu0\n"
			     "1/6 sleeps 400-1000... state 1\n");
}

SPAN_TEST(a_thread_that_executes_becomes_its_process)
{
	switch_at(100, 0, 0, 0, 5);
	switch_at(200, 0, 5, 1, 6);
	number_at(EXEC, 300, 0, 6, 5, 6);
	switch_at(400, 0, 5, 1, 0);
	assert_told(THREADS, "1/5 runs 100-200 cpu0 then 6\n"
			     "1/6 runs 200-300 cpu0 then 5\n"
			     "1/5 sleeps 200-300... state 1\n"
			     "1/5 runs 300-400 cpu0 then 0\n"
			     "1/0 runs 400-1000... cpu0\n"
			     "1/5 sleeps 400-1000... state 1\n");
}

SPAN_TEST(what_was_lost_is_not_made_up)
{
	switch_at(100, 0, 0, 0, 5);
	number_at(READ, 150, 0, 5, 3, 1);
	/* Another one leaves: 5 ran at 150 for sure, and 6 at 200. */
	switch_at(200, 0, 6, 1, 7);
	/* 7 comes on another processor: its switch on the first one was lost. */
	switch_at(250, 1, 0, 0, 7);
	switch_at(300, 0, 8, 1, 0);
	assert_told(THREADS, "1/5 runs 100-150... cpu0 in read\n"
			     "1/0 runs 300-1000... cpu0\n"
			     "1/7 runs 250-1000... cpu1\n"
			     "1/6 sleeps 200-1000... state 1\n"
			     "1/8 sleeps 300-1000... state 1\n");
}

SPAN_TEST(who_is_first_heard_of_by_a_wakeup_slept)
{
	switch_at(100, 0, 0, 0, 5);
	number_at(READ, 120, 1, 9, 3, 1);
	wake_at(WAKEUP, 200, 0, 5, 8, 0); /* it may run on processor 1 */
	switch_at(300, 1, 9, 1, 0);
	wake_at(WAKEUP, 400, 0, 5, 7, 0); /* it cannot */
	assert_told(THREADS, "1/9 runs ...120-300 cpu1 in read then 0\n"
			     "1/7 sleeps ...100-400 by unknown 5 #5\n"
			     "1/5 runs 100-1000... cpu0\n"
			     "1/0 runs 300-1000... cpu1\n"
			     "1/9 sleeps 300-1000... in read state 1\n"
			     "1/8 waits 200-1000... cpu0 by unknown 5 #3\n"
			     "1/7 waits 400-1000... cpu0 by unknown 5 #5\n");
}

SPAN_TEST(nodes_have_threads_of_their_own)
{
	switch_at(100, 0, 0, 0, 5);
	made_node = 2;
	switch_at(200, 0, 5, 1, 0);
	wake_at(WAKEUP, 300, 0, 0, 5, 0);
	assert_told(THREADS, "2/5 sleeps 200-300 by unknown 0 #3 state 1\n"
			     "1/5 runs 100-1000... cpu0\n"
			     "2/0 runs 200-1000... cpu0\n"
			     "2/5 waits 300-1000... cpu0 by unknown 0 #3\n");
}

/* The place in which a thread ran before is of its own spans, not of whoever had its
 * number. */
SPAN_TEST(a_thread_migrates)
{
	switch_at(100, 0, 0, 0, 5);
	switch_at(200, 0, 5, 0, 0); /* loses it */
	switch_at(300, 1, 0, 0, 5);
	switch_at(400, 1, 5, 0, 0);
	switch_at(500, 1, 0, 0, 5);
	switch_at(600, 1, 5, 32, 0);
	number_at(FREE, 700, 0, 0, 5, 0);
	fork_at(800, 0, 6, 5);
	switch_at(900, 0, 6, 0, 5);
	free(made_told(THREADS));
	assert_answer("t",
		      "SELECT begin_ns, cpu, last_cpu FROM thread_state WHERE tid = 5 "
		      "AND state = 'running'",
		      "100|0|\n300|1|0\n500|1|1\n900|0|");
	assert_answer("t", "SELECT count(last_cpu) FROM thread_state WHERE tid = 0", "0");
}

/* States at the start of the selection are not known from events before it. */
SPAN_TEST(a_part_tells_of_itself)
{
	made_select(250, 600);
	switch_at(100, 0, 0, 0, 5);
	switch_at(100, 1, 0, 0, 6);
	switch_at(200, 0, 5, 1, 0);
	wake_at(WAKING, 300, 1, 6, 5, 0);
	switch_at(320, 0, 0, 0, 5);
	switch_at(700, 0, 5, 1, 0);
	assert_told(THREADS, "1/5 waits 300-320 cpu0 by unknown 6 #4 after 0\n"
			     "1/5 runs 320-600... cpu0\n");
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
