/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_SIMULATE_H
#define CT_TEST_SIMULATE_H

/*
 * A cluster of clocks whose truth is known, messages between them, and
 * whether the truth lies inside the bounds that come of them. Run time counts
 * from 0 to the length of the run, in nanoseconds, and belongs to no clock.
 */
#include <string.h>

#include "base/mem.h"
#include "sync/describe.h"
#include "sync/trust.h"

#include "../draw.h"

enum { SIM_CLOCKS = 64, SIM_PIECES = 64, SIM_LOOKS = 1000 };

#define SIM_NOW     ((nsec_t)1795228732943977331)
#define SIM_YEAR    ((nsec_t)366 * 86400 * NSEC_PER_SEC)
#define SIM_LIMIT   200.0 /* ppm */
#define SIM_DRIFT   95e-6 /* of a clock; two differ by less than the limit */
#define SIM_LEAST   20000 /* delay */
#define SIM_MEAN    80000 /* of what comes to it */
#define SIM_SECONDS NSEC_PER_SEC

#define SIM_ROUNDING 1e-3 /* ns, of the simulated truth itself */

/* Between two bends or steps a clock is a line. */
struct sim_piece {
	nsec_t at;   /* run time of its begin */
	double rate; /* how much faster than the run's time */
	nsec_t step; /* at its begin */
};

struct sim_clock {
	nsec_t base; /* local time at the run's begin */
	struct sim_piece piece[SIM_PIECES];
	int pieces;
};

struct sim_message {
	uint32_t from, to;
	nsec_t send_ns, recv_ns;
	bool is_false;
};

struct sim {
	struct sim_clock clock[SIM_CLOCKS];
	size_t clocks;
	nsec_t length;
	struct sim_message *message;
	size_t messages, capacity;
	const char *reference; /* asked for, or NULL */
	double limit_ppm;
	enum bounds_model bounds;
	double wander_ppm;
	size_t segments; /* of each clock; 0: as many as its messages tell from chance */
	size_t kept;     /* messages, beyond which they are thinned; 0: the default */
	struct observations seen; /* these of the last sim_fit */
	struct synchronization sync;
	struct problem_list problems;
};

static struct sim sim;

static inline void sim_forget(void)
{
	synchronization_clear(&sim.sync);
	observations_clear(&sim.seen);
	problem_clear(&sim.problems);
}

static inline int sim_clear(void **state __attribute__((unused)))
{
	sim_forget();
	free(sim.message);
	memset(&sim, 0, sizeof(sim));
	return 0;
}

/* A test of simulated runs, each of which begins with sim_init(). */
#define SIM_TEST(name) FIXTURE_TEST(name, NULL, sim_clear)

/* Some clocks that are seconds to years apart and drift. */
static inline void sim_init(size_t clocks, nsec_t length)
{
	sim_clear(NULL);
	sim.clocks = clocks;
	sim.length = length;
	sim.limit_ppm = SIM_LIMIT;
	for (size_t i = 0; i < clocks; i++) {
		nsec_t apart = SIM_YEAR >> draw_between(0, 25);

		sim.clock[i].base = SIM_NOW + draw_between(-apart, apart);
		sim.clock[i].pieces = 1;
		sim.clock[i].piece[0].rate = draw_real(-SIM_DRIFT, SIM_DRIFT);
	}
}

/* From then on a clock runs at another rate, and is set on by a step. */
static inline void sim_bend(size_t clock, nsec_t at, double rate, nsec_t step)
{
	struct sim_clock *bent = &sim.clock[clock];

	bent->piece[bent->pieces++] = (struct sim_piece){at, rate, step};
}

/* Local time since the base, at a run time. */
static inline long double sim_elapsed(const struct sim_clock *clock, long double at)
{
	long double elapsed = 0;

	for (int i = 0; i < clock->pieces; i++) {
		const struct sim_piece *piece = &clock->piece[i];
		long double end = at;

		if (i + 1 < clock->pieces && (long double)clock->piece[i + 1].at < at)
			end = (long double)clock->piece[i + 1].at;
		if (end < (long double)piece->at)
			break;
		elapsed += (long double)piece->step +
			   (end - (long double)piece->at) * (1 + piece->rate);
	}
	return elapsed;
}

static inline double sim_rate(const struct sim_clock *clock, nsec_t at)
{
	int i = clock->pieces - 1;

	while (i && clock->piece[i].at > at)
		i--;
	return clock->piece[i].rate;
}

/* Return a clock's reading at a run time. */
static inline nsec_t sim_local(size_t clock, nsec_t at)
{
	const struct sim_clock *own = &sim.clock[clock];

	return own->base + (nsec_t)floorl(sim_elapsed(own, (long double)at));
}

static inline struct sim_message *sim_stamps(uint32_t from, uint32_t to, nsec_t send_ns,
					     nsec_t recv_ns)
{
	struct sim_message *message;

	sim.message =
	    mem_grow(sim.message, sim.messages, &sim.capacity, sizeof(*sim.message));
	message = &sim.message[sim.messages++];
	*message = (struct sim_message){from, to, send_ns, recv_ns, false};
	return message;
}

static inline nsec_t sim_delay(void)
{
	return SIM_LEAST + (nsec_t)draw_exponential(SIM_MEAN);
}

/* A message at a run time; false where it would come after the end. */
static inline bool sim_send(uint32_t from, uint32_t to, nsec_t at)
{
	nsec_t came = at + sim_delay();

	if (came > sim.length)
		return false;
	sim_stamps(from, to, sim_local(from, at), sim_local(to, came));
	return true;
}

/* Messages within a part of the run. */
static inline void sim_traffic(uint32_t from, uint32_t to, int count, nsec_t begin,
			       nsec_t end)
{
	for (int i = 0; i < count; i++)
		while (!sim_send(from, to, draw_between(begin, end)))
			;
}

/* Both ways, all the time. */
static inline void sim_talk(uint32_t a, uint32_t b, int ab, int ba)
{
	sim_traffic(a, b, ab, 0, sim.length);
	sim_traffic(b, a, ba, 0, sim.length);
}

static inline void sim_add_traces(void)
{
	struct observations *seen = &sim.seen;

	observations_init(seen);
	seen->traces = seen->clocks = sim.clocks;
	seen->trace = mem_zalloc(sim.clocks * sizeof(*seen->trace));
	seen->first_trace = mem_zalloc(sim.clocks * sizeof(*seen->first_trace));
	for (uint32_t i = 0; i < sim.clocks; i++) {
		struct trace *trace = &seen->trace[i];

		trace->name = mem_printf("n%u", i);
		trace->path = mem_strdup("");
		trace->clock_index = seen->first_trace[i] = i;
		trace->facts.events = 2;
		trace->facts.begin_ns = sim_local(i, 0);
		trace->facts.end_ns = sim_local(i, sim.length);
	}
}

static inline void sim_add_messages(void)
{
	struct error error = ERROR_INIT;

	for (size_t i = 0; i < sim.messages; i++) {
		const struct sim_message *one = &sim.message[i];
		struct message message = {.send_ns = one->send_ns,
					  .recv_ns = one->recv_ns};

		assert_int_equal(
		    message_log_add(&sim.seen.log, one->from, one->to, &message, &error),
		    0);
	}
}

/* Fit by a method, or by the default for NULL. */
static inline void sim_fit(const char *method)
{
	const struct fit_options how = {
	    .method = method ? fit_method_find(method) : NULL,
	    .drift_limit_ppm = sim.limit_ppm,
	    .bounds = {.model = sim.bounds, .wander_ppm = sim.wander_ppm, .threads = 1},
	    .segments = {.given.segments = sim.segments, .messages_kept = sim.kept},
	    .max_rejected = 0.02,
	    .reference = sim.reference,
	};
	struct error error = ERROR_INIT;
	struct clock_map map;

	sim_forget();
	sim_add_traces();
	sim_add_messages();
	if (synchronize_sources(&sim.seen, &how, &sim.sync, &map, &sim.problems, &error))
		fail_msg("%s", error_text(&error));
	clock_map_clear(&map);
}

static inline bool sim_is_whole(void)
{
	return verdict_is_whole(&sim.sync.network, &sim.sync.verdict);
}

static inline uint32_t sim_reference(size_t clock)
{
	const struct graph *graph = &sim.sync.network.graph;

	return graph->island[graph->node[clock].island].reference;
}

/* A clock's stamp at a run time, and by how much its correction is early. */
struct sim_look {
	nsec_t local_ns;
	long double off_ns;
	struct clock_bound bound;
};

static inline struct sim_look sim_look(size_t clock, nsec_t at)
{
	const struct sim_clock *own = &sim.clock[clock];
	const struct sim_clock *axis = &sim.clock[sim_reference(clock)];
	long double elapsed = sim_elapsed(own, (long double)at);
	struct sim_look look = {.local_ns = own->base + (nsec_t)floorl(elapsed)};
	const struct clock *fitted = &sim.sync.verdict.clock[clock];

	/* The stamp is of a moment before, as it has no fraction. */
	elapsed = (long double)at - (elapsed - floorl(elapsed)) / (1 + sim_rate(own, at));
	look.off_ns = (long double)(axis->base - clock_correct(fitted, look.local_ns)) +
		      sim_elapsed(axis, elapsed);
	look.bound = clock_bound_at(fitted, look.local_ns, 2e3 * sim.limit_ppm);
	return look;
}

static inline void sim_check_look(size_t clock, nsec_t at)
{
	struct sim_look look = sim_look(clock, at);
	bool low = look.bound.low_ns == NSEC_MIN ||
		   look.off_ns >= (long double)look.bound.low_ns - SIM_ROUNDING;
	bool high = look.bound.high_ns == NSEC_MAX ||
		    look.off_ns <= (long double)look.bound.high_ns + SIM_ROUNDING;

	if (!low || !high)
		fail_msg("n%zu at %.6f s of %.6f s: the truth is off by %.1Lf ns, not "
			 "within %" PRId64 " and %" PRId64 " (seed %" PRIu64 ")",
			 clock, (double)at / 1e9, (double)sim.length / 1e9, look.off_ns,
			 look.bound.low_ns, look.bound.high_ns, draw_seed);
}

/* Check that the truth is within the bounds: at the ends, the middle, anywhere. */
static inline void sim_check_bounds(void)
{
	for (size_t i = 0; i < sim.clocks; i++) {
		sim_check_look(i, 0);
		sim_check_look(i, sim.length / 2);
		sim_check_look(i, sim.length);
		for (int k = 0; k < SIM_LOOKS; k++)
			sim_check_look(i, draw_between(0, sim.length));
	}
}

/* Messages that were received before they were sent, by the fitted clocks. */
static inline uint64_t sim_violations(bool tree_only)
{
	const struct network *net = &sim.sync.network;
	uint64_t count = 0;

	for (size_t i = 0; i < net->pairs.count; i++) {
		const struct pair *pair = &net->pairs.pair[i];
		bool in_tree = net->graph.node[pair->a].parent_pair == (int)i ||
			       net->graph.node[pair->b].parent_pair == (int)i;

		if (in_tree || !tree_only)
			count += sim.sync.verdict.pair[i].latency.violations;
	}
	return count;
}

#endif
