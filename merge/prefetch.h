/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_PREFETCH_H
#define CT_MERGE_PREFETCH_H

#include "base/progress.h"
#include "base/read_ahead.h"
#include "merge/event_class.h"
#include "merge/recording.h"
#include "merge/run.h"
#include "timeline/row_bytes.h"

/*
 * The events of all sources, each in its own order and already on the timeline's axis,
 * read ahead of the thread that merges them (base/read_ahead.h) until PREFETCH_BYTES are
 * queued. The more sources, the shorter the steps.
 *
 * Within a source time never goes back: an event that is earlier than the previous one
 * has the time of the previous one, and is counted.
 */
#define PREFETCH_BYTES ((size_t)16 << 20)

struct prefetcher;

/*
 * An event on its way from the thread that read it to the one that writes: copied whole,
 * cells and texts, behind the one before, so that it costs no allocation. The row of its
 * class is made here, too, as the threads that read have more time.
 */
struct row {
	nsec_t ts_ns; /* on the timeline's axis */
	struct event_class *class;
	struct trace_event event;   /* its cells follow this struct */
	const unsigned char *bytes; /* its row in the class's table, likewise; or NULL */
	uint32_t size;              /* bytes of that row */
	uint32_t length;            /* in its block */
	bool selected;              /* otherwise used only to follow threads */
};

/*
 * Open the run's sources, except those of nodes that are not selected, and begin to read.
 * A source that cannot be opened becomes a problem of the run. The run and the selection
 * must outlive the prefetcher. Set `recording` to the times at which the sources were
 * recorded; the caller frees it.
 */
struct prefetcher *prefetcher_new(struct merge_run *run,
				  const struct event_filter *filter, int threads,
				  struct recording **recording);

/* Return the n-th class of a source, or NULL if it has fewer. */
struct event_class *prefetcher_class(const struct prefetcher *prefetcher, uint32_t source,
				     size_t n);

/* Wait for the next event of a source and return it; NULL at its end. */
const struct row *prefetcher_head(struct prefetcher *prefetcher, uint32_t source);

/* Go on to the event after prefetcher_head's, which remains valid until its block is
 * reused. */
void prefetcher_next(struct prefetcher *prefetcher, uint32_t source);

/* As in base/read_ahead.h. */
size_t prefetcher_used_bytes(const struct prefetcher *prefetcher);
struct read_block *prefetcher_take_used(struct prefetcher *prefetcher);
void prefetcher_reuse(struct prefetcher *prefetcher, struct read_block *used);

/* Draw how far the reading is, after `events` were merged. */
void prefetcher_show(struct prefetcher *prefetcher, uint64_t events,
		     struct progress *progress);

/*
 * End the reading, wherever it is, move facts and problems to the run, and free.
 */
void prefetcher_free(struct prefetcher *prefetcher);

#endif
