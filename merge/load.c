/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/load.h"

#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "merge/feed.h"

struct loading {
	struct load *load;
	struct feed *feed;
	struct heap heads; /* of the sources' next events, by time and place in `order` */
	uint32_t *order;   /* sources by node and index */
	struct problem_list problems;
};

/* Add a class to the timeline; one with too many columns loses the last ones. */
static int add_class(struct loading *loading, uint32_t source, struct event_class *known,
		     struct error *error)
{
	const struct merge_source *of = &loading->load->run->source[source];
	const struct ctf_class *class = known->of;
	struct timeline_column *column = mem_zalloc(class->columns * sizeof(*column));
	struct timeline_class wanted = {of->kind, class->name, column, class->columns};
	int status;

	for (size_t i = 0; i < class->columns; i++)
		column[i] =
		    (struct timeline_column){class->column[i].name, class->column[i].type,
					     class->column[i].context};
	if (wanted.columns > TIMELINE_COLUMNS_MOST) {
		wanted.columns = TIMELINE_COLUMNS_MOST;
		problem_add(&loading->problems,
			    loading->load->run->sources.item[of->entry].path, "cut", 1,
			    "%s has %zu fields, those after the first %d are left out",
			    class->name, class->columns, TIMELINE_COLUMNS_MOST);
	}
	status = timeline_add_class(loading->load->writer, &wanted, &known->id, error);
	if (loading->load->spans && of->tells_spans)
		spans_class(loading->load->spans, known);
	free(column);
	return status;
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
	    .cpu = row->record.cpu,
	    .row = row->bytes.bytes ? &row->bytes : NULL,
	};
	struct event_link link = {.id = 0};

	if (!class->id && add_class(loading, source, class, error))
		return -1;
	event.class = class->id;
	if (timeline_add_event(load->writer, &event, &link.id, error))
		return -1;
	merged->id = link.id;
	if (load->spans && of->tells_spans &&
	    spans_event(load->spans, merged, &link.cause, error))
		return -1;
	if (!(class->use & EVENT_LINKED))
		return 0;
	link.sent = (struct sent_packet){
	    .origin = link.id, .origin_ns = row->ts_ns, .origin_tid = merged->tid};
	sent_packets_event(load->sent, class, of->node, row->record.cell, &link.sent);
	return links_note(load->links, source, &row->record, &link, error);
}

static int take_row(struct loading *loading, uint32_t source, const struct row *row,
		    struct error *error)
{
	struct load *load = loading->load;
	struct merged_event event = {
	    .node = load->run->source[source].node,
	    .class = row->class,
	    .ts_ns = row->ts_ns,
	    .cpu = row->record.cpu,
	    .tid = follow_event(load->follow, source, row->class, &row->record),
	    .cell = row->record.cell,
	};

	if (event.cell && !load->run->source[source].is_mute)
		processes_event(load->processes, &event);
	if (!row->selected)
		return 0;
	load->events++;
	return add_event(loading, source, row, &event, error);
}

/* From when on a node is recorded: its first event, and not before what is selected. */
static void begin_spans(struct loading *loading)
{
	const struct load *load = loading->load;

	for (uint32_t i = 0; i < load->run->count; i++) {
		const struct merge_source *source = &load->run->source[i];
		struct ctf_facts facts;
		nsec_t begin;

		feed_facts(loading->feed, i, &facts);
		if (!load->spans || !source->tells_spans || !facts.events)
			continue;
		begin = clock_correct(&source->clock, facts.begin_ns);
		if (begin < load->selection->begin_ns)
			begin = load->selection->begin_ns;
		spans_set_begin(load->spans, source->node, begin);
	}
}

/* What the whole reading knows now of each node's end. */
static int end_spans(const struct load *load, struct error *error)
{
	const struct merge_run *run = load->run;
	int status = 0;

	for (uint32_t node = 0; load->spans && node < run->nodes && !status; node++) {
		nsec_t end = NSEC_MIN;

		for (uint32_t i = 0; i < run->count; i++) {
			const struct merge_source *source = &run->source[i];
			nsec_t last = clock_correct(&source->clock, source->facts.end_ns);

			if (source->node == node && source->tells_spans &&
			    source->facts.events && last > end)
				end = last;
		}
		if (end > load->selection->end_ns)
			end = load->selection->end_ns;
		status = spans_end(load->spans, node, end, error);
	}
	return status;
}

/* User space runs where the kernel that has its clock says. */
static void share_switches(struct loading *loading)
{
	const struct merge_run *run = loading->load->run;

	for (uint32_t source = 0; source < run->count; source++) {
		uint32_t other = 0;

		while (other < source &&
		       (run->source[other].node != run->source[source].node ||
			!feed_share_clock(loading->feed, other, source)))
			other++;
		if (other < source)
			follow_share(loading->load->follow, source, other);
	}
}

/* Events of one time go by node, then by source, so that every merge is the same. */
static void order_sources(struct loading *loading)
{
	const struct merge_run *run = loading->load->run;
	uint32_t count = 0;

	for (uint32_t node = 0; node < run->nodes; node++)
		for (uint32_t source = 0; source < run->count; source++)
			if (run->source[source].node == node)
				loading->order[count++] = source;
	for (uint32_t i = 0; i < count; i++) {
		const struct row *row = feed_head(loading->feed, loading->order[i]);

		if (row)
			heap_push(&loading->heads, row->ts_ns, i);
	}
}

static int merge(struct loading *loading, struct error *error)
{
	enum { SHOW_EVERY = 16384 };
	struct heap *heads = &loading->heads;
	uint64_t rows = 0;

	order_sources(loading);
	share_switches(loading);
	begin_spans(loading);
	while (heads->count) {
		uint32_t source = loading->order[heads->item->item];
		const struct row *row = feed_head(loading->feed, source);

		if (take_row(loading, source, row, error))
			return -1;
		feed_next(loading->feed, source);
		row = feed_head(loading->feed, source);
		if (row)
			heap_replace(heads, row->ts_ns);
		else
			heap_pop(heads);
		if (++rows % SHOW_EVERY == 0)
			feed_show(loading->feed, rows, loading->load->progress);
	}
	return 0;
}

int load_events(struct load *load, struct error *error)
{
	struct event_wish wish = {load->selection, load->payload, load->spans != NULL};
	struct loading loading = {.load = load};
	int status;

	load->events = 0;
	loading.feed = feed_new(load->run, &wish, load->threads);
	loading.order = mem_zalloc(load->run->count * sizeof(*loading.order));
	status = merge(&loading, error);
	feed_free(loading.feed);
	progress_end(load->progress);
	if (!status)
		status = end_spans(load, error);
	merge_run_tell(load->run, &loading.problems);
	free(loading.order);
	heap_clear(&loading.heads);
	return status;
}

/* Messages are sorted while spans are written. */
struct following {
	struct load *load;
	int status[2];
	struct error error[2];
};

static void follow_up(void *context, size_t index)
{
	struct following *following = context;
	struct load *load = following->load;
	struct error *error = &following->error[index];

	if (index == 1)
		following->status[1] = links_find(load->links, load->origins, error);
	else if (load->spans)
		following->status[0] =
		    spans_write(load->spans, load->processes, load->writer, error);
}

int load_spans_and_messages(struct load *load, struct error *error)
{
	struct following following = {.load = load};
	int status = 0;

	parallel_run(load->threads, 2, follow_up, &following);
	for (int i = 0; i < 2; i++) {
		if (!status && following.status[i])
			status = error_set(error, "%s", error_text(&following.error[i]));
		error_clear(&following.error[i]);
	}
	return status ? status
		      : links_write(load->links, load->spans, load->requests,
				    load->writer, error);
}
