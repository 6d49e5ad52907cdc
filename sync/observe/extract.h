/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_OBSERVE_EXTRACT_H
#define CT_SYNC_OBSERVE_EXTRACT_H

#include "sync/observe/observe.h"

/* Write the packet events of the sources of one node to one file (input/packets_file.h).
 * Problems are also written to the file. Return 0, or -1 with error and without a file.
 */
int extract_packets(struct source_list *sources, int threads, const char *path,
		    struct problem_list *problems, struct progress *progress,
		    struct error *error);

#endif
