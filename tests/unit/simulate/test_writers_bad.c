/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/writer.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../scratch.h"
#include "written.h"

typedef struct sim_writer *open_fn(const char *directory, struct error *error);

static struct sim_writer *open_ctf(const char *directory, struct error *error)
{
	return sim_ctf_writer_new(directory, plain_nodes, NODES, classes, CLASSES, error);
}

static struct sim_writer *open_capture(const char *directory, struct error *error)
{
	return sim_capture_writer_new(directory, plain_nodes, NODES, error);
}

static void assert_not_opened(open_fn *open, const char *directory, const char *text)
{
	struct error error = ERROR_INIT;

	assert_null(open(directory, &error));
	assert_string_equal(error_text(&error), text);
	error_clear(&error);
}

static void test_nothing_is_overwritten(void **unused)
{
	(void)unused;
	scratch_text("run/n2/kernel/metadata", "");
	scratch_text("run/n2/n2.pcap", "");
	assert_not_opened(open_ctf, "run", "run/n2/kernel: is there already");
	assert_not_opened(open_capture, "run", "run/n2/n2.pcap: File exists");
	assert_file("run/n2/n2.pcap", "");
	assert_file("run/n2/kernel/metadata", "");
}

static void test_no_place_to_write(void **unused)
{
	(void)unused;
	scratch_text("file", "");
	assert_not_opened(open_ctf, "file", "file/n1: Not a directory");
	assert_not_opened(open_capture, "file", "file/n1: Not a directory");
	assert_not_opened(open_ctf, "no/run", "no/run: No such file or directory");
	assert_not_opened(open_capture, "no/run", "no/run: No such file or directory");
}

static void assert_refused(open_fn *open, const char *directory,
			   const struct sim_event *event, const char *text)
{
	struct error error = ERROR_INIT;
	struct sim_writer *writer = open(directory, &error);

	assert_non_null(writer);
	assert_fails(sim_writer_add(writer, event, &error), &error, text);
	sim_writer_finish(writer, &error);
	error_clear(&error);
}

/* As of a trace's clock that is stepped to before the machine's boot. */
static void test_stamps_below_zero(void **unused)
{
	const struct sim_event event = {.class = empty, .mono_ns = -1};

	(void)unused;
	assert_refused(open_ctf, "a", &event,
		       "n1: event at -1 ns, before the clock starts");
}

static const struct packet ping = {
    .known = PACKET_NETWORK | PACKET_TRANSPORT,
    .family = 4,
    .protocol = IPPROTO_ICMP,
    .src = {10, 0, 0, 1},
    .dst = {10, 0, 0, 2},
    .sport = 0x800,
    .length = 84,
};

static void test_packets_that_cannot_be(void **unused)
{
	union sim_value value[4];
	struct sim_event event = packet_event(value, false, 0, 0, &ping);

	(void)unused;
	event.mono_ns = (int64_t)(UINT32_MAX + 1ull) * 1000000000 - OFFSET;
	assert_refused(open_capture, "c", &event,
		       "n1: packet at 4294967296000000000 ns since the epoch (a capture "
		       "can hold 1970 to 2106)");
	event.mono_ns = -1 - OFFSET;
	assert_refused(open_capture, "d", &event,
		       "n1: packet at -1 ns since the epoch (a capture can hold 1970 to "
		       "2106)");
}

/* Write until it fails, in a process of its own: what remains is to be left. */
static void write_until_full(open_fn *open)
{
	const struct rlimit limit = {100000, 100000};
	struct error error = ERROR_INIT;
	struct sim_writer *writer;
	union sim_value value[4];
	struct sim_event event = packet_event(value, false, 0, 0, &ping);
	int status = 0;

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit))
		_exit(2);
	writer = open("run", &error);
	if (!writer)
		_exit(3);
	for (int i = 0; i < 100000 && !status; i++, event.mono_ns++)
		status = sim_writer_add(writer, &event, &error);
	if (!status || !*error_text(&error))
		_exit(4);
	_exit(sim_writer_finish(writer, &error) == 0 ? 6 : 0);
}

static void assert_child_ends_well(pid_t child)
{
	int status;

	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_no_room_for_traces(void **unused)
{
	pid_t child = fork();

	(void)unused;
	if (child == 0)
		write_until_full(open_ctf);
	assert_child_ends_well(child);
}

static void test_no_room_for_captures(void **unused)
{
	pid_t child = fork();

	(void)unused;
	if (child == 0)
		write_until_full(open_capture);
	assert_child_ends_well(child);
}

enum { MANY = 200 };

/* n0, n1, ... of which each sees one packet; none of their files stays open. */
static void write_many(void)
{
	static struct sim_node node[MANY];
	struct error error = ERROR_INIT;
	struct sim_writer *writer;
	union sim_value value[4];
	struct sim_event event = packet_event(value, false, 0, 1, &ping);

	for (int i = 0; i < MANY; i++) {
		node[i] = plain_nodes[0];
		node[i].name = mem_printf("n%d", i);
	}
	writer = sim_ctf_writer_new("traces", node, MANY, classes, CLASSES, &error);
	if (!writer)
		_exit(2);
	for (event.node = 0; event.node < MANY; event.node++)
		if (sim_writer_add(writer, &event, &error))
			_exit(3);
	_exit(sim_writer_finish(writer, &error) ? 4 : 0);
}

static void test_few_open_files(void **unused)
{
	const struct rlimit few = {32, 32};
	struct seen seen;
	pid_t child = fork();

	(void)unused;
	if (child == 0 && setrlimit(RLIMIT_NOFILE, &few) == 0)
		write_many();
	assert_child_ends_well(child);
	packet_source_free(read_trace("traces/n199/kernel", &seen));
	assert_int_equal(seen.count, 1);
	free(seen.item);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(test_nothing_is_overwritten),
	    SCRATCH_TEST(test_no_place_to_write),
	    SCRATCH_TEST(test_stamps_below_zero),
	    SCRATCH_TEST(test_packets_that_cannot_be),
	    SCRATCH_TEST(test_no_room_for_traces),
	    SCRATCH_TEST(test_no_room_for_captures),
	    SCRATCH_TEST(test_few_open_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
