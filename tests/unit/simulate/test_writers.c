/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/writer.h"

#include "../draw.h"
#include "../scratch.h"
#include "draw_packet.h"
#include "written.h"

#include "../select.h"

enum { PACKETS = 6000 }; /* fill more than one packet of a stream */

struct expected {
	struct packet packet;
	int64_t mono_ns;
	bool received;
};

/* Draw packets of n1, write them by each writer and return them. */
static struct expected *write_drawn(struct sim_writer *ctf, struct sim_writer *capture)
{
	struct expected *list = mem_zalloc(PACKETS * sizeof(*list));
	int64_t now = 1;

	for (int i = 0; i < PACKETS; i++) {
		union sim_value value[4];
		struct sim_event event;

		now += draw_between(1, 100000);
		list[i].mono_ns = now;
		list[i].received = draw() % 2;
		list[i].packet = draw_packet(list[i].received);
		event = packet_event(value, list[i].received, draw() % CPUS, now,
				     &list[i].packet);
		add(ctf, &event);
		add(capture, &event);
	}
	finish(ctf);
	finish(capture);
	return list;
}

static void compare(struct packet_source *source, struct seen *seen,
		    const struct expected *list)
{
	assert_no_problem(&source->problems);
	assert_int_equal(source->facts.events, PACKETS);
	assert_int_equal(seen->count, PACKETS);
	for (int i = 0; i < PACKETS; i++) {
		assert_packet(&seen->item[i].packet, &list[i].packet);
		assert_int_equal(seen->item[i].ns, OFFSET + list[i].mono_ns);
		assert_int_equal(seen->item[i].received, list[i].received);
	}
	free(seen->item);
	packet_source_free(source);
}

static void test_packets_are_read_as_written(void **unused)
{
	struct error error = ERROR_INIT;
	struct sim_writer *capture =
	    sim_capture_writer_new("run", plain_nodes, NODES, &error);
	struct sim_writer *ctf = new_ctf("run");
	struct packet_source *source;
	struct expected *list;
	struct seen seen;

	draw_restart(unused);
	list = write_drawn(ctf, capture);
	source = read_trace("run/n1/kernel", &seen);
	compare(source, &seen, list);
	source = read_capture("run/n1/n1.pcap", &seen);
	compare(source, &seen, list);
	free(list);
}

static void test_packets_without_a_header(void **unused)
{
	struct sim_writer *writer = new_ctf("run");
	struct packet unknown = {0};
	struct packet_source *source;
	union sim_value value[4];
	struct sim_event event;
	struct seen seen;

	(void)unused;
	event = packet_event(value, true, 0, 1, NULL);
	add(writer, &event);
	event = packet_event(value, true, 0, 2, &unknown);
	add(writer, &event);
	finish(writer);
	source = read_trace("run/n1/kernel", &seen);
	assert_int_equal(seen.count, 0);
	assert_int_equal(source->facts.headerless, 2);
	packet_source_free(source);
}

static void test_trace_facts(void **unused)
{
	struct sim_writer *writer = new_ctf("run");
	const struct trace_facts *facts;
	struct packet_source *source;
	struct seen seen;

	(void)unused;
	add(writer, &(struct sim_event){.node = 1, .mono_ns = 7, .class = empty});
	finish(writer);
	source = read_trace("run/n2/kernel", &seen);
	facts = &source->facts;
	assert_int_equal(facts->events, 1);
	assert_int_equal(facts->begin_ns, OFFSET + 7);
	assert_string_equal(facts->hostname, "n2");
	assert_true(facts->has_uuid);
	assert_int_equal(facts->clock_offset_ns, OFFSET);
	assert_int_equal(facts->clock_frequency, NSEC_PER_SEC);
	assert_memory_equal(facts->clock_uuid, plain_nodes[1].boot_id, 16);
	packet_source_free(source);

	/* Nothing ever happened on the other one. */
	source = read_trace("run/n1/kernel", &seen);
	facts = &source->facts;
	assert_int_equal(facts->events, 0);
	assert_no_problem(&source->problems);
	packet_source_free(source);
}

/* The offset before 1970 and the smallest one after it. */
static void test_clock_offsets(void **unused)
{
	static const int64_t offsets[] = {-1500000000, -1000000000, -1, 0, 1};
	struct sim_node node = plain_nodes[0];
	struct error error = ERROR_INIT;
	struct packet_source *source;
	struct sim_writer *writer;
	struct seen seen;

	(void)unused;
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		char *run = mem_printf("run%zu", i);
		char *path = mem_printf("%s/n1/kernel", run);

		node.realtime_offset_ns = offsets[i];
		writer = sim_ctf_writer_new(run, &node, 1, classes, CLASSES, &error);
		add(writer, &(struct sim_event){.mono_ns = 250, .class = empty});
		finish(writer);
		source = read_trace(path, &seen);
		assert_int_equal(source->facts.clock_offset_ns, offsets[i]);
		assert_int_equal(source->facts.begin_ns, offsets[i] + 250);
		packet_source_free(source);
		free(path);
		free(run);
	}
}

static void check_every(void *context, const struct trace_event *event)
{
	const struct cell *value = event->cell;

	++*(int *)context;
	for (int i = 0; i < EVERY; i++)
		assert_int_not_equal(value[i].type, CELL_NULL);
	assert_int_equal(value[0].integer, 0xfe);
	assert_int_equal(value[1].integer, 0xfffe);
	assert_int_equal(value[2].integer, 0xfffffffe);
	assert_int_equal((uint64_t)value[3].integer, UINT64_MAX);
	assert_int_equal((uint64_t)value[4].integer, UINT64_MAX - 1);
	assert_int_equal(value[5].integer, INT32_MIN);
	assert_int_equal(value[6].integer, INT64_MIN);
	assert_int_equal(value[7].size, 9);
	assert_memory_equal(value[7].bytes, "a \"text\"\n", 9);
	assert_int_equal(value[8].size, 15);
	assert_memory_equal(value[8].bytes, "fifteen letters", 15);
	assert_int_equal(value[9].integer, 9);
	assert_int_equal(value[10].integer, -10);
}

static void test_every_type(void **unused)
{
	static const char *const names[EVERY] = {"u8",   "u16", "u32",  "u64",
						 "hex",  "s32", "s64",  "text",
						 "comm", "int", "event"};
	static const union sim_value value[EVERY] = {{.u = 0xfe},
						     {.u = 0xfffe},
						     {.u = 0xfffffffe},
						     {.u = UINT64_MAX},
						     {.u = UINT64_MAX - 1},
						     {.i = INT32_MIN},
						     {.i = INT64_MIN},
						     {.text = "a \"text\"\n"},
						     {.text = "fifteen letters and more"},
						     {.u = 9},
						     {.i = -10}};
	struct sim_writer *writer = new_ctf("run");
	struct trace_reader *reader;
	int events = 0;

	(void)unused;
	add(writer, &(struct sim_event){.class = every, .value = value});
	finish(writer);
	reader = open_reader("run/n1/kernel");
	select_fields(reader, "every_type", names, EVERY);
	while (trace_reader_step(reader, UINT64_MAX, check_every, &events))
		;
	assert_no_problem(trace_reader_problems(reader));
	assert_int_equal(events, 1);
	trace_reader_free(reader);
}

static void check_long(void *context, const struct trace_event *event)
{
	assert_int_equal(event->cell[0].type, CELL_TEXT);
	assert_int_equal(event->cell[0].size, strlen(context));
	assert_memory_equal(event->cell[0].bytes, context, event->cell[0].size);
}

/* Longer than what is buffered of a node, between others that are not. */
static void test_long_text(void **unused)
{
	static const char *const name = "text";
	static char text[100000];
	union sim_value value[EVERY] = {[7] = {.text = text}};
	struct sim_writer *writer = new_ctf("run");
	struct trace_reader *reader;

	(void)unused;
	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < 10; i++) {
		add(writer, &(struct sim_event){.mono_ns = i, .class = empty});
		add(writer,
		    &(struct sim_event){.mono_ns = i, .class = every, .value = value});
	}
	finish(writer);
	reader = open_reader("run/n1/kernel");
	select_fields(reader, "every_type", &name, 1);
	while (trace_reader_step(reader, UINT64_MAX, check_long, text))
		;
	assert_no_problem(trace_reader_problems(reader));
	assert_int_equal(trace_reader_facts(reader)->events, 20);
	trace_reader_free(reader);
}

struct stamps {
	int64_t mono_ns[4];
	size_t count;
};

static void collect_stamp(void *context, const struct trace_event *event)
{
	struct stamps *stamps = context;

	assert_true(stamps->count < 4);
	stamps->mono_ns[stamps->count++] = event->local_ns - OFFSET;
}

/* A clock that is set back does not change the order of what happened. */
static void test_clock_set_back(void **unused)
{
	static const int64_t stamps[4] = {1000, 2000, 500, 2000};
	struct sim_writer *writer = new_ctf("run");
	struct stamps seen = {.count = 0};
	struct trace_reader *reader;

	(void)unused;
	for (int i = 0; i < 4; i++)
		add(writer, &(struct sim_event){.mono_ns = stamps[i], .class = empty});
	finish(writer);
	reader = open_reader("run/n1/kernel");
	select_fields(reader, "no_field", NULL, 0);
	while (trace_reader_step(reader, UINT64_MAX, collect_stamp, &seen))
		;
	assert_int_equal(seen.count, 4);
	assert_memory_equal(seen.mono_ns, stamps, sizeof(stamps));
	assert_int_equal(trace_reader_facts(reader)->backward, 1);
	assert_int_equal(trace_reader_problems(reader)->count, 1);
	assert_int_equal(trace_reader_problems(reader)->item[0].kind, PROBLEM_BACKWARD);
	trace_reader_free(reader);
}

static void write_few(const char *directory)
{
	struct sim_writer *writer = new_ctf(directory);
	struct packet packet;
	union sim_value value[4];
	struct sim_event event;

	draw_restart(NULL);
	for (int i = 0; i < 3 * PACKETS / 2; i++) {
		packet = draw_packet(true);
		event = packet_event(value, true, draw() % CPUS, i, &packet);
		event.node = draw() % NODES;
		add(writer, &event);
	}
	finish(writer);
}

static void test_equal_runs_are_equal_bytes(void **unused)
{
	static const char *const files[] = {"n1/kernel/metadata", "n1/kernel/ch_0",
					    "n1/kernel/ch_1",     "n2/kernel/metadata",
					    "n2/kernel/ch_0",     "n2/kernel/ch_1"};

	(void)unused;
	write_few("a");
	write_few("b");
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char *a = mem_printf("a/%s", files[i]), *b = mem_printf("b/%s", files[i]);
		size_t size_a, size_b;
		char *bytes_a = scratch_read(a, &size_a);
		char *bytes_b = scratch_read(b, &size_b);

		assert_int_equal(size_a, size_b);
		assert_true(size_a > 0);
		assert_memory_equal(bytes_a, bytes_b, size_a);
		free(bytes_a);
		free(bytes_b);
		free(a);
		free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(test_packets_are_read_as_written),
	    SCRATCH_TEST(test_packets_without_a_header),
	    SCRATCH_TEST(test_trace_facts),
	    SCRATCH_TEST(test_clock_offsets),
	    SCRATCH_TEST(test_every_type),
	    SCRATCH_TEST(test_long_text),
	    SCRATCH_TEST(test_clock_set_back),
	    SCRATCH_TEST(test_equal_runs_are_equal_bytes),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
