/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/perfetto/perfetto.h"

#include "../timeline/timeline.h"
#include "perfetto.h"

/*
 * Nodes n1 and n2. Thread 7 of n1 is nginx, and from 1000 on another one, sh. Thread 8 is
 * one of nginx. n2 has a thread 7, too, of no known process, and one with a long number.
 */
static void make(const char *path)
{
	static const struct timeline_node node = {.id = 2, .name = "n2"};
	static const struct timeline_process process = {
	    .id = 1, .node = 1, .pid = 7, .comm = "nginx"};
	static const struct timeline_thread threads[] = {
	    {.id = 1, .node = 1, .tid = 7, .process = 1, .comm = "nginx"},
	    {.id = 2, .node = 1, .tid = 7, .comm = "sh", .begin_ns = 1000},
	    {.id = 3, .node = 1, .tid = 8, .process = 1, .comm = "worker"},
	    {.id = 4, .node = 2, .tid = 7, .comm = "cron"},
	    {.id = 5, .node = 2, .tid = 10000000, .comm = "far"},
	};
	struct timeline_writer *writer = write_timeline(path, true);
	struct error error = ERROR_INIT;

	assert_int_equal(timeline_add_node(writer, &node, &error), 0);
	assert_int_equal(timeline_add_process(writer, &process, &error), 0);
	for (size_t i = 0; i < COUNT(threads); i++)
		assert_int_equal(timeline_add_thread(writer, &threads[i], &error), 0);
	finish_timeline(writer);
}

static struct export export;

static int start(void **state)
{
	struct error error = ERROR_INIT;

	scratch_enter(state);
	make("t");
	export.timeline = timeline_reader_open("t", &error);
	return export.timeline
		   ? scope_init(&export.scope, export.timeline, NULL, NULL, NULL, &error)
		   : -1;
}

static int stop(void **state)
{
	scope_clear(&export.scope);
	timeline_reader_free(export.timeline);
	return scratch_leave(state);
}

struct telling {
	struct told_trace trace;
	char *text;
	size_t size;
};

/* The trace knows the threads, and nothing is on a track. */
static void begin(struct telling *telling)
{
	struct text_list none = {0};
	struct error error = ERROR_INIT;

	*telling = (struct telling){.text = NULL};
	told_init(&telling->trace, &export, &telling->text, &telling->size);
	perfetto_begin(&telling->trace.base);
	text_list_add(&none, "none");
	telling->trace.base.parts = &none;
	assert_int_equal(perfetto_add_parts(&telling->trace.base, &error), 0);
	text_list_clear(&none);
}

static void end(struct telling *telling, const char *wanted)
{
	perfetto_clear(&telling->trace.base);
	fclose(telling->trace.told);
	if (wanted)
		assert_string_equal(telling->text, wanted);
	free(telling->text);
}

static uint32_t lane(struct telling *telling, enum perfetto_row kind, int64_t node,
		     int64_t of, nsec_t begin_ns, nsec_t end_ns)
{
	const struct perfetto_slot slot = {.kind = kind,
					   .node = node,
					   .of = of,
					   .name = kind != ROW_DISK ? NULL
						   : node == 1      ? "disk sda1 (8:1)"
								    : "disk 8:1",
					   .begin_ns = begin_ns};

	return perfetto_lane(&telling->trace.base, &slot, end_ns)->number;
}

static void assert_thread(struct telling *telling, int64_t node, int64_t tid,
			  nsec_t at_ns, const char *wanted)
{
	assert_string_equal(perfetto_thread_name(&telling->trace.base, node, tid, at_ns),
			    wanted);
}

static void threads_are_known_by_time(void **state)
{
	struct telling telling;

	(void)state;
	begin(&telling);
	assert_thread(&telling, 1, 7, 0, "nginx 7");
	assert_thread(&telling, 1, 7, 999, "nginx 7");
	assert_thread(&telling, 1, 7, 1000, "sh 7");
	assert_thread(&telling, 1, 8, 5, "worker 8");
	assert_thread(&telling, 2, 7, 5, "cron 7");
	assert_thread(&telling, 1, 6, 5, "thread 6");
	assert_thread(&telling, 1, 9, 5, "thread 9");
	assert_thread(&telling, 3, 7, 5, "thread 7");
	end(&telling, "node 1 in 0: pid 1 tid 0, n1, n1\n"
		      "node 2 in 0: pid 2 tid 0, n2, n2\n");
}

static void ids_of_nodes_do_not_collide(void **state)
{
	struct telling telling;

	(void)state;
	begin(&telling);
	lane(&telling, ROW_STATES, 1, 7, 10, 20);
	lane(&telling, ROW_STATES, 2, 7, 10, 20);
	lane(&telling, ROW_STATES, 1, 7, 1000, 1010);
	lane(&telling, ROW_SYSCALLS, 1, 8, 10, 20);
	lane(&telling, ROW_STATES, 2, 10000000, 10, 20);
	lane(&telling, ROW_STATES, 2, 77, 10, 20);
	end(&telling, "node 1 in 0: pid 1 tid 0, n1, n1\n"
		      "node 2 in 0: pid 2 tid 0, n2, n2\n"
		      "thread 3 in 1: pid 1 tid 10000007, nginx 7, nginx 7\n"
		      "thread 4 in 2: pid 2 tid 20000007, cron 7, cron 7\n"
		      "thread 5 in 1: pid 1 tid 2010000000, sh 7, sh 7\n"
		      "thread 6 in 1: pid 1 tid 10000008, worker 8 of nginx 7, "
		      "worker 8 of nginx 7\n"
		      "row 7 in 6: pid 1 tid 7, system calls, "
		      "worker 8 of nginx 7: system calls\n"
		      "thread 8 in 2: pid 2 tid 2010000001, far 10000000, far 10000000\n"
		      "thread 9 in 2: pid 2 tid 20000077, thread 77, thread 77\n");
}

static void slices_that_overlap_get_lanes(void **state)
{
	struct telling telling;
	uint32_t first, second;

	(void)state;
	begin(&telling);
	first = lane(&telling, ROW_DISK, 1, 8 << 20 | 1, 10, 20);
	assert_int_equal(lane(&telling, ROW_DISK, 1, 8 << 20 | 1, 20, 20), first);
	second = lane(&telling, ROW_DISK, 1, 8 << 20 | 1, 15, 30);
	assert_int_not_equal(second, first);
	/* Both are free at 30: the one that was used last goes on. */
	assert_int_equal(lane(&telling, ROW_DISK, 1, 8 << 20 | 1, 30, 31), second);
	assert_int_equal(lane(&telling, ROW_DISK, 1, 8 << 20 | 1, 25, 32), first);
	assert_int_equal(lane(&telling, ROW_DISK, 1, 8 << 20 | 1, 31, 32), second);
	lane(&telling, ROW_DISK, 2, 8 << 20 | 1, 31, 32);
	end(&telling, "node 1 in 0: pid 1 tid 0, n1, n1\n"
		      "node 2 in 0: pid 2 tid 0, n2, n2\n"
		      "list 3 in 1: pid 1 tid 0, disks, disks\n"
		      "row 4 in 3: pid 1 tid 4, disk sda1 (8:1), disk sda1 (8:1)\n"
		      "row 5 in 3: pid 1 tid 5, disk sda1 (8:1), disk sda1 (8:1)\n"
		      "list 6 in 2: pid 2 tid 0, disks, disks\n"
		      "row 7 in 6: pid 2 tid 7, disk 8:1, disk 8:1\n");
}

static void states_that_overlap_are_no_second_thread(void **state)
{
	struct telling telling;

	(void)state;
	begin(&telling);
	lane(&telling, ROW_STATES, 1, 8, 10, 20);
	lane(&telling, ROW_STATES, 1, 8, 15, 20);
	end(&telling, "node 1 in 0: pid 1 tid 0, n1, n1\n"
		      "node 2 in 0: pid 2 tid 0, n2, n2\n"
		      "thread 3 in 1: pid 1 tid 10000008, worker 8 of nginx 7, "
		      "worker 8 of nginx 7\n"
		      "row 4 in 3: pid 1 tid 4, more states, worker 8 of nginx 7\n");
}

static void counters_stand_in_groups(void **state)
{
	static const struct perfetto_slot counters[] = {{.kind = ROW_SAMPLES,
							 .node = 1,
							 .of = 1,
							 .item = 2,
							 .name = "all %usr",
							 .unit = "percent",
							 .group = 1,
							 .group_name = "cpu"},
							{.kind = ROW_SAMPLES,
							 .node = 1,
							 .of = 2,
							 .item = 2,
							 .name = "all %sys",
							 .group = 1,
							 .group_name = "cpu"}};
	const struct perfetto_track *track;
	struct telling telling;

	(void)state;
	begin(&telling);
	for (size_t i = 0; i < 2; i++) {
		track = perfetto_track(&telling.trace.base, &counters[i]);
		assert_ptr_equal(perfetto_track(&telling.trace.base, &counters[i]),
				 track);
	}
	end(&telling, "node 1 in 0: pid 1 tid 0, n1, n1\n"
		      "node 2 in 0: pid 2 tid 0, n2, n2\n"
		      "list 3 in 1: pid 1 tid 0, samples, samples\n"
		      "list 4 in 3: pid 1 tid 0, cpu, cpu\n"
		      "counter 5 in 4: pid 1 tid 0, all %usr, cpu all %usr, percent\n"
		      "counter 6 in 4: pid 1 tid 0, all %sys, cpu all %sys\n");
}

/* More rows than the table begins with, and each is found again. */
static void many_rows_are_found_again(void **state)
{
	enum { MANY = 5000 };
	uint32_t track[MANY];
	struct telling telling;

	(void)state;
	begin(&telling);
	for (int i = 0; i < MANY; i++)
		track[i] = lane(&telling, ROW_IRQ, 1 + i % 2, i, 0, 1);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(lane(&telling, ROW_IRQ, 1 + i % 2, i, 1, 2), track[i]);
	end(&telling, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(threads_are_known_by_time),
	    cmocka_unit_test(ids_of_nodes_do_not_collide),
	    cmocka_unit_test(slices_that_overlap_get_lanes),
	    cmocka_unit_test(states_that_overlap_are_no_second_thread),
	    cmocka_unit_test(counters_stand_in_groups),
	    cmocka_unit_test(many_rows_are_found_again),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
