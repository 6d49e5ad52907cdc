/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <stdlib.h>
#include <unistd.h>

#include "../scratch.h"
#include "capture_file.h"
#include "input/capture/packets.h"
#include "input/capture/survey.h"

/*
 * Captures made on host 1, read without anybody saying so.
 */
enum { IPV4 = 0x0800, ETHERNET = 1, RAW = 101, COOKED = 113 };

static const char unclear[] =
    "cannot tell which addresses are the node's own; name each with "
    "--local n1=ADDR, from ";

static void look(struct survey *survey, enum frame_link link, const struct bytes *bytes)
{
	struct frame frame;
	enum frame_status status =
	    frame_decode(&frame, link, bytes->data, bytes->count, bytes->count);

	survey_add(survey, &frame, status);
}

static struct bytes segment(unsigned from, unsigned to)
{
	struct bytes bytes = {0};

	put_ethernet(&bytes, from, to, IPV4);
	put_segment(&bytes, from, to, 1);
	put_zeros(&bytes, 20);
	bytes.data[17] = 60; /* the IPv4 total length: neither short nor padded */
	return bytes;
}

static void look_at(struct survey *survey, int times, unsigned from, unsigned to)
{
	struct bytes bytes = segment(from, to);

	for (int i = 0; i < times; i++)
		look(survey, FRAME_ETHERNET, &bytes);
}

/* There and back. */
static void look_at_both(struct survey *survey, int times, unsigned a, unsigned b)
{
	look_at(survey, times, a, b);
	look_at(survey, times, b, a);
}

static void assert_host1(struct survey *survey)
{
	static const uint8_t ethernet[6] = {2, [5] = 1};
	struct error error = ERROR_INIT;
	struct sides sides = {0};

	assert_int_equal(survey_decide(survey, "n1", &sides, &error), 0);
	assert_string_equal(error_text(&error), "");
	assert_int_equal(sides.rule, SIDES_BY_LINK);
	assert_memory_equal(sides.ethernet, ethernet, 6);
	survey_free(survey);
}

static void assert_unclear(struct survey *survey, const char *addresses)
{
	char want[256];
	struct error error = ERROR_INIT;
	struct sides sides = {0};

	assert_int_equal(survey_decide(survey, "n1", &sides, &error), -1);
	snprintf(want, sizeof(want), "%s%s", unclear, addresses);
	assert_string_equal(error_text(&error), want);
	error_clear(&error);
	survey_free(survey);
}

TEST(test_most_packets)
{
	struct survey *survey = survey_new();

	look_at_both(survey, 50, 1, 2);
	look_at_both(survey, 30, 3, 1);
	look_at(survey, 500, 2, EVERYBODY);
	assert_host1(survey);
}

TEST(test_promiscuous)
{
	struct survey *survey = survey_new();

	/* A host that knows the others' addresses sends them little. */
	look_at_both(survey, 50, 1, 2);
	look_at_both(survey, 45, 1, 3);
	look_at_both(survey, 10, 2, 3);
	assert_host1(survey);

	/* Another host may talk most on a hub. */
	survey = survey_new();
	look_at_both(survey, 40, 1, 2);
	look_at_both(survey, 40, 1, 3);
	look_at_both(survey, 30, 2, 3);
	assert_unclear(survey, "10.0.0.1, 10.0.0.2, 10.0.0.3");

	/* Everybody talks to everybody. */
	survey = survey_new();
	look_at_both(survey, 50, 1, 2);
	look_at_both(survey, 49, 2, 3);
	look_at_both(survey, 48, 3, 1);
	assert_unclear(survey, "10.0.0.2, 10.0.0.1, 10.0.0.3");
}

TEST(test_single_partner)
{
	struct survey *survey = survey_new();

	look_at_both(survey, 50, 1, 2);
	assert_unclear(survey, "10.0.0.1, 10.0.0.2");

	/* Host 2 asks for others, and the switch sends some of that to all. */
	survey = survey_new();
	look_at_both(survey, 500, 1, 2);
	look_at(survey, 1, 1, 3);
	look_at(survey, 20, 2, EVERYBODY);
	assert_unclear(survey, "10.0.0.2, 10.0.0.1, 10.0.0.3");
}

TEST(test_open_checksums_leave)
{
	struct survey *survey = survey_new();

	for (int i = 0; i < 20; i++) {
		struct bytes out = segment(1, 2);

		out.data[50] = 0x14; /* 10.0.0.1 to .2, TCP, 40 bytes */
		out.data[51] = 0x31;
		look(survey, FRAME_ETHERNET, &out);
		look_at(survey, 1, 2, 1);
	}
	/* That tells more than how much who sends. */
	look_at_both(survey, 300, 2, 3);
	assert_host1(survey);
}

/* IP addresses alone do not tell. */
TEST(test_raw)
{
	struct survey *survey = survey_new();

	for (unsigned i = 0; i < 40; i++) {
		struct bytes bytes = {0};

		put_segment(&bytes, i % 2 ? 1 : 2 + i % 3, i % 2 ? 2 + i % 3 : 1, 1);
		look(survey, FRAME_RAW, &bytes);
	}
	assert_unclear(survey, "10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4");
}

TEST(test_too_little)
{
	struct survey *survey = survey_new();
	struct error error = ERROR_INIT;
	struct sides sides = {0};

	/* Without a packet there is nothing to tell. */
	assert_int_equal(survey_decide(survey, "n1", &sides, &error), 0);
	look_at(survey, 3, 1, EVERYBODY);
	assert_unclear(survey, "10.0.0.1");
}

static char path[] = "n1.pcap";

static void ignore(void *context, const struct packet_event *packet_event)
{
	(void)context;
	(void)packet_event;
}

static struct packet_source *read_all(struct capture_file *file)
{
	struct error error = ERROR_INIT;
	struct packet_source *source;

	fclose(file->file);
	source = capture_packets_open(
	    &(struct capture_input){
		.path = path, .name = "n1", .local = NULL, .locals = 0},
	    &error);
	assert_string_equal(error_text(&error), "");
	assert_non_null(source);
	while (packet_source_step(source, ignore, NULL))
		;
	return source;
}

/* The first 30,000 packets do not tell, what comes then does. */
TEST(test_long_capture)
{
	struct capture_file file = {fopen(path, "wb"), false};
	struct packet_source *source;

	write_pcap(&file, MICRO, ETHERNET);
	for (uint32_t i = 0; i < 35000; i++) {
		unsigned partner = i < 30000 ? 2 : 3;
		struct bytes bytes = i % 2 ? segment(1, partner) : segment(partner, 1);

		write_packet(&file, 1, i, &bytes);
	}
	source = read_all(&file);
	assert_int_equal(source->counts.sent, 17500);
	assert_int_equal(source->counts.received, 17500);
	assert_int_equal(source->problems.count, 0);
	packet_source_free(source);
}

TEST(test_refused_capture)
{
	struct capture_file file = {fopen(path, "wb"), false};
	struct bytes out = segment(1, 2), in = segment(2, 1);
	struct error error = ERROR_INIT;
	char want[256];

	write_pcap(&file, MICRO, ETHERNET);
	write_packet(&file, 1, 1, &out);
	write_packet(&file, 1, 2, &in);
	fclose(file.file);
	assert_null(capture_packets_open(
	    &(struct capture_input){
		.path = path, .name = "n1", .local = NULL, .locals = 0},
	    &error));
	snprintf(want, sizeof(want), "%s: %s10.0.0.1, 10.0.0.2", path, unclear);
	assert_string_equal(error_text(&error), want);
	error_clear(&error);
}

TEST(test_foreign_packets)
{
	struct capture_file file = {fopen(path, "wb"), false};
	struct bytes frame[] = {segment(1, 2), segment(3, 1), segment(2, 3)};
	struct packet_source *source;
	struct problem *problem;

	write_pcap(&file, MICRO, ETHERNET);
	for (uint32_t i = 0; i < 50; i++)
		write_packet(&file, 1, i, &frame[i % 10 == 9 ? 2 : i % 2]);
	source = read_all(&file);
	assert_int_equal(source->counts.sent, 25);
	assert_int_equal(source->counts.received, 20);
	assert_int_equal(source->problems.count, 1);
	problem = source->problems.item;
	assert_int_equal(problem->kind, PROBLEM_FOREIGN);
	assert_int_equal(problem->count, 5);
	assert_string_equal(problem->text,
			    "5 packets are neither from nor to this node; skipped");
	packet_source_free(source);
}

TEST(test_cooked_says_it_itself)
{
	struct capture_file file = {fopen(path, "wb"), false};
	struct packet_source *source;

	write_pcap(&file, MICRO, COOKED);
	for (unsigned type = 0; type <= 4; type++) {
		struct bytes bytes = {0};

		put_cooked(&bytes, type, 1, IPV4);
		put_segment(&bytes, 1, 2, type);
		write_packet(&file, 1, type, &bytes);
	}
	source = read_all(&file);
	assert_int_equal(source->counts.sent, 1);
	assert_int_equal(source->counts.received, 3);
	assert_int_equal(source->problems.item[0].count, 1);
	packet_source_free(source);
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
