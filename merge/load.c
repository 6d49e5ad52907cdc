/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/load.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "merge/feed.h"
#include "merge/order.h"

/* A class of one source, by its index there. */
struct known_class {
	uint32_t id; /* in the timeline; 0: not added yet */
	bool is_linked;
	int sent_class, span_class; /* as these number them */
};

struct known_classes {
	struct known_class *item;
	size_t count, room;
};

struct loading {
	struct load *load;
	struct feed *feed;
	struct order order;
	struct known_classes *classes; /* one a source */
	bool *is_mute;                 /* one a source: see is_mute */
	bool *tells_spans;             /* one a source: see tells_spans */
	struct problem_list problems;
};

static struct known_class *find_class(struct known_classes *classes, uint32_t index)
{
	while (index >= classes->count) {
		classes->item = mem_grow(classes->item, classes->count, &classes->room,
					 sizeof(*classes->item));
		memset(&classes->item[classes->count++], 0, sizeof(*classes->item));
	}
	return &classes->item[index];
}

/* Add a class to the timeline; one with too many columns loses the last ones. */
static int add_class(struct loading *loading, uint32_t source, const struct row *row,
		     struct known_class *known, struct error *error)
{
	const struct merge_source *of = &loading->load->run->source[source];
	const struct ctf_class *class = row->class;
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
	known->is_linked = links_wants(class);
	known->sent_class = sent_packets_class(loading->load->sent, class);
	if (loading->tells_spans[source])
		known->span_class = spans_class(loading->load->spans, class);
	free(column);
	return status;
}

static int add_event(struct loading *loading, uint32_t source, const struct row *row,
		     int64_t tid, struct error *error)
{
	const struct load *load = loading->load;
	struct known_class *known =
	    find_class(&loading->classes[source], row->record.class);
	struct timeline_event event = {
	    .ts_ns = row->ts_ns,
	    .node = load->run->node[load->run->source[source].node].id,
	    .source = load->run->source[source].id,
	    .tid = tid,
	    .cpu = row->record.cpu,
	    .cell = load->payload ? row->record.cell : NULL,
	};
	struct event_link link = {.id = 0};

	if (!known->id && add_class(loading, source, row, known, error))
		return -1;
	event.class = known->id;
	if (timeline_add_event(load->writer, &event, &link.id, error))
		return -1;
	if (loading->tells_spans[source]) {
		struct span_event told = {.id = link.id,
					  .node = load->run->source[source].node,
					  .class = known->span_class,
					  .ts_ns = row->ts_ns,
					  .cpu = row->record.cpu,
					  .tid = tid,
					  .cell = row->record.cell};

		if (spans_event(load->spans, &told, &link.cause, error))
			return -1;
	}
	if (!known->is_linked)
		return 0;
	link.sent = (struct sent_packet){
	    .origin = link.id, .origin_ns = row->ts_ns, .origin_tid = tid};
	if (known->sent_class >= 0 && row->record.cell)
		sent_packets_event(load->sent, known->sent_class,
				   load->run->source[source].node, row->record.cell,
				   &link.sent);
	return links_note(load->links, source, &row->record, &link, error);
}

static int take_row(struct loading *loading, uint32_t source, const struct row *row,
		    struct error *error)
{
	struct load *load = loading->load;
	int64_t tid = follow_event(load->follow, source, row->class, &row->record);

	if (row->record.cell && !loading->is_mute[source])
		processes_event(load->processes, load->run->source[source].node,
				row->class, &row->record, row->ts_ns, tid);
	if (!row->selected)
		return 0;
	load->events++;
	return add_event(loading, source, row, tid, error);
}

/*
 * What user space says of threads and processes are numbers in their namespace; where
 * the node's kernel was traced as well, that knows better.
 */
static bool is_mute(const struct merge_run *run, uint32_t source)
{
	if (strcmp(run->source[source].kind, "user") != 0)
		return false;
	for (size_t i = 0; i < run->count; i++)
		if (run->source[i].node == run->source[source].node &&
		    strcmp(run->source[i].kind, "kernel") == 0)
			return true;
	return false;
}

/* Spans are of kernels, or of what there is of a node instead. */
static bool tells_spans(const struct load *load, uint32_t source)
{
	const struct merge_source *of = &load->run->source[source];

	if (!load->spans || strcmp(of->kind, "capture") == 0)
		return false;
	if (strcmp(of->kind, "kernel") == 0)
		return true;
	for (size_t i = 0; i < load->run->count; i++)
		if (load->run->source[i].node == of->node &&
		    strcmp(load->run->source[i].kind, "kernel") == 0)
			return false;
	return true;
}

/* From when on a node is recorded: its first event, and not before what is selected. */
static void begin_spans(struct loading *loading)
{
	const struct merge_run *run = loading->load->run;
	nsec_t least = loading->load->selection->begin_ns;

	for (uint32_t source = 0; source < run->count; source++) {
		struct ctf_facts facts;
		nsec_t begin;

		loading->tells_spans[source] = tells_spans(loading->load, source);
		feed_facts(loading->feed, source, &facts);
		if (!loading->tells_spans[source] || !facts.events)
			continue;
		begin = clock_correct(&run->source[source].clock, facts.begin_ns);
		spans_set_begin(loading->load->spans, run->source[source].node,
				begin < least ? least : begin);
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

			if (source->node == node && tells_spans(load, i) &&
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

		loading->is_mute[source] = is_mute(run, source);
		while (other < source &&
		       (run->source[other].node != run->source[source].node ||
			!feed_share_clock(loading->feed, other, source)))
			other++;
		if (other < source)
			follow_share(loading->load->follow, source, other);
	}
}

static int merge(struct loading *loading, struct error *error)
{
	enum { SHOW_EVERY = 16384 };
	struct load *load = loading->load;
	uint64_t rows = 0;
	uint32_t source;

	for (source = 0; source < load->run->count; source++) {
		const struct row *row = feed_head(loading->feed, source);
		uint32_t node = load->run->source[source].node;

		if (row)
			order_add(&loading->order,
				  &(struct order_head){row->ts_ns, node, source});
	}
	share_switches(loading);
	begin_spans(loading);
	while (order_first(&loading->order, &source)) {
		const struct row *row = feed_head(loading->feed, source);

		if (take_row(loading, source, row, error))
			return -1;
		feed_next(loading->feed, source);
		row = feed_head(loading->feed, source);
		if (row)
			order_advance(&loading->order, row->ts_ns);
		else
			order_remove(&loading->order);
		if (++rows % SHOW_EVERY == 0)
			feed_show(loading->feed, rows, load->progress);
	}
	return 0;
}

int load_events(struct load *load, struct error *error)
{
	struct feed_wish wish = {load->selection, load->payload, load->spans != NULL,
				 load->threads};
	struct loading loading = {.load = load};
	int status = -1;

	load->events = 0;
	loading.feed = feed_new(load->run, &wish, error);
	loading.classes = mem_zalloc(load->run->count * sizeof(*loading.classes));
	loading.is_mute = mem_zalloc(load->run->count * sizeof(*loading.is_mute));
	loading.tells_spans = mem_zalloc(load->run->count * sizeof(*loading.tells_spans));
	if (loading.feed)
		status = merge(&loading, error);
	feed_free(loading.feed);
	progress_end(load->progress);
	if (!status)
		status = end_spans(load, error);
	merge_run_tell(load->run, &loading.problems);
	for (size_t i = 0; i < load->run->count; i++)
		free(loading.classes[i].item);
	free(loading.classes);
	free(loading.is_mute);
	free(loading.tells_spans);
	order_clear(&loading.order);
	return status;
}
