/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/world_init.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/host.h"
#include "simulate/messages.h"
#include "simulate/plans.h"
#include "simulate/process.h"
#include "simulate/requests.h"
#include "simulate/sar.h"
#include "simulate/spans.h"
#include "simulate/thread.h"
#include "simulate/topology.h"
#include "simulate/transport.h"

/* Clocks are known so much longer than anything happens. */
static const nsec_t margin_ns = NSEC_PER_SEC;

static nsec_t from_us(double us)
{
	return nsec_round(us * 1e3);
}

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
	world->coalesce_ns = from_us(scenario->coalesce_us);
	world->service_ns = from_us(scenario->service_us);
	world->timeout_ns = from_us(scenario->timeout_ms * 1e3);
	world->rto_ns = from_us(scenario->rto_ms * 1e3);
	/* No sender is so impatient as to send everything twice. */
	if (world->rto_ns < there_and_back)
		world->rto_ns = there_and_back;
	world->request_bytes = (uint64_t)scenario->request_bytes;
	world->reply_bytes = (uint64_t)scenario->reply_bytes;
	world->events_most =
	    scenario->events > 0 ? (uint64_t)scenario->events : UINT64_MAX;
	world->full = scenario->activity == ACTIVITY_FULL;
	network_init(&world->network, scenario);
}

static void init_hosts(struct world *world, const struct sim_clock_plan *plans)
{
	const struct scenario *scenario = world->scenario;

	world->hosts = (size_t)scenario->nodes;
	world->host = mem_zalloc(world->hosts * sizeof(*world->host));
	for (uint32_t i = 0; i < world->hosts; i++) {
		host_init(world, i);
		sim_clock_init(&world->host[i].clock, &plans[i]);
		world->host[i].clock.trace_steps = scenario->trace_steps;
	}
	for (size_t i = 0; i < scenario->steps; i++) {
		const struct scenario_step *step = &scenario->step[i];

		sim_clock_add_step(&world->host[step->node - 1].clock,
				   world->begin_ns + nsec_round(step->at_s * 1e9),
				   nsec_round(step->amount_ms * 1e6));
	}
	for (size_t i = 0; i < scenario->traces; i++) {
		const struct scenario_window *window = &scenario->trace[i];
		struct host *host = &world->host[window->node - 1];

		host->trace_from = world->begin_ns + nsec_round(window->from_s * 1e9);
		host->trace_to = world->begin_ns + nsec_round(window->to_s * 1e9);
	}
}

/* Where they are mixed, one pair after the other has the next. */
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

static void add_threads(struct world *world, uint32_t number)
{
	struct flow *flow = &world->flow[number];
	struct endpoint *a = &flow->end[0], *b = &flow->end[1];

	if (world->scenario->pattern == PATTERN_REQUEST) {
		a->reader = a->writer =
		    thread_add(world, a->node, ROLE_CLIENT, number, 0);
		b->reader = b->writer =
		    thread_add(world, b->node, ROLE_SERVER, number, 1);
		return;
	}
	a->writer = thread_add(world, a->node, ROLE_SENDER, number, 0);
	b->reader = thread_add(world, b->node, ROLE_RECEIVER, number, 1);
	if (world->scenario->pattern == PATTERN_ONEWAY) {
		a->reader = a->writer;
		b->writer = b->reader;
		return;
	}
	b->writer = thread_add(world, b->node, ROLE_SENDER, number, 1);
	a->reader = thread_add(world, a->node, ROLE_RECEIVER, number, 0);
}

static void init_flow(struct world *world, uint32_t number,
		      const struct topology_pair *pair)
{
	const struct scenario *scenario = world->scenario;
	struct flow *flow = &world->flow[number];
	bool icmp;

	dice_init(&flow->dice, world->seed, DICE_FLOW, number);
	flow->family = choose_family(scenario, number);
	flow->protocol = choose_protocol(scenario, number, flow->family);
	icmp = flow->protocol == IPPROTO_ICMP || flow->protocol == IPPROTO_ICMPV6;
	flow->interval_ns = nsec_round(pair->interval_ms * 1e6);
	flow->label =
	    icmp ? 1000 + number % 60000 : (uint32_t)dice_below(&flow->dice, 1 << 20);
	flow->end[0].node = pair->a;
	flow->end[1].node = pair->b;
	flow->end[0].port = icmp ? 0 : (uint16_t)(32768 + number % 28000);
	flow->end[1].port = icmp ? 0 : 7001;
	for (int side = 0; side < 2; side++)
		link_init(&flow->link[side], scenario, world->seed, number,
			  flow->end[side].node > flow->end[!side].node);
	transport_init(world, flow);
	add_threads(world, number);
}

static void add_background(struct world *world)
{
	for (uint32_t i = 0; i < world->hosts; i++) {
		for (int k = 0; k < world->scenario->workers; k++)
			thread_add(world, i, ROLE_WORKER, 0, 0);
		thread_add(world, i, ROLE_SAMPLER, 0, 0);
		if (world->scenario->spawn_ms > 0)
			process_add_daemon(world, i);
	}
}

struct sim_clock_plan *world_init(struct world *world, const struct scenario *scenario,
				  uint64_t seed)
{
	struct sim_clock_plan *plans;
	struct topology_pair *pairs;

	memset(world, 0, sizeof(*world));
	world->scenario = scenario;
	world->seed = seed;
	init_constants(world);
	plans = plans_make(scenario, seed, world->begin_ns, world->end_ns + margin_ns);
	init_hosts(world, plans);
	pairs = topology_pairs(scenario, seed, &world->flows);
	world->flow = mem_zalloc(world->flows * sizeof(*world->flow));
	for (uint32_t i = 0; i < world->flows; i++)
		init_flow(world, i, &pairs[i]);
	free(pairs);
	if (world->full)
		add_background(world);
	return plans;
}

void world_clear(struct world *world)
{
	for (size_t i = 0; i < world->hosts; i++) {
		sar_discard(&world->host[i]);
		host_clear(world, &world->host[i]);
	}
	message_sink_discard(world->messages);
	spans_discard(world->spans);
	requests_discard(world->requests);
	queue_clear(&world->queue);
	free(world->host);
	free(world->flow);
	free(world->thread);
	free(world->parcel);
	memset(world, 0, sizeof(*world));
}
