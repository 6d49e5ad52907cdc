/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture.h"

#include <pcap/pcap.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture_file.h"
#include "input/packet_source.h"

enum {
	IPV4 = 0x0800,
	/* Link types as files number them. */
	ETHERNET = 1,
	RAW = 101,
	LOOP = 108,
	COOKED = 113,
	ONLY_IPV4 = 228,
	ONLY_IPV6 = 229,
	COOKED2 = 276,
	BLUETOOTH = 187,
	HOURS = 1795228732, /* seconds since the epoch, of most packets here */
};

#define AT(nanoseconds) ((nsec_t)HOURS * NSEC_PER_SEC + (nanoseconds))

/* Host 1 is the node of every capture here. */
static const struct node_address host1[] = {
    {4, {10, 0, 0, 1}},
    {6, {0xfd, [15] = 1}},
};

static char directory[] = P_tmpdir "/clustertrace-capture-XXXXXX";
static char path[sizeof(directory) + 16];

static int make_directory(void **unused)
{
	(void)unused;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/n1.pcap", directory);
	return 0;
}

static int remove_directory(void **unused)
{
	(void)unused;
	unlink(path);
	return rmdir(directory);
}

static struct capture_file create(bool big)
{
	struct capture_file file = {fopen(path, "wb"), big};

	assert_non_null(file.file);
	return file;
}

/* A segment between two hosts in an Ethernet frame. */
static struct bytes segment(unsigned from, unsigned to, uint32_t seq)
{
	struct bytes bytes = {0};

	put_ethernet(&bytes, from, to, IPV4);
	put_segment(&bytes, from, to, seq);
	return bytes;
}

struct seen {
	struct sighting item[16];
	size_t count; /* of all, also of those that have no place */
};

static void collect(void *context, const struct sighting *sighting)
{
	struct seen *seen = context;

	if (seen->count < sizeof(seen->item) / sizeof(*seen->item))
		seen->item[seen->count] = *sighting;
	seen->count++;
}

/* Read the file that is at the path; the caller frees the source. */
static struct packet_source *read_all(struct capture_file *file, struct seen *seen)
{
	struct error error = ERROR_INIT;
	struct packet_source *source;

	fclose(file->file);
	memset(seen, 0, sizeof(*seen));
	assert_true(capture_probe(path));
	source = capture_packets_open(path, host1, 2, &error);
	assert_string_equal(error_text(&error), "");
	assert_non_null(source);
	while (packet_source_step(source, collect, seen) == STEP_MORE)
		;
	assert_int_equal(packet_source_step(source, collect, seen), STEP_END);
	return source;
}

static void read_and_free(struct capture_file *file, struct seen *seen)
{
	struct packet_source *source = read_all(file, seen);

	assert_int_equal(packet_source_problems(source)->count, 0);
	packet_source_free(source);
}

static void assert_problem(struct packet_source *source, const char *kind, uint64_t count,
			   const char *text)
{
	const struct problem_list *problems = packet_source_problems(source);

	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *problem = &problems->item[i];

		if (strcmp(problem->kind, kind) != 0)
			continue;
		assert_int_equal(problem->count, count);
		assert_string_equal(problem->place, path);
		assert_ptr_equal(strstr(problem->text, text), problem->text);
		return;
	}
	fail_msg("no problem of kind %s", kind);
}

static void assert_sent(const struct sighting *sighting, nsec_t ns, uint32_t seq)
{
	assert_false(sighting->received);
	assert_int_equal(sighting->ns, ns);
	assert_int_equal(sighting->whole_ns, ns);
	assert_int_equal(sighting->packet.seq, seq);
}

static void assert_received(const struct sighting *sighting, nsec_t ns, uint32_t seq)
{
	assert_true(sighting->received);
	assert_int_equal(sighting->ns, ns);
	assert_int_equal(sighting->whole_ns, ns);
	assert_int_equal(sighting->packet.seq, seq);
}

/* A send and a receive, stamped 5 units before the next second. */
static void check_pcap(enum pcap_magic magic, bool big, nsec_t unit)
{
	uint32_t units = (uint32_t)(NSEC_PER_SEC / unit);
	struct capture_file file = create(big);
	struct bytes out = segment(1, 2, 100), in = segment(2, 1, 200);
	const struct packet_source_facts *facts;
	struct packet_source *source;
	struct seen seen;

	write_pcap(&file, magic, ETHERNET);
	write_packet(&file, HOURS, units - 5, &out);
	write_packet(&file, HOURS, units - 4, &in);
	source = read_all(&file, &seen);
	facts = packet_source_facts(source);
	assert_int_equal(seen.count, 2);
	assert_sent(&seen.item[0], AT(NSEC_PER_SEC - 5 * unit), 100);
	assert_received(&seen.item[1], AT(NSEC_PER_SEC - 3 * unit - 1), 200);
	assert_int_equal(facts->events, 2);
	assert_int_equal(facts->network_events, 2);
	assert_int_equal(facts->sent, 1);
	assert_int_equal(facts->received, 1);
	assert_int_equal(facts->begin_ns, AT(NSEC_PER_SEC - 5 * unit));
	assert_int_equal(facts->end_ns, AT(NSEC_PER_SEC - 4 * unit));
	assert_int_equal(facts->bytes, 24 + 2 * (16 + 54));
	assert_int_equal(facts->total_bytes, facts->bytes);
	assert_string_equal(facts->hostname, "");
	assert_false(facts->has_clock);
	assert_int_equal(packet_source_problems(source)->count, 0);
	packet_source_free(source);
}

static void test_pcap_orders_and_units(void **unused)
{
	(void)unused;
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
	struct seen seen;

	put_segment(&bytes, 1, 2, 300);
	write_pcap(&file, NANO, link);
	write_packet(&file, HOURS, 7, &bytes);
	read_and_free(&file, &seen);
	assert_int_equal(seen.count, 1);
	assert_sent(&seen.item[0], AT(7), 300);
	assert_int_equal(seen.item[0].packet.length, 40);
	assert_int_equal(seen.item[0].packet.src[3], 1);
	assert_int_equal(seen.item[0].packet.dst[3], 2);
	assert_int_equal(seen.item[0].device, link == COOKED2 ? 12 : 0);
}

static void test_link_types(void **unused)
{
	static const uint8_t family[4] = {2, 0, 0, 0}, network_family[4] = {0, 0, 0, 2};
	struct bytes none = {0}, ethernet = {0}, vlan = {0}, cooked = {0}, cooked2 = {0};
	struct bytes null = {0}, loop = {0};

	(void)unused;
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

static void test_ipv6(void **unused)
{
	struct capture_file file = create(false);
	struct bytes bytes = {0};
	struct seen seen;

	(void)unused;
	put_ipv6(&bytes, 2, 1, IPPROTO_TCP, 20);
	put_tcp(&bytes, 400, 1);
	write_pcap(&file, NANO, ONLY_IPV6);
	write_packet(&file, HOURS, 7, &bytes);
	read_and_free(&file, &seen);
	assert_int_equal(seen.count, 1);
	assert_received(&seen.item[0], AT(7), 400);
	assert_int_equal(seen.item[0].packet.family, 6);
	assert_int_equal(seen.item[0].packet.id, 0xabcde);
	assert_int_equal(seen.item[0].packet.length, 20);
}

/* A receive stamped 3 units after the epoch. */
static void check_resolution(bool big, int resolution, nsec_t stamp, nsec_t slack)
{
	struct capture_file file = create(big);
	struct bytes in = segment(2, 1, 500), out = segment(1, 2, 501);
	struct seen seen;

	write_section(&file);
	write_interface(&file, ETHERNET, resolution);
	write_block(&file, 0, 3, &in);
	write_block(&file, 0, 3, &out);
	read_and_free(&file, &seen);
	assert_int_equal(seen.count, 2);
	assert_received(&seen.item[0], stamp + slack, 500);
	assert_sent(&seen.item[1], stamp, 501);
}

static void test_pcapng_resolutions(void **unused)
{
	(void)unused;
	check_resolution(false, UNTOLD, 3000, 999);
	check_resolution(true, UNTOLD, 3000, 999);
	check_resolution(false, 6, 3000, 999);
	check_resolution(true, 9, 3, 0);
	check_resolution(false, 9, 3, 0);
	check_resolution(false, 3, 3000000, 999999);
	check_resolution(true, 0, 3 * NSEC_PER_SEC, NSEC_PER_SEC - 1);
	check_resolution(false, 12, 0, 0);
	/* 3/2^20 s is 2861.02 ns; it ends before 4/2^20 s, 3814.7 ns. */
	check_resolution(false, 0x80 | 20, 2861, 954);
	check_resolution(false, 0x80 | 34, 0, 1);
}

/* Interfaces of different units, and the packet block of old. */
static void test_pcapng_interfaces(void **unused)
{
	uint64_t micro = (uint64_t)HOURS * 1000000, nano = (uint64_t)HOURS * 1000000000;
	struct capture_file file = create(false);
	struct seen seen;

	(void)unused;
	write_section(&file);
	write_interface(&file, ETHERNET, 6);
	write_interface(&file, ETHERNET, 9);
	for (uint32_t i = 0; i < 3; i++) {
		struct bytes first = segment(2, 1, 3 * i),
			     second = segment(2, 1, 3 * i + 1);
		struct bytes third = segment(2, 1, 3 * i + 2);

		write_block(&file, 0, micro + i, &first);
		write_block(&file, 1, nano + i * 1000 + 1, &second);
		write_old_block(&file, 1, nano + i * 1000 + 2, &third);
	}
	/* A section has interfaces of its own. */
	write_section(&file);
	write_interface(&file, ETHERNET, 9);
	{
		struct bytes last = segment(2, 1, 9);

		write_block(&file, 0, nano + 3000, &last);
	}
	read_and_free(&file, &seen);
	assert_int_equal(seen.count, 10);
	for (uint32_t i = 0; i < 3; i++) {
		assert_received(&seen.item[3 * i], AT(i * 1000 + 999), 3 * i);
		assert_received(&seen.item[3 * i + 1], AT(i * 1000 + 1), 3 * i + 1);
		assert_received(&seen.item[3 * i + 2], AT(i * 1000 + 2), 3 * i + 2);
		assert_int_equal(seen.item[3 * i].device, 0);
		assert_int_equal(seen.item[3 * i + 1].device, 1);
	}
	assert_received(&seen.item[9], AT(3000), 9);
}

/* More blocks than are looked at in one go, some of which are no packets. */
static void test_pcapng_long(void **unused)
{
	struct capture_file file = create(true);
	struct bytes comment = {0}, in = segment(2, 1, 600);
	struct packet_source *source;
	struct seen seen;

	(void)unused;
	put_zeros(&comment, 4000);
	write_section(&file);
	write_interface(&file, ETHERNET, 3);
	write_interface(&file, ETHERNET, 6);
	for (uint32_t i = 0; i < 5000; i++) {
		write_block(&file, i != 4999, 7, &in);
		if (i % 50)
			continue;
		write32(&file, 0xbad); /* a custom block */
		write32(&file, 12 + 4000);
		write_padded(&file, &comment, comment.count);
		write32(&file, 12 + 4000);
	}
	source = read_all(&file, &seen);
	assert_int_equal(seen.count, 5000);
	assert_received(&seen.item[15], 7999, 600);
	assert_int_equal(packet_source_facts(source)->begin_ns, 7000);
	assert_int_equal(packet_source_facts(source)->end_ns, 7000000);
	packet_source_free(source);
}

static void test_without_stamp(void **unused)
{
	struct capture_file file = create(false);
	struct bytes out = segment(1, 2, 700), in = segment(2, 1, 701);
	struct packet_source *source;
	struct seen seen;

	(void)unused;
	write_section(&file);
	write_interface(&file, ETHERNET, 9);
	write_interface(&file, ETHERNET, 0x80 | 40); /* libpcap overflows */
	write_simple_block(&file, &out);
	write_block(&file, 1, (uint64_t)1 << 39, &in);
	write_block(&file, 0, (uint64_t)HOURS * 1000000000, &in);
	write_block(&file, 0, UINT64_MAX, &in); /* in the year 2554 */
	source = read_all(&file, &seen);
	assert_int_equal(seen.count, 1);
	assert_received(&seen.item[0], AT(0), 701);
	assert_int_equal(packet_source_facts(source)->events, 1);
	assert_int_equal(packet_source_facts(source)->begin_ns, AT(0));
	assert_problem(source, "unstamped", 3, "3 packets have no usable stamp");
	packet_source_free(source);
}

static void test_stamps_that_go_back(void **unused)
{
	struct capture_file file = create(false);
	struct bytes out = segment(1, 2, 800);
	struct packet_source *source;
	struct seen seen;

	(void)unused;
	write_pcap(&file, NANO, ETHERNET);
	write_packet(&file, HOURS, 20, &out);
	write_packet(&file, HOURS, 10, &out);
	write_packet(&file, HOURS, 30, &out);
	source = read_all(&file, &seen);
	assert_int_equal(packet_source_facts(source)->begin_ns, AT(10));
	assert_int_equal(packet_source_facts(source)->end_ns, AT(30));
	assert_problem(source, "backward", 1, "1 stamps lie before the one before");
	packet_source_free(source);
}

static void test_cut_packets(void **unused)
{
	struct capture_file file = create(false);
	struct bytes out = segment(1, 2, 900), wrong = segment(1, 2, 901);
	struct packet_source *source;
	struct seen seen;

	(void)unused;
	put_zeros(&out, 30);
	out.data[17] = 70; /* the IPv4 total length */
	wrong.data[17] = 39;
	write_pcap(&file, NANO, ETHERNET);
	write_cut_packet(&file, HOURS, 1, &out, 54);
	write_cut_packet(&file, HOURS, 2, &out, 53);
	write_cut_packet(&file, HOURS, 3, &out, 10);
	write_packet(&file, HOURS, 4, &wrong);
	source = read_all(&file, &seen);
	assert_int_equal(seen.count, 1);
	assert_sent(&seen.item[0], AT(1), 900);
	assert_int_equal(seen.item[0].packet.length, 70);
	assert_int_equal(seen.item[0].packet.payload, 30);
	assert_int_equal(packet_source_facts(source)->events, 4);
	assert_problem(source, "cut", 2, "2 packets were captured too short");
	assert_problem(source, "malformed", 1, "1 packets have headers that cannot");
	assert_int_equal(packet_source_problems(source)->count, 2);
	packet_source_free(source);
}

static void test_cut_file(void **unused)
{
	struct bytes out = segment(1, 2, 1000);
	long sizes[] = {24 + 2 * 70 + 5, 24 + 2 * 70 + 16, 24 + 2 * 70 + 69};

	(void)unused;
	for (int i = 0; i < 3; i++) {
		struct capture_file file = create(false);
		struct packet_source *source;
		struct seen seen;

		write_pcap(&file, NANO, ETHERNET);
		for (uint32_t k = 0; k < 3; k++)
			write_packet(&file, HOURS, k, &out);
		fflush(file.file);
		assert_int_equal(ftruncate(fileno(file.file), sizes[i]), 0);
		source = read_all(&file, &seen);
		assert_int_equal(seen.count, 2);
		assert_sent(&seen.item[1], AT(1), 1000);
		assert_problem(source, "truncated", 1,
			       "cut in the middle of a packet after 2 packets: ");
		packet_source_free(source);
	}
}

static void test_broken_file(void **unused)
{
	struct capture_file file = create(false);
	struct bytes out = segment(1, 2, 1100);
	struct packet_source *source;
	struct seen seen;

	(void)unused;
	write_section(&file);
	write_interface(&file, ETHERNET, 9);
	write_block(&file, 0, 5, &out);
	write_block(&file, 1, 6, &out); /* there is no such interface */
	write_block(&file, 0, 7, &out);
	source = read_all(&file, &seen);
	assert_int_equal(seen.count, 1);
	assert_problem(source, "broken", 1, "cannot be read on after 1 packets: ");
	packet_source_free(source);
}

static void test_steps(void **unused)
{
	struct capture_file file = create(false);
	struct bytes out = segment(1, 2, 1200);
	struct error error = ERROR_INIT;
	struct packet_source *source;
	struct seen seen = {.count = 0};
	size_t before;

	(void)unused;
	write_pcap(&file, MICRO, ETHERNET);
	for (uint32_t i = 0; i < 10000; i++)
		write_packet(&file, HOURS, i, &out);
	fclose(file.file);
	source = capture_packets_open(path, host1, 2, &error);
	assert_non_null(source);
	do {
		before = seen.count;
		if (before)
			assert_in_range(packet_source_facts(source)->bytes, before * 70,
					24 + 10000 * 70);
	} while (packet_source_step(source, collect, &seen) == STEP_MORE);
	assert_in_range(before, 1000, 9999);
	assert_int_equal(seen.count, 10000);
	assert_int_equal(packet_source_facts(source)->sent, 10000);
	packet_source_free(source);
}

static void assert_refused(const char *place, const char *text)
{
	struct error error = ERROR_INIT;
	char want[256];

	snprintf(want, sizeof(want), "%s: %s", place, text);
	assert_null(capture_packets_open(place, host1, 2, &error));
	/* The end of some is libpcap's. */
	assert_ptr_equal(strstr(error_text(&error), want), error_text(&error));
	error_clear(&error);
}

static void test_no_capture(void **unused)
{
	struct capture_file file = create(false);

	(void)unused;
	fputs("\n\r\r\nno capture, just text\n", file.file);
	fclose(file.file);
	assert_false(capture_probe(path));
	assert_refused(path, "no capture: ");
	assert_false(capture_probe(directory));
	assert_refused(directory, "Is a directory");

	unlink(path);
	assert_false(capture_probe(path));
	assert_refused(path, "No such file or directory");
	/* Nobody writes to it, and still nothing waits. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(capture_probe(path));
	assert_refused(path, "");
	unlink(path);
}

static void test_broken_capture(void **unused)
{
	struct capture_file file = create(false);

	(void)unused;
	write32(&file, 0xa1b2c3d4);
	fclose(file.file);
	assert_true(capture_probe(path));
	assert_refused(path, "no capture: ");

	file = create(true);
	write_section(&file);
	fclose(file.file);
	assert_true(capture_probe(path));
	assert_refused(path, "no capture: ");
}

static void test_other_link_type(void **unused)
{
	struct capture_file file = create(false);

	(void)unused;
	write_pcap(&file, MICRO, BLUETOOTH);
	fclose(file.file);
	assert_refused(path,
		       "link type BLUETOOTH_HCI_H4 is not supported, want Ethernet, "
		       "Linux cooked, raw IP or loopback");
}

static void test_empty(void **unused)
{
	struct capture_file file = create(false);
	struct packet_source *source;
	struct seen seen;

	(void)unused;
	write_pcap(&file, MICRO, ETHERNET);
	source = read_all(&file, &seen);
	assert_int_equal(packet_source_facts(source)->events, 0);
	assert_int_equal(packet_source_problems(source)->count, 0);
	packet_source_free(source);
}

/* What the library itself writes, with its own idea of the formats. */
static void test_written_by_libpcap(void **unused)
{
	pcap_t *dead = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, 128,
							    PCAP_TSTAMP_PRECISION_NANO);
	pcap_dumper_t *dumper = pcap_dump_open(dead, path);
	struct bytes in = segment(2, 1, 1300);
	struct pcap_pkthdr header = {{HOURS, 123456789}, 54, 54};
	struct capture_file file;
	struct seen seen;

	(void)unused;
	assert_non_null(dumper);
	pcap_dump((u_char *)dumper, &header, in.data);
	pcap_dump_close(dumper);
	pcap_close(dead);
	file.file = fopen(path, "rb");
	assert_non_null(file.file);
	read_and_free(&file, &seen);
	assert_int_equal(seen.count, 1);
	assert_received(&seen.item[0], AT(123456789), 1300);
	assert_ptr_equal(strstr(capture_library_version(), "libpcap version "),
			 capture_library_version());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_pcap_orders_and_units),
	    cmocka_unit_test(test_link_types),
	    cmocka_unit_test(test_ipv6),
	    cmocka_unit_test(test_pcapng_resolutions),
	    cmocka_unit_test(test_pcapng_interfaces),
	    cmocka_unit_test(test_pcapng_long),
	    cmocka_unit_test(test_without_stamp),
	    cmocka_unit_test(test_stamps_that_go_back),
	    cmocka_unit_test(test_cut_packets),
	    cmocka_unit_test(test_cut_file),
	    cmocka_unit_test(test_broken_file),
	    cmocka_unit_test(test_steps),
	    cmocka_unit_test(test_no_capture),
	    cmocka_unit_test(test_broken_capture),
	    cmocka_unit_test(test_other_link_type),
	    cmocka_unit_test(test_empty),
	    cmocka_unit_test(test_written_by_libpcap),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
