/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/trace_packets.h"
#include "made_up_trace.h"

/* When packets left: net_dev_queue and net_dev_xmit, and what sends become of them. */

/* Of a send that nobody saw being handed over. */
#define UNKNOWN NSEC_MAX

static void queued(uint64_t skb, const char *device, nsec_t ns)
{
	add_packet(CLASS_QUEUE, skb, device, ns);
}

static void transmitted(uint64_t skb, const char *device, unsigned cpu, nsec_t ns)
{
	add_xmit(skb, device, ns, 0);
	trace.event[trace.events - 1].stream = cpu;
}

static struct seen read_sends(size_t count)
{
	struct seen seen;

	read_trace(&seen);
	assert_int_equal(seen.count, count);
	for (size_t i = 0; i < count; i++)
		assert_false(seen.item[i].received);
	return seen;
}

FIXTURE_TEST(without_transmissions_queueing_is_all, forget, NULL)
{
	struct seen seen;

	queued(1, "eth0", 10);
	seen = read_sends(1);
	assert_seen(&seen, 0, 1, 10, UNKNOWN);
}

/* A packet left no sooner than the one before it on its CPU and device. */
FIXTURE_TEST(a_send_is_after_the_transmission_before, forget, NULL)
{
	struct seen seen;

	queued(1, "eth0", 10);
	queued(2, "eth0", 11);
	queued(3, "eth0", 60);
	transmitted(1, "eth0", 0, 20);
	transmitted(2, "eth0", 0, 30);
	transmitted(3, "eth0", 0, 70);
	seen = read_sends(3);
	assert_seen(&seen, 0, 1, 10, 20);
	assert_seen(&seen, 1, 2, 20, 30);
	assert_seen(&seen, 2, 3, 60, 70); /* it was queued when all had left */
}

FIXTURE_TEST(other_cpus_and_devices_do_not_count, forget, NULL)
{
	struct seen seen;

	queued(1, "eth0", 10);
	queued(2, "eth0", 11);
	queued(3, "eth1", 12);
	queued(4, "eth1", 13);
	transmitted(1, "eth0", 0, 20);
	transmitted(2, "eth0", 1, 30);
	transmitted(3, "eth1", 0, 40);
	transmitted(4, "eth1", 0, 50);
	seen = read_sends(4);
	assert_seen(&seen, 1, 2, 11, 30);
	assert_seen(&seen, 2, 3, 12, 40);
	assert_seen(&seen, 3, 4, 40, 50);
}

/* Also those that nobody saw being queued tell that the lane was busy. */
FIXTURE_TEST(unknown_transmissions_count, forget, NULL)
{
	struct seen seen;

	queued(1, "eth0", 10);
	transmitted(99, "eth0", 0, 20);
	transmitted(1, "eth0", 0, 30);
	seen = read_sends(1);
	assert_seen(&seen, 0, 1, 20, 30);
}

FIXTURE_TEST(a_refused_packet_waits_on, forget, NULL)
{
	struct seen seen;

	queued(1, "eth0", 10);
	add_xmit(1, "eth0", 20, 16);
	transmitted(1, "eth0", 0, 30);
	seen = read_sends(1);
	assert_seen(&seen, 0, 1, 20, 30);
}

FIXTURE_TEST(another_devices_transmission_is_not_its_own, forget, NULL)
{
	struct seen seen;

	queued(1, "eth0", 10);
	transmitted(1, "eth1", 0, 20);
	seen = read_sends(1);
	assert_seen(&seen, 0, 1, 10, UNKNOWN);
}

/* Through a bond or a tunnel: each device has its packet event, none is lost. */
FIXTURE_TEST(a_buffer_queued_twice_is_two_sends, forget, NULL)
{
	struct seen seen;

	queued(1, "eth0", 10);
	queued(1, "eth1", 12);
	transmitted(1, "eth1", 0, 20);
	/* A buffer is used again for the next packet. */
	queued(1, "eth0", 40);
	transmitted(1, "eth0", 0, 50);
	seen = read_sends(3);
	assert_seen(&seen, 0, 1, 10, UNKNOWN);
	assert_seen(&seen, 1, 1, 12, 20);
	assert_int_not_equal(seen.item[1].device, seen.item[0].device);
	assert_seen(&seen, 2, 1, 40, 50);
}

/* A stamp that went backwards must not move a send before its queueing. */
FIXTURE_TEST(a_transmission_from_the_future_is_no_bound, forget, NULL)
{
	struct seen seen;

	transmitted(99, "eth0", 0, 1000);
	queued(1, "eth0", 10);
	transmitted(1, "eth0", 0, 30);
	seen = read_sends(1);
	assert_seen(&seen, 0, 1, 10, 30);
}

FIXTURE_TEST(what_waits_at_the_end_is_given, forget, NULL)
{
	struct seen seen;

	queued(1, "eth0", 10);
	queued(2, "eth0", 11);
	transmitted(1, "eth0", 0, 20);
	seen = read_sends(2);
	assert_seen(&seen, 1, 2, 11, UNKNOWN);
}

struct counted {
	size_t count;
	nsec_t sum_ns;
};

static void count_send(void *context, const struct packet_event *packet_event)
{
	struct counted *counted = context;

	counted->sum_ns += packet_event->ns;
	counted->count++;
}

/* Each once. */
FIXTURE_TEST(too_many_are_let_go, forget, NULL)
{
	enum { MANY = 200000 };
	struct counted counted = {0, 0};
	struct error error = ERROR_INIT;
	struct packet_source *source;

	transmitted(0, "eth0", 0, 1);
	queued(1, "eth0", 2);
	trace.again = MANY - 1;
	source = trace_packets_open("made-up", &error);
	while (packet_source_step(source, count_send, &counted))
		if (counted.count == 0)
			assert_true(trace.again > MANY / 2);
	assert_int_equal(counted.count, MANY);
	assert_int_equal(counted.sum_ns, (nsec_t)MANY * (MANY + 3) / 2);
	packet_source_free(source);
}
