/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/world.h"

#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/progress.h"
#include "simulate/cpu.h"
#include "simulate/dice.h"
#include "simulate/host.h"
#include "simulate/messages.h"
#include "simulate/network.h"
#include "simulate/task.h"
#include "simulate/thread.h"
#include "simulate/transport.h"
#include "simulate/truth.h"

static bool is_before(const struct pending *a, const struct pending *b)
{
	return a->due != b->due ? a->due < b->due : a->order < b->order;
}

void queue_add(struct queue *queue, nsec_t due, enum pending_kind kind, void *what,
	       uint32_t age)
{
	struct pending pending = {.due = due, .what = what, .kind = kind};
	size_t hole;

	pending.order = queue->order++ & PENDING_ORDER;
	pending.age = age & PENDING_AGE;
	queue->item =
	    mem_grow(queue->item, queue->count, &queue->capacity, sizeof(*queue->item));
	for (hole = queue->count++; hole; hole = (hole - 1) / 4) {
		const struct pending *parent = &queue->item[(hole - 1) / 4];

		if (!is_before(&pending, parent))
			break;
		queue->item[hole] = *parent;
	}
	queue->item[hole] = pending;
}

bool queue_pop(struct queue *queue, struct pending *pending)
{
	const struct pending *last;
	size_t hole = 0, child;

	if (!queue->count)
		return false;
	*pending = queue->item[0];
	last = &queue->item[--queue->count];
	while ((child = 4 * hole + 1) < queue->count) {
		size_t end = child + 4 < queue->count ? child + 4 : queue->count;
		size_t least = child;

		while (++child < end)
			if (is_before(&queue->item[child], &queue->item[least]))
				least = child;
		if (!is_before(&queue->item[least], last))
			break;
		queue->item[hole] = queue->item[least];
		hole = least;
	}
	queue->item[hole] = *last;
	return true;
}

void queue_clear(struct queue *queue)
{
	free(queue->item);
	memset(queue, 0, sizeof(*queue));
}

struct pairs {
	const struct scenario *scenario;
	struct topology_pair *pair;
	size_t count, capacity;
	struct intmap known; /* lower << 32 | higher, to the index */
};

/* Return a pair; add it if it is new. */
static struct topology_pair *pair_of(struct pairs *pairs, uint32_t a, uint32_t b)
{
	uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
	int64_t index;

	if (intmap_get(&pairs->known, key, &index))
		return &pairs->pair[index];
	intmap_put(&pairs->known, key, (int64_t)pairs->count);
	pairs->pair =
	    mem_grow(pairs->pair, pairs->count, &pairs->capacity, sizeof(*pairs->pair));
	pairs->pair[pairs->count] =
	    (struct topology_pair){a, b, pairs->scenario->interval_ms};
	return &pairs->pair[pairs->count++];
}

/* Add a random tree, which connects all nodes, and then random pairs. */
static void add_random(struct pairs *pairs, uint32_t nodes, uint64_t seed)
{
	struct dice dice;

	dice_init(&dice, seed, DICE_TOPOLOGY, 0);
	for (uint32_t b = 1; b < nodes; b++)
		pair_of(pairs, (uint32_t)dice_below(&dice, b), b);
	while (pairs->count < (size_t)pairs->scenario->pairs) {
		uint32_t a = (uint32_t)dice_below(&dice, nodes);
		uint32_t b = (uint32_t)dice_below(&dice, nodes);

		if (a != b)
			pair_of(pairs, a < b ? a : b, a < b ? b : a);
	}
}

/* Return the island of a node. Islands are of equal size, to within one node. */
static uint32_t island_of(uint32_t node, uint32_t nodes, uint32_t islands)
{
	return ((node + 1) * islands - 1) / nodes;
}

/* Return true if node `a` sends requests to node `b`, of `nodes` that exchange messages.
 */
static bool is_client_of(const struct scenario *scenario, uint32_t a, uint32_t b,
			 uint32_t nodes)
{
	uint32_t servers = (uint32_t)scenario->servers;
	uint32_t islands = (uint32_t)scenario->islands;

	switch ((enum scenario_topology)scenario->topology) {
	case TOPOLOGY_RING:
		return b == (a + 1) % nodes;
	case TOPOLOGY_CHAIN:
		return b == a + 1;
	case TOPOLOGY_STAR:
		return b == 0;
	case TOPOLOGY_CLIENTS:
		return a >= servers && b < servers;
	case TOPOLOGY_MESH:
		return a < b;
	case TOPOLOGY_ISLANDS:
		return a < b &&
		       island_of(a, nodes, islands) == island_of(b, nodes, islands);
	case TOPOLOGY_RANDOM:
	case TOPOLOGY_LISTED: /* those named by themselves alone */
		break;
	}
	return false;
}

struct topology_pair *topology_pairs(const struct scenario *scenario, uint64_t seed,
				     size_t *count)
{
	const struct scenario_lines *listed = &scenario->lines[SCENARIO_PAIR];
	uint32_t nodes = (uint32_t)(scenario->nodes - scenario->lone);
	struct pairs pairs = {.scenario = scenario};
	size_t kept = 0;

	if (scenario->topology == TOPOLOGY_RANDOM)
		add_random(&pairs, nodes, seed);
	for (uint32_t a = 0; a < nodes; a++)
		for (uint32_t b = 0; b < nodes; b++)
			if (a != b && is_client_of(scenario, a, b, nodes))
				pair_of(&pairs, a, b);
	for (size_t i = 0; i < listed->count; i++) {
		const struct scenario_line *line = &listed->item[i];

		pair_of(&pairs, (uint32_t)line->node[0] - 1, (uint32_t)line->node[1] - 1)
		    ->interval_ms = line->value[0];
	}
	for (size_t i = 0; i < pairs.count; i++)
		if (pairs.pair[i].interval_ms > 0)
			pairs.pair[kept++] = pairs.pair[i];
	intmap_clear(&pairs.known);
	*count = kept;
	return pairs.pair;
}

/* The time by which clocks extend past the end of the run. */
static const nsec_t margin_ns = NSEC_PER_SEC;

static void init_constants(struct world *world)
{
	const struct scenario *scenario = world->scenario;
	double slowest = scenario->asymmetry > 1 ? scenario->asymmetry : 1;
	nsec_t there_and_back =
	    2 * from_us((scenario->delay_us * (1 + scenario->delay_spread) +
			 4 * scenario->jitter_us) *
			slowest);

	world->begin_ns = nsec_round(scenario->begin_s * 1e9);
	world->end_ns = world->begin_ns + nsec_round(scenario->seconds * 1e9);
	world->now = world->begin_ns;
	world->service_ns = from_us(scenario->service_us);
	world->rto_ns = from_us(scenario->rto_ms * 1e3);
	/* The timeout is never below the usual round trip; it would resend everything. */
	if (world->rto_ns < there_and_back)
		world->rto_ns = there_and_back;
	world->request_bytes = (uint64_t)scenario->request_bytes;
	world->reply_bytes = (uint64_t)scenario->reply_bytes;
	world->events_most =
	    scenario->events > 0 ? (uint64_t)scenario->events : UINT64_MAX;
	world->full = scenario->activity == ACTIVITY_FULL;
}

static void init_hosts(struct world *world)
{
	const struct scenario *scenario = world->scenario;
	const struct scenario_lines *step = &scenario->lines[SCENARIO_STEP];
	const struct scenario_lines *slew = &scenario->lines[SCENARIO_SLEW];
	const struct scenario_lines *trace = &scenario->lines[SCENARIO_TRACE];

	world->hosts = (size_t)scenario->nodes;
	world->cpus = world->hosts * (size_t)scenario->cpus;
	world->host = mem_zalloc(world->hosts * sizeof(*world->host));
	world->node = mem_zalloc(world->hosts * sizeof(*world->node));
	world->cpu = mem_zalloc(world->cpus * sizeof(*world->cpu));
	for (uint32_t i = 0; i < world->hosts; i++) {
		host_init(world, i);
		sim_clock_draw(&world->host[i].clock, scenario, world->seed, i,
			       world->begin_ns, world->end_ns + margin_ns);
		world->host[i].clock.trace_steps = scenario->trace_steps;
		world->node[i].realtime_offset_ns = world->host[i].clock.boot_ns;
		world->node[i].card_ns = nsec_round(scenario->card_s * 1e9);
		world->node[i].card_is_free = scenario->card_free;
		world->node[i].card_ppm = scenario->card_ppm;
		world->node[i].card_begin_ns = world->begin_ns;
		world->node[i].captured_twice = scenario->captured_twice;
	}
	for (size_t i = 0; i < slew->count; i++) {
		const struct scenario_line *line = &slew->item[i];
		const struct sim_clock_slew one = {
		    world->begin_ns + nsec_round(line->value[0] * 1e9),
		    world->begin_ns + nsec_round(line->value[1] * 1e9), line->value[2]};

		sim_clock_add_slew(&world->host[line->node[0] - 1].clock, &one);
	}
	for (size_t i = 0; i < step->count; i++) {
		const struct scenario_line *line = &step->item[i];

		sim_clock_add_step(&world->host[line->node[0] - 1].clock,
				   world->begin_ns + nsec_round(line->value[0] * 1e9),
				   nsec_round(line->value[1] * 1e6));
	}
	for (size_t i = 0; i < trace->count; i++) {
		const struct scenario_line *line = &trace->item[i];
		struct host *host = &world->host[line->node[0] - 1];

		host->trace_from = world->begin_ns + nsec_round(line->value[0] * 1e9);
		host->trace_to = world->begin_ns + nsec_round(line->value[1] * 1e9);
	}
}

/* Choose the flow's protocol; `mixed` assigns the protocols in turn. */
static uint8_t choose_protocol(const struct scenario *scenario, uint32_t number,
			       uint8_t family)
{
	static const uint8_t protocols[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP};
	int protocol = scenario->protocol;

	if (protocol == PROTOCOL_MIXED)
		protocol = (int)(number % 3);
	if (protocol == PROTOCOL_ICMP && family == 6)
		return IPPROTO_ICMPV6;
	return protocols[protocol];
}

static uint8_t choose_family(const struct scenario *scenario, uint32_t number)
{
	if (scenario->family == FAMILY_MIXED)
		return number % 2 ? 6 : 4;
	return scenario->family == FAMILY_6 ? 6 : 4;
}

static void add_threads(struct world *world, struct flow *flow)
{
	struct endpoint *a = &flow->end[0], *b = &flow->end[1];

	if (world->scenario->pattern == PATTERN_REQUEST) {
		a->reader = a->writer = thread_add(world, a->host, ROLE_CLIENT, a);
		b->reader = b->writer = thread_add(world, b->host, ROLE_SERVER, b);
		return;
	}
	a->writer = thread_add(world, a->host, ROLE_SENDER, a);
	b->reader = thread_add(world, b->host, ROLE_RECEIVER, b);
	if (world->scenario->pattern == PATTERN_ONEWAY) {
		a->reader = a->writer;
		b->writer = b->reader;
		return;
	}
	b->writer = thread_add(world, b->host, ROLE_SENDER, b);
	a->reader = thread_add(world, a->host, ROLE_RECEIVER, a);
}

static void init_flow(struct world *world, uint32_t number,
		      const struct topology_pair *pair)
{
	const struct scenario *scenario = world->scenario;
	struct flow *flow = &world->flow[number];
	bool icmp;

	dice_init(&flow->dice, world->seed, DICE_FLOW, number);
	flow->number = number;
	flow->family = choose_family(scenario, number);
	flow->protocol = choose_protocol(scenario, number, flow->family);
	icmp = flow->protocol == IPPROTO_ICMP || flow->protocol == IPPROTO_ICMPV6;
	flow->interval_ns = nsec_round(pair->interval_ms * 1e6);
	flow->label =
	    icmp ? 1000 + number % 60000 : (uint32_t)dice_below(&flow->dice, 1 << 20);
	for (int side = 0; side < 2; side++) {
		struct host *host = &world->host[side ? pair->b : pair->a];

		flow->end[side] = (struct endpoint){
		    .flow = flow,
		    .peer = &flow->end[!side],
		    .replies = side,
		    .host = host,
		    .cpu = &host->cpu[number % (uint32_t)scenario->cpus]};
	}
	name_endpoint(world, &flow->end[0],
		      icmp ? 0 : (uint16_t)(32768 + number % 28000));
	name_endpoint(world, &flow->end[1], icmp ? 0 : 7001);
	for (int side = 0; side < 2; side++)
		link_init(&flow->end[side].link, scenario, world->seed, number,
			  flow->end[side].host > flow->end[!side].host);
	for (int side = 0; side < 2; side++) {
		flow->end[side].link.from = (int)flow->end[side].host->number + 1;
		flow->end[side].link.to = (int)flow->end[!side].host->number + 1;
	}
	transport_init(world, flow);
	add_threads(world, flow);
}

enum { HOG_THREADS = 1000 };

static int fault_threads(const struct scenario_line *line)
{
	return line->value[2] < 1 ? 1 : (int)fmin(line->value[2], HOG_THREADS);
}

static size_t count_faults(const struct scenario *scenario)
{
	const struct scenario_lines *hog = &scenario->lines[SCENARIO_HOG];
	size_t count = scenario->lines[SCENARIO_LOCK].count;

	for (size_t i = 0; i < hog->count; i++)
		count += (size_t)fault_threads(&hog->item[i]);
	return count;
}

/* The threads of hogs, and one that holds a lock. */
static void add_faults(struct world *world, enum scenario_form form,
		       enum thread_role role)
{
	const struct scenario_lines *lines = &world->scenario->lines[form];

	for (size_t i = 0; i < lines->count; i++) {
		const struct scenario_line *line = &lines->item[i];
		int threads = form == SCENARIO_HOG ? fault_threads(line) : 1;

		for (int k = 0; k < threads; k++)
			thread_add(world, &world->host[line->node[0] - 1], role, NULL)
			    ->fault = line;
	}
}

static void add_background(struct world *world)
{
	add_faults(world, SCENARIO_HOG, ROLE_HOG);
	add_faults(world, SCENARIO_LOCK, ROLE_HOLDER);
	for (size_t i = 0; i < world->hosts; i++) {
		for (int k = 0; k < world->scenario->workers; k++)
			thread_add(world, &world->host[i], ROLE_WORKER, NULL);
		thread_add(world, &world->host[i], ROLE_SAMPLER, NULL);
		if (world->scenario->spawn_ms > 0)
			process_add_daemon(world, &world->host[i]);
	}
}

void world_init(struct world *world, const struct scenario *scenario, uint64_t seed)
{
	enum { FLOW_THREADS = 4, BACKGROUND_THREADS = 3 }; /* at most, without workers */
	AUTOFREE struct topology_pair *pairs = NULL;

	memset(world, 0, sizeof(*world));
	world->scenario = scenario;
	world->seed = seed;
	init_constants(world);
	init_hosts(world);
	pairs = topology_pairs(scenario, seed, &world->flows);
	world->flow = mem_zalloc(world->flows * sizeof(*world->flow));
	world->thread =
	    mem_zalloc((world->flows * FLOW_THREADS + count_faults(scenario) +
			world->hosts * ((size_t)scenario->workers + BACKGROUND_THREADS)) *
		       sizeof(*world->thread));
	for (uint32_t i = 0; i < world->flows; i++)
		init_flow(world, i, &pairs[i]);
	if (world->full)
		add_background(world);
}

void world_clear(struct world *world)
{
	struct pending pending;

	while (queue_pop(&world->queue, &pending))
		if (pending.kind == PENDING_ARRIVAL)
			free(pending.what);
	queue_clear(&world->queue);
	for (size_t i = 0; i < world->cpus; i++)
		cpu_clear(&world->cpu[i]);
	for (size_t i = 0; i < world->hosts; i++)
		host_clear(&world->host[i]);
	message_sink_discard(world->messages);
	truth_discard(world->truth);
	free(world->host);
	free(world->node);
	free(world->cpu);
	free(world->flow);
	free(world->thread);
	memset(world, 0, sizeof(*world));
}

/* Return an upper limit for the duration of a node's state dump. */
static nsec_t dump_span(const struct world *world, const struct host *host)
{
	return NSEC_PER_USEC *
	       (nsec_t)(host->threads + (uint32_t)world->scenario->cpus + 4);
}

/* Start all threads at once, with activity full: each waits for its processor. */
static void begin_full(struct world *world)
{
	for (size_t i = 0; i < world->hosts; i++) {
		struct host *host = &world->host[i];
		nsec_t begin = world->begin_ns;

		if (host->trace_from > begin) {
			queue_add(&world->queue, host->trace_from, PENDING_DUMP, host, 0);
		} else {
			queue_add(&world->queue, begin, PENDING_DUMP, host, 0);
			begin += dump_span(world, host);
		}
		for (int cpu = 0; cpu < world->scenario->cpus; cpu++)
			queue_add(&world->queue, begin, PENDING_KICK, &host->cpu[cpu], 0);
	}
	for (size_t i = 0; i < world->threads; i++)
		if (world->thread[i].wait != WAIT_FOREVER)
			cpu_add(&world->thread[i]);
}

static void begin_threads(struct world *world)
{
	if (world->full)
		begin_full(world);
	else
		for (size_t i = 0; i < world->threads; i++)
			thread_await(world, &world->thread[i], WAIT_TIME,
				     world->begin_ns);
}

static uint64_t count_written(const struct world *world)
{
	return world->messages ? world->messages_written : world->events;
}

void world_run(struct world *world, bool quiet)
{
	struct progress progress;
	struct pending pending;
	uint64_t done = 0;

	progress_init(&progress, quiet);
	begin_threads(world);
	while (!world->stopped && !world->failed && world->queue.count &&
	       world->queue.item->due < world->end_ns) {
		queue_pop(&world->queue, &pending);
		world->now = pending.due;
		interrupt(world, &pending);
		if (++done % 65536 == 0)
			progress_update(&progress, "ctsim", count_written(world), 0, 0);
	}
	progress_end(&progress);
}
