/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_MESSAGES_OUT_H
#define CT_SYNC_MESSAGES_OUT_H

#include "clock/map.h"
#include "sync/observe/observe.h"

/*
 * Write the messages of each node as NODE.messages (input/messages_file.h) into a
 * directory. The log is that of the synchronization that the map is of, and has ends.
 * Return 0, or -1 with error.
 */
int messages_out_write(const struct observations *seen, struct message_log *log,
		       const struct clock_map *map, const char *directory,
		       struct error *error);

#endif
