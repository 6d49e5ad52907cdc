/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/packets_file.h"

#include <string.h>

#include "../draw.h"
#include "../scratch.h"

enum { SOURCES = 3, MOST = 9000 };

/* The packet events that were written for each source, and the number that was read. */
struct fixture {
	struct packet_event *item[SOURCES];
	size_t count[SOURCES], came[SOURCES];
	nsec_t begin_ns[SOURCES];
	size_t size; /* of the file */
};

static struct packet_event draw_packet_event(const struct packet_event *last, bool wild)
{
	struct packet_event packet_event = *last;
	struct packet *packet = &packet_event.packet;

	if (wild) {
		uint8_t *bytes = (uint8_t *)packet;

		for (size_t i = 0; i < sizeof(*packet); i++)
			if (draw() % 4 == 0)
				bytes[i] = (uint8_t)draw();
		packet->zero = 0;
		/* A declared message needs a name. */
		if (packet_is_declared(packet))
			packet->family = 6;
		packet_event.device = (uint32_t)draw();
		packet_event.stream = (uint32_t)draw();
		packet_event.ordinal = draw();
		packet_event.hops = (uint8_t)draw();
		packet_event.event_ns = draw_between(NSEC_STAMP_LEAST, NSEC_STAMP_MOST);
		packet_event.ns = draw_between(NSEC_STAMP_LEAST, NSEC_STAMP_MOST);
		packet_event.whole_ns = draw_between(NSEC_STAMP_LEAST, NSEC_STAMP_MOST);
	} else {
		packet->seq += draw() % 2 ? packet->payload : (uint32_t)draw();
		packet->payload = draw() % 2 ? (uint32_t)draw_between(0, 65000) : 0;
		packet->length = packet->payload + 40;
		packet->id++;
		packet->ack += (uint32_t)(draw() % 3 ? 0 : draw());
		packet_event.event_ns += draw_between(-100, 100000);
		packet_event.ns = packet_event.event_ns - draw_between(0, 2) * 1000;
		packet_event.ordinal += draw() % 100;
		packet_event.whole_ns = packet_event.event_ns + draw_between(0, 1) * 700;
	}
	if (draw() % 3 == 0)
		packet_event.whole_ns = NSEC_MAX;
	packet_event.received = draw() % 2;
	/* The time of the event stands for one that is not known. */
	if (!packet_event.event_ns)
		packet_event.event_ns = 1;
	return packet_event;
}

static void write_file(struct fixture *fixture, const char *path)
{
	FILE *file = fopen(path, "wb");
	struct packets_writer *writer = packets_writer_new(file, SOURCES);
	struct problem_list problems = {0};
	size_t next[SOURCES] = {0}, left = 0;

	for (size_t i = 0; i < SOURCES; i++) {
		struct packet_source source = {.facts = {.has_uuid = i == 1,
							 .clock_uuid = {1, 2, 0xfe},
							 .clock_offset_ns = -77,
							 .clock_frequency = 1000000000,
							 .clock_name = "monotonic",
							 .hostname = "host"}};

		left += fixture->count[i];
		packets_writer_describe(
		    writer, i,
		    &(struct source){.kind = i == 2 ? SOURCE_CAPTURE : SOURCE_TRACE,
				     .name = (char *)(i == 2 ? "n:a b\x01.pcap" : "n"),
				     .node = i ? (char *)"run/n" : NULL,
				     .path = (char *)"path"},
		    &source);
	}
	while (left) {
		size_t i = draw() % SOURCES;

		if (next[i] == fixture->count[i])
			continue;
		packets_writer_add(writer, i, &fixture->item[i][next[i]++],
				   fixture->begin_ns[i]);
		left--;
	}
	problem_add(&problems, "place", PROBLEM_DISCARDED, 7, "%s", "7 \"things\"");
	for (size_t i = 0; i < SOURCES; i++) {
		struct packet_source source = {
		    .facts = {.events = 1000000 + i,
			      .begin_ns = fixture->begin_ns[i],
			      .end_ns = 4000},
		    .counts = {.network_events = 5, .headerless = 6},
		    .problems = problems};
		struct packet_counts *counts = &source.counts;

		for (size_t k = 0; k < fixture->count[i]; k++)
			++*(fixture->item[i][k].received ? &counts->received
							 : &counts->sent);
		packets_writer_finish(writer, i, &source);
	}
	packets_writer_end(writer);
	problem_clear(&problems);
	fixture->size = (size_t)ftello(file);
	assert_int_equal(ferror(file) | fclose(file), 0);
}

static void fixture_make(struct fixture *fixture, size_t most)
{
	memset(fixture, 0, sizeof(*fixture));
	for (size_t i = 0; i < SOURCES; i++) {
		struct packet_event last = {.event_ns = 1700000000000000000, .device = 2};

		fixture->count[i] = i ? (size_t)draw_between(1, (int64_t)most) : 0;
		fixture->begin_ns[i] = last.event_ns - 5;
		fixture->item[i] = mem_zalloc((most + 1) * sizeof(struct packet_event));
		for (size_t k = 0; k < fixture->count[i]; k++)
			last = fixture->item[i][k] =
			    draw_packet_event(&last, draw() % 50 == 0);
	}
	write_file(fixture, "n.packets");
}

static void fixture_clear(struct fixture *fixture)
{
	for (size_t i = 0; i < SOURCES; i++)
		free(fixture->item[i]);
}

static void assert_same(const struct packet_event *a, const struct packet_event *b)
{
	assert_true(packet_equal(&a->packet, &b->packet));
	assert_int_equal(a->packet.payload, b->packet.payload);
	assert_int_equal(a->ns, b->ns);
	assert_int_equal(a->whole_ns, b->whole_ns);
	assert_int_equal(a->event_ns, b->event_ns);
	assert_int_equal(a->device, b->device);
	assert_int_equal(a->received, b->received);
	assert_int_equal(a->hops, b->hops);
	assert_int_equal(a->stream, b->stream);
	assert_int_equal(a->ordinal, b->ordinal);
}

struct reading {
	struct fixture *fixture;
	size_t source;
};

static void take(void *context, const struct packet_event *packet_event)
{
	struct reading *reading = context;
	struct fixture *fixture = reading->fixture;
	size_t at = fixture->came[reading->source]++;

	assert_true(at < fixture->count[reading->source]);
	assert_same(packet_event, &fixture->item[reading->source][at]);
}

/* Read one source; all that comes has to be what was written. */
static void read_source(struct fixture *fixture, const char *path, size_t index,
			struct problem_list *problems, struct packet_source *packets)
{
	struct reading reading = {fixture, index};
	struct error error = ERROR_INIT;
	struct packet_source *source = packets_file_open(path, index, &error);

	assert_string_equal(error_text(&error), "");
	fixture->came[index] = 0;
	while (packet_source_step(source, take, &reading))
		;
	*packets = *source;
	problem_move(problems, &source->problems);
	packet_source_free(source);
}

TEST(what_is_written_comes_back)
{
	struct source_list contents;
	struct error error = ERROR_INIT;
	struct fixture fixture;

	fixture_make(&fixture, MOST);
	assert_int_equal(packets_file_contents("n.packets", &contents, &error), 0);
	assert_int_equal(contents.count, SOURCES);
	assert_int_equal(contents.item[2].kind, SOURCE_CAPTURE);
	assert_string_equal(contents.item[2].name, "n:a b\x01.pcap");
	assert_null(contents.item[0].node);
	source_list_clear(&contents);
	for (size_t i = 0; i < SOURCES; i++) {
		struct problem_list problems = {0};
		struct packet_source packets;

		read_source(&fixture, "n.packets", i, &problems, &packets);
		assert_int_equal(fixture.came[i], fixture.count[i]);
		assert_int_equal(packets.facts.events, 1000000 + i);
		assert_int_equal(packets.facts.begin_ns, fixture.begin_ns[i]);
		assert_int_equal(packets.facts.end_ns, 4000);
		assert_int_equal(packets.counts.headerless, 6);
		assert_int_equal(packets.counts.sent + packets.counts.received,
				 fixture.count[i]);
		assert_string_equal(packets.facts.hostname, "host");
		assert_int_equal(packets.facts.has_uuid, i == 1);
		assert_int_equal(packets.facts.clock_uuid[2], i == 1 ? 0xfe : 0);
		assert_int_equal(packets.facts.clock_offset_ns, i == 1 ? -77 : 0);
		assert_int_equal(problems.count, 1);
		assert_string_equal(problems.item[0].text, "7 \"things\"");
		problem_clear(&problems);
	}
	fixture_clear(&fixture);
}

static char *load(size_t size)
{
	char *bytes = mem_alloc(size);
	FILE *file = fopen("n.packets", "rb");

	assert_int_equal(fread(bytes, 1, size, file), size);
	fclose(file);
	return bytes;
}

/* Read all sources of a file that may be anything; how many said what is wrong. */
static size_t complaints(struct fixture *fixture, const char *path)
{
	struct source_list contents;
	struct error error = ERROR_INIT;
	size_t told = 0;

	if (packets_file_contents(path, &contents, &error)) {
		assert_ptr_equal(strstr(error_text(&error), path), error_text(&error));
		assert_non_null(strstr(error_text(&error), "offset"));
		error_clear(&error);
		return SIZE_MAX;
	}
	for (size_t i = 0; i < contents.count; i++) {
		struct problem_list problems = {0};
		struct packet_source packets;

		read_source(fixture, path, i, &problems, &packets);
		for (size_t k = 0; k < problems.count; k++)
			if (problems.item[k].kind == PROBLEM_TRUNCATED ||
			    problems.item[k].kind == PROBLEM_DAMAGED) {
				assert_string_equal(problems.item[k].place, path);
				assert_non_null(strstr(problems.item[k].text, "offset"));
				told++;
				break;
			}
		problem_clear(&problems);
	}
	source_list_clear(&contents);
	return told;
}

/* Whatever is whole before a cut comes, and each source that lacks something tells. */
TEST(a_cut_is_told)
{
	struct fixture fixture;
	char *bytes;

	fixture_make(&fixture, 40);
	bytes = load(fixture.size);
	/* The end, of 32 bytes, says nothing that the facts did not. */
	assert_int_equal(complaints(&fixture, "n.packets"), 0);
	for (size_t size = 0; size + 32 < fixture.size; size++) {
		scratch_bytes("cut", bytes, size);
		assert_true(complaints(&fixture, "cut") > 0);
	}
	free(bytes);
	fixture_clear(&fixture);
}

TEST(long_files_are_used_up_to_the_cut)
{
	struct problem_list problems = {0};
	struct packet_source packets;
	struct fixture fixture;
	char *bytes;

	do {
		fixture_make(&fixture, MOST);
	} while (fixture.count[1] < 8192 && (fixture_clear(&fixture), true));
	bytes = load(fixture.size);
	scratch_bytes("cut", bytes, fixture.size / 3 * 2);
	read_source(&fixture, "cut", 1, &problems, &packets);
	assert_int_equal(fixture.came[1] % 4096, 0);
	assert_true(fixture.came[1] > 0);
	assert_int_equal(packets.facts.events, fixture.came[1]);
	assert_int_equal(packets.facts.begin_ns, fixture.begin_ns[1]);
	assert_int_equal(packets.facts.end_ns,
			 fixture.item[1][fixture.came[1] - 1].event_ns);
	assert_int_equal(problems.count, 1);
	problem_clear(&problems);
	free(bytes);
	fixture_clear(&fixture);
}

/* A changed byte is seen, wherever it is; what comes is still what was written. */
TEST(damage_is_told)
{
	struct fixture fixture;
	char *bytes;

	fixture_make(&fixture, 40);
	bytes = load(fixture.size);
	for (size_t at = 0; at + 32 < fixture.size; at++) {
		char was = bytes[at];

		bytes[at] = (char)(was ^ (1 << draw() % 8));
		scratch_bytes("bad", bytes, fixture.size);
		assert_true(complaints(&fixture, "bad") > 0);
		bytes[at] = was;
	}
	free(bytes);
	fixture_clear(&fixture);
}

/* Facts with times that no arithmetic can be done with are told, and not used. */
TEST(extreme_times_are_refused)
{
	static const nsec_t extreme[] = {NSEC_MIN, NSEC_MAX, NSEC_STAMP_LEAST - 1};

	for (size_t i = 0; i < 3; i++) {
		FILE *file = fopen("x.packets", "wb");
		struct packets_writer *writer = packets_writer_new(file, 1);
		struct source source = {.name = (char *)"n"};
		struct packet_source first = {
		    .facts = {.has_uuid = true, .clock_offset_ns = extreme[i]}};
		struct packet_source last = {
		    .facts = {.begin_ns = 5, .end_ns = extreme[i], .events = 1},
		    .counts = {.sent = 1}};
		struct problem_list problems = {0};
		struct packet_source packets;
		struct packet_event event = {
		    .ns = 5, .event_ns = 5, .whole_ns = NSEC_MAX};
		struct fixture fixture = {.count = {1}, .item = {&event}};

		packets_writer_describe(writer, 0, &source, &first);
		packets_writer_add(writer, 0, &event, 5);
		packets_writer_finish(writer, 0, &last);
		packets_writer_end(writer);
		assert_int_equal(fclose(file), 0);
		read_source(&fixture, "x.packets", 0, &problems, &packets);
		assert_int_equal(packets.facts.begin_ns, 5);
		assert_int_equal(packets.facts.end_ns, 5);
		assert_false(packets.facts.has_clock);
		assert_int_equal(problems.count, 2);
		for (size_t k = 0; k < 2; k++) {
			assert_int_equal(problems.item[k].kind, PROBLEM_DAMAGED);
			assert_non_null(strstr(problems.item[k].text, "not a time"));
		}
		problem_clear(&problems);
	}
}

static void assert_refused(const char *bytes, size_t size, const char *why)
{
	struct source_list contents;
	struct error error = ERROR_INIT;

	scratch_bytes("no", bytes, size);
	assert_int_equal(packets_file_contents("no", &contents, &error), -1);
	assert_string_equal(error_text(&error), why);
	error_clear(&error);
}

TEST(foreign_and_newer_files_are_refused)
{
	static const char newer[] = "\x89"
				    "ctpk\r\n\x1a\x03\0\0\0\x96\x5b\xa4\x35";
	struct error error = ERROR_INIT;

	assert_refused("", 0, "no: not a .packets file: bad magic number (offset 0)");
	assert_refused("metadata of something", 21,
		       "no: not a .packets file: bad magic number (offset 0)");
	assert_refused(newer, 10, "no: truncated header (offset 10)");
	assert_refused(newer, 16, "no: unknown version 3 (offset 8; expected 2)");
	assert_false(packets_file_probe("no such file"));
	assert_false(packets_file_probe("."));
	assert_null(packets_file_open(".", 0, &error));
	assert_string_equal(error_text(&error),
			    ".: not a regular file (expected a .packets file)");
	error_clear(&error);
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
