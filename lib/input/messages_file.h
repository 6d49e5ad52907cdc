/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_MESSAGES_FILE_H
#define CT_INPUT_MESSAGES_FILE_H

#include <stdio.h>

#include "base/error.h"
#include "input/packet_rows.h"

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
	bool is_second_view; /* a capture of a node that has a trace with messages */
};

struct messages_end {
	uint32_t source; /* index in the file's sources */
	uint32_t stream;
	uint64_t ordinal; /* of the event within its stream, as in struct record */
	nsec_t local_ns;  /* the stamp that counts for the message */
};

struct node_message {
	bool received; /* by the node whose file it is; else it sent it */
	struct messages_end own, other;
	struct packet packet; /* as the receiver saw it */
};

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
