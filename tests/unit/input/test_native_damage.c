/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What our own reader makes of damage: it tells where, and reads on behind it. */
#include "ctf_write.h"
#include "input/reader.h"

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

static void note(void *context, const struct event *event)
{
	char *text = context;

	sprintf(text + strlen(text), "%d ", (int)event->local_ns);
}

static void assert_read(const char *stamps, const char *problems)
{
	static const char *const field[] = {"list"};
	const struct event_wish wish = {"e", 0, field, 1};
	const struct reader_wishes wishes = {&wish, 1};
	struct error error = ERROR_INIT;
	struct reader *reader = reader_open("t", READER_NATIVE, &wishes, &error);
	char given[200] = "", *told = mem_strdup("");
	const struct problem_list *list;

	assert_string_equal(error_text(&error), "");
	while (reader_step(reader, note, given))
		;
	list = reader_problems(reader);
	for (size_t i = 0; i < list->count; i++) {
		char *longer = mem_printf("%s%s: %s (%s, %d)\n", told,
					  list->item[i].place, list->item[i].text,
					  list->item[i].kind, (int)list->item[i].count);

		free(told);
		told = longer;
	}
	assert_string_equal(given, stamps);
	assert_string_equal(told, problems);
	free(told);
	reader_free(reader);
}

static int begin(void **state)
{
	int status = scratch_enter(state);

	file.size = 0;
	scratch_text("t/metadata", ONE_EVENT);
	return status;
}

static void an_event_that_cannot_be_read_ends_its_packet_only(void **state)
{
	(void)state;
	add_events(10, 7, 2);
	add_events(20, 8, 2);
	add_events(30, 7, 200);
	add_events(40, 7, 2);
	scratch_bytes("t/ch", file.bytes, file.size);
	assert_read(
	    "10 11 12 20 30 40 41 42 ",
	    "t/ch: an event before byte 140 cannot be read, the rest of its packet "
	    "is left out: no event class has its id (broken, 1)\n"
	    "t/ch: 1 more packets are left out from some event on (broken, 1)\n");
}

static void a_cut_packet_is_read_up_to_there(void **state)
{
	(void)state;
	add_events(10, 7, 2);
	add_events(20, 7, 2);
	scratch_bytes("t/ch", file.bytes, file.size - 1);
	assert_read(
	    "10 11 12 20 21 ",
	    "t/ch: cut in the middle of a packet, 81 of its 82 bytes are there "
	    "(truncated, 1)\n"
	    "t/ch: an event before byte 162 cannot be read, the rest of its packet "
	    "is left out: it ends beyond its packet (broken, 1)\n");
}

static void what_is_no_packet_ends_its_file_only(void **state)
{
	(void)state;
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
	    "10 11 11 12 12 13 ",
	    "t/ch_1: no packet at byte 0 of 5, the rest is left out (garbled, 1)\n"
	    "t/ch_0: no packet at byte 82 of 246, the rest is left out "
	    "(garbled, 1)\n");
}

static void sizes_must_be_those_of_packets(void **state)
{
	static const uint64_t wrong[] = {0, 8, 8 * 82 + 1, UINT64_MAX & ~UINT64_C(7)};

	(void)state;
	for (int i = 0; i < 4; i++) {
		file.size = 0;
		add_events(10, 7, 2);
		memcpy(file.bytes + PACKET_SIZE, &wrong[i], 8);
		scratch_bytes("t/ch", file.bytes, file.size);
		assert_read("", "t/ch: no packet at byte 0 of 82, the rest is left out "
				"(garbled, 1)\n");
	}
}

static void stamps_beyond_all_years_end_their_stream(void **state)
{
	(void)state;
	add_events(10, 7, 2);
	add_events(UINT64_MAX - 9, 7, 2);
	scratch_bytes("t/ch", file.bytes, file.size);
	assert_read("10 11 12 ", "t: stream 0 breaks off after 3 events, which are used: "
				 "want stamps between 1933 and 2070 (broken, 1)\n");
}

static void a_trace_without_stream_classes_has_no_packets(void **state)
{
	(void)state;
	scratch_text("t/metadata", METADATA_TYPES);
	add_events(10, 7, 2);
	scratch_bytes("t/ch", file.bytes, file.size);
	assert_read("", "t/ch: no packet at byte 0 of 82, the rest is left out "
			"(garbled, 1)\n");
}

static void a_trace_is_left_to_the_other_reader_with_a_reason(void **state)
{
	const struct reader_wishes wishes = {NULL, 0};
	struct error error = ERROR_INIT;
	struct reader *reader;

	(void)state;
	scratch_text("t/metadata", ONE_EVENT "\ncallsite { name = \"e\"; };\n");
	add_events(10, 7, 2);
	scratch_bytes("t/ch", file.bytes, file.size);
	assert_null(reader_open("t", READER_NATIVE, &wishes, &error));
	assert_string_equal(
	    error_text(&error),
	    "t/metadata: line 23: want trace, env, clock, stream, event or a type");
	error_clear(&error);
	reader = reader_open("t", READER_AUTO, &wishes, &error);
	assert_non_null(reader);
	assert_string_equal(reader_why(reader),
			    "t/metadata: line 23: want trace, env, clock, "
			    "stream, event or a type");
	reader_free(reader);
	scratch_text("t/metadata", ONE_EVENT);
	reader = reader_open("t", READER_AUTO, &wishes, &error);
	assert_non_null(reader);
	assert_null(reader_why(reader));
	reader_free(reader);
}

#define DAMAGE_TEST(function)                                                            \
	cmocka_unit_test_setup_teardown(function, begin, scratch_leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    DAMAGE_TEST(an_event_that_cannot_be_read_ends_its_packet_only),
	    DAMAGE_TEST(a_cut_packet_is_read_up_to_there),
	    DAMAGE_TEST(what_is_no_packet_ends_its_file_only),
	    DAMAGE_TEST(sizes_must_be_those_of_packets),
	    DAMAGE_TEST(stamps_beyond_all_years_end_their_stream),
	    DAMAGE_TEST(a_trace_without_stream_classes_has_no_packets),
	    DAMAGE_TEST(a_trace_is_left_to_the_other_reader_with_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
