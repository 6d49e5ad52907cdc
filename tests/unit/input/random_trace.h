/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_RANDOM_TRACE_H
#define CT_TEST_RANDOM_TRACE_H

/* Whole traces of random layouts: streams, events with contexts, packets. */
#include "ctf_random.h"

enum { MOST_EVENTS = 4, MOST_STREAMS = 2 };

enum header { HEADER_COMPACT, HEADER_LARGE, HEADER_PLAIN };

struct random_stream {
	enum header header;
	unsigned id_size, stamp_size; /* of a plain header */
	struct random_type *context;
	unsigned events;
	struct random_type *event_context[MOST_EVENTS], *fields[MOST_EVENTS];
	uint64_t id[MOST_EVENTS];
	bool has_sequence, has_discarded, has_cpu; /* of packets */
};

struct whole_trace {
	struct random_trace say;
	unsigned streams;
	struct random_stream stream[MOST_STREAMS];
	uint64_t clock;
	/* The packet begins before the end of the previous one. Nothing is lost between
	 * them: libbabeltrace2 2.1 aborts when a loss has a negative length. */
	bool is_back;
};

static inline void say_header(struct whole_trace *whole, struct random_stream *stream)
{
	struct words *text = &whole->say.text;

	stream->header = (enum header)draw_between(HEADER_COMPACT, HEADER_PLAIN);
	stream->id_size = (unsigned)draw_between(8, 32);
	stream->stamp_size = (unsigned)draw_between(20, 64);
	if (stream->header == HEADER_COMPACT)
		say(text, "struct { enum : integer { size = 5; align = 1; }"
			  " { compact = 0 ... 30, extended = 31 } id; variant <id> {"
			  " struct { integer { size = 27; align = 1;"
			  " map = clock.mono.value; } timestamp; } compact;");
	if (stream->header == HEADER_LARGE)
		say(text,
		    "struct { enum : integer { size = 16; align = 8; }"
		    " { compact = 0 ... 65534, extended = 65535 } id; variant <id> {"
		    " struct { integer { size = 32; align = 8;"
		    " map = clock.mono.value; } timestamp; } compact;");
	if (stream->header == HEADER_PLAIN)
		say(text,
		    "struct { integer { size = %u; align = 1; } id;"
		    " integer { size = %u; align = 8; map = clock.mono.value; } t; };\n",
		    stream->id_size, stream->stamp_size);
	else
		say(text, "struct { integer { size = 32; align = 8; } id; integer {"
			  " size = 64; align = 8; map = clock.mono.value; } timestamp; }"
			  " extended; } v; } align(8);\n");
}

/* In contexts libbabeltrace2 2.0.4 aborts on what refers to another field. */
static inline struct random_type *say_scope(struct whole_trace *whole, const char *name)
{
	struct random_type *type;

	say(&whole->say.text, "%s := ", name);
	whole->say.plain = strcmp(name, "fields") != 0;
	type = say_structure(&whole->say, 0);
	say(&whole->say.text, ";\n");
	return type;
}

static inline void say_stream(struct whole_trace *whole, unsigned number)
{
	struct random_stream *stream = &whole->stream[number];
	struct words *text = &whole->say.text;

	stream->has_sequence = chance(85);
	stream->has_discarded = chance(85);
	stream->has_cpu = chance(85);
	say(text,
	    "stream { id = %u;\npacket.context := struct {"
	    " stamp_t timestamp_begin; stamp_t timestamp_end; u64 content_size;"
	    " u64 packet_size; %s%s%s };\nevent.header := ",
	    number, stream->has_sequence ? "u64 packet_seq_num; " : "",
	    stream->has_discarded ? "u64 events_discarded; " : "",
	    stream->has_cpu ? "u32 cpu_id;" : "");
	say_header(whole, stream);
	if (chance(40))
		stream->context = say_scope(whole, "event.context");
	say(text, "};\n");
	stream->events = (unsigned)draw_between(1, MOST_EVENTS);
	for (unsigned i = 0; i < stream->events; i++) {
		stream->id[i] = chance(50) ? i : 50 * i + 30;
		say(text,
		    "event { name = \"e%u_%u\"; id = %" PRIu64 "; stream_id = %u;\n",
		    number, i, stream->id[i], number);
		if (chance(30))
			stream->event_context[i] = say_scope(whole, "context");
		stream->fields[i] = say_scope(whole, "fields");
		say(text, "};\n");
	}
}

static inline void say_trace(struct whole_trace *whole)
{
	struct words *text = &whole->say.text;

	whole->say.big = chance(50);
	whole->say.mixed = chance(50);
	say(text,
	    "/* CTF 1.8 */\n"
	    "typealias integer { size = 32; align = 8; } := u32;\n"
	    "typealias integer { size = 64; align = 8; } := u64;\n"
	    "trace { major = 1; minor = 8; byte_order = %s;\n"
	    "packet.header := struct { u32 magic; integer { size = 8; align = 8; }"
	    " uuid[16]; u32 stream_id; u64 stream_instance_id; }; };\n"
	    "env { hostname = \"host\"; };\n"
	    "clock { name = mono; freq = %d; offset_s = %d; offset = %d; };\n"
	    "typealias integer { size = 64; align = 8; map = clock.mono.value; }"
	    " := stamp_t;\n",
	    whole->say.big ? "be" : "le", chance(80) ? 1000000000 : 3000001,
	    (int)draw_between(0, 1700000000), (int)draw_between(0, 999999999));
	whole->streams = (unsigned)draw_between(1, MOST_STREAMS);
	for (unsigned i = 0; i < whole->streams; i++)
		say_stream(whole, i);
}

static inline void put_header(struct whole_trace *whole,
			      const struct random_stream *stream, struct bits *bits,
			      uint64_t packet, uint64_t id, uint64_t step)
{
	bool big = whole->say.big, compact = stream->header == HEADER_COMPACT;
	bool extended = chance(20) || step >= (compact ? 1u << 27 : UINT32_MAX) ||
			id >= (compact ? 31 : 65535);

	bits_align(bits, packet, 8);
	if (stream->header == HEADER_PLAIN) {
		bits_put(bits, stream->id_size, id, big);
		bits_align(bits, packet, 8);
		bits_put(bits, stream->stamp_size, whole->clock, big);
	} else if (extended) {
		bits_put(bits, compact ? 5 : 16, UINT64_MAX, big);
		bits_align(bits, packet, 8);
		bits_put(bits, 32, id, big);
		bits_put(bits, 64, whole->clock, big);
	} else {
		bits_put(bits, compact ? 5 : 16, id, big);
		bits_put(bits, compact ? 27 : 32, whole->clock, big);
	}
}

static inline void put_random_event(struct whole_trace *whole,
				    struct random_stream *stream, struct bits *bits,
				    uint64_t packet)
{
	unsigned event = (unsigned)draw_between(0, (int)stream->events - 1);
	uint64_t most = stream->header == HEADER_PLAIN ? 1u << 19 : 1u << 28;
	uint64_t step = chance(90) ? (uint64_t)draw_between(0, 1000)
				   : (uint64_t)draw_between(0, (int64_t)most);

	whole->clock += step;
	put_header(whole, stream, bits, packet, stream->id[event], step);
	if (stream->context)
		put_random(bits, packet, stream->context);
	if (stream->event_context[event])
		put_random(bits, packet, stream->event_context[event]);
	put_random(bits, packet, stream->fields[event]);
}

enum { AT_BEGIN = 256, AT_END = 320, AT_CONTENT = 384, AT_SIZE = 448 };

/* A packet of some events; counters go on. Those of a stream's first packet are 0 if they
 * were UINT64_MAX and 0. */
static inline void put_packet(struct whole_trace *whole, unsigned number,
			      unsigned instance, struct bits *bits, uint64_t counter[2])
{
	struct random_stream *stream = &whole->stream[number];
	uint64_t packet = bits->at;
	bool big = whole->say.big, is_first = counter[0] == UINT64_MAX;

	bits_put(bits, 32, 0xc1fc1fc1u, big);
	bits_put(bits, 64, 0, big);
	bits_put(bits, 64, 0, big);
	bits_put(bits, 32, number, big);
	bits_put(bits, 64, instance, big);
	bits_put(bits, 64, whole->clock, big);
	for (int i = 0; i < 3; i++)
		bits_put(bits, 64, 0, big);
	counter[0] += (uint64_t)(is_first || whole->is_back || chance(80) ? 1 : 3);
	counter[1] += (uint64_t)(is_first || whole->is_back || chance(80) ? 0 : 7);
	if (stream->has_sequence)
		bits_put(bits, 64, counter[0], big);
	if (stream->has_discarded)
		bits_put(bits, 64, counter[1], big);
	if (stream->has_cpu)
		bits_put(bits, 32, instance, big);
	for (int64_t i = chance(20) ? 0 : draw_between(0, 12); i > 0; i--)
		put_random_event(whole, stream, bits, packet);
	bits_reserve(bits, 64);
	bits_set(bits, packet + AT_END, 64, whole->clock, big);
	bits_set(bits, packet + AT_CONTENT, 64, bits->at - packet, big);
	bits_align(bits, packet, chance(50) ? 8 : 1024);
	bits_set(bits, packet + AT_SIZE, 64, bits->at - packet, big);
}

static inline void whole_clear(struct whole_trace *whole)
{
	for (unsigned i = 0; i < whole->streams; i++) {
		random_free(whole->stream[i].context);
		for (unsigned k = 0; k < whole->stream[i].events; k++) {
			random_free(whole->stream[i].event_context[k]);
			random_free(whole->stream[i].fields[k]);
		}
	}
	free(whole->say.text.text);
}

#endif
