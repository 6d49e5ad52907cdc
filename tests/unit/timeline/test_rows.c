/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/rows.h"

#include <math.h>

#include "timeline.h"

/* Each table's row with every column another value, as sqlite3 shows it. */
static void add_rows(struct timeline_writer *writer, struct error *error)
{
	static const struct timeline_message message = {
	    .protocol = "tcp",
	    .src_node = 1,
	    .dst_node = 1,
	    .send_event = TIMELINE_NONE,
	    .recv_event = TIMELINE_NONE,
	    .send_ns = 2,
	    .recv_ns = 5,
	    .latency_ns = 3,
	    .src = "10.7.0.1",
	    .sport = 22,
	    .dst = "10.7.0.2",
	    .dport = 40000,
	    .seq = -1,
	    .bytes = 1500,
	    .send_by = "network",
	    .send_tid = 7,
	    .send_first_recv = TIMELINE_NONE,
	    .send_last_recv = TIMELINE_NONE,
	    .send_assumed = 0,
	    .recv_batch = TIMELINE_NONE,
	    .send_source = 1,
	    .recv_source = 1,
	    .low_ns = -4,
	    .high_ns = 5,
	};

	assert_int_equal(
	    timeline_add_clock(writer, &(struct timeline_clock){1, 10, 20, -58.5}, error),
	    0);
	assert_int_equal(timeline_add_clock_pair(
			     writer,
			     &(struct timeline_clock_pair){1, 1, 3, 4, 5, "accurate", 6,
							   7, 8, 9, TIMELINE_NONE, -11},
			     error),
			 0);
	assert_int_equal(timeline_add_message(writer, &message, error), 0);
	assert_int_equal(timeline_add_metric(
			     writer,
			     &(struct timeline_metric){4, "%user", "%", "gauge", "CPU"},
			     error),
			 0);
	assert_int_equal(
	    timeline_add_metric_item(
		writer, &(struct timeline_metric_item){6, "cpu", "all"}, error),
	    0);
	assert_int_equal(
	    timeline_add_sample(writer, &(struct timeline_sample){1, 9, 4, 6, 0.25, 1000},
				error),
	    0);
	assert_int_equal(
	    timeline_add_sample(
		writer,
		&(struct timeline_sample){1, 9, 4, TIMELINE_NONE, NAN, TIMELINE_NONE},
		error),
	    0);
}

static void add_tasks(struct timeline_writer *writer, struct error *error)
{
	assert_int_equal(timeline_add_process(writer,
					      &(struct timeline_process){
						  3, 1, 100, 1, "sh", "/bin/sh", 5,
						  TIMELINE_NONE, TIMELINE_NONE, "net:7"},
					      error),
			 0);
	assert_int_equal(
	    timeline_add_thread(
		writer, &(struct timeline_thread){4, 3, 1, 101, "worker", 5, 6}, error),
	    0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(
		    timeline_add_invocation(writer,
					    &(struct timeline_invocation){
						0, 1, 100, "f", 1, 2, 3, 0, 3, "{}"},
					    error),
		    0);
	assert_int_equal(timeline_add_problem(writer,
					      &(struct timeline_problem){
						  0, TIMELINE_NONE, "unreadable", 1,
						  "bad \xff byte", "run/n1/sar.sadf"},
					      error),
			 0);
}

SCRATCH_TEST(every_table_has_its_columns)
{
	static const char *const wanted[][2] = {
	    {"SELECT * FROM node", "1|n1|||2|2400.5|1024|"},
	    {"SELECT * FROM source", "1|1|kernel|||0|0|0|0|0|n1|1|"},
	    {"SELECT * FROM clock", "1|10|20|-58.5"},
	    {"SELECT * FROM clock_pair", "1|1|3|4|5|accurate|6|7|8|9||-11"},
	    {"SELECT * FROM message", "1|tcp|1|1|||2|5|3|10.7.0.1|22|10.7.0.2|40000|-1|"
				      "1500|network|7|||0||1|1|-4|5"},
	    {"SELECT * FROM metric", "4|%user|%|gauge|CPU"},
	    {"SELECT * FROM metric_item", "6|cpu|all"},
	    {"SELECT * FROM sample", "1|9|4|6|0.25|1000\n1|9|4|||"},
	    {"SELECT * FROM process", "3|1|100|1|sh|/bin/sh|5|||net:7"},
	    {"SELECT * FROM thread", "4|3|1|101|worker|5|6"},
	    {"SELECT * FROM invocation",
	     "1|1|100|f|1|2|3|0|3|{}\n2|1|100|f|1|2|3|0|3|{}"},
	    {"SELECT * FROM problem",
	     "1||unreadable|1|bad \xef\xbf\xbd byte|run/n1/sar.sadf"},
	};
	struct timeline_writer *writer = write_timeline("t", true);
	struct error error = ERROR_INIT;

	add_rows(writer, &error);
	add_tasks(writer, &error);
	finish_timeline(writer);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_answer("t", wanted[i][0], wanted[i][1]);
	assert_whole("t");
}

/* The statistics are those of ANALYZE. */
SCRATCH_TEST(entries_of_indexes_are_sorted)
{
	enum {
		MESSAGES = 140000,
		SENDS = 20000,
		NULL_EVERY = 14,
		STEP = 7919,
		METRICS = 7
	};
	struct timeline_writer *writer = write_timeline("t", true);
	struct error error = ERROR_INIT;

	for (int i = 0; i < MESSAGES; i++) {
		const struct timeline_message message = {
		    .protocol = "udp",
		    .send_event = i % SENDS,
		    .recv_event =
			i % NULL_EVERY ? i * (int64_t)STEP % MESSAGES : TIMELINE_NONE};
		const struct timeline_message_observation observation = {
		    .message = i / 2 + 1,
		    .send_event = TIMELINE_NONE,
		    .recv_event = TIMELINE_NONE};

		assert_int_equal(timeline_add_message(writer, &message, &error), 0);
		assert_int_equal(
		    timeline_add_message_observation(writer, &observation, &error), 0);
	}
	for (int i = 0; i < MESSAGES; i++) {
		const struct timeline_sample sample = {.node = i % METRICS % 2 + 1,
						       .ts_ns = i / METRICS / 2,
						       .metric = i % METRICS + 1,
						       .item = TIMELINE_NONE,
						       .value = i,
						       .interval_ns = TIMELINE_NONE};

		assert_int_equal(timeline_add_sample(writer, &sample, &error), 0);
	}
	finish_timeline(writer);
	assert_answer("t", "SELECT idx, stat FROM sqlite_stat1 WHERE tbl = 'message'",
		      "message_send_event|140000 7\nmessage_recv_event|140000 1");
	assert_answer("t",
		      "SELECT group_concat(id, ' ') FROM message WHERE send_event = 5",
		      "6 20006 40006 60006 80006 100006 120006");
	assert_answer("t", "SELECT stat FROM sqlite_stat1 WHERE idx = 'sample_metric'",
		      "140000 20000 20000 2");
	assert_answer(
	    "t",
	    "SELECT group_concat(value, ' ') FROM sample INDEXED BY sample_metric"
	    " WHERE metric = 2 AND node = 2 AND ts_ns = 3",
	    "43.0 50.0");
	assert_answer("t", "PRAGMA integrity_check", "ok");
}

SCRATCH_TEST(bounds_may_be_open)
{
	static const struct timeline_clock_bound bound[] = {
	    {1, 5, -7, 8}, {1, 6, TIMELINE_NONE, 8}, {1, 7, -7, TIMELINE_NONE}};
	struct timeline_writer *writer = write_timeline("t", true);
	struct error error = ERROR_INIT;

	for (int i = 0; i < 3; i++)
		assert_int_equal(timeline_add_clock_bound(writer, &bound[i], &error), 0);
	finish_timeline(writer);
	assert_answer("t", "SELECT * FROM clock_bound", "1|5|-7|8\n1|6||8\n1|7|-7|");
	assert_whole("t");
}

SCRATCH_TEST(a_number_given_twice_is_an_error)
{
	const struct timeline_metric_item item = {.id = 1, .name = "all"};
	struct timeline_writer *writer = write_timeline("t", true);
	struct error error = ERROR_INIT;

	assert_int_equal(timeline_add_metric_item(writer, &item, &error), 0);
	assert_int_equal(timeline_add_metric_item(writer, &item, &error), -1);
	assert_string_equal(error_text(&error),
			    "t: UNIQUE constraint failed: metric_item.id");
	assert_int_equal(timeline_writer_finish(writer, &error), -1);
	assert_string_equal(error_text(&error),
			    "t: UNIQUE constraint failed: metric_item.id");
	timeline_writer_free(writer);
	error_clear(&error);
}

/* A process's row goes to the file at once; metrics come as collectors tell of them. */
SCRATCH_TEST(rows_come_by_their_numbers)
{
	const struct timeline_process process[] = {{.id = 5, .node = 1, .pid = 1},
						   {.id = 4, .node = 1, .pid = 2}};
	const struct timeline_metric metric[] = {{.id = 9, .name = "b"},
						 {.id = 2, .name = "a"}};
	struct timeline_writer *writer = write_timeline("t", true);
	struct error error = ERROR_INIT;

	for (int i = 0; i < 2; i++)
		assert_int_equal(timeline_add_metric(writer, &metric[i], &error), 0);
	finish_timeline(writer);
	assert_answer("t", "SELECT id, name FROM metric", "2|a\n9|b");
	assert_whole("t");
	writer = write_timeline("u", true);
	assert_int_equal(timeline_add_process(writer, &process[0], &error), 0);
	assert_int_equal(timeline_add_process(writer, &process[1], &error), -1);
	assert_string_equal(error_text(&error), "u: row 4 of process comes after 5");
	timeline_writer_free(writer);
	error_clear(&error);
}
