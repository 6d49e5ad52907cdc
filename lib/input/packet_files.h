/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_PACKET_FILES_H
#define CT_INPUT_PACKET_FILES_H

#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "input/packet.h"
#include "input/packet_source.h"
#include "input/run.h"

/*
 * Packet events as bytes (docs/formats.md, Packet files). The events of one flow have the
 * same addresses, ports, device, stream and side, and of its other numbers only those are
 * written that differ from what the flow's last event lets expect.
 */
struct packet_flow;

/* Both sides of the codec know the same of what came before. All zero is the begin. */
struct packet_rows {
	struct bytes bytes; /* the rows written */
	struct bytes_cursor
	    cursor;      /* on the rows that are read, which their owner keeps */
	uint32_t count;  /* rows written */
	nsec_t event_ns; /* of the last row */
	struct packet_flow *flow;
	size_t flows, capacity;
	struct intmap index;    /* to write: the hash of a flow's identity -> its index */
	uint64_t other_ordinal; /* ordinal of the last message's other end */
	uint64_t number;        /* number of the last message's packet, as below */
};

void packet_rows_add(struct packet_rows *rows, const struct packet_event *packet_event);

/* The next row. False where the bytes are none: then nothing can be read any more. */
bool packet_rows_next(struct packet_rows *rows, struct packet_event *packet_event);

/* Begin anew, to write. */
void packet_rows_reset(struct packet_rows *rows);

/* Begin anew, to read these bytes. */
void packet_rows_open(struct packet_rows *rows, const uint8_t *bytes, size_t size);

void packet_rows_clear(struct packet_rows *rows);

/*
 * The packet events of a node's sources in one file (docs/formats.md, Packet files):
 * what matching needs, and nothing else of the traces. To sync it is one more kind of
 * packet source.
 */
#define PACKETS_SUFFIX ".packets"

bool packets_file_probe(const char *path);

/*
 * What is in a file: kind, name and, if it was known, the name of the node's
 * directory of each. 0, or -1 with error, which names file and offset.
 */
int packets_file_contents(const char *path, struct source_list *contents,
			  struct error *error);

/* Open one of its sources, by its place. NULL with error on failure. */
struct packet_source *packets_file_open(const char *path, size_t index,
					struct error *error);

/* To write one: begin with all sources, then packets as they come, then facts of each. */
struct packets_writer;

/* The file is the caller's, who finds in it whether something could not be written. */
struct packets_writer *packets_writer_new(FILE *file, size_t sources);

/* Of its node the last part is written, the name of the directory. */
void packets_writer_describe(struct packets_writer *writer, size_t index,
			     const struct source *source,
			     const struct trace_facts *facts);

/* The source's first event, of any kind, was at begin_ns. */
void packets_writer_add(struct packets_writer *writer, size_t index,
			const struct packet_event *packet_event, nsec_t begin_ns);

/* No more comes of a source: what became of it in the end. */
void packets_writer_finish(struct packets_writer *writer, size_t index,
			   const struct trace_facts *facts,
			   const struct problem_list *problems);

/* After all were finished; frees the writer. */
void packets_writer_end(struct packets_writer *writer);

/*
 * The messages of one node in a file (docs/formats.md, Message files): of each end the
 * event that it was made of, so that a node's events can be linked with those of other
 * nodes where the others' traces are not there.
 */
#define MESSAGES_SUFFIX ".messages"

/* Whose file it is, and of which clock map. */
struct messages_head {
	const char *node; /* its name */
	uint32_t number;  /* as below */
	uint64_t clocks;  /* clock_map_fingerprint */
};

/* A source that has an end of some message. */
struct messages_source {
	const char *trace; /* its name in the clock map */
	const char *node;  /* its node's name */
	uint32_t number; /* its node's, by the order of nodes in the clock map, from 0 */
	bool is_capture;
};

#define MESSAGES_NO_STREAM UINT32_MAX /* the stream of an end without an event */

struct messages_end {
	uint32_t source; /* index in the file's sources */
	uint32_t stream;
	uint64_t ordinal; /* of the event within its stream, as in struct trace_event */
	nsec_t local_ns;  /* the stamp that counts for the message */
};

struct node_message {
	bool received; /* by the node whose file it is; else it sent it */
	struct messages_end own, other;
	/*
	 * The first time that the sending node sent the data, if TCP sent it more than
	 * once; otherwise local_ns is NSEC_MAX.
	 */
	struct messages_end first;
	struct packet packet;     /* as the receiver saw it */
	struct packet_names sent; /* as the sender saw it, if translated */
	/*
	 * The packet's number. Messages of one packet that several sources of a node
	 * recorded have the same number and offset. If receive offload merged several
	 * sent packets, the offset is that of the sent data in the received packet.
	 */
	uint64_t number;
	uint32_t offset;
};

/* The two events that a message was made of, and its packet as the receiver saw it. */
struct message_ends {
	struct messages_end send, recv; /* their sources: indexes, the caller's */
	struct messages_end first;      /* as in struct node_message */
	struct packet packet;
	struct packet_names sent; /* as in struct node_message */
	uint64_t number;          /* as in struct node_message */
	uint32_t offset;
};

/* Return a message as its receiver's node stores it. */
struct node_message message_of_receiver(const struct message_ends *ends);

/* Rows of messages in the place of packet events; both begin and end as those do. */
void message_encode(struct packet_rows *rows, const struct node_message *message);

/* False where the bytes are none. */
bool message_decode(struct packet_rows *rows, struct node_message *message);

/* To write: sources by their index, from 0 on and before they are used, then messages. */
void messages_write_begin(FILE *file, const struct messages_head *head);
void messages_write_source(FILE *file, uint32_t index,
			   const struct messages_source *source);
void messages_write(FILE *file, struct packet_rows *rows,
		    const struct node_message *message);
void messages_write_end(FILE *file, struct packet_rows *rows);

struct messages_reader;

bool messages_file_probe(const char *path);

/* NULL with error, which names the file and the offset. */
struct messages_reader *messages_reader_open(const char *path, struct error *error);

/*
 * The next message: 1; 0 at the end; -1 with error, where the file is damaged or cut:
 * what was read until then is whole, and nothing is known of the rest.
 */
int messages_reader_next(struct messages_reader *reader, struct node_message *message,
			 struct error *error);

/* Whose file it is; NULL before the first message or the end, and where it does not say.
 */
const struct messages_head *messages_reader_head(const struct messages_reader *reader);

/* A source that a message named; it stays until the reader is freed. */
const struct messages_source *messages_reader_source(const struct messages_reader *reader,
						     uint32_t index);
void messages_reader_free(struct messages_reader *reader);

#endif
