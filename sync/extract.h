/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_EXTRACT_H
#define CT_SYNC_EXTRACT_H

#include "sync/sync.h"

/*
 * Write the packet events of the sources, which are of one node, to one file
 * (input/packets_file.h). What was odd is in sync->problems, and in the file. 0, or -1
 * with error and no file.
 */
int extract_packets(struct sync *sync, struct source_list *sources, const char *path,
		    struct progress *progress, struct error *error);

#endif
