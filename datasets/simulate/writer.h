/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_WRITER_H
#define CT_SIMULATE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "input/packet.h"

/*
 * The interface between the simulator's model and the writers: events of the nodes'
 * kernels, as the tracer or the capture of each node would record them.
 */

/* The type of a recorded field; names and sizes as in lttng-modules 2.13. */
enum sim_type {
	SIM_U8,
	SIM_U16,
	SIM_U32,
	SIM_U64,
	SIM_HEX64, /* an address: unsigned, shown in base 16 */
	SIM_S32,
	SIM_S64,
	SIM_TEXT,     /* string */
	SIM_COMM,     /* string in an array of 16 bytes */
	SIM_S32_LIST, /* sequence of s32: its length, always 1, and the number */
	SIM_PACKET,   /* the network_header_type and network_header of a packet */
};

struct sim_field {
	const char *name;
	enum sim_type type;
};

struct sim_class {
	const char *name; /* "sched_switch" */
	const struct sim_field *field;
	size_t fields;
	/* Its place in a capture. */
	enum { SIM_NOT_CAPTURED, SIM_CAPTURED_SENT, SIM_CAPTURED_RECEIVED } capture;
};

union sim_value {
	uint64_t u;
	int64_t i;
	const char *text;
	const struct packet *packet; /* NULL: no header recorded */
};

struct sim_event {
	uint32_t node;
	uint32_t cpu;
	int64_t mono_ns; /* the node's CLOCK_MONOTONIC: the trace's raw clock value */
	int64_t true_ns; /* for the clock of a network card */
	const struct sim_class *class;
	const union sim_value *value; /* one per field */
	uint8_t routers;              /* passed by its packet: subtracted from its TTL */
	bool overheard;               /* in the promiscuous capture of another node */
};

/* The layout of event headers, in LTTng's terms. */
enum sim_event_header {
	SIM_HEADER_FULL,    /* timestamps of 64 bits */
	SIM_HEADER_COMPACT, /* id of 5 bits and timestamp of 27, or extended */
	SIM_HEADER_LARGE,   /* id of 16 bits and timestamp of 32, or extended */
};

/* The format of a trace. */
enum sim_trace_format {
	SIM_CTF_1_8,
	SIM_CTF_2_LTTNG, /* the streams of CTF 1.8, with metadata as LTTng writes it */
	SIM_CTF_2,       /* also with field classes that LTTng does not use */
};

/* A node as traces, captures and node.json describe it. */
struct sim_node {
	const char *name;
	unsigned cpus;
	int64_t realtime_offset_ns; /* CLOCK_REALTIME less CLOCK_MONOTONIC */
	unsigned char mac[6];
	uint8_t address[2][16];    /* IPv4, IPv6; as in struct packet */
	unsigned char boot_id[16]; /* the clock's uuid */
	uint16_t vlan;             /* tag of captured frames, or 0 */
	int64_t card_ns;   /* its lead of CLOCK_REALTIME; of true time if it is free */
	bool card_is_free; /* it runs by itself, */
	double card_ppm;   /* by so much faster than true time since card_begin_ns */
	int64_t card_begin_ns;
	double captured_twice; /* share of frames */
	enum sim_event_header event_header;
	enum sim_trace_format format;
};

struct sim_writer;

/*
 * Add an event, which is borrowed for the call. Return 0, or -1 with error, after which
 * the writer can only be finished.
 */
int sim_writer_add(struct sim_writer *writer, const struct sim_event *event,
		   struct error *error);

/*
 * Finish all files and free the writer, also after a failure. Return 0, or -1; `error` is
 * then set unless sim_writer_add() failed before.
 */
int sim_writer_finish(struct sim_writer *writer, struct error *error);

/* The operations of a writer; a struct sim_writer is the first member of each writer. */
struct sim_writer_ops {
	/* Open a node's files in its directory. Return 0, or -1 with error. */
	int (*open)(struct sim_writer *writer, size_t node, const char *directory,
		    struct error *error);
	int (*add)(struct sim_writer *writer, const struct sim_event *event,
		   struct error *error);
	int (*finish)(struct sim_writer *writer, size_t node, struct error *error);
	void (*free)(struct sim_writer *writer); /* leaves unfinished files as they are */
};

struct sim_writer {
	const struct sim_writer_ops *ops;
	const struct sim_node *node;
	size_t nodes;
	bool failed; /* adding an event failed: do not finish the files */
};

/* A node's trace while it is written. */
struct sim_trace {
	const struct sim_node *node;
	char *path;
	unsigned char uuid[16];
	const struct sim_class *class;
	bool *used; /* by class: has events, so the metadata declares it */
	size_t classes;
	struct sim_stream *stream; /* one per processor */
	uint64_t first;            /* timestamp of the first event, if any */
	bool has_events;
};

/* Templates of the metadata, from the files in metadata/. */
extern const char sim_ctf_1_8[], sim_ctf_2[];

/* The name of each type in the templates, and its numbers' size and sign. */
struct sim_type_form {
	const char *name;
	uint8_t bits;
	bool is_signed;
};

extern const struct sim_type_form sim_type_forms[];

/* Make the directories and open all nodes. On failure free the writer and return NULL
 * with error. */
struct sim_writer *sim_writer_open(struct sim_writer *writer, const char *directory,
				   struct error *error);

/* Open an output, with its path formatted like printf. Return 0, or -1 with error. */
int sim_output_open(struct output *output, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The headers of a packet as on the wire. */
struct sim_headers {
	uint8_t bytes[40 + 60]; /* network header, transport header */
	size_t network;         /* bytes of the network header */
	size_t transport;       /* bytes of the transport header, or 0 */
	size_t total;           /* bytes of the packet, data included */
	uint8_t protocol;       /* IPPROTO_TCP, ... */
};

/* Return the packet of an event, or NULL if it has none or its header is unknown. */
const struct packet *sim_event_packet(const struct sim_event *event);

/*
 * Build the headers of an event's packet, as sent or, if its class is that of a received
 * packet, as received. Return false if the event has no packet.
 */
bool sim_headers_of_event(struct sim_headers *headers, const struct sim_event *event);

#endif
