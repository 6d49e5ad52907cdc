/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CTF_GRAPH_H
#define CT_INPUT_CTF_GRAPH_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * One graph a trace: source.ctf.fs, its ports each connected straight to a
 * sink of ours. No muxer stands between, as that one stops with an error
 * where the packets of a stream overlap; the order across streams is the
 * caller's to make.
 */
struct ctf_graph {
	bool (*consume)(void *context); /* false: all streams have ended */
	void *context;
	bt_graph *graph;
	const bt_component_source *source;
	const bt_message_iterator **iterator; /* one a stream */
	size_t streams;
};

/*
 * Make the graph of the trace at `path`; consume and context are the caller's
 * to set before, and are called from ctf_graph_run only. 0, or -1 with error
 * and nothing made. Safe to call from several threads.
 */
int ctf_graph_open(struct ctf_graph *graph, const char *path, struct error *error);

/*
 * Let the sink consume once. 1: there may be more; 0: the end; -1 with error.
 */
int ctf_graph_run(struct ctf_graph *graph, struct error *error);

/* Messages of the iterators must have been put before. */
void ctf_graph_close(struct ctf_graph *graph);

#endif
