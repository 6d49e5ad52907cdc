/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Events that a tracer reports as lost. Counters of packets and events have a width, may
 * fall, and start at 0 with the stream, of which a trace may hold a later part only.
 */
#include "ctf_write.h"

#include "trace/reader.h"

static const char metadata[] =
    METADATA_TYPES "stream { id = 0;\n"
		   "  packet.context := struct { uint64_t content_size;"
		   " uint64_t packet_size; uint32_t packet_seq_num;"
		   " uint32_t events_discarded; };\n"
		   "  event.header := struct { uint32_t id; stamp_t timestamp; };\n"
		   "};\n" METADATA_EVENT(0, 0, "e", "uint8_t number; ");

struct counters {
	uint32_t sequence, discarded;
};

static void put_packet(struct ctf_stream *stream, const struct counters *counters)
{
	enum { PACKET_BITS = (4 + 4 + 8 + 8 + 4 + 4 + 4 + 8 + 1) * 8 };

	put_int(stream, 4, 0xc1fc1fc1u);
	put_int(stream, 4, 0);
	put_int(stream, 8, PACKET_BITS);
	put_int(stream, 8, PACKET_BITS);
	put_int(stream, 4, counters->sequence);
	put_int(stream, 4, counters->discarded);
	begin_event(stream, 0, 1000);
	put_int(stream, 1, 7);
}

static void skip_event(void *context, const struct trace_event *event)
{
	(void)context;
	(void)event;
}

static void assert_lost(const struct counters *counters, size_t packets,
			uint64_t lost_events, uint64_t lost_packets)
{
	struct ctf_stream stream = {.size = 0};
	struct error error = ERROR_INIT;
	struct trace_reader *reader;

	scratch_text("t/metadata", metadata);
	for (size_t i = 0; i < packets; i++)
		put_packet(&stream, &counters[i]);
	scratch_bytes("t/stream", stream.bytes, stream.size);
	reader = trace_reader_open("t", &error);
	assert_non_null(reader);
	while (trace_reader_step(reader, UINT64_MAX, skip_event, NULL))
		;
	assert_int_equal(trace_reader_facts(reader)->events, packets);
	assert_int_equal(trace_reader_facts(reader)->discarded_events, lost_events);
	assert_int_equal(trace_reader_facts(reader)->discarded_packets, lost_packets);
	trace_reader_free(reader);
}

SCRATCH_TEST(counters_wrap)
{
	static const struct counters counters[] = {
	    {UINT32_MAX - 1, UINT32_MAX - 5}, {UINT32_MAX, 4}, {0, 4}, {2, 9}};

	assert_lost(counters, 4, 15, 1);
}

SCRATCH_TEST(the_first_packet_of_a_stream_counts)
{
	static const struct counters first = {0, 7}, later = {3, 7};

	assert_lost(&first, 1, 7, 0);
	assert_lost(&later, 1, 0, 0);
}

SCRATCH_TEST(a_counter_that_falls_adds_nothing)
{
	static const struct counters counters[] = {{0, 5}, {4, 3}, {2, 9}, {3, 9}};

	assert_lost(counters, 4, 5 + 6, 3);
}
