/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/load.h"
#include "merge/links.h"
#include "merge/prefetch.h"
#include "merge/sent_packets.h"

#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/worker.h"
#include "merge/kernel_packets.h"
#include "merge/processes.h"
#include "merge/samples.h"
#include "merge/spans/recorded_rows.h"
#include "merge/spans/span_rows.h"
#include "merge/spans/spans.h"

/*
 * The calling thread puts the events of all sources in order, and follows threads and
 * processes. Batches of those that were selected go to two stages, each with a thread of
 * its own: one writes rows, the other makes spans and notes which events can be a
 * packet's.
 */
enum {
	BATCH_ROWS = 2048,
	BATCH_BYTES = 1 << 20, /* size of the blocks that wait for the stages */
	BATCHES = 4,
};

/* A selected event, or if `row` is NULL a mark of the recording. */
struct merged_row {
	const struct row *row;
	struct recording_mark *mark;
	uint32_t source; /* a mark has its node here */
	int64_t id, tid; /* tid -1: unknown */
};

struct batch {
	struct merged_row row[BATCH_ROWS];
	size_t rows;
	struct read_block *used; /* blocks of rows, to be reused after this batch */
};

struct stage {
	struct worker worker;
	struct error error;
};

enum { CACHE_LINE = 64 };

struct loading {
	struct heap heads; /* the sources' next events; sources are in order of nodes */
	uint64_t events;   /* counts for each event, so not in a line that stages read */
	_Alignas(CACHE_LINE) struct load *load;
	struct prefetcher *prefetcher;
	struct recording *recording;
	struct follow *follow;
	struct processes *processes;
	struct batch *batch;
	struct stage writer;
	struct stage tracker; /* uses the following members, too */
	struct spans *spans;  /* NULL: none are wanted */
	struct sent_packets *sent;
	struct links *links;
	int status[2]; /* results of two jobs at a time */
	struct error error[2];
};

/* Add a class to the timeline; one with too many columns loses the last ones. */
static int add_class(struct loading *loading, uint32_t source, struct event_class *known,
		     struct error *error)
{
	const struct merge_source *of = &loading->load->run->source[source];
	const struct trace_class *class = known->of;
	AUTOFREE struct timeline_column *column =
	    mem_zalloc(class->columns * sizeof(*column));
	struct timeline_class wanted = {of->kind, class->name, column, class->columns};

	for (size_t i = 0; i < class->columns; i++)
		column[i] =
		    (struct timeline_column){class->column[i].name, class->column[i].type,
					     class->column[i].context};
	if (wanted.columns > TIMELINE_COLUMNS_MOST) {
		wanted.columns = TIMELINE_COLUMNS_MOST;
		problem_add(&loading->load->run->problems,
			    loading->load->run->sources.item[source].path, PROBLEM_CUT, 1,
			    "%s has %zu fields; those after the first %d are omitted",
			    class->name, class->columns, TIMELINE_COLUMNS_MOST);
	}
	return timeline_add_class(loading->load->writer, &wanted, &known->id, error);
}

static int write_to_files(struct loading *loading, const struct merged_row *merged)
{
	const struct row *row = merged->row;
	const struct merged_event event = {.id = merged->id,
					   .ts_ns = row->ts_ns,
					   .cpu = row->event.cpu,
					   .tid = merged->tid,
					   .cell = row->event.cell};

	return event_files_add(loading->load->files,
			       &loading->load->run->source[merged->source], row->class,
			       &event, &loading->writer.error);
}

static int write_row(struct loading *loading, const struct merged_row *merged)
{
	const struct load *load = loading->load;
	const struct row *row = merged->row;
	const struct merge_source *of = &load->run->source[merged->source];
	struct event_class *class = row->class;
	const struct row_bytes bytes = {.bytes = row->bytes, .size = row->size};
	struct timeline_event event = {
	    .ts_ns = row->ts_ns,
	    .node = load->run->node[of->node].id,
	    .source = of->id,
	    .tid = merged->tid,
	    .cpu = row->event.cpu,
	    .row = row->bytes ? &bytes : NULL,
	};
	struct error *error = &loading->writer.error;

	if (load->files)
		return write_to_files(loading, merged);
	if (!class->id && add_class(loading, merged->source, class, error))
		return -1;
	event.class = class->id;
	return timeline_add_event(load->writer, &event, NULL, error);
}

/* Rows are in the cache of the processor that merged them: fetch a later one, to be there
 * when it is used. */
static void prefetch_row(const struct batch *batch, size_t at)
{
	enum { AHEAD = 8, LINES = 4 };
	const char *row =
	    at + AHEAD < batch->rows ? (const char *)batch->row[at + AHEAD].row : NULL;

	for (size_t i = 0; row && i < LINES; i++)
		__builtin_prefetch(row + i * CACHE_LINE);
}

/* The first stage. */
static int write_batch(void *context, size_t slot)
{
	struct loading *loading = context;
	const struct batch *batch = &loading->batch[slot];
	int status = 0;

	for (size_t i = 0; i < batch->rows && !status; i++) {
		prefetch_row(batch, i);
		if (batch->row[i].row)
			status = write_row(loading, &batch->row[i]);
	}
	return status;
}

static int track_row(struct loading *loading, const struct merged_row *merged)
{
	const struct row *row = merged->row;
	const struct merge_source *of = &loading->load->run->source[merged->source];
	const struct event_class *class = row->class;
	const struct merged_event event = {
	    .id = merged->id,
	    .node = of->node,
	    .class = class,
	    .ts_ns = row->ts_ns,
	    .cpu = row->event.cpu,
	    .tid = merged->tid,
	    .cell = row->event.cell,
	};
	struct span_cause cause = {.wait = WAIT_UNKNOWN};
	struct event_link link;
	struct error *error = &loading->tracker.error;

	if (loading->spans && of->makes_spans &&
	    spans_event(loading->spans, &event, &cause, error))
		return -1;
	if (!(class->use & EVENT_LINKED))
		return 0;
	link = (struct event_link){
	    .id = event.id,
	    .cause = cause,
	    .sent = {.origin = event.id,
		     .origin_ns = event.ts_ns,
		     .origin_tid = event.tid},
	    .ts_ns = event.ts_ns,
	    .tag = class->tag,
	    .bytes = kernel_packet_bytes(class, event.cell),
	};
	sent_packets_event(loading->sent, class, of->node, event.cell, &link.sent);
	return links_note(loading->links, merged->source, &row->event, &link, error);
}

/* The second stage. */
static int track_batch(void *context, size_t slot)
{
	struct loading *loading = context;
	const struct batch *batch = &loading->batch[slot];
	int status = 0;

	for (size_t i = 0; i < batch->rows && !status && !loading->load->files; i++) {
		const struct merged_row *merged = &batch->row[i];

		prefetch_row(batch, i);
		if (merged->row)
			status = track_row(loading, merged);
		else if (loading->spans)
			status = spans_mark(loading->spans, merged->source, merged->mark,
					    &loading->tracker.error);
	}
	return status;
}

/* Pass a batch to the stages, and begin the next. Return 0, or -1 if a stage failed. */
static int pass_batch(struct loading *loading)
{
	struct batch *batch = &loading->batch[loading->writer.worker.at];
	bool failed;

	batch->used = prefetcher_take_used(loading->prefetcher);
	failed = worker_pass(&loading->writer.worker);
	failed |= worker_pass(&loading->tracker.worker);
	batch = &loading->batch[loading->writer.worker.at];
	prefetcher_reuse(loading->prefetcher, batch->used);
	batch->used = NULL;
	batch->rows = 0;
	return failed ? -1 : 0;
}

static int add_to_batch(struct loading *loading, struct merged_row row)
{
	struct batch *batch = &loading->batch[loading->writer.worker.at];

	batch->row[batch->rows++] = row;
	return batch->rows == BATCH_ROWS ? pass_batch(loading) : 0;
}

/* Handle the marks of a node's recording up to an instant: starts, stops and losses.
 * Return 0, or -1 if a stage failed. */
static int pass_marks(struct loading *loading, uint32_t node, nsec_t ts_ns)
{
	struct recording_mark *mark;

	while ((mark = recording_next(loading->recording, node, ts_ns))) {
		if (mark->kind != MARK_LOSS && mark->needs & 1u << NEED_SWITCH)
			follow_lose(loading->follow, loading->load->run, node, mark->cpu);
		if (add_to_batch(loading,
				 (struct merged_row){.mark = mark, .source = node}))
			return -1;
	}
	return 0;
}

static int merge_row(struct loading *loading, uint32_t source, const struct row *row)
{
	struct load *load = loading->load;
	const struct merge_source *of = &load->run->source[source];
	struct merged_event event = {
	    .node = of->node,
	    .class = row->class,
	    .ts_ns = row->ts_ns,
	    .cpu = row->event.cpu,
	    .cell = row->event.cell,
	};

	if (of->makes_spans && pass_marks(loading, event.node, event.ts_ns))
		return -1;
	event.tid = follow_event(loading->follow, source, row->class, &row->event);
	if (event.cell && !of->is_mute)
		processes_event(loading->processes, &event);
	if (!row->selected)
		return 0;
	event.id = (int64_t)++loading->events;
	return add_to_batch(
	    loading, (struct merged_row){
			 .row = row, .source = source, .id = event.id, .tid = event.tid});
}

/* Add the recorded classes of each source that spans are made from. */
static void add_span_classes(const struct loading *loading)
{
	const struct load *load = loading->load;
	struct event_class *class;

	for (uint32_t source = 0; loading->spans && source < load->run->count; source++) {
		const struct merge_source *of = &load->run->source[source];

		for (size_t i = 0;
		     (class = prefetcher_class(loading->prefetcher, source, i)); i++)
			if (of->makes_spans && class->use & EVENT_SELECTED)
				spans_class(loading->spans, of->node, class);
	}
}

static int merge_all(struct loading *loading)
{
	enum { SHOW_EVERY = 16384 };
	struct heap *heads = &loading->heads;
	uint64_t rows = 0;

	while (heads->count) {
		uint32_t source = heads->item->item;
		const struct row *row = prefetcher_head(loading->prefetcher, source);

		if (merge_row(loading, source, row))
			return -1;
		prefetcher_next(loading->prefetcher, source);
		row = prefetcher_head(loading->prefetcher, source);
		if (row)
			heap_replace(heads, row->ts_ns);
		else
			heap_pop(heads);
		if (prefetcher_used_bytes(loading->prefetcher) >= BATCH_BYTES &&
		    pass_batch(loading))
			return -1;
		if (++rows % SHOW_EVERY == 0)
			prefetcher_show(loading->prefetcher, rows,
					loading->load->progress);
	}
	for (uint32_t i = 0; i < loading->load->run->nodes; i++)
		if (pass_marks(loading, i, loading->load->selection->end_ns))
			return -1;
	return pass_batch(loading);
}

static int end_stage(struct stage *stage, struct error *error)
{
	int status = worker_end(&stage->worker);

	if (status)
		error_set(error, "%s", error_text(&stage->error));
	error_clear(&stage->error);
	return status;
}

static int merge_events(struct loading *loading, struct error *error)
{
	size_t slots = loading->load->threads > 1 ? BATCHES : 1;
	int status;

	for (uint32_t source = 0; source < loading->load->run->count; source++) {
		const struct row *row = prefetcher_head(loading->prefetcher, source);

		if (row)
			heap_push(&loading->heads, row->ts_ns, source);
	}
	add_span_classes(loading);
	loading->batch = mem_zalloc(BATCHES * sizeof(*loading->batch));
	worker_init(&loading->writer.worker, slots, write_batch, loading);
	worker_init(&loading->tracker.worker, slots, track_batch, loading);
	merge_all(loading);
	status = end_stage(&loading->tracker, error);
	status = end_stage(&loading->writer, error) || status ? -1 : 0;
	for (size_t i = 0; i < BATCHES; i++)
		prefetcher_reuse(loading->prefetcher, loading->batch[i].used);
	free(loading->batch);
	return status;
}

static void find_links(void *context)
{
	struct loading *loading = context;
	struct load *load = loading->load;

	loading->status[0] =
	    links_find(loading->links, load->messages, &load->linked, &loading->error[0]);
}

/* Messages are sorted while spans are written. Return 0, or -1 with error. */
static int write_spans(struct loading *loading, struct error *error)
{
	const struct load *load = loading->load;
	const struct spans_write_config of = {.processes = loading->processes,
					      .writer = load->writer,
					      .threads = load->threads,
					      .beside = find_links,
					      .context = loading};
	int status = 0;

	if (loading->spans)
		status = spans_write(loading->spans, &of, error);
	else
		find_links(loading);
	if (!status && loading->status[0])
		status = error_set(error, "%s", error_text(&loading->error[0]));
	error_clear(&loading->error[0]);
	return status;
}

/* Requests are found while messages are written. */
static void write_links_or_find_requests(void *context, size_t index)
{
	struct loading *loading = context;
	struct load *load = loading->load;
	struct error *error = &loading->error[index];

	loading->status[index] =
	    index == 0 ? links_write(loading->links, load->writer, error)
		       : links_pass(loading->links, load->requests, error) ||
			     requests_finish(load->requests, loading->spans, error);
}

/* The logs of spans and messages, whose files take a while to close, are freed while
 * samples are read. */
static void write_others_or_free(void *context, size_t index)
{
	struct loading *loading = context;
	const struct load *load = loading->load;
	struct error *error = &loading->error[index];

	if (index == 0) {
		loading->status[0] =
		    processes_write(loading->processes, load->run, load->writer, error) ||
		    merge_samples(load->run, load->selection, load->writer, error);
		return;
	}
	links_free(loading->links);
	spans_free(loading->spans);
	loading->links = NULL;
	loading->spans = NULL;
	loading->status[1] = 0;
}

/* Run two jobs, with status and error each. Return 0, or -1 with error. */
static int run_two(struct loading *loading, parallel_fn *run, struct error *error)
{
	int status = 0;

	parallel_run(loading->load->threads, 2, run, loading);
	for (int i = 0; i < 2; i++) {
		if (!status && loading->status[i])
			status = error_set(error, "%s", error_text(&loading->error[i]));
		error_clear(&loading->error[i]);
	}
	return status;
}

static int write_rest(struct loading *loading, struct error *error)
{
	struct load *load = loading->load;

	if (loading->spans && spans_end(loading->spans, load->selection->end_ns, error))
		return -1;
	return write_spans(loading, error) ||
		       run_two(loading, write_links_or_find_requests, error) ||
		       requests_write(load->requests, load->writer, error) ||
		       spans_write_recorded(loading->spans, loading->recording, load->run,
					    load->selection, load->writer, error) ||
		       run_two(loading, write_others_or_free, error)
		   ? -1
		   : 0;
}

int load_events(struct load *load, struct error *error)
{
	struct event_filter filter = {load->selection, load->payload, load->files != NULL,
				      load->has_spans};
	struct loading loading = {
	    .load = load,
	    .follow = follow_new(load->run),
	    .processes = processes_new(load->run->nodes),
	    .spans =
		load->has_spans ? spans_new(load->run, load->selection->begin_ns) : NULL,
	    .sent = sent_packets_new(),
	    .links = links_new(load->run, load->selection)};
	int status;

	loading.prefetcher =
	    prefetcher_new(load->run, &filter, load->threads, &loading.recording);
	status = merge_events(&loading, error);
	load->events = loading.events;
	prefetcher_free(loading.prefetcher);
	progress_end(load->progress);
	heap_clear(&loading.heads);
	follow_free(loading.follow);
	sent_packets_free(loading.sent);
	if (!status && !load->files)
		status = write_rest(&loading, error);
	recording_free(loading.recording);
	links_free(loading.links);
	spans_free(loading.spans);
	processes_free(loading.processes);
	return status;
}
