/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/ctf_writer_trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/nsec.h"
#include "simulate/ctf_writer_fields.h"

/* Calls of libbabeltrace2 here fail only when memory runs out: GLib ends then. */

static bt_clock_class *clock_class(bt_self_component *component,
				   const struct sim_node *node)
{
	bt_clock_class *clock = bt_clock_class_create(component);
	int64_t seconds = node->realtime_offset_ns / NSEC_PER_SEC;
	int64_t rest = node->realtime_offset_ns % NSEC_PER_SEC;

	if (rest < 0) {
		rest += NSEC_PER_SEC;
		seconds--;
	}
	bt_clock_class_set_name(clock, "monotonic");
	bt_clock_class_set_description(clock, "Monotonic Clock");
	bt_clock_class_set_uuid(clock, node->boot_id);
	bt_clock_class_set_frequency(clock, (uint64_t)NSEC_PER_SEC);
	bt_clock_class_set_offset(clock, seconds, (uint64_t)rest);
	bt_clock_class_set_origin_is_unix_epoch(clock, BT_TRUE);
	return clock;
}

static bt_stream_class *stream_class(bt_trace_class *trace, bt_clock_class *clock)
{
	bt_stream_class *stream = bt_stream_class_create_with_id(trace, 0);
	bt_field_class *context = bt_field_class_structure_create(trace);
	bt_field_class *cpu = bt_field_class_integer_unsigned_create(trace);

	bt_stream_class_set_default_clock_class(stream, clock);
	bt_stream_class_set_assigns_automatic_event_class_id(stream, BT_FALSE);
	bt_stream_class_set_assigns_automatic_stream_id(stream, BT_FALSE);
	bt_stream_class_set_supports_packets(stream, BT_TRUE, BT_TRUE, BT_TRUE);
	bt_stream_class_set_supports_discarded_events(stream, BT_TRUE, BT_FALSE);
	bt_field_class_integer_set_field_value_range(cpu, 32);
	bt_field_class_structure_append_member(context, "cpu_id", cpu);
	bt_stream_class_set_packet_context_field_class(stream, context);
	bt_field_class_put_ref(cpu);
	bt_field_class_put_ref(context);
	return stream;
}

static void set_environment(bt_trace *trace, const struct sim_node *node)
{
	bt_trace_set_environment_entry_string(trace, "hostname", node->name);
	bt_trace_set_environment_entry_string(trace, "domain", "kernel");
	bt_trace_set_environment_entry_string(trace, "sysname", "Linux");
	bt_trace_set_environment_entry_string(trace, "kernel_release", "6.1.0-simulated");
	bt_trace_set_environment_entry_string(trace, "kernel_version",
					      "#1 SMP simulated");
	bt_trace_set_environment_entry_string(trace, "tracer_name", "lttng-modules");
	bt_trace_set_environment_entry_integer(trace, "tracer_major", 2);
	bt_trace_set_environment_entry_integer(trace, "tracer_minor", 13);
	bt_trace_set_environment_entry_integer(trace, "tracer_patchlevel", 0);
	bt_trace_set_environment_entry_string(trace, "trace_buffering_scheme", "global");
	bt_trace_set_environment_entry_string(trace, "trace_name", "simulated");
}

void sim_ctf_trace_init(struct sim_ctf_trace *trace, bt_self_component *component,
			const struct sim_node *node)
{
	bt_clock_class *clock = clock_class(component, node);

	trace->trace_class = bt_trace_class_create(component);
	bt_trace_class_set_assigns_automatic_stream_class_id(trace->trace_class,
							     BT_FALSE);
	trace->stream_class = stream_class(trace->trace_class, clock);
	bt_clock_class_put_ref(clock);
	trace->trace = bt_trace_create(trace->trace_class);
	set_environment(trace->trace, node);
	trace->event_class = mem_zalloc(trace->classes * sizeof(bt_event_class *));
}

const bt_event_class *sim_ctf_trace_class(struct sim_ctf_trace *trace,
					  const struct sim_class *class, uint64_t id)
{
	if (!trace->event_class[id])
		trace->event_class[id] =
		    sim_ctf_class_new(trace->stream_class, class, id);
	return trace->event_class[id];
}

bt_stream *sim_ctf_trace_stream(const struct sim_ctf_trace *trace, unsigned cpu)
{
	bt_stream *stream =
	    bt_stream_create_with_id(trace->stream_class, trace->trace, cpu);
	char *name = mem_printf("ch_%u", cpu);

	bt_stream_set_name(stream, name);
	free(name);
	return stream;
}

bt_packet *sim_ctf_trace_packet(const bt_stream *stream, unsigned cpu)
{
	bt_packet *packet = bt_packet_create(stream);

	bt_field_integer_unsigned_set_value(
	    bt_field_structure_borrow_member_field_by_index(
		bt_packet_borrow_context_field(packet), 0),
	    cpu);
	return packet;
}

void sim_ctf_trace_clear(struct sim_ctf_trace *trace)
{
	for (uint64_t i = 0; trace->event_class && i < trace->classes; i++)
		bt_event_class_put_ref(trace->event_class[i]);
	free(trace->event_class);
	bt_trace_put_ref(trace->trace);
	bt_stream_class_put_ref(trace->stream_class);
	bt_trace_class_put_ref(trace->trace_class);
	memset(trace, 0, sizeof(*trace));
}
