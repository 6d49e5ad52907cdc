/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/trace_packets.h"
#include "made_up_trace.h"

PACKETS_TEST(both_sides_are_seen)
{
	add_packet(CLASS_QUEUE, 1, "eth0", 10);
	add_packet(CLASS_RECEIVE, 2, "eth1", 20);
	add_packet(CLASS_OLD_RECEIVE, 3, "eth0", 30);
	read_trace();
	assert_int_equal(seen.count, 3);
	assert_seen(0, 1, 10, NSEC_MAX);
	assert_seen(1, 2, 20, 20);
	assert_false(seen.item[0].received);
	assert_true(seen.item[1].received && seen.item[2].received);
	assert_int_equal(seen.item[0].device, seen.item[2].device);
	assert_true(seen.item[0].device != seen.item[1].device);
	assert_int_equal(seen.counts.sent, 1);
	assert_int_equal(seen.counts.received, 2);
	assert_int_equal(seen.counts.network_events, 3);
	assert_int_equal(seen.facts.events, 3);
}

PACKETS_TEST(what_stays_on_the_host_is_left_out)
{
	add_packet(CLASS_QUEUE, 1, "lo", 10);
	add_packet(CLASS_RECEIVE, 1, "lo", 11);
	put_array(add_packet(CLASS_RECEIVE, 2, "eth0", 20), "ipv4.saddr",
		  ARRAY(127, 0, 0, 1));
	put_array(add_packet(CLASS_QUEUE, 3, "eth0", 30), "ipv4.daddr",
		  ARRAY(10, 0, 0, 1));
	read_trace();
	assert_int_equal(seen.count, 0);
	assert_int_equal(seen.counts.network_events, 4);
	assert_int_equal(seen.counts.sent + seen.counts.received, 0);
}

PACKETS_TEST(received_without_headers_is_counted)
{
	struct values *values;

	values = add(CLASS_RECEIVE, 0, 10);
	put_number(values, "skbaddr", SKB);
	put_text(values, "name", "eth0");
	values->value[FIELD_LENGTH] = (struct cell){.type = CELL_INTEGER, .integer = 47};
	values = add(CLASS_RECEIVE, 0, 11);
	put_number(values, "skbaddr", SKB);
	put_text(values, "name", "eth1");
	values->value[FIELD_LENGTH] = (struct cell){.type = CELL_INTEGER, .integer = 46};
	put_number(add(CLASS_QUEUE, 0, 20), "skbaddr", SKB); /* ARP */
	read_trace();
	assert_int_equal(seen.count, 0);
	assert_int_equal(seen.counts.headerless, 2);
	assert_int_equal(seen.counts.received, 0);
	/* The second is as short as ARP's. */
	assert_int_equal(seen.problems.count, 1);
	assert_int_equal(seen.problems.item[0].kind, PROBLEM_HEADERLESS);
	assert_int_equal(seen.problems.item[0].count, 1);
	problem_clear(&seen.problems);
}

PACKETS_TEST(a_send_waits_for_its_transmission)
{
	add_packet(CLASS_QUEUE, 1, "eth0", 10);
	add_packet(CLASS_QUEUE, 2, "eth0", 11);
	add_packet(CLASS_QUEUE, 3, "eth0", 12);
	add_xmit(1, "eth0", 20, 0);
	add_xmit(2, "eth0", 25, 16); /* the driver was busy */
	add_xmit(2, "eth0", 30, 0);
	read_trace();
	assert_int_equal(seen.count, 3);
	assert_seen(0, 1, 10, 20);
	assert_seen(1, 2, 25, 30);
	assert_seen(2, 3, 12, NSEC_MAX); /* still queued at the end */
	assert_int_equal(seen.counts.sent, 3);
}

/* enum gro_result: merged, merged and freed, held, normal, consumed. */
PACKETS_TEST(a_receive_is_stamped_where_offload_begins)
{
	add_gro(1, 0, 10, 3);
	add_packet(CLASS_RECEIVE, 1, "eth0", 20);
	add_gro(2, 0, 30, 2);
	add_gro(3, 0, 32, 1); /* merged into 2, its buffer is free */
	add_packet(CLASS_RECEIVE, 2, "eth0", 40);
	add_packet(CLASS_RECEIVE, 3, "eth0", 50); /* another packet in it */
	read_trace();
	assert_int_equal(seen.count, 3);
	assert_seen(0, 1, 10, 20);
	assert_seen(1, 2, 30, 40);
	assert_seen(2, 3, 50, 50);
}

/* One at a time on each CPU, whatever is between. */
PACKETS_TEST(cpus_do_not_mix)
{
	put_number(add(CLASS_GRO_ENTRY, 0, 10), "skbaddr", SKB + 1);
	put_number(add(CLASS_GRO_ENTRY, 1, 11), "skbaddr", SKB + 2);
	put_signed(add(CLASS_GRO_EXIT, 0, 12), "ret", 1); /* that of 1 */
	put_signed(add(CLASS_GRO_EXIT, 1, 13), "ret", 3);
	add_packet(CLASS_RECEIVE, 1, "eth0", 20);
	add_packet(CLASS_RECEIVE, 2, "eth0", 21);
	read_trace();
	assert_seen(0, 1, 20, 20);
	assert_seen(1, 2, 11, 21);
}

/* Nobody says which packets were merged away: entries prove nothing. */
PACKETS_TEST(without_exits_entries_do_not_count)
{
	put_number(add(CLASS_GRO_ENTRY, 0, 10), "skbaddr", SKB + 1);
	add_packet(CLASS_RECEIVE, 1, "eth0", 20);
	read_trace();
	assert_seen(0, 1, 20, 20);
}

/* However it was stamped, a packet event names the event that holds its packet. */
PACKETS_TEST(a_packet_event_names_its_event)
{
	add_packet(CLASS_QUEUE, 1, "eth0", 10);
	add_packet(CLASS_QUEUE, 2, "eth0", 11);
	trace.event[1].stream = 3;
	add_xmit(2, "eth0", 20, 0);
	add_xmit(1, "eth0", 21, 0);
	add_gro(4, 1, 30, 3);
	add_packet(CLASS_RECEIVE, 4, "eth0", 40);
	trace.event[6].stream = 1;
	read_trace();
	assert_int_equal(seen.count, 3);
	for (size_t i = 0; i < 3; i++) {
		static const unsigned wanted[][3] = {{2, 3, 1}, {1, 0, 0}, {4, 1, 6}};

		assert_int_equal(seen.item[i].packet.id, wanted[i][0]);
		assert_int_equal(seen.item[i].stream, wanted[i][1]);
		assert_int_equal(seen.item[i].ordinal, wanted[i][2]);
	}
}

PACKETS_TEST(sockets_are_seen_without_addresses)
{
	struct values *values;
	for (int k = 0; k < 2; k++) {
		values = add(k ? CLASS_SOCKET_IN : CLASS_SOCKET_OUT, 0, 10 + k);
		for (size_t i = 0; i < values->wanted->fields; i++)
			values->value[i] = (struct cell){.type = CELL_INTEGER,
							 .integer = 7 + (int64_t)i};
	}
	add(CLASS_SOCKET_IN, 0, 20); /* without its fields */
	read_trace();
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.item[0].packet.seq, 7);
	assert_int_equal(seen.item[0].packet.known, PACKET_TRANSPORT);
	assert_true(!seen.item[0].received && seen.item[1].received);
}

PACKETS_TEST(what_the_reader_knows_is_the_sources)
{
	trace.facts.has_uuid = true;
	trace.facts.clock_uuid[15] = 7;
	trace.facts.clock_offset_ns = 99;
	trace.facts.clock_frequency = 1000;
	snprintf(trace.facts.hostname, sizeof(trace.facts.hostname), "web");
	add_packet(CLASS_QUEUE, 1, "eth0", 10);
	read_trace();
	assert_true(seen.facts.has_uuid);
	assert_int_equal(seen.facts.clock_uuid[15], 7);
	assert_int_equal(seen.facts.clock_offset_ns, 99);
	assert_int_equal(seen.facts.clock_frequency, 1000);
	assert_string_equal(seen.facts.hostname, "web");
	assert_int_equal(seen.facts.events, 1);
	assert_int_equal(seen.counts.sent, 1);
}

PACKETS_TEST(what_cannot_be_opened_is_an_error)
{
	struct error error = ERROR_INIT;

	assert_null(trace_packets_open("none", &error));
	assert_string_equal(error_text(&error), "none: is not made up");
	error_clear(&error);
}
