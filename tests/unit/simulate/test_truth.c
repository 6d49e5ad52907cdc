/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every stamp is what truth.csv says. The clocks do not change what happens, so
 * a run whose clocks are perfect stamps with the true times of another one.
 */
#include "../draw.h"
#include "../scratch.h"

#include "simulated.h"
#include "told.h"

#include "../select.h"

#define RUN     "nodes 3\ncpus 2\nseconds 20\ninterval_ms 10\nprotocol mixed\nloss 0.02\n"
#define PERFECT "offset_s 0\ndrift_ppm 0\nuptime_s 1000\n"
#define BAD                                                                              \
	"offset_s 500\ndrift_ppm 90\ndrift_change_ppb_s 200\nslew_ms 3\n"                \
	"slew_period_s 7\nwander_ppm 2\nuptime_s 1000\nstep 2 8 -300\nstep 3 11 450\n"

/* The row behind which a true time lies; those of a step are 1 ns apart. */
static const struct truth_row *find_row(const struct truth *truth, int node, int64_t ns)
{
	size_t low = 0, high = truth->rows[node] - 1;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (truth->row[node][middle].true_ns <= ns)
			low = middle;
		else
			high = middle;
	}
	return &truth->row[node][low];
}

/* A stamp is the line between two rows, to the nearest nanosecond. */
static void assert_stamp(int64_t ns, int64_t stamp, const struct truth_row *row,
			 const int64_t local[2])
{
	int64_t length = row[1].true_ns - row[0].true_ns;
	__int128 off = (__int128)(ns - row[0].true_ns) * (local[1] - local[0]) -
		       (__int128)(stamp - local[0]) * length;

	if (2 * off > length || 2 * off < -length)
		fail_msg("at %" PRId64 " ns the clock said %" PRId64 ", between %" PRId64
			 " and %" PRId64,
			 ns, stamp, local[0], local[1]);
}

static void assert_real(const struct truth *truth, int node, int64_t ns, int64_t stamp)
{
	const struct truth_row *row = find_row(truth, node, ns);

	assert_stamp(ns, stamp, row, (int64_t[]){row[0].real_ns, row[1].real_ns});
}

static void assert_mono(const struct truth *truth, int node, int64_t ns, int64_t stamp)
{
	const struct truth_row *row = find_row(truth, node, ns);

	assert_stamp(ns, stamp, row, (int64_t[]){row[0].mono_ns, row[1].mono_ns});
}

SCRATCH_TEST(test_messages)
{
	struct messages perfect, bad;
	struct truth *truth;

	simulated(RUN PERFECT, draw_seed, "perfect", "messages");
	simulated(RUN BAD, draw_seed, "bad", "messages");
	truth = read_truth("bad/truth.csv");
	perfect = read_messages("perfect/messages.csv");
	bad = read_messages("bad/messages.csv");
	assert_int_equal(bad.count, perfect.count);
	assert_true(bad.count > 1000);
	for (size_t i = 0; i < bad.count; i++) {
		const struct message *known = &perfect.item[i], *told = &bad.item[i];

		assert_int_equal(told->from, known->from);
		assert_int_equal(told->to, known->to);
		assert_real(truth, told->from, known->send_ns, told->send_ns);
		assert_real(truth, told->to, known->recv_ns, told->recv_ns);
	}
	free(perfect.item);
	free(bad.item);
	free(truth);
}

struct stamps {
	int64_t *item;
	size_t count, capacity;
};

static void collect(void *context, const struct trace_event *event)
{
	struct stamps *stamps = context;

	stamps->item = mem_grow(stamps->item, stamps->count, &stamps->capacity,
				sizeof(*stamps->item));
	stamps->item[stamps->count++] = event->local_ns;
}

/* The timestamps of a trace; if `raw`, without its clock's offset. */
static struct stamps read_stamps(const char *path, bool raw)
{
	struct stamps stamps = {NULL, 0, 0};
	struct trace_reader *reader = open_reader(path);

	select_fields(reader, "net_dev_queue", NULL, 0);
	select_fields(reader, "net_if_receive_skb", NULL, 0);
	while (trace_reader_step(reader, UINT64_MAX, collect, &stamps))
		continue;
	for (size_t i = 0; raw && i < stamps.count; i++)
		stamps.item[i] -= trace_reader_facts(reader)->clock_offset_ns;
	trace_reader_free(reader);
	return stamps;
}

SCRATCH_TEST(test_traces)
{
	struct truth *truth;

	simulated(RUN PERFECT, draw_seed, "perfect", "traces");
	simulated(RUN BAD, draw_seed, "bad", "traces");
	truth = read_truth("bad/truth.csv");
	for (int node = 1; node <= 3; node++) {
		char perfect_path[32], bad_path[32];
		struct stamps perfect, bad;

		snprintf(perfect_path, 32, "perfect/node%d/kernel", node);
		snprintf(bad_path, 32, "bad/node%d/kernel", node);
		perfect = read_stamps(perfect_path, false);
		bad = read_stamps(bad_path, true);
		assert_true(bad.count > 500);
		assert_int_equal(bad.count, perfect.count);
		for (size_t i = 0; i < bad.count; i++)
			assert_mono(truth, node, perfect.item[i], bad.item[i]);
		free(perfect.item);
		free(bad.item);
	}
	free(truth);
}
