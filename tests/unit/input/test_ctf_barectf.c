/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * barectf before 2.3.1 stamps the begin of a packet when its first event has its stamp
 * already, so that such an event lies before the packet. Its stamps hold some bits of the
 * clock, so one that is lower than before would mean that they turned over.
 */
#include "ctf_write.h"

#include "../select.h"

#define TURN ((uint64_t)1 << 32) /* of the stamps of events */

/* As barectf writes it, with names of its own; `patch` is that of its version. */
static void write_metadata(int patch)
{
	char *text = mem_printf(
	    "/* CTF 1.8 */\n"
	    "typealias integer { size = 8; align = 8; } := uint8_t;\n"
	    "typealias integer { size = 16; align = 8; } := uint16_t;\n"
	    "typealias integer { size = 32; align = 8; } := uint32_t;\n"
	    "trace { major = 1; minor = 8; byte_order = le;\n"
	    "  packet.header := struct { uint32_t magic; uint32_t stream_id; }; };\n"
	    "env { domain = \"bare\"; tracer_name = \"barectf\"; tracer_major = 2;\n"
	    "  tracer_minor = 3; tracer_patch = %d;\n"
	    "  barectf_gen_date = \"2018-05-29T17:21:42.000000\"; };\n"
	    "clock { name = default; freq = 1000000000; offset_s = 0; offset = 0; };\n"
	    "typealias integer { size = 64; align = 8; map = clock.default.value; }"
	    " := begin_t;\n"
	    "typealias integer { size = 32; align = 8; map = clock.default.value; }"
	    " := stamp_t;\n"
	    "stream { id = 0;\n"
	    "  packet.context := struct { begin_t timestamp_begin;"
	    " begin_t timestamp_end; uint32_t packet_size; uint32_t content_size;"
	    " uint32_t events_discarded; };\n"
	    "  event.header := struct { stamp_t timestamp; uint16_t id; }; };\n"
	    "event { stream_id = 0; id = 0; name = \"e\";"
	    " fields := struct { uint8_t number; }; };\n",
	    patch);

	scratch_text("t/metadata", text);
	free(text);
}

enum { EVENTS = 3, PACKET_BYTES = 4 + 4 + 8 + 8 + 3 * 4 + EVENTS * 7 };

static void put_packet(struct ctf_stream *stream, uint64_t begin,
		       const uint64_t stamp[EVENTS])
{
	put_int(stream, 4, 0xc1fc1fc1u);
	put_int(stream, 4, 0);
	put_int(stream, 8, begin);
	put_int(stream, 8, stamp[EVENTS - 1] + 1);
	put_int(stream, 4, PACKET_BYTES * 8);
	put_int(stream, 4, PACKET_BYTES * 8);
	put_int(stream, 4, 0);
	for (unsigned i = 0; i < EVENTS; i++) {
		put_int(stream, 4, stamp[i]);
		put_int(stream, 2, 0);
		put_int(stream, 1, i);
	}
}

struct stamps {
	uint64_t ns[4 * EVENTS];
	size_t count;
};

static void note_stamp(void *context, const struct trace_event *event)
{
	struct stamps *stamps = context;

	stamps->ns[stamps->count++] = (uint64_t)event->local_ns;
}

static struct stamps read_stamps(void)
{
	struct trace_reader *reader = open_reader("t");
	struct stamps stamps = {.count = 0};

	select_fields(reader, "e", NULL, 0);
	while (trace_reader_step(reader, UINT64_MAX, note_stamp, &stamps))
		;
	trace_reader_free(reader);
	return stamps;
}

static const uint64_t stamp[3][EVENTS] = {
    {5 * TURN + 990, 5 * TURN + 1010, 5 * TURN + 1020},
    {5 * TURN + 2000, 5 * TURN + 2100, 6 * TURN - 500},
    {6 * TURN - 3, 6 * TURN + 10, 6 * TURN + 20}, /* it begins behind the turn */
};

static void write_trace(int patch)
{
	static const uint64_t begin[3] = {5 * TURN + 1000, 5 * TURN + 2000, 6 * TURN + 5};
	struct ctf_stream stream = {.size = 0};

	write_metadata(patch);
	for (int i = 0; i < 3; i++)
		put_packet(&stream, begin[i], stamp[i]);
	scratch_bytes("t/stream", stream.bytes, stream.size);
}

SCRATCH_TEST(an_event_may_lie_before_its_packet)
{
	struct stamps stamps;

	write_trace(0);
	stamps = read_stamps();
	assert_int_equal(stamps.count, 3 * EVENTS);
	assert_memory_equal(stamps.ns, stamp, sizeof(stamp));
}

/* A timestamp that goes back within a packet of another version has wrapped. */
SCRATCH_TEST(later_versions_are_believed)
{
	struct stamps stamps;

	write_trace(1);
	stamps = read_stamps();
	assert_int_equal(stamps.count, 3 * EVENTS);
	assert_int_equal(stamps.ns[0], stamp[0][0] + TURN);
	assert_int_equal(stamps.ns[1], stamp[0][1] + TURN);
	/* The begin of a packet sets the clock anew. */
	assert_int_equal(stamps.ns[3], stamp[1][0]);
	assert_int_equal(stamps.ns[6], stamp[2][0] + TURN);
}
