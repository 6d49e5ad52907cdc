/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_MADE_UP_H
#define CT_TEST_MADE_UP_H

/*
 * Traces and captures that are made up, in the place of those that are read
 * from files: a test that includes this has its own trace_packets_open.
 */
#include "sync/describe.h"
#include "sync/trust.h"

#include "fake_source.h"

#include "../scratch.h"
#include "input/capture/packets.h"
#include "input/trace_packets.h"

/* A stand-in for a trace or a capture at a path. */
struct made_up {
	const char *path;
	struct trace_facts facts;
	struct packet_event item[8];
	size_t count;
	bool is_broken;
};

static struct made_up made[4];
static size_t made_count;

static inline struct packet_source *open_made(const char *path, struct error *error)
{
	for (size_t i = 0; i < made_count; i++) {
		struct packet_event *item;
		struct fake_source *fake;

		if (strcmp(made[i].path, path) != 0 || made[i].is_broken)
			continue;
		item = mem_alloc(sizeof(made[i].item));
		memcpy(item, made[i].item, sizeof(made[i].item));
		fake = fake_source_new(path, item, made[i].count);
		fake->base.facts = made[i].facts;
		problem_add(&fake->base.problems, path, PROBLEM_OTHER, 1, "is made up");
		return &fake->base;
	}
	error_set(error, "%s: cannot be read", path);
	return NULL;
}

/* In the place of the readers of files. */
void trace_packets_set_origin(struct packet_source *source,
			      const struct clock_origin *origin)
{
	(void)source;
	(void)origin;
}

void trace_packets_declare(struct packet_source *source,
			   const struct declared_message *const *message, size_t count)
{
	(void)source;
	(void)message;
	(void)count;
}

struct packet_source *trace_packets_open(const char *path, struct error *error)
{
	return open_made(path, error);
}

struct packet_source *capture_packets_open(const struct capture_input *input,
					   struct error *error)
{
	return open_made(input->path, error);
}

static inline struct made_up *make(const char *path, const char *hostname)
{
	struct made_up *source = &made[made_count++];

	memset(source, 0, sizeof(*source));
	source->path = path;
	scratch_text(path, "");
	snprintf(source->facts.hostname, sizeof(source->facts.hostname), "%s", hostname);
	return source;
}

static inline void saw(struct made_up *source, bool received, uint32_t id, nsec_t ns)
{
	source->item[source->count++] =
	    (struct packet_event){.packet = {.known = PACKET_NETWORK, .id = id},
				  .ns = ns,
				  .whole_ns = ns,
				  .received = received};
}

struct read {
	struct observations seen;
	struct synchronization sync;
	struct problem_list problems;
	struct error error;
	int status;
};

/* Read all that was made, by names or NULL. */
static inline void read_made(struct read *read, const char *const *name)
{
	const struct observe_options options = {.threads = 2, .in_flight = 100};
	struct progress progress = {.shown = false};
	static struct source item[4]; /* which what was read borrows */
	static struct source_list list;

	memset(read, 0, sizeof(*read));
	list = (struct source_list){.item = item, .count = made_count, .capacity = 4};
	for (size_t i = 0; i < made_count; i++)
		item[i] = (struct source){.kind = SOURCE_TRACE,
					  .name = name ? (char *)name[i] : NULL,
					  .path = (char *)made[i].path};
	read->status = observe_sources(&list, &options, &read->seen, &read->problems,
				       &progress, &read->error);
}

static inline void read_clear(struct read *read)
{
	synchronization_clear(&read->sync);
	observations_clear(&read->seen);
	problem_clear(&read->problems);
	error_clear(&read->error);
}

/* A web server and its database, one message each way. */
static inline void make_talk(void)
{
	struct made_up *a = make("a", "web"), *b = make("b", "db");

	saw(a, false, 1, 1000);
	saw(b, true, 1, 72000);
	saw(b, false, 2, 73000);
	saw(a, true, 2, 3000);
}

static inline int set_up(void **state)
{
	made_count = 0;
	return scratch_enter(state);
}

#endif
