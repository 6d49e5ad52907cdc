/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_OBSERVE_EXTRACT_H
#define CT_SYNC_OBSERVE_EXTRACT_H

#include "sync/observe/observe.h"

/*
 * Write the packet events of the sources, which are of one node, to one file
 * (input/packets_file.h). What was odd becomes a problem, and is in the file. 0, or -1
 * with error and no file.
 */
int extract_packets(struct source_list *sources, int threads, const char *path,
		    struct problem_list *problems, struct progress *progress,
		    struct error *error);

#endif
