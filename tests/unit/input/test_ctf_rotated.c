/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Packets of one stream in several files have one order, whatever the files are called:
 * by begin, end, sequence number, and size. Each packet here has one event: its number.
 */
#include "ctf_write.h"

#include "base/bytes.h"

#include "../select.h"

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; } := uint8_t;\n"
    "typealias integer { size = 32; align = 8; } := uint32_t;\n"
    "typealias integer { size = 64; align = 8; } := uint64_t;\n"
    "trace { major = 1; minor = 8; byte_order = le;\n"
    "  packet.header := struct { uint32_t magic; uint32_t stream_id;"
    " uint64_t stream_instance_id; }; };\n"
    "clock { name = c; freq = 1000000000; };\n"
    "typealias integer { size = 64; align = 8; map = clock.c.value; } := stamp_t;\n"
    "stream { id = 0;\n"
    "  packet.context := struct { stamp_t timestamp_begin; stamp_t timestamp_end;"
    " uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num; };\n"
    "  event.header := struct { uint32_t id; stamp_t timestamp; }; };\n"
    "event { stream_id = 0; id = 0; name = \"e\"; fields := struct { uint8_t number; }; "
    "};\n";

enum { CONTENT = 4 + 4 + 8 + 5 * 8 + 4 + 8 + 1, BEGIN = 1000 };

struct packet {
	uint64_t end, sequence, padding;
};

static void write_packet(const char *name, const struct packet *packet, uint8_t number)
{
	struct ctf_stream stream = {.size = 0};

	put_int(&stream, 4, 0xc1fc1fc1u);
	put_int(&stream, 4, 0);
	put_int(&stream, 8, 7);
	put_int(&stream, 8, BEGIN);
	put_int(&stream, 8, packet->end);
	put_int(&stream, 8, CONTENT * 8);
	put_int(&stream, 8, (CONTENT + packet->padding) * 8);
	put_int(&stream, 8, packet->sequence);
	put_int(&stream, 4, 0);
	put_int(&stream, 8, BEGIN);
	put_int(&stream, 1, number);
	stream.size += packet->padding;
	scratch_bytes(name, stream.bytes, stream.size);
}

static void note_number(void *context, const struct trace_event *event)
{
	struct bytes *numbers = context;

	bytes_add_byte(numbers, (uint8_t)event->cell[0].integer);
}

/* These packets, in files called f<first>, f<first + step>, ..., come in this order,
 * once. */
static void assert_order(const struct packet packet[3], int first, int step)
{
	static const uint8_t wanted[] = {0, 1, 2};
	static const char *const number[] = {"number"};
	struct bytes numbers = {.size = 0};
	struct trace_reader *reader;

	scratch_text("t/metadata", metadata);
	for (int i = 0; i < 3; i++) {
		char *name = mem_printf("t/f%d", first + i * step);

		write_packet(name, &packet[i], (uint8_t)i);
		free(name);
	}
	write_packet("t/f5", &packet[1], 1); /* as snapshots repeat packets */
	reader = open_reader("t");
	select_fields(reader, "e", number, 1);
	while (trace_reader_step(reader, UINT64_MAX, note_number, &numbers))
		;
	trace_reader_free(reader);
	assert_int_equal(numbers.size, sizeof(wanted));
	assert_memory_equal(numbers.data, wanted, sizeof(wanted));
	free(numbers.data);
}

static void check(const struct packet packet[3])
{
	assert_order(packet, 1, 1);
	assert_order(packet, 3, -1);
}

SCRATCH_TEST(packets_of_one_begin_have_one_order)
{
	check((const struct packet[3]){
	    {BEGIN + 1, 9, 9}, {BEGIN + 2, 8, 8}, {BEGIN + 3, 7, 7}});
	check((const struct packet[3]){
	    {BEGIN + 1, 7, 9}, {BEGIN + 1, 8, 8}, {BEGIN + 1, 9, 7}});
	check((const struct packet[3]){
	    {BEGIN + 1, 7, 1}, {BEGIN + 1, 7, 2}, {BEGIN + 1, 7, 3}});
}
