/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/links.h"
#include "merge/requests.h"

#include <netinet/in.h>

#include "../timeline/timeline.h"
#include "timeline/rows.h"

/* Two nodes, with a kernel trace and a capture each; the clock of the second is 1000 ns
 * behind. */
static struct clock_segment segment[2] = {{0, 0, 0.0}, {0, 1000, 0.0}};
static struct merge_source source[4] = {
    {.id = 1,
     .node = 0,
     .kind = "kernel",
     .clock = {.segment = &segment[0], .segments = 1}},
    {.id = 2,
     .node = 1,
     .kind = "kernel",
     .clock = {.segment = &segment[1], .segments = 1}},
    {.id = 3,
     .node = 0,
     .kind = "capture",
     .clock = {.segment = &segment[0], .segments = 1}},
    {.id = 4,
     .node = 1,
     .kind = "capture",
     .clock = {.segment = &segment[1], .segments = 1}},
};
static struct merge_node nodes[2] = {{.id = 1}, {.id = 2}};
static const struct merge_run run = {
    .node = nodes, .nodes = 2, .source = source, .count = 4};

static const struct packet segment_sent = {
    .known = PACKET_NETWORK | PACKET_TRANSPORT,
    .family = 4,
    .protocol = IPPROTO_TCP,
    .src = {10, 7, 0, 1},
    .dst = {10, 7, 0, 2},
    .length = 140,
    .sport = 39302,
    .dport = 7001,
    .seq = 3000000000,
    .payload = 100,
};

struct bench {
	struct links *links;
	struct message_log messages;
	struct timeline_writer *writer;
	uint64_t packets;
};

/* Both sources have two streams; `events` of each are loaded, in turn. */
static void bench_init(struct bench *bench, uint64_t events)
{
	static const struct selection selection = {.end_ns = NSEC_MAX};
	static const struct timeline_node node = {.id = 2, .name = "n2"};
	static const struct timeline_class class = {.kind = "kernel", .name = "x"};
	static const struct timeline_source other[] = {
	    {.id = 2, .node = 2, .kind = "kernel", .reference = 2},
	    {.id = 3, .node = 1, .kind = "capture", .reference = 3},
	    {.id = 4, .node = 2, .kind = "capture", .reference = 4},
	};
	struct error error = ERROR_INIT;
	uint32_t id;

	bench->packets = 0;
	bench->links = links_new(&run, &selection);
	message_log_init(&bench->messages);
	bench->writer = write_timeline("links.db", true);
	assert_int_equal(timeline_add_node(bench->writer, &node, &error), 0);
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
		assert_int_equal(timeline_add_source(bench->writer, &other[i], &error),
				 0);
	assert_int_equal(timeline_add_class(bench->writer, &class, &id, &error), 0);
	for (uint64_t i = 0; i < events * 4; i++) {
		const struct timeline_event event = {
		    .ts_ns = (nsec_t)i, .node = 1, .tid = -1, .cpu = -1, .class = id};
		const struct trace_event record = {.stream = i / 2 % 2, .ordinal = i / 4};
		struct event_link link = {.id = 0};

		assert_int_equal(
		    timeline_add_event(bench->writer, &event, &link.id, &error), 0);
		assert_int_equal(links_note(bench->links, i % 2, &record, &link, &error),
				 0);
	}
}

static void bench_finish(struct bench *bench)
{
	struct requests *requests = requests_new(&run);
	struct error error = ERROR_INIT;
	uint64_t count;

	assert_int_equal(links_find(bench->links, &bench->messages, &count, &error), 0);
	assert_int_equal(links_write(bench->links, bench->writer, &error), 0);
	assert_int_equal(links_pass(bench->links, requests, &error), 0);
	requests_free(requests);
	finish_timeline(bench->writer);
	links_free(bench->links);
	message_log_clear(&bench->messages);
	assert_whole("links.db");
}

/* Add what two sources saw of a packet: from its byte at `offset` on. */
static void add_seen(struct bench *bench, struct messages_end send,
		     struct messages_end recv, const struct packet *packet,
		     uint32_t offset)
{
	struct message_ends ends = {.send = send,
				    .recv = recv,
				    .first = {.local_ns = NSEC_MAX},
				    .packet = *packet,
				    .number = bench->packets,
				    .offset = offset};
	struct error error = ERROR_INIT;

	assert_int_equal(
	    message_log_add(&bench->messages, 0, 1, &(struct message){0}, &error), 0);
	assert_int_equal(message_log_add_ends(&bench->messages, &ends, &error), 0);
}

static void add(struct bench *bench, struct messages_end send, struct messages_end recv,
		const struct packet *packet)
{
	bench->packets++;
	add_seen(bench, send, recv, packet, 0);
}

/* The id that an event got. */
static int64_t row_of(uint32_t from, uint32_t stream, uint64_t ordinal)
{
	return (int64_t)(ordinal * 4 + stream * 2 + from + 1);
}

SCRATCH_TEST(a_message_links_its_events)
{
	struct bench bench;
	char *wanted = mem_printf("1|tcp|1|2|%d|%d|500|1700|1200|10.7.0.1|39302|10.7.0.2|"
				  "7001|3000000000|140|||||||1|2||",
				  (int)row_of(0, 1, 2), (int)row_of(1, 0, 1));

	bench_init(&bench, 3);
	add(&bench, (struct messages_end){0, 1, 2, 500},
	    (struct messages_end){1, 0, 1, 700}, &segment_sent);
	bench_finish(&bench);
	assert_answer("links.db", "SELECT * FROM message", wanted);
	free(wanted);
}

SCRATCH_TEST(ends_that_were_left_out_are_null)
{
	struct bench bench;

	bench_init(&bench, 3);
	add(&bench, (struct messages_end){0, 0, 0, 1}, (struct messages_end){1, 0, 9, 2},
	    &segment_sent);
	add(&bench, (struct messages_end){0, 5, 0, 2}, (struct messages_end){1, 0, 0, 3},
	    &segment_sent);
	add(&bench, (struct messages_end){0, 0, 3, 3}, (struct messages_end){1, 0, 3, 4},
	    &segment_sent);
	bench_finish(&bench);
	assert_answer("links.db", "SELECT id, send_event, recv_event FROM message",
		      "1|1|\n2||2");
}

/* Values that are not recorded are NULL; no number is made up. */
SCRATCH_TEST(each_protocol_has_its_own)
{
	struct packet packet[6] = {segment_sent, segment_sent, segment_sent,
				   segment_sent, segment_sent, segment_sent};
	struct bench bench;

	packet[0].protocol = IPPROTO_UDP;
	packet[1].protocol = IPPROTO_ICMP;
	packet[1].sport = 8 << 8;
	packet[1].seq = 77 << 16 | 3;
	packet[2].protocol = IPPROTO_ICMP;
	packet[2].sport = 3 << 8;
	packet[2].seq = 0;
	packet[3].known = PACKET_TRANSPORT;
	packet[4].known = PACKET_NETWORK;
	packet[4].protocol = IPPROTO_UDP;
	packet[4].family = 6;
	packet[5].protocol = IPPROTO_ESP;
	packet[5].sport = packet[5].dport = 0;
	bench_init(&bench, 3);
	for (int i = 0; i < 6; i++)
		add(&bench, (struct messages_end){0, 0, 0, i},
		    (struct messages_end){1, 0, 0, i}, &packet[i]);
	bench_finish(&bench);
	assert_answer("links.db",
		      "SELECT protocol, src, sport, dst, dport, seq, bytes FROM message",
		      "udp|10.7.0.1|39302|10.7.0.2|7001||140\n"
		      "icmp|10.7.0.1||10.7.0.2||3|140\n"
		      "icmp|10.7.0.1||10.7.0.2|||140\n"
		      "tcp||39302||7001|3000000000|\n"
		      "udp|a07:1::||a07:2::|||180\n"
		      "ip|10.7.0.1||10.7.0.2|||140");
}

/* More messages and events than stay in memory, matched in a wild order. */
SCRATCH_TEST(rows_come_by_send_time)
{
	enum { MANY = 150000, EVENTS = 2000, STEP = 99991 };
	struct bench bench;

	bench_init(&bench, EVENTS);
	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t n = i * STEP % MANY;

		add(&bench,
		    (struct messages_end){n % 2, 0, n % (EVENTS + 1), (nsec_t)n * 2000},
		    (struct messages_end){1 - n % 2, 1, n % EVENTS,
					  (nsec_t)n * 2000 + 5000},
		    &segment_sent);
	}
	bench_finish(&bench);
	assert_answer("links.db",
		      "SELECT count(*), count(send_event), count(recv_event), "
		      "sum(latency_ns), sum(send_ns = (id - 1) * 2000 + 1000 * "
		      "(src_node = 2)), sum(send_ns % 4000 / 2000 + 1 = src_node), "
		      "sum(send_event = (id - 1) % 2001 * 4 + src_node), "
		      "sum(recv_event = (id - 1) % 2000 * 4 + 2 + dst_node) FROM message",
		      "150000|149926|150000|750000000|150000|150000|149926|150000");
}

/* An event of a source became the timeline's event of that id. */
static void note(struct bench *bench, uint32_t from, uint64_t ordinal, int64_t id)
{
	const struct trace_event record = {.stream = 0, .ordinal = ordinal};
	const struct event_link link = {.id = id};
	struct error error = ERROR_INIT;

	assert_int_equal(links_note(bench->links, from, &record, &link, &error), 0);
}

/* Each packet is one message, by the kernels where they saw it, else by the captures. */
SCRATCH_TEST(what_several_sources_saw_is_one_message)
{
	struct bench bench;

	bench_init(&bench, 60);
	for (uint64_t i = 0; i < 5; i++) {
		note(&bench, 2, i, 100 + (int64_t)i);
		note(&bench, 3, i, 200 + (int64_t)i);
	}
	/* All four saw the first; a kernel and a capture, and captures, two others. */
	add(&bench, (struct messages_end){2, 0, 0, 510},
	    (struct messages_end){3, 0, 0, 710}, &segment_sent);
	add_seen(&bench, (struct messages_end){2, 0, 0, 510},
		 (struct messages_end){1, 0, 0, 700}, &segment_sent, 0);
	add(&bench, (struct messages_end){2, 0, 1, 1510},
	    (struct messages_end){3, 0, 1, 1710}, &segment_sent);
	add_seen(&bench, (struct messages_end){0, 0, 1, 1500},
		 (struct messages_end){3, 0, 1, 1710}, &segment_sent, 0);
	add(&bench, (struct messages_end){3, 0, 2, 2510},
	    (struct messages_end){2, 0, 2, 4710}, &segment_sent);
	/* Facts of a packet need not arrive at once. */
	bench.packets = 1;
	add_seen(&bench, (struct messages_end){0, 0, 0, 500},
		 (struct messages_end){1, 0, 0, 700}, &segment_sent, 0);
	add_seen(&bench, (struct messages_end){0, 0, 0, 500},
		 (struct messages_end){3, 0, 0, 710}, &segment_sent, 0);
	bench_finish(&bench);
	assert_answer("links.db",
		      "SELECT id, send_source, recv_source, send_ns, recv_ns, src_node, "
		      "dst_node FROM message",
		      "1|1|2|500|1700|1|2\n2|1|4|1500|2710|1|2\n3|4|3|3510|4710|2|1");
	assert_answer("links.db",
		      "SELECT message, send_event, recv_event, send_ns, recv_ns, "
		      "latency_ns, send_source, recv_source FROM message_observation "
		      "ORDER BY message, send_source, recv_source",
		      "1|1|200|500|1710|1210|1|4\n1|100|2|510|1700|1190|3|2\n"
		      "1|100|200|510|1710|1200|3|4\n2|101|201|1510|2710|1200|3|4");
}

/* Two sent packets were merged; of the second one the sender's capture saw two pieces. */
SCRATCH_TEST(merged_packets_are_messages_each)
{
	struct bench bench;

	bench_init(&bench, 60);
	for (uint64_t i = 0; i < 3; i++)
		note(&bench, 2, i, 100 + (int64_t)i);
	add(&bench, (struct messages_end){0, 0, 0, 500},
	    (struct messages_end){1, 0, 0, 700}, &segment_sent);
	add_seen(&bench, (struct messages_end){0, 0, 1, 600},
		 (struct messages_end){1, 0, 0, 900}, &segment_sent, 50);
	for (uint64_t i = 0; i < 3; i++)
		add_seen(&bench, (struct messages_end){2, 0, i, 510 + (nsec_t)i * 50},
			 (struct messages_end){1, 0, 0, 900}, &segment_sent, i ? 50 : 0);
	bench_finish(&bench);
	assert_answer("links.db", "SELECT send_event, recv_event FROM message",
		      "1|2\n5|2");
	assert_answer("links.db",
		      "SELECT message, send_event, recv_event FROM message_observation",
		      "1|100|2\n2|101|2\n2|102|2");
}
