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
 * The encoding of packet events (docs/formats.md, Packet files).
 *
 * The events of a flow have the same addresses, ports, device, stream and direction. Of
 * the other numbers, only those are written that differ from what the flow's previous
 * event predicts.
 */
struct packet_flow;

/*
 * The state of writing or reading rows, which both sides derive from the rows so far.
 * Zero-initialize before use.
 */
struct packet_rows {
	struct bytes bytes; /* the rows written */
	struct bytes_cursor
	    cursor;      /* on the rows that are read; their owner keeps them */
	uint32_t count;  /* rows written */
	nsec_t event_ns; /* time of the last row's event */
	struct packet_flow *flow;
	size_t flows, capacity;
	struct intmap index;    /* when writing: hash of a flow's identity -> its index */
	uint64_t other_ordinal; /* ordinal of the last message's other end */
	uint64_t number;        /* number of the last message's packet, as below */
};

void packet_rows_add(struct packet_rows *rows, const struct packet_event *packet_event);

/*
 * Read the next row. Return false if the bytes are damaged; then nothing more can be
 * read.
 */
bool packet_rows_next(struct packet_rows *rows, struct packet_event *packet_event);

/* Start again, for writing. */
void packet_rows_reset(struct packet_rows *rows);

/* Start again, for reading these bytes. Borrows them. */
void packet_rows_open(struct packet_rows *rows, const uint8_t *bytes, size_t size);

void packet_rows_clear(struct packet_rows *rows);

/*
 * Packet files: the packet events of a node's sources (docs/formats.md, Packet files).
 * They hold what matching needs and nothing else of the traces; for synchronization they
 * are another kind of packet source.
 */
#define PACKETS_SUFFIX ".packets"

bool packets_file_probe(const char *path);

/*
 * Read the kind, the name and, if known, the node's directory name of each source in a
 * file. Return 0, or -1 with error, which names the file and offset.
 */
int packets_file_contents(const char *path, struct source_list *contents,
			  struct error *error);

/* Open a source in a file by its index. Return NULL with error. */
struct packet_source *packets_file_open(const char *path, size_t index,
					struct error *error);

/*
 * A writer of a packet file: first describe all sources, then add packets, then finish
 * each source.
 */
struct packets_writer;

/* Start a file, which stays the caller's and records write errors. */
struct packets_writer *packets_writer_new(FILE *file, size_t sources);

/* Describe a source. Of its node, only the name of the directory is written. */
void packets_writer_describe(struct packets_writer *writer, size_t index,
			     const struct source *source,
			     const struct trace_facts *facts);

/* Add a packet event. `begin_ns` is the time of the source's first event of any kind. */
void packets_writer_add(struct packets_writer *writer, size_t index,
			const struct packet_event *packet_event, nsec_t begin_ns);

/* Finish a source, with its final facts and problems. */
void packets_writer_finish(struct packets_writer *writer, size_t index,
			   const struct trace_facts *facts,
			   const struct problem_list *problems);

/* End the file and free the writer. Call after all sources are finished. */
void packets_writer_end(struct packets_writer *writer);

/*
 * Message files: the messages of one node (docs/formats.md, Message files). Each end of a
 * message names its event, so that a node's events can be linked with those of other
 * nodes without the others' traces.
 */
#define MESSAGES_SUFFIX ".messages"

/* The node of a file, and the clock map it was made with. */
struct messages_head {
	const char *node; /* name of the node */
	uint32_t number;  /* number of the node, as in struct messages_source */
	uint64_t clocks;  /* clock_map_fingerprint() */
};

/* A source that has at least one end of a message. */
struct messages_source {
	const char *trace; /* its name in the clock map */
	const char *node;  /* the name of its node */
	uint32_t
	    number; /* number of its node, from 0, in the clock map's order of nodes */
	bool is_capture;
};

#define MESSAGES_NO_STREAM UINT32_MAX /* the stream of an end without an event */

struct messages_end {
	uint32_t source; /* index in the file's sources */
	uint32_t stream;
	uint64_t ordinal; /* index of the event in its stream, as in struct trace_event */
	nsec_t local_ns;  /* the time that counts for the message */
};

struct node_message {
	bool received; /* the file's node received it; otherwise it sent it */
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

/* The two events of a message, and its packet as the receiver saw it. */
struct message_ends {
	struct messages_end send,
	    recv; /* their `source` is an index that the caller defines */
	struct messages_end first; /* as in struct node_message */
	struct packet packet;
	struct packet_names sent; /* as in struct node_message */
	uint64_t number;          /* as in struct node_message */
	uint32_t offset;
};

/* Return a message as its receiver's node stores it. */
struct node_message message_of_receiver(const struct message_ends *ends);

/* Append a message as a row, instead of a packet event. */
void message_encode(struct packet_rows *rows, const struct node_message *message);

/* Read a message. Return false if the bytes are damaged. */
bool message_decode(struct packet_rows *rows, struct node_message *message);

/*
 * Write a message file: the node, then each source by its index before its first use,
 * then messages.
 */
void messages_write_begin(FILE *file, const struct messages_head *head);
void messages_write_source(FILE *file, uint32_t index,
			   const struct messages_source *source);
void messages_write(FILE *file, struct packet_rows *rows,
		    const struct node_message *message);
void messages_write_end(FILE *file, struct packet_rows *rows);

struct messages_reader;

bool messages_file_probe(const char *path);

/* Open a message file. Return NULL with error, which names the file and the offset. */
struct messages_reader *messages_reader_open(const char *path, struct error *error);

/*
 * Read the next message. Return 1, 0 at the end, or -1 with error if the file is damaged
 * or truncated; the messages before are complete.
 */
int messages_reader_next(struct messages_reader *reader, struct node_message *message,
			 struct error *error);

/*
 * Return the node and clock map of the file, or NULL if they have not been read yet or
 * are missing.
 */
const struct messages_head *messages_reader_head(const struct messages_reader *reader);

/* Return a source that a message named. The result is valid until the reader is freed. */
const struct messages_source *messages_reader_source(const struct messages_reader *reader,
						     uint32_t index);
void messages_reader_free(struct messages_reader *reader);

#endif
