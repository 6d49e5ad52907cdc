/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Perfetto's own form: a message Trace, which is a sequence of TracePackets. Field
 * numbers are those of Perfetto's published definitions (perfetto.dev,
 * reference/trace-packet-proto). Repeated strings are interned: a packet defines them
 * once with a number. */
#include "export/perfetto/proto.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"

/*
 * The encoding of Protocol Buffers (protobuf.dev/programming-guides/encoding): fields in
 * any order, each a tag and a value.
 */
enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static void add_tag(struct bytes *out, unsigned field, enum wire_type type)
{
	bytes_add_varint(out, (uint64_t)field << 3 | type);
}

void protobuf_add_uint(struct bytes *out, unsigned field, uint64_t value)
{
	add_tag(out, field, WIRE_VARINT);
	bytes_add_varint(out, value);
}

static void protobuf_add_fixed64(struct bytes *out, unsigned field, uint64_t value)
{
	add_tag(out, field, WIRE_FIXED64);
	bytes_add_le(out, value, 8);
}

void protobuf_add_text(struct bytes *out, unsigned field, const char *text)
{
	size_t size = strlen(text);
	AUTOFREE char *clean = NULL;

	if (!utf8_is_valid(text, size)) {
		text = clean = utf8_clean(text);
		size = strlen(text);
	}
	add_tag(out, field, WIRE_BYTES);
	bytes_add_varint(out, size);
	bytes_add(out, text, size);
}

void protobuf_add_bytes(struct bytes *out, unsigned field, const struct bytes *bytes)
{
	add_tag(out, field, WIRE_BYTES);
	bytes_add_varint(out, bytes->size);
	bytes_add(out, bytes->data, bytes->size);
}

/* Most messages are short, so one byte is left for the length. */
size_t protobuf_begin(struct bytes *out, unsigned field)
{
	add_tag(out, field, WIRE_BYTES);
	bytes_add_byte(out, 0);
	return out->size;
}

void protobuf_end(struct bytes *out, size_t begun)
{
	size_t size = out->size - begun, more = 0;

	for (size_t rest = size >> 7; rest; rest >>= 7)
		more++;
	if (more) {
		bytes_extend(out, more);
		memmove(out->data + begun + more, out->data + begun, size);
	}
	out->size = begun - 1;
	bytes_add_varint(out, size);
	out->size += size;
}

/* The numbers of fields, message by message. */
enum {
	TRACE_PACKET = 1,

	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_FIRST_ON_SEQUENCE = 87,
	PACKET_MACHINE_ID = 98,
	PACKET_REMOTE_CLOCK_SYNC = 107,

	DEFAULTS_CLOCK_ID = 58,
	SNAPSHOT_CLOCK = 1,
	SNAPSHOT_PRIMARY_CLOCK = 2,
	CLOCK_READING_ID = 1,
	CLOCK_READING_TIMESTAMP = 2,
	SYNC_CLOCKS = 1,
	SYNC_CLIENT = 2,
	SYNC_HOST = 3,

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_THREAD = 4,
	TRACK_PARENT_UUID = 5,
	TRACK_COUNTER = 8,
	TRACK_CHILD_ORDERING = 11,
	TRACK_SIBLING_RANK = 12,
	THREAD_PID = 1,
	THREAD_TID = 2,
	COUNTER_UNIT_NAME = 6,

	EVENT_CATEGORY_IIDS = 3,
	EVENT_DEBUG_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_CATEGORIES = 22,
	EVENT_NAME = 23,
	EVENT_DOUBLE_COUNTER_VALUE = 44,
	EVENT_FLOW_IDS = 47,
	EVENT_TERMINATING_FLOW_IDS = 48,

	ANNOTATION_NAME_IID = 1,
	ANNOTATION_INT = 4,
	ANNOTATION_STRING = 6,
	ANNOTATION_NAME = 10,
	ANNOTATION_STRING_IID = 17,

	INTERNED_IID = 1, /* equal for all four kinds of interned strings */
	INTERNED_TEXT = 2,
};

/* Values of some of them; clocks are of those that Perfetto knows. */
enum sequence_flags { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum builtin_clock { BUILTIN_REALTIME = 1, BUILTIN_BOOTTIME = 6 };
enum child_ordering { BY_NAME = 1, BY_RANK = 3 };
enum event_type { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };

/* Fields that define interned strings, and fields that use them by number or as text. */
static const struct {
	unsigned told, number, text;
} interned[PERFETTO_SORTS] = {
    [PERFETTO_CATEGORY] = {1, EVENT_CATEGORY_IIDS, EVENT_CATEGORIES},
    [PERFETTO_NAME] = {2, EVENT_NAME_IID, EVENT_NAME},
    [PERFETTO_VALUE_NAME] = {3, ANNOTATION_NAME_IID, ANNOTATION_NAME},
    [PERFETTO_VALUE_TEXT] = {29, ANNOTATION_STRING_IID, ANNOTATION_STRING},
};

size_t proto_begin_packet(struct perfetto *perfetto, int32_t node, unsigned flags)
{
	const struct perfetto_machine *machine = &perfetto->machine[node - 1];
	size_t packet = protobuf_begin(&perfetto->out, TRACE_PACKET);

	protobuf_add_uint(&perfetto->out, PACKET_SEQUENCE_ID, machine->id + 1);
	if (machine->id)
		protobuf_add_uint(&perfetto->out, PACKET_MACHINE_ID, machine->id);
	if (flags)
		protobuf_add_uint(&perfetto->out, PACKET_SEQUENCE_FLAGS, flags);
	return packet;
}

size_t proto_begin_packet_at(struct perfetto *perfetto, int32_t node, nsec_t at_ns)
{
	size_t packet = proto_begin_packet(perfetto, node, NEEDS_STATE);

	protobuf_add_uint(&perfetto->out, PACKET_TIMESTAMP, (uint64_t)at_ns);
	return packet;
}

static void add_clock(struct bytes *out, enum builtin_clock clock, nsec_t now_ns)
{
	size_t reading = protobuf_begin(out, SNAPSHOT_CLOCK);

	protobuf_add_uint(out, CLOCK_READING_ID, clock);
	protobuf_add_uint(out, CLOCK_READING_TIMESTAMP, (uint64_t)now_ns);
	protobuf_end(out, reading);
}

/* Define the clocks. Timestamps and the trace's axis are epoch time of the reference
 * clock, so nothing is converted. Boottime is the clock of ftrace events, and some parts
 * of the viewer assume it; here it is equal. */
static void add_clocks(struct perfetto *perfetto, unsigned field)
{
	struct bytes *out = &perfetto->out;
	nsec_t origin_ns = perfetto->export->scope.origin_ns;
	size_t snapshot = protobuf_begin(out, field);

	add_clock(out, BUILTIN_REALTIME, origin_ns);
	add_clock(out, BUILTIN_BOOTTIME, origin_ns);
	if (field == PACKET_CLOCK_SNAPSHOT)
		protobuf_add_uint(out, SNAPSHOT_PRIMARY_CLOCK, BUILTIN_REALTIME);
	protobuf_end(out, snapshot);
}

/* Other machines are on the first one's clocks: all stamps are corrected. */
static void add_clock_sync(struct perfetto *perfetto)
{
	struct bytes *out = &perfetto->out;
	size_t sync = protobuf_begin(out, PACKET_REMOTE_CLOCK_SYNC);

	for (int round = 0; round < 2; round++) {
		size_t clocks = protobuf_begin(out, SYNC_CLOCKS);

		add_clocks(perfetto, SYNC_CLIENT);
		add_clocks(perfetto, SYNC_HOST);
		protobuf_end(out, clocks);
	}
	protobuf_end(out, sync);
}

static void proto_begin(struct perfetto *perfetto)
{
	perfetto->machines = perfetto->export->scope.nodes + 1;
	perfetto->machine = mem_zalloc(perfetto->machines * sizeof(*perfetto->machine));
}

/* A node is a machine, with a sequence of packets of its own. */
static void begin_machine(struct perfetto *perfetto, int32_t node)
{
	struct perfetto_machine *machine = &perfetto->machine[node - 1];
	struct bytes *out = &perfetto->out;
	size_t packet, defaults;

	machine->id = perfetto->machines_begun++;
	packet = proto_begin_packet(perfetto, node, STATE_CLEARED | NEEDS_STATE);
	protobuf_add_uint(out, PACKET_FIRST_ON_SEQUENCE, 1);
	defaults = protobuf_begin(out, PACKET_DEFAULTS);
	protobuf_add_uint(out, DEFAULTS_CLOCK_ID, BUILTIN_REALTIME);
	protobuf_end(out, defaults);
	if (machine->id)
		add_clock_sync(perfetto);
	else
		add_clocks(perfetto, PACKET_CLOCK_SNAPSHOT);
	protobuf_end(out, packet);
}

/* Add the object that a track belongs to. */
static void add_subject(struct bytes *out, const struct perfetto_track *track)
{
	size_t subject;

	if (track->kind == PERFETTO_THREAD) {
		subject = protobuf_begin(out, TRACK_THREAD);
		protobuf_add_uint(out, THREAD_PID, (uint64_t)track->own_pid);
		protobuf_add_uint(out, THREAD_TID, (uint64_t)track->own_tid);
		protobuf_end(out, subject);
		return;
	}
	protobuf_add_text(out, TRACK_NAME, track->name);
	if (track->kind != PERFETTO_COUNTER)
		return;
	subject = protobuf_begin(out, TRACK_COUNTER);
	if (track->unit)
		protobuf_add_text(out, COUNTER_UNIT_NAME, track->unit);
	protobuf_end(out, subject);
}

static void proto_track(struct perfetto *perfetto, const struct perfetto_track *track)
{
	struct bytes *out = &perfetto->out;
	size_t packet, descriptor;

	if (track->kind == PERFETTO_NODE)
		begin_machine(perfetto, track->pid);
	packet = proto_begin_packet(perfetto, track->pid, NEEDS_STATE);
	descriptor = protobuf_begin(out, PACKET_TRACK_DESCRIPTOR);
	protobuf_add_uint(out, TRACK_UUID, track->number);
	if (track->parent && track->kind != PERFETTO_THREAD)
		protobuf_add_uint(out, TRACK_PARENT_UUID, track->parent);
	add_subject(out, track);
	if (track->kind <= PERFETTO_LIST && track->kind != PERFETTO_THREAD)
		protobuf_add_uint(out, TRACK_CHILD_ORDERING,
				  track->kind == PERFETTO_LIST ? BY_NAME : BY_RANK);
	if (track->rank)
		protobuf_add_uint(out, TRACK_SIBLING_RANK, (uint64_t)track->rank);
	protobuf_end(out, descriptor);
	protobuf_end(out, packet);
}

/* Limits of interned strings, so that memory does not grow with the run: their number,
 * and their length. */
enum { INTERN_MOST = 1 << 16, INTERN_LONGEST = 64 };

/* Return true if the machine's sequence has not defined the string yet. */
static bool is_news(struct perfetto_machine *machine, enum perfetto_sort sort,
		    uint64_t number)
{
	struct bytes *told = &machine->told[sort];
	uint8_t bit = (uint8_t)(1 << number % 8);

	while (told->size <= number / 8)
		bytes_add_byte(told, 0);
	if (told->data[number / 8] & bit)
		return false;
	told->data[number / 8] |= bit;
	return true;
}

/* Add a string by a number that is common to all sequences. */
static void add_number(struct perfetto *perfetto, int32_t node, enum perfetto_sort sort,
		       uint64_t number)
{
	size_t entry;

	protobuf_add_uint(&perfetto->out, interned[sort].number, number);
	if (!is_news(&perfetto->machine[node - 1], sort, number))
		return;
	entry = protobuf_begin(&perfetto->news, interned[sort].told);
	protobuf_add_uint(&perfetto->news, INTERNED_IID, number);
	protobuf_add_text(&perfetto->news, INTERNED_TEXT,
			  texts_get(&perfetto->known[sort], number - 1));
	protobuf_end(&perfetto->news, entry);
}

/* Add a string by number, or as text if it has none. Return the number. */
static uint64_t add_interned(struct perfetto *perfetto, int32_t node,
			     enum perfetto_sort sort, const char *text)
{
	struct texts *texts = &perfetto->known[sort];
	uint64_t number;

	if (texts->count == INTERN_MOST ||
	    strnlen(text, INTERN_LONGEST + 1) > INTERN_LONGEST) {
		protobuf_add_text(&perfetto->out, interned[sort].text, text);
		return 0;
	}
	number = texts_put(texts, text) + 1;
	add_number(perfetto, node, sort, number);
	return number;
}

static void add_value(struct perfetto *perfetto, int32_t node,
		      const struct perfetto_value *value)
{
	size_t annotation = protobuf_begin(&perfetto->out, EVENT_DEBUG_ANNOTATIONS);

	if (value->name->number)
		add_number(perfetto, node, PERFETTO_VALUE_NAME, value->name->number);
	else
		value->name->number =
		    add_interned(perfetto, node, PERFETTO_VALUE_NAME, value->name->text);
	if (value->cell.type == CELL_INTEGER)
		protobuf_add_uint(&perfetto->out, ANNOTATION_INT,
				  (uint64_t)value->cell.integer);
	else
		add_interned(perfetto, node, PERFETTO_VALUE_TEXT, value->cell.bytes);
	protobuf_end(&perfetto->out, annotation);
}

/* Add the fields that all events begin with. */
static size_t begin_event(struct perfetto *perfetto, nsec_t at_ns, enum event_type type,
			  const struct perfetto_track *track, size_t *event)
{
	struct bytes *out = &perfetto->out;
	size_t packet = proto_begin_packet_at(perfetto, track->pid, at_ns);

	*event = protobuf_begin(out, PACKET_TRACK_EVENT);
	protobuf_add_uint(out, EVENT_TYPE, type);
	protobuf_add_uint(out, EVENT_TRACK_UUID, track->number);
	return packet;
}

/* Add the name and category of a slice or instant. */
static void add_texts(struct perfetto *perfetto, const struct perfetto_event *event)
{
	int32_t node = event->track->pid;

	add_interned(perfetto, node, PERFETTO_CATEGORY, event->category);
	add_interned(perfetto, node, PERFETTO_NAME, event->name);
	if (event->arrow)
		protobuf_add_fixed64(
		    &perfetto->out,
		    event->arrow > 0 ? EVENT_FLOW_IDS : EVENT_TERMINATING_FLOW_IDS,
		    event->arrow > 0 ? (uint64_t)event->arrow : -(uint64_t)event->arrow);
	for (size_t i = 0; i < event->values; i++)
		add_value(perfetto, node, &event->value[i]);
}

/* A packet; of a slice one more for its end. */
static void proto_event(struct perfetto *perfetto, const struct perfetto_event *event)
{
	static const enum event_type types[] = {SLICE_BEGIN, INSTANT, COUNTER};
	struct bytes *out = &perfetto->out;
	size_t inner, packet = begin_event(perfetto, event->begin_ns, types[event->kind],
					   event->track, &inner);
	uint64_t bits;

	memcpy(&bits, &event->count, sizeof(bits));
	if (event->kind == PERFETTO_COUNT)
		protobuf_add_fixed64(out, EVENT_DOUBLE_COUNTER_VALUE, bits);
	else
		add_texts(perfetto, event);
	protobuf_end(out, inner);
	if (perfetto->news.size) {
		inner = protobuf_begin(out, PACKET_INTERNED_DATA);
		bytes_add(out, perfetto->news.data, perfetto->news.size);
		protobuf_end(out, inner);
		perfetto->news.size = 0;
	}
	protobuf_end(out, packet);
	if (event->kind != PERFETTO_SLICE)
		return;
	packet = begin_event(perfetto, event->end_ns, SLICE_END, event->track, &inner);
	protobuf_end(out, inner);
	protobuf_end(out, packet);
}

const struct perfetto_form perfetto_proto = {
    .begin = proto_begin,
    .track = proto_track,
    .event = proto_event,
    .end = "",
    .has_kernel = true,
};
