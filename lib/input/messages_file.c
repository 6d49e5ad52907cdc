/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/messages_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunk_file.h"
#include "base/json.h"
#include "base/mem.h"
#include "input/packet_rows.h"

enum kind { KIND_SOURCE = 1, KIND_MESSAGES, KIND_HEAD };

enum { CHUNK_MESSAGES = 4096 };

static const struct chunk_format format = {.name = "a " MESSAGES_SUFFIX " file",
					   .magic = "\x89"
						    "ctmg\r\n\x1a",
					   .version = 4};

static const struct messages_end *sent_end(const struct node_message *message)
{
	return message->received ? &message->other : &message->own;
}

/*
 * Encode the time (ns) from `first` to the send, or 0 without `first`; then its source,
 * its stream, and its ordinal less that of the send.
 */
static void encode_first(struct packet_rows *rows, const struct node_message *message)
{
	const struct messages_end *first = &message->first, *send = sent_end(message);

	if (first->local_ns >= send->local_ns) {
		bytes_add_varint(&rows->bytes, 0);
		return;
	}
	bytes_add_varint(&rows->bytes,
			 (uint64_t)send->local_ns - (uint64_t)first->local_ns);
	bytes_add_varint(&rows->bytes, first->source);
	bytes_add_varint(&rows->bytes, first->stream);
	bytes_add_zigzag(&rows->bytes, (int64_t)(first->ordinal - send->ordinal));
}

static bool decode_first(struct bytes_cursor *cursor, struct node_message *message)
{
	const struct messages_end *send = sent_end(message);
	uint64_t before = bytes_read_varint(cursor), source, stream;

	message->first = (struct messages_end){.local_ns = NSEC_MAX};
	if (!before)
		return !cursor->is_bad;
	source = bytes_read_varint(cursor);
	stream = bytes_read_varint(cursor);
	message->first =
	    (struct messages_end){(uint32_t)source, (uint32_t)stream,
				  send->ordinal + (uint64_t)bytes_read_zigzag(cursor),
				  (nsec_t)((uint64_t)send->local_ns - before)};
	return !cursor->is_bad && source <= UINT32_MAX && stream <= UINT32_MAX &&
	       message->first.local_ns < send->local_ns &&
	       nsec_is_stamp(message->first.local_ns);
}

/* Encode 1 and the names as sent if they were translated, otherwise 0. */
static void encode_names(struct bytes *bytes, const struct packet_names *names)
{
	bytes_add_byte(bytes, names->is_translated);
	if (!names->is_translated)
		return;
	bytes_add(bytes, names->src, sizeof(names->src));
	bytes_add(bytes, names->dst, sizeof(names->dst));
	bytes_add_varint(bytes, names->sport);
	bytes_add_varint(bytes, names->dport);
}

static bool decode_names(struct bytes_cursor *cursor, struct packet_names *names)
{
	const uint8_t *src, *dst;
	uint64_t sport, dport, kind = bytes_read_varint(cursor);

	*names = (struct packet_names){.is_translated = kind == 1};
	if (!names->is_translated)
		return !cursor->is_bad && !kind;
	src = bytes_read(cursor, sizeof(names->src));
	dst = bytes_read(cursor, sizeof(names->dst));
	sport = bytes_read_varint(cursor);
	dport = bytes_read_varint(cursor);
	if (cursor->is_bad || sport > UINT16_MAX || dport > UINT16_MAX)
		return false;
	memcpy(names->src, src, sizeof(names->src));
	memcpy(names->dst, dst, sizeof(names->dst));
	names->sport = (uint16_t)sport;
	names->dport = (uint16_t)dport;
	return true;
}

struct node_message message_of_receiver(const struct message_ends *ends)
{
	return (struct node_message){.received = true,
				     .own = ends->recv,
				     .other = ends->send,
				     .first = ends->first,
				     .packet = ends->packet,
				     .sent = ends->sent,
				     .number = ends->number,
				     .offset = ends->offset};
}

/*
 * Encode a message as the packet event of its own end, with the source as its device,
 * followed by the other end.
 */
void message_encode(struct packet_rows *rows, const struct node_message *message)
{
	const struct messages_end *own = &message->own, *other = &message->other;

	packet_rows_add(rows, &(struct packet_event){.packet = message->packet,
						     .ns = own->local_ns,
						     .whole_ns = NSEC_MAX,
						     .event_ns = own->local_ns,
						     .device = own->source,
						     .stream = own->stream,
						     .ordinal = own->ordinal,
						     .received = message->received});
	bytes_add_varint(&rows->bytes, other->source);
	bytes_add_varint(&rows->bytes, other->stream);
	bytes_add_zigzag(&rows->bytes, (int64_t)(other->ordinal - rows->other_ordinal));
	bytes_add_zigzag(&rows->bytes, other->local_ns - own->local_ns);
	bytes_add_zigzag(&rows->bytes, (int64_t)(message->number - rows->number));
	bytes_add_varint(&rows->bytes, message->offset);
	encode_first(rows, message);
	encode_names(&rows->bytes, &message->sent);
	rows->other_ordinal = other->ordinal;
	rows->number = message->number;
}

bool message_decode(struct packet_rows *rows, struct node_message *message)
{
	struct bytes_cursor *cursor = &rows->cursor;
	struct messages_end *other = &message->other;
	struct packet_event own;
	uint64_t source, stream, offset;

	if (!packet_rows_next(rows, &own))
		return false;
	*message = (struct node_message){
	    .received = own.received,
	    .own = {own.device, own.stream, own.ordinal, own.event_ns},
	    .packet = own.packet,
	};
	source = bytes_read_varint(cursor);
	stream = bytes_read_varint(cursor);
	rows->other_ordinal += (uint64_t)bytes_read_zigzag(cursor);
	other->source = (uint32_t)source;
	other->stream = (uint32_t)stream;
	other->ordinal = rows->other_ordinal;
	other->local_ns = nsec_add(own.event_ns, bytes_read_zigzag(cursor));
	message->number = rows->number += (uint64_t)bytes_read_zigzag(cursor);
	offset = bytes_read_varint(cursor);
	message->offset = (uint32_t)offset;
	return !cursor->is_bad && source <= UINT32_MAX && stream <= UINT32_MAX &&
	       offset <= UINT32_MAX && nsec_is_stamp(other->local_ns) &&
	       decode_first(cursor, message) && decode_names(cursor, &message->sent);
}

void messages_write_begin(FILE *file, const struct messages_head *head)
{
	char clocks[17];
	json_t *object = json_object();

	chunk_write_begin(file, &format);
	json_set_text(object, "node", head->node);
	json_object_set_new(object, "number", json_integer(head->number));
	snprintf(clocks, sizeof(clocks), "%016" PRIx64, head->clocks);
	json_set_text(object, "clocks", clocks);
	chunk_write_object(file, &(struct chunk){.kind = KIND_HEAD}, object);
}

void messages_write_source(FILE *file, uint32_t index,
			   const struct messages_source *source)
{
	json_t *object = json_object();

	json_set_text(object, "trace", source->trace);
	json_set_text(object, "node", source->node);
	json_object_set_new(object, "number", json_integer(source->number));
	json_set_text(object, "kind", source->is_capture ? "capture" : "trace");
	chunk_write_object(file, &(struct chunk){.kind = KIND_SOURCE, .number = index},
			   object);
}

static void write_rows(FILE *file, struct packet_rows *rows)
{
	if (rows->count)
		chunk_write(file,
			    &(struct chunk){.kind = KIND_MESSAGES, .items = rows->count},
			    &rows->bytes);
	packet_rows_reset(rows);
}

void messages_write(FILE *file, struct packet_rows *rows,
		    const struct node_message *message)
{
	message_encode(rows, message);
	if (rows->count >= CHUNK_MESSAGES)
		write_rows(file, rows);
}

void messages_write_end(FILE *file, struct packet_rows *rows)
{
	write_rows(file, rows);
	chunk_write_end(file);
}

struct messages_reader {
	struct chunk_reader chunks;
	struct chunk chunk; /* current chunk */
	struct bytes content;
	struct packet_rows rows;
	uint32_t left;             /* unread messages of the chunk */
	struct messages_head head; /* node is NULL if there is no head */
	struct messages_source *source;
	size_t sources, capacity;
};

bool messages_file_probe(const char *path)
{
	return chunk_probe(path, &format);
}

struct messages_reader *messages_reader_open(const char *path, struct error *error)
{
	struct messages_reader *reader = mem_zalloc(sizeof(*reader));

	if (chunk_reader_open(&reader->chunks, path, &format, error)) {
		messages_reader_free(reader);
		return NULL;
	}
	return reader;
}

static int read_head(struct messages_reader *reader, struct error *error)
{
	json_t *object = chunk_load_object(&reader->chunks, &reader->chunk, error);
	const char *node = json_text(object, "node"),
		   *clocks = json_text(object, "clocks");
	char *end = NULL;
	nsec_t number;
	int status = -1;

	if (object && node && clocks && !reader->head.node &&
	    !json_nsec(object, "number", &number) && number >= 0 && number < UINT32_MAX) {
		reader->head = (struct messages_head){mem_strdup(node), (uint32_t)number,
						      strtoull(clocks, &end, 16)};
		status = *end || !*clocks ? -1 : 0;
	}
	if (object && status)
		error_set(error, "the chunk at offset %" PRIu64 " describes no node",
			  reader->chunk.at);
	json_decref(object);
	return status;
}

static int read_source(struct messages_reader *reader, struct error *error)
{
	struct messages_source source;
	const char *trace, *node, *kind;
	nsec_t number;
	json_t *object = chunk_load_object(&reader->chunks, &reader->chunk, error);
	int status;

	if (!object)
		return -1;
	trace = json_text(object, "trace");
	node = json_text(object, "node");
	kind = json_text(object, "kind");
	status = !trace || !node || !kind || json_nsec(object, "number", &number) ||
		 number < 0 || number > UINT32_MAX ||
		 reader->chunk.number != reader->sources;
	if (!status) {
		source = (struct messages_source){mem_strdup(trace), mem_strdup(node),
						  (uint32_t)number,
						  strcmp(kind, "capture") == 0};
		*MEM_NEXT(reader->source, reader->sources, reader->capacity) = source;
	}
	json_decref(object);
	return status ? error_set(error,
				  "the chunk at offset %" PRIu64 " describes no source",
				  reader->chunk.at)
		      : 0;
}

static int read_chunk(struct messages_reader *reader, struct error *error)
{
	if (reader->chunk.kind == KIND_SOURCE)
		return read_source(reader, error);
	if (reader->chunk.kind == KIND_HEAD)
		return read_head(reader, error);
	if (reader->chunk.kind != KIND_MESSAGES)
		return 0;
	if (chunk_load(&reader->chunks, &reader->chunk, &reader->content, error))
		return -1;
	packet_rows_open(&reader->rows, reader->content.data, reader->content.size);
	reader->left = reader->chunk.items;
	return 0;
}

int messages_reader_next(struct messages_reader *reader, struct node_message *message,
			 struct error *error)
{
	int status = 1;

	while (status > 0 && !reader->left) {
		status = chunk_next(&reader->chunks, &reader->chunk, error);
		if (status > 0 && read_chunk(reader, error))
			status = -1;
	}
	if (status > 0 && (!message_decode(&reader->rows, message) ||
			   message->own.source >= reader->sources ||
			   message->other.source >= reader->sources ||
			   message->first.source >= reader->sources))
		status =
		    error_set(error, "the chunk at offset %" PRIu64 " holds no messages",
			      reader->chunk.at);
	if (status > 0)
		reader->left--;
	return status < 0 ? error_prefix(error, "%s", reader->chunks.path) : status;
}

const struct messages_head *messages_reader_head(const struct messages_reader *reader)
{
	return reader->head.node ? &reader->head : NULL;
}

const struct messages_source *messages_reader_source(const struct messages_reader *reader,
						     uint32_t index)
{
	return &reader->source[index];
}

void messages_reader_free(struct messages_reader *reader)
{
	for (size_t i = 0; i < reader->sources; i++) {
		free((char *)reader->source[i].trace);
		free((char *)reader->source[i].node);
	}
	free((char *)reader->head.node);
	free(reader->source);
	chunk_reader_clear(&reader->chunks);
	packet_rows_clear(&reader->rows);
	bytes_clear(&reader->content);
	free(reader);
}
