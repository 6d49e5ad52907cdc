/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_MADE_UP_TRACE_H
#define CT_TEST_MADE_UP_TRACE_H

/*
 * A made-up trace: a test that includes this has its own reader.
 */
#include <netinet/in.h>
#include <stdlib.h>

#include "base/mem.h"
#include "input/packet_source.h"

#include "input/trace_packets.h"
#include "trace_values.h"

struct trace_reader {
	struct trace_facts facts;
	struct problem_list problems;
	struct trace_class class[PACKET_CLASSES];
};

enum { MOST_EVENTS = 32, SKB = 0x1000 };

static struct {
	struct values values[MOST_EVENTS];
	struct trace_event event[MOST_EVENTS];
	size_t events, next;
	size_t again; /* how often the last event is repeated */
	bool defined[PACKET_CLASSES];
	struct trace_facts facts;
} trace;

struct trace_reader *trace_reader_open(const char *path, struct error *error)
{
	struct trace_reader *reader;

	if (strcmp(path, "made-up") != 0) {
		error_set(error, "%s: is not made up", path);
		return NULL;
	}
	reader = mem_zalloc(sizeof(*reader));
	reader->facts = trace.facts;
	for (int i = 0; i < PACKET_CLASSES; i++) {
		const char *name = trace.defined[i] ? packet_classes[i].name : "another";

		reader->class[i].name = (char *)(uintptr_t)name;
	}
	trace.next = 0;
	return reader;
}

/* A class for each packet class. */
const struct trace_class *trace_reader_class(const struct trace_reader *reader,
					     uint32_t index)
{
	return index < PACKET_CLASSES ? &reader->class[index] : NULL;
}

const struct trace_class *trace_reader_columns(struct trace_reader *reader,
					       uint32_t index)
{
	return trace_reader_class(reader, index);
}

void trace_reader_set_origin(struct trace_reader *reader,
			     const struct clock_origin *origin)
{
	(void)reader;
	(void)origin;
}

void trace_reader_select(struct trace_reader *reader, uint32_t index,
			 const struct trace_selection *selection)
{
	(void)reader;
	assert_int_equal(selection->what, SELECT_FIELDS);
	assert_ptr_equal(selection->field, packet_classes[index].field);
	assert_int_equal(selection->fields, packet_classes[index].fields);
}

/* An event a step; one that is repeated is of the next buffer and nanosecond. */
bool trace_reader_step(struct trace_reader *reader, uint64_t most, trace_event_fn *give,
		       void *context)
{
	(void)most;
	if (trace.next < trace.events) {
		reader->facts.events++;
		give(context, &trace.event[trace.next++]);
	}
	if (trace.next == trace.events && trace.again) {
		trace.event[--trace.next].local_ns++;
		trace.values[trace.next].value[0].integer++;
		trace.again--;
	}
	return trace.next < trace.events;
}

const struct trace_facts *trace_reader_facts(const struct trace_reader *reader)
{
	return &reader->facts;
}

struct problem_list *trace_reader_problems(struct trace_reader *reader)
{
	return &reader->problems;
}

void trace_reader_free(struct trace_reader *reader)
{
	if (reader)
		problem_clear(&reader->problems);
	free(reader);
}

/* One more event of a class, on a CPU; its ordinal is its place in the trace. */
static inline struct values *add(int wanted, unsigned cpu, nsec_t ns)
{
	struct values *values = &trace.values[trace.events];

	assert_true(trace.events < MOST_EVENTS);
	values_init(values, wanted);
	trace.event[trace.events] = (struct trace_event){
	    .local_ns = ns,
	    .class = (uint32_t)wanted,
	    .stream = cpu,
	    .ordinal = trace.events,
	    .cell = values->value,
	};
	trace.events++;
	trace.defined[wanted] = true;
	return values;
}

/* A packet event of a buffer and a device; its id is the buffer's number. */
static inline struct values *add_packet(int wanted, uint64_t skb, const char *device,
					nsec_t ns)
{
	struct values *values = add(wanted, 0, ns);

	put_number(values, "skbaddr", SKB + skb);
	put_text(values, "name", device);
	put_ipv4(values, IPPROTO_TCP, 252);
	put_tcp(values, "ipv4", 1);
	put_number(values, "ipv4.id", skb);
	return values;
}

static inline void add_xmit(uint64_t skb, const char *device, nsec_t ns, int64_t rc)
{
	struct values *values = add(CLASS_XMIT, 0, ns);

	put_number(values, "skbaddr", SKB + skb);
	put_text(values, "name", device);
	put_signed(values, "rc", rc);
}

static inline void add_gro(uint64_t skb, unsigned cpu, nsec_t ns, int64_t ret)
{
	put_number(add(CLASS_GRO_ENTRY, cpu, ns), "skbaddr", SKB + skb);
	put_signed(add(CLASS_GRO_EXIT, cpu, ns + 1), "ret", ret);
}

struct seen {
	struct packet_event item[MOST_EVENTS];
	size_t count;
	struct trace_facts facts;
	struct packet_counts counts;
	struct problem_list problems;
};

static struct seen seen;

static inline void take(void *context __attribute__((unused)),
			const struct packet_event *packet_event)
{
	seen.item[seen.count++] = *packet_event;
}

static inline void read_trace(void)
{
	struct error error = ERROR_INIT;
	struct packet_source *source = trace_packets_open("made-up", &error);

	memset(&seen, 0, sizeof(seen));
	assert_non_null(source);
	while (packet_source_step(source, take, NULL))
		;
	assert_false(packet_source_step(source, take, NULL));
	seen.facts = source->facts;
	seen.counts = source->counts;
	problem_move(&seen.problems, &source->problems);
	packet_source_free(source);
}

static inline void assert_seen(size_t n, uint32_t id, nsec_t ns, nsec_t whole_ns)
{
	assert_true(n < seen.count);
	assert_int_equal(seen.item[n].packet.id, id);
	assert_int_equal(seen.item[n].ns, ns);
	assert_int_equal(seen.item[n].whole_ns, whole_ns);
}

static inline int forget(void **state)
{
	(void)state;
	memset(&trace, 0, sizeof(trace));
	return 0;
}

/* A test that begins with an empty trace. */
#define PACKETS_TEST(name) FIXTURE_TEST(name, forget, NULL)

#endif
