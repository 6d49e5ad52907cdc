/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace.dat: the same events as LTTng recorded beside it, and files that are damaged. */
#include "../scratch.h"

#include <inttypes.h>
#include <zlib.h>

#include "../select.h"
#include "base/bytes.h"
#include "base/file.h"

enum {
	APART_NS = 100000000, /* the machine can stand still between the two tracers */
	NEAR_NS = 1000000,
	FIELDS_MOST = 7,
	/* As trace-cmd report prints them. */
	EVENTS = 284, /* of plain.dat */
	BUFFERS_EVENTS = 428,
};

/* LTTng's offset of CLOCK_MONOTONIC since the epoch, on node1 of the fixture. */
#define NODE1_OFFSET_NS INT64_C(1795863489718323324)

struct seen {
	nsec_t ns;
	char *text; /* of the fields */
};

struct collected {
	struct trace_reader *reader;
	const char *class;
	const char *const *field;
	struct seen *seen;
	size_t count, capacity;
	nsec_t offset_ns;        /* to be added to timestamps */
	nsec_t begin_ns, end_ns; /* what is outside is not wanted; end 0: all is */
};

static char *fixture(const char *name)
{
	return mem_printf("%s/tests/fixtures/ftrace/%s", getenv("CT_SOURCE"), name);
}

static void add_cell(struct bytes *text, const struct cell *cell)
{
	if (cell_has_bytes(cell))
		bytes_print(text, "%.*s,", (int)cell->size, cell->bytes);
	else if (cell->type == CELL_INTEGER)
		bytes_print(text, "%" PRId64 ",", cell->integer);
	else
		bytes_print(text, "?,");
}

static void collect(void *context, const struct trace_event *event)
{
	struct collected *all = context;
	const struct trace_class *class = trace_reader_class(all->reader, event->class);
	nsec_t ns = event->local_ns + all->offset_ns;
	struct bytes text = {0};

	if (strcmp(class->name, all->class) ||
	    (all->end_ns && (ns < all->begin_ns || ns > all->end_ns)))
		return;
	for (size_t i = 0; all->field[i]; i++)
		for (size_t k = 0; k < class->columns; k++)
			if (!class->column[k].context &&
			    !strcmp(class->column[k].name, all->field[i]))
				add_cell(&text, &event->cell[k]);
	bytes_add_byte(&text, 0);
	*MEM_NEXT(all->seen, all->count, all->capacity) =
	    (struct seen){ns, (char *)text.data};
}

static void read_class(struct collected *all, const char *path)
{
	struct error error = ERROR_INIT;

	all->reader = open_columns(path, &error);
	assert_string_equal(error_text(&error), "");
	while (trace_reader_step(all->reader, 1000, collect, all))
		;
	if (!all->end_ns) {
		all->begin_ns = trace_reader_facts(all->reader)->begin_ns + APART_NS;
		all->end_ns = trace_reader_facts(all->reader)->end_ns - APART_NS;
	}
	trace_reader_free(all->reader);
}

static void free_seen(struct collected *all)
{
	for (size_t i = 0; i < all->count; i++)
		free(all->seen[i].text);
	free(all->seen);
}

/*
 * Every event of one is in the other, in the same order; the other may have more at the
 * ends only, as it was recorded for longer.
 */
static void assert_same(const struct collected *ftrace, const struct collected *lttng)
{
	size_t at = 0, extra = 0, far = 0;

	/* LTTng noted the first one right before. */
	for (size_t k = 0;
	     ftrace->count && k < lttng->count && lttng->seen[k].ns <= ftrace->seen[0].ns;
	     k++)
		if (!strcmp(lttng->seen[k].text, ftrace->seen[0].text))
			at = k;

	for (size_t i = 0; i < ftrace->count; i++) {
		nsec_t ns = ftrace->seen[i].ns;

		while (at < lttng->count &&
		       (strcmp(lttng->seen[at].text, ftrace->seen[i].text) ||
			lttng->seen[at].ns < ns - APART_NS)) {
			extra += i > 0;
			at++;
		}
		if (at == lttng->count)
			fail_msg("%s %zu: %s at %" PRId64 " is not in LTTng's trace",
				 ftrace->class, i, ftrace->seen[i].text, ns);
		far += llabs(lttng->seen[at].ns - ns) > NEAR_NS;
		if (llabs(lttng->seen[at++].ns - ns) > APART_NS)
			fail_msg("%s %zu: %s at %" PRId64 " is not there at that time",
				 ftrace->class, i, ftrace->seen[i].text, ns);
	}
	assert_int_equal(extra, 0);
	assert_in_range(far, 0, ftrace->count / 100 + 1);
}

TEST(both_tracers_say_the_same)
{
	static const struct {
		const char *class;
		size_t least;
		const char *field[FIELDS_MOST + 1];
	} classes[] = {
	    {"sched_switch",
	     500,
	     {"prev_comm", "prev_tid", "prev_prio", "prev_state", "next_comm", "next_tid",
	      "next_prio"}},
	    {"sched_waking", 50, {"comm", "tid", "prio", "target_cpu"}},
	    {"sched_process_fork",
	     3,
	     {"parent_comm", "parent_tid", "child_comm", "child_tid"}},
	    {"sched_process_exec", 1, {"filename", "tid", "old_tid"}},
	    {"sched_process_exit", 1, {"comm", "tid", "prio"}},
	    {"irq_softirq_raise", 100, {"vec"}},
	    {"irq_softirq_entry", 100, {"vec"}},
	    {"irq_handler_entry", 40, {"irq", "name"}},
	    {"block_rq_issue",
	     1,
	     {"dev", "sector", "nr_sector", "bytes", "rwbs", "comm", "tid"}},
	    {"block_rq_complete", 1, {"dev", "sector", "nr_sector", "error", "rwbs"}},
	    {"net_dev_queue", 5, {"name", "len"}},
	    {"net_if_receive_skb", 5, {"name", "len"}},
	    {"syscall_entry_read", 30, {"fd", "count"}},
	    {"syscall_exit_read", 30, {"ret"}},
	    {"syscall_entry_write", 30, {"fd", "count"}},
	    {"syscall_exit_openat", 30, {"ret"}},
	    {"syscall_entry_close", 30, {"fd"}},
	};
	AUTOFREE char *dat = fixture("node1/trace.dat"), *ctf = fixture("node1/kernel");

	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		struct collected ftrace = {.class = classes[i].class,
					   .field = classes[i].field};
		struct collected lttng = ftrace;

		read_class(&lttng, ctf);
		ftrace.begin_ns = lttng.begin_ns;
		ftrace.end_ns = lttng.end_ns;
		ftrace.offset_ns = NODE1_OFFSET_NS;
		read_class(&ftrace, dat);
		if (ftrace.count < classes[i].least)
			fail_msg("%s: only %zu events", classes[i].class, ftrace.count);
		assert_same(&ftrace, &lttng);
		free_seen(&ftrace);
		free_seen(&lttng);
	}
}

struct counted {
	uint64_t events, hash;
};

static void count(void *context, const struct trace_event *event)
{
	struct counted *all = context;

	all->events++;
	all->hash = all->hash * 31 + (uint64_t)event->local_ns + event->class;
}

/* Read all events of a file with all of their columns. False if it cannot be opened. */
static bool count_events(const char *path, struct counted *all, uint64_t *lost)
{
	struct error error = ERROR_INIT;
	struct trace_reader *reader = open_columns(path, &error);

	*all = (struct counted){0};
	error_clear(&error);
	if (!reader)
		return false;
	while (trace_reader_step(reader, 1000, count, all))
		;
	if (lost)
		*lost = trace_reader_facts(reader)->discarded_events;
	trace_reader_free(reader);
	return true;
}

TEST(all_versions_are_read)
{
	AUTOFREE char *plain = fixture("plain.dat"), *version6 = fixture("version6.dat");
	struct counted a, b;

	assert_true(count_events(plain, &a, NULL));
	assert_true(count_events(version6, &b, NULL));
	assert_int_equal(a.events, EVENTS);
	assert_int_equal(b.events, EVENTS);
	assert_int_equal(a.hash, b.hash);
}

static void write_file(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_int_equal(fwrite(data, 1, size, file), size);
	fclose(file);
}

/* Append a chunk: its size, that of its content, and the content compressed by zlib. */
static void add_chunk(struct bytes *file, const char *content, uint32_t size)
{
	uint8_t packed[1 << 14];
	uLongf stored = sizeof(packed);

	assert_int_equal(compress(packed, &stored, (const Bytef *)content, size), Z_OK);
	bytes_add(file, &(uint32_t){(uint32_t)stored}, sizeof(uint32_t));
	bytes_add(file, &size, sizeof(size));
	bytes_add(file, packed, stored);
}

/* plain.dat with its pages compressed by zlib, one of them and then the others. */
TEST(zlib_is_read)
{
	enum { SECTION = 0x4f59, PAGES = 0x5000, PAGE = 4096 };
	const uint32_t chunks = 2;
	AUTOFREE char *path = fixture("plain.dat");
	struct error error = ERROR_INIT;
	struct counted plain, packed, cut;
	struct bytes file = {0};
	size_t size, place, first;
	uint64_t stored;
	AUTOFREE char *data = file_read(path, 1, NULL, &size, &error);

	memcpy(memmem(data, size, "none", 4), "zlib", 4);
	data[SECTION + 2] = 1;
	place = (size_t)((char *)memmem(data, size, "mono\0\0\x10\0", 8) + 17 - data);
	bytes_add(&file, data, size);
	bytes_add(&file, &chunks, sizeof(chunks));
	add_chunk(&file, data + PAGES, PAGE);
	first = file.size;
	add_chunk(&file, data + PAGES + PAGE, 2 * PAGE);
	stored = file.size - size;
	memcpy(file.data + place, &size, sizeof(size));
	memcpy(file.data + place + sizeof(size), &stored, sizeof(stored));
	write_file("t.dat", file.data, file.size);
	assert_true(count_events(path, &plain, NULL));
	assert_true(count_events("t.dat", &packed, NULL));
	assert_int_equal(packed.events, EVENTS);
	assert_int_equal(packed.hash, plain.hash);
	/* The rest is less than a page, with the events of one. */
	assert_true(first + 8 - size < PAGE);
	write_file("t.dat", file.data, first + 8);
	assert_true(count_events("t.dat", &cut, NULL));
	assert_in_range(cut.events, 1, EVENTS - 1);
	bytes_clear(&file);
}

/* The last page of plain.dat; where pages say how many bytes of events follow. */
enum { LAST_PAGE = 28672, COMMIT = 8 };

/* A processor's periods, before and after the loss. */
static void assert_hole(const char *path)
{
	struct error error = ERROR_INIT;
	struct trace_reader *reader = trace_reader_open(path, &error);
	struct trace_recorded recorded;

	assert_true(trace_reader_recorded(reader, NSEC_MAX, &recorded));
	assert_int_equal(recorded.periods, 2);
	assert_true(recorded.period[0].begin_ns < recorded.period[0].end_ns);
	assert_true(recorded.period[0].end_ns < recorded.period[1].begin_ns);
	assert_true(recorded.period[1].begin_ns < recorded.period[1].end_ns);
	trace_recorded_clear(&recorded);
	trace_reader_free(reader);
}

/* The kernel sets a flag in the page that follows a loss, and its count behind the
 * events. */
TEST(losses_are_counted)
{
	AUTOFREE char *path = fixture("plain.dat");
	struct error error = ERROR_INIT;
	struct counted all;
	size_t size, used;
	AUTOFREE char *data = file_read(path, 1, NULL, &size, &error);
	char *page = data + LAST_PAGE;
	uint64_t lost, number = 4711;

	used = (size_t)(uint8_t)page[COMMIT] | (size_t)(uint8_t)page[COMMIT + 1] << 8;
	page[COMMIT + 3] = (char)0x80;
	write_file("t.dat", data, size);
	assert_true(count_events("t.dat", &all, &lost));
	assert_int_equal(all.events, EVENTS);
	assert_int_equal(lost, 1); /* some, nobody knows how many */
	page[COMMIT + 3] = (char)0xc0;
	memcpy(page + 16 + used, &number, sizeof(number));
	write_file("t.dat", data, size);
	assert_true(count_events("t.dat", &all, &lost));
	assert_int_equal(all.events, EVENTS);
	assert_int_equal(lost, number);
	assert_hole("t.dat");
}

/* Whatever is in a file, it is read or refused, and what is before the end is used. */
TEST(damaged_files_are_survived)
{
	static const char *const names[] = {"plain.dat", "version6.dat",
					    "node1/trace.dat"};
	struct counted all;

	srand(7);
	for (size_t i = 0; i < 300; i++) {
		AUTOFREE char *path = fixture(names[i % 3]);
		struct error error = ERROR_INIT;
		size_t size, most;
		AUTOFREE char *data = file_read(path, 1, NULL, &size, &error);

		most = i % 2 ? size : 3000;
		for (int k = rand() % 8; k >= 0; k--)
			data[(size_t)rand() % most] = (char)rand();
		write_file("t.dat", data, i % 5 ? size : (size_t)rand() % size);
		count_events("t.dat", &all, NULL);
	}
}

TEST(clocks_without_nanoseconds_are_refused)
{
	AUTOFREE char *path = fixture("plain.dat");
	struct error error = ERROR_INIT;
	size_t size;
	AUTOFREE char *data = file_read(path, 1, NULL, &size, &error);
	char *mono = memmem(data, size, "[mono]", 6);

	assert_non_null(mono);
	/* The list of clocks ends behind the one in use. */
	memcpy(mono, "[uptime]", 8);
	write_file("t.dat", data, size);
	assert_null(trace_reader_open("t.dat", &error));
	assert_string_equal(
	    error_text(&error),
	    "t.dat: recorded with the clock `uptime`, which does not count "
	    "nanoseconds; record with trace-cmd record -C mono");
	error_clear(&error);
}

/*
 * Each buffer has an options section of its own. It names the clock that the main buffer
 * used, whatever its own was.
 */
TEST(buffers_are_read_with_one_clock)
{
	AUTOFREE char *path = fixture("buffers.dat");
	struct error error = ERROR_INIT;
	struct trace_reader *reader;
	struct counted all;
	size_t size;
	AUTOFREE char *data = file_read(path, 1, NULL, &size, &error);
	char *main_buffer = memmem(data, size, "\0mono", 6);
	char *other = memmem(data, size, "two\0mono", 9);

	assert_true(count_events(path, &all, NULL));
	assert_int_equal(all.events, BUFFERS_EVENTS);
	assert_non_null(main_buffer);
	assert_non_null(other);
	memcpy(main_buffer + 1, "perf", 4);
	write_file("t.dat", data, size);
	assert_null(trace_reader_open("t.dat", &error));
	assert_string_equal(error_text(&error),
			    "t.dat: buffers use the clocks `perf` and `mono`; record "
			    "them with one clock");
	error_clear(&error);
	memcpy(other + 4, "perf", 4);
	write_file("t.dat", data, size);
	reader = trace_reader_open("t.dat", &error);
	assert_string_equal(trace_reader_facts(reader)->clock_name, "monotonic");
	trace_reader_free(reader);
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
