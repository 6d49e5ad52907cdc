/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/spans/span_rows.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/process.h"
#include "base/sorter.h"
#include "base/spill.h"
#include "merge/spans/spans_private.h"
#include "timeline/rows.h"

enum {
	CHUNK = 8192,                        /* bytes of a chain that wait for the file */
	HELD_MOST = 48 << 20,                /* bytes of all chains together */
	FIXED_MOST = (SPAN_VALUES + 6) * 10, /* bytes of a span without its path */
	VALUES = (1 << SPAN_VALUES) - 1,     /* bits of the values that are known */
	HAS_PATH = SPAN_VALUES,              /* bits after those */
	IS_PRESUMED,
	SORTED_AT_ONCE = 1 << 14, /* 3 MiB */
	HELD_ROWS = 16 << 20,     /* bytes of encoded rows that wait to be added */
};

struct chain {
	enum span_kind kind;
	uint32_t node;
	int64_t whose;
	struct spill_chain log;
	/* the last span; the next is stored as differences */
	nsec_t begin_ns;
	int64_t id;
	bool is_disordered;
};

static uint64_t key_of(enum span_kind kind, uint32_t node, int64_t whose)
{
	return (uint64_t)kind << 62 | (uint64_t)node << 33 | (uint64_t)(whose + 1);
}

static struct chain *chain_of(struct span_log *log, enum span_kind kind, uint32_t node,
			      int64_t whose)
{
	uint64_t key = key_of(kind, node, whose);
	struct chain *chain;
	int64_t at;

	if (intmap_get(&log->index, key, &at))
		return &log->chain[at];
	intmap_put(&log->index, key, (int64_t)log->chains);
	chain = MEM_NEXT(log->chain, log->chains, log->capacity);
	*chain = (struct chain){
	    .kind = kind, .node = node, .whose = whose, .begin_ns = NSEC_MIN};
	return chain;
}

/* Many threads with few spans each: all of them go to the file. */
static int spill_all(struct span_log *log, struct error *error)
{
	for (size_t i = 0; i < log->chains; i++) {
		if (spill_chain_close(&log->chain[i].log, &log->spill, error))
			return -1;
		bytes_clear(&log->chain[i].log.open);
	}
	log->held = 0;
	return 0;
}

/* Differences of times that may be anything wrap round. */
static void pack_span(struct chain *chain, const struct span *span)
{
	uint64_t begin = chain->begin_ns == NSEC_MIN ? 0 : (uint64_t)chain->begin_ns;
	uint32_t known = (uint32_t)(span->path != NULL) << HAS_PATH |
			 (uint32_t)span->is_presumed << IS_PRESUMED;
	struct bytes *to = &chain->log.open;

	for (int i = 0; i < SPAN_VALUES; i++)
		known |= (uint32_t)(span->value[i] != TIMELINE_NONE) << i;
	bytes_add_varint(to, known);
	bytes_add_zigzag(to, (int64_t)((uint64_t)span->begin_ns - begin));
	bytes_add_varint(to, (uint64_t)span->end_ns - (uint64_t)span->begin_ns);
	bytes_add_varint(to, (uint64_t)(span->id - chain->id));
	for (uint32_t rest = known & VALUES; rest; rest &= rest - 1)
		bytes_add_zigzag(to, span->value[__builtin_ctz(rest)]);
	if (!span->path)
		return;
	bytes_add_varint(to, span->path_size);
	bytes_add(to, span->path, span->path_size);
}

/* `before`: the span before it in the chain, which it replaces. */
static void unpack_span(struct span *before, struct bytes_cursor *from)
{
	uint64_t known = bytes_read_varint(from);
	uint64_t begin = (uint64_t)before->begin_ns + (uint64_t)bytes_read_zigzag(from);

	before->begin_ns = (nsec_t)begin;
	before->end_ns = (nsec_t)(begin + bytes_read_varint(from));
	before->id += (int64_t)bytes_read_varint(from);
	for (int i = 0; i < SPAN_VALUES; i++)
		before->value[i] = TIMELINE_NONE;
	for (uint64_t rest = known & VALUES; rest; rest &= rest - 1)
		before->value[__builtin_ctzll(rest)] = bytes_read_zigzag(from);
	before->is_presumed = known >> IS_PRESUMED & 1;
	before->path = NULL;
	if (!(known >> HAS_PATH & 1))
		return;
	before->path_size = (size_t)bytes_read_varint(from);
	before->path = (const char *)bytes_read(from, before->path_size);
}

static int append_span(struct span_log *log, struct chain *chain, struct span *span,
		       struct error *error)
{
	size_t size = FIXED_MOST + (span->path ? span->path_size : 0), capacity;

	if ((log->held > HELD_MOST && spill_all(log, error)) ||
	    (chain->log.open.size + size > CHUNK &&
	     spill_chain_close(&chain->log, &log->spill, error)))
		return -1;
	capacity = chain->log.open.capacity;
	span->id = ++log->ids[chain->kind];
	pack_span(chain, span);
	log->held += chain->log.open.capacity - capacity;
	chain->is_disordered |= span->begin_ns < chain->begin_ns;
	chain->begin_ns = span->begin_ns;
	chain->id = span->id;
	return 0;
}

void spans_add(struct spans *spans, enum span_kind kind, uint32_t node, int64_t whose,
	       struct span *span)
{
	assert(whose >= -1 && whose <= UINT32_MAX);
	if (span->end_ns < span->begin_ns)
		span->end_ns = span->begin_ns;
	if (!spans->failed)
		spans->failed =
		    append_span(&spans->log, chain_of(&spans->log, kind, node, whose),
				span, spans->error);
}

void span_log_clear(struct span_log *log)
{
	for (size_t i = 0; i < log->chains; i++)
		spill_chain_clear(&log->chain[i].log);
	free(log->chain);
	intmap_clear(&log->index);
	spill_clear(&log->spill);
}

/* Reading a chain back. */
struct reading {
	const struct spans *spans;
	const struct chain *chain;
	span_fn *on_span;
	void *context;
	struct error *error;
	struct sorter *sorter; /* sorts its spans; NULL if they are in order */
	struct texts paths;    /* paths of spans in the sorter */
};

/* Return true if a processor that appeared later may have run the thread (threads.c). */
static bool is_refuted(const struct reading *reading, const struct span *span)
{
	return span->is_presumed &&
	       reading->spans->node[reading->chain->node].new_cpu_ns > span->end_ns;
}

/* Add a span to those to sort, which outlive its chunk. */
static int sort_span(struct reading *reading, struct span span)
{
	if (span.path)
		span.path =
		    texts_get(&reading->paths, texts_put_bytes(&reading->paths, span.path,
							       span.path_size));
	return sorter_add(reading->sorter, &span, reading->error);
}

static int pass_span(void *context, const void *item)
{
	struct reading *reading = context;

	return reading->on_span(reading->context, item);
}

static int read_chunks(struct reading *reading)
{
	const struct spill_chain *log = &reading->chain->log;
	struct span span = {.begin_ns = 0};
	struct bytes memory = {0};
	struct bytes_cursor from;
	int status = 0;

	for (size_t n = 0; n <= log->chunks && !status; n++) {
		status = spill_chain_read(log, &reading->spans->log.spill, n, &memory,
					  &from, reading->error);
		while (!status && from.at < from.end) {
			unpack_span(&span, &from);
			assert(!from.is_bad);
			if (!is_refuted(reading, &span))
				status = reading->sorter ? sort_span(reading, span)
							 : pass_span(reading, &span);
		}
	}
	bytes_clear(&memory);
	return status;
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *p = a, *q = b;

	return COMPARE(p->begin_ns, q->begin_ns) ?: COMPARE(p->id, q->id);
}

/* Pass the spans of a chain that become rows, in their order. Return 0, what `on_span`
 * returned, or -1 with error. */
static int read_chain(const struct spans *spans, const struct chain *chain,
		      span_fn *on_span, void *context, struct error *error)
{
	struct reading reading = {.spans = spans,
				  .chain = chain,
				  .on_span = on_span,
				  .context = context,
				  .error = error};
	int status;

	if (!chain->is_disordered)
		return read_chunks(&reading);
	reading.sorter = sorter_new(sizeof(struct span), SORTED_AT_ONCE, compare_spans);
	status = read_chunks(&reading);
	if (!status)
		status = sorter_each(reading.sorter, pass_span, &reading, error);
	sorter_free(reading.sorter);
	texts_clear(&reading.paths);
	return status;
}

int spans_read(const struct spans *spans, enum span_kind kind, uint32_t node,
	       int64_t whose, span_fn *on_span, void *context, struct error *error)
{
	int64_t at;

	if (whose > UINT32_MAX ||
	    !intmap_get(&spans->log.index, key_of(kind, node, whose), &at))
		return 0;
	return read_chain(spans, &spans->log.chain[at], on_span, context, error);
}

/* From the log to the tables of the timeline. */
enum { MINOR_BITS = 20 /* bits of the kernel's dev_t */ };

/* The place of a column in a row. */
#define PLACE(table, column) (offsetof(struct timeline_##table, column) / sizeof(int64_t))
#define PLACES(table, whose)                                                             \
	sizeof(struct timeline_##table) / sizeof(int64_t), PLACE(table, id),             \
	    PLACE(table, node), PLACE(table, whose), PLACE(table, begin_ns),             \
	    PLACE(table, duration_ns)

/* The columns that all tables have; spans of threads also have the thread and its name.
 */
static const struct span_table {
	enum timeline_table_id id;
	size_t values, at_id, at_node, at_whose, at_begin, at_duration, at_thread,
	    at_comm;
} tables[SPAN_KINDS] = {
    [SPAN_THREAD] = {TIMELINE_THREAD_STATE, PLACES(thread_state, tid),
		     PLACE(thread_state, thread), PLACE(thread_state, comm)},
    [SPAN_SYSCALL] = {TIMELINE_SYSCALL, PLACES(syscall, tid), PLACE(syscall, thread),
		      PLACE(syscall, comm)},
    [SPAN_INTERRUPT] = {TIMELINE_IRQ, PLACES(irq, cpu), 0, 0},
    [SPAN_DISK] = {TIMELINE_BLOCK_REQUEST, PLACES(block_request, dev),
		   PLACE(block_request, thread), PLACE(block_request, comm)},
};

/*
 * Several threads encode rows, each those of a chain at a time, but rows are added in
 * order: the thread of the first chain that is not yet added adds its rows as it goes,
 * and finally those of the next chains, as far as other threads have finished them.
 */
struct span_writer {
	struct spans_write_config of;
	const struct spans *spans;
	const struct chain **chain; /* in the order of their rows */
	pthread_mutex_t lock;       /* guards the rest */
	pthread_cond_t changed;
	struct writing **finished; /* by chain; NULL: not yet, or added already */
	size_t turn;               /* the first chain that is not yet added */
	size_t held;               /* bytes of rows that wait to be added */
	int status;                /* of the first chain that failed */
	struct error *error;
};

/* A chain that is being written. */
struct writing {
	struct span_writer *all;
	const struct spans *spans;
	size_t at;
	const struct chain *chain;
	const struct span_table *table;
	char disk[48];
	struct cell cell[SPAN_VALUES]; /* the last row's */
	struct row_bytes row;
	struct bytes rows; /* that wait to be added: each its size and its bytes */
	size_t held;       /* bytes of these that span_writer counts */
	int status;
	struct error error;
};

static struct cell cell_of(int64_t value)
{
	return (struct cell){.type = value == TIMELINE_NONE ? CELL_NULL : CELL_INTEGER,
			     .integer = value};
}

static const char *text_of(const struct writing *writing, int64_t value)
{
	return value == TIMELINE_NONE ? NULL
				      : texts_get(&writing->spans->texts, (size_t)value);
}

const char *span_wait_name(int64_t wait)
{
	static const char *const names[] = {NULL,      "thread", "disk",
					    "network", "timer",  "interrupt"};

	return wait == TIMELINE_NONE ? NULL : names[wait];
}

/* Set the thread that had the number at that time, and its name if it differed. */
static void set_thread(const struct writing *writing, const struct span *span,
		       int64_t tid, struct cell *cell)
{
	const struct span_table *table = writing->table;
	const char *comm = text_of(writing, span->value[table->at_comm]), *now = NULL;
	int64_t thread =
	    tid < 0 ? 0
		    : processes_thread(writing->all->of.processes, writing->chain->node,
				       tid, span->begin_ns, &now);

	cell[table->at_thread] = cell_of(thread ? thread : TIMELINE_NONE);
	cell[table->at_comm] =
	    cell_of_text(comm && now && strcmp(comm, now) == 0 ? NULL : comm);
}

/* Return the disk's name, "vda", or its numbers, "254:0", without a statedump. */
static const char *disk_name(struct writing *writing)
{
	const struct span_node *node = &writing->spans->node[writing->chain->node];
	int64_t dev = writing->chain->whose;

	for (size_t i = 0; i < node->disks; i++)
		if (node->disk[i].dev == dev && node->disk[i].name != TIMELINE_NONE)
			return text_of(writing, node->disk[i].name);
	snprintf(writing->disk, sizeof(writing->disk), "%" PRId64 ":%" PRId64,
		 dev >> MINOR_BITS, dev & ((1 << MINOR_BITS) - 1));
	return writing->disk;
}

static struct interrupt_source source_of(const struct spans *spans, size_t number)
{
	struct interrupt_source source;

	memcpy(&source, texts_get(&spans->sources, number), sizeof(source));
	return source;
}

static const char *handler_of(const struct spans *spans,
			      const struct interrupt_source *source)
{
	return source->name < 0 ? "" : texts_get(&spans->texts, (size_t)source->name);
}

static void set_source(const struct writing *writing, struct cell *cell)
{
	const struct interrupt_source source =
	    source_of(writing->spans, (size_t)writing->chain->whose);

	cell[PLACE(irq, cpu)] = cell_of(source.cpu);
	cell[PLACE(irq, kind)] = cell_of_text(source.is_soft ? "softirq" : "irq");
	cell[PLACE(irq, number)] = cell_of(source.number);
	cell[PLACE(irq, handler)] = cell_of_text(handler_of(writing->spans, &source));
}

static void set_texts(struct writing *writing, const struct span *span, struct cell *cell)
{
	const struct chain *chain = writing->chain;

	switch (chain->kind) {
	case SPAN_THREAD:
		cell[PLACE(thread_state, wait)] =
		    cell_of_text(span_wait_name(span->state.wait));
		if (span->state.wait_assumed == TIMELINE_NONE)
			cell[PLACE(thread_state, wait_assumed)] = cell_of(0);
		set_thread(writing, span, chain->whose, cell);
		cell[PLACE(thread_state, syscall)] =
		    cell_of_text(text_of(writing, span->state.syscall));
		break;
	case SPAN_SYSCALL:
		set_thread(writing, span, chain->whose, cell);
		cell[PLACE(syscall, name)] =
		    cell_of_text(text_of(writing, span->syscall.name));
		if (span->path)
			cell_set_bytes(&cell[PLACE(syscall, path)], CELL_TEXT, span->path,
				       span->path_size);
		break;
	case SPAN_DISK:
		set_thread(writing, span, span->disk.tid, cell);
		cell[PLACE(block_request, disk)] = cell_of_text(disk_name(writing));
		cell[PLACE(block_request, operation)] =
		    cell_of_text(text_of(writing, span->disk.operation));
		break;
	case SPAN_INTERRUPT:
		set_source(writing, cell);
		break;
	case SPAN_KINDS:
		break;
	}
}

/* Add the rows that wait, in the chain's turn. Return 0, or -1 with error. */
static int add_rows(struct writing *writing)
{
	struct span_writer *all = writing->all;
	const struct bytes *rows = &writing->rows;
	int status = 0;

	for (size_t at = 0; at < rows->size && !status;) {
		struct row_bytes row = {.bytes = rows->data + at + sizeof(row.size)};

		memcpy(&row.size, rows->data + at, sizeof(row.size));
		at += sizeof(row.size) + row.size;
		status = timeline_add_made_row(all->of.writer, writing->table->id,
					       writing->cell, &row, &writing->error);
	}
	writing->rows.size = 0;
	pthread_mutex_lock(&all->lock);
	all->held -= writing->held;
	writing->held = 0;
	pthread_cond_broadcast(&all->changed);
	pthread_mutex_unlock(&all->lock);
	return status;
}

/* Add the rows that wait if it is the chain's turn, or if too many wait, when it is.
 * Return 0, or -1 with error. */
static int add_or_hold_rows(struct writing *writing)
{
	struct span_writer *all = writing->all;
	bool is_turn;

	pthread_mutex_lock(&all->lock);
	all->held += writing->rows.size - writing->held;
	writing->held = writing->rows.size;
	while (all->turn != writing->at && all->held > HELD_ROWS)
		pthread_cond_wait(&all->changed, &all->lock);
	is_turn = all->turn == writing->at;
	pthread_mutex_unlock(&all->lock);
	return is_turn ? add_rows(writing) : 0;
}

static int write_span(void *context, const struct span *span)
{
	enum { AT_ONCE = 1 << 16 };
	struct writing *writing = context;
	const struct span_table *table = writing->table;
	const struct row_bytes *row = &writing->row;
	struct cell *cell = writing->cell;

	for (size_t i = 0; i < table->values; i++)
		cell[i] = cell_of(span->value[i]);
	cell[table->at_id] = cell_of(span->id);
	cell[table->at_node] = cell_of(writing->spans->node[writing->chain->node].node);
	cell[table->at_whose] = cell_of(writing->chain->whose);
	cell[table->at_begin] = cell_of(span->begin_ns);
	cell[table->at_duration] = cell_of(nsec_sub(span->end_ns, span->begin_ns));
	set_texts(writing, span, cell);
	timeline_make_row(writing->all->of.writer, table->id, cell, &writing->row);
	bytes_add(&writing->rows, &row->size, sizeof(row->size));
	bytes_add(&writing->rows, row->bytes, row->size);
	return writing->rows.size - writing->held > AT_ONCE ? add_or_hold_rows(writing)
							    : 0;
}

/* Add the last rows of a chain in its turn, and free it. */
static void finish_chain(struct writing *writing)
{
	struct span_writer *all = writing->all;

	if (!writing->status)
		writing->status = add_rows(writing);
	if (writing->status && !all->status)
		all->status = error_set(all->error, "%s", error_text(&writing->error));
	row_bytes_clear(&writing->row);
	bytes_clear(&writing->rows);
	error_clear(&writing->error);
	free(writing);
}

static void write_chain(struct span_writer *all, size_t at)
{
	struct writing *writing = mem_zalloc(sizeof(*writing));

	*writing = (struct writing){.all = all,
				    .spans = all->spans,
				    .at = at,
				    .chain = all->chain[at],
				    .table = &tables[all->chain[at]->kind]};
	writing->status =
	    read_chain(all->spans, writing->chain, write_span, writing, &writing->error);
	if (!writing->status)
		writing->status = add_or_hold_rows(writing);
	pthread_mutex_lock(&all->lock);
	all->finished[at] = writing;
	for (; all->turn == at && (writing = all->finished[at]); at++) {
		pthread_mutex_unlock(&all->lock);
		finish_chain(writing);
		pthread_mutex_lock(&all->lock);
		all->finished[at] = NULL;
		all->turn++;
		pthread_cond_broadcast(&all->changed);
	}
	pthread_mutex_unlock(&all->lock);
}

/* As the key of `irq` has them: kind, number, handler, processor. */
static int compare_sources(const struct spans *spans, size_t a, size_t b)
{
	const struct interrupt_source p = source_of(spans, a);
	const struct interrupt_source q = source_of(spans, b);

	return COMPARE(p.is_soft, q.is_soft) ?:
	       COMPARE(p.number, q.number) ?:
	       strcmp(handler_of(spans, &p), handler_of(spans, &q)) ?:
	       COMPARE(p.cpu, q.cpu);
}

static int compare_chains(const void *a, const void *b, void *spans)
{
	const struct chain *p = *(const struct chain *const *)a;
	const struct chain *q = *(const struct chain *const *)b;

	if (p->kind != q->kind)
		return COMPARE(p->kind, q->kind);
	if (p->node == q->node && p->kind == SPAN_INTERRUPT)
		return compare_sources(spans, (size_t)p->whose, (size_t)q->whose);
	return COMPARE(p->node, q->node) ?: COMPARE(p->whose, q->whose);
}

static void run_job(void *context, size_t index)
{
	struct span_writer *all = context;

	if (index == 0 && all->of.beside)
		all->of.beside(all->of.context);
	else if (index > 0)
		write_chain(all, index - 1);
}

int spans_write(const struct spans *spans, const struct spans_write_config *of,
		struct error *error)
{
	const struct span_log *log = &spans->log;
	struct span_writer all = {
	    .of = *of,
	    .spans = spans,
	    .chain = mem_zalloc((log->chains + 1) * sizeof(const struct chain *)),
	    .finished = mem_zalloc((log->chains + 1) * sizeof(*all.finished)),
	    .error = error};

	for (size_t i = 0; i < log->chains; i++)
		all.chain[i] = &log->chain[i];
	qsort_r(all.chain, log->chains, sizeof(const struct chain *), compare_chains,
		(void *)spans);
	pthread_mutex_init(&all.lock, NULL);
	pthread_cond_init(&all.changed, NULL);
	parallel_run(of->threads, 1 + log->chains, run_job, &all);
	pthread_mutex_destroy(&all.lock);
	pthread_cond_destroy(&all.changed);
	free(all.chain);
	free(all.finished);
	return all.status;
}
