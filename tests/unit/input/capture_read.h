/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_CAPTURE_READ_H
#define CT_TESTS_CAPTURE_READ_H

#include <stdlib.h>
#include <unistd.h>

#include "../scratch.h"
#include "capture_file.h"
#include "input/capture/frames.h"
#include "input/capture/packets.h"
#include "input/packet_source.h"

enum {
	IPV4 = 0x0800,
	ETHERNET = 1,       /* link type */
	HOURS = 1795228732, /* seconds since the epoch, of most packets here */
};

#define AT(nanoseconds) ((nsec_t)HOURS * NSEC_PER_SEC + (nanoseconds))

/* Host 1 is the node of every capture here. */
static const struct node_address host1[] = {
    {4, {10, 0, 0, 1}},
    {6, {0xfd, [15] = 1}},
};

static char path[] = "n1.pcap";

static inline bool is_capture(const char *place)
{
	struct error error = ERROR_INIT;
	bool is = capture_probe(place, &error);

	error_clear(&error);
	return is;
}

static inline struct capture_file create(bool big)
{
	struct capture_file file = {fopen(path, "wb"), big};

	assert_non_null(file.file);
	return file;
}

/* A segment between two hosts in an Ethernet frame. */
static inline struct bytes segment(unsigned from, unsigned to, uint32_t seq)
{
	struct bytes bytes = {0};

	put_ethernet(&bytes, from, to, IPV4);
	put_segment(&bytes, from, to, seq);
	return bytes;
}

struct seen {
	struct packet_event item[16];
	size_t count; /* of all, also of those that have no place */
};

/* The source that a test opened, and the packet events that it read. */
static struct packet_source *opened;
static struct seen seen;

static inline int capture_close(void **state __attribute__((unused)))
{
	packet_source_free(opened);
	opened = NULL;
	memset(&seen, 0, sizeof(seen));
	return 0;
}

/* A test that closes its capture at the end. */
#define CAPTURE_TEST(name) FIXTURE_TEST(name, NULL, capture_close)

static inline void collect(void *context __attribute__((unused)),
			   const struct packet_event *packet_event)
{
	if (seen.count < sizeof(seen.item) / sizeof(*seen.item))
		seen.item[seen.count] = *packet_event;
	seen.count++;
}

/* Read the file that is at the path. */
static inline void read_all(struct capture_file *file)
{
	struct error error = ERROR_INIT;

	fclose(file->file);
	capture_close(NULL);
	assert_true(is_capture(path));
	opened = capture_packets_open(
	    &(struct capture_input){
		.path = path, .name = "n1", .local = host1, .locals = 2},
	    &error);
	assert_string_equal(error_text(&error), "");
	assert_non_null(opened);
	while (packet_source_step(opened, collect, NULL))
		;
	assert_false(packet_source_step(opened, collect, NULL));
}

/* The same, of a file that has no problems. */
static inline void read_whole(struct capture_file *file)
{
	read_all(file);
	assert_int_equal(opened->problems.count, 0);
}

static inline void assert_problem(const char *kind, uint64_t count, const char *text)
{
	const struct problem_list *problems = &opened->problems;

	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *problem = &problems->item[i];

		if (strcmp(problem_kind_word(problem->kind), kind) != 0)
			continue;
		assert_int_equal(problem->count, count);
		assert_string_equal(problem->place, path);
		assert_ptr_equal(strstr(problem->text, text), problem->text);
		return;
	}
	fail_msg("no problem of kind %s", kind);
}

static inline void assert_sent(const struct packet_event *packet_event, nsec_t ns,
			       uint32_t seq)
{
	assert_false(packet_event->received);
	assert_int_equal(packet_event->ns, ns);
	assert_int_equal(packet_event->packet.seq, seq);
}

static inline void assert_received(const struct packet_event *packet_event, nsec_t ns,
				   uint32_t seq)
{
	assert_true(packet_event->received);
	assert_int_equal(packet_event->ns, ns);
	assert_int_equal(packet_event->whole_ns, ns);
	assert_int_equal(packet_event->packet.seq, seq);
}

#endif
