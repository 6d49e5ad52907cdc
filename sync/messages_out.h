/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_MESSAGES_OUT_H
#define CT_SYNC_MESSAGES_OUT_H

#include "sync/sync.h"

/*
 * Write the packet events of the sources, which are of one node, to one file
 * (input/packets_file.h). What was odd is in sync->problems, and in the file. 0, or -1
 * with error and no file.
 */
int extract_packets(struct sync *sync, struct source_list *sources, const char *path,
		    struct progress *progress, struct error *error);

/*
 * The messages to the nodes: for each its own, as NODE.messages (input/messages_file.h).
 * While packets are matched, messages are kept in an unnamed file, as it is known after
 * the fit only which of them are false.
 */
struct messages_out;

/* Before the reading: the messages that it finds are kept. NULL with error. */
struct messages_out *messages_out_new(struct sync *sync, struct error *error);

/* After the fit, of which the map is: all that are not rejected, into a directory. 0, or
 * -1 with error. */
int messages_out_write(struct messages_out *out, const struct clock_map *map,
		       const char *directory, struct error *error);

void messages_out_free(struct messages_out *out);

#endif
