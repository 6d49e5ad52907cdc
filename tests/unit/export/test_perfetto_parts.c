/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages, samples, clocks and tasks of a made-up timeline, in what is written. */
#include "export/perfetto/perfetto.h"

#include "../timeline/timeline.h"
#include <math.h>

#include "perfetto.h"

static const nsec_t SECOND = NSEC_PER_SEC;

static void add_messages(struct timeline_writer *writer)
{
	static const struct timeline_message messages[] = {
	    {.protocol = "tcp",
	     .src_node = 1,
	     .dst_node = 2,
	     .send_ns = 1000,
	     .recv_ns = 1500,
	     .src = "10.0.0.1",
	     .sport = 80,
	     .dst = "fd00::2",
	     .dport = 81,
	     .seq = TIMELINE_NONE,
	     .bytes = 40},
	    /* Received before it was sent. */
	    {.protocol = "udp",
	     .src_node = 2,
	     .dst_node = 1,
	     .send_ns = 2000,
	     .recv_ns = 1900,
	     .sport = TIMELINE_NONE,
	     .dport = TIMELINE_NONE,
	     .seq = TIMELINE_NONE,
	     .bytes = TIMELINE_NONE},
	    /* To nobody that is known. */
	    {.src_node = 1,
	     .dst_node = TIMELINE_NONE,
	     .send_ns = 3000,
	     .recv_ns = TIMELINE_NONE,
	     .sport = TIMELINE_NONE,
	     .dport = TIMELINE_NONE,
	     .seq = 7,
	     .bytes = TIMELINE_NONE},
	};
	struct error error = ERROR_INIT;

	for (size_t i = 0; i < COUNT(messages); i++) {
		struct timeline_message message = messages[i];

		message.send_event = message.recv_event = TIMELINE_NONE;
		message.latency_ns = message.send_tid = TIMELINE_NONE;
		assert_int_equal(timeline_add_message(writer, &message, &error), 0);
	}
}

static void add_samples(struct timeline_writer *writer)
{
	static const struct timeline_metric metrics[] = {
	    {.id = 1, .name = "%usr", .unit = "percent", .activity = "cpu"},
	    {.id = 2, .name = "celsius"}};
	static const struct timeline_metric_item item = {
	    .id = 1, .type = "cpu", .name = "all"};
	struct timeline_sample samples[] = {
	    {1, 2 * SECOND, 1, 1, 12.5, SECOND},
	    {2, 2 * SECOND, 1, 1, 13, SECOND},
	    {1, 3 * SECOND, 1, 1, INFINITY, SECOND},
	    {1, 3 * SECOND, 2, TIMELINE_NONE, 40, TIMELINE_NONE},
	    /* A text. */
	    {1, 4 * SECOND, 2, TIMELINE_NONE, NAN, TIMELINE_NONE},
	};
	struct error error = ERROR_INIT;

	for (size_t i = 0; i < COUNT(metrics); i++)
		assert_int_equal(timeline_add_metric(writer, &metrics[i], &error), 0);
	assert_int_equal(timeline_add_metric_item(writer, &item, &error), 0);
	for (size_t i = 0; i < COUNT(samples); i++)
		assert_int_equal(timeline_add_sample(writer, &samples[i], &error), 0);
}

/* The clock of node 2 gains 500 ppm on the reference, and is 1000 ns ahead at first. */
static void add_clocks(struct timeline_writer *writer)
{
	static const struct timeline_source source = {.id = 2,
						      .node = 2,
						      .kind = "kernel",
						      .name = "n2",
						      .reference = 1,
						      .quality = "accurate"};
	static const struct timeline_clock clock = {2, 1000, 0, -500000};
	static const struct timeline_clock_bound bounds[] = {
	    {1, 0, 0, 0},
	    {2, 1000, -10, 20},
	    {2, 2000001000, -30, TIMELINE_NONE},
	    {2, 3000001000, -5, 8},
	};
	struct error error = ERROR_INIT;

	assert_int_equal(timeline_add_source(writer, &source, &error), 0);
	assert_int_equal(timeline_add_clock(writer, &clock, &error), 0);
	for (size_t i = 0; i < COUNT(bounds); i++)
		assert_int_equal(timeline_add_clock_bound(writer, &bounds[i], &error), 0);
}

static void add_tasks(struct timeline_writer *writer)
{
	static const struct timeline_invocation tasks[] = {
	    {0, 1, 10, "a", 5, 10, 30, 0, TIMELINE_NONE, NULL},
	    {0, 1, 11, "b", TIMELINE_NONE, 20, 40, TIMELINE_NONE, TIMELINE_NONE, NULL},
	    {0, 1, 12, "c", TIMELINE_NONE, 30, TIMELINE_NONE, 1, TIMELINE_NONE, NULL},
	    {0, TIMELINE_NONE, 13, "d", TIMELINE_NONE, 1, 22, 0, TIMELINE_NONE, NULL},
	};
	struct error error = ERROR_INIT;

	for (size_t i = 0; i < COUNT(tasks); i++)
		assert_int_equal(timeline_add_invocation(writer, &tasks[i], &error), 0);
}

static void make(const char *path)
{
	static const struct timeline_node node = {.id = 2, .name = "n2"};
	struct timeline_writer *writer = write_timeline(path, true);
	struct error error = ERROR_INIT;

	assert_int_equal(timeline_add_node(writer, &node, &error), 0);
	add_messages(writer);
	add_samples(writer);
	add_clocks(writer);
	add_tasks(writer);
	finish_timeline(writer);
}

static struct timeline_reader *reader;

static int start(void **state)
{
	struct error error = ERROR_INIT;

	scratch_enter(state);
	make("t");
	reader = timeline_reader_open("t", &error);
	return reader ? 0 : -1;
}

static int stop(void **state)
{
	timeline_reader_free(reader);
	return scratch_leave(state);
}

/* What a part writes of this time (0: all), and the notes that it makes. */
static void assert_part(const char *part, nsec_t begin_ns, nsec_t end_ns,
			const char *notes, const char *wanted)
{
	struct export export = {.timeline = reader};
	struct text_list parts = {0};
	struct error error = ERROR_INIT;
	struct told_trace trace;
	char *text = NULL;
	size_t size;

	assert_int_equal(scope_init(&export.scope, reader, NULL, NULL, NULL, &error), 0);
	if (begin_ns)
		export.scope.begin_ns = begin_ns;
	if (end_ns)
		export.scope.end_ns = end_ns;
	told_init(&trace, &export, &text, &size);
	trace.base.parts = &parts;
	text_list_add(&parts, part);
	perfetto_begin(&trace.base);
	assert_int_equal(perfetto_add_parts(&trace.base, &error), 0);
	text_list_clear(&parts);
	perfetto_clear(&trace.base);
	fclose(trace.told);
	assert_string_equal(export.notes.count ? export.notes.item[0].text : "", notes);
	/* The two nodes are known. */
	assert_string_equal(strstr(text, "n2, n2\n") + strlen("n2, n2\n"), wanted);
	problem_clear(&export.notes);
	scope_clear(&export.scope);
	free(text);
}

static void arrows_begin_at_their_earlier_end(void **state)
{
	(void)state;
	assert_part("messages", 0, 0, "",
		    "group 3 in 1: pid 1 tid 0, network, network\n"
		    "row 4 in 3: pid 1 tid 4, messages sent, messages sent\n"
		    "tcp on 4: 1000 to 1000, begins arrow 1, message 1, "
		    "source 10.0.0.1:80, destination [fd00::2]:81, bytes 40, "
		    "latency ns 500, to n2\n"
		    "group 5 in 2: pid 2 tid 0, network, network\n"
		    "row 6 in 5: pid 2 tid 6, messages received, messages received\n"
		    "tcp on 6: 1500 to 1500, ends arrow 1, message 1, "
		    "source 10.0.0.1:80, destination [fd00::2]:81, bytes 40, "
		    "latency ns 500, from n1\n"
		    "row 7 in 5: pid 2 tid 7, messages sent, messages sent\n"
		    "udp on 7: 2000 to 2000, ends arrow 2, message 2, latency ns -100, "
		    "to n1\n"
		    "row 8 in 3: pid 1 tid 8, messages received, messages received\n"
		    "udp on 8: 1900 to 1900, begins arrow 2, message 2, latency ns -100, "
		    "from n2\n"
		    "message on 4: 3000 to 3000, message 3, seq 7, "
		    "received at a time not known\n");
}

static void ends_outside_have_no_arrow(void **state)
{
	(void)state;
	assert_part("messages", 1200, 1950, "",
		    "group 3 in 2: pid 2 tid 0, network, network\n"
		    "row 4 in 3: pid 2 tid 4, messages received, messages received\n"
		    "tcp on 4: 1500 to 1500, message 1, "
		    "source 10.0.0.1:80, destination [fd00::2]:81, bytes 40, "
		    "latency ns 500, from n1, sent outside of this export's time\n"
		    "group 5 in 1: pid 1 tid 0, network, network\n"
		    "row 6 in 5: pid 1 tid 6, messages received, messages received\n"
		    "udp on 6: 1900 to 1900, message 2, latency ns -100, "
		    "from n2, sent outside of this export's time\n");
}

static void samples_stand_over_their_time(void **state)
{
	(void)state;
	assert_part("samples", 0, 0, "1 infinite samples omitted",
		    "list 3 in 1: pid 1 tid 0, samples, samples\n"
		    "list 4 in 3: pid 1 tid 0, cpu, cpu\n"
		    "counter 5 in 4: pid 1 tid 0, all %usr, cpu all %usr, percent\n"
		    "12.5 on 5: 1000000000\n"
		    "list 6 in 2: pid 2 tid 0, samples, samples\n"
		    "list 7 in 6: pid 2 tid 0, cpu, cpu\n"
		    "counter 8 in 7: pid 2 tid 0, all %usr, cpu all %usr, percent\n"
		    "13 on 8: 1000000000\n"
		    "list 9 in 3: pid 1 tid 0, other, other\n"
		    "counter 10 in 9: pid 1 tid 0, celsius, other celsius\n"
		    "40 on 10: 3000000000\n");
}

static void samples_are_cut_at_the_begin(void **state)
{
	(void)state;
	assert_part("samples", 1500000000, 1700000000, "",
		    "list 3 in 1: pid 1 tid 0, samples, samples\n"
		    "list 4 in 3: pid 1 tid 0, cpu, cpu\n"
		    "counter 5 in 4: pid 1 tid 0, all %usr, cpu all %usr, percent\n"
		    "12.5 on 5: 1500000000\n"
		    "list 6 in 2: pid 2 tid 0, samples, samples\n"
		    "list 7 in 6: pid 2 tid 0, cpu, cpu\n"
		    "counter 8 in 7: pid 2 tid 0, all %usr, cpu all %usr, percent\n"
		    "13 on 8: 1500000000\n");
}

/* What nothing bounds at one time is not drawn; the wider of two bounds is. */
static void bounds_are_drawn_wide(void **state)
{
	(void)state;
	assert_part("clocks", 0, 0, "",
		    "list 3 in 1: pid 1 tid 0, clocks, clocks\n"
		    "row 4 in 3: pid 1 tid 4, run, run\n"
		    "run on 4: 1 to 1\n"
		    "list 5 in 2: pid 2 tid 0, clocks, clocks\n"
		    "row 6 in 5: pid 2 tid 6, run, run\n"
		    "run on 6: 1 to 1\n"
		    "clock of n1 on 4: 1 to 1, reference n1, kind kernel, "
		    "events 0, discarded 0\n"
		    "clock of n2 on 6: 1 to 1, quality accurate, reference n1, "
		    "kind kernel, events 0, discarded 0\n"
		    "counter 7 in 3: pid 1 tid 0, n1 true time, earliest, "
		    "n1 true time, earliest, ns\n"
		    "0 on 7: 1\n"
		    "counter 8 in 3: pid 1 tid 0, n1 true time, latest, "
		    "n1 true time, latest, ns\n"
		    "0 on 8: 1\n"
		    "counter 9 in 5: pid 2 tid 0, n2 true time, earliest, "
		    "n2 true time, earliest, ns\n"
		    "-30 on 9: 1\n"
		    "-30 on 9: 1999000000\n"
		    "-5 on 9: 2998500000\n");
}

static void tasks_stand_beside_each_other(void **state)
{
	(void)state;
	assert_part(
	    "tasks", 15, 35, "1 tasks are of no node of the run, and left out",
	    "row 3 in 1: pid 1 tid 3, tasks, tasks\n"
	    "a on 3: 15 to 30, cut begin, invocation 1, pid 10, status 0, queued ns 5\n"
	    "c on 3: 30 to 35, cut end, invocation 3, pid 12, status 1\n"
	    "row 4 in 1: pid 1 tid 4, tasks, tasks\n"
	    "b on 4: 20 to 35, cut end, invocation 2, pid 11\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(arrows_begin_at_their_earlier_end),
	    cmocka_unit_test(ends_outside_have_no_arrow),
	    cmocka_unit_test(samples_stand_over_their_time),
	    cmocka_unit_test(samples_are_cut_at_the_begin),
	    cmocka_unit_test(bounds_are_drawn_wide),
	    cmocka_unit_test(tasks_stand_beside_each_other),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
