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
#include "merge/kernel_packets.h"
#include "merge/processes.h"
#include "merge/spans/recorded_rows.h"
#include "merge/spans/span_rows.h"
#include "merge/spans/spans.h"

struct loading {
	struct load *load;
	struct prefetcher *prefetcher;
	struct recording *recording;
	struct heap
	    heads; /* of the sources' next events; sources are in order of nodes */
	struct follow *follow;
	struct processes *processes;
	struct spans *spans; /* NULL: none are wanted */
	struct sent_packets *sent;
	struct links *links;
	int status[2]; /* of run_final_job() */
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

static int add_event(struct loading *loading, uint32_t source, const struct row *row,
		     struct merged_event *merged, struct error *error)
{
	const struct load *load = loading->load;
	const struct merge_source *of = &load->run->source[source];
	struct event_class *class = row->class;
	struct timeline_event event = {
	    .ts_ns = row->ts_ns,
	    .node = load->run->node[of->node].id,
	    .source = of->id,
	    .tid = merged->tid,
	    .cpu = row->event.cpu,
	    .row = row->bytes.bytes ? &row->bytes : NULL,
	};
	struct event_link link = {.id = 0};

	if (!class->id && add_class(loading, source, class, error))
		return -1;
	event.class = class->id;
	if (timeline_add_event(load->writer, &event, &link.id, error))
		return -1;
	merged->id = link.id;
	if (loading->spans && of->makes_spans &&
	    spans_event(loading->spans, merged, &link.cause, error))
		return -1;
	if (!(class->use & EVENT_LINKED))
		return 0;
	link.sent = (struct sent_packet){
	    .origin = link.id, .origin_ns = row->ts_ns, .origin_tid = merged->tid};
	sent_packets_event(loading->sent, class, of->node, row->event.cell, &link.sent);
	link.ts_ns = row->ts_ns;
	link.tag = class->tag;
	link.bytes = kernel_packet_bytes(class, row->event.cell);
	return links_note(loading->links, source, &row->event, &link, error);
}

/* Handle the marks of a node's recording up to an instant: starts, stops and losses.
 * Return 0, or -1 with error. */
static int pass_marks(struct loading *loading, uint32_t node, nsec_t ts_ns,
		      struct error *error)
{
	struct recording_mark *mark;

	while ((mark = recording_next(loading->recording, node, ts_ns))) {
		if (mark->kind != MARK_LOSS && mark->needs & 1u << NEED_SWITCH)
			follow_lose(loading->follow, loading->load->run, node, mark->cpu);
		if (loading->spans && spans_mark(loading->spans, node, mark, error))
			return -1;
	}
	return 0;
}

static int merge_row(struct loading *loading, uint32_t source, const struct row *row,
		     struct error *error)
{
	struct load *load = loading->load;
	struct merged_event event = {
	    .node = load->run->source[source].node,
	    .class = row->class,
	    .ts_ns = row->ts_ns,
	    .cpu = row->event.cpu,
	    .cell = row->event.cell,
	};

	if (load->run->source[source].makes_spans &&
	    pass_marks(loading, event.node, event.ts_ns, error))
		return -1;
	event.tid = follow_event(loading->follow, source, row->class, &row->event);
	if (event.cell && !load->run->source[source].is_mute)
		processes_event(loading->processes, &event);
	if (!row->selected)
		return 0;
	load->events++;
	return add_event(loading, source, row, &event, error);
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

static int merge_events(struct loading *loading, struct error *error)
{
	enum { SHOW_EVERY = 16384 };
	struct heap *heads = &loading->heads;
	uint64_t rows = 0;

	for (uint32_t source = 0; source < loading->load->run->count; source++) {
		const struct row *row = prefetcher_head(loading->prefetcher, source);

		if (row)
			heap_push(heads, row->ts_ns, source);
	}
	add_span_classes(loading);
	while (heads->count) {
		uint32_t source = heads->item->item;
		const struct row *row = prefetcher_head(loading->prefetcher, source);

		if (merge_row(loading, source, row, error))
			return -1;
		prefetcher_next(loading->prefetcher, source);
		row = prefetcher_head(loading->prefetcher, source);
		if (row)
			heap_replace(heads, row->ts_ns);
		else
			heap_pop(heads);
		if (++rows % SHOW_EVERY == 0)
			prefetcher_show(loading->prefetcher, rows,
					loading->load->progress);
	}
	for (uint32_t i = 0; i < loading->load->run->nodes; i++)
		if (pass_marks(loading, i, loading->load->selection->end_ns, error))
			return -1;
	return 0;
}

/* Messages are sorted while spans are written. */
static void run_final_job(void *context, size_t index)
{
	struct loading *loading = context;
	struct load *load = loading->load;
	struct error *error = &loading->error[index];

	if (index == 1)
		loading->status[1] =
		    links_find(loading->links, load->messages, &load->linked, error);
	else if (loading->spans)
		loading->status[0] =
		    spans_write(loading->spans, loading->processes, load->writer, error);
}

static int write_rest(struct loading *loading, struct error *error)
{
	struct load *load = loading->load;
	int status = 0;

	if (loading->spans && spans_end(loading->spans, load->selection->end_ns, error))
		return -1;
	parallel_run(load->threads, 2, run_final_job, loading);
	for (int i = 0; i < 2; i++) {
		if (!status && loading->status[i])
			status = error_set(error, "%s", error_text(&loading->error[i]));
		error_clear(&loading->error[i]);
	}
	return status ||
		       links_write(loading->links, load->requests, load->writer, error) ||
		       spans_write_recorded(loading->spans, loading->recording, load->run,
					    load->selection, load->writer, error) ||
		       processes_write(loading->processes, load->run, load->writer, error)
		   ? -1
		   : 0;
}

int load_events(struct load *load, struct error *error)
{
	struct event_filter filter = {load->selection, load->payload, load->has_spans};
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
	prefetcher_free(loading.prefetcher);
	progress_end(load->progress);
	heap_clear(&loading.heads);
	follow_free(loading.follow);
	sent_packets_free(loading.sent);
	if (!status)
		status = write_rest(&loading, error);
	recording_free(loading.recording);
	links_free(loading.links);
	spans_free(loading.spans);
	processes_free(loading.processes);
	return status;
}
