/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_OBSERVE_SOURCES_H
#define CT_SYNC_OBSERVE_SOURCES_H

#include "input/packet_source.h"
#include "sync/observe/observe.h"

/*
 * Open the sources. Return those that can be read, by trace index, and add their traces
 * and clocks. What cannot be read becomes a problem. For sources_close().
 */
struct packet_source **sources_open(struct source_list *sources, int threads,
				    struct observations *seen,
				    struct problem_list *problems);

/* Return the given name, or else the recorded host, or else the path. It need not be
 * unique. */
const char *source_name(const struct source *source, const struct trace_facts *facts);

/* Add a trace without a source, with a clock of its own. Takes ownership of the name. */
struct trace *observations_add_node(struct observations *seen, char *name);

/* Add UTC as a trace without events, on a host of its own. Takes the name. */
void observations_add_utc(struct observations *seen, char *name);

void sources_close(struct packet_source **opened, size_t count);

#endif
