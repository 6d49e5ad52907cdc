/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/spans/spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "merge/event_class.h"
#include "merge/spans/span_model.h"
#include "timeline/rows.h"

enum { CPUS_MOST = 65536 }; /* a higher number is damage */

struct spans *spans_new(const struct merge_run *run, nsec_t begin_ns)
{
	struct spans *spans = mem_zalloc(sizeof(*spans));

	spans->run = run;
	spans->log.spill.what = "of spans";
	spans->nodes = run->nodes;
	spans->node = mem_zalloc((run->nodes + 1) * sizeof(*spans->node));
	for (size_t i = 0; i < run->nodes; i++) {
		nsec_t first, last;
		bool is_later = merge_run_extent(run, &run->node[i], &first, &last) &&
				first > begin_ns;

		spans->node[i] =
		    (struct span_node){.node = run->node[i].id,
				       .begin_ns = is_later ? first : begin_ns,
				       .last_ns = NSEC_MIN,
				       .new_cpu_ns = NSEC_MIN};
	}
	return spans;
}

void spans_class(struct spans *spans, uint32_t at, struct event_class *class)
{
	struct span_node *node = &spans->node[at];

	node->has_hard |= class->tag == AT_IRQ_ENTRY;
	node->has_soft |= class->tag == AT_SOFTIRQ_ENTRY;
	if (class->call)
		class->span_text = texts_put(&spans->texts, class->call);
}

int64_t spans_text(struct spans *spans, int place)
{
	const struct cell *cell = event_field(spans->event, place);
	size_t size = cell->type == CELL_TEXT ? strnlen(cell->bytes, cell->size) : 0;

	return size ? (int64_t)texts_put_bytes(&spans->texts, cell->bytes, size)
		    : TIMELINE_NONE;
}

int64_t spans_flags(const struct spans *spans, int place, const struct flag_name *known,
		    int64_t none)
{
	const struct cell *cell = event_field(spans->event, place);

	if (cell->type != CELL_TEXT)
		return cell_integer(cell, none);
	for (; known->name; known++)
		if (strlen(known->name) == cell->size &&
		    memcmp(known->name, cell->bytes, cell->size) == 0)
			return known->flag;
	return none;
}

struct cpu *spans_cpu(struct spans *spans, uint32_t at, int64_t number)
{
	struct span_node *node = &spans->node[at];
	struct cpu *cpu;

	if (number < 0 || number >= CPUS_MOST)
		return NULL;
	if ((size_t)number >= node->cpus) {
		size_t cpus = (size_t)number + 1;

		node->cpu = mem_realloc(node->cpu, cpus, sizeof(struct cpu *));
		memset(node->cpu + node->cpus, 0,
		       (cpus - node->cpus) * sizeof(struct cpu *));
		node->cpus = cpus;
	}
	if (node->cpu[number])
		return node->cpu[number];
	cpu = node->cpu[number] = mem_zalloc(sizeof(*cpu));
	cpu->number = number;
	cpu->first_ns = cpu->last_ns = NSEC_MIN;
	cpu->cut = true;
	cpu->tid = -1;
	cpu->comm = TIMELINE_NONE;
	for (size_t i = 0; i < SOFTIRQS; i++)
		cpu->raised_ns[i] = NSEC_MIN;
	return cpu;
}

static uint64_t key_of(uint32_t node, int64_t tid)
{
	return (uint64_t)node << 32 | (uint64_t)tid;
}

struct thread *spans_find(const struct spans *spans, uint32_t node, int64_t tid)
{
	int64_t at;

	return intmap_get(&spans->thread_at, key_of(node, tid), &at) ? spans->thread[at]
								     : NULL;
}

struct thread *spans_thread(struct spans *spans, uint32_t node, int64_t tid)
{
	struct thread *thread = spans_find(spans, node, tid);

	if (thread)
		return thread;
	thread = mem_zalloc(sizeof(*thread));
	*thread = (struct thread){.at = spans->threads,
				  .node = node,
				  .tid = tid,
				  .comm = TIMELINE_NONE,
				  .state = STATE_UNKNOWN,
				  .cpu = -1,
				  .last_cpu = -1,
				  .fork_ns = NSEC_MIN,
				  .pending = NO_CAUSE,
				  .call = spans_begin(0, 0)};
	*MEM_NEXT(spans->thread, spans->threads, spans->thread_capacity) = thread;
	intmap_put(&spans->thread_at, key_of(node, tid), (int64_t)thread->at);
	return thread;
}

static void free_thread(struct thread *thread)
{
	free(thread->path);
	free(thread);
}

void spans_forget(struct spans *spans, struct thread *thread)
{
	struct thread *last = spans->thread[--spans->threads];
	int64_t at;

	spans->thread[thread->at] = last;
	last->at = thread->at;
	intmap_put(&spans->thread_at, key_of(last->node, last->tid), (int64_t)last->at);
	intmap_take(&spans->thread_at, key_of(thread->node, thread->tid), &at);
	free_thread(thread);
}

struct span spans_begin(nsec_t begin_ns, nsec_t end_ns)
{
	struct span span = {.begin_ns = begin_ns, .end_ns = end_ns};

	for (int i = 0; i < SPAN_VALUES; i++)
		span.value[i] = TIMELINE_NONE;
	return span;
}

static void part_event(struct spans *spans)
{
	if (spans->tag <= AT_FREE || spans->tag == AT_SYSCALL_ENTRY ||
	    spans->tag == AT_SYSCALL_EXIT)
		thread_event(spans);
	else if (spans->tag <= AT_RECEIVE)
		interrupt_event(spans);
	else if (spans->tag == AT_SEND)
		*spans->cause = interrupt_cause(spans);
	else
		disk_event(spans);
	if (spans->tag == AT_BLOCK_COMPLETE)
		interrupt_event(spans);
}

int spans_event(struct spans *spans, const struct merged_event *event,
		struct span_cause *cause, struct error *error)
{
	struct span_node *node = &spans->node[event->node];
	struct cpu *cpu = spans_cpu(spans, event->node, event->cpu);

	if (node->begin_ns == NSEC_MIN || node->begin_ns > event->ts_ns)
		node->begin_ns = event->ts_ns;
	node->last_ns = event->ts_ns;
	if (cpu && cpu->first_ns == NSEC_MIN)
		cpu->first_ns = node->new_cpu_ns = event->ts_ns;
	if (cpu)
		cpu->end_ns = event->ts_ns;
	*cause = NO_CAUSE;
	if (event->class->tag == AT_OTHER || event->class->tag >= AT_DUMP)
		return 0;
	spans->event = event;
	spans->tag = event->class->tag;
	spans->tid = event->tid > INT32_MAX ? -1 : event->tid;
	spans->cpu = cpu;
	spans->cause = cause;
	spans->error = error;
	part_event(spans);
	if (cpu)
		cpu->last_ns = event->ts_ns;
	return spans->failed;
}

int spans_end(struct spans *spans, nsec_t end_ns, struct error *error)
{
	spans->error = error;
	for (uint32_t i = 0; i < spans->nodes; i++) {
		const struct span_node *node = &spans->node[i];
		nsec_t first, last;
		bool is_earlier =
		    merge_run_extent(spans->run, &spans->run->node[i], &first, &last) &&
		    last < end_ns;
		nsec_t node_end_ns = is_earlier ? last : end_ns;

		if (node->last_ns == NSEC_MIN)
			continue;
		if (node_end_ns < node->last_ns)
			node_end_ns = node->last_ns;
		interrupt_finish(spans, i, node_end_ns);
		thread_finish(spans, i, node_end_ns);
		disk_finish(spans, i, node_end_ns);
	}
	return spans->failed;
}

static void clear_node(struct span_node *node)
{
	for (size_t i = 0; i < node->cpus; i++)
		free(node->cpu[i]);
	free(node->cpu);
	for (size_t i = 0; i < node->disks; i++)
		free(node->disk[i].request);
	free(node->disk);
}

void spans_free(struct spans *spans)
{
	if (!spans)
		return;
	for (size_t i = 0; i < spans->nodes; i++)
		clear_node(&spans->node[i]);
	free(spans->node);
	for (size_t i = 0; i < spans->threads; i++)
		free_thread(spans->thread[i]);
	free(spans->thread);
	intmap_clear(&spans->thread_at);
	texts_clear(&spans->texts);
	span_log_clear(&spans->log);
	texts_clear(&spans->sources);
	free(spans);
}

static int compare_begin(const void *a, const void *b)
{
	const struct timeline_recorded *p = a, *q = b;

	return p->begin_ns < q->begin_ns ? -1 : p->begin_ns > q->begin_ns;
}

/* When a node's kernels were recorded, or what else there is of it; times that touch are
 * one. */
static int write_node_recorded(const struct merge_run *run, size_t at,
			       struct timeline_writer *writer, struct error *error)
{
	AUTOFREE struct timeline_recorded *row =
	    mem_alloc((run->count + 1) * sizeof(*row));
	size_t count = 0, next;
	int status = 0;

	for (size_t i = 0; i < run->count; i++) {
		const struct merge_source *source = &run->source[i];

		if (source->node != at || !source->facts.events || !source->makes_spans)
			continue;
		row[count++] = (struct timeline_recorded){
		    .node = run->node[at].id,
		    .cpu = TIMELINE_NONE,
		    .kind = "kernel",
		    .begin_ns = clock_correct(&source->clock, source->facts.begin_ns),
		    .end_ns = clock_correct(&source->clock, source->facts.end_ns)};
	}
	qsort(row, count, sizeof(*row), compare_begin);
	for (size_t i = 0; i < count && !status; i = next) {
		for (next = i + 1; next < count && row[next].begin_ns <= row[i].end_ns;
		     next++)
			if (row[next].end_ns > row[i].end_ns)
				row[i].end_ns = row[next].end_ns;
		status = timeline_add_recorded(writer, &row[i], error);
	}
	return status;
}

/* Of processors, and before them of nodes. */
int spans_write_recorded(const struct spans *spans, const struct merge_run *run,
			 struct timeline_writer *writer, struct error *error)
{
	int status = 0;

	for (size_t at = 0; at < run->nodes && !status; at++)
		status = write_node_recorded(run, at, writer, error);
	for (size_t at = 0; spans && at < spans->nodes; at++) {
		const struct span_node *node = &spans->node[at];

		for (size_t i = 0; i < node->cpus && !status; i++) {
			const struct cpu *cpu = node->cpu[i];

			if (cpu)
				status = timeline_add_recorded(
				    writer,
				    &(struct timeline_recorded){.node = run->node[at].id,
								.cpu = (int64_t)i,
								.kind = "cpu",
								.begin_ns = cpu->first_ns,
								.end_ns = cpu->end_ns},
				    error);
		}
	}
	return status;
}
