/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/reader.h"

#include <string.h>

#include "../test.h"
#include "capture_read.h"
#include "input/capture/records.h"
#include "record_read.h"

enum { VLAN = 0x8100, ARP = 0x0806, IPV6 = 0x86dd, COOKED2 = 276 };

static struct trace_reader *open_capture(struct capture_file *file)
{
	struct error error = ERROR_INIT;
	struct trace_reader *source;

	fclose(file->file);
	source = with_columns(
	    capture_records_open(&(struct capture_input){.path = path}, &error));
	assert_string_equal(error_text(&error), "");
	return source;
}

/* The lines without the columns that are null. */
static void drop_nulls(char *text)
{
	char *to = text;

	while (*text) {
		size_t word = strcspn(text + 1, " \n") + 1;

		if (word > 5 && strncmp(text + word - 5, "=null", 5) == 0) {
			text += word;
			continue;
		}
		memmove(to, text, word);
		to += word;
		text += word;
	}
	*to = '\0';
}

static void assert_packets(struct trace_reader *source, const char *wanted)
{
	struct record_lines lines = read_records(source);

	drop_nulls(lines.text);
	assert_string_equal(lines.text, wanted);
	free(lines.text);
}

TEST(test_headers_are_columns)
{
	struct capture_file file = create(false);
	struct bytes tcp = {0}, udp = {0}, icmp = {0};
	struct trace_reader *source;

	write_pcap(&file, NANO, ETHERNET);
	put_ethernet(&tcp, 1, 2, VLAN);
	put_vlan(&tcp, 0xe005, VLAN);
	put_vlan(&tcp, 6, IPV4);
	put_segment(&tcp, 1, 2, 600);
	write_packet(&file, 1, 5, &tcp);
	put_ethernet(&udp, 2, 1, IPV6);
	put_ipv6(&udp, 2, 1, IPPROTO_UDP, 8);
	put_udp(&udp, 0, 0);
	write_packet(&file, 2, 0, &udp);
	put_ethernet(&icmp, 1, 3, IPV4);
	put_ipv4(&icmp, (struct ipv4){1, 3, IPPROTO_ICMP, .more = 8});
	put32(&icmp, 0x08000000);
	put32(&icmp, 0x00070009);
	write_packet(&file, 3, 0, &icmp);
	source = open_capture(&file);
	assert_packets(
	    source,
	    "1000000005 stream 0.0 cpu -1 packet interface=0 caplen=62 len=62 "
	    "headers='whole' eth_src='02:00:00:00:00:01' eth_dst='02:00:00:00:00:02' "
	    "ethertype=2048 vlan=5 family=4 src='10.0.0.1' dst='10.0.0.2' "
	    "protocol='tcp' ttl=64 id=600 length=40 fragment=0 sport=1000 dport=2000 "
	    "seq=600 ack=2596069104 flags=130 window=22136 payload=0\n"
	    "2000000000 stream 0.1 cpu -1 packet interface=0 caplen=62 len=62 "
	    "headers='whole' eth_src='02:00:00:00:00:02' eth_dst='02:00:00:00:00:01' "
	    "ethertype=34525 family=6 src='fd00::2' dst='fd00::1' protocol='udp' "
	    "ttl=64 id=703710 length=8 fragment=0 sport=1111 dport=2222 udp_length=8\n"
	    "3000000000 stream 0.2 cpu -1 packet interface=0 caplen=42 len=42 "
	    "headers='whole' eth_src='02:00:00:00:00:01' eth_dst='02:00:00:00:00:03' "
	    "ethertype=2048 family=4 src='10.0.0.1' dst='10.0.0.3' protocol='icmp' "
	    "ttl=64 id=0 length=28 fragment=0 icmp_type=8 icmp_code=0 icmp_id=7 "
	    "icmp_seq=9\n");
	assert_int_equal(trace_reader_problems(source)->count, 0);
	assert_int_equal(trace_reader_facts(source)->events, 3);
	assert_int_equal(trace_reader_facts(source)->end_ns, 3 * NSEC_PER_SEC);
	assert_int_equal(trace_reader_facts(source)->bytes,
			 trace_reader_facts(source)->total_bytes);
	trace_reader_free(source);
}

/* A packet without known headers is still a row. */
TEST(test_any_packet_is_a_row)
{
	struct capture_file file = create(false);
	struct bytes arp = {0}, tcp = segment(1, 2, 600), wrong = {0};
	struct trace_reader *source;

	write_pcap(&file, MICRO, ETHERNET);
	put_ethernet(&arp, 1, EVERYBODY, ARP);
	put_zeros(&arp, 28);
	write_packet(&file, 1, 0, &arp);
	write_cut_packet(&file, 2, 0, &tcp, 40);
	write_cut_packet(&file, 3, 0, &tcp, 10);
	put_ethernet(&wrong, 1, 2, IPV4);
	put_ipv4(&wrong, (struct ipv4){1, 2, 200, .more = 0});
	wrong.data[14] = 0x43; /* a header of twelve bytes */
	write_packet(&file, 4, 0, &wrong);
	source = open_capture(&file);
	assert_packets(
	    source,
	    "1000000000 stream 0.0 cpu -1 packet interface=0 caplen=42 len=42 "
	    "headers='other' eth_src='02:00:00:00:00:01' eth_dst='ff:ff:ff:ff:ff:ff' "
	    "ethertype=2054\n"
	    "2000000000 stream 0.1 cpu -1 packet interface=0 caplen=40 len=54 "
	    "headers='cut' eth_src='02:00:00:00:00:01' eth_dst='02:00:00:00:00:02' "
	    "ethertype=2048 family=4 src='10.0.0.1' dst='10.0.0.2' protocol='tcp' "
	    "ttl=64 id=600 length=40 fragment=0\n"
	    "3000000000 stream 0.2 cpu -1 packet interface=0 caplen=10 len=54 "
	    "headers='cut'\n"
	    "4000000000 stream 0.3 cpu -1 packet interface=0 caplen=34 len=34 "
	    "headers='malformed' eth_src='02:00:00:00:00:01' "
	    "eth_dst='02:00:00:00:00:02' ethertype=2048\n");
	assert_int_equal(trace_reader_problems(source)->count, 0);
	trace_reader_free(source);
}

TEST(test_cooked_packets_tell_their_direction)
{
	struct capture_file file = create(false);
	struct trace_reader *source;

	write_pcap(&file, MICRO, COOKED2);
	for (unsigned i = 0; i < 2; i++) {
		struct bytes bytes = {0};

		put_cooked2(&bytes, i ? 4 : 0, 7, IPV4);
		put_ipv4(&bytes, (struct ipv4){1, 2, 89, .more = 0});
		write_packet(&file, i, 0, &bytes);
	}
	source = open_capture(&file);
	assert_packets(
	    source,
	    "0 stream 0.0 cpu -1 packet interface=7 direction='in' caplen=40 len=40 "
	    "headers='whole' ethertype=2048 family=4 src='10.0.0.1' dst='10.0.0.2' "
	    "protocol=89 ttl=64 id=0 length=20 fragment=0\n"
	    "1000000000 stream 0.1 cpu -1 packet interface=7 direction='out' "
	    "caplen=40 len=40 headers='whole' ethertype=2048 family=4 "
	    "src='10.0.0.1' dst='10.0.0.2' protocol=89 ttl=64 id=0 length=20 "
	    "fragment=0\n");
	trace_reader_free(source);
}

struct sequence {
	uint64_t ordinal[8];
	int64_t seq[8];
	size_t count;
	struct trace_reader *source;
};

static void note_record(void *context, const struct trace_event *record)
{
	struct sequence *sequence = context;
	const struct trace_class *class =
	    trace_reader_class(sequence->source, record->class);

	for (size_t i = 0; i < class->columns; i++)
		if (strcmp(class->column[i].name, "seq") == 0)
			sequence->seq[sequence->count] = record->cell[i].integer;
	sequence->ordinal[sequence->count++] = record->ordinal;
}

/* A packet is the same one to both readers, also behind one that is left out. */
CAPTURE_TEST(test_packet_events_name_their_records)
{
	struct capture_file file = create(false);
	struct bytes out = segment(1, 2, 700), other = segment(2, 3, 701),
		     in = segment(2, 1, 702);
	struct sequence sequence = {.count = 0};

	write_section(&file);
	write_interface(&file, ETHERNET, 9);
	write_block(&file, 0, 10, &out);
	write_simple_block(&file, &out);
	write_block(&file, 0, 30, &other);
	write_block(&file, 0, 20, &in);
	read_all(&file);
	assert_int_equal(seen.count, 2);
	sequence.source = with_columns(capture_records_open(
	    &(struct capture_input){.path = path}, &(struct error)ERROR_INIT));
	while (trace_reader_step(sequence.source, UINT64_MAX, note_record, &sequence))
		;
	assert_int_equal(sequence.count, 3);
	for (size_t i = 0, at = 0; i < seen.count; i++) {
		while (sequence.ordinal[at] != seen.item[i].ordinal)
			at++;
		assert_int_equal(sequence.seq[at], seen.item[i].packet.seq);
		assert_int_equal(seen.item[i].stream, 0);
	}
	assert_int_equal(trace_reader_problems(sequence.source)->count, 2);
	assert_int_equal(trace_reader_problems(sequence.source)->item[0].kind,
			 PROBLEM_UNSTAMPED);
	assert_int_equal(trace_reader_problems(sequence.source)->item[1].kind,
			 PROBLEM_BACKWARD);
	trace_reader_free(sequence.source);
}

TEST(test_a_cut_file_is_told)
{
	struct capture_file file = create(false);
	struct bytes tcp = segment(1, 2, 600);
	struct trace_reader *source;

	write_pcap(&file, MICRO, ETHERNET);
	write_packet(&file, 1, 0, &tcp);
	write_packet(&file, 2, 0, &tcp);
	fflush(file.file);
	assert_int_equal(ftruncate(fileno(file.file), ftell(file.file) - 1), 0);
	source = open_capture(&file);
	free(read_records(source).text);
	assert_int_equal(trace_reader_facts(source)->events, 1);
	assert_int_equal(trace_reader_problems(source)->count, 1);
	assert_int_equal(trace_reader_problems(source)->item[0].kind, PROBLEM_TRUNCATED);
	trace_reader_free(source);
}

TEST(test_what_is_no_capture_is_an_error)
{
	struct error error = ERROR_INIT;

	assert_null(
	    capture_records_open(&(struct capture_input){.path = scratch}, &error));
	assert_ptr_equal(strstr(error_text(&error), scratch), error_text(&error));
	error_clear(&error);
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
