/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_BENCH_H
#define CT_TEST_BENCH_H

/*
 * A matcher with all that it needs, packets to feed it, and its messages laid
 * out flat, by the times at which they were sent and received.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "base/mem.h"
#include "sync/match/match.h"

struct flat {
	uint32_t from, to;
	nsec_t send_ns, recv_ns;
};

struct bench {
	struct matcher *matcher;
	struct flat *message; /* after bench_finish, by the times of sending */
	size_t count, capacity;
};

enum { BENCH_LIMIT = 1000 }; /* packets in flight */

static struct bench bench;

static inline void bench_clear(void)
{
	matcher_free(bench.matcher);
	free(bench.message);
	memset(&bench, 0, sizeof(bench));
}

/* Start again with an empty matcher; `host_of_clock` may be NULL. */
static inline void bench_init_hosts(size_t in_flight, const uint32_t *host_of_clock)
{
	bench_clear();
	bench.matcher = matcher_new(host_of_clock, in_flight, false);
}

static inline void bench_init(size_t in_flight)
{
	bench_init_hosts(in_flight, NULL);
}

static inline int bench_set_up(void **state __attribute__((unused)))
{
	bench_init(BENCH_LIMIT);
	return 0;
}

static inline int bench_tear_down(void **state __attribute__((unused)))
{
	bench_clear();
	return 0;
}

/* A test that begins with an empty matcher. */
#define MATCH_TEST(name) FIXTURE_TEST(name, bench_set_up, bench_tear_down)

/* TCP from 10.0.0.1:1000 to 10.0.0.2:2000 with 20 + 20 bytes of headers. */
static inline struct packet tcp(uint32_t seq, uint32_t payload, uint32_t id)
{
	return (struct packet){
	    .known = PACKET_NETWORK | PACKET_TRANSPORT,
	    .family = 4,
	    .protocol = IPPROTO_TCP,
	    .flags = 0x10,
	    .src = {10, 0, 0, 1},
	    .dst = {10, 0, 0, 2},
	    .id = id,
	    .length = payload + 40,
	    .sport = 1000,
	    .dport = 2000,
	    .window = 501,
	    .seq = seq,
	    .ack = 77,
	    .payload = payload,
	};
}

static inline struct packet udp(uint32_t id)
{
	return (struct packet){
	    .known = PACKET_NETWORK | PACKET_TRANSPORT,
	    .family = 4,
	    .protocol = IPPROTO_UDP,
	    .src = {10, 0, 0, 1},
	    .dst = {10, 0, 0, 2},
	    .id = id,
	    .length = 128,
	    .sport = 53,
	    .dport = 5353,
	    .udp_length = 108,
	};
}

/* Messages that were found since the last call are laid flat. */
static inline void bench_take(void)
{
	struct match_output *output = matcher_output(bench.matcher);

	for (size_t i = 0; i < output->messages; i++) {
		const struct matched *one = &output->message[i];

		*MEM_NEXT(bench.message, bench.count, bench.capacity) = (struct flat){
		    one->from_clock, one->to_clock, one->send_ns, one->recv_ns};
	}
	output->messages = 0;
}

static inline void see(uint32_t clock_index, const struct packet_event *packet_event)
{
	matcher_add(bench.matcher, clock_index, clock_index, packet_event);
	bench_take();
}

static inline void sent(uint32_t clock_index, struct packet packet, nsec_t ns)
{
	see(clock_index,
	    &(struct packet_event){.packet = packet, .ns = ns, .whole_ns = ns});
}

static inline void received(uint32_t clock_index, struct packet packet, nsec_t ns)
{
	see(clock_index,
	    &(struct packet_event){
		.packet = packet, .ns = ns, .whole_ns = ns, .received = true});
}

static inline int flat_compare(const void *a, const void *b)
{
	const struct flat *p = a, *q = b;

	if (p->send_ns != q->send_ns)
		return p->send_ns < q->send_ns ? -1 : 1;
	if (p->recv_ns != q->recv_ns)
		return p->recv_ns < q->recv_ns ? -1 : 1;
	if (p->from != q->from)
		return p->from < q->from ? -1 : 1;
	return (p->to > q->to) - (p->to < q->to);
}

static inline void bench_finish(void)
{
	while (matcher_finish(bench.matcher))
		bench_take();
	if (bench.count)
		qsort(bench.message, bench.count, sizeof(*bench.message), flat_compare);
	assert_int_equal(matcher_counts(bench.matcher)->matched, bench.count);
}

/* Finish, and expect these messages, by the time at which they were sent. */
static inline void assert_messages(const struct flat *wanted, size_t count)
{
	bench_finish();
	for (size_t i = 0; i < count && i < bench.count; i++) {
		assert_int_equal(bench.message[i].send_ns, wanted[i].send_ns);
		assert_int_equal(bench.message[i].recv_ns, wanted[i].recv_ns);
		assert_int_equal(bench.message[i].from, wanted[i].from);
		assert_int_equal(bench.message[i].to, wanted[i].to);
	}
	assert_int_equal(bench.count, count);
}

#define MESSAGES(...)                                                                    \
	assert_messages((const struct flat[]){__VA_ARGS__},                              \
			sizeof((const struct flat[]){__VA_ARGS__}) /                     \
			    sizeof(struct flat))

/* Check the counts of packets that are no part of a message. */
static inline void assert_left(uint64_t unmatched_sent, uint64_t unmatched_received,
			       uint64_t ambiguous)
{
	const struct clock_matching *counts = matcher_counts(bench.matcher);

	assert_int_equal(counts->unmatched_sent, unmatched_sent);
	assert_int_equal(counts->unmatched_received, unmatched_received);
	assert_int_equal(counts->ambiguous, ambiguous);
}

#endif
