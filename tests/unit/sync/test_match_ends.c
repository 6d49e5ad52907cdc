/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Messages name the packet events that they were made of. */
#include "bench.h"

#include "sync/match/matcher_private.h"

#define LATER (2 * NSEC_PER_SEC)

enum { MANY = 1000, MOST = 64, TRACE_0 = 100 };

struct ends {
	struct matcher *matcher;
	struct packet_event seen[MOST]; /* by ordinal */
	uint32_t clock_index[MOST];
	size_t seens;
	struct message_ends told[MOST];
	size_t tolds;
};

static void ends_init(struct ends *ends, size_t in_flight)
{
	memset(ends, 0, sizeof(*ends));
	ends->matcher = matcher_new(NULL, in_flight, true);
}

/* Clocks have two traces each. */
static uint32_t trace_of(uint32_t clock_index, uint64_t ordinal)
{
	return TRACE_0 + 2 * clock_index + ordinal % 2;
}

static void check_end(const struct ends *ends, const struct messages_end *end,
		      bool is_received)
{
	const struct packet_event *seen = &ends->seen[end->ordinal];

	assert_true(end->ordinal < ends->seens);
	assert_int_equal(seen->received, is_received);
	assert_int_equal(end->stream, seen->stream);
	assert_int_equal(end->source,
			 trace_of(ends->clock_index[end->ordinal], end->ordinal));
	assert_true(end->local_ns == seen->ns || end->local_ns == seen->whole_ns);
}

/* Each message has its ends, of its stamps. */
static void take(struct ends *ends)
{
	struct match_output *output = matcher_output(ends->matcher);

	assert_int_equal(output->ends_count, output->messages);
	for (size_t i = 0; i < output->messages; i++) {
		const struct message_ends *told = &output->ends[i];

		assert_int_equal(told->send.local_ns, output->message[i].send_ns);
		assert_int_equal(told->recv.local_ns, output->message[i].recv_ns);
		check_end(ends, &told->send, false);
		check_end(ends, &told->recv, true);
		assert_memory_equal(&told->packet, &ends->seen[told->recv.ordinal].packet,
				    sizeof(told->packet));
		ends->told[ends->tolds++] = *told;
	}
	output->messages = output->ends_count = 0;
}

static void saw(struct ends *ends, uint32_t clock_index, bool is_received,
		struct packet packet, nsec_t ns)
{
	struct packet_event packet_event = {.packet = packet,
					    .ns = ns,
					    .whole_ns = ns + is_received,
					    .received = is_received,
					    .stream = (uint32_t)(ns % 4),
					    .ordinal = ends->seens};

	ends->seen[ends->seens] = packet_event;
	ends->clock_index[ends->seens++] = clock_index;
	matcher_add(ends->matcher, clock_index,
		    trace_of(clock_index, packet_event.ordinal), &packet_event);
	take(ends);
}

static void ends_check(struct ends *ends, size_t messages)
{
	while (matcher_finish(ends->matcher))
		take(ends);
	assert_int_equal(ends->tolds, messages);
	matcher_free(ends->matcher);
}

TEST(of_packets_that_are_the_same_on_both_sides)
{
	struct ends ends;

	ends_init(&ends, MANY);
	saw(&ends, 0, false, udp(1), 10);
	saw(&ends, 1, true, udp(1), 20);
	saw(&ends, 0, true, udp(2), 30);
	saw(&ends, 1, false, udp(2), 40);
	/* The first ones of repeats count. */
	saw(&ends, 0, false, udp(3), LATER + 50);
	saw(&ends, 0, false, udp(3), LATER + 51);
	saw(&ends, 1, true, udp(3), LATER + 52);
	saw(&ends, 1, true, udp(3), LATER + 53);
	ends_check(&ends, 3);
	assert_int_equal(ends.told[2].send.ordinal, 4);
	assert_int_equal(ends.told[2].recv.ordinal, 6);
}

TEST(of_packets_that_many_saw)
{
	struct ends ends;

	ends_init(&ends, MANY);
	for (uint32_t id = 0; id < 3; id++) {
		saw(&ends, 0, false, udp(id), 10 + id);
		for (uint32_t source = 1; source < 10; source++)
			saw(&ends, source, true, udp(id), 20 + 10 * source + id);
	}
	ends_check(&ends, 27);
}

TEST(of_data_that_was_cut_or_merged)
{
	struct ends ends;

	ends_init(&ends, MANY);
	saw(&ends, 0, false, tcp(5000, 3000, 1), 10);
	saw(&ends, 1, true, tcp(5000, 1448, 1), 20);
	saw(&ends, 1, true, tcp(6448, 1448, 2), 21);
	saw(&ends, 1, true, tcp(7896, 104, 3), 22);
	saw(&ends, 0, false, tcp(8000, 1000, 4), 30);
	saw(&ends, 0, false, tcp(9000, 1000, 5), 31);
	saw(&ends, 1, true, tcp(8000, 2000, 6), 40);
	ends_check(&ends, 5);
	assert_int_equal(ends.told[2].send.ordinal, 0);
	assert_int_equal(ends.told[4].send.ordinal, 5);
	assert_int_equal(ends.told[4].recv.local_ns, 41);
}

TEST(of_translated_addresses)
{
	struct packet inside = tcp(1, 10, 1), outside = inside;
	struct ends ends;

	outside.src[3] = 99;
	ends_init(&ends, MANY);
	saw(&ends, 0, false, inside, 10);
	saw(&ends, 1, true, outside, 20);
	ends_check(&ends, 1);
	assert_int_equal(ends.told[0].packet.src[3], 99);
}

/* Entries are used again; nothing of the one before is left. */
TEST(with_few_in_flight)
{
	struct ends ends;

	ends_init(&ends, 2);
	for (uint32_t id = 0; id < 10; id++) {
		saw(&ends, id % 3, false, udp(id), 10 * id);
		saw(&ends, (id + 1) % 3, true, udp(id), 10 * id + 5);
		saw(&ends, (id + 2) % 3, true, udp(id), 10 * id + 6);
		saw(&ends, 0, false, udp(100 + id), 10 * id + 7);
	}
	ends_check(&ends, 20);
}

TEST(nobody_asks_and_nothing_is_kept)
{
	/* docs/architecture.md states both. */
	assert_int_equal(sizeof(struct entry), 320);
	assert_int_equal(SEEN_INLINE * sizeof(struct seen_origin), 160);
}
