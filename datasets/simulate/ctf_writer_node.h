/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CTF_WRITER_NODE_H
#define CT_SIMULATE_CTF_WRITER_NODE_H

#include <babeltrace2/babeltrace.h>

#include "simulate/writer_headers.h"

/*
 * One node's trace on its way to disk: a graph of a source of ours and
 * sink.ctf.fs. Each event goes through at once, so nothing is buffered here;
 * the sink keeps a file open and one packet mapped for each CPU that had an
 * event.
 */
struct sim_ctf_parts { /* of all nodes' graphs */
	const bt_plugin *plugin;
	const bt_component_class_sink *sink;
	bt_component_class_source *source;
	const struct sim_class *const *class; /* by id */
	uint64_t classes;
};

struct sim_ctf_node;

/* Find the sink and make the source; release also after failure. */
int sim_ctf_parts_init(struct sim_ctf_parts *parts, struct error *error);
void sim_ctf_parts_release(struct sim_ctf_parts *parts);

/*
 * The trace is to be in a directory that must not be there yet. `node` and
 * `parts` stay the caller's and are used until the end. NULL with error.
 */
struct sim_ctf_node *sim_ctf_node_new(const struct sim_ctf_parts *parts,
				      const struct sim_node *node, const char *path,
				      struct error *error);

/*
 * Write one event, now or later, whose class has this id. After -1 with error
 * the node can only be left.
 */
int sim_ctf_node_add(struct sim_ctf_node *node, const struct sim_event *event,
		     uint64_t class_id, struct error *error);

/* Write the rest and free the node; after -1 with error it is left as below. */
int sim_ctf_node_finish(struct sim_ctf_node *node, struct error *error);

/*
 * Let go of a node without writing more. sink.ctf.fs does not bear to be freed
 * after an error and ends the program where it cannot write the metadata, so
 * once it has begun, what libbabeltrace2 holds is left to the program's end.
 */
void sim_ctf_node_leave(struct sim_ctf_node *node);

#endif
