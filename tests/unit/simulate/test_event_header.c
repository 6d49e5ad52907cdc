/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces whose events have LTTng's headers say the same as those with whole stamps. */
#include "../draw.h"
#include "../scratch.h"

#include "simulated.h"

#include "../select.h"

struct row {
	nsec_t ns;
	int tag;
	unsigned stream;
	uint64_t value;
};

struct rows {
	struct row *item;
	size_t count, capacity;
	nsec_t offset_ns;
	int tag[256]; /* one an event class */
};

static void collect(void *context, const struct trace_event *event)
{
	struct rows *rows = context;

	rows->item =
	    mem_grow(rows->item, rows->count, &rows->capacity, sizeof(*rows->item));
	rows->item[rows->count++] =
	    (struct row){event->local_ns, rows->tag[event->class], event->stream,
			 (uint64_t)event->cell[0].integer};
}

/* Events of the network, and some that come behind the 31st class. */
static struct rows read_rows(const char *path)
{
	static const char *const skb[] = {"skbaddr"}, *const ret[] = {"ret"};
	static const struct {
		const char *name;
		const char *const *field;
	} wanted[] = {
	    {"net_dev_queue", skb},
	    {"net_dev_xmit", skb},
	    {"net_napi_gro_receive_entry", skb},
	    {"net_napi_gro_receive_exit", ret},
	    {"net_if_receive_skb", skb},
	    {"syscall_exit_pread64", ret},
	    {"syscall_exit_clock_nanosleep", ret},
	};
	struct rows rows = {.item = NULL};
	struct trace_reader *reader = open_reader(path);
	const struct trace_class *class;

	for (int i = 0; i < 7; i++) {
		select_fields(reader, wanted[i].name, wanted[i].field, 1);
		for (uint32_t k = 0; (class = trace_reader_class(reader, k)); k++)
			if (strcmp(class->name, wanted[i].name) == 0)
				rows.tag[k] = i;
	}
	while (trace_reader_step(reader, UINT64_MAX, collect, &rows))
		continue;
	assert_int_equal(trace_reader_problems(reader)->count,
			 trace_reader_facts(reader)->backward > 0);
	rows.offset_ns = trace_reader_facts(reader)->clock_offset_ns;
	trace_reader_free(reader);
	return rows;
}

static struct rows simulated_rows(const char *text, const char *header)
{
	char *with = mem_printf("%s\nevent_header %s", text, header);
	char *path = mem_printf("%s/node2/kernel", header);
	struct rows rows;

	simulated(with, draw_seed, header, "traces");
	rows = read_rows(path);
	free(with);
	free(path);
	return rows;
}

static void assert_same(const struct rows *have, const struct rows *want)
{
	assert_int_equal(have->count, want->count);
	for (size_t i = 0; i < want->count; i++) {
		assert_int_equal(have->item[i].ns, want->item[i].ns);
		assert_int_equal(have->item[i].tag, want->item[i].tag);
		assert_int_equal(have->item[i].stream, want->item[i].stream);
		assert_int_equal(have->item[i].value, want->item[i].value);
	}
}

/* In each form the same; the rows of the whole stamps are handed back. */
static struct rows assert_forms_agree(const char *text)
{
	struct rows full = simulated_rows(text, "full");
	struct rows compact = simulated_rows(text, "compact");
	struct rows large = simulated_rows(text, "large");

	assert_true(full.count > 100);
	assert_same(&compact, &full);
	assert_same(&large, &full);
	free(compact.item);
	free(large.item);
	return full;
}

static off_t size_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return status.st_size;
}

/* How many neighbours there are between which 27 bits wrap just once, or often. */
static void count_wraps(const struct rows *rows, size_t *once, size_t *often)
{
	nsec_t last[64] = {0};

	for (size_t i = 0; i < rows->count; i++) {
		nsec_t *before = &last[rows->item[i].stream % 64];
		nsec_t stamp = rows->item[i].ns - rows->offset_ns;

		*often += *before && (stamp - *before) >> 27 > 1;
		*once += *before && (stamp - *before) >> 27 == 0 &&
			 stamp >> 27 != *before >> 27;
		*before = stamp;
	}
}

static void test_stamps_that_wrap(void **unused)
{
	size_t once = 0, often = 0;
	struct rows full =
	    assert_forms_agree("nodes 2\ncpus 2\nseconds 30\nuptime_s 1000\n"
			       "interval_ms 5\nburst_on_ms 400\nburst_off_ms 1100");

	(void)unused;
	count_wraps(&full, &once, &often);
	if (once < 10 || often < 10)
		fail_msg("%zu single wraps and %zu more, want 10 of each", once, often);
	free(full.item);
	/* Nearly all are short: 12 bytes less each, or 10. */
	assert_true(size_of("compact/node2/kernel/ch_0") + 11 * (off_t)(full.count / 3) <
		    size_of("full/node2/kernel/ch_0"));
	assert_true(size_of("compact/node2/kernel/ch_0") <
		    size_of("large/node2/kernel/ch_0"));
}

/* Each protocol and family, of which the headers have different sizes. */
static void test_every_packet(void **unused)
{
	struct rows full =
	    assert_forms_agree("nodes 5\nseconds 2\ninterval_ms 3\nprotocol mixed\n"
			       "family mixed\nloss 0.05\ngro yes\nlayers bond");

	(void)unused;
	free(full.item);
}

static void test_classes_without_a_short_id(void **unused)
{
	struct rows full = assert_forms_agree(
	    "nodes 2\ncpus 2\nseconds 2\nactivity full\ninterval_ms 5");
	size_t behind = 0;

	(void)unused;
	for (size_t i = 0; i < full.count; i++)
		behind += full.item[i].tag >= 5;
	assert_true(behind > 10);
	free(full.item);
}

static void test_stamps_that_step(void **unused)
{
	struct rows full = assert_forms_agree(
	    "nodes 2\nseconds 6\ninterval_ms 5\nuptime_s 900\ntrace_steps yes\n"
	    "step 2 2 -300\nstep 2 4 700");

	(void)unused;
	free(full.item);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(test_stamps_that_wrap),
	    SCRATCH_TEST(test_every_packet),
	    SCRATCH_TEST(test_classes_without_a_short_id),
	    SCRATCH_TEST(test_stamps_that_step),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
