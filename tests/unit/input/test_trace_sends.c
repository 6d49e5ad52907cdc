/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/trace_packets.h"
#include "made_up_trace.h"

/* When packets left: net_dev_queue and net_dev_xmit, and what sends become of them. */

/* A send that nobody saw being handed over. */
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

static void read_sends(size_t count)
{
	read_trace();
	assert_int_equal(seen.count, count);
	for (size_t i = 0; i < count; i++)
		assert_false(seen.item[i].received);
}

PACKETS_TEST(without_transmissions_queueing_is_all)
{
	queued(1, "eth0", 10);
	read_sends(1);
	assert_seen(0, 1, 10, UNKNOWN);
}

/* A packet left no sooner than the one before it on its CPU and device. */
PACKETS_TEST(a_send_is_after_the_transmission_before)
{
	queued(1, "eth0", 10);
	queued(2, "eth0", 11);
	queued(3, "eth0", 60);
	transmitted(1, "eth0", 0, 20);
	transmitted(2, "eth0", 0, 30);
	transmitted(3, "eth0", 0, 70);
	read_sends(3);
	assert_seen(0, 1, 10, 20);
	assert_seen(1, 2, 20, 30);
	assert_seen(2, 3, 60, 70); /* it was queued when all had left */
}

PACKETS_TEST(other_cpus_and_devices_do_not_count)
{
	queued(1, "eth0", 10);
	queued(2, "eth0", 11);
	queued(3, "eth1", 12);
	queued(4, "eth1", 13);
	transmitted(1, "eth0", 0, 20);
	transmitted(2, "eth0", 1, 30);
	transmitted(3, "eth1", 0, 40);
	transmitted(4, "eth1", 0, 50);
	read_sends(4);
	assert_seen(1, 2, 11, 30);
	assert_seen(2, 3, 12, 40);
	assert_seen(3, 4, 40, 50);
}

/* Also those that nobody saw being queued tell that the lane was busy. */
PACKETS_TEST(unknown_transmissions_count)
{
	queued(1, "eth0", 10);
	transmitted(99, "eth0", 0, 20);
	transmitted(1, "eth0", 0, 30);
	read_sends(1);
	assert_seen(0, 1, 20, 30);
}

PACKETS_TEST(a_refused_packet_waits_on)
{
	queued(1, "eth0", 10);
	add_xmit(1, "eth0", 20, 16);
	transmitted(1, "eth0", 0, 30);
	read_sends(1);
	assert_seen(0, 1, 20, 30);
}

PACKETS_TEST(another_devices_transmission_is_not_its_own)
{
	queued(1, "eth0", 10);
	transmitted(1, "eth1", 0, 20);
	read_sends(1);
	assert_seen(0, 1, 10, UNKNOWN);
}

/* Through a bond or a tunnel: each device has its packet event, none is lost. */
PACKETS_TEST(a_buffer_queued_twice_is_two_sends)
{
	queued(1, "eth0", 10);
	queued(1, "eth1", 12);
	transmitted(1, "eth1", 0, 20);
	/* A buffer is used again for the next packet. */
	queued(1, "eth0", 40);
	transmitted(1, "eth0", 0, 50);
	read_sends(3);
	assert_seen(0, 1, 10, UNKNOWN);
	assert_seen(1, 1, 12, 20);
	assert_int_not_equal(seen.item[1].device, seen.item[0].device);
	assert_seen(2, 1, 40, 50);
}

/* A stamp that went backwards must not move a send before its queueing. */
PACKETS_TEST(a_transmission_from_the_future_is_no_bound)
{
	transmitted(99, "eth0", 0, 1000);
	queued(1, "eth0", 10);
	transmitted(1, "eth0", 0, 30);
	read_sends(1);
	assert_seen(0, 1, 10, 30);
}

PACKETS_TEST(what_waits_at_the_end_is_given)
{
	queued(1, "eth0", 10);
	queued(2, "eth0", 11);
	transmitted(1, "eth0", 0, 20);
	read_sends(2);
	assert_seen(1, 2, 11, UNKNOWN);
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
PACKETS_TEST(too_many_are_let_go)
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
