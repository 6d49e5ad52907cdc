/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/ctf_writer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/utf8.h"
#include "simulate/ctf_metadata.h"
#include "simulate/writer.h"

/* Bytes of a packet while it is written. */
struct packet_bytes {
	struct bytes bytes;
	unsigned bits; /* used of the last byte, or 0 */
};

/* Append the lowest bits of a value, up to 64, the lowest first. */
static void put_bits(struct packet_bytes *to, uint64_t value, unsigned bits)
{
	if (!to->bits && bits % 8 == 0) {
		bytes_add_le(&to->bytes, value, bits / 8);
		return;
	}
	while (bits) {
		unsigned step = 8 - to->bits < bits ? 8 - to->bits : bits;
		uint8_t *byte;

		if (!to->bits)
			bytes_add_byte(&to->bytes, 0);
		byte = &to->bytes.data[to->bytes.size - 1];
		*byte |= (uint8_t)((value & ((1u << step) - 1)) << to->bits);
		to->bits = (to->bits + step) % 8;
		value >>= step;
		bits -= step;
	}
}

/* The last byte's bit 6 is the sign. */
static void put_signed_leb128(struct packet_bytes *bytes, int64_t value)
{
	while (value < -0x40 || value >= 0x40) {
		put_bits(bytes, (uint64_t)value | 0x80, 8);
		value = (value - (value & 0x7f)) / 128;
	}
	put_bits(bytes, (uint64_t)value & 0x7f, 8);
}

/* Decode a UTF-8 character; return an invalid byte as it is. */
static uint32_t code_point(const char *text, size_t *size)
{
	const unsigned char *at = (const unsigned char *)text;
	uint32_t point;

	*size = utf8_length(text);
	if (*size < 2) {
		*size = 1;
		return at[0];
	}
	point = at[0] & (0x7fu >> *size);
	for (size_t i = 1; i < *size; i++)
		point = point << 6 | (at[i] & 0x3f);
	return point;
}

static void put_wide(struct packet_bytes *bytes, const char *text, unsigned bits)
{
	size_t size;

	for (; *text; text += size) {
		uint32_t point = code_point(text, &size);

		if (bits == 16 && point >= 0x10000) {
			point -= 0x10000;
			put_bits(bytes, 0xd800 + (point >> 10), 16);
			point = 0xdc00 + (point & 0x3ff);
		}
		put_bits(bytes, point, bits);
	}
}

struct bit_reader {
	const uint8_t *bytes;
	size_t next; /* bit */
};

/* Read a number in network byte order. */
static uint64_t read_bits(struct bit_reader *reader, unsigned count)
{
	uint64_t value = 0;

	while (count) {
		unsigned left = 8 - reader->next % 8;
		unsigned step = count < left ? count : left;
		unsigned byte = reader->bytes[reader->next / 8];

		byte = byte >> (left - step) & ((1u << step) - 1);
		value = value << step | byte;
		reader->next += step;
		count -= step;
	}
	return value;
}

enum { IPV6_FIELDS = 24, HEADER_UNKNOWN = 0 };
enum { HEADER_IPV4 = 1, HEADER_IPV6 };
enum { HEADER_TCP = 1, HEADER_UDP, HEADER_ICMP };

/* The size in bits of each field of a header, as in the templates; ends with 0. */
static const uint8_t network_bits[][IPV6_FIELDS + 1] = {
    [HEADER_IPV4] = {4, 4, 8, 16, 16, 16, 8, 8, 16, 8, 8, 8, 8, 8, 8, 8, 8},
    [HEADER_IPV6] = {4,  4,  8,  8,  8,  16, 8,  8,  16, 16, 16, 16,
		     16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16},
};
static const uint8_t transport_bits[][12] = {
    [HEADER_TCP] = {16, 16, 32, 32, 4, 3, 9, 16, 16, 16},
    [HEADER_UDP] = {16, 16, 16, 16},
    [HEADER_ICMP] = {8, 8, 16, 32},
};

/* A selector, and the header that it selects. */
static void put_header(struct packet_bytes *bytes, unsigned selector, const uint8_t *bits,
		       const uint8_t *wire)
{
	struct bit_reader reader = {wire, 0};

	put_bits(bytes, selector, 8);
	for (; *bits; bits++)
		put_bits(bytes, read_bits(&reader, *bits), *bits);
}

static unsigned transport_of(const struct sim_headers *headers)
{
	if (!headers->transport)
		return HEADER_UNKNOWN;
	return headers->protocol == IPPROTO_TCP   ? HEADER_TCP
	       : headers->protocol == IPPROTO_UDP ? HEADER_UDP
						  : HEADER_ICMP;
}

/* The transport header is part of the network's. */
static void put_packet(struct packet_bytes *bytes, const struct sim_headers *headers)
{
	unsigned network, transport;

	if (!headers) {
		put_bits(bytes, HEADER_UNKNOWN, 8);
		return;
	}
	network = headers->bytes[0] >> 4 == 4 ? HEADER_IPV4 : HEADER_IPV6;
	transport = transport_of(headers);
	put_header(bytes, network, network_bits[network], headers->bytes);
	put_header(bytes, transport, transport_bits[transport],
		   headers->bytes + headers->network);
}

enum { COMM_BYTES = 16 }; /* a zero at the end included */

static void put_comm(struct packet_bytes *bytes, const char *text,
		     enum sim_trace_format format)
{
	size_t length = strnlen(text, COMM_BYTES - 1);

	bytes_add(&bytes->bytes, text, length);
	length = format == SIM_CTF_2 ? COMM_BYTES - length : 1;
	memset(bytes_extend(&bytes->bytes, length), 0, length);
}

static void put_string(struct packet_bytes *bytes, const char *text,
		       enum sim_trace_format format)
{
	if (format == SIM_CTF_2) {
		put_wide(bytes, text, 16);
		put_bits(bytes, 0, 16);
	} else {
		bytes_add(&bytes->bytes, text, strlen(text) + 1);
	}
}

const struct sim_type_form sim_type_forms[] = {
    [SIM_U8] = {"U8", 8, false},         [SIM_U16] = {"U16", 16, false},
    [SIM_U32] = {"U32", 32, false},      [SIM_U64] = {"U64", 64, false},
    [SIM_HEX64] = {"HEX64", 64, false},  [SIM_S32] = {"S32", 32, true},
    [SIM_S64] = {"S64", 64, true},       [SIM_TEXT] = {"TEXT", 0, false},
    [SIM_COMM] = {"COMM", 0, false},     [SIM_S32_LIST] = {"S32_LIST", 32, true},
    [SIM_PACKET] = {"PACKET", 0, false},
};

static void put_integer(struct packet_bytes *bytes, enum sim_type type,
			const union sim_value *value, enum sim_trace_format format)
{
	const struct sim_type_form *form = &sim_type_forms[type];

	if (format != SIM_CTF_2 || form->bits < 64)
		put_bits(bytes, value->u, form->bits);
	else if (form->is_signed)
		put_signed_leb128(bytes, value->i);
	else
		bytes_add_varint(&bytes->bytes, value->u);
}

static void put_payload(struct packet_bytes *bytes, const struct sim_event *event,
			const struct sim_headers *headers, enum sim_trace_format format)
{
	for (size_t i = 0; i < event->class->fields; i++) {
		const union sim_value *value = &event->value[i];
		enum sim_type type = event->class->field[i].type;

		switch (type) {
		case SIM_PACKET:
			put_packet(bytes, headers);
			break;
		case SIM_COMM:
			put_comm(bytes, value->text ? value->text : "", format);
			break;
		case SIM_TEXT:
			put_string(bytes, value->text ? value->text : "", format);
			break;
		case SIM_S32_LIST:
			put_bits(bytes, 1, 8); /* its length */
					       /* fall through */
		default:
			put_integer(bytes, type, value, format);
		}
	}
}

enum {
	PACKET_EVENTS = 2048,
	/* Offsets in a packet of numbers that are known at its end. */
	SIZE_AT = 36,
	END_STAMP_AT = 60,
};

#define MAGIC UINT32_C(0xc1fc1fc1)

/* A processor's file, ch_N. */
struct sim_stream {
	struct packet_bytes packet; /* empty between packets */
	uint64_t events;            /* in the packet */
	uint64_t packets;           /* before it */
	uint64_t last;              /* last timestamp, also of earlier packets */
};

struct ctf_writer {
	struct sim_writer base;
	struct sim_trace *trace; /* one a node */
};

/* Append bytes to the file of a processor, which is made if need be. */
static int append_packet(const struct sim_trace *trace, unsigned cpu,
			 const struct bytes *bytes, struct error *error)
{
	AUTOFREE char *path = mem_printf("%s/ch_%u", trace->path, cpu);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	int status = 0;

	if (fd < 0 || output_write_all(fd, bytes->data, bytes->size, -1))
		status = error_errno(error, path);
	if (fd >= 0 && close(fd) && !status)
		status = error_errno(error, path);
	return status;
}

/* A field of each class that no other tracer of ours writes: "rare context" of the
 * template. */
static void put_rare_context(struct packet_bytes *bytes, uint64_t number)
{
	static const char mark[] = "mark";
	AUTOFREE char *note =
	    mem_printf("packet \xc2\xb9 %llu", (unsigned long long)number);
	float load = (float)(number % 64) / 2;
	uint32_t load_bits;
	struct packet_bytes wide = {0};

	memcpy(&load_bits, &load, sizeof(load_bits));
	put_bits(bytes, number % 2, 1);  /* is_marked */
	put_bits(bytes, number, 7);      /* low_number */
	put_bits(bytes, number, 8);      /* number_bits */
	put_bits(bytes, number >> 4, 8); /* high and low: big-endian */
	put_bits(bytes, number << 4 | number % 16, 8);
	for (uint64_t i = 0; number % 16 >= 8 && i < 8; i++) /* tail, of 64 bits */
		put_bits(bytes, number, 8);
	put_bits(bytes, load_bits, 32);
	put_wide(&wide, note, 32);
	bytes_add_varint(&bytes->bytes, wide.bytes.size);
	for (size_t i = 0; i < wide.bytes.size; i++) /* the note, big-endian */
		put_bits(bytes, wide.bytes.data[i ^ 3], 8);
	for (size_t i = 0; i < wide.bytes.size; i++) /* and the same again as a BLOB */
		put_bits(bytes, wide.bytes.data[i], 8);
	for (size_t i = 0; number % 2 && i < sizeof(mark) - 1; i++)
		put_bits(bytes, (uint64_t)mark[i], 8);
	bytes_clear(&wide.bytes);
}

static void begin_packet(const struct sim_trace *trace, unsigned cpu, uint64_t stamp)
{
	struct sim_stream *stream = &trace->stream[cpu];
	struct packet_bytes *bytes = &stream->packet;

	put_bits(bytes, MAGIC, 32);
	for (int i = 0; i < 16; i++)
		put_bits(bytes, trace->uuid[i], 8);
	put_bits(bytes, 0, 64); /* id of the stream's class */
	put_bits(bytes, cpu, 64);
	put_bits(bytes, 0, 64); /* two sizes, known at the end */
	put_bits(bytes, 0, 64);
	/* All streams of a trace are recorded from its first event on. */
	put_bits(bytes, stream->packets || stamp < trace->first ? stamp : trace->first,
		 64);
	put_bits(bytes, 0, 64); /* the timestamp of its end */
	put_bits(bytes, 0, 64); /* discarded events */
	put_bits(bytes, stream->packets, 64);
	put_bits(bytes, cpu, 32);
	if (trace->node->format == SIM_CTF_2)
		put_rare_context(bytes, stream->packets);
}

static void overwrite_le64(const struct bytes *bytes, size_t at, uint64_t value)
{
	value = htole64(value);
	memcpy(bytes->data + at, &value, sizeof(value));
}

static int end_packet(const struct sim_trace *trace, unsigned cpu, struct error *error)
{
	struct sim_stream *stream = &trace->stream[cpu];
	struct bytes *bytes = &stream->packet.bytes;
	int status;

	overwrite_le64(bytes, SIZE_AT, 8 * (uint64_t)bytes->size);
	overwrite_le64(bytes, SIZE_AT + 8, 8 * (uint64_t)bytes->size);
	overwrite_le64(bytes, END_STAMP_AT, stream->last);
	status = append_packet(trace, cpu, bytes, error);
	bytes->size = 0;
	stream->events = 0;
	stream->packets++;
	return status;
}

/* LTTng shortens what fits; an id of all ones begins a whole header. */
static void put_event_header(const struct sim_trace *trace, struct sim_stream *stream,
			     uint64_t id, uint64_t stamp)
{
	static const struct {
		unsigned id, stamp;
	} bits[] = {[SIM_HEADER_COMPACT] = {5, 27}, [SIM_HEADER_LARGE] = {16, 32}};
	enum sim_event_header form = trace->node->event_header;
	struct packet_bytes *packet = &stream->packet;
	uint64_t escape;

	if (form == SIM_HEADER_FULL) {
		put_bits(packet, id, 64);
		put_bits(packet, stamp, 64);
		return;
	}
	escape = (UINT64_C(1) << bits[form].id) - 1;
	if (id < escape && (stamp - stream->last) >> bits[form].stamp == 0) {
		put_bits(packet, id, bits[form].id);
		put_bits(packet, stamp, bits[form].stamp);
		return;
	}
	put_bits(packet, escape, bits[form].id);
	packet->bits = 0; /* aligned to a byte */
	put_bits(packet, id, 32);
	put_bits(packet, stamp, 64);
}

static int ctf_add(struct sim_writer *base, const struct sim_event *event,
		   struct error *error)
{
	struct ctf_writer *writer = (struct ctf_writer *)base;
	struct sim_trace *trace = &writer->trace[event->node];
	struct sim_stream *stream = &trace->stream[event->cpu];
	uint64_t stamp = (uint64_t)event->mono_ns;
	size_t id = (size_t)(event->class - trace->class);
	struct sim_headers headers;

	assert(id < trace->classes);
	if (!trace->has_events)
		trace->first = stamp;
	trace->has_events = true;
	if (event->mono_ns < 0)
		return error_set(error, "%s: event at %lld ns, before the clock starts",
				 trace->node->name, (long long)event->mono_ns);
	/* A packet's timestamps must not decrease. */
	if (stream->packet.bytes.size &&
	    (stream->events == PACKET_EVENTS || stamp < stream->last) &&
	    end_packet(trace, event->cpu, error))
		return -1;
	if (!stream->packet.bytes.size)
		begin_packet(trace, event->cpu, stamp);
	put_event_header(trace, stream, id, stamp);
	put_payload(&stream->packet, event,
		    sim_headers_of_event(&headers, event) ? &headers : NULL,
		    trace->node->format);
	stream->last = stamp;
	stream->events++;
	trace->used[id] = true;
	return 0;
}

/* Write what is left of the streams, and the metadata. A trace has a stream at least. */
static int ctf_finish(struct sim_writer *base, size_t node, struct error *error)
{
	const struct sim_trace *trace = &((struct ctf_writer *)base)->trace[node];
	static const struct bytes nothing;
	uint64_t last = 0;
	bool any = false;

	for (unsigned cpu = 0; cpu < trace->node->cpus; cpu++)
		if (trace->stream[cpu].last > last)
			last = trace->stream[cpu].last;
	for (unsigned cpu = 0; cpu < trace->node->cpus; cpu++) {
		trace->stream[cpu].last = last; /* all are flushed together */
		if (trace->stream[cpu].packet.bytes.size && end_packet(trace, cpu, error))
			return -1;
		any |= trace->stream[cpu].packets > 0;
	}
	if (!any && append_packet(trace, 0, &nothing, error))
		return -1;
	return sim_metadata_write(trace, error);
}

static void free_trace(struct sim_trace *trace, unsigned cpus)
{
	for (unsigned cpu = 0; trace->stream && cpu < cpus; cpu++)
		bytes_clear(&trace->stream[cpu].packet.bytes);
	free(trace->stream);
	free(trace->used);
	free(trace->path);
}

/* Unfinished streams have no metadata, so no program reads them as a trace. */
static void ctf_free(struct sim_writer *base)
{
	struct ctf_writer *writer = (struct ctf_writer *)base;

	for (size_t i = 0; i < base->nodes; i++)
		free_trace(&writer->trace[i], base->node[i].cpus);
	free(writer->trace);
	free(writer);
}

static int ctf_open(struct sim_writer *base, size_t i, const char *directory,
		    struct error *error)
{
	const struct sim_node *node = &base->node[i];
	struct sim_trace *trace = &((struct ctf_writer *)base)->trace[i];

	trace->path = mem_printf("%s/kernel", directory);
	if (mkdir(trace->path, 0777))
		return errno == EEXIST
			   ? error_set(error, "%s: already exists", trace->path)
			   : error_errno(error, trace->path);
	trace->stream = mem_zalloc(node->cpus * sizeof(*trace->stream));
	trace->used = mem_zalloc(trace->classes * sizeof(*trace->used));
	trace->node = node;
	/* The trace's own, but the same each time that the boot's is the same. */
	for (unsigned k = 0; k < 16; k++)
		trace->uuid[k] = (unsigned char)(node->boot_id[k] ^ (k < 6 ? 0xff : 0));
	return 0;
}

struct sim_writer *sim_ctf_writer_new(const char *directory, const struct sim_node *node,
				      size_t nodes, const struct sim_class *class,
				      size_t classes, struct error *error)
{
	static const struct sim_writer_ops ops = {ctf_open, ctf_add, ctf_finish,
						  ctf_free};
	struct ctf_writer *writer = mem_zalloc(sizeof(*writer));

	writer->base = (struct sim_writer){&ops, node, nodes, false};
	writer->trace = mem_zalloc(nodes * sizeof(*writer->trace));
	for (size_t i = 0; i < nodes; i++) {
		writer->trace[i].class = class;
		writer->trace[i].classes = classes;
	}
	return sim_writer_open(&writer->base, directory, error);
}
