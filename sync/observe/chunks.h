/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_OBSERVE_CHUNKS_H
#define CT_SYNC_OBSERVE_CHUNKS_H

#include "sync/observe/observe.h"

/*
 * Find traces that continue streams of others of their host, as the chunks of a rotated
 * session do. Their counters of losses go on, and what two snapshots hold is read once.
 * `opened` has the traces' sources, before they are read.
 */
void chunks_find(const struct observations *seen, struct packet_source **opened,
		 struct problem_list *problems);

#endif
