/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Damage in our own reader: it reports the position, and reads on after it. */
#include "ctf_write.h"

#include "../select.h"
#include "../trace/metadata_build.h"

#define ONE_EVENT                                                                        \
	METADATA_TYPES METADATA_STREAM(0, "")                                            \
	    METADATA_EVENT(0, 7, "e", "uint32_t _length; uint8_t _list[_length];")

/* Packets of one file, one after the other. */
static struct ctf_stream file;

static void add_packet(const struct ctf_stream *packet)
{
	uint64_t bits = 8 * packet->size;
	size_t at = file.size;

	put_bytes(&file, packet->bytes, packet->size);
	memcpy(file.bytes + at + PACKET_CONTENT, &bits, sizeof(bits));
	memcpy(file.bytes + at + PACKET_SIZE, &bits, sizeof(bits));
}

/* A packet of three events with these stamps up; the second has `id`. */
static void add_events(uint64_t stamp, unsigned id, unsigned length)
{
	struct ctf_stream packet;

	begin_stream(&packet, 0, 3);
	for (unsigned i = 0; i < 3; i++) {
		begin_event(&packet, i == 1 ? id : 7, stamp + i);
		put_int(&packet, 4, i == 1 ? length : 2);
		put_int(&packet, 2, 0x201);
	}
	add_packet(&packet);
}

static void note(void *context, const struct trace_event *event)
{
	char *text = context;

	sprintf(text + strlen(text), "%d ", (int)event->local_ns);
}

static void assert_read(const char *stamps, const char *problems)
{
	static const char *const field[] = {"list"};
	struct trace_reader *reader = open_reader("t");
	char given[200] = "", *told = mem_strdup("");
	const struct problem_list *list;

	select_fields(reader, "e", field, 1);
	while (trace_reader_step(reader, UINT64_MAX, note, given))
		;
	list = trace_reader_problems(reader);
	for (size_t i = 0; i < list->count; i++) {
		char *longer = mem_printf(
		    "%s%s: %s (%s, %d)\n", told, list->item[i].place, list->item[i].text,
		    problem_kind_word(list->item[i].kind), (int)list->item[i].count);

		free(told);
		told = longer;
	}
	assert_string_equal(given, stamps);
	assert_string_equal(told, problems);
	free(told);
	trace_reader_free(reader);
}

static int begin(void **state)
{
	int status = scratch_enter(state);

	file.size = 0;
	scratch_text("t/metadata", ONE_EVENT);
	return status;
}

FIXTURE_TEST(an_event_that_cannot_be_read_ends_its_packet_only, begin, scratch_leave)
{
	add_events(10, 7, 2);
	add_events(20, 8, 2);
	add_events(30, 7, 200);
	add_events(40, 7, 2);
	scratch_bytes("t/ch", file.bytes, file.size);
	assert_read("10 11 12 20 30 40 41 42 ",
		    "t/ch: cannot read an event before byte 140, rest of its "
		    "packet skipped: unknown event class id (broken, 1)\n"
		    "t/ch: rest of 1 more packets skipped after an unreadable event "
		    "(broken, 1)\n");
}

FIXTURE_TEST(a_cut_packet_is_read_up_to_there, begin, scratch_leave)
{
	add_events(10, 7, 2);
	add_events(20, 7, 2);
	scratch_bytes("t/ch", file.bytes, file.size - 1);
	assert_read("10 11 12 20 21 ", "t/ch: truncated in the middle of a packet: only "
				       "81 of its 82 bytes are present "
				       "(truncated, 1)\n");
}

/* Each stream keeps its own order, and no event is lost. */
FIXTURE_TEST(packets_that_overlap_come_out_whole, begin, scratch_leave)
{
	struct trace_reader *reader;

	add_events(10, 7, 2);
	add_events(11, 7, 2);
	add_events(5, 7, 2);
	add_events(20, 7, 2);
	scratch_bytes("t/ch_0", file.bytes, file.size);
	file.size = 0;
	add_events(7, 7, 2);
	add_events(8, 7, 2);
	scratch_bytes("t/ch_1", file.bytes, file.size);
	assert_read("7 8 9 8 9 10 10 11 12 11 12 13 5 6 7 20 21 22 ",
		    "t: 3 timestamps go backwards in their stream "
		    "(backward, 3)\n");
	reader = open_reader("t");
	while (trace_reader_step(reader, UINT64_MAX, note, NULL))
		;
	assert_int_equal(trace_reader_facts(reader)->events, 18);
	assert_int_equal(trace_reader_facts(reader)->backward, 3);
	assert_int_equal(trace_reader_facts(reader)->begin_ns, 5);
	assert_int_equal(trace_reader_facts(reader)->end_ns, 22);
	trace_reader_free(reader);
}

FIXTURE_TEST(what_is_no_packet_is_left_out_up_to_the_next_one, begin, scratch_leave)
{
	add_events(10, 7, 2);
	add_events(20, 7, 2);
	add_events(30, 7, 2);
	file.bytes[82]++;
	scratch_bytes("t/ch_0", file.bytes, file.size);
	scratch_bytes("t/ch_1", "hello", 5);
	file.size = 0;
	add_events(11, 7, 2);
	scratch_bytes("t/ch_2", file.bytes, file.size);
	assert_read(
	    "10 11 11 12 12 13 30 31 32 ",
	    "t/ch_1: no packet at byte 0 of 5, file skipped (garbled, 1)\n"
	    "t/ch_0: no packet at byte 82 of 246, 82 bytes skipped (garbled, 1)\n");
}

FIXTURE_TEST(gaps_are_counted, begin, scratch_leave)
{
	for (unsigned i = 0; i < 8; i++) {
		add_events(10 * (i + 1), 7, 2);
		if (i % 2)
			file.bytes[i * 82]++;
	}
	put_bytes(&file, "rest", 4);
	scratch_bytes("t/ch", file.bytes, file.size);
	assert_read("10 11 12 30 31 32 50 51 52 70 71 72 ",
		    "t/ch: no packet at byte 82 of 660, 82 bytes skipped (garbled, "
		    "1)\n"
		    "t/ch: no packet at 3 more places, 250 bytes skipped there "
		    "(garbled, 3)\n");
}

FIXTURE_TEST(a_file_may_begin_with_what_is_no_packet, begin, scratch_leave)
{
	add_events(10, 7, 2);
	add_events(20, 7, 2);
	file.bytes[0]++;
	scratch_bytes("t/ch", file.bytes, file.size);
	assert_read("20 21 22 ",
		    "t/ch: no packet at byte 0 of 164, 82 bytes skipped (garbled, 1)\n");
}

/* A magic number may be anything; so many that begin no packet end the search. */
FIXTURE_TEST(magic_numbers_alone_are_no_packets, begin, scratch_leave)
{
	static unsigned char bytes[1 << 16];
	static const unsigned char magic[] = {0xc1, 0x1f, 0xfc, 0xc1};

	add_events(10, 7, 2);
	memcpy(bytes, file.bytes, file.size);
	for (size_t at = file.size; at + 4 <= sizeof(bytes) - 82; at += 4)
		memcpy(bytes + at, magic, at > 2000 && at < 2100 ? 3 : 4);
	memcpy(bytes + sizeof(bytes) - 82, file.bytes, 82);
	scratch_bytes("t/ch", bytes, sizeof(bytes));
	assert_read(
	    "10 11 12 ",
	    "t/ch: no packet at byte 82 of 65536, 65454 bytes skipped (garbled, 1)\n");
	memset(bytes + 1500, 0, sizeof(bytes) - 1500 - 82);
	scratch_bytes("t/ch", bytes, sizeof(bytes));
	assert_read(
	    "10 11 12 10 11 12 ",
	    "t/ch: no packet at byte 82 of 65536, 65372 bytes skipped (garbled, 1)\n"
	    "t: 1 timestamps go backwards in their stream (backward, 1)\n");
}

static void cut_while_read(void *context, const struct trace_event *event)
{
	uint64_t *events = context;

	(void)event;
	if (!(*events)++)
		assert_int_equal(truncate("t/ch", 1 << 20), 0);
}

/* As of a tracer that still writes, or a disk that is full: no signal, but a problem. */
FIXTURE_TEST(a_file_that_is_cut_while_it_is_read, begin, scratch_leave)
{
	struct trace_reader *reader;
	uint64_t events = 0;
	FILE *out;

	add_events(10, 7, 2);
	out = fopen("t/ch", "wb");
	assert_non_null(out);
	for (int i = 0; i < 100000; i++)
		assert_int_equal(fwrite(file.bytes, file.size, 1, out), 1);
	assert_int_equal(fclose(out), 0);
	reader = open_reader("t");
	select_fields(reader, "e", NULL, 0);
	while (trace_reader_step(reader, UINT64_MAX, cut_while_read, &events))
		;
	assert_int_equal(trace_reader_problems(reader)->count, 2);
	assert_string_equal(
	    trace_reader_problems(reader)->item[0].text,
	    "truncated in the middle of a packet: only 42 of its 82 bytes are present");
	assert_int_equal(trace_reader_problems(reader)->item[1].kind, PROBLEM_BACKWARD);
	assert_int_equal(events, 3 * (1048576 / 82));
	trace_reader_free(reader);
}

FIXTURE_TEST(sizes_must_be_those_of_packets, begin, scratch_leave)
{
	static const uint64_t wrong[] = {0, 8, 8 * 82 + 1, UINT64_MAX & ~UINT64_C(7)};

	for (int i = 0; i < 4; i++) {
		file.size = 0;
		add_events(10, 7, 2);
		memcpy(file.bytes + PACKET_SIZE, &wrong[i], 8);
		scratch_bytes("t/ch", file.bytes, file.size);
		assert_read("", "t/ch: no packet at byte 0 of 82, file skipped "
				"(garbled, 1)\n");
	}
}

/* A packet like those of add_events, but with a uuid behind its magic number. */
static void add_with_uuid(uint64_t stamp, uint64_t more_bits)
{
	struct ctf_stream plain = file, one;
	uint64_t bits;

	file.size = 0;
	add_events(stamp, 7, 2);
	one = file;
	file = plain;
	put_bytes(&file, one.bytes, 4);
	put_bytes(&file, "sixteen letters!", 16);
	bits = 8 * (one.size + 16) + more_bits;
	memcpy(one.bytes + PACKET_CONTENT, &bits, sizeof(bits));
	memcpy(one.bytes + PACKET_SIZE, &bits, sizeof(bits));
	put_bytes(&file, one.bytes + 4, one.size - 4);
}

FIXTURE_TEST(a_size_beyond_the_file_hides_no_packet, begin, scratch_leave)
{
	char *text = mem_strdup(ONE_EVENT), *magic = strstr(text, "uint32_t stream_id;");
	char *longer;

	*magic = '\0';
	longer = mem_printf("%suint8_t uuid[16]; u%s", text, magic + 1);
	scratch_text("t/metadata", longer);
	add_with_uuid(10, 0);
	add_with_uuid(20, 8000);
	add_with_uuid(30, 0);
	add_with_uuid(40, 8);
	scratch_bytes("t/ch", file.bytes, file.size);
	assert_read("10 11 12 30 31 32 40 41 42 ",
		    "t/ch: no packet at byte 98 of 392, 98 bytes skipped (garbled, "
		    "1)\n"
		    "t/ch: truncated in the middle of a packet: only 98 of its 99 bytes "
		    "are present "
		    "(truncated, 1)\n");
	free(longer);
	free(text);
}

FIXTURE_TEST(stamps_beyond_all_years_end_their_packet, begin, scratch_leave)
{
	add_events(10, 7, 2);
	add_events(UINT64_MAX - 9, 7, 2);
	add_events(20, 7, 2);
	scratch_bytes("t/ch", file.bytes, file.size);
	assert_read("10 11 12 20 21 22 ",
		    "t/ch: cannot read an event before byte 122, rest of its "
		    "packet skipped: timestamp outside 1967 to 2111 "
		    "(broken, 1)\n");
}

FIXTURE_TEST(a_trace_without_stream_classes_has_no_packets, begin, scratch_leave)
{
	scratch_text("t/metadata", METADATA_TYPES);
	add_events(10, 7, 2);
	scratch_bytes("t/ch", file.bytes, file.size);
	assert_read("", "t/ch: no packet at byte 0 of 82, file skipped "
			"(garbled, 1)\n");
}

static void assert_refused(const char *wanted)
{
	struct error error = ERROR_INIT;

	assert_null(trace_reader_open("t", &error));
	assert_string_equal(error_text(&error), wanted);
	error_clear(&error);
}

FIXTURE_TEST(what_is_not_known_is_named, begin, scratch_leave)
{
	scratch_text("t/metadata", ONE_EVENT "\ncallsites { name = \"e\"; };\n");
	add_events(10, 7, 2);
	scratch_bytes("t/ch", file.bytes, file.size);
	assert_refused(
	    "t/metadata: line 23: expected trace, env, clock, stream, event or a type");
	scratch_text("t/metadata", ONE_EVENT "\ncallsite { name = \"e\"; };\n"
					     "clock { name = d; a = 1; b = 2; };\n");
	assert_read("10 11 12 ", "t/metadata: unknown attributes ignored: b of clock in "
				 "line 24 and 1 more (malformed, 2)\n");
}

/* barectf leaves the id out where a stream has one class of events. */
FIXTURE_TEST(headers_without_an_id_are_of_the_only_class, begin, scratch_leave)
{
	static const char metadata[] =
	    METADATA_TYPES "stream { event.header := struct { stamp_t timestamp; }; };\n"
			   "event { name = e; id = 7; fields := struct { uint8_t n; }; "
			   "};\n";

	put_int(&file, 4, 0xc1fc1fc1);
	put_int(&file, 4, 0);
	for (int i = 10; i < 13; i++) {
		put_int(&file, 8, (uint64_t)i);
		put_int(&file, 1, 1);
	}
	scratch_bytes("t/ch", file.bytes, file.size);
	scratch_text("t/metadata", metadata);
	assert_read("10 11 12 ", "");
	scratch_text("t/metadata", METADATA_TYPES
		     "stream { event.header := struct { stamp_t timestamp; }; };\n"
		     "event { name = e; id = 7; };\nevent { name = f; id = 8; };\n");
	assert_refused(
	    "t/metadata: event f: several events, but event headers have no id");
}

FIXTURE_TEST(a_stream_of_another_trace_is_named, begin, scratch_leave)
{
	scratch_text(
	    "t/metadata",
	    "/* CTF 1.8 */ typealias integer { size = 8; align = 8; } := uint8_t;\n"
	    "trace { major = 1; minor = 8; byte_order = le;\n"
	    " uuid = \"00000000-0000-0000-0000-000000000001\";\n"
	    " packet.header := struct { uint8_t uuid[16]; }; };\n"
	    "stream { };\n");
	put_int(&file, 8, 0);
	put_int(&file, 8, 0);
	put_int(&file, 8, 0);
	scratch_bytes("t/ch", file.bytes, file.size);
	assert_read("", "t/ch: skipped: the uuid of its packets is not that of the "
			"metadata, so it is a stream of another trace (garbled, 1)\n");
}

/* Every stream has a table up to its greatest id. */
FIXTURE_TEST(ids_of_many_streams_are_bounded, begin, scratch_leave)
{
	char *metadata = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&metadata, &size);

	fputs(METADATA_TYPES "clock { name = mono; };\n", out);
	for (int i = 0; i < 3; i++)
		fprintf(out,
			"stream { id = %d; event.header := struct {"
			" integer { size = 32; align = 8; } id;"
			" integer { size = 64; align = 8; map = clock.mono.value; } t; };"
			" };\nevent { id = 500000; stream_id = %d; name = e; };\n",
			i, i);
	fclose(out);
	scratch_text("t/metadata", metadata);
	free(metadata);
	assert_refused(
	    "t/metadata: event ids too large (limit 1048576 over all streams)");
}

/* All of its text is there. */
FIXTURE_TEST(metadata_may_be_cut_in_its_padding, begin, scratch_leave)
{
	const uint32_t size = METADATA_HEAD + (uint32_t)strlen(ONE_EVENT) + 9;
	unsigned char *metadata = metadata_packet(ONE_EVENT, size, false);

	add_events(10, 7, 2);
	scratch_bytes("t/ch_0", file.bytes, file.size);
	scratch_bytes("t/metadata", metadata, size - 7);
	assert_read("10 11 12 ", "");
	free(metadata);
}
