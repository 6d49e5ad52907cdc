/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/trace_sends.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

enum { ETH0 = 1, ETH1 = 2 };

/* What was given, in order. */
struct given {
	struct trace_sends sends;
	struct sighting *item;
	size_t count, room;
};

static void take(void *context, const struct sighting *sighting)
{
	struct given *given = context;

	given->item =
	    mem_grow(given->item, given->count, &given->room, sizeof(*given->item));
	given->item[given->count++] = *sighting;
}

static void given_init(struct given *given, bool has_xmit)
{
	memset(given, 0, sizeof(*given));
	trace_sends_init(&given->sends, take, given);
	given->sends.has_xmit = has_xmit;
}

/* Of a send that nobody saw being handed over. */
#define UNKNOWN NSEC_MAX

static void given_clear(struct given *given)
{
	trace_sends_clear(&given->sends);
	free(given->item);
}

static void queued(struct given *given, uint64_t skb, uint32_t device, nsec_t ns)
{
	const struct sighting sighting = {.packet = {.id = (uint32_t)skb},
					  .ns = ns,
					  .whole_ns = UNKNOWN,
					  .device = device};

	trace_sends_queued(&given->sends, skb, &sighting);
}

static void transmitted(struct given *given, uint64_t skb, uint32_t device, unsigned cpu,
			nsec_t ns)
{
	trace_sends_transmitted(&given->sends, skb, device, cpu, ns, true);
}

/* The n-th one given is that packet, sent not before the one and not after the other. */
static void assert_given(const struct given *given, size_t n, uint32_t id, nsec_t ns,
			 nsec_t whole_ns)
{
	assert_true(given->count > n);
	assert_int_equal(given->item[n].packet.id, id);
	assert_int_equal(given->item[n].ns, ns);
	assert_int_equal(given->item[n].whole_ns, whole_ns);
	assert_false(given->item[n].received);
}

static void without_transmissions_queueing_is_all(void **state)
{
	struct given given;

	(void)state;
	given_init(&given, false);
	queued(&given, 1, ETH0, 10);
	assert_int_equal(given.count, 1);
	assert_given(&given, 0, 1, 10, UNKNOWN);
	trace_sends_flush(&given.sends);
	assert_int_equal(given.count, 1);
	given_clear(&given);
}

/* A packet left no sooner than the one before it on its CPU and device. */
static void a_send_is_after_the_transmission_before(void **state)
{
	struct given given;

	(void)state;
	given_init(&given, true);
	queued(&given, 1, ETH0, 10);
	queued(&given, 2, ETH0, 11);
	queued(&given, 3, ETH0, 60);
	assert_int_equal(given.count, 0);
	transmitted(&given, 1, ETH0, 0, 20);
	transmitted(&given, 2, ETH0, 0, 30);
	transmitted(&given, 3, ETH0, 0, 70);
	assert_int_equal(given.count, 3);
	assert_given(&given, 0, 1, 10, 20);
	assert_given(&given, 1, 2, 20, 30);
	assert_given(&given, 2, 3, 60, 70); /* it was queued when all had left */
	given_clear(&given);
}

static void other_cpus_and_devices_do_not_count(void **state)
{
	struct given given;

	(void)state;
	given_init(&given, true);
	queued(&given, 1, ETH0, 10);
	queued(&given, 2, ETH0, 11);
	queued(&given, 3, ETH1, 12);
	queued(&given, 4, ETH1, 13);
	transmitted(&given, 1, ETH0, 0, 20);
	transmitted(&given, 2, ETH0, 1, 30);
	transmitted(&given, 3, ETH1, 0, 40);
	transmitted(&given, 4, ETH1, 0, 50);
	assert_given(&given, 1, 2, 11, 30);
	assert_given(&given, 2, 3, 12, 40);
	assert_given(&given, 3, 4, 40, 50);
	given_clear(&given);
}

/* Also those that nobody saw being queued tell that the lane was busy. */
static void unknown_transmissions_count(void **state)
{
	struct given given;

	(void)state;
	given_init(&given, true);
	queued(&given, 1, ETH0, 10);
	transmitted(&given, 99, ETH0, 0, 20);
	transmitted(&given, 1, ETH0, 0, 30);
	assert_int_equal(given.count, 1);
	assert_given(&given, 0, 1, 20, 30);
	given_clear(&given);
}

static void a_refused_packet_waits_on(void **state)
{
	struct given given;

	(void)state;
	given_init(&given, true);
	queued(&given, 1, ETH0, 10);
	trace_sends_transmitted(&given.sends, 1, ETH0, 0, 20, false);
	assert_int_equal(given.count, 0);
	transmitted(&given, 1, ETH0, 0, 30);
	assert_given(&given, 0, 1, 20, 30);
	given_clear(&given);
}

static void another_devices_transmission_is_not_its_own(void **state)
{
	struct given given;

	(void)state;
	given_init(&given, true);
	queued(&given, 1, ETH0, 10);
	transmitted(&given, 1, ETH1, 0, 20);
	assert_int_equal(given.count, 0);
	trace_sends_flush(&given.sends);
	assert_given(&given, 0, 1, 10, UNKNOWN);
	given_clear(&given);
}

/* Through a bond or a tunnel: each device has its sighting, none is lost. */
static void a_buffer_queued_twice_is_two_sends(void **state)
{
	struct given given;

	(void)state;
	given_init(&given, true);
	queued(&given, 1, ETH0, 10);
	queued(&given, 1, ETH1, 12);
	assert_int_equal(given.count, 1);
	assert_given(&given, 0, 1, 10, UNKNOWN);
	transmitted(&given, 1, ETH1, 0, 20);
	assert_int_equal(given.count, 2);
	assert_given(&given, 1, 1, 12, 20);
	assert_int_equal(given.item[1].device, ETH1);
	/* A buffer is used again for the next packet. */
	queued(&given, 1, ETH0, 40);
	transmitted(&given, 1, ETH0, 0, 50);
	assert_given(&given, 2, 1, 40, 50);
	given_clear(&given);
}

/* A stamp that went backwards must not move a send before its queueing. */
static void a_transmission_from_the_future_is_no_bound(void **state)
{
	struct given given;

	(void)state;
	given_init(&given, true);
	transmitted(&given, 99, ETH0, 0, 1000);
	queued(&given, 1, ETH0, 10);
	transmitted(&given, 1, ETH0, 0, 30);
	assert_given(&given, 0, 1, 10, 30);
	given_clear(&given);
}

static void too_many_are_let_go(void **state)
{
	enum { MANY = 200000 };
	struct given given;

	(void)state;
	given_init(&given, true);
	for (uint64_t i = 0; i < MANY; i++)
		queued(&given, i, ETH0, (nsec_t)i);
	assert_true(given.count > 0);
	assert_true(given.sends.waitings <= MANY / 2);
	trace_sends_flush(&given.sends);
	assert_int_equal(given.count, MANY);
	/* Nothing is given twice, nor again. */
	for (uint64_t i = 0; i < MANY; i++)
		transmitted(&given, i, ETH0, 0, (nsec_t)(MANY + i));
	trace_sends_flush(&given.sends);
	assert_int_equal(given.count, MANY);
	given_clear(&given);
}

static void a_flush_gives_what_waits(void **state)
{
	struct given given;

	(void)state;
	given_init(&given, true);
	queued(&given, 1, ETH0, 10);
	queued(&given, 2, ETH0, 11);
	transmitted(&given, 1, ETH0, 0, 20);
	trace_sends_flush(&given.sends);
	assert_int_equal(given.count, 2);
	assert_given(&given, 1, 2, 11, UNKNOWN);
	trace_sends_flush(&given.sends);
	assert_int_equal(given.count, 2);
	queued(&given, 3, ETH0, 30);
	transmitted(&given, 3, ETH0, 0, 40);
	assert_given(&given, 2, 3, 30, 40);
	given_clear(&given);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(without_transmissions_queueing_is_all),
	    cmocka_unit_test(a_send_is_after_the_transmission_before),
	    cmocka_unit_test(other_cpus_and_devices_do_not_count),
	    cmocka_unit_test(unknown_transmissions_count),
	    cmocka_unit_test(a_refused_packet_waits_on),
	    cmocka_unit_test(another_devices_transmission_is_not_its_own),
	    cmocka_unit_test(a_buffer_queued_twice_is_two_sends),
	    cmocka_unit_test(a_transmission_from_the_future_is_no_bound),
	    cmocka_unit_test(too_many_are_let_go),
	    cmocka_unit_test(a_flush_gives_what_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
