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
	uint64_t network_events; /* of any kind that could be a packet's */
	uint64_t headerless;     /* received without any recorded header */
	bool lacks_gro;          /* nothing records when received packets enter GRO */
};

struct packet_source {
	/*
	 * Read for some milliseconds and call `give` for each packet. Damaged input ends
	 * the source and becomes a problem. Return false at the end.
	 */
	bool (*step)(struct packet_source *source, packet_event_fn *give, void *context);
	void (*free)(struct packet_source *source); /* frees what the base does not own */
	char *path;
	struct trace_reader *reader; /* of a trace's events, or NULL */
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

/*
 * Open a capture. Borrows what `input` points to until the source is freed. Without
 * addresses of the node, sent and received packets are distinguished by the capture's
 * frames. Return NULL with error, which suggests --local if that is missing.
 */
struct packet_source *capture_packets_open(const struct capture_input *input,
					   struct error *error);

/* Open a trace. Return NULL with error. */
struct packet_source *trace_packets_open(const char *path, struct error *error);

/* Set the origin of a trace's clock, as trace_reader_set_origin() does. */
void trace_packets_set_origin(struct packet_source *source,
			      const struct clock_origin *origin);

struct declared_message;

/* Set the messages that are declared for a trace (input/declared.h). Borrows them. Before
 * the first step. */
void trace_packets_declare(struct packet_source *source,
			   const struct declared_message *const *message, size_t count);

/*
 * Open a capture as a reader of events: every packet is one of class "packet". Fields
 * are selected as columns only.
 */
struct trace_reader *capture_records_open(const struct capture_input *input,
					  struct error *error);

static inline bool packet_source_step(struct packet_source *source, packet_event_fn *give,
				      void *context)
{
	if (!source->ended)
		source->ended = !source->step(source, give, context);
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

/*
 * LTTng's kernel events for packets, of lttng-modules 2.9 to 2.13, and the addons' socket
 * events. An exit belongs to the entry of the same position.
 */
enum {
	CLASS_QUEUE,
	CLASS_RECEIVE,
	CLASS_OLD_RECEIVE,
	CLASS_XMIT,
	CLASS_GRO_ENTRY,
	CLASS_GRO_EXIT,
	CLASS_FRAGS_ENTRY,
	CLASS_FRAGS_EXIT,
	CLASS_SOCKET_OUT,
	CLASS_SOCKET_IN,
	PACKET_CLASSES,
};

/* A packet class and its selected fields. */
struct packet_class {
	const char *name;
	const char *const *field;
	size_t fields;
};

extern const struct packet_class packet_classes[PACKET_CLASSES];

/* Cells of CLASS_QUEUE and of either receive; headers follow. */
enum { FIELD_SKB, FIELD_NAME, FIELD_LENGTH, FIELD_HEADERS };

/*
 * Decode the packet of an event and its time to live, or the transport part of a socket
 * event. Return 0, or -1 if the event has no header that both hosts see.
 */
int trace_packet_decode(const struct cell *value, struct packet_event *packet_event);
int trace_socket_decode(const struct cell *value, struct packet *packet);

#endif
