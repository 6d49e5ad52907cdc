/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_PACKET_SOURCE_H
#define CT_INPUT_PACKET_SOURCE_H

#include <stddef.h>
#include <stdlib.h>

#include "base/error.h"
#include "input/packet.h"
#include "problem/problem.h"
#include "trace/reader.h"

/*
 * A source of packets, in the order of its clock: a trace, a capture or a file of packet
 * events.
 *
 * Reading goes in steps, so that a few threads can read many sources; each source must be
 * used by one thread at a time. An implementation embeds `base` first.
 */
struct packet_source;

typedef void packet_event_fn(void *context, const struct packet_event *packet_event);

struct packet_counts {
	uint64_t sent, received; /* packet events */
	uint64_t network_events; /* events of any kind that could be a packet's */
	uint64_t headerless;     /* received without any recorded header */
	bool lacks_gro;          /* nothing records when received packets enter GRO */
};

struct packet_source {
	/*
	 * Read for some milliseconds and call `on_packet` for each packet. Damaged input
	 * ends the source and becomes a problem. Return false at the end.
	 */
	bool (*step)(struct packet_source *source, packet_event_fn *on_packet,
		     void *context);
	void (*free)(struct packet_source *source); /* frees what the base does not own */
	char *path;
	struct trace_reader *reader; /* reader of a trace's events, or NULL */
	struct trace_facts facts;    /* they grow while the source is read */
	struct packet_counts counts; /* likewise */
	bool has_counted; /* some of its declared messages are counted, so that the order
			     of its events matters */
	struct problem_list problems; /* the caller may move it away */
	bool ended;
	uint8_t guessed_host[6]; /* Ethernet address guessed for a capture's node, or 0 */
};

/* An address of the source's node, in the form of packet.src. */
struct node_address {
	uint8_t family; /* 4 or 6 */
	uint8_t bytes[16];
};

/* One file of a capture that was rotated, with its first and last timestamp. */
struct capture_part {
	char *path;
	nsec_t begin_ns, end_ns; /* NSEC_MAX if it has no packet */
};

struct capture_input {
	const char *path; /* path of the file, or of the first part found */
	const struct capture_part *part; /* parts in the order of their times, or NULL */
	size_t parts;
	const char *name;                 /* name that --local uses for the capture */
	const struct node_address *local; /* the node's own addresses, or NULL */
	size_t locals;
	/* Ethernet addresses of hosts on which other captures were made. */
	const uint8_t (*other)[6];
	size_t others;
};

static inline bool packet_source_step(struct packet_source *source,
				      packet_event_fn *on_packet, void *context)
{
	if (!source->ended)
		source->ended = !source->step(source, on_packet, context);
	return !source->ended;
}

static inline void packet_source_free(struct packet_source *source)
{
	if (!source)
		return;
	problem_clear(&source->problems);
	free(source->path);
	source->free(source);
}

#endif
