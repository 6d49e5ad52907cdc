/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CTF_WRITER_TRACE_H
#define CT_SIMULATE_CTF_WRITER_TRACE_H

#include <babeltrace2/babeltrace.h>

#include "simulate/writer.h"

/* What LTTng says of a kernel trace, in libbabeltrace2's terms. */
struct sim_ctf_trace {
	bt_trace_class *trace_class;
	bt_stream_class *stream_class;
	bt_trace *trace;
	bt_event_class **event_class; /* by id; NULL before its first event */
	uint64_t classes;
};

/* Make the trace of a node; classes, which all ids are below, is already set. */
void sim_ctf_trace_init(struct sim_ctf_trace *trace, bt_self_component *component,
			const struct sim_node *node);

/* Borrows what stays the trace's. */
const bt_event_class *sim_ctf_trace_class(struct sim_ctf_trace *trace,
					  const struct sim_class *class, uint64_t id);

/* The caller puts the stream, or the packet with its context filled in. */
bt_stream *sim_ctf_trace_stream(const struct sim_ctf_trace *trace, unsigned cpu);
bt_packet *sim_ctf_trace_packet(const bt_stream *stream, unsigned cpu);

void sim_ctf_trace_clear(struct sim_ctf_trace *trace);

#endif
