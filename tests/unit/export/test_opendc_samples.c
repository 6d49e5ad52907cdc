/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processor time and memory by samples of processes and events of pages. */
#include "opendc_timeline.h"

enum { UTIME = 1, STIME, RSS, PPID };

static void make_metrics(const char *const *item, size_t items)
{
	static const struct timeline_metric metric[] = {
	    {UTIME, "utime", "ns", "counter", "process"},
	    {STIME, "stime", "ns", "counter", "process"},
	    {RSS, "rss", "KiB", "gauge", "process"},
	    {PPID, "ppid", NULL, "gauge", "process"}};

	for (size_t i = 0; i < COUNT(metric); i++)
		MADE(timeline_add_metric(made.writer, &metric[i], &made.error));
	for (size_t i = 0; i < items; i++) {
		const struct timeline_metric_item row = {
		    .id = (int64_t)i + 1, .type = "process", .name = item[i]};

		MADE(timeline_add_metric_item(made.writer, &row, &made.error));
	}
}

static void make_sample(nsec_t when, int64_t metric, int64_t item, double value)
{
	const struct timeline_sample sample = {.node = 1,
					       .ts_ns = when,
					       .metric = metric,
					       .item = item,
					       .value = value,
					       .interval_ns = NONE};

	MADE(timeline_add_sample(made.writer, &sample, &made.error));
}

/* Without events of the scheduler: differences of counters, spread over their time. */
OPENDC_TEST(time_is_that_of_samples)
{
	static const char *const item[] = {"10 work with spaces", "11 child"};
	char *notes;

	make_node(1, 1000, 2);
	make_metrics(item, 2);
	for (int i = 0; i <= 4; i++) {
		make_sample(AT(i * 500), UTIME, 1, 1e9 + i * 200e6);
		make_sample(AT(i * 500), STIME, 1, i * 100e6);
	}
	make_sample(AT(500), PPID, 2, 10);
	make_sample(AT(500), UTIME, 2, 0);
	make_sample(AT(1500), UTIME, 2, 2000e6); /* two threads */
	make_end();
	notes = run_export(make_options());
	assert_non_null(strstr(notes, "n1: no scheduling events, so processor time is by "
				      "samples of processes"));
	assert_non_null(strstr(notes, "3.200000 s busy (and 0.000000 s idle): 3.200000 s "
				      "in tasks"));
	free(notes);
	assert_task("name", "work with spaces child");
	assert_task("duration", "2000 1000");
	assert_task("parents", " 1");
	assert_task("cpu_count", "1 2");
	assert_fragment("id", "1 1 2 2");
	assert_fragment("duration", "1000 1000 500 500");
	assert_fragment("cpu_usage", "600.0 600.0 2000.0 2000.0");
}

/* A counter that falls back is another process of that name and number. */
OPENDC_TEST(a_number_comes_again)
{
	static const char *const item[] = {"10 work"};

	make_node(1, 1000, 2);
	make_metrics(item, 1);
	make_sample(AT(0), UTIME, 1, 700e6);
	make_sample(AT(100), UTIME, 1, 800e6);
	make_sample(AT(300), UTIME, 1, 10e6);
	make_sample(AT(400), UTIME, 1, 60e6);
	make_end();
	free(run_export(make_options()));
	assert_task("duration", "100 100");
	assert_fragment("cpu_usage", "1000.0 500.0");
}

OPENDC_TEST(invocations_have_samples_too)
{
	static const char *const item[] = {"10 work"};
	struct opendc_options *options = make_options();

	make_node(1, 1000, 2);
	make_metrics(item, 1);
	make_sample(AT(0), UTIME, 1, 0);
	make_sample(AT(1000), UTIME, 1, 500e6);
	make_sample(AT(600), RSS, 1, 1000);
	make_invocation(1, 10, "job", NONE, AT(200), AT(800), NULL);
	make_end();
	options->tasks = OPENDC_INVOCATION;
	expect_note(run_export(options),
		    "0.300000 s in tasks; omitted: 0.200000 s outside of tasks");
	assert_fragment("cpu_usage", "500.0");
	assert_fragment("duration", "600");
	assert_task("mem_capacity", "1024");
}

/* The sum of a group's processes at one time, without those that have ended. */
OPENDC_TEST(memory_is_the_highest_sum)
{
	static const char *const item[] = {"10 sh", "11 sh", "12 sh"};
	struct opendc_options *options = make_options();

	make_node(1, 1000, 1);
	make_process(1, 1, 10, 1, "sh");
	make_child(2, 1, 11, 10, "sh", AT(50), AT(400));
	make_child(3, 1, 12, 10, "sh", AT(500), AT(900));
	make_switch(AT(0), 1, 0, 0, 10);
	make_switch(AT(1000), 1, 0, 10, 0);
	make_metrics(item, 3);
	make_sample(AT(100), RSS, 1, 1000);
	make_sample(AT(100), RSS, 2, 3000);
	make_sample(AT(600), RSS, 1, 2000);
	make_sample(AT(600), RSS, 3, 2500);
	make_sample(AT(700), RSS, 1, 1000);
	make_end();
	options->tasks = OPENDC_COMM;
	free(run_export(options));
	assert_task("mem_capacity", "4608"); /* 4500 KiB, in units of 1000 bytes */
}

OPENDC_TEST(memory_is_that_of_pages)
{
	static const struct timeline_column column[] = {{"page", CELL_INTEGER, false},
							{"pfn", CELL_INTEGER, false},
							{"order", CELL_INTEGER, false}};
	uint32_t allocated, freed;

	make_node(1, 1000, 1);
	allocated = make_class("kmem_mm_page_alloc", column, 3);
	freed = make_class("kmem_mm_page_free", column, 3);
	make_process(1, 1, 10, 1, "a");
	make_process(2, 1, 11, 1, "b");
	make_switch(AT(0), 1, 0, 0, 10);
	make_event(AT(1), 0, 10, allocated,
		   (struct cell[]){INTEGER(-9), INTEGER(100), INTEGER(0)});
	make_event(AT(2), 0, 10, allocated,
		   (struct cell[]){INTEGER(-8), INTEGER(200), INTEGER(3)});
	make_switch(AT(3), 1, 0, 10, 11);
	/* Whoever frees it, it was the first one's; what it then takes is its own. */
	make_event(AT(4), 0, 11, freed,
		   (struct cell[]){INTEGER(-8), INTEGER(200), INTEGER(3)});
	make_event(AT(5), 0, 11, allocated,
		   (struct cell[]){INTEGER(-8), INTEGER(200), INTEGER(1)});
	make_event(AT(6), 0, 11, freed,
		   (struct cell[]){INTEGER(-7), INTEGER(999), INTEGER(5)});
	make_event(AT(7), 0, 10, allocated,
		   (struct cell[]){INTEGER(-6), INTEGER(300), INTEGER(1)});
	make_switch(AT(1000), 1, 0, 11, 0);
	make_end();
	free(run_export(make_options()));
	assert_task("name", "a b");
	assert_task("mem_capacity", "37 9"); /* 9 and 2 pages of 4096 bytes */
}

OPENDC_TEST(memory_is_that_of_rss_stat)
{
	static const struct timeline_column column[] = {{"curr", CELL_INTEGER, false},
							{"member", CELL_INTEGER, false},
							{"size", CELL_INTEGER, false}};
	uint32_t class;

	make_node(1, 1000, 1);
	class = make_class("kmem_rss_stat", column, 3);
	make_process(1, 1, 10, 1, "a");
	make_switch(AT(0), 1, 0, 0, 10);
	make_event(AT(1), 0, 10, class,
		   (struct cell[]){INTEGER(1), INTEGER(0), INTEGER(1000000)});
	make_event(AT(2), 0, 10, class,
		   (struct cell[]){INTEGER(1), INTEGER(1), INTEGER(2000000)});
	make_event(AT(3), 0, 10, class, /* swapped out */
		   (struct cell[]){INTEGER(1), INTEGER(2), INTEGER(9000000)});
	make_event(AT(4), 0, 10, class, /* another's */
		   (struct cell[]){INTEGER(0), INTEGER(1), INTEGER(9000000)});
	make_event(AT(5), 0, 10, class,
		   (struct cell[]){INTEGER(1), INTEGER(1), INTEGER(500000)});
	make_switch(AT(1000), 1, 0, 10, 0);
	make_end();
	free(run_export(make_options()));
	assert_task("mem_capacity", "3000");
}
