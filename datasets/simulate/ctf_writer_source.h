/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CTF_WRITER_SOURCE_H
#define CT_SIMULATE_CTF_WRITER_SOURCE_H

#include <babeltrace2/babeltrace.h>

#include "simulate/ctf_writer_buffer.h"
#include "simulate/ctf_writer_trace.h"

/*
 * A source component that makes one node's buffered events into messages. All
 * its streams, one a CPU, go through one port, as sink.ctf.fs has no more. Its
 * iterator says "again" when the buffer is empty, so a graph can be run event
 * by event.
 */
struct sim_ctf_source {
	const struct sim_node *node;
	struct sim_ctf_buffer buffer;
	bool ending; /* set it, and the streams end when the buffer is empty */
	struct sim_ctf_trace trace;
	struct sim_ctf_stream *stream;      /* one a CPU */
	bt_self_message_iterator *iterator; /* NULL before the first run */
};

/* `node` stays the caller's; ids of event classes are below `classes`. */
void sim_ctf_source_init(struct sim_ctf_source *source, const struct sim_node *node,
			 uint64_t classes);

/* Whose components are initialized with a struct sim_ctf_source. The caller puts it. */
bt_component_class_source *sim_ctf_source_class(void);

/* Put what was taken of libbabeltrace2, after the graph. */
void sim_ctf_source_release(struct sim_ctf_source *source);

/* Free the rest, which nothing else needs once the graph runs no more. */
void sim_ctf_source_clear(struct sim_ctf_source *source);

#endif
