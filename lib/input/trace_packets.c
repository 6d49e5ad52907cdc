/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/packet_source.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "input/trace_headers.h"

/*
 * Packets of an LTTng kernel trace.
 *
 * A receive is stamped when the packet entered the stack's receive offload
 * (net_napi_gro_receive_entry), where that is traced and says that the packet
 * was not merged into another, else at net_if_receive_skb.
 *
 * Of a send, net_dev_queue comes before the queueing discipline, which may hold the
 * packet long. net_dev_xmit is no answer: it is written after the driver
 * returned, when the other host may have the packet already. But one CPU
 * hands the packets of one device to its driver one after the other, so the
 * packet had surely not left before the *previous* net_dev_xmit of that CPU
 * and device. The later of that and net_dev_queue is the send's stamp.
 */

enum { GRO_MERGED, GRO_MERGED_FREE, GRO_HELD, GRO_NORMAL };

enum { MOST_WAITING = 65536 };

struct trace_packets {
	struct packet_source base;
	struct ctf_reader *reader;
	/* Packets that were queued and not transmitted yet. */
	struct waiting {
		struct sighting sighting;
		uint64_t skb;
	} * waiting;
	size_t waitings, waiting_room;
	struct intmap queued;    /* skb -> its place there */
	struct intmap last_xmit; /* CPU and device -> local time */
	struct intmap entered;   /* skb -> local time of its GRO entry */
	struct intmap entering;  /* stream -> skb of the last GRO entry */
	struct texts device;     /* its number is its place plus one */
	uint64_t *headerless;    /* of each: packets received without a header, but ARP */
	size_t headerless_room;
	uint8_t *wish;                 /* of each event class; TRACE_WISHES: none */
	bool is_defined[TRACE_WISHES]; /* in a stream that was seen */
	bool ended;
	sighting_fn *give;
	void *context;
};

static uint32_t device_number(struct trace_packets *packets, const struct cell *name)
{
	size_t known = packets->device.count, device;

	if (name->type != CELL_TEXT)
		return 0;
	device = texts_put_bytes(&packets->device, name->bytes, name->size);
	if (device == known) {
		packets->headerless =
		    mem_grow(packets->headerless, known, &packets->headerless_room,
			     sizeof(*packets->headerless));
		packets->headerless[known] = 0;
	}
	return (uint32_t)device + 1;
}

static bool is_loopback_device(const struct cell *name)
{
	return name->type == CELL_TEXT && name->size == 2 &&
	       memcmp(name->bytes, "lo", 2) == 0;
}

static struct sighting sighting_of(const struct ctf_event *event, bool received)
{
	return (struct sighting){
	    .ns = event->local_ns,
	    .whole_ns = received ? event->local_ns : NSEC_MAX,
	    .event_ns = event->local_ns,
	    .received = received,
	    .stream = event->stream,
	    .ordinal = event->ordinal,
	};
}

static void give_send(struct trace_packets *packets, const struct sighting *sighting)
{
	packets->base.facts.sent++;
	packets->give(packets->context, sighting);
}

static void hold(struct trace_packets *packets, uint64_t skb,
		 const struct sighting *sighting)
{
	packets->waiting = mem_grow(packets->waiting, packets->waitings,
				    &packets->waiting_room, sizeof(*packets->waiting));
	packets->waiting[packets->waitings] = (struct waiting){*sighting, skb};
	intmap_put(&packets->queued, skb, (int64_t)packets->waitings++);
}

/* Give one that waits; the last one gets its place. */
static void let_go(struct trace_packets *packets, int64_t at)
{
	struct waiting *waiting = &packets->waiting[at];

	give_send(packets, &waiting->sighting);
	intmap_take(&packets->queued, waiting->skb, &at);
	*waiting = packets->waiting[--packets->waitings];
	if (waiting < packets->waiting + packets->waitings)
		intmap_put(&packets->queued, waiting->skb, at);
}

/* Give what still waits, at its queueing time. */
static void let_all_go(struct trace_packets *packets)
{
	for (size_t i = 0; i < packets->waitings; i++)
		give_send(packets, &packets->waiting[i].sighting);
	packets->waitings = 0;
	intmap_clear(&packets->queued);
}

static void handle_queue(struct trace_packets *packets, const struct ctf_event *event)
{
	const struct cell *value = event->cell;
	struct sighting sighting = sighting_of(event, false);
	uint64_t skb = (uint64_t)value[FIELD_SKB].integer;
	int64_t at;

	packets->base.facts.network_events++;
	if (is_loopback_device(&value[FIELD_NAME]) ||
	    trace_packet_decode(value, &sighting.packet) ||
	    packet_is_local(&sighting.packet))
		return;
	sighting.hops = trace_packet_hops(value);
	sighting.device = device_number(packets, &value[FIELD_NAME]);
	if (!packets->is_defined[WISH_XMIT]) {
		give_send(packets, &sighting);
		return;
	}
	/* The same buffer queued again: handed from one device to the next. */
	if (intmap_get(&packets->queued, skb, &at))
		let_go(packets, at);
	if (packets->waitings >= MOST_WAITING)
		let_all_go(packets);
	hold(packets, skb, &sighting);
}

static void handle_xmit(struct trace_packets *packets, const struct ctf_event *event)
{
	const struct cell *value = event->cell;
	uint64_t skb = (uint64_t)value[XMIT_SKB].integer;
	uint32_t device = device_number(packets, &value[XMIT_NAME]);
	uint64_t lane = (uint64_t)event->stream << 32 | device;
	bool is_taken =
	    value[XMIT_RC].type != CELL_INTEGER || value[XMIT_RC].integer == 0;
	struct sighting *sighting;
	int64_t at, previous;

	if (intmap_get(&packets->queued, skb, &at) && is_taken &&
	    packets->waiting[at].sighting.device == device) {
		sighting = &packets->waiting[at].sighting;
		sighting->whole_ns = event->local_ns;
		if (intmap_get(&packets->last_xmit, lane, &previous) &&
		    previous > sighting->ns && previous <= event->local_ns)
			sighting->ns = previous;
		let_go(packets, at);
	}
	intmap_put(&packets->last_xmit, lane, event->local_ns);
}

/*
 * What is without a header is of another protocol, or its device has no receive offload,
 * or it is of a VLAN. A frame that is no longer than ARP's will be that.
 */
enum { LONGEST_ARP = 46 };

static void note_headerless(struct trace_packets *packets, const struct cell *value)
{
	uint32_t device = device_number(packets, &value[FIELD_NAME]);

	packets->base.facts.headerless++;
	if (device && value[FIELD_LENGTH].type == CELL_INTEGER &&
	    value[FIELD_LENGTH].integer > LONGEST_ARP)
		packets->headerless[device - 1]++;
}

static void report_headerless(struct trace_packets *packets)
{
	for (size_t i = 0; i < packets->device.count; i++)
		if (packets->headerless[i])
			problem_add(&packets->base.problems, packets->base.path,
				    "headerless", packets->headerless[i],
				    "%" PRIu64
				    " packets received on %s carry no headers (receive "
				    "offload off, or a VLAN's), left out",
				    packets->headerless[i],
				    texts_get(&packets->device, i));
}

static void handle_receive(struct trace_packets *packets, const struct ctf_event *event)
{
	const struct cell *value = event->cell;
	struct sighting sighting = sighting_of(event, true);
	int64_t entered;
	bool known =
	    intmap_take(&packets->entered, (uint64_t)value[FIELD_SKB].integer, &entered);

	packets->base.facts.network_events++;
	if (is_loopback_device(&value[FIELD_NAME]))
		return;
	if (trace_packet_decode(value, &sighting.packet)) {
		note_headerless(packets, value);
		return;
	}
	if (packet_is_local(&sighting.packet))
		return;
	if (known && entered < sighting.ns)
		sighting.ns = entered;
	sighting.hops = trace_packet_hops(value);
	sighting.device = device_number(packets, &value[FIELD_NAME]);
	packets->base.facts.received++;
	packets->give(packets->context, &sighting);
}

static void handle_gro_entry(struct trace_packets *packets, const struct ctf_event *event)
{
	const bool *defined = packets->is_defined;

	/* Without the exits, nobody says which packets were merged away. */
	if (!defined[WISH_GRO_EXIT] ||
	    defined[WISH_FRAGS_ENTRY] != defined[WISH_FRAGS_EXIT] ||
	    event->cell[0].type != CELL_INTEGER)
		return;
	intmap_put(&packets->entered, (uint64_t)event->cell[0].integer, event->local_ns);
	intmap_put(&packets->entering, event->stream, event->cell[0].integer);
}

static void handle_gro_exit(struct trace_packets *packets, const struct ctf_event *event)
{
	const struct cell *result = &event->cell[0];
	int64_t skb, entered;

	if (!intmap_take(&packets->entering, event->stream, &skb))
		return;
	if (result->type == CELL_NULL ||
	    (result->integer != GRO_HELD && result->integer != GRO_NORMAL))
		intmap_take(&packets->entered, (uint64_t)skb, &entered);
}

/* The addons' events: the transport part only, and no device. */
static void handle_socket(struct trace_packets *packets, const struct ctf_event *event)
{
	bool received = packets->wish[event->class] == WISH_SOCKET_IN;
	struct sighting sighting = sighting_of(event, received);

	packets->base.facts.network_events++;
	if (trace_socket_decode(event->cell, &sighting.packet))
		return;
	if (!received) {
		give_send(packets, &sighting);
		return;
	}
	packets->base.facts.received++;
	packets->give(packets->context, &sighting);
}

static void handle_event(void *context, const struct ctf_event *event)
{
	static void (*const by_wish[])(struct trace_packets *,
				       const struct ctf_event *) = {
	    [WISH_QUEUE] = handle_queue,           [WISH_RECEIVE] = handle_receive,
	    [WISH_OLD_RECEIVE] = handle_receive,   [WISH_XMIT] = handle_xmit,
	    [WISH_GRO_ENTRY] = handle_gro_entry,   [WISH_GRO_EXIT] = handle_gro_exit,
	    [WISH_FRAGS_ENTRY] = handle_gro_entry, [WISH_FRAGS_EXIT] = handle_gro_exit,
	    [WISH_SOCKET_OUT] = handle_socket,     [WISH_SOCKET_IN] = handle_socket,
	};
	struct trace_packets *packets = context;

	by_wish[packets->wish[event->class]](packets, event);
}

/* Streams, and with them event classes, are seen as they begin. */
static void define_wishes(struct trace_packets *packets)
{
	const struct ctf_class *class;

	for (uint32_t i = 0; (class = ctf_reader_class(packets->reader, i)); i++)
		if (packets->wish[i] < TRACE_WISHES)
			packets->is_defined[packets->wish[i]] |= class->is_present;
}

/* The reader's, with what is counted here. */
static void update_facts(struct trace_packets *packets)
{
	const struct ctf_facts counted = packets->base.facts;
	struct ctf_facts *facts = &packets->base.facts;

	*facts = *ctf_reader_facts(packets->reader);
	facts->sent = counted.sent;
	facts->received = counted.received;
	facts->network_events = counted.network_events;
	facts->headerless = counted.headerless;
}

static bool trace_step(struct packet_source *source, sighting_fn *give, void *context)
{
	struct trace_packets *packets = (struct trace_packets *)source;
	bool more;

	if (packets->ended)
		return false;
	packets->give = give;
	packets->context = context;
	define_wishes(packets);
	more = ctf_reader_step(packets->reader, UINT64_MAX, handle_event, packets);
	if (!more)
		let_all_go(packets);
	update_facts(packets);
	problem_move(&source->problems, ctf_reader_problems(packets->reader));
	if (!more)
		report_headerless(packets);
	packets->ended = !more;
	return more;
}

static void trace_free(struct packet_source *source)
{
	struct trace_packets *packets = (struct trace_packets *)source;

	ctf_reader_free(packets->reader);
	free(packets->wish);
	intmap_clear(&packets->queued);
	intmap_clear(&packets->last_xmit);
	free(packets->waiting);
	intmap_clear(&packets->entered);
	intmap_clear(&packets->entering);
	texts_clear(&packets->device);
	free(packets->headerless);
	free(packets);
}

/* The first wish of a name. */
static uint8_t find_wish(const char *name)
{
	uint8_t wish = 0;

	while (wish < TRACE_WISHES && strcmp(trace_wishes[wish].name, name) != 0)
		wish++;
	return wish;
}

static void select_wishes(struct trace_packets *packets)
{
	const struct ctf_class *class;
	size_t room = 0;

	for (uint32_t i = 0; (class = ctf_reader_class(packets->reader, i)); i++) {
		struct ctf_selection selection = {.what = SELECT_FIELDS};
		uint8_t wish = find_wish(class->name);

		packets->wish = mem_grow(packets->wish, i, &room, sizeof(*packets->wish));
		packets->wish[i] = wish;
		if (wish == TRACE_WISHES)
			continue;
		selection.field = trace_wishes[wish].field;
		selection.fields = trace_wishes[wish].fields;
		ctf_reader_select(packets->reader, i, &selection);
	}
}

struct packet_source *trace_packets_open(const char *path, enum ctf_reader_kind reader,
					 struct error *error)
{
	struct trace_packets *packets = mem_zalloc(sizeof(*packets));

	packets->base.step = trace_step;
	packets->base.free = trace_free;
	packets->base.path = mem_strdup(path);
	packets->reader = ctf_reader_open(path, reader, error);
	if (!packets->reader) {
		packet_source_free(&packets->base);
		return NULL;
	}
	select_wishes(packets);
	update_facts(packets);
	return &packets->base;
}
