/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <pcap/pcap.h>
#include <sys/stat.h>

#include "../test.h"
#include "capture_read.h"
#include "input/capture/frames.h"
#include "input/capture/packets.h"

enum {
	/* Link types as files number them; capture_read.h has Ethernet. */
	RAW = 101,
	LOOP = 108,
	COOKED = 113,
	ONLY_IPV4 = 228,
	ONLY_IPV6 = 229,
	COOKED2 = 276,
	BLUETOOTH = 187,
};

/* A send and a receive, stamped 5 units before the next second. */
static void check_pcap(enum pcap_magic magic, bool big, nsec_t unit)
{
	uint32_t units = (uint32_t)(NSEC_PER_SEC / unit);
	struct capture_file file = create(big);
	struct bytes out = segment(1, 2, 100), in = segment(2, 1, 200);
	const struct trace_facts *facts;

	write_pcap(&file, magic, ETHERNET);
	write_packet(&file, HOURS, units - 5, &out);
	write_packet(&file, HOURS, units - 4, &in);
	read_all(&file);
	facts = &opened->facts;
	assert_int_equal(seen.count, 2);
	assert_sent(&seen.item[0], AT(NSEC_PER_SEC - 5 * unit), 100);
	assert_received(&seen.item[1], AT(NSEC_PER_SEC - 3 * unit - 1), 200);
	assert_int_equal(facts->events, 2);
	assert_int_equal(opened->counts.network_events, 2);
	assert_int_equal(opened->counts.sent, 1);
	assert_int_equal(opened->counts.received, 1);
	assert_int_equal(facts->begin_ns, AT(NSEC_PER_SEC - 5 * unit));
	assert_int_equal(facts->end_ns, AT(NSEC_PER_SEC - 4 * unit));
	assert_int_equal(facts->bytes, 24 + 2 * (16 + 54));
	assert_int_equal(facts->total_bytes, facts->bytes);
	assert_string_equal(facts->hostname, "");
	assert_false(facts->has_uuid);
	assert_int_equal(opened->problems.count, 0);
}

TEST(test_pcap_orders_and_units)
{
	check_pcap(MICRO, false, 1000);
	check_pcap(MICRO, true, 1000);
	check_pcap(NANO, false, 1);
	check_pcap(NANO, true, 1);
}

/* One packet from host 1 to host 2 behind the given link layer. */
static void check_link(uint32_t link, const struct bytes *head)
{
	struct capture_file file = create(false);
	struct bytes bytes = *head;

	put_segment(&bytes, 1, 2, 300);
	write_pcap(&file, NANO, link);
	write_packet(&file, HOURS, 7, &bytes);
	read_whole(&file);
	assert_int_equal(seen.count, 1);
	assert_sent(&seen.item[0], AT(7), 300);
	assert_int_equal(seen.item[0].packet.length, 40);
	assert_int_equal(seen.item[0].packet.src[3], 1);
	assert_int_equal(seen.item[0].packet.dst[3], 2);
	assert_int_equal(seen.item[0].device, link == COOKED2 ? 12 : 0);
}

TEST(test_link_types)
{
	static const uint8_t family[4] = {2, 0, 0, 0}, network_family[4] = {0, 0, 0, 2};
	struct bytes none = {0}, ethernet = {0}, vlan = {0}, cooked = {0}, cooked2 = {0};
	struct bytes null = {0}, loop = {0};

	put_ethernet(&ethernet, 1, 2, IPV4);
	put_ethernet(&vlan, 1, 2, 0x88a8);
	put_vlan(&vlan, 7, 0x8100);
	put_vlan(&vlan, 8, IPV4);
	put_cooked(&cooked, 4, 1, IPV4);
	put_cooked2(&cooked2, 4, 12, IPV4);
	put(&null, family, 4);
	put(&loop, network_family, 4);
	check_link(ETHERNET, &ethernet);
	check_link(ETHERNET, &vlan);
	check_link(COOKED, &cooked);
	check_link(COOKED2, &cooked2);
	check_link(RAW, &none);
	check_link(ONLY_IPV4, &none);
	check_link(0, &null);
	check_link(LOOP, &loop);
}

CAPTURE_TEST(test_ipv6)
{
	struct capture_file file = create(false);
	struct bytes bytes = {0};

	put_ipv6(&bytes, 2, 1, IPPROTO_TCP, 20);
	put_tcp(&bytes, 400, 1);
	write_pcap(&file, NANO, ONLY_IPV6);
	write_packet(&file, HOURS, 7, &bytes);
	read_whole(&file);
	assert_int_equal(seen.count, 1);
	assert_received(&seen.item[0], AT(7), 400);
	assert_int_equal(seen.item[0].packet.family, 6);
	assert_int_equal(seen.item[0].packet.id, 0xabcde);
	assert_int_equal(seen.item[0].packet.length, 20);
}

CAPTURE_TEST(test_stamps_that_go_back)
{
	struct capture_file file = create(false);
	struct bytes out = segment(1, 2, 800);

	write_pcap(&file, NANO, ETHERNET);
	write_packet(&file, HOURS, 20, &out);
	write_packet(&file, HOURS, 10, &out);
	write_packet(&file, HOURS, 30, &out);
	read_all(&file);
	assert_int_equal(opened->facts.begin_ns, AT(10));
	assert_int_equal(opened->facts.end_ns, AT(30));
	assert_problem("backward", 1, "1 timestamps are earlier than the one before");
}

CAPTURE_TEST(test_cut_packets)
{
	struct capture_file file = create(false);
	struct bytes out = segment(1, 2, 900), wrong = segment(1, 2, 901);

	put_zeros(&out, 30);
	out.data[17] = 70; /* the IPv4 total length */
	wrong.data[17] = 39;
	write_pcap(&file, NANO, ETHERNET);
	write_cut_packet(&file, HOURS, 1, &out, 54);
	write_cut_packet(&file, HOURS, 2, &out, 53);
	write_cut_packet(&file, HOURS, 3, &out, 10);
	write_packet(&file, HOURS, 4, &wrong);
	read_all(&file);
	assert_int_equal(seen.count, 1);
	assert_sent(&seen.item[0], AT(1), 900);
	assert_int_equal(seen.item[0].packet.length, 70);
	assert_int_equal(seen.item[0].packet.payload, 30);
	assert_int_equal(opened->facts.events, 4);
	assert_problem("cut", 2, "2 packets were captured too short");
	assert_problem("malformed", 1, "1 packets have headers that cannot");
	assert_int_equal(opened->problems.count, 2);
}

CAPTURE_TEST(test_cut_file)
{
	struct bytes out = segment(1, 2, 1000);
	long sizes[] = {24 + 2 * 70 + 5, 24 + 2 * 70 + 16, 24 + 2 * 70 + 69};

	for (int i = 0; i < 3; i++) {
		struct capture_file file = create(false);

		write_pcap(&file, NANO, ETHERNET);
		for (uint32_t k = 0; k < 3; k++)
			write_packet(&file, HOURS, k, &out);
		fflush(file.file);
		assert_int_equal(ftruncate(fileno(file.file), sizes[i]), 0);
		read_all(&file);
		assert_int_equal(seen.count, 2);
		assert_sent(&seen.item[1], AT(1), 1000);
		assert_problem("truncated", 1,
			       "cut in the middle of a packet after 2 packets: ");
	}
}

CAPTURE_TEST(test_steps)
{
	struct capture_file file = create(false);
	struct bytes out = segment(1, 2, 1200);
	struct error error = ERROR_INIT;
	size_t before;

	write_pcap(&file, MICRO, ETHERNET);
	for (uint32_t i = 0; i < 10000; i++)
		write_packet(&file, HOURS, i, &out);
	fclose(file.file);
	opened = capture_packets_open(
	    &(struct capture_input){
		.path = path, .name = "n1", .local = host1, .locals = 2},
	    &error);
	assert_non_null(opened);
	do {
		before = seen.count;
		if (before)
			assert_in_range(opened->facts.bytes, before * 70,
					24 + 10000 * 70);
	} while (packet_source_step(opened, collect, NULL));
	assert_in_range(before, 1000, 9999);
	assert_int_equal(seen.count, 10000);
	assert_int_equal(opened->counts.sent, 10000);
}

static void assert_refused(const char *place, const char *text)
{
	struct error error = ERROR_INIT;
	char want[256];

	snprintf(want, sizeof(want), "%s: %s", place, text);
	assert_null(capture_packets_open(
	    &(struct capture_input){
		.path = place, .name = "n1", .local = host1, .locals = 2},
	    &error));
	assert_ptr_equal(strstr(error_text(&error), want), error_text(&error));
	error_clear(&error);
}

TEST(test_no_capture)
{
	struct capture_file file = create(false);

	fputs("\n\r\r\nno capture, just text\n", file.file);
	fclose(file.file);
	assert_false(is_capture(path));
	assert_refused(path, "no capture: ");
	assert_false(is_capture(scratch));
	assert_refused(scratch, "not a regular file (expected a capture)");

	unlink(path);
	assert_false(is_capture(path));
	assert_refused(path, "No such file or directory");
	/* Nobody writes to it, and still nothing waits. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(is_capture(path));
	assert_refused(path, "");
	unlink(path);
}

TEST(test_broken_capture)
{
	struct capture_file file = create(false);

	write32(&file, 0xa1b2c3d4);
	fclose(file.file);
	assert_true(is_capture(path));
	assert_refused(path, "no capture: ");

	file = create(true);
	write_section(&file);
	assert_int_equal(fflush(file.file), 0);
	assert_int_equal(ftruncate(fileno(file.file), 27), 0);
	fclose(file.file);
	assert_true(is_capture(path));
	assert_refused(path, "no capture: ");
}

CAPTURE_TEST(test_other_link_type)
{
	struct bytes packet = segment(2, 1, 1);
	struct capture_file file = create(false);

	write_pcap(&file, MICRO, BLUETOOTH);
	write_packet(&file, HOURS, 0, &packet);
	read_all(&file);
	assert_int_equal(seen.count, 0);
	assert_int_equal(opened->facts.events, 1);
	assert_problem("headerless", 1,
		       "1 packets of link type BLUETOOTH_HCI_H4 (187) are not decoded");
}

CAPTURE_TEST(test_empty)
{
	struct capture_file file = create(false);

	write_pcap(&file, MICRO, ETHERNET);
	read_all(&file);
	assert_int_equal(opened->facts.events, 0);
	assert_int_equal(opened->problems.count, 0);
}

/* A file that libpcap writes, with its own idea of the format. */
CAPTURE_TEST(test_written_by_libpcap)
{
	pcap_t *dead = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, 128,
							    PCAP_TSTAMP_PRECISION_NANO);
	pcap_dumper_t *dumper = pcap_dump_open(dead, path);
	struct bytes in = segment(2, 1, 1300);
	struct pcap_pkthdr header = {{HOURS, 123456789}, 54, 54};
	struct capture_file file;

	assert_non_null(dumper);
	pcap_dump((u_char *)dumper, &header, in.data);
	pcap_dump_close(dumper);
	pcap_close(dead);
	file.file = fopen(path, "rb");
	assert_non_null(file.file);
	read_whole(&file);
	assert_int_equal(seen.count, 1);
	assert_received(&seen.item[0], AT(123456789), 1300);
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
