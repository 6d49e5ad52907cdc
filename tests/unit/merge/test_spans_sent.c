/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "told_spans.h"

/* On whose behalf packets are sent: as wakeups, by what stands on top. */
SPAN_TEST(whoever_sends_is_told)
{
	made_records(SOFTIRQ);
	irq_at(10, 0, 0, 1, "nic");
	number_at(IRQ_END, 20, 0, 0, 1, 0);
	switch_at(100, 0, 0, 0, 5);
	name_at(SEND, 150, 0, 5, "eth0");
	/* An answer to a packet, while thread 5 is interrupted. */
	number_at(SOFTIRQ, 200, 0, 5, 3, 0);
	name_at(RECEIVE, 210, 0, 5, "eth0");
	name_at(SEND, 220, 0, 5, "eth0");
	number_at(SOFTIRQ_END, 230, 0, 5, 3, 0);
	/* A segment without an answer is sent again by a timer. */
	number_at(SOFTIRQ, 300, 0, 5, 1, 0);
	name_at(SEND, 310, 0, 5, "eth0");
	number_at(SOFTIRQ_END, 320, 0, 5, 1, 0);
	assert_told(PACKETS | RECEIVED, "1 #4 at 150 by thread 5\n"
					"1 #6 came, with #6\n"
					"1 #7 at 220 by network 5 packet #6\n"
					"1 #10 at 310 by timer 5\n");
}

SPAN_TEST(without_interrupts_it_is_not_known_who_sent)
{
	name_at(SEND, 150, 0, 5, "eth0");
	name_at(SEND, 250, 0, 5, "eth0");
	assert_told(PACKETS, "1 #1 at 150 by unknown 5\n"
			     "1 #2 at 250 by unknown 5\n");
}

/* The kernel notes all packets that it took from the card, then works on each. */
SPAN_TEST(of_several_packets_any_may_be_answered)
{
	irq_at(10, 0, 0, 1, "nic");
	number_at(IRQ_END, 20, 0, 0, 1, 0);
	switch_at(100, 0, 0, 0, 5);
	switch_at(150, 0, 5, 1, 0);
	number_at(SOFTIRQ, 200, 0, 0, 3, 0);
	name_at(RECEIVE, 210, 0, 0, "eth0");
	name_at(RECEIVE, 220, 0, 0, "eth0");
	name_at(SEND, 225, 0, 0, "eth0");
	wake_at(WAKING, 230, 0, 0, 5, 0);
	number_at(SOFTIRQ_END, 240, 0, 0, 3, 0);
	number_at(SOFTIRQ, 250, 0, 0, 3, 0);
	name_at(RECEIVE, 260, 0, 0, "eth0");
	number_at(SOFTIRQ_END, 270, 0, 0, 3, 0);
	/* Packets that were sent are cleaned up: that wakes nothing by a packet. */
	number_at(SOFTIRQ, 280, 0, 0, 2, 0);
	wake_at(WAKING, 290, 0, 0, 6, 0);
	number_at(SOFTIRQ_END, 300, 0, 0, 2, 0);
	switch_at(310, 0, 0, 0, 6);
	assert_told(
	    THREADS | PACKETS | RECEIVED,
	    "1 #6 came, with #6\n"
	    "1 #7 came, with #6\n"
	    "1 #8 at 225 by network 0 packet #7 of those from #6\n"
	    "1 #12 came, with #12\n"
	    "1/0 runs ...10-100 cpu0 then 5\n"
	    "1/5 runs 100-150 cpu0 then 0\n"
	    "1/5 sleeps 150-230 by network 0 #9 packet #7 of those from #6 state 1\n"
	    "1/6 sleeps ...10-290 by network 0 #15\n"
	    "1/0 runs 150-310 cpu0 then 6\n"
	    "1/6 waits 290-310 cpu0 by network 0 #15 after 0\n"
	    "1/6 runs 310-1000... cpu0\n"
	    "1/5 waits 230-1000... cpu0 by network 0 #9 packet #7 of those from #6\n");
}

/* If interrupts are not recorded: as it looks, if that is asked for. */
SPAN_TEST(what_follows_a_packet_may_be_assumed_to_be_its_doing)
{
	switch_at(100, 0, 0, 0, 5);
	switch_at(100, 1, 0, 0, 6);
	switch_at(150, 0, 5, 1, 0);
	switch_at(160, 1, 6, 1, 0);
	name_at(SEND, 170, 0, 0, "eth0");
	name_at(RECEIVE, 200, 0, 0, "eth0");
	wake_at(WAKING, 210, 0, 0, 5, 0);
	name_at(SEND, 215, 0, 0, "eth0");
	wake_at(WAKING, 220, 0, 0, 6, 0); /* the second one is not the packet's */
	switch_at(230, 0, 0, 0, 5);
	name_at(SEND, 240, 0, 5, "eth0");
	name_at(RECEIVE, 250, 0, 5, "lo"); /* by whoever runs */
	name_at(SEND, 260, 0, 5, "lo");
	assert_told(THREADS | PACKETS | ASSUMED,
		    "1 #5 at 170 by interrupt 0\n"
		    "1 #8 at 215 by network 0 packet #6\n"
		    "1 #11 at 240 by thread 5\n"
		    "1 #13 at 260 by thread 5\n"
		    "1/5 runs 100-150 cpu0 then 0\n"
		    "1/6 runs 100-160 cpu1 then 0\n"
		    "1/5 sleeps 150-210 by network 0 #7 packet #6 state 1\n"
		    "1/6 sleeps 160-220 by interrupt 0 #9 state 1\n"
		    "1/0 runs 150-230 cpu0 then 5\n"
		    "1/5 waits 210-230 cpu0 by network 0 #7 packet #6 after 0\n"
		    "1/5 runs 230-1000... cpu0\n"
		    "1/0 runs 160-1000... cpu1\n"
		    "1/6 waits 220-1000... cpu0 by interrupt 0 #9\n");
}

/* ksoftirqd does what softirqs could not be finished at once. */
SPAN_TEST(ksoftirqd_is_assumed_to_be_softirqs)
{
	const struct cell cells[] = {TEXT("swapper"), INTEGER(0),          INTEGER(20),
				     INTEGER(0),      TEXT("ksoftirqd/0"), INTEGER(14),
				     INTEGER(20)};

	switch_at(50, 0, 0, 0, 5);
	switch_at(60, 0, 5, 1, 0);
	made_event(SWITCH, 100, 0, 0, cells);
	name_at(SEND, 150, 0, 14, "eth0");
	name_at(RECEIVE, 200, 0, 14, "eth0");
	name_at(SEND, 205, 0, 14, "eth0");
	wake_at(WAKING, 210, 0, 14, 5, 0);
	assert_told(THREADS | PACKETS | ASSUMED,
		    "1 #4 at 150 by interrupt 14\n"
		    "1 #6 at 205 by network 14 packet #5\n"
		    "1/5 runs 50-60 cpu0 then 0\n"
		    "1/0 runs 60-100 cpu0 then 14\n"
		    "1/5 sleeps 60-210 by network 14 #7 packet #5 state 1\n"
		    "1/14 runs 100-1000... cpu0\n"
		    "1/5 waits 210-1000... cpu0 by network 14 #7 packet #5\n");
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
