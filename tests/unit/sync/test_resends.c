/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/resends.h"

#include <netinet/in.h>

#include "../scratch.h"

enum { SYN = 2, ACK = 16, TRACE = 7, STREAM = 3 };

struct sent {
	nsec_t ns; /* the ordinal as well */
	uint32_t seq, payload;
	uint8_t flags, hops;
	uint32_t id;
	nsec_t first_ns; /* that is expected; 0: none */
};

static struct packet_event event_of(const struct sent *sent, uint16_t port)
{
	return (struct packet_event){
	    .packet = {.known = PACKET_NETWORK | PACKET_TRANSPORT,
		       .family = 4,
		       .protocol = IPPROTO_TCP,
		       .flags = sent->flags,
		       .id = sent->id,
		       .sport = port,
		       .seq = sent->seq,
		       .payload = sent->payload},
	    .ns = sent->ns,
	    .hops = sent->hops,
	    .stream = STREAM,
	    .ordinal = (uint64_t)sent->ns};
}

static void check(const struct sent *sent, size_t count)
{
	struct resends *resends = resends_new();

	for (size_t i = 0; i < count; i++) {
		/* Other ports and another source know nothing of it. */
		for (uint16_t other = 0; other < 3; other++) {
			struct packet_event event = event_of(&sent[i], other / 2);
			struct sent_place first =
			    resends_add(resends, other == 1, TRACE, &event);

			if (!sent[i].first_ns) {
				assert_true(first.ns == NSEC_MAX);
				continue;
			}
			assert_int_equal(first.ns, sent[i].first_ns);
			assert_int_equal(first.ordinal, sent[i].first_ns);
			assert_int_equal(first.trace_index, TRACE);
			assert_int_equal(first.stream, STREAM);
		}
	}
	resends_free(resends);
}

#define S(n) ((n)*NSEC_PER_SEC)
#define CHECK(...)                                                                       \
	do {                                                                             \
		const struct sent sent_[] = {__VA_ARGS__};                               \
		check(sent_, sizeof(sent_) / sizeof(*sent_));                            \
	} while (0)

TEST(data_sent_again_has_its_first_send)
{
	CHECK({S(1), 1000, 0, SYN, 64, 1, 0}, {S(2), 1000, 0, SYN, 64, 2, S(1)},
	      {S(4), 1000, 0, SYN, 64, 3, S(1)}, {S(5), 1001, 100, ACK, 64, 4, 0},
	      {S(6), 1101, 100, ACK, 64, 5, 0}, {S(7), 1101, 0, ACK, 64, 6, 0},
	      {S(8), 1151, 20, ACK, 64, 7, S(6)}, {S(9), 1001, 200, ACK, 64, 8, S(5)},
	      {S(10), 1190, 50, ACK, 64, 9, S(6)}, {S(11), 1220, 20, ACK, 64, 10, S(10)},
	      /* The ports again, by another connection. */
	      {S(20), 5000, 0, SYN, 64, 11, 0}, {S(21), 1001, 100, ACK, 64, 12, 0});
}

TEST(numbers_wrap_around)
{
	CHECK({S(1), UINT32_MAX - 49, 100, ACK, 64, 1, 0}, {S(2), 50, 10, ACK, 64, 2, 0},
	      {S(3), UINT32_MAX, 1, ACK, 64, 3, S(1)}, {S(4), 55, 1, ACK, 64, 4, S(2)});
}

/* One packet passes several devices of its host. */
TEST(a_packet_that_is_passed_on_is_not_sent_again)
{
	const nsec_t soon = S(1) + NSEC_PER_USEC;

	CHECK({S(1), 1000, 10, ACK, 64, 9, 0}, {soon, 1000, 10, ACK, 63, 9, 0},
	      {S(2), 1000, 10, ACK, 64, 10, S(1)},
	      {S(2) + 1, 1000, 10, ACK, 63, 10, S(1)});
	CHECK({S(1), 1000, 10, ACK, 64, 0, 0}, {soon, 1000, 10, ACK, 64, 0, 0},
	      {S(2), 1000, 10, ACK, 63, 0, 0}, {S(3), 1000, 10, ACK, 64, 0, S(1)});
}

/* A packet that was sent while its host was not recorded may have been the first. */
TEST(what_was_not_seen_is_unknown)
{
	CHECK({S(1), 1000, 10, ACK, 64, 1, 0}, {S(2), 1020, 10, ACK, 64, 2, 0},
	      {S(3), 1010, 20, ACK, 64, 3, 0}, {S(4), 900, 200, ACK, 64, 4, 0},
	      {S(5), 1005, 1, ACK, 64, 5, S(1)});
}

TEST(few_sends_are_remembered)
{
	struct resends *resends = resends_new();
	uint32_t known = 0;

	for (uint32_t i = 0; i < 3 * RESENDS_REMEMBERED; i++) {
		struct packet_event event =
		    event_of(&(struct sent){S(i + 1), i, 1, ACK, 64, i + 1, 0}, 1);

		assert_true(resends_add(resends, 0, TRACE, &event).ns == NSEC_MAX);
	}
	for (uint32_t i = 0; i < 3 * RESENDS_REMEMBERED; i++) {
		struct packet_event event =
		    event_of(&(struct sent){S(99999), i, 1, ACK, 64, 99999, 0}, 1);
		nsec_t first = resends_add(resends, 0, TRACE, &event).ns;

		assert_true(first == NSEC_MAX || first == S(i + 1));
		known += first != NSEC_MAX;
	}
	assert_in_range(known, RESENDS_REMEMBERED / 2, RESENDS_REMEMBERED);
	resends_free(resends);
}
