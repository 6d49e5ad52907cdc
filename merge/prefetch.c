/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/prefetch.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/process.h"
#include "base/read_ahead.h"
#include "input/capture/records.h"
#include "timeline/reader.h"

enum {
	ROW_BYTES = 256, /* space for an event with its fields, more than most need */
	BLOCK_BYTES = 64 << 10, /* a single larger row has a larger block */
};

struct queue {
	struct prefetcher *prefetcher;
	struct trace_reader *reader; /* NULL: not read */
	const struct clock *clock;
	struct event_class *class; /* by index */
	size_t classes;
	struct trace_recorded recorded;
	struct trace_facts facts; /* as of the last step */
	struct read_step *step;   /* while it is read */
	struct row_bytes made;    /* bytes of the current row then */
	const char *head, *end;   /* its block, for the merging thread */
	nsec_t tail_ns;           /* time of the last row read */
	nsec_t read_ns;           /* the same, as of the last step */
	uint64_t backward;
	struct error error; /* why it was not opened */
};

struct prefetcher {
	struct merge_run *run;
	struct event_filter filter;
	struct queue *queue; /* one a source of the run */
	size_t count;
	struct read_ahead *ahead;
};

/* Return the n-th cell of a row, among all of its event. */
static const struct cell *chosen_cell(const struct row *row, size_t n)
{
	const unsigned *chosen = row->class->chosen;

	return &row->event.cell[chosen ? chosen[n] : n];
}

/* The bytes of a row with its cells. */
static size_t row_size(const struct row *row, size_t cells)
{
	size_t size = sizeof(*row) + row->size + cells * sizeof(struct cell);

	for (size_t i = 0; i < cells; i++) { /* no branch: which are texts varies */
		const struct cell *cell = chosen_cell(row, i);

		size += cell->size & -(uint32_t)cell_has_bytes(cell);
	}
	return (size + _Alignof(struct row) - 1) / _Alignof(struct row) *
	       _Alignof(struct row);
}

/* Copy a row to the end of the block, with the cells that are read. */
static void append_row(struct read_step *step, const struct row *row)
{
	size_t cells = row->event.cell ? row->class->cells : 0;
	size_t size = row_size(row, cells);
	struct row *copy = read_step_add(step, size);
	struct cell *cell = (struct cell *)(copy + 1);
	char *bytes = (char *)(cell + cells);

	*copy = *row;
	copy->length = (uint32_t)size;
	if (row->bytes) {
		copy->bytes = (unsigned char *)bytes;
		memcpy(bytes, row->bytes, row->size);
		bytes += row->size;
	}
	if (!row->event.cell)
		return;
	copy->event.cell = cell;
	for (size_t i = 0; i < cells; i++) {
		cell[i] = *chosen_cell(row, i);
		if (!cell_has_bytes(&cell[i]))
			continue;
		memcpy(bytes, cell[i].bytes, cell[i].size);
		cell[i].bytes = bytes;
		bytes += cell[i].size;
	}
}

static void read_event(void *context, const struct trace_event *event)
{
	struct queue *queue = context;
	struct row row = {.ts_ns = clock_correct(queue->clock, event->local_ns),
			  .class = &queue->class[event->class],
			  .event = *event};
	bool is_backward = row.ts_ns < queue->tail_ns;
	unsigned use;

	if (is_backward)
		row.ts_ns = queue->tail_ns;
	queue->tail_ns = row.ts_ns;
	use = event_class_use(row.class, queue->prefetcher->filter.selection, row.ts_ns);
	if (!use)
		return;
	row.selected = use & EVENT_SELECTED;
	queue->backward += row.selected && is_backward;
	if (use & EVENT_PAYLOAD && event->cell) {
		row_bytes_make(&queue->made, true, row.class->type, event->cell,
			       row.class->columns);
		row.bytes = queue->made.bytes;
		row.size = (uint32_t)queue->made.size;
	}
	if (!(use & EVENT_CELLS))
		row.event.cell = NULL;
	append_row(queue->step, &row);
}

static bool read_source(void *context, uint32_t source, struct read_step *step)
{
	struct prefetcher *prefetcher = context;
	struct queue *queue = &prefetcher->queue[source];
	uint64_t most = PREFETCH_BYTES / ROW_BYTES / prefetcher->count;

	queue->step = step;
	return queue->reader &&
	       trace_reader_step(queue->reader, most, read_event, queue) &&
	       queue->tail_ns <= prefetcher->filter.selection->end_ns;
}

static void note_source(void *context, uint32_t source)
{
	struct queue *queue = &((struct prefetcher *)context)->queue[source];

	if (queue->reader)
		queue->facts = *trace_reader_facts(queue->reader);
	queue->read_ns = queue->tail_ns;
}

static nsec_t queue_position(const void *context, uint32_t source)
{
	return ((const struct prefetcher *)context)->queue[source].read_ns;
}

/* Return true if events of a class can be ends of a declared message. */
static bool is_declared(const struct source *source, const char *class)
{
	for (size_t i = 0; i < source->declareds; i++)
		for (int received = 0; received < 2; received++)
			if (strcmp(source->declared[i]->end[received].event, class) == 0)
				return true;
	return false;
}

/* Select events to be decoded: before the selected time only those of some classes. */
static void select_events(struct queue *queue, const struct event_filter *filter,
			  const struct source *source)
{
	bool has_begin = filter->selection->begin_ns > NSEC_MIN;

	while (trace_reader_class(queue->reader, (uint32_t)queue->classes))
		queue->classes++;
	queue->class = mem_zalloc(queue->classes * sizeof(*queue->class));
	for (uint32_t i = 0; i < queue->classes; i++) {
		struct event_class *class = &queue->class[i];
		struct trace_selection wanted = {.what = SELECT_EVENTS};

		event_class_init(class, trace_reader_columns(queue->reader, i), filter);
		if (is_declared(source, class->of->name))
			class->use |= EVENT_LINKED;
		if (!filter->columns)
			event_class_choose_cells(class);
		if (event_class_wants_cells(class))
			wanted.what = SELECT_COLUMNS;
		if (has_begin)
			wanted.before = event_class_use_before(class);
		trace_reader_select(queue->reader, i, &wanted);
	}
	if (has_begin)
		trace_reader_begin(
		    queue->reader,
		    clock_first_not_before(queue->clock, filter->selection->begin_ns));
}

/* Open a source. Parsing metadata needs milliseconds, so this runs in parallel. */
static void open_source(void *context, size_t index)
{
	struct prefetcher *prefetcher = context;
	struct merge_source *source = &prefetcher->run->source[index];
	struct source *entry = &prefetcher->run->sources.item[index];
	const struct capture_input input = source_capture(entry);
	struct queue *queue = &prefetcher->queue[index];

	queue->prefetcher = prefetcher;
	queue->clock = &source->clock;
	queue->tail_ns = queue->read_ns = NSEC_MIN;
	if (source->is_twice ||
	    !selection_has_node(prefetcher->filter.selection,
				prefetcher->run->node[source->node].name))
		return;
	if (entry->kind == SOURCE_TRACE)
		queue->reader = trace_reader_open(entry->path, &queue->error);
	else
		queue->reader = capture_records_open(&input, &queue->error);
	source->is_read = queue->reader != NULL;
	if (!queue->reader)
		return;
	trace_reader_set_origin(queue->reader, &entry->origin);
	select_events(queue, &prefetcher->filter, entry);
	if (entry->recorded.periods) {
		queue->recorded = entry->recorded;
		memset(&entry->recorded, 0, sizeof(entry->recorded));
	} else {
		trace_reader_recorded(
		    queue->reader,
		    prefetcher->filter.selection->end_ns < NSEC_MAX
			? clock_first_not_before(queue->clock,
						 prefetcher->filter.selection->end_ns)
			: NSEC_MAX,
		    &queue->recorded);
	}
	queue->facts = *trace_reader_facts(queue->reader);
}

static struct recording *find_recording(const struct prefetcher *prefetcher)
{
	AUTOFREE struct recording_source *source =
	    mem_zalloc((prefetcher->count + 1) * sizeof(*source));

	for (size_t i = 0; i < prefetcher->count; i++) {
		const struct queue *queue = &prefetcher->queue[i];

		source[i] = (struct recording_source){queue->reader, queue->class,
						      queue->classes, queue->recorded};
	}
	return recording_new(prefetcher->run, source);
}

struct prefetcher *prefetcher_new(struct merge_run *run,
				  const struct event_filter *filter, int threads,
				  struct recording **recording)
{
	struct prefetcher *prefetcher = mem_zalloc(sizeof(*prefetcher));
	struct read_ahead_config of = {
	    .sources = run->count,
	    .threads = threads,
	    .most_bytes = PREFETCH_BYTES,
	    .block_bytes = BLOCK_BYTES,
	    .read = read_source,
	    .note = note_source,
	    .position = queue_position,
	    .context = prefetcher,
	};

	prefetcher->run = run;
	prefetcher->filter = *filter;
	prefetcher->count = run->count;
	prefetcher->queue = mem_zalloc(run->count * sizeof(*prefetcher->queue) + 1);
	raise_open_file_limit();
	parallel_run(threads, prefetcher->count, open_source, prefetcher);
	*recording = find_recording(prefetcher);
	prefetcher->ahead = read_ahead_new(&of);
	return prefetcher;
}

struct event_class *prefetcher_class(const struct prefetcher *prefetcher, uint32_t source,
				     size_t n)
{
	const struct queue *queue = &prefetcher->queue[source];

	return n < queue->classes ? &queue->class[n] : NULL;
}

const struct row *prefetcher_head(struct prefetcher *prefetcher, uint32_t source)
{
	struct queue *queue = &prefetcher->queue[source];
	const struct read_block *block;

	if (queue->head == queue->end) {
		block = read_ahead_next(prefetcher->ahead, source);
		if (!block)
			return NULL;
		queue->head = block->byte;
		queue->end = block->byte + block->used;
	}
	return (const struct row *)queue->head;
}

void prefetcher_next(struct prefetcher *prefetcher, uint32_t source)
{
	enum { CACHE_LINE = 64, LINES = 6 };
	struct queue *queue = &prefetcher->queue[source];

	queue->head += ((const struct row *)queue->head)->length;
	/* The next row is in the cache of the processor that read it: prefetch it, with
	 * its cells, while rows of other sources are merged. */
	for (size_t i = 1; i <= LINES; i++)
		__builtin_prefetch(queue->head + i * CACHE_LINE);
}

size_t prefetcher_used_bytes(const struct prefetcher *prefetcher)
{
	return read_ahead_used_bytes(prefetcher->ahead);
}

struct read_block *prefetcher_take_used(struct prefetcher *prefetcher)
{
	return read_ahead_take_used(prefetcher->ahead);
}

void prefetcher_reuse(struct prefetcher *prefetcher, struct read_block *used)
{
	read_ahead_reuse(prefetcher->ahead, used);
}

void prefetcher_show(struct prefetcher *prefetcher, uint64_t events,
		     struct progress *progress)
{
	uint64_t bytes = 0, total = 0;

	read_ahead_lock(prefetcher->ahead);
	for (size_t i = 0; i < prefetcher->count; i++) {
		bytes += prefetcher->queue[i].facts.bytes;
		total += prefetcher->queue[i].facts.total_bytes;
	}
	read_ahead_unlock(prefetcher->ahead);
	progress_update(progress, "merging", events, bytes, total);
}

static void report_source(struct prefetcher *prefetcher, size_t index,
			  struct problem_list *problems)
{
	struct merge_source *source = &prefetcher->run->source[index];
	struct queue *queue = &prefetcher->queue[index];
	const char *path = prefetcher->run->sources.item[index].path;

	if (queue->error.text)
		problem_add(problems, "", PROBLEM_UNREADABLE, 1, "%s",
			    error_text(&queue->error));
	error_clear(&queue->error);
	if (!queue->reader)
		return;
	/* If reading ended early, the facts from the synchronization cover more. */
	if (queue->facts.events >= source->facts.events)
		source->facts = queue->facts;
	if (merge_source_is(source, "capture")) {
		trace_recorded_clear(&queue->recorded);
		trace_reader_recorded(queue->reader, NSEC_MAX, &queue->recorded);
		source->loss = queue->recorded.loss;
		source->losses = queue->recorded.losses;
		memset(&queue->recorded, 0, sizeof(queue->recorded));
	}
	problem_move(problems, trace_reader_problems(queue->reader));
	if (queue->backward)
		problem_add(
		    problems, path, PROBLEM_BACKWARD, queue->backward,
		    "%llu corrected timestamps are earlier than the event before, "
		    "whose timestamp is used instead",
		    (unsigned long long)queue->backward);
}

void prefetcher_free(struct prefetcher *prefetcher)
{
	struct problem_list problems = {NULL, 0, 0};

	if (!prefetcher)
		return;
	read_ahead_free(prefetcher->ahead);
	for (size_t i = 0; i < prefetcher->count; i++) {
		report_source(prefetcher, i, &problems);
		row_bytes_clear(&prefetcher->queue[i].made);
		trace_recorded_clear(&prefetcher->queue[i].recorded);
		for (size_t k = 0; k < prefetcher->queue[i].classes; k++)
			event_class_clear(&prefetcher->queue[i].class[k]);
		free(prefetcher->queue[i].class);
		trace_reader_free(prefetcher->queue[i].reader);
	}
	merge_run_report(prefetcher->run, &problems);
	free(prefetcher->queue);
	free(prefetcher);
}
