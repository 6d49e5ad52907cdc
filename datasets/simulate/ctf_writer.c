/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/intmap.h"
#include "base/mem.h"
#include "base/output.h"
#include "simulate/ctf_fields.h"
#include "simulate/ctf_metadata.h"
#include "simulate/writer.h"

enum {
	PACKET_EVENTS = 2048,
	/* Where numbers stand in a packet that are known when it ends. */
	SIZE_AT = 36,
	END_STAMP_AT = 60,
};

#define MAGIC UINT32_C(0xc1fc1fc1)

/* A processor's file, ch_N. */
struct stream {
	struct sim_ctf_bytes packet; /* empty between packets */
	uint64_t events;             /* in the packet */
	uint64_t packets;            /* before it */
	uint64_t last;               /* stamp, of the packet before, too */
};

struct node_trace {
	char *path;
	struct sim_ctf_trace facts;
	bool *used; /* classes: those of facts */
	struct stream *stream;
};

struct ctf_writer {
	struct sim_writer base;
	const struct sim_class **class;
	size_t classes;
	struct intmap ids; /* of classes, by their address */
	struct node_trace *trace;
	bool failed;
};

/* Append bytes to the file of a processor, which is made if need be. */
static int append_packet(const struct node_trace *trace, unsigned cpu,
			 const struct sim_ctf_bytes *bytes, struct error *error)
{
	char *path = mem_printf("%s/ch_%u", trace->path, cpu);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	int status = 0;

	if (fd < 0 || output_write_all(fd, bytes->data, bytes->used, -1))
		status = error_errno(error, path);
	if (fd >= 0 && close(fd) && !status)
		status = error_errno(error, path);
	free(path);
	return status;
}

/* A field of each class that no other tracer of ours writes; see add_rare_context. */
static void put_rare_context(struct sim_ctf_bytes *bytes, uint64_t number)
{
	static const char mark[] = "mark";
	char *note = mem_printf("packet \xc2\xb9 %llu", (unsigned long long)number);
	float load = (float)(number % 64) / 2;
	uint32_t load_bits;
	struct sim_ctf_bytes wide = {0};

	memcpy(&load_bits, &load, sizeof(load_bits));
	sim_ctf_put(bytes, number % 2, 1);  /* is_marked */
	sim_ctf_put(bytes, number, 7);      /* low_number */
	sim_ctf_put(bytes, number, 8);      /* number_bits */
	sim_ctf_put(bytes, number >> 4, 8); /* high and low: big-endian */
	sim_ctf_put(bytes, number << 4 | number % 16, 8);
	for (uint64_t i = 0; number % 16 >= 8 && i < 8; i++) /* tail, of 64 bits */
		sim_ctf_put(bytes, number, 8);
	sim_ctf_put(bytes, load_bits, 32);
	sim_ctf_put_wide(&wide, note, 32);
	sim_ctf_put_leb128(bytes, wide.used);
	for (size_t i = 0; i < wide.used; i++) /* the note, big-endian */
		sim_ctf_put(bytes, wide.data[i ^ 3], 8);
	for (size_t i = 0; i < wide.used; i++) /* and the same again as a BLOB */
		sim_ctf_put(bytes, wide.data[i], 8);
	for (size_t i = 0; number % 2 && i < sizeof(mark) - 1; i++)
		sim_ctf_put(bytes, (uint64_t)mark[i], 8);
	sim_ctf_bytes_clear(&wide);
	free(note);
}

static void begin_packet(const struct node_trace *trace, unsigned cpu, uint64_t stamp)
{
	struct stream *stream = &trace->stream[cpu];
	struct sim_ctf_bytes *bytes = &stream->packet;

	sim_ctf_put(bytes, MAGIC, 32);
	for (int i = 0; i < 16; i++)
		sim_ctf_put(bytes, trace->facts.uuid[i], 8);
	sim_ctf_put(bytes, 0, 64); /* of the stream's class */
	sim_ctf_put(bytes, cpu, 64);
	sim_ctf_put(bytes, 0, 64); /* two sizes, known at the end */
	sim_ctf_put(bytes, 0, 64);
	sim_ctf_put(bytes, stamp, 64);
	sim_ctf_put(bytes, 0, 64); /* the stamp of its end */
	sim_ctf_put(bytes, 0, 64); /* discarded events */
	sim_ctf_put(bytes, stream->packets, 64);
	sim_ctf_put(bytes, cpu, 32);
	if (trace->facts.node->format == SIM_CTF_2)
		put_rare_context(bytes, stream->packets);
}

static void overwrite(struct sim_ctf_bytes *bytes, size_t at, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		bytes->data[at + (size_t)i] = (uint8_t)(value >> 8 * i);
}

static int end_packet(const struct node_trace *trace, unsigned cpu, struct error *error)
{
	struct stream *stream = &trace->stream[cpu];
	int status;

	overwrite(&stream->packet, SIZE_AT, 8 * (uint64_t)stream->packet.used);
	overwrite(&stream->packet, SIZE_AT + 8, 8 * (uint64_t)stream->packet.used);
	overwrite(&stream->packet, END_STAMP_AT, stream->last);
	status = append_packet(trace, cpu, &stream->packet, error);
	stream->packet.used = 0;
	stream->events = 0;
	stream->packets++;
	return status;
}

static void put_event_header(const struct node_trace *trace, struct stream *stream,
			     uint64_t id, uint64_t stamp)
{
	const struct sim_ctf_header_form *form =
	    sim_ctf_header_form(trace->facts.node->event_header);
	uint64_t escape = form ? (UINT64_C(1) << form->id_bits) - 1 : 0;

	if (form && id < escape && (stamp - stream->last) >> form->stamp_bits == 0) {
		sim_ctf_put(&stream->packet, id, form->id_bits);
		sim_ctf_put(&stream->packet, stamp, form->stamp_bits);
		return;
	}
	if (form) {
		sim_ctf_put(&stream->packet, escape, form->id_bits);
		stream->packet.bits = 0; /* aligned to a byte */
	}
	sim_ctf_put(&stream->packet, id, form ? 32 : 64);
	sim_ctf_put(&stream->packet, stamp, 64);
}

static int add_event(struct node_trace *trace, const struct sim_event *event, size_t id,
		     struct error *error)
{
	struct stream *stream = &trace->stream[event->cpu];
	uint64_t stamp = (uint64_t)event->mono_ns;
	struct sim_headers headers;
	int has_packet = sim_headers_of_event(&headers, event, error);

	if (has_packet < 0)
		return error_prefix(error, "%s", trace->path);
	/* A packet's stamps lie within those of its ends. */
	if (stream->packet.used &&
	    (stream->events == PACKET_EVENTS || stamp < stream->last) &&
	    end_packet(trace, event->cpu, error))
		return -1;
	if (!stream->packet.used)
		begin_packet(trace, event->cpu, stamp);
	put_event_header(trace, stream, id, stamp);
	sim_ctf_put_payload(&stream->packet, event, has_packet ? &headers : NULL,
			    trace->facts.node->format);
	stream->last = stamp;
	stream->events++;
	trace->used[id] = true;
	return 0;
}

static int ctf_add(struct sim_writer *base, const struct sim_event *event,
		   struct error *error)
{
	struct ctf_writer *writer = (struct ctf_writer *)base;
	const char *name = base->node[event->node].name;
	int64_t id;

	if (writer->failed)
		return error_set(error, "%s: writing failed before", name);
	if (!intmap_get(&writer->ids, (uintptr_t)event->class, &id))
		return error_set(error, "%s: event of a class that was not announced: %s",
				 name, event->class->name);
	if (event->mono_ns < 0)
		return error_set(error, "%s: event at %lld ns, want a stamp from 0 up",
				 name, (long long)event->mono_ns);
	if (add_event(&writer->trace[event->node], event, (size_t)id, error))
		writer->failed = true;
	return writer->failed ? -1 : 0;
}

/* Write what is left of the streams, and the metadata. A trace has a stream at least. */
static int finish_trace(struct node_trace *trace, struct error *error)
{
	static const struct sim_ctf_bytes nothing;
	unsigned cpus = trace->facts.node->cpus;
	char *path;
	bool any = false;
	int status = 0;

	for (unsigned cpu = 0; cpu < cpus && !status; cpu++) {
		if (trace->stream[cpu].packet.used)
			status = end_packet(trace, cpu, error);
		any |= trace->stream[cpu].packets > 0;
	}
	if (!any && !status)
		status = append_packet(trace, 0, &nothing, error);
	if (status)
		return -1;
	path = mem_printf("%s/metadata", trace->path);
	status = sim_ctf_metadata_write(&trace->facts, path, error);
	free(path);
	return status;
}

static void free_trace(struct node_trace *trace, unsigned cpus)
{
	for (unsigned cpu = 0; trace->stream && cpu < cpus; cpu++)
		sim_ctf_bytes_clear(&trace->stream[cpu].packet);
	free(trace->stream);
	free(trace->used);
	free(trace->path);
}

/* Streams that were not finished stay without metadata, so that nobody reads them. */
static void ctf_free(struct ctf_writer *writer)
{
	for (size_t i = 0; i < writer->base.nodes; i++)
		free_trace(&writer->trace[i], writer->base.node[i].cpus);
	intmap_clear(&writer->ids);
	free(writer->trace);
	free(writer->class);
	free(writer);
}

static int ctf_finish(struct sim_writer *base, struct error *error)
{
	struct ctf_writer *writer = (struct ctf_writer *)base;
	int status = writer->failed ? -1 : 0;

	for (size_t i = 0; i < base->nodes && !status; i++)
		status = finish_trace(&writer->trace[i], error);
	ctf_free(writer);
	return status;
}

static int open_trace(struct ctf_writer *writer, size_t i, const char *directory,
		      struct error *error)
{
	const struct sim_node *node = &writer->base.node[i];
	struct node_trace *trace = &writer->trace[i];

	if (sim_writer_directory(directory, node->name, error))
		return -1;
	trace->path = mem_printf("%s/%s/kernel", directory, node->name);
	if (mkdir(trace->path, 0777))
		return errno == EEXIST
			   ? error_set(error, "%s: is there already", trace->path)
			   : error_errno(error, trace->path);
	trace->stream = mem_zalloc(node->cpus * sizeof(*trace->stream));
	trace->used = mem_zalloc(writer->classes * sizeof(*trace->used));
	trace->facts = (struct sim_ctf_trace){
	    .node = node,
	    .class = writer->class,
	    .used = trace->used,
	    .classes = writer->classes,
	};
	/* The trace's own, but the same each time that the boot's is the same. */
	for (unsigned k = 0; k < 16; k++)
		trace->facts.uuid[k] =
		    (unsigned char)(node->boot_id[k] ^ (k < 6 ? 0xff : 0));
	return 0;
}

struct sim_writer *sim_ctf_writer_new(const char *directory, const struct sim_node *node,
				      size_t nodes,
				      const struct sim_class *const *classes,
				      size_t class_count, struct error *error)
{
	static const struct sim_writer_ops ops = {ctf_add, ctf_finish};
	struct ctf_writer *writer = mem_zalloc(sizeof(*writer));
	int status = 0;

	writer->base = (struct sim_writer){&ops, node, nodes};
	writer->trace = mem_zalloc(nodes * sizeof(*writer->trace));
	writer->class = mem_alloc(class_count * sizeof(*writer->class));
	writer->classes = class_count;
	for (size_t i = 0; i < class_count; i++) {
		writer->class[i] = classes[i];
		intmap_put(&writer->ids, (uintptr_t)classes[i], (int64_t)i);
	}
	for (size_t i = 0; i < nodes && !status; i++)
		status = open_trace(writer, i, directory, error);
	if (!status)
		return &writer->base;
	ctf_free(writer);
	return NULL;
}
