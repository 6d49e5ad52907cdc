/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_WRITER_H
#define CT_SIMULATE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "input/packet.h"

/*
 * What the simulator's model hands to those who write it down: events of the
 * nodes' kernels, as the tracer or the capture of each node would see them.
 */

/* How a field is recorded; names and sizes as in lttng-modules 2.13. */
enum sim_type {
	SIM_U8,
	SIM_U16,
	SIM_U32,
	SIM_U64,
	SIM_HEX64, /* an address: unsigned, shown in base 16 */
	SIM_S32,
	SIM_S64,
	SIM_TEXT,     /* string */
	SIM_COMM,     /* text array of 16 */
	SIM_S32_LIST, /* sequence of s32, of which we have one, behind its length */
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
	/* What a capture makes of it: nothing, a packet sent, a packet received. */
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
	const struct sim_class *class;
	const union sim_value *value; /* one a field */
	uint8_t routers;              /* that its packet has passed: each took a hop */
	bool overheard;               /* by the capture of another node on the way */
};

/* How a trace's events begin, in LTTng's terms. */
enum sim_event_header {
	SIM_HEADER_FULL,    /* every stamp whole */
	SIM_HEADER_COMPACT, /* id of 5 bits and stamp of 27, or extended */
	SIM_HEADER_LARGE,   /* id of 16 bits and stamp of 32, or extended */
};

/* In what a trace is written. */
enum sim_trace_format {
	SIM_CTF_1_8,
	SIM_CTF_2_LTTNG, /* the same streams as in CTF 1.8, described as LTTng does */
	SIM_CTF_2,       /* with the field classes that LTTng does not use, too */
};

/* A node, as it stands in traces, captures and node.json. */
struct sim_node {
	const char *name;
	unsigned cpus;
	int64_t realtime_offset_ns; /* CLOCK_REALTIME less CLOCK_MONOTONIC */
	unsigned char mac[6];
	uint8_t address[2][16];    /* IPv4, IPv6; as in struct packet */
	unsigned char boot_id[16]; /* the clock's uuid */
	uint16_t vlan;             /* tag of captured frames; 0: none */
	int64_t card_ns;       /* clock that stamps received frames less CLOCK_REALTIME */
	double captured_twice; /* share of frames */
	enum sim_event_header event_header;
	enum sim_trace_format format;
};

struct sim_writer;

/*
 * Write CTF traces as LTTng does, DIRECTORY/NODE/kernel, one stream a CPU; or
 * captures, DIRECTORY/NODE/NODE.pcap. The directory is made if need be, but
 * not those above it, and no file is overwritten. Nodes and classes stay the
 * caller's and are used until the end. NULL with error on failure.
 *
 * Stamps of one node and CPU go back only where its clock was stepped; other
 * nodes and CPUs may come in any order. No file stays open; a trace keeps a
 * packet of up to 2048 events in memory for each CPU.
 */
struct sim_writer *sim_ctf_writer_new(const char *directory, const struct sim_node *node,
				      size_t nodes, const struct sim_class *class,
				      size_t classes, struct error *error);
struct sim_writer *sim_capture_writer_new(const char *directory,
					  const struct sim_node *node, size_t nodes,
					  struct error *error);

/*
 * Write one event, now or later; borrows it. 0, or -1 with error, after which
 * the writer can only be finished.
 */
int sim_writer_add(struct sim_writer *writer, const struct sim_event *event,
		   struct error *error);

/*
 * Finish all files and free the writer, also after a failure. 0, or -1; with
 * error unless it was an add that failed.
 */
int sim_writer_finish(struct sim_writer *writer, struct error *error);

/* For implementers of writers: what stands first in each of them. */
struct sim_writer_ops {
	/* A node's files, in its directory. 0, or -1 with error. */
	int (*open)(struct sim_writer *writer, size_t node, const char *directory,
		    struct error *error);
	int (*add)(struct sim_writer *writer, const struct sim_event *event,
		   struct error *error);
	int (*finish)(struct sim_writer *writer, size_t node, struct error *error);
	void (*free)(struct sim_writer *writer); /* what is not finished stays so */
};

struct sim_writer {
	const struct sim_writer_ops *ops;
	const struct sim_node *node;
	size_t nodes;
	bool failed; /* to add an event: its files are not finished */
};

/* A node's trace while it is written. */
struct sim_trace {
	const struct sim_node *node;
	char *path;
	unsigned char uuid[16];
	const struct sim_class *class;
	bool *used; /* one a class: those that had an event are declared */
	size_t classes;
	struct sim_stream *stream; /* one a processor */
	uint64_t first;            /* timestamp of the first event, if any */
	bool has_events;
};

/* The templates of the metadata: files of metadata/. */
extern const char sim_ctf_1_8[], sim_ctf_2[];

/* The name of each type in those templates, and what its numbers are. */
struct sim_type_form {
	const char *name;
	uint8_t bits;
	bool is_signed;
};

extern const struct sim_type_form sim_type_forms[];

/* Write its metadata, in the node's format. 0, or -1 with error. */
int sim_metadata_write(const struct sim_trace *trace, struct error *error);

/* Make the directories and open all nodes; NULL with error, and the writer is freed. */
struct sim_writer *sim_writer_open(struct sim_writer *writer, const char *directory,
				   struct error *error);

/* Open an output, by its path. 0, or -1 with error. */
int sim_output_open(struct output *output, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The headers of a packet as they stand on the wire. */
struct sim_headers {
	uint8_t bytes[40 + 60]; /* network header, transport header */
	size_t network;         /* bytes of the network header */
	size_t transport;       /* bytes of the transport header, or 0 */
	size_t total;           /* bytes of the packet, its data counted */
	uint8_t protocol;       /* IPPROTO_TCP, ... */
};

/* The packet of an event, if it has one whose network header is known, or NULL. */
const struct packet *sim_event_packet(const struct sim_event *event);

/*
 * Build the headers of an event's packet, which is as sent unless its class says that it
 * was received. False without a packet.
 */
bool sim_headers_of_event(struct sim_headers *headers, const struct sim_event *event);

#endif
