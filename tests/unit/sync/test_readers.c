/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/observe/readers.h"

#include <netinet/in.h>
#include <string.h>

#include "fake_source.h"

#include "../draw.h"

enum { SOURCES = 12, MOST = 3000, TICK = 1000, STEP = 20, ORDERED = 64 };

#define RUN (MOST * (nsec_t)TICK)

/* Sources whose clocks are anywhere, and which begin and end as they like. */
struct fixture {
	struct packet_source *source[SOURCES];
	size_t count[SOURCES], all;
	nsec_t offset[SOURCES];
	int freed;
	/* Arrivals so far. */
	size_t came[SOURCES], came_all, stop_at;
	nsec_t at[SOURCES]; /* run time of the last one */
	struct readers *readers;
	bool ties, is_stopped;
	size_t since_begun;
	nsec_t ahead; /* the most that one was of another */
};

static void add_source(struct fixture *fixture, size_t index, size_t count, nsec_t begin)
{
	struct packet_event *item = mem_zalloc((count + 1) * sizeof(*item));
	struct fake_source *fake;

	fixture->count[index] = count;
	fixture->all += count;
	fixture->offset[index] = draw_between(-RUN * 1000, RUN * 1000);
	for (size_t i = 0; i < count; i++) {
		item[i].ns = begin + fixture->offset[index] + (nsec_t)i * TICK;
		item[i].packet.id = (uint32_t)i;
		item[i].packet.seq = (uint32_t)index;
	}
	fake = fake_source_new("", item, count);
	fake->most = STEP;
	fake->freed = &fixture->freed;
	fake->state = draw();
	fixture->source[index] = &fake->base;
}

static void fixture_draw(struct fixture *fixture)
{
	memset(fixture, 0, sizeof(*fixture));
	for (size_t i = 0; i < SOURCES; i++)
		add_source(fixture, i, i == 3 ? 0 : (size_t)draw_between(1, MOST), 0);
}

/*
 * Measure how far a source is ahead of others that still go on, once all have begun
 * and what was ordered before the last tie is given.
 */
static void measure(struct fixture *fixture, uint32_t source)
{
	for (size_t i = 0; i < SOURCES; i++)
		if (!fixture->came[i])
			return;
	if (fixture->since_begun++ < ORDERED)
		return;
	for (size_t i = 0; i < SOURCES; i++) {
		nsec_t ahead = fixture->at[source] - fixture->at[i];

		if (fixture->came[i] < fixture->count[i] && ahead > fixture->ahead)
			fixture->ahead = ahead;
	}
}

static void take_one(struct fixture *fixture, uint32_t source,
		     const struct packet_event *packet_event)
{
	assert_true(source < SOURCES);
	assert_true(packet_event->hash == packet_hash(&packet_event->packet));
	assert_int_equal(packet_event->packet.seq, source);
	assert_int_equal(packet_event->packet.id, fixture->came[source]);
	fixture->came[source]++;
	fixture->came_all++;
	fixture->at[source] = packet_event->ns - fixture->offset[source];
	if (fixture->ties && fixture->came[0])
		readers_align(fixture->readers, 0,
			      fixture->at[source] + fixture->offset[0], source,
			      packet_event->ns);
	measure(fixture, source);
}

static void run(struct fixture *fixture, int threads)
{
	struct progress progress = {.shown = false};
	struct arrival arrival[ARRIVALS_AT_ONCE];
	size_t count;

	fixture->readers = readers_new(fixture->source, SOURCES, threads, &progress);
	while (!fixture->is_stopped &&
	       (count = readers_next(fixture->readers, arrival))) {
		for (size_t i = 0; i < count; i++)
			take_one(fixture, arrival[i].trace_index,
				 arrival[i].packet_event);
		fixture->is_stopped =
		    fixture->stop_at && fixture->came_all >= fixture->stop_at;
	}
	readers_free(fixture->readers);
	for (size_t i = 0; i < SOURCES; i++)
		packet_source_free(fixture->source[i]);
	assert_int_equal(fixture->freed, SOURCES);
}

TEST(everything_arrives_once_and_in_order)
{
	static const int threads[] = {1, 2, 8};

	for (int i = 0; i < 15; i++) {
		struct fixture fixture;

		fixture_draw(&fixture);
		fixture.ties = i % 2;
		run(&fixture, threads[i % 3]);
		assert_int_equal(fixture.came_all, fixture.all);
		for (size_t k = 0; k < SOURCES; k++)
			assert_int_equal(fixture.came[k], fixture.count[k]);
	}
}

TEST(a_consumer_may_stop)
{
	static const int threads[] = {1, 2, 8};

	for (int i = 0; i < 30; i++) {
		struct fixture fixture;

		fixture_draw(&fixture);
		fixture.stop_at = i < 3 ? 1 : (size_t)draw_between(1, 10000);
		if (fixture.stop_at > fixture.all)
			fixture.stop_at = fixture.all;
		run(&fixture, threads[i % 3]);
		assert_true(fixture.is_stopped);
	}
}

/* Some begin late in the run, by clocks that are anywhere. */
static nsec_t most_ahead(bool ties)
{
	struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	for (size_t i = 0; i < SOURCES; i++)
		add_source(&fixture, i, MOST, i ? draw_between(0, RUN / 2) : 0);
	fixture.ties = ties;
	run(&fixture, 1);
	assert_int_equal(fixture.came_all, fixture.all);
	return fixture.ahead;
}

TEST(ties_keep_sources_together)
{
	/* Untied, each is read from its own begin. */
	assert_true(most_ahead(false) > RUN / 10);
	/* Tied, they come in the order of time, whatever a step has. */
	assert_true(most_ahead(true) <= TICK);
}

/* One packet of each of two sources, which arrives with this number. */
static void take_packets(const struct packet packet[2], bool has_data, uint32_t expected)
{
	struct progress progress = {.shown = false};
	struct arrival arrival[ARRIVALS_AT_ONCE];
	struct packet_source *source[2];
	struct readers *readers;
	size_t count, all = 0;

	for (int i = 0; i < 2; i++) {
		struct packet_event *item = mem_zalloc(sizeof(*item));

		item->packet = packet[i];
		source[i] = &fake_source_new("", item, 1)->base;
		source[i]->facts.has_udp_data = i == 0 || has_data;
	}
	readers = readers_new(source, 2, 1, &progress);
	while ((count = readers_next(readers, arrival)))
		for (size_t i = 0; i < count; i++, all++) {
			const struct packet_event *one = arrival[i].packet_event;

			assert_int_equal(one->packet.seq, expected);
			assert_true(one->hash == packet_hash(&one->packet));
			assert_true(
			    packet_equal(&one->packet, &arrival[0].packet_event->packet));
		}
	assert_int_equal(all, 2);
	readers_free(readers);
	packet_source_free(source[0]);
	packet_source_free(source[1]);
}

/* These hashes of the first source are known, and those of the second one perhaps. */
TEST(hashes_of_data_count_where_all_have_them)
{
	struct packet packet[2] = {{.protocol = IPPROTO_UDP, .seq = 4711},
				   {.protocol = IPPROTO_UDP, .seq = 4711}};

	take_packets(packet, true, 4711);
	packet[1].seq = 0;
	take_packets(packet, false, 0);
}

/* The header of a received echo is what the kernel had there before. */
TEST(the_fields_of_icmp_count_only_without_an_identification)
{
	struct packet packet[2] = {{.known = PACKET_NETWORK | PACKET_TRANSPORT,
				    .family = 4,
				    .protocol = IPPROTO_ICMP,
				    .id = 15364,
				    .sport = 8 << 8,
				    .seq = 28639233}};

	packet[1] = packet[0];
	packet[1].sport = 144 << 8 | 15;
	packet[1].seq = 21832;
	take_packets(packet, true, 0);
	packet[0].id = 0;
	packet[1] = packet[0];
	take_packets(packet, true, 28639233);
}

TEST(no_source_is_no_work)
{
	struct progress progress = {.shown = false};
	struct readers *readers = readers_new(NULL, 0, 2, &progress);
	struct arrival arrival[ARRIVALS_AT_ONCE];

	assert_int_equal(readers_next(readers, arrival), 0);
	readers_free(readers);
	readers_free(NULL);
}
