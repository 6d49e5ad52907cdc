/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "told_spans.h"

SPAN_TEST(an_interrupt_lasts_from_its_entry_to_its_exit)
{
	irq_at(100, 0, 5, 27, "eth0");
	irq_at(120, 1, 0, 25, "vda");
	number_at(IRQ_END, 140, 0, 5, 27, 1);
	number_at(IRQ_END, 150, 1, 0, 25, 1);
	assert_told(INTERRUPTS, "1/cpu0 irq 27 eth0 100-140 on 5\n"
				"1/cpu1 irq 25 vda 120-150 on 0\n");
}

/* Raised twice before it begins: the first time counts. */
SPAN_TEST(a_softirq_waits_from_its_first_raise)
{
	number_at(RAISE, 100, 0, 5, 3, 0);
	number_at(RAISE, 110, 0, 5, 3, 0);
	number_at(RAISE, 115, 1, 6, 3, 0); /* another processor's */
	number_at(RAISE, 120, 0, 5, 1, 0); /* another one's */
	number_at(SOFTIRQ, 130, 0, 5, 3, 0);
	number_at(SOFTIRQ_END, 160, 0, 5, 3, 0);
	number_at(SOFTIRQ, 170, 0, 5, 3, 0); /* nobody raised it again */
	number_at(SOFTIRQ_END, 180, 0, 5, 3, 0);
	number_at(SOFTIRQ, 180, 0, 5, 1, 0);
	number_at(SOFTIRQ_END, 190, 0, 5, 1, 0);
	assert_told(INTERRUPTS, "1/cpu0 softirq 3 NET_RX 130-160 raised 100 on 5\n"
				"1/cpu0 softirq 3 NET_RX 170-180 on 5\n"
				"1/cpu0 softirq 1 TIMER 180-190 raised 120 on 5\n");
}

/* It may be raised anew while it runs, for another round. */
SPAN_TEST(a_softirq_raised_while_it_runs_waits_from_then)
{
	number_at(RAISE, 100, 0, 5, 3, 0);
	number_at(SOFTIRQ, 130, 0, 5, 3, 0);
	number_at(RAISE, 140, 0, 5, 3, 0);
	number_at(SOFTIRQ_END, 160, 0, 5, 3, 0);
	number_at(SOFTIRQ, 160, 0, 5, 3, 0);
	number_at(SOFTIRQ_END, 170, 0, 5, 3, 0);
	assert_told(INTERRUPTS, "1/cpu0 softirq 3 NET_RX 130-160 raised 100 on 5\n"
				"1/cpu0 softirq 3 NET_RX 160-170 raised 140 on 5\n");
}

SPAN_TEST(what_interrupts_an_interrupt_is_told_of_both)
{
	number_at(SOFTIRQ, 100, 0, 5, 3, 0);
	irq_at(120, 0, 5, 27, "eth0");
	irq_at(125, 0, 5, 28, "eth1");
	number_at(IRQ_END, 130, 0, 5, 28, 1);
	number_at(IRQ_END, 150, 0, 5, 27, 1);
	number_at(SOFTIRQ_END, 200, 0, 5, 3, 0);
	assert_told(INTERRUPTS, "1/cpu0 irq 28 eth1 125-130 on 5\n"
				"1/cpu0 irq 27 eth0 120-150 inner 5 on 5\n"
				"1/cpu0 softirq 3 NET_RX 100-200 inner 30 on 5\n");
}

SPAN_TEST(what_began_before_or_goes_on_is_cut)
{
	number_at(READ, 50, 0, 5, 3, 1);
	number_at(IRQ_END, 80, 0, 5, 27, 1);
	number_at(SOFTIRQ_END, 90, 1, 6, 9, 0);
	number_at(SOFTIRQ, 900, 0, 5, 3, 0);
	assert_told(INTERRUPTS, "1/cpu0 irq 27  ...50-80 on 5\n"
				"1/cpu1 softirq 9 RCU ...90-90 on 6\n"
				"1/cpu0 softirq 3 NET_RX 900-1000... on 5\n");
}

/* In the file they lie by kind, number, handler and processor; SQLite checks that. */
SPAN_TEST(handlers_of_one_line_are_told_apart)
{
	for (int32_t cpu = 1; cpu >= 0; cpu--) {
		number_at(SOFTIRQ, 100 - 50 * cpu, cpu, 5, 3, 0);
		number_at(SOFTIRQ_END, 110 - 50 * cpu, cpu, 5, 3, 0);
		irq_at(120 - 50 * cpu, cpu, 5, 11, "usb");
		number_at(IRQ_END, 121 - 50 * cpu, cpu, 5, 11, 0);
		irq_at(121 - 50 * cpu, cpu, 5, 11, "eth");
		number_at(IRQ_END, 122 - 50 * cpu, cpu, 5, 11, 1);
		number_at(IRQ_END, 130 - 50 * cpu, cpu, 5, 9, 1);
	}
	assert_told(INTERRUPTS, "1/cpu1 softirq 3 NET_RX 50-60 on 5\n"
				"1/cpu1 irq 11 usb 70-71 on 5\n"
				"1/cpu1 irq 11 eth 71-72 on 5\n"
				"1/cpu1 irq 9  ...72-80 on 5\n"
				"1/cpu0 softirq 3 NET_RX 100-110 on 5\n"
				"1/cpu0 irq 11 usb 120-121 on 5\n"
				"1/cpu0 irq 11 eth 121-122 on 5\n"
				"1/cpu0 irq 9  ...122-130 on 5\n");
	assert_answer("t",
		      "SELECT group_concat(DISTINCT kind || number || handler) FROM irq",
		      "irq9,irq11eth,irq11usb,softirq3NET_RX");
	assert_answer(
	    "t", "SELECT count(*) FROM irq WHERE (name IS NULL) <> (handler = '')", "0");
	assert_answer("t", "PRAGMA integrity_check", "ok");
}

/* An exit was lost: the one inside ends where its processor was last seen. */
SPAN_TEST(an_end_that_was_lost_cuts)
{
	number_at(SOFTIRQ, 100, 0, 5, 3, 0);
	irq_at(110, 0, 5, 27, "eth0");
	number_at(RAISE, 130, 0, 5, 1, 0);
	number_at(SOFTIRQ_END, 200, 0, 5, 3, 0);
	assert_told(INTERRUPTS, "1/cpu0 irq 27 eth0 110-130... on 5\n"
				"1/cpu0 softirq 3 NET_RX 100-200 inner 20 on 5\n");
}

/* A line does not interrupt itself, and softirqs come when no interrupt is left. */
SPAN_TEST(what_cannot_nest_tells_that_an_end_was_lost)
{
	irq_at(100, 0, 5, 27, "eth0");
	irq_at(110, 0, 5, 28, "eth1");
	number_at(RAISE, 120, 0, 5, 1, 0);
	irq_at(300, 0, 5, 27, "eth0");
	number_at(IRQ_END, 310, 0, 5, 27, 1);
	irq_at(320, 0, 5, 27, "eth0");
	number_at(SOFTIRQ, 400, 0, 5, 1, 0);
	number_at(SOFTIRQ, 500, 0, 5, 3, 0);
	number_at(SOFTIRQ_END, 510, 0, 5, 3, 0);
	assert_told(INTERRUPTS, "1/cpu0 irq 28 eth1 110-120... on 5\n"
				"1/cpu0 irq 27 eth0 100-120... inner 10 on 5\n"
				"1/cpu0 irq 27 eth0 300-310 on 5\n"
				"1/cpu0 irq 27 eth0 320-320... on 5\n"
				"1/cpu0 softirq 1 TIMER 400-400... raised 120 on 5\n"
				"1/cpu0 softirq 3 NET_RX 500-510 on 5\n");
}

/* No thread leaves its processor in an interrupt. */
SPAN_TEST(a_switch_tells_that_an_end_was_lost)
{
	irq_at(300, 0, 5, 27, "eth0");
	number_at(RAISE, 310, 0, 5, 1, 0);
	switch_at(400, 0, 5, 1, 0);
	assert_told_has(INTERRUPTS | THREADS, "1/cpu0 irq 27 eth0 300-310... on 5\n");
}

/* A timer's function is no interrupt of its own, and hides none inside of it. */
SPAN_TEST(timers_are_told_of_by_their_interrupts)
{
	switch_at(50, 0, 0, 0, 6);
	switch_at(60, 0, 6, 1, 0);
	number_at(SOFTIRQ, 70, 1, 5, 3, 0); /* so that both kinds are recorded */
	number_at(SOFTIRQ_END, 80, 1, 5, 3, 0);
	irq_at(100, 0, 0, 0, "timer");
	made_event(TIMER, 105, 0, 0, NULL);
	wake_at(WAKING, 110, 0, 0, 6, 0);
	made_event(TIMER_END, 115, 0, 0, NULL);
	number_at(IRQ_END, 120, 0, 0, 0, 1);
	switch_at(130, 0, 0, 0, 6);
	assert_told_has(INTERRUPTS | THREADS, "1/cpu0 irq 0 timer 100-120 on 0\n",
			"1/6 sleeps 60-110 by timer 0 #7 state 1\n");
}

/* One of each softirq's number, and of a number that no kernel has. */
SPAN_TEST(softirqs_have_names)
{
	for (int64_t i = 0; i < 11; i++) {
		number_at(SOFTIRQ, 100 + 10 * i, 0, 5, i, 0);
		number_at(SOFTIRQ_END, 105 + 10 * i, 0, 5, i, 0);
	}
	number_at(SOFTIRQ, 300, 0, 5, -7, 0);
	number_at(SOFTIRQ_END, 305, 0, 5, -7, 0);
	assert_told(INTERRUPTS, "1/cpu0 softirq 0 HI 100-105 on 5\n"
				"1/cpu0 softirq 1 TIMER 110-115 on 5\n"
				"1/cpu0 softirq 2 NET_TX 120-125 on 5\n"
				"1/cpu0 softirq 3 NET_RX 130-135 on 5\n"
				"1/cpu0 softirq 4 BLOCK 140-145 on 5\n"
				"1/cpu0 softirq 5 IRQ_POLL 150-155 on 5\n"
				"1/cpu0 softirq 6 TASKLET 160-165 on 5\n"
				"1/cpu0 softirq 7 SCHED 170-175 on 5\n"
				"1/cpu0 softirq 8 HRTIMER 180-185 on 5\n"
				"1/cpu0 softirq 9 RCU 190-195 on 5\n"
				"1/cpu0 softirq 10  200-205 on 5\n"
				"1/cpu0 softirq -7  300-305 on 5\n");
}

/* More than kernels nest: their ends were lost, and no more are kept. */
SPAN_TEST(a_stack_that_is_too_deep_is_given_up)
{
	char *told;
	size_t lines = 0;

	for (int64_t i = 0; i < 40; i++)
		irq_at(100 + i, 0, 5, i, "x");
	told = made_told(INTERRUPTS);
	for (const char *at = told; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 40);
	free(told);
}

SPAN_TEST(a_part_has_only_what_lies_in_it)
{
	made_select(140, 400);
	number_at(READ, 0, 0, 5, 3, 1);
	number_at(RAISE, 90, 0, 5, 3, 0);
	number_at(SOFTIRQ, 100, 0, 5, 3, 0);
	irq_at(120, 0, 5, 27, "eth0");
	number_at(IRQ_END, 150, 0, 5, 27, 1);
	number_at(SOFTIRQ_END, 200, 0, 5, 3, 0);
	irq_at(300, 0, 5, 27, "eth0");
	number_at(IRQ_END, 500, 0, 5, 27, 1);
	assert_told(INTERRUPTS, "1/cpu0 irq 27  ...150-150 on 5\n"
				"1/cpu0 softirq 3 NET_RX ...150-200 on 5\n"
				"1/cpu0 irq 27 eth0 300-400... on 5\n");
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
