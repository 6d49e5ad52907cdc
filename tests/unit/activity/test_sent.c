/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "made.h"

/* On whose behalf packets are sent: as wakeups, by what stands on top. */
static void whoever_sends_is_told(void **unused)
{
	(void)unused;
	made_begin();
	irq_at(10, 0, 0, 1, "nic");
	number_at(IRQ_END, 20, 0, 0, 1, 0);
	switch_at(100, 0, 0, 0, 5);
	name_at(SEND, 150, 0, 5, "eth0");
	/* An answer to a packet, while thread 5 is interrupted. */
	number_at(SOFTIRQ, 200, 0, 5, 3, 0);
	name_at(RECEIVE, 210, 0, 5, "eth0");
	name_at(SEND, 220, 0, 5, "eth0");
	number_at(SOFTIRQ_END, 230, 0, 5, 3, 0);
	/* What had no answer is sent again by a timer. */
	number_at(SOFTIRQ, 300, 0, 5, 1, 0);
	name_at(SEND, 310, 0, 5, "eth0");
	number_at(SOFTIRQ_END, 320, 0, 5, 1, 0);
	assert_walk(&made_sent, "1 #4 at 150 by thread 5\n"
				"1 #7 at 220 by network 5 packet #6\n"
				"1 #10 at 310 by timer 5\n");
}

static void without_interrupts_it_is_not_known_who_sent(void **unused)
{
	char *told;

	(void)unused;
	made_begin();
	name_at(SEND, 150, 0, 5, "eth0");
	name_at(SEND, 250, 0, 5, "eth0");
	assert_walk(&made_sent, "1 #1 at 150 by unknown 5\n"
				"1 #2 at 250 by unknown 5\n");
	told = made_walk(&made_sent, "+0.000000050", NULL);
	assert_string_equal(told, "1 #2 at 250 by unknown 5\n");
	free(told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(whoever_sends_is_told),
	    cmocka_unit_test(without_interrupts_it_is_not_known_who_sent),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
