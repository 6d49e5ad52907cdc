/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/run.h"

#include "../scratch.h"

TEST(names_go_by_globs)
{
	struct selection selection = {.begin_ns = 10, .end_ns = 20};

	assert_true(selection_has_class(&selection, "net_dev_queue"));
	assert_true(selection_has_node(&selection, "node1"));
	text_list_add(&selection.events, "net_*");
	text_list_add(&selection.events, "sched_switch");
	text_list_add(&selection.skip, "*_xmit");
	text_list_add(&selection.nodes, "node[12]");
	assert_true(selection_has_class(&selection, "net_dev_queue"));
	assert_true(selection_has_class(&selection, "sched_switch"));
	assert_false(selection_has_class(&selection, "net_dev_xmit"));
	assert_false(selection_has_class(&selection, "sched_wakeup"));
	assert_true(selection_has_node(&selection, "node2"));
	assert_false(selection_has_node(&selection, "node3"));
	assert_false(selection_has_time(&selection, 9));
	assert_true(selection_has_time(&selection, 10));
	assert_true(selection_has_time(&selection, 20));
	assert_false(selection_has_time(&selection, 21));
	text_list_clear(&selection.events);
	text_list_clear(&selection.skip);
	text_list_clear(&selection.nodes);
}
