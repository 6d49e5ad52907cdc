/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/writer.h"

#include <endian.h>

#include "../draw.h"
#include "../scratch.h"
#include "draw_packet.h"
#include "input/headers.h"
#include "written.h"

enum { PACKETS = 2000, SNAP = 128, NANOSECOND_MAGIC = 0xa1b23c4d };

struct file_head {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, figures, snap, link;
};

struct record {
	uint32_t seconds, nanoseconds, captured, wire;
};

struct written {
	struct packet packet;
	int64_t mono_ns;
	bool received;
};

static void write_drawn(const struct sim_node *node, struct written *list)
{
	struct error error = ERROR_INIT;
	struct sim_writer *writer = sim_capture_writer_new("run", node, NODES, &error);
	int64_t now = 1;

	assert_non_null(writer);
	for (int i = 0; i < PACKETS; i++) {
		union sim_value value[4];
		struct sim_event event;

		now += draw_between(1, NSEC_PER_SEC);
		list[i].mono_ns = now;
		list[i].received = draw() % 2;
		list[i].packet = draw_packet(list[i].received);
		event = packet_event(value, list[i].received, 0, now, &list[i].packet);
		add(writer, &event);
	}
	finish(writer);
}

static uint16_t sum(const uint8_t *bytes, size_t count)
{
	uint32_t total = 0;

	for (size_t i = 0; i < count; i += 2)
		total += (uint32_t)(bytes[i] << 8 | bytes[i + 1]);
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	return (uint16_t)total;
}

/*
 * Whether the checksum covers the whole packet, whose data are zero. One in
 * 65,536 then equals that of the addresses alone, for which it is taken.
 */
static bool is_whole(const uint8_t *ip, size_t captured, const struct packet *packet)
{
	size_t network = packet->family == 4 ? 20 : 40;
	size_t length = packet->length - (packet->family == 4 ? 20 : 0);
	uint8_t bytes[SNAP + 36] = {0};

	memcpy(bytes, packet->src, 16);
	memcpy(bytes + 16, packet->dst, 16);
	bytes[33] = packet->protocol;
	bytes[34] = (uint8_t)(length >> 8);
	bytes[35] = (uint8_t)length;
	memcpy(bytes + 36, ip + network, captured - network);
	return sum(bytes, sizeof(bytes)) == 0xffff;
}

static void check_frame(const struct frame *frame, const struct written *written,
			bool whole)
{
	static const uint8_t n1[6] = {2, 0, 0, 0, 0, 1};
	bool received = written->received;

	assert_packet(&frame->packet, &written->packet);
	assert_memory_equal(received ? frame->target : frame->source, n1, 6);
	assert_memory_not_equal(received ? frame->source : frame->target, n1, 6);
	if (frame->checksum != CHECKSUM_UNKNOWN)
		assert_true(received ? whole : frame->checksum == CHECKSUM_PARTIAL);
}

/* One record; returns its bytes. */
static size_t check_record(const uint8_t *bytes, const struct written *written,
			   bool tagged)
{
	const uint8_t *data = bytes + sizeof(struct record);
	const uint8_t *ip = data + (tagged ? 18 : 14);
	uint32_t captured, wire;
	struct record record;
	struct frame frame;

	memcpy(&record, bytes, sizeof(record));
	captured = le32toh(record.captured);
	wire = le32toh(record.wire);
	assert_int_equal(NSEC_PER_SEC * le32toh(record.seconds) +
			     le32toh(record.nanoseconds),
			 OFFSET + written->mono_ns);
	assert_int_equal(captured, wire < SNAP ? wire : SNAP);
	if (tagged)
		assert_memory_equal(data + 12, "\x81\x00\x00\x2a", 4);
	assert_int_equal(frame_decode(&frame, FRAME_ETHERNET, data, captured, wire),
			 FRAME_PACKET);
	check_frame(&frame, written,
		    is_whole(ip, captured - (size_t)(ip - data), &written->packet));
	if (frame.packet.family == 4)
		assert_int_equal(sum(ip, 20), 0xffff);
	return sizeof(record) + captured;
}

static void check_captures(const struct sim_node *node, bool tagged)
{
	static struct written list[PACKETS];
	const struct file_head *head;
	size_t size, at = sizeof(*head);
	char *bytes;

	draw_restart(NULL);
	write_drawn(node, list);
	bytes = scratch_read("run/n1/n1.pcap", &size);
	head = (const struct file_head *)(void *)bytes;
	assert_int_equal(le32toh(head->magic), NANOSECOND_MAGIC);
	assert_int_equal(le32toh(head->snap), SNAP);
	assert_int_equal(le32toh(head->link), 1);
	for (int i = 0; i < PACKETS; i++) {
		assert_true(at + sizeof(struct record) < size);
		at += check_record((const uint8_t *)bytes + at, &list[i], tagged);
	}
	assert_int_equal(at, size);
	free(bytes);
}

static void test_frames(void **unused)
{
	(void)unused;
	check_captures(plain_nodes, false);
}

static void test_tagged_frames(void **unused)
{
	(void)unused;
	check_captures(tagged_nodes, true);
}

/* Who is behind an address: a node, or else a router. */
static void test_frames_between_nodes(void **unused)
{
	struct packet packet = {.known = PACKET_NETWORK,
				.family = 4,
				.protocol = IPPROTO_GRE,
				.src = {10, 0, 0, 1},
				.dst = {10, 0, 0, 2},
				.length = 20};
	struct error error = ERROR_INIT;
	struct sim_writer *writer =
	    sim_capture_writer_new("run", plain_nodes, NODES, &error);
	union sim_value value[4];
	struct sim_event event = packet_event(value, false, 0, 0, &packet);
	char *bytes;

	(void)unused;
	add(writer, &event);
	packet.dst[0] = 192;
	add(writer, &event);
	finish(writer);
	bytes = scratch_read("run/n1/n1.pcap", NULL);
	assert_memory_equal(bytes + 24 + 16, "\2\0\0\0\0\2\2\0\0\0\0\1\x08\0", 14);
	assert_memory_equal(bytes + 24 + 16 + 34 + 16,
			    "\2\xff\xff\xff\xff\xfe\2\0\0\0\0\1\x08\0", 14);
	free(bytes);
}

/* Neither what is no packet, nor one that stays on its host. */
static void test_what_is_not_captured(void **unused)
{
	struct packet packet = {.known = PACKET_NETWORK,
				.family = 4,
				.protocol = IPPROTO_GRE,
				.src = {127, 0, 0, 1},
				.dst = {127, 0, 0, 1},
				.length = 20};
	struct error error = ERROR_INIT;
	struct sim_writer *writer =
	    sim_capture_writer_new("run", plain_nodes, NODES, &error);
	union sim_value value[4];
	struct sim_event event = packet_event(value, true, 0, 0, &packet);
	size_t size;

	(void)unused;
	add(writer, &event);
	event = packet_event(value, true, 0, 0, NULL);
	add(writer, &event);
	add(writer, &(struct sim_event){.class = empty});
	finish(writer);
	free(scratch_read("run/n1/n1.pcap", &size));
	assert_int_equal(size, sizeof(struct file_head));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(test_frames),
	    SCRATCH_TEST(test_tagged_frames),
	    SCRATCH_TEST(test_frames_between_nodes),
	    SCRATCH_TEST(test_what_is_not_captured),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
