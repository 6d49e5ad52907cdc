/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_MESSAGES_FILE_H
#define CT_INPUT_MESSAGES_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "input/packet.h"
#include "input/packet_rows.h"

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
