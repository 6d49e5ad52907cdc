/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two hosts. The first has a trace and a capture, whose clocks differ by an offset that
 * steps at most; the second's clock is true time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../test.h"
#include "simulate.h"
#include "sync/judge/oscillators.h"

enum { TRACE, CAPTURE, OTHER, SOURCES, STEPS = 4, TRIALS = 12, LOOKS = 2000 };

#define OFFSET ((nsec_t)7 * NSEC_PER_SEC + 12345)
#define LENGTH (40 * NSEC_PER_SEC)

struct host {
	double drift;
	struct {
		nsec_t at, size; /* run time; the capture's clock, from then on */
	} step[STEPS];
	size_t steps;
	double apart; /* a rate of the capture's clock against the trace's */
	bool no_xmit;
	const char *reference; /* may be NULL */
	nsec_t *passed;        /* by message: when it passed, by the clock of the trace */
	size_t messages, capacity;
	struct observations seen;
	struct synchronization sync;
	struct problem_list problems;
};

static nsec_t trace_ns(const struct host *host, nsec_t at)
{
	return SIM_NOW + at + (nsec_t)((double)at * host->drift);
}

static nsec_t offset_ns(const struct host *host, nsec_t at)
{
	nsec_t offset = OFFSET + (nsec_t)((double)at * host->apart);

	for (size_t i = 0; i < host->steps; i++)
		if (at >= host->step[i].at)
			offset += host->step[i].size;
	return offset;
}

static nsec_t capture_ns(const struct host *host, nsec_t at)
{
	return trace_ns(host, at) + offset_ns(host, at);
}

static void note_packet(struct host *host, nsec_t queued, nsec_t tapped, nsec_t handed)
{
	nsec_t stamp = capture_ns(host, tapped) / 1000 * 1000;
	struct match_handing base = {TRACE, trace_ns(host, queued),
				     host->no_xmit ? NSEC_MAX : trace_ns(host, handed)};
	struct match_handing tied = {CAPTURE, stamp, stamp + 999};

	tie_note(&host->seen.ties, &base, &tied);
}

static void add_message(struct host *host, const struct message *message, uint32_t from,
			uint32_t to)
{
	struct error error = ERROR_INIT;

	assert_int_equal(message_log_add(&host->seen.log, from, to, message, &error), 0);
}

/* A packet that leaves, seen by the trace, the capture, or both. */
static void send_packet(struct host *host, nsec_t at)
{
	nsec_t queued = at - draw_between(700, 20000),
	       handed = at + draw_between(700, 20000);
	nsec_t came = SIM_NOW + at + draw_between(100000, 900000);
	uint32_t by = draw_between(0, 1) ? TRACE : CAPTURE;
	nsec_t sent =
	    by == TRACE ? trace_ns(host, queued) : capture_ns(host, at) / 1000 * 1000;

	note_packet(host, queued, at, handed);
	*MEM_NEXT(host->passed, host->messages, host->capacity) = trace_ns(host, at);
	add_message(host, &(struct message){.send_ns = sent, .recv_ns = came}, by, OTHER);
}

static void receive_packet(struct host *host, nsec_t at)
{
	nsec_t sent = SIM_NOW + at - draw_between(100000, 900000);
	uint32_t by = draw_between(0, 1) ? TRACE : CAPTURE;
	nsec_t came =
	    by == TRACE ? trace_ns(host, at) : capture_ns(host, at) / 1000 * 1000 + 999;

	*MEM_NEXT(host->passed, host->messages, host->capacity) = trace_ns(host, at);
	add_message(host, &(struct message){.send_ns = sent, .recv_ns = came}, OTHER, by);
}

static void add_sources(struct host *host)
{
	static const char *const names[] = {"a", "a:a.pcap", "b"};
	struct observations *seen = &host->seen;

	observations_init(seen);
	seen->traces = seen->clocks = SOURCES;
	seen->trace = mem_zalloc(SOURCES * sizeof(*seen->trace));
	seen->first_trace = mem_zalloc(SOURCES * sizeof(*seen->first_trace));
	for (uint32_t i = 0; i < SOURCES; i++) {
		struct trace *trace = &seen->trace[i];

		trace->name = mem_strdup(names[i]);
		trace->path = mem_strdup("");
		trace->clock_index = seen->first_trace[i] = i;
		trace->host_index = i == OTHER;
		trace->kind = i == CAPTURE ? SOURCE_CAPTURE : SOURCE_TRACE;
		trace->facts.events = 2;
	}
}

static void set_span(struct host *host)
{
	struct trace *trace = host->seen.trace;

	trace[TRACE].facts.begin_ns = trace_ns(host, 0);
	trace[TRACE].facts.end_ns = trace_ns(host, LENGTH);
	trace[OTHER].facts.begin_ns = SIM_NOW;
	trace[OTHER].facts.end_ns = SIM_NOW + LENGTH;
	trace[CAPTURE].facts.begin_ns = NSEC_MAX;
	trace[CAPTURE].facts.end_ns = NSEC_MIN;
	for (nsec_t at = 0; at <= LENGTH; at += LENGTH / 1000) {
		nsec_t stamp = capture_ns(host, at);

		if (stamp < trace[CAPTURE].facts.begin_ns)
			trace[CAPTURE].facts.begin_ns = stamp;
		if (stamp > trace[CAPTURE].facts.end_ns)
			trace[CAPTURE].facts.end_ns = stamp;
	}
}

/* `reference` may be NULL. */
static void host_init(struct host *host, const char *reference)
{
	host->reference = reference;
	add_sources(host);
	set_span(host);
}

static void talk(struct host *host, int packets)
{
	for (int i = 1; i < packets; i++) {
		nsec_t at = LENGTH / packets * i + draw_between(0, 100000);

		if (i % 2)
			send_packet(host, at);
		else
			receive_packet(host, at);
	}
}

static void fit(struct host *host)
{
	const struct fit_options how = {.drift_limit_ppm = 200,
					.max_rejected = 0.02,
					.reference = host->reference,
					.bounds.threads = 1};
	struct error error = ERROR_INIT;
	struct clock_map map;

	if (synchronize_sources(&host->seen, &how, &host->sync, &map, &host->problems,
				&error))
		fail_msg("%s", error_text(&error));
	clock_map_clear(&map);
}

static void host_clear(struct host *host)
{
	synchronization_clear(&host->sync);
	observations_clear(&host->seen);
	problem_clear(&host->problems);
	free(host->passed);
}

static size_t problems_of(const struct host *host, const char *kind)
{
	size_t count = 0;

	for (size_t i = 0; i < host->problems.count; i++)
		count +=
		    strcmp(problem_kind_word(host->problems.item[i].kind), kind) == 0;
	return count;
}

/* At random times the truth is within what is said of both. */
static void check_bounds(const struct host *host)
{
	struct clock_map map;

	describe_clocks(&host->sync, &host->seen.matching, &map);
	assert_int_equal(map.islands, 1);
	for (int i = 0; i < LOOKS; i++) {
		nsec_t at = draw_between(0, LENGTH);
		nsec_t local[] = {trace_ns(host, at), capture_ns(host, at), SIM_NOW + at};
		const struct clock *axis = clock_map_find(&map, map.reference);
		nsec_t truth = local[axis - map.clock];

		for (size_t k = 0; k < SOURCES; k++) {
			nsec_t off = truth - clock_correct(&map.clock[k], local[k]);
			struct clock_bound bound =
			    clock_bound_at(&map.clock[k], local[k], 2e5);

			if (off < bound.low_ns - 1 || off > bound.high_ns + 1)
				fail_msg("%s at %lld: off by %lld, said %lld to %lld",
					 map.clock[k].trace, (long long)at,
					 (long long)off, (long long)bound.low_ns,
					 (long long)bound.high_ns);
		}
	}
	clock_map_clear(&map);
}

TEST(one_oscillator_has_one_drift)
{
	struct clock_map map;

	for (int trial = 0; trial < TRIALS; trial++) {
		struct host host = {.drift = (double)draw_between(-90, 90) * 1e-6};

		host_init(&host, NULL);
		talk(&host, 4000);
		fit(&host);
		assert_int_equal(host.sync.network.clocks.count, 2);
		assert_ptr_equal(host.sync.network.clocks.of_trace[CAPTURE].tie,
				 &host.sync.network.clocks.ties.item[0]);
		check_bounds(&host);
		describe_clocks(&host.sync, &host.seen.matching, &map);
		assert_int_equal(map.ties, 1);
		assert_string_equal(map.tie[0].a, "a");
		assert_string_equal(map.tie[0].b, "a:a.pcap");
		assert_int_equal(map.tie[0].packets, 2000);
		assert_int_equal(map.tie[0].offsets, 1);
		assert_in_range(OFFSET - map.tie[0].offset[0].offset_ns + 4000, 0, 8000);
		assert_true(map.clock[CAPTURE].segment[0].rate_ppb ==
			    map.clock[TRACE].segment[0].rate_ppb);
		/* All messages are of the trace's clock and the other's. */
		assert_int_equal(map.pairs, 1);
		assert_int_equal(map.pair[0].messages_ab + map.pair[0].messages_ba, 3999);
		assert_int_equal(map.pair[0].violations_after, 0);
		clock_map_clear(&map);
		host_clear(&host);
	}
}

struct stamps {
	const struct host *host;
	size_t seen;
};

static int check_stamp(void *context, const struct message *message)
{
	enum { LOOSE_NS = 60000 }; /* more than a tie leaves open, and rounding */
	struct stamps *stamps = context;
	const struct network *net = &stamps->host->sync.network;
	nsec_t passed = stamps->host->passed[stamps->seen++];

	if (message_from(&net->log, message) == 0) {
		assert_true(message->send_ns <= passed);
		assert_true(message->send_ns >= passed - LOOSE_NS);
	} else {
		assert_true(message->recv_ns >= passed);
		assert_true(message->recv_ns <= passed + LOOSE_NS);
	}
	return 0;
}

/* Find the clocks alone: nothing is fitted that could hide a timestamp on the wrong side.
 */
TEST(stamps_move_to_the_safe_side)
{
	for (int trial = 0; trial < TRIALS; trial++) {
		struct host host = {.drift = (double)draw_between(-90, 90) * 1e-6};
		struct network *net = &host.sync.network;
		struct stamps stamps = {.host = &host};
		struct error error = ERROR_INIT;

		host_init(&host, NULL);
		talk(&host, 2000);
		assert_int_equal(clocks_find(&host.seen, &net->clocks, &net->log,
					     &host.problems, &error),
				 0);
		assert_int_equal(net->clocks.count, 2);
		assert_int_equal(host.seen.log.count, 0);
		assert_int_equal(
		    message_log_each(&net->log, check_stamp, &stamps, &error), 0);
		assert_int_equal(stamps.seen, host.messages);
		host_clear(&host);
	}
}

/* Forward and back, by more and by less than the time between two packets. */
TEST(steps_are_followed)
{
	for (int trial = 0; trial < TRIALS; trial++) {
		struct host host = {.drift = (double)draw_between(-90, 90) * 1e-6};

		for (host.steps = 0; host.steps < STEPS; host.steps++) {
			nsec_t size = draw_between(200, 900)
				      << draw_between(trial < 6 ? 10 : 18, 22);

			host.step[host.steps].at = LENGTH / 5 * ((nsec_t)host.steps + 1) +
						   draw_between(0, NSEC_PER_SEC);
			host.step[host.steps].size = host.steps % 2 ? size : -size;
		}
		host_init(&host, NULL);
		talk(&host, 4000);
		fit(&host);
		assert_int_equal(host.sync.network.clocks.count, 2);
		assert_int_equal(host.sync.network.clocks.ties.item[0].parts, STEPS + 1);
		assert_int_equal(problems_of(&host, "step"), STEPS);
		check_bounds(&host);
		host_clear(&host);
	}
}

/* Then the axis is the trace's, and that is said. */
TEST(a_tied_capture_is_no_reference)
{
	struct host host = {
	    .drift = 50e-6, .step = {{LENGTH / 2, -NSEC_PER_SEC}}, .steps = 1};
	struct clock_map map;

	host_init(&host, "a:a.pcap");
	talk(&host, 2000);
	fit(&host);
	assert_int_equal(problems_of(&host, "clock"), 1);
	check_bounds(&host);
	describe_clocks(&host.sync, &host.seen.matching, &map);
	assert_string_equal(map.reference, "a");
	clock_map_clear(&map);
	host_clear(&host);
}

/* A card's clock, say: each keeps a correction of its own. */
TEST(clocks_that_drift_apart_are_not_tied)
{
	static const double apart[] = {3e-6, -20e-6, 90e-6};

	for (size_t i = 0; i < sizeof(apart) / sizeof(*apart); i++) {
		struct host host = {.drift = 10e-6, .apart = apart[i]};

		host_init(&host, NULL);
		talk(&host, 4000);
		fit(&host);
		assert_int_equal(host.sync.network.clocks.count, 3);
		assert_null(host.sync.network.clocks.of_trace[CAPTURE].tie);
		assert_int_equal(problems_of(&host, "tie"), 1);
		check_bounds(&host);
		host_clear(&host);
	}
}

TEST(without_transmissions_nothing_is_tied)
{
	struct host host = {.drift = 10e-6, .no_xmit = true};

	host_init(&host, NULL);
	talk(&host, 2000);
	fit(&host);
	assert_int_equal(host.sync.network.clocks.count, 3);
	assert_int_equal(problems_of(&host, "tie"), 0);
	check_bounds(&host);
	host_clear(&host);
}

/* Another packet that looked the same: by itself it is no step. */
TEST(a_false_packet_is_left_out)
{
	struct host host = {.drift = 10e-6};

	host_init(&host, NULL);
	note_packet(&host, LENGTH / 3, LENGTH / 3 + 50000000, LENGTH / 3 + 7);
	note_packet(&host, LENGTH / 2 - 80000000, LENGTH / 2 - 100000000, LENGTH / 2);
	talk(&host, 2000);
	fit(&host);
	assert_int_equal(host.sync.network.clocks.count, 2);
	assert_int_equal(host.sync.network.clocks.ties.item[0].parts, 1);
	assert_in_range(host.sync.network.clocks.ties.item[0].rejected, 1, 10);
	assert_int_equal(problems_of(&host, "step"), 0);
	check_bounds(&host);
	host_clear(&host);
}

struct noted {
	nsec_t queued, tapped, handed;
};

static void note_all(struct host *host, const struct noted *noted, int count)
{
	host_init(host, NULL);
	for (int i = 0; i < count; i++)
		note_packet(host, noted[i].queued, noted[i].tapped, noted[i].handed);
	fit(host);
}

/* Over hours, so that times are gathered ever more coarsely. */
TEST(the_order_of_packets_does_not_matter)
{
	enum { PACKETS = 3000 };
	struct noted noted[PACKETS];
	struct host one = {.step = {{7000 * NSEC_PER_SEC, NSEC_PER_SEC}}, .steps = 1};
	struct host two = one;

	for (int i = 0; i < PACKETS; i++) {
		nsec_t at = 5 * NSEC_PER_SEC * i + draw_between(0, NSEC_PER_SEC);

		noted[i] = (struct noted){at - draw_between(0, 9000), at,
					  at + draw_between(0, 9000)};
	}
	note_all(&one, noted, PACKETS);
	for (int i = PACKETS - 1; i > 0; i--) {
		int k = (int)draw_between(0, i - 1);
		struct noted other = noted[k];

		noted[k] = noted[i];
		noted[i] = other;
	}
	note_all(&two, noted, PACKETS);
	assert_int_equal(one.sync.network.clocks.ties.count, 1);
	assert_int_equal(two.sync.network.clocks.ties.count, 1);
	assert_int_equal(one.sync.network.clocks.ties.item[0].parts, 2);
	assert_int_equal(two.sync.network.clocks.ties.item[0].parts, 2);
	for (size_t i = 0; i < 2; i++)
		assert_memory_equal(&one.sync.network.clocks.ties.item[0].part[i],
				    &two.sync.network.clocks.ties.item[0].part[i],
				    sizeof(struct tie_part));
	host_clear(&one);
	host_clear(&two);
}

/*
 * A capture's clock that is a line, as was found, within bounds of 1 us about it; the
 * trace of its host is the reference. Whether it is approximate then.
 */
static bool is_held(double rate_ppb, bool stepped, bool is_apart)
{
	enum { TIMES = 41 };
	struct run_clock own[2] = {
	    {.name = "trace", .oscillator = -1, .own_end_ns = LENGTH},
	    {.name = "capture", .oscillator = is_apart ? -1 : TRACE}};
	struct graph_node node[2] = {{.island = 0}, {.island = 0}};
	struct clock_bound bound[2][TIMES];
	struct clock_segment line[2] = {{0, 0, 0}, {OFFSET, 0, rate_ppb}};
	struct clock fitted[2] = {{.bounds = TIMES}, {.bounds = TIMES}};
	struct curve_event step = {
	    .clock = CAPTURE,
	    .is = {.from_ns = OFFSET + LENGTH / 2 - 1000, .to_ns = OFFSET + LENGTH / 2}};
	const struct curve_event_list events = {&step, stepped, 1};
	const struct network net = {
	    .limit_ppm = 100, .clocks = {.clock = own, .count = 2}, .graph.node = node};

	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < TIMES; k++)
			bound[i][k] = (struct clock_bound){
			    line[i].local_ns + k * NSEC_PER_SEC, -1000 * i, 1000 * i};
		fitted[i].begin_ns = bound[i][0].local_ns;
		fitted[i].end_ns = bound[i][TIMES - 1].local_ns;
		fitted[i].segment = &line[i];
		fitted[i].segments = 1;
		fitted[i].bound = bound[i];
	}
	return oscillator_is_contradicted(&net, fitted, &events, CAPTURE);
}

TEST(a_capture_s_clock_is_held_against_the_trace_s)
{
	/* Over 40 s 25 ppb make 1 us, and 75 ppb 3 us. */
	assert_false(is_held(25, false, false));
	assert_true(is_held(75, false, false));
	assert_true(is_held(-75, false, false));
	/* Nothing is known across a step, nor of a clock that is another one. */
	assert_false(is_held(75, true, false));
	assert_true(is_held(150, true, false));
	assert_false(is_held(75, false, true));
}
