/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/packet_source.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/intmap.h"
#include "base/mem.h"
#include "input/packet_source_private.h"
#include "input/reader.h"
#include "input/trace_facts.h"
#include "input/trace_fields.h"
#include "input/trace_sends.h"

/*
 * Packets of an LTTng kernel trace.
 *
 * A receive is stamped when the packet entered the stack's receive offload
 * (net_napi_gro_receive_entry), where that is traced and says that the packet
 * was not merged into another, else at net_if_receive_skb; trace_sends.h says
 * how a send is stamped.
 */

enum { GRO_MERGED, GRO_MERGED_FREE, GRO_HELD, GRO_NORMAL };

/* A device of the source; its number is its place plus one. */
struct device {
	char *name;
	uint64_t headerless; /* packets received without a header, ARP not counted */
};

struct trace_packets {
	struct packet_source base;
	struct reader *reader;
	struct trace_sends sends;
	struct intmap entered;  /* skb -> local time of its GRO entry */
	struct intmap entering; /* stream -> skb of the last GRO entry */
	struct intmap devices;  /* hash of the name -> number */
	struct device *device;
	size_t device_room;
	bool ended;
	sighting_fn *give;
	void *context;
};

static uint32_t device_number(struct trace_packets *packets, const struct value *name)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
	int64_t number;

	if (name->type != VALUE_TEXT)
		return 0;
	for (const char *at = name->text; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
	if (!intmap_get(&packets->devices, hash, &number)) {
		size_t count = packets->devices.count;

		packets->device = mem_grow(packets->device, count, &packets->device_room,
					   sizeof(*packets->device));
		packets->device[count] = (struct device){mem_strdup(name->text), 0};
		number = (int64_t)count + 1;
		intmap_put(&packets->devices, hash, number);
	}
	return (uint32_t)number;
}

static bool is_loopback_device(const struct value *name)
{
	return name->type == VALUE_TEXT && strcmp(name->text, "lo") == 0;
}

static struct sighting sighting_of(const struct event *event, bool received)
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

static void give_send(void *context, const struct sighting *sighting)
{
	struct trace_packets *packets = context;

	packets->base.facts.sent++;
	packets->give(packets->context, sighting);
}

static void handle_queue(struct trace_packets *packets, const struct event *event)
{
	const struct value *value = event->value;
	struct sighting sighting = sighting_of(event, false);

	packets->base.facts.network_events++;
	if (is_loopback_device(&value[FIELD_NAME]) ||
	    trace_packet_decode(value, &sighting.packet) ||
	    packet_is_local(&sighting.packet))
		return;
	sighting.hops = trace_packet_hops(value);
	sighting.device = device_number(packets, &value[FIELD_NAME]);
	trace_sends_queued(&packets->sends, value[FIELD_SKB].u, &sighting);
}

static void handle_xmit(struct trace_packets *packets, const struct event *event)
{
	trace_sends_transmitted(&packets->sends, event->value[XMIT_SKB].u,
				device_number(packets, &event->value[XMIT_NAME]),
				event->stream, event->local_ns,
				event->value[XMIT_RC].type != VALUE_SIGNED ||
				    event->value[XMIT_RC].i == 0);
}

/*
 * What is without a header is of another protocol, or its device has no receive offload,
 * or it is of a VLAN. A frame that is no longer than ARP's will be that.
 */
enum { LONGEST_ARP = 46 };

static void note_headerless(struct trace_packets *packets, const struct value *value)
{
	uint32_t device = device_number(packets, &value[FIELD_NAME]);

	packets->base.facts.headerless++;
	if (device && value[FIELD_LENGTH].type == VALUE_UNSIGNED &&
	    value[FIELD_LENGTH].u > LONGEST_ARP)
		packets->device[device - 1].headerless++;
}

static void report_headerless(struct trace_packets *packets)
{
	for (size_t i = 0; i < packets->devices.count; i++) {
		const struct device *device = &packets->device[i];

		if (device->headerless)
			problem_add(&packets->base.problems, packets->base.path,
				    "headerless", device->headerless,
				    "%" PRIu64
				    " packets received on %s carry no headers (receive "
				    "offload off, or a VLAN's), left out",
				    device->headerless, device->name);
	}
}

static void handle_receive(struct trace_packets *packets, const struct event *event)
{
	const struct value *value = event->value;
	struct sighting sighting = sighting_of(event, true);
	int64_t entered;
	bool known = intmap_take(&packets->entered, value[FIELD_SKB].u, &entered);

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

static void handle_gro_entry(struct trace_packets *packets, const struct event *event)
{
	const int *defined = reader_facts(packets->reader)->defined;

	/* Without the exits, nobody says which packets were merged away. */
	if (!defined[WISH_GRO_EXIT] ||
	    defined[WISH_FRAGS_ENTRY] != defined[WISH_FRAGS_EXIT] ||
	    event->value[0].type != VALUE_UNSIGNED)
		return;
	intmap_put(&packets->entered, event->value[0].u, event->local_ns);
	intmap_put(&packets->entering, event->stream, (int64_t)event->value[0].u);
}

static void handle_gro_exit(struct trace_packets *packets, const struct event *event)
{
	const struct value *result = &event->value[0];
	int64_t skb, entered;

	if (!intmap_take(&packets->entering, event->stream, &skb))
		return;
	if (result->type == VALUE_NONE ||
	    (result->i != GRO_HELD && result->i != GRO_NORMAL))
		intmap_take(&packets->entered, (uint64_t)skb, &entered);
}

/* The addons' events: the transport part only, and no device. */
static void handle_socket(struct trace_packets *packets, const struct event *event,
			  bool received)
{
	struct sighting sighting = sighting_of(event, received);

	packets->base.facts.network_events++;
	if (trace_socket_decode(event->value, &sighting.packet))
		return;
	if (received)
		packets->base.facts.received++;
	else
		packets->base.facts.sent++;
	packets->give(packets->context, &sighting);
}

static void handle_event(void *context, const struct event *event)
{
	struct trace_packets *packets = context;

	switch (event->tag) {
	case TRACE_QUEUE:
		handle_queue(packets, event);
		break;
	case TRACE_XMIT:
		handle_xmit(packets, event);
		break;
	case TRACE_RECEIVE:
		handle_receive(packets, event);
		break;
	case TRACE_GRO_ENTRY:
		handle_gro_entry(packets, event);
		break;
	case TRACE_GRO_EXIT:
		handle_gro_exit(packets, event);
		break;
	case TRACE_SOCKET_OUT:
	case TRACE_SOCKET_IN:
		handle_socket(packets, event, event->tag == TRACE_SOCKET_IN);
		break;
	}
}

static enum step trace_step(struct packet_source *source, sighting_fn *give,
			    void *context)
{
	struct trace_packets *packets = (struct trace_packets *)source;
	int more;

	if (packets->ended)
		return STEP_END;
	packets->give = give;
	packets->context = context;
	packets->sends.has_xmit = reader_facts(packets->reader)->defined[WISH_XMIT];
	more = reader_step(packets->reader, handle_event, packets);
	if (!more)
		trace_sends_flush(&packets->sends);
	trace_facts_copy(&packets->base.facts, reader_facts(packets->reader));
	problem_move(&source->problems, reader_problems(packets->reader));
	if (more)
		return STEP_MORE;
	packets->ended = true;
	report_headerless(packets);
	trace_facts_report(reader_facts(packets->reader), source->path,
			   &source->problems);
	return STEP_END;
}

static bool trace_help(struct packet_source *source)
{
	return reader_help(((struct trace_packets *)source)->reader);
}

static void trace_free(struct packet_source *source)
{
	struct trace_packets *packets = (struct trace_packets *)source;

	reader_free(packets->reader);
	trace_sends_clear(&packets->sends);
	intmap_clear(&packets->entered);
	intmap_clear(&packets->entering);
	for (size_t i = 0; i < packets->devices.count; i++)
		free(packets->device[i].name);
	free(packets->device);
	intmap_clear(&packets->devices);
	packet_source_release(source);
	free(packets);
}

struct packet_source *trace_packets_open(const char *path, struct reader_choice *choice,
					 struct error *error)
{
	static const struct reader_wishes wishes = {trace_wishes, TRACE_WISHES};
	static const struct packet_source_ops ops = {trace_step, trace_free, trace_help};
	struct trace_packets *packets = mem_zalloc(sizeof(*packets));

	packet_source_init(&packets->base, &ops, path);
	trace_sends_init(&packets->sends, give_send, packets);
	packets->reader =
	    reader_open(path, choice ? choice->kind : READER_AUTO, &wishes, error);
	if (!packets->reader) {
		trace_free(&packets->base);
		return NULL;
	}
	reader_choice_tell(choice, reader_why(packets->reader));
	trace_facts_copy(&packets->base.facts, reader_facts(packets->reader));
	return &packets->base;
}
