/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A packet of more than a MiB is looked at by the slice: with events that end beyond one,
 * with one that is larger, with fields aligned to the packet's begin, and where the file
 * is cut.
 */
#include "ctf_write.h"

#include "base/bytes.h"

#include "../select.h"

static const char metadata[] = METADATA_TYPES
    "typealias integer { size = 64; align = 4096; } := far_t;\n"
    "stream { id = 0;\n"
    "  packet.context := struct { uint64_t content_size; uint64_t packet_size; };\n"
    "  event.header := struct { uint32_t id; stamp_t timestamp; }; };\n" METADATA_EVENT(
	0, 0, "text", "uint32_t number; string text;")
	METADATA_EVENT(
	    0, 1, "far",
	    "uint32_t number; far_t place; uint8_t count; uint16_t list[count];");

enum { EVENTS = 4000, LARGE = 1500, LARGE_BYTES = 700000 };

static void add(struct bytes *bytes, uint64_t number, unsigned size)
{
	bytes_add_le(bytes, number, size);
}

/* Some texts are long, one is longer than a slice. */
static size_t text_bytes(unsigned number)
{
	return number == LARGE ? LARGE_BYTES : number * 7919u % 997;
}

static void align(struct bytes *bytes)
{
	while (bytes->size % 512)
		add(bytes, 0xff, 1);
}

static void add_event(struct bytes *bytes, unsigned number)
{
	bool is_far = number % 5 == 4;

	add(bytes, is_far, 4);
	add(bytes, number, 8);
	if (is_far)
		align(bytes);
	add(bytes, number, 4);
	if (!is_far) {
		memset(bytes_extend(bytes, text_bytes(number)), 'a' + (int)(number % 26),
		       text_bytes(number));
		add(bytes, 0, 1);
		return;
	}
	align(bytes);
	add(bytes, number * UINT64_C(1000003), 8);
	add(bytes, number % 200, 1);
	for (unsigned i = 0; i < number % 200; i++)
		add(bytes, number + i, 2);
}

/* The bytes of the trace's only packet; where each event ends. */
static struct bytes make_packet(size_t end[EVENTS])
{
	struct bytes bytes = {.size = 0};
	uint64_t bits;

	add(&bytes, 0xc1fc1fc1u, 4);
	add(&bytes, 0, 4);
	add(&bytes, 0, 8);
	add(&bytes, 0, 8);
	for (unsigned i = 0; i < EVENTS; i++) {
		add_event(&bytes, i);
		end[i] = bytes.size;
	}
	bits = htole64(8 * (uint64_t)bytes.size);
	memcpy(bytes.data + PACKET_CONTENT, &bits, sizeof(bits));
	memcpy(bytes.data + PACKET_SIZE, &bits, sizeof(bits));
	return bytes;
}

static void check_event(void *context, const struct trace_event *event)
{
	unsigned *next = context, number = *next;
	const struct cell *cell = event->cell;

	assert_int_equal(event->local_ns, number);
	assert_int_equal(cell[0].integer, number);
	if (number % 5 == 4) {
		assert_int_equal(cell[1].integer, number * UINT64_C(1000003));
		assert_int_equal(cell[2].integer, number % 200);
	} else {
		assert_int_equal(cell[1].size, text_bytes(number));
		for (size_t i = 0; i < cell[1].size; i++)
			assert_int_equal(cell[1].bytes[i], 'a' + number % 26);
	}
	(*next)++;
}

/* So many events are read of the packet's first bytes. */
static void check_read(const struct bytes *bytes, size_t size, unsigned events,
		       const char *told)
{
	static const char *const text[] = {"number", "text"};
	static const char *const far[] = {"number", "place", "count"};
	struct trace_reader *reader;
	const struct problem_list *problems;
	unsigned next = 0;

	scratch_text("t/metadata", metadata);
	scratch_bytes("t/stream", bytes->data, size);
	reader = open_reader("t");
	select_fields(reader, "text", text, 2);
	select_fields(reader, "far", far, 3);
	while (trace_reader_step(reader, 1000, check_event, &next))
		;
	assert_int_equal(next, events);
	problems = trace_reader_problems(reader);
	assert_int_equal(problems->count, told != NULL);
	if (told)
		assert_string_equal(problem_kind_word(problems->item[0].kind), told);
	trace_reader_free(reader);
}

SCRATCH_TEST(large_packets_are_read_by_the_slice)
{
	size_t end[EVENTS];
	struct bytes bytes = make_packet(end);

	check_read(&bytes, bytes.size, EVENTS, NULL);
	check_read(&bytes, end[LARGE] - 1, LARGE, "truncated");
	check_read(&bytes, end[LARGE], LARGE + 1, "truncated");
	bytes_clear(&bytes);
}
