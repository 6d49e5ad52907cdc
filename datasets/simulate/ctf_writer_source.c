/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/ctf_writer_source.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/ctf_writer_fields.h"

enum { PACKET_EVENTS = 2048 };

struct sim_ctf_stream {
	bt_stream *stream; /* NULL before the CPU's first event */
	bt_packet *packet; /* NULL between packets */
	uint64_t events;   /* of the packet */
	uint64_t last;     /* stamp */
	bool ended;
};

static bt_message *begin_stream(struct sim_ctf_source *source, unsigned cpu)
{
	struct sim_ctf_stream *stream = &source->stream[cpu];

	stream->stream = sim_ctf_trace_stream(&source->trace, cpu);
	return bt_message_stream_beginning_create(source->iterator, stream->stream);
}

static bt_message *begin_packet(struct sim_ctf_source *source, unsigned cpu,
				uint64_t stamp)
{
	struct sim_ctf_stream *stream = &source->stream[cpu];

	stream->packet = sim_ctf_trace_packet(stream->stream, cpu);
	stream->events = 0;
	stream->last = stamp;
	return bt_message_packet_beginning_create_with_default_clock_snapshot(
	    source->iterator, stream->packet, stamp);
}

static bt_message *end_packet(struct sim_ctf_source *source,
			      struct sim_ctf_stream *stream)
{
	bt_message *message = bt_message_packet_end_create_with_default_clock_snapshot(
	    source->iterator, stream->packet, stream->last);

	BT_PACKET_PUT_REF_AND_RESET(stream->packet);
	return message;
}

static bt_message *end_stream(struct sim_ctf_source *source,
			      struct sim_ctf_stream *stream)
{
	stream->ended = true;
	return bt_message_stream_end_create(source->iterator, stream->stream);
}

static bt_message *give_event(struct sim_ctf_source *source,
			      struct sim_ctf_stream *stream,
			      const struct sim_ctf_record *record)
{
	bt_message *message;

	stream->last = (uint64_t)record->event.mono_ns;
	stream->events++;
	message = bt_message_event_create_with_packet_and_default_clock_snapshot(
	    source->iterator,
	    sim_ctf_trace_class(&source->trace, record->event.class, record->class_id),
	    stream->packet, stream->last);
	sim_ctf_fill(
	    bt_event_borrow_payload_field(bt_message_event_borrow_event(message)),
	    &record->event, record->headers);
	sim_ctf_buffer_take(&source->buffer);
	return message;
}

/* What has to go before the event at hand, then itself. */
static bt_message *next_of_event(struct sim_ctf_source *source,
				 const struct sim_ctf_record *record)
{
	struct sim_ctf_stream *stream = &source->stream[record->event.cpu];
	uint64_t stamp = (uint64_t)record->event.mono_ns;

	if (!stream->stream)
		return begin_stream(source, record->event.cpu);
	/* A packet's stamps lie within those of its ends. */
	if (stream->packet && (stream->events == PACKET_EVENTS || stamp < stream->last))
		return end_packet(source, stream);
	if (!stream->packet)
		return begin_packet(source, record->event.cpu, stamp);
	return give_event(source, stream, record);
}

/* A trace has a stream at least, if an empty one. */
static bt_message *next_of_end(struct sim_ctf_source *source)
{
	bool any = false;

	for (unsigned i = 0; i < source->node->cpus; i++) {
		struct sim_ctf_stream *stream = &source->stream[i];

		if (stream->packet)
			return end_packet(source, stream);
		if (stream->stream && !stream->ended)
			return end_stream(source, stream);
		any |= stream->ended;
	}
	return any ? NULL : begin_stream(source, 0);
}

static bt_message *next_message(struct sim_ctf_source *source)
{
	const struct sim_ctf_record *record = sim_ctf_buffer_first(&source->buffer);

	if (record)
		return next_of_event(source, record);
	return source->ending ? next_of_end(source) : NULL;
}

/*
 * One message at a time: libbabeltrace2 keeps as many events of each class as
 * were ever under way at once, and an event with a packet takes 15 KB.
 */
static bt_message_iterator_class_next_method_status
iterator_next(bt_self_message_iterator *iterator, bt_message_array_const messages,
	      uint64_t capacity, uint64_t *count)
{
	struct sim_ctf_source *source = bt_self_message_iterator_get_data(iterator);
	const bt_message *message = next_message(source);

	(void)capacity; /* 1 at least */
	*count = message ? 1 : 0;
	messages[0] = message;
	if (message)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	return source->ending ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END
			      : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
}

static bt_message_iterator_class_initialize_method_status
iterator_initialize(bt_self_message_iterator *iterator,
		    bt_self_message_iterator_configuration *configuration,
		    bt_self_component_port_output *port)
{
	struct sim_ctf_source *source = bt_self_component_get_data(
	    bt_self_message_iterator_borrow_component(iterator));

	(void)configuration;
	(void)port;
	source->iterator = iterator;
	bt_self_message_iterator_set_data(iterator, source);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_initialize_method_status
source_initialize(bt_self_component_source *self,
		  bt_self_component_source_configuration *configuration,
		  const bt_value *params, void *data)
{
	bt_self_component *component = bt_self_component_source_as_self_component(self);
	struct sim_ctf_source *source = data;

	(void)configuration;
	(void)params;
	bt_self_component_set_data(component, source);
	sim_ctf_trace_init(&source->trace, component, source->node);
	return bt_self_component_source_add_output_port(self, "out", NULL, NULL) ==
		       BT_SELF_COMPONENT_ADD_PORT_STATUS_OK
		   ? BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK
		   : BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
}

void sim_ctf_source_init(struct sim_ctf_source *source, const struct sim_node *node,
			 uint64_t classes)
{
	assert(node->cpus > 0);
	memset(source, 0, sizeof(*source));
	source->node = node;
	source->trace.classes = classes;
	source->stream = mem_zalloc(node->cpus * sizeof(*source->stream));
}

bt_component_class_source *sim_ctf_source_class(void)
{
	bt_message_iterator_class *iterator =
	    bt_message_iterator_class_create(iterator_next);
	bt_component_class_source *class =
	    bt_component_class_source_create("simulator", iterator);

	bt_message_iterator_class_set_initialize_method(iterator, iterator_initialize);
	bt_component_class_source_set_initialize_method(class, source_initialize);
	bt_message_iterator_class_put_ref(iterator);
	return class;
}

void sim_ctf_source_release(struct sim_ctf_source *source)
{
	for (unsigned i = 0; i < source->node->cpus; i++)
		bt_stream_put_ref(source->stream[i].stream);
	sim_ctf_trace_clear(&source->trace);
}

void sim_ctf_source_clear(struct sim_ctf_source *source)
{
	sim_ctf_buffer_clear(&source->buffer);
	free(source->stream);
}
