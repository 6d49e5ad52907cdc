/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/observe/messages_csv.h"

#include "../scratch.h"

struct read {
	struct observations seen;
	struct problem_list problems;
	struct error error;
	int status;
};

static void read_text(struct read *read, const char *text)
{
	memset(read, 0, sizeof(*read));
	scratch_text("m.csv", text);
	read->status =
	    observe_messages("m.csv", &read->seen, &read->problems, &read->error);
}

static void read_clear(struct read *read)
{
	observations_clear(&read->seen);
	problem_clear(&read->problems);
	error_clear(&read->error);
}

static int count_one(void *context, const struct message *message)
{
	(void)message;
	++*(uint64_t *)context;
	return 0;
}

SCRATCH_TEST(a_file_becomes_messages)
{
	uint64_t count = 0;
	struct read read;

	read_text(&read, "send_node,send_ns,recv_node,recv_ns\n"
			 "web,1000,db,5000\n"
			 "db,6000,web,2000\r\n"
			 "\n"
			 "web,-7,cache 2,0");
	assert_int_equal(read.status, 0);
	assert_int_equal(read.seen.traces, 3);
	assert_int_equal(read.seen.clocks, 3);
	assert_string_equal(read.seen.trace[0].name, "web");
	assert_string_equal(observations_clock_name(&read.seen, 2), "cache 2");
	assert_int_equal(read.seen.trace[0].facts.begin_ns, -7);
	assert_int_equal(read.seen.trace[0].facts.end_ns, 2000);
	assert_int_equal(read.seen.trace[1].facts.events, 2);
	assert_int_equal(read.seen.log.numbers.count, 2);
	assert_int_equal(read.seen.matching.matched, 3);
	assert_int_equal(message_log_each(&read.seen.log, count_one, &count, &read.error),
			 0);
	assert_int_equal(count, 3);
	assert_int_equal(read.problems.count, 0);
	read_clear(&read);
}

/* The header is one only where it stands first. */
SCRATCH_TEST(the_header_may_be_missing)
{
	struct read read;

	read_text(&read, "a,1,b,2\nsend_node,send_ns,recv_node,recv_ns\n");
	assert_int_equal(read.status, 0);
	assert_int_equal(read.seen.matching.matched, 1);
	assert_int_equal(read.problems.count, 1);
	read_clear(&read);
}

static void assert_broken(const char *line, const char *wanted)
{
	char *text = mem_printf("a,1,b,2\n%s\nb,3,a,4\n", line);
	struct read read;

	read_text(&read, text);
	free(text);
	assert_int_equal(read.status, 0);
	assert_int_equal(read.seen.matching.matched, 2);
	assert_int_equal(read.problems.count, 1);
	assert_int_equal(read.problems.item[0].kind, PROBLEM_BROKEN);
	assert_int_equal(read.problems.item[0].count, 1);
	assert_string_equal(read.problems.item[0].place, "m.csv:2");
	assert_string_equal(read.problems.item[0].text, wanted);
	read_clear(&read);
}

SCRATCH_TEST(broken_lines_are_left_out_and_told)
{
	assert_broken("hello", "line with 1 fields skipped (expected 4)");
	assert_broken("a,1,b", "line with 3 fields skipped (expected 4)");
	assert_broken("a,1,b,2,3", "line with 5 fields skipped (expected 4)");
	assert_broken(",1,b,2", "send_node is empty; skipped");
	assert_broken("a,1,,2", "recv_node is empty; skipped");
	assert_broken(",,,", "send_node is empty; skipped");
	assert_broken("a,1,a,2", "'a' sends to itself; skipped");
}

static void assert_no_time(const char *time)
{
	for (int received = 0; received < 2; received++) {
		char *line = mem_printf(received ? "a,1,b,%s" : "a,%s,b,2", time);
		char *wanted = mem_printf("invalid %s '%s' (expected a time in "
					  "nanoseconds); skipped",
					  received ? "recv_ns" : "send_ns", time);

		assert_broken(line, wanted);
		free(line);
		free(wanted);
	}
}

SCRATCH_TEST(times_are_whole_numbers_of_this_age)
{
	assert_broken("a,1,b,", "recv_ns is empty; skipped");
	assert_no_time("-");
	assert_no_time("1.5");
	assert_no_time(" 1");
	assert_no_time("1 ");
	assert_no_time("+1");
	assert_no_time("1e9");
	assert_no_time("0x10");
	assert_no_time("9223372036854775807");
	assert_no_time("-9223372036854775808");
	assert_no_time("9223372036854775808");
	assert_no_time("18446744073709551617");
}

SCRATCH_TEST(many_broken_lines_are_one_problem)
{
	struct read read;

	read_text(&read, "x\na,1,b,2\ny\nz\n");
	assert_int_equal(read.status, 0);
	assert_int_equal(read.problems.count, 1);
	assert_int_equal(read.problems.item[0].count, 3);
	assert_string_equal(read.problems.item[0].place, "m.csv:1");
	read_clear(&read);
}

SCRATCH_TEST(no_message_is_an_error)
{
	struct read read;

	read_text(&read, "");
	assert_int_equal(read.status, -1);
	assert_string_equal(error_text(&read.error), "m.csv: no messages");
	read_clear(&read);
	read_text(&read, "send_node,send_ns,recv_node,recv_ns\n");
	assert_int_equal(read.status, -1);
	read_clear(&read);
}

SCRATCH_TEST(a_file_that_cannot_be_read_is_named)
{
	struct read read = {.status = 0};

	assert_int_equal(
	    observe_messages("none.csv", &read.seen, &read.problems, &read.error), -1);
	assert_string_equal(error_text(&read.error),
			    "none.csv: No such file or directory");
	read_clear(&read);
	assert_int_equal(observe_messages(".", &read.seen, &read.problems, &read.error),
			 -1);
	assert_string_equal(error_text(&read.error), ".: no messages");
	assert_string_equal(read.problems.item[0].text,
			    "Is a directory; the rest skipped");
	read_clear(&read);
}

/* Zero bytes and lines without end are somebody's, too. */
SCRATCH_TEST(rubbish_does_no_harm)
{
	enum { MANY = 300000 };
	char *text = mem_alloc(MANY);
	struct read read = {.status = 0};

	memset(text, '7', MANY);
	memcpy(text, "a,1,b,2\na\0,3,b,4\na,5,b\0,6\n", 26);
	scratch_bytes("m.csv", text, MANY);
	free(text);
	assert_int_equal(
	    observe_messages("m.csv", &read.seen, &read.problems, &read.error), 0);
	assert_int_equal(read.seen.traces, 2);
	assert_int_equal(read.seen.matching.matched, 1);
	assert_int_equal(read.problems.item[0].count, 2);
	assert_int_equal(read.problems.item[1].count, 1);
	read_clear(&read);
}

/* More nodes than the first table of names holds. */
SCRATCH_TEST(many_nodes_keep_their_names)
{
	enum { NODES = 3000 };
	FILE *file = fopen("m.csv", "w");
	struct read read = {.status = 0};
	char name[16];

	for (int k = 0; k < 2; k++)
		for (int i = 1; i < NODES; i++)
			fprintf(file, "n%d,%d,n%d,%d\n", k ? i : 0, i, k ? 0 : i, i + 5);
	fclose(file);
	assert_int_equal(
	    observe_messages("m.csv", &read.seen, &read.problems, &read.error), 0);
	assert_int_equal(read.seen.traces, NODES);
	assert_int_equal(read.seen.log.numbers.count, NODES - 1);
	for (int i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		assert_string_equal(read.seen.trace[i].name, name);
	}
	read_clear(&read);
}
