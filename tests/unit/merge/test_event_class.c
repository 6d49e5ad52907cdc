/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/event_class.h"

#include "../scratch.h"

static char name[] = "x", tid[] = "tid", pid[] = "pid", vpid[] = "vpid",
	    comm[] = "procname", switches[] = "sched_switch", other[] = "irq_entry",
	    wakeups[] = "sched_wakeup";
static struct trace_column plain[] = {{name, CELL_INTEGER, false}};
static struct trace_column context[] = {{name, CELL_INTEGER, false},
					{tid, CELL_INTEGER, true}};
static struct trace_class sched_switch = {
    .name = switches, .column = plain, .columns = 1};
static struct trace_class irq_entry = {.name = other, .column = plain, .columns = 1};
static struct trace_class sched_wakeup = {.name = wakeups, .column = plain, .columns = 1};
static struct trace_class with_tid = {.name = other, .column = context, .columns = 2};

static struct trace_column told[][1] = {
    {{pid, CELL_INTEGER, true}}, {{vpid, CELL_INTEGER, true}}, {{comm, CELL_TEXT, true}}};

enum { ALL = EVENT_SELECTED | EVENT_CELLS, ROW = EVENT_SELECTED | EVENT_PAYLOAD };

/* The use of an event of a class at a time. */
static unsigned use_at(const struct trace_class *of, const struct event_filter *filter,
		       nsec_t ts_ns)
{
	struct event_class class;
	unsigned use;

	event_class_init(&class, of, filter);
	use = event_class_use(&class, filter->selection, ts_ns);
	event_class_clear(&class);
	return use & (EVENT_SELECTED | EVENT_FOLLOWED | EVENT_CELLS | EVENT_PAYLOAD);
}

static bool wants_cells(const struct trace_class *of, const struct event_filter *filter)
{
	struct event_class class;
	bool wants;

	event_class_init(&class, of, filter);
	wants = event_class_wants_cells(&class);
	event_class_clear(&class);
	return wants;
}

static enum trace_use use_before(const struct trace_class *of,
				 const struct event_filter *filter)
{
	struct event_class class;
	enum trace_use use;

	event_class_init(&class, of, filter);
	use = event_class_use_before(&class);
	event_class_clear(&class);
	return use;
}

TEST(what_is_not_selected_may_be_followed)
{
	struct selection selection = {.begin_ns = 10, .end_ns = 20};
	const struct event_filter filter = {&selection, .payload = true};

	text_list_add(&selection.events, "irq_*");
	assert_int_equal(use_at(&sched_switch, &filter, 15),
			 EVENT_FOLLOWED | EVENT_CELLS);
	assert_int_equal(use_at(&irq_entry, &filter, 15), ROW);
	assert_int_equal(use_at(&irq_entry, &filter, 10), ROW);
	assert_int_equal(use_at(&irq_entry, &filter, 20), ROW);
	assert_int_equal(use_at(&irq_entry, &filter, 9), 0);
	assert_int_equal(use_at(&irq_entry, &filter, 21), 0);
	assert_int_equal(use_at(&sched_switch, &filter, 9), EVENT_FOLLOWED | EVENT_CELLS);
	assert_int_equal(use_at(&sched_switch, &filter, 21), 0);
	text_list_clear(&selection.events);
	text_list_clear(&selection.nodes);
	text_list_clear(&selection.skip);
}

TEST(cells_are_kept_where_they_are_of_use)
{
	struct selection selection = {.begin_ns = NSEC_MIN, .end_ns = NSEC_MAX};
	struct event_filter filter = {.selection = &selection};

	assert_int_equal(use_at(&irq_entry, &filter, 0), EVENT_SELECTED);
	assert_int_equal(use_at(&with_tid, &filter, 0), ALL);
	assert_int_equal(use_at(&sched_switch, &filter, 0), ALL | EVENT_FOLLOWED);
	assert_false(wants_cells(&irq_entry, &filter));
	assert_true(wants_cells(&with_tid, &filter));
	assert_true(wants_cells(&sched_switch, &filter));
	/* Spans need the fields of what tells of them, though the timeline has none. */
	filter.spans = true;
	assert_true(wants_cells(&sched_wakeup, &filter));
	assert_false(wants_cells(&irq_entry, &filter));
	text_list_add(&selection.skip, "*");
	filter.payload = true;
	filter.spans = false;
	assert_false(wants_cells(&irq_entry, &filter));
	assert_true(wants_cells(&sched_switch, &filter));
	text_list_clear(&selection.events);
	text_list_clear(&selection.nodes);
	text_list_clear(&selection.skip);
}

TEST(chosen_cells_are_the_columns_that_are_read)
{
	struct selection selection = {.begin_ns = NSEC_MIN, .end_ns = NSEC_MAX};
	const struct event_filter filter = {.selection = &selection};
	static char success[] = "success", cpu[] = "target_cpu";
	static struct trace_column column[] = {{tid, CELL_INTEGER, true},
					       {name, CELL_INTEGER, false},
					       {tid, CELL_INTEGER, false},
					       {success, CELL_INTEGER, false},
					       {cpu, CELL_INTEGER, false}};
	const struct trace_class of = {.name = wakeups, .column = column, .columns = 5};
	struct event_class class;

	event_class_init(&class, &of, &filter);
	assert_null(class.chosen);
	assert_int_equal(class.cells, 5);
	assert_int_equal(class.column[WOKEN_CPU], 4);
	event_class_choose_cells(&class);
	assert_int_equal(class.cells, 3);
	assert_int_equal(class.chosen[0], 0);
	assert_int_equal(class.chosen[1], 2);
	assert_int_equal(class.chosen[2], 4);
	assert_int_equal(class.context[CONTEXT_TID], 0);
	assert_int_equal(class.column[WOKEN_TID], 1);
	assert_int_equal(class.column[WOKEN_CPU], 2);
	assert_int_equal(class.column[WOKEN_COMM], -1);
	event_class_clear(&class);
}

TEST(events_that_carry_packets_are_linked)
{
	struct selection selection = {.begin_ns = NSEC_MIN, .end_ns = NSEC_MAX};
	const struct event_filter filter = {.selection = &selection};
	static const char *const names[] = {"packet", "net_dev_queue", "net_dev_xmit"};
	struct event_class class;

	for (size_t i = 0; i < 3; i++) {
		const struct trace_class of = {.name = (char *)names[i]};

		event_class_init(&class, &of, &filter);
		assert_int_equal(!(class.use & EVENT_LINKED), i == 2);
		event_class_clear(&class);
	}
}

/* The process of a thread and its name hold before the events, too. */
TEST(what_contexts_tell_is_needed_before_the_begin)
{
	struct selection selection = {.begin_ns = 10, .end_ns = NSEC_MAX};
	const struct event_filter filter = {&selection, .payload = true};

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		struct trace_class class = {
		    .name = other, .column = told[i], .columns = 1};

		assert_int_equal(use_before(&class, &filter), TRACE_NEEDED);
		assert_int_equal(use_at(&class, &filter, 9),
				 EVENT_FOLLOWED | EVENT_CELLS);
		assert_int_equal(use_at(&class, &filter, 10), ALL | ROW);
		told[i][0].context = false;
		assert_int_equal(use_before(&class, &filter), TRACE_UNUSED);
		told[i][0].context = true;
	}
	assert_int_equal(use_before(&with_tid, &filter), TRACE_UNUSED);
	text_list_clear(&selection.events);
	text_list_clear(&selection.nodes);
	text_list_clear(&selection.skip);
}
