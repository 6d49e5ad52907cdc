/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/feed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "base/process.h"
#include "input/same.h"

enum {
	ROW_BYTES = 256,        /* of an event with its fields, more than most have */
	BLOCK_BYTES = 64 << 10, /* but for a block with a single larger row */
};

struct block {
	struct block *next;
	size_t size, used;
	_Alignas(struct row) char byte[];
};

struct queue {
	struct ctf_reader *records; /* NULL: not read */
	const struct clock *clock;
	struct event_class *class; /* by index */
	size_t classes;
	struct ctf_facts facts;      /* as of the last step */
	struct block *first, **last; /* read and not used up */
	struct block *current;       /* the first, for the merging thread */
	size_t at;                   /* offset of the head in it */
	nsec_t tail_ns;              /* of the last row read */
	uint64_t backward;
	bool busy, ended;
};

struct feed {
	struct merge_run *run;
	struct event_wish wish;
	int most_threads;
	struct queue *queue; /* one a source of the run */
	size_t count;
	pthread_t *thread;
	int threads;
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	struct block *spare;
	size_t bytes;   /* in all queues */
	int idle;       /* threads that wait for `emptied` */
	bool is_wanted; /* the merging thread waits for `filled` */
	bool stop;
};

/* What one step of one source gives. */
struct filling {
	struct feed *feed;
	struct queue *queue;
	struct block *first, **last, *end;
	struct row_bytes *row; /* the thread's */
	size_t bytes;
	bool is_end;
};

static struct block *take_block(struct feed *feed, size_t size)
{
	struct block *block = NULL;

	if (size <= BLOCK_BYTES) {
		size = BLOCK_BYTES;
		pthread_mutex_lock(&feed->lock);
		block = feed->spare;
		if (block)
			feed->spare = block->next;
		pthread_mutex_unlock(&feed->lock);
	}
	if (!block)
		block = mem_alloc(sizeof(*block) + size);
	block->next = NULL;
	block->size = size;
	block->used = 0;
	return block;
}

static bool has_bytes(const struct cell *cell)
{
	return cell->type == CELL_TEXT || cell->type == CELL_BLOB;
}

/* The bytes of a row with its cells. */
static size_t row_size(const struct row *row)
{
	const struct cell *cell = row->record.cell;
	size_t size = sizeof(*row) + row->bytes.size;
	size_t columns = cell ? row->class->of->columns : 0;

	size += columns * sizeof(*cell);
	for (size_t i = 0; i < columns; i++)
		if (has_bytes(&cell[i]))
			size += cell[i].size;
	return (size + _Alignof(struct row) - 1) / _Alignof(struct row) *
	       _Alignof(struct row);
}

/* Copy a row to the end of a block, where there is room for `size` bytes, by row_size. */
static void copy_row(struct block *block, const struct row *row, size_t size)
{
	struct row *copy = (struct row *)(block->byte + block->used);
	struct cell *cell = (struct cell *)(copy + 1);
	size_t columns = row->record.cell ? row->class->of->columns : 0;
	char *bytes = (char *)(cell + columns);

	*copy = *row;
	copy->length = (uint32_t)size;
	block->used += size;
	if (row->bytes.bytes) {
		copy->bytes.bytes = (unsigned char *)bytes;
		memcpy(bytes, row->bytes.bytes, row->bytes.size);
		bytes += row->bytes.size;
	}
	if (!row->record.cell)
		return;
	copy->record.cell = cell;
	memcpy(cell, row->record.cell, columns * sizeof(*cell));
	for (size_t i = 0; i < columns; i++) {
		if (!has_bytes(&cell[i]))
			continue;
		memcpy(bytes, cell[i].bytes, cell[i].size);
		cell[i].bytes = bytes;
		bytes += cell[i].size;
	}
}

static void append(struct filling *filling, const struct row *row)
{
	size_t size = row_size(row);
	struct block *block = filling->end;

	if (!block || size > block->size - block->used) {
		block = take_block(filling->feed, size);
		*filling->last = filling->end = block;
		filling->last = &block->next;
		filling->bytes += block->size;
	}
	copy_row(block, row, size);
}

static void take_record(void *context, const struct ctf_event *record)
{
	struct filling *filling = context;
	struct queue *queue = filling->queue;
	struct row row = {.ts_ns = clock_correct(queue->clock, record->local_ns),
			  .class = &queue->class[record->class],
			  .record = *record};
	bool is_backward = row.ts_ns < queue->tail_ns;
	unsigned use;

	if (is_backward)
		row.ts_ns = queue->tail_ns;
	queue->tail_ns = row.ts_ns;
	use = event_class_use(row.class, filling->feed->wish.selection, row.ts_ns);
	if (!use)
		return;
	row.selected = use & EVENT_SELECTED;
	queue->backward += row.selected && is_backward;
	if (use & EVENT_PAYLOAD && record->cell) {
		row_bytes_make(filling->row, row.class->type, record->cell,
			       row.class->columns);
		row.bytes.bytes = filling->row->bytes;
		row.bytes.size = filling->row->size;
	}
	if (!(use & EVENT_CELLS))
		row.record.cell = NULL;
	append(filling, &row);
}

/*
 * The source to read next, or NULL. One with nothing that waits keeps the merge
 * from going on, so it is read even if too much waits already.
 */
static struct queue *most_needed(struct feed *feed)
{
	bool is_full = feed->bytes >= FEED_BYTES;
	struct queue *best = NULL;

	for (size_t i = 0; i < feed->count; i++) {
		struct queue *queue = &feed->queue[i];

		if (queue->busy || queue->ended || (is_full && queue->first))
			continue;
		if (!best || (!queue->first && best->first) ||
		    (!queue->first == !best->first && queue->tail_ns < best->tail_ns))
			best = queue;
	}
	return best;
}

/* Read a step; without the lock, as nobody else touches a busy source. */
static void read_step(struct filling *filling)
{
	struct queue *queue = filling->queue;
	struct feed *feed = filling->feed;
	uint64_t most = FEED_BYTES / ROW_BYTES / feed->count;

	filling->is_end = !ctf_reader_step(queue->records, most, take_record, filling) ||
			  queue->tail_ns > feed->wish.selection->end_ns;
}

static void hand_over(struct filling *filling)
{
	struct feed *feed = filling->feed;
	struct queue *queue = filling->queue;

	queue->facts = *ctf_reader_facts(queue->records);
	queue->busy = false;
	queue->ended = filling->is_end;
	feed->bytes += filling->bytes;
	if (filling->first) {
		*queue->last = filling->first;
		queue->last = filling->last;
	}
	if (feed->is_wanted)
		pthread_cond_signal(&feed->filled);
}

static void wait_idly(struct feed *feed)
{
	feed->idle++;
	pthread_cond_wait(&feed->emptied, &feed->lock);
	feed->idle--;
}

static void *work(void *context)
{
	struct feed *feed = context;
	struct row_bytes row = {0};

	pthread_mutex_lock(&feed->lock);
	while (!feed->stop) {
		struct queue *queue = most_needed(feed);
		struct filling filling = {.feed = feed, .queue = queue, .row = &row};

		if (!queue) {
			wait_idly(feed);
			continue;
		}
		queue->busy = true;
		filling.last = &filling.first;
		pthread_mutex_unlock(&feed->lock);
		read_step(&filling);
		pthread_mutex_lock(&feed->lock);
		hand_over(&filling);
	}
	pthread_mutex_unlock(&feed->lock);
	row_bytes_clear(&row);
	return NULL;
}

/* What lies before the selection's begin need not be decoded, but for some classes. */
static void select_events(struct queue *queue, const struct event_wish *wish)
{
	bool has_begin = wish->selection->begin_ns > NSEC_MIN;

	while (ctf_reader_class(queue->records, (uint32_t)queue->classes))
		queue->classes++;
	queue->class = mem_zalloc(queue->classes * sizeof(*queue->class));
	for (uint32_t i = 0; i < queue->classes; i++) {
		struct event_class *class = &queue->class[i];
		struct ctf_selection wanted = {.what = SELECT_EVENTS};

		event_class_init(class, ctf_reader_columns(queue->records, i), wish);
		if (event_class_wants_cells(class))
			wanted.what = SELECT_COLUMNS;
		if (has_begin)
			wanted.before = event_class_use_before(class);
		ctf_reader_select(queue->records, i, &wanted);
	}
	if (has_begin)
		ctf_reader_begin(
		    queue->records,
		    clock_first_not_before(queue->clock, wish->selection->begin_ns));
}

struct opening {
	struct feed *feed;
	struct error *error; /* one a source */
};

/* Metadata takes milliseconds, so traces are opened in parallel. */
static void open_source(void *context, size_t index)
{
	struct opening *opening = context;
	struct feed *feed = opening->feed;
	struct error *error = &opening->error[index];
	struct merge_source *source = &feed->run->source[index];
	struct source *entry = &feed->run->sources.item[source->entry];
	struct queue *queue = &feed->queue[index];

	queue->last = &queue->first;
	queue->clock = &source->clock;
	queue->tail_ns = NSEC_MIN;
	queue->ended = true;
	if (source->is_twice ||
	    !selection_has_node(feed->wish.selection, feed->run->node[source->node].name))
		return;
	if (entry->kind == SOURCE_TRACE)
		queue->records = ctf_reader_open(entry->path, entry->reader, error);
	else
		queue->records = capture_records_open(entry->path, error);
	source->is_read = queue->records != NULL;
	queue->ended = !queue->records;
	if (!queue->records)
		return;
	select_events(queue, &feed->wish);
	queue->facts = *ctf_reader_facts(queue->records);
}

static void open_sources(struct feed *feed, struct problem_list *problems)
{
	struct opening opening = {feed, mem_zalloc(feed->count * sizeof(struct error))};

	limits_allow_files();
	parallel_run(feed->most_threads, feed->count, open_source, &opening);
	for (size_t i = 0; i < feed->count; i++) {
		if (opening.error[i].text)
			problem_add(problems, "", "unreadable", 1, "%s",
				    error_text(&opening.error[i]));
		error_clear(&opening.error[i]);
	}
	free(opening.error);
}

/* Signals are for the thread that merges, which knows what to clean up. */
static int start_threads(struct feed *feed, struct error *error)
{
	sigset_t before;

	feed->thread = mem_zalloc((size_t)feed->most_threads * sizeof(*feed->thread));
	signals_hold(&before);
	while (feed->threads < feed->most_threads &&
	       (size_t)feed->threads < feed->count &&
	       pthread_create(&feed->thread[feed->threads], NULL, work, feed) == 0)
		feed->threads++;
	signals_release(&before);
	if (feed->threads || !feed->count)
		return 0;
	return error_set(error, "no thread to read with, the system has too many");
}

struct feed *feed_new(struct merge_run *run, const struct event_wish *wish, int threads,
		      struct error *error)
{
	struct feed *feed = mem_zalloc(sizeof(*feed));
	struct problem_list problems = {NULL, 0, 0};

	feed->run = run;
	feed->wish = *wish;
	feed->most_threads = threads;
	feed->count = run->count;
	feed->queue = mem_zalloc(run->count * sizeof(*feed->queue));
	pthread_mutex_init(&feed->lock, NULL);
	pthread_cond_init(&feed->filled, NULL);
	pthread_cond_init(&feed->emptied, NULL);
	open_sources(feed, &problems);
	merge_run_tell(run, &problems);
	if (start_threads(feed, error) == 0)
		return feed;
	feed_free(feed);
	return NULL;
}

/* The first block is used up: make the next one the first, and wait for it. */
static void next_block(struct feed *feed, struct queue *queue)
{
	struct block *used = queue->current;

	pthread_mutex_lock(&feed->lock);
	if (used) {
		queue->first = used->next;
		if (!queue->first)
			queue->last = &queue->first;
		feed->bytes -= used->size;
		if (used->size == BLOCK_BYTES) {
			used->next = feed->spare;
			feed->spare = used;
		} else {
			free(used);
		}
		if (feed->idle)
			pthread_cond_signal(&feed->emptied);
	}
	feed->is_wanted = true;
	while (!queue->first && !queue->ended)
		pthread_cond_wait(&feed->filled, &feed->lock);
	feed->is_wanted = false;
	queue->current = queue->first;
	pthread_mutex_unlock(&feed->lock);
	queue->at = 0;
}

static const struct row *head_of(const struct queue *queue)
{
	return (const struct row *)(queue->current->byte + queue->at);
}

const struct row *feed_head(struct feed *feed, uint32_t source)
{
	struct queue *queue = &feed->queue[source];

	if (!queue->current)
		next_block(feed, queue);
	return queue->current ? head_of(queue) : NULL;
}

void feed_facts(struct feed *feed, uint32_t source, struct ctf_facts *facts)
{
	pthread_mutex_lock(&feed->lock);
	*facts = feed->queue[source].facts;
	pthread_mutex_unlock(&feed->lock);
}

bool feed_share_clock(struct feed *feed, uint32_t a, uint32_t b)
{
	bool same;

	pthread_mutex_lock(&feed->lock);
	same = same_clock_identity(&feed->queue[a].facts, &feed->queue[b].facts);
	pthread_mutex_unlock(&feed->lock);
	return same;
}

void feed_next(struct feed *feed, uint32_t source)
{
	struct queue *queue = &feed->queue[source];

	queue->at += head_of(queue)->length;
	if (queue->at == queue->current->used)
		next_block(feed, queue);
}

void feed_show(struct feed *feed, uint64_t events, struct progress *progress)
{
	uint64_t bytes = 0, total = 0;

	pthread_mutex_lock(&feed->lock);
	for (size_t i = 0; i < feed->count; i++) {
		bytes += feed->queue[i].facts.bytes;
		total += feed->queue[i].facts.total_bytes;
	}
	pthread_mutex_unlock(&feed->lock);
	progress_update(progress, "merging", events, bytes, total);
}

static void free_blocks(struct block *block)
{
	while (block) {
		struct block *next = block->next;

		free(block);
		block = next;
	}
}

static void take_over(struct feed *feed, size_t index, struct problem_list *problems)
{
	struct merge_source *source = &feed->run->source[index];
	struct queue *queue = &feed->queue[index];
	const char *path = feed->run->sources.item[source->entry].path;

	if (!queue->records)
		return;
	/* Where reading ended early, the synchronization knows more. */
	if (queue->facts.events >= source->facts.events)
		source->facts = queue->facts;
	problem_move(problems, ctf_reader_problems(queue->records));
	if (queue->backward)
		problem_add(problems, path, "backward", queue->backward,
			    "%llu corrected stamps are before that of the event ahead, "
			    "which they got instead",
			    (unsigned long long)queue->backward);
}

void feed_free(struct feed *feed)
{
	struct problem_list problems = {NULL, 0, 0};

	if (!feed)
		return;
	pthread_mutex_lock(&feed->lock);
	feed->stop = true;
	pthread_cond_broadcast(&feed->emptied);
	pthread_mutex_unlock(&feed->lock);
	for (int i = 0; i < feed->threads; i++)
		pthread_join(feed->thread[i], NULL);
	for (size_t i = 0; i < feed->count; i++) {
		take_over(feed, i, &problems);
		free_blocks(feed->queue[i].first);
		for (size_t k = 0; k < feed->queue[i].classes; k++)
			event_class_clear(&feed->queue[i].class[k]);
		free(feed->queue[i].class);
		ctf_reader_free(feed->queue[i].records);
	}
	merge_run_tell(feed->run, &problems);
	free_blocks(feed->spare);
	pthread_mutex_destroy(&feed->lock);
	pthread_cond_destroy(&feed->filled);
	pthread_cond_destroy(&feed->emptied);
	free(feed->thread);
	free(feed->queue);
	free(feed);
}
