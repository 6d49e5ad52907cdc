/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/hash.h"
#include "bench.h"

#include "../draw.h"

/*
 * Traffic of a few hosts with one clock: whatever is lost, repeated, cut up or
 * merged on the way, a message must have been received after it was sent.
 */
enum { HOSTS = 5, ACTIONS = 4000, SEGMENT = 1448, MOST_SEGMENTS = 6 };

struct seen_packet {
	uint32_t source;
	struct packet_event packet_event;
	bool used;
};

struct world {
	struct seen_packet *seen;
	size_t count, capacity;
	struct intmap stamps; /* every stamp is of one packet event */
	nsec_t now, lag[HOSTS];
	uint32_t id, seq[HOSTS][HOSTS];
	size_t delivered; /* packets that must become messages */
};

/* A time that no other packet event has, at or after the one given. */
static nsec_t stamp(struct world *world, nsec_t at)
{
	int64_t taken;

	while (intmap_get(&world->stamps, (uint64_t)at, &taken))
		at++;
	intmap_put(&world->stamps, (uint64_t)at, (int64_t)world->count);
	return at;
}

static nsec_t later(nsec_t at)
{
	return at + 2000 + (nsec_t)draw_exponential(50000);
}

static nsec_t note(struct world *world, uint32_t source, const struct packet *packet,
		   nsec_t at, bool is_receive)
{
	struct seen_packet *seen;

	world->seen =
	    mem_grow(world->seen, world->count, &world->capacity, sizeof(*world->seen));
	seen = &world->seen[world->count];
	seen->source = source;
	seen->used = false;
	seen->packet_event =
	    (struct packet_event){.packet = *packet, .received = is_receive};
	seen->packet_event.ns = seen->packet_event.whole_ns = stamp(world, at);
	return world->seen[world->count++].packet_event.ns;
}

static struct packet between(uint32_t a, uint32_t b, struct packet packet)
{
	packet.src[2] = (uint8_t)a;
	packet.dst[2] = (uint8_t)b;
	return packet;
}

/* To one host or to all; now and then one is lost, or comes twice. */
static void act_udp(struct world *world, uint32_t a, uint32_t b)
{
	struct packet packet = between(a, b, udp(world->id++));
	nsec_t at = note(world, a, &packet, world->now, false);
	bool broadcast = draw() % 8 == 0;

	for (uint32_t to = 0; to < HOSTS; to++) {
		unsigned copies = draw() % 20 == 0 ? (unsigned)(draw() % 3) : 1;

		if (to == a || !(broadcast || to == b))
			continue;
		world->delivered += copies == 1;
		while (copies--)
			note(world, to, &packet, later(at), true);
	}
}

/* Through a third host that is traced as well. */
static void act_forward(struct world *world, uint32_t a, uint32_t b)
{
	struct packet packet = between(a, b, udp(world->id++));
	uint32_t through = (uint32_t)draw_between(0, HOSTS - 1);
	nsec_t at = note(world, a, &packet, world->now, false);

	if (through == a || through == b)
		return;
	at = note(world, through, &packet, later(at), true);
	at = note(world, through, &packet, at + 500, false);
	note(world, b, &packet, later(at), true);
	world->delivered += 2;
}

/* Acknowledgements without an id: nothing tells one from the next. */
static void act_acknowledge(struct world *world, uint32_t a, uint32_t b)
{
	struct packet packet = between(a, b, tcp(world->id++, 0, 0));
	int copies = (int)draw_between(1, 4);
	nsec_t at = world->now;

	while (copies--) {
		at = note(world, a, &packet, at, false) + 1000;
		if (draw() % 4)
			note(world, b, &packet, later(at), true);
	}
}

/* A TCP packet of some segments from the n-th on. */
static struct packet burst(uint32_t a, uint32_t b, const struct world *world, unsigned n,
			   unsigned segments)
{
	return between(
	    a, b, tcp(world->seq[a][b] + n * SEGMENT, segments * SEGMENT, world->id + n));
}

/* Merged data: when its first byte came, and when all had come. */
static void receive(struct world *world, uint32_t b, const struct packet *packet,
		    const nsec_t *sent_at, unsigned segments)
{
	nsec_t first = note(world, b, packet, later(sent_at[0]), true), whole = first;

	for (unsigned i = 1; i < segments; i++) {
		nsec_t came = later(sent_at[i]);

		whole = came > whole ? came : whole;
	}
	if (whole == first)
		return;
	world->count--; /* the stamp is of the packet event just made */
	whole = stamp(world, whole);
	world->seen[world->count++].packet_event.whole_ns = whole;
}

/* Send bytes again; the first time they were lost, or only taken as lost. */
static void repeat(struct world *world, uint32_t a, uint32_t b, struct packet packet,
		   nsec_t at)
{
	packet.id += 1000000;
	at = note(world, a, &packet, at + 200000, false);
	if (draw() % 3)
		receive(world, b, &packet, &at, 1);
}

/* A burst that goes out whole or in segments, and comes as it likes. */
static void act_tcp(struct world *world, uint32_t a, uint32_t b)
{
	unsigned segments = (unsigned)draw_between(1, MOST_SEGMENTS), n;
	nsec_t at = world->now, sent_at[MOST_SEGMENTS];
	bool whole = draw() % 2;
	struct packet packet;

	for (unsigned i = 0; i < segments; i += n) {
		n = whole ? segments : 1;
		packet = burst(a, b, world, i, n);
		at = note(world, a, &packet, at, false);
		for (unsigned k = i; k < i + n; k++)
			sent_at[k] = at;
		at += 300 + (nsec_t)draw_exponential(20000);
	}
	for (unsigned i = 0; i < segments; i += n) {
		n = (unsigned)draw_between(1, segments - i);
		packet = burst(a, b, world, i, n);
		if (draw() % 10)
			receive(world, b, &packet, sent_at + i, n);
		if (draw() % 10 == 0)
			repeat(world, a, b, packet, at);
	}
	world->seq[a][b] += segments * SEGMENT;
	world->id += MOST_SEGMENTS;
}

static void act(struct world *world)
{
	static void (*const kind[])(struct world *, uint32_t, uint32_t) = {
	    act_udp, act_forward, act_acknowledge, act_tcp, act_tcp};
	uint32_t a = (uint32_t)draw_between(0, HOSTS - 1);
	uint32_t b = (a + (uint32_t)draw_between(1, HOSTS - 1)) % HOSTS;

	world->now += (nsec_t)draw_exponential(20000);
	kind[draw() % 5](world, a, b);
}

static int by_reading(const void *a, const void *b, void *context)
{
	const struct seen_packet *p = a, *q = b;
	const struct world *world = context;
	nsec_t p_ns = p->packet_event.ns + world->lag[p->source];
	nsec_t q_ns = q->packet_event.ns + world->lag[q->source];

	return (p_ns > q_ns) - (p_ns < q_ns);
}

/* Sort by when they are read, and note again whose each stamp is. */
static void order(struct world *world)
{
	qsort_r(world->seen, world->count, sizeof(*world->seen), by_reading, world);
	for (size_t i = 0; i < world->count; i++) {
		const struct packet_event *packet_event = &world->seen[i].packet_event;

		intmap_put(&world->stamps, (uint64_t)packet_event->ns, (int64_t)i);
		intmap_put(&world->stamps, (uint64_t)packet_event->whole_ns, (int64_t)i);
	}
}

static struct seen_packet *of_stamp(struct world *world, nsec_t ns)
{
	int64_t at;

	assert_true(intmap_get(&world->stamps, (uint64_t)ns, &at));
	world->seen[at].used = true;
	return &world->seen[at];
}

static void check_messages(struct world *world)
{
	const struct clock_matching *counts = matcher_counts(bench.matcher);
	size_t used = 0;

	for (size_t i = 0; i < bench.count; i++) {
		const struct flat *message = &bench.message[i];
		struct seen_packet *from = of_stamp(world, message->send_ns);
		struct seen_packet *to = of_stamp(world, message->recv_ns);

		assert_true(message->recv_ns > message->send_ns);
		assert_true(from->source == message->from && to->source == message->to);
		assert_true(!from->packet_event.received && to->packet_event.received);
		assert_true(from->source != to->source);
	}
	for (size_t i = 0; i < world->count; i++)
		used += world->seen[i].used;
	assert_int_equal(counts->sent + counts->received, world->count);
	assert_int_equal(used + counts->inside + counts->ambiguous +
			     counts->unmatched_sent + counts->unmatched_received,
			 world->count);
	assert_true(bench.count >= world->delivered);
}

static void check_world(size_t in_flight)
{
	struct world world = {.now = 1000};

	for (size_t i = 0; i < HOSTS; i++)
		world.lag[i] = draw_between(0, 300000);
	for (size_t i = 0; i < HOSTS * HOSTS; i++)
		world.seq[i / HOSTS][i % HOSTS] =
		    UINT32_MAX - (uint32_t)(draw() % 500000);
	for (int i = 0; i < ACTIONS; i++)
		act(&world);
	order(&world);
	bench_init(in_flight);
	for (size_t i = 0; i < world.count; i++)
		see(world.seen[i].source, &world.seen[i].packet_event);
	bench_finish();
	check_messages(&world);
	intmap_clear(&world.stamps);
	free(world.seen);
}

MATCH_TEST(messages_are_received_after_they_are_sent)
{
	for (int i = 0; i < 10; i++)
		check_world(1 << 18);
}

MATCH_TEST(a_tight_limit_costs_no_truth)
{
	for (int i = 0; i < 10; i++)
		check_world(1000);
}
