/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "merge/spans/spans_private.h"
#include "timeline/rows.h"

/* From the log to the tables of the timeline. */
enum { COLUMNS_MOST = 24, MINOR_BITS = 20 /* of the kernel's dev_t */ };

enum value_kind { NUMBER, TEXT, SPECIAL /* by the kind of span */ };

/* A table: the columns that all have stand in front of those of `value`. */
static const struct span_table {
	const char *name, *whose;
	int comm; /* place in `value`; -1: it is of no thread */
	size_t values;
	struct {
		const char *name;
		enum value_kind kind;
	} value[SPAN_VALUES];
} tables[SPAN_KINDS] = {
#define ROW(value, column, kind) [value] = {column, kind},
    [SPAN_THREAD] =
	{"thread_state", "tid", THREAD_COMM, THREAD_PRESUMED, {THREAD_COLUMNS(ROW)}},
    [SPAN_SYSCALL] = {"syscall", "tid", CALL_COMM, CALL_VALUES, {CALL_COLUMNS(ROW)}},
    [SPAN_INTERRUPT] = {"irq", "cpu", -1, IRQ_VALUES, {IRQ_COLUMNS(ROW)}},
    [SPAN_DISK] = {"block_request", "dev", DISK_COMM, DISK_VALUES, {DISK_COLUMNS(ROW)}},
};

/* In front of the values. */
enum { AT_NODE, AT_WHOSE, AT_BEGIN, AT_ID, AT_DURATION, AT_VALUES };

struct writing {
	const struct spans *spans;
	const struct processes *processes;
	const struct span_table *table;
	struct timeline_table *to;
	struct error *error;
	char disk[48];
};

static struct cell cell_of(int64_t value)
{
	return (struct cell){.type = value == SPAN_NONE ? CELL_NULL : CELL_INTEGER,
			     .integer = value};
}

static struct cell cell_of_text(const char *text)
{
	if (!text || !*text)
		return (struct cell){.type = CELL_NULL};
	return (struct cell){
	    .type = CELL_TEXT, .size = (uint32_t)strlen(text), .bytes = text};
}

static const char *text_of(const struct writing *writing, int64_t value)
{
	return value == SPAN_NONE ? NULL
				  : texts_get(&writing->spans->texts, (size_t)value);
}

/* A system call's class may end where its name should be. */
static struct cell cell_of_word(const struct writing *writing, int64_t value)
{
	const char *text = text_of(writing, value);
	struct cell cell = cell_of_text(text);

	return text && !*text ? (struct cell){.type = CELL_TEXT, .bytes = ""} : cell;
}

const char *span_wait_name(enum span_wait wait)
{
	static const char *const names[] = {NULL,      "thread", "disk",
					    "network", "timer",  "interrupt"};

	return names[wait];
}

/* Which thread had the number then, and its name where that was another one. */
static void set_thread(const struct writing *writing, uint32_t node,
		       const struct span *span, int64_t tid, struct cell *cell)
{
	const struct span_table *table = writing->table;
	const char *comm = text_of(writing, span->value[table->comm]), *now = NULL;
	int64_t thread = tid < 0 ? 0
				 : processes_thread(writing->processes, node, tid,
						    span->begin_ns, &now);

	cell[AT_VALUES + table->values] = cell_of(thread ? thread : SPAN_NONE);
	cell[AT_VALUES + table->comm] = comm && now && strcmp(comm, now) == 0
					    ? cell_of_text(NULL)
					    : cell_of_text(comm);
}

struct span_cause spans_wakeup(const struct spans *spans, uint32_t node,
			       const struct span *span)
{
	const int64_t *value = span->value;
	struct span_cause cause = {
	    .wait = value[THREAD_WAIT] == SPAN_NONE ? WAIT_UNKNOWN
						    : (enum span_wait)value[THREAD_WAIT],
	    .is_assumed = value[THREAD_ASSUMED] != SPAN_NONE,
	    .first_recv = value[THREAD_FIRST_RECV],
	    .last_recv = value[THREAD_LAST_RECV],
	};

	if (cause.is_assumed)
		cause.recorded = (enum span_wait)(value[THREAD_ASSUMED] - 1);
	spans_settle(spans, node, &cause);
	return cause;
}

static void set_wait(const struct writing *writing, uint32_t node,
		     const struct span *span, struct cell *cell)
{
	struct span_cause cause = spans_wakeup(writing->spans, node, span);

	cell[AT_VALUES + THREAD_WAIT] = cell_of_text(span_wait_name(cause.wait));
	cell[AT_VALUES + THREAD_ASSUMED] = cell_of(cause.is_assumed);
	cell[AT_VALUES + THREAD_FIRST_RECV] =
	    cell_of(cause.first_recv ? cause.first_recv : SPAN_NONE);
	cell[AT_VALUES + THREAD_LAST_RECV] =
	    cell_of(cause.last_recv ? cause.last_recv : SPAN_NONE);
}

/* "vda"; where no statedump named it, its numbers: "254:0" */
static const char *disk_name(struct writing *writing, uint32_t at, int64_t dev)
{
	const struct span_node *node = &writing->spans->node[at];

	for (size_t i = 0; i < node->disks; i++)
		if (node->disk[i].dev == dev && node->disk[i].name != SPAN_NONE)
			return text_of(writing, node->disk[i].name);
	snprintf(writing->disk, sizeof(writing->disk), "%" PRId64 ":%" PRId64,
		 dev >> MINOR_BITS, dev & ((1 << MINOR_BITS) - 1));
	return writing->disk;
}

static const char *handler_of(const struct spans *spans,
			      const struct interrupt_source *source)
{
	return source->name < 0 ? "" : texts_get(&spans->texts, (size_t)source->name);
}

static void set_source(const struct writing *writing, size_t number, struct cell *cell)
{
	const struct interrupt_source source = spans_source(writing->spans, number);
	const char *handler = handler_of(writing->spans, &source);

	cell[AT_WHOSE] = cell_of(source.cpu);
	cell[AT_VALUES + IRQ_KIND] = cell_of_text(source.is_soft ? "softirq" : "irq");
	cell[AT_VALUES + IRQ_NUMBER] = cell_of(source.number);
	cell[AT_VALUES + IRQ_HANDLER] = (struct cell){
	    .type = CELL_TEXT, .size = (uint32_t)strlen(handler), .bytes = handler};
}

static void set_special(struct writing *writing, uint32_t node, int64_t whose,
			const struct span *span, struct cell *cell)
{
	switch ((enum span_kind)(writing->table - tables)) {
	case SPAN_THREAD:
		set_wait(writing, node, span, cell);
		set_thread(writing, node, span, whose, cell);
		break;
	case SPAN_SYSCALL:
		cell[AT_VALUES + CALL_PATH] =
		    (struct cell){.type = span->path ? CELL_TEXT : CELL_NULL,
				  .size = span->path ? (uint32_t)span->path_size : 0,
				  .bytes = span->path};
		set_thread(writing, node, span, whose, cell);
		break;
	case SPAN_DISK:
		cell[AT_VALUES + DISK_NAME] =
		    cell_of_text(disk_name(writing, node, whose));
		set_thread(writing, node, span,
			   span->value[DISK_TID] == SPAN_NONE ? -1
							      : span->value[DISK_TID],
			   cell);
		break;
	case SPAN_INTERRUPT:
		set_source(writing, (size_t)whose, cell);
		break;
	case SPAN_KINDS:
		break;
	}
}

/* A processor that came up later may have been where the thread was, see threads.c. */
static bool is_refuted(const struct spans *spans, enum span_kind kind, uint32_t node,
		       const struct span *span)
{
	return kind == SPAN_THREAD && span->value[THREAD_PRESUMED] != SPAN_NONE &&
	       spans->node[node].new_cpu_ns > span->end_ns;
}

static int write_span(void *context, uint32_t node, int64_t whose,
		      const struct span *span)
{
	struct writing *writing = context;
	const struct span_table *table = writing->table;
	struct cell cell[COLUMNS_MOST] = {
	    [AT_NODE] = cell_of(writing->spans->node[node].node),
	    [AT_WHOSE] = cell_of(whose),
	    [AT_BEGIN] = cell_of(span->begin_ns),
	    [AT_ID] = cell_of(span->id),
	    [AT_DURATION] = cell_of(nsec_sub(span->end_ns, span->begin_ns)),
	};

	if (is_refuted(writing->spans, (enum span_kind)(table - tables), node, span))
		return 0;
	for (size_t i = 0; i < table->values; i++)
		if (table->value[i].kind == NUMBER)
			cell[AT_VALUES + i] = cell_of(span->value[i]);
		else if (table->value[i].kind == TEXT)
			cell[AT_VALUES + i] = cell_of_word(writing, span->value[i]);
	set_special(writing, node, whose, span, cell);
	return timeline_sorted_add(writing->to, cell, writing->error);
}

static struct timeline_table *open_table(struct timeline_writer *writer,
					 const struct span_table *table)
{
	const char *columns[COLUMNS_MOST] = {
	    [AT_NODE] = "node", [AT_WHOSE] = table->whose,     [AT_BEGIN] = "begin_ns",
	    [AT_ID] = "id",     [AT_DURATION] = "duration_ns",
	};
	size_t count = AT_VALUES;

	for (size_t i = 0; i < table->values; i++)
		columns[count++] = table->value[i].name;
	if (table->comm >= 0)
		columns[count++] = "thread";
	return timeline_sorted(writer, table->name, columns, count);
}

/* As the key of `irq` has them: kind, number, handler, processor. */
static int compare_sources(const void *a, const void *b, void *context)
{
	const struct spans *spans = context;
	const struct interrupt_source p = spans_source(spans, *(const size_t *)a);
	const struct interrupt_source q = spans_source(spans, *(const size_t *)b);
	int order;

	if (p.is_soft != q.is_soft)
		return p.is_soft ? 1 : -1;
	if (p.number != q.number)
		return p.number < q.number ? -1 : 1;
	order = strcmp(handler_of(spans, &p), handler_of(spans, &q));
	return order ? order : (p.cpu > q.cpu) - (p.cpu < q.cpu);
}

static size_t *rank_sources(struct spans *spans)
{
	size_t count = spans->sources.count;
	size_t *order = mem_zalloc((count + 1) * sizeof(*order));
	size_t *rank = mem_zalloc((count + 1) * sizeof(*rank));

	for (size_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare_sources, spans);
	for (size_t i = 0; i < count; i++)
		rank[order[i]] = i;
	free(order);
	return rank;
}

int spans_write(struct spans *spans, const struct processes *processes,
		struct timeline_writer *writer, struct error *error)
{
	size_t *rank = rank_sources(spans);
	int status = 0;

	for (int kind = 0; kind < SPAN_KINDS && !status; kind++) {
		struct writing writing = {.spans = spans,
					  .processes = processes,
					  .table = &tables[kind],
					  .to = open_table(writer, &tables[kind]),
					  .error = error};

		status = span_log_walk(spans->log, (enum span_kind)kind,
				       kind == SPAN_INTERRUPT ? rank : NULL, write_span,
				       &writing, error);
	}
	free(rank);
	return status;
}

/* Spans of a thread on their way. */
struct reading {
	const struct spans *spans;
	enum span_kind kind;
	span_give *give;
	void *context;
};

static int give_row(void *context, uint32_t node, int64_t whose, const struct span *span)
{
	const struct reading *reading = context;

	return is_refuted(reading->spans, reading->kind, node, span)
		   ? 0
		   : reading->give(reading->context, node, whose, span);
}

int spans_of_thread(const struct spans *spans, const struct span_thread *thread,
		    span_give *give, void *context, struct error *error)
{
	struct reading reading = {spans, thread->kind, give, context};

	return span_log_read(spans->log, thread, give_row, &reading, error);
}

static int compare_recorded(const void *a, const void *b)
{
	const struct timeline_recorded *p = a, *q = b;

	if (p->node != q->node)
		return p->node < q->node ? -1 : 1;
	if (p->begin_ns != q->begin_ns)
		return p->begin_ns < q->begin_ns ? -1 : 1;
	return (p->end_ns > q->end_ns) - (p->end_ns < q->end_ns);
}

/* When kernels were recorded, and of nodes without what else was: one a source. */
static size_t list_recorded(const struct merge_run *run, struct timeline_recorded *item)
{
	size_t count = 0;

	for (size_t i = 0; i < run->count; i++) {
		const struct merge_source *source = &run->source[i];

		if (source->facts.events && source->tells_spans)
			item[count++] = (struct timeline_recorded){
			    .node = run->node[source->node].id,
			    .cpu = TIMELINE_NONE,
			    .kind = "kernel",
			    .begin_ns =
				clock_correct(&source->clock, source->facts.begin_ns),
			    .end_ns = clock_correct(&source->clock, source->facts.end_ns),
			};
	}
	qsort(item, count, sizeof(*item), compare_recorded);
	return count;
}

/* Those that touch are one. */
static int write_nodes(const struct merge_run *run, struct timeline_writer *writer,
		       struct error *error)
{
	struct timeline_recorded *item = mem_zalloc((run->count + 1) * sizeof(*item));
	size_t count = list_recorded(run, item);
	int status = 0;

	for (size_t i = 0; i < count && !status; i++) {
		struct timeline_recorded *next = &item[i + 1];

		if (i + 1 < count && next->node == item[i].node &&
		    next->begin_ns <= item[i].end_ns) {
			next->begin_ns = item[i].begin_ns;
			if (next->end_ns < item[i].end_ns)
				next->end_ns = item[i].end_ns;
		} else {
			status = timeline_add_recorded(writer, &item[i], error);
		}
	}
	free(item);
	return status;
}

int spans_write_recorded(const struct spans *spans, const struct merge_run *run,
			 struct timeline_writer *writer, struct error *error)
{
	int status = write_nodes(run, writer, error);

	for (size_t at = 0; spans && at < spans->nodes; at++) {
		const struct span_node *node = &spans->node[at];

		for (size_t i = 0; i < node->cpus && !status; i++) {
			const struct timeline_recorded row = {
			    .node = run->node[at].id,
			    .cpu = (int64_t)i,
			    .kind = "cpu",
			    .begin_ns = node->cpu[i] ? node->cpu[i]->first_ns : 0,
			    .end_ns = node->cpu[i] ? node->cpu[i]->end_ns : 0,
			};

			if (node->cpu[i])
				status = timeline_add_recorded(writer, &row, error);
		}
	}
	return status;
}
