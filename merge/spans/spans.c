/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/spans/spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "merge/event_class.h"
#include "merge/spans/spans_private.h"
#include "timeline/rows.h"

enum { CPUS_MOST = 65536 }; /* a higher number is taken to be damage */

struct spans *spans_new(const struct merge_run *run)
{
	struct spans *spans = mem_zalloc(sizeof(*spans));

	spans->log = span_log_new();
	spans->nodes = run->nodes;
	spans->node = mem_zalloc((run->nodes + 1) * sizeof(*spans->node));
	for (size_t i = 0; i < run->nodes; i++)
		spans->node[i] = (struct span_node){.node = run->node[i].id,
						    .begin_ns = NSEC_MIN,
						    .last_ns = NSEC_MIN,
						    .new_cpu_ns = NSEC_MIN};
	return spans;
}

void spans_set_begin(struct spans *spans, uint32_t node, nsec_t begin_ns)
{
	if (spans->node[node].begin_ns == NSEC_MIN ||
	    spans->node[node].begin_ns > begin_ns)
		spans->node[node].begin_ns = begin_ns;
}

void spans_class(struct spans *spans, uint32_t at, struct event_class *class)
{
	struct span_node *node = &spans->node[at];

	node->has_wakeups |= class->tag == AT_WAKEUP;
	node->has_hard |= class->tag == AT_IRQ_ENTRY;
	node->has_soft |= class->tag == AT_SOFTIRQ_ENTRY;
	if (class->call)
		class->span_text = texts_put(&spans->texts, class->call);
}

int64_t spans_text(struct spans *spans, int place)
{
	const struct cell *cell = spans_field(spans, place);
	size_t size = cell->type == CELL_TEXT ? strnlen(cell->bytes, cell->size) : 0;

	return size ? (int64_t)texts_put_bytes(&spans->texts, cell->bytes, size)
		    : TIMELINE_NONE;
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
	spans->thread = mem_grow(spans->thread, spans->threads, &spans->thread_capacity,
				 sizeof(struct thread *));
	spans->thread[spans->threads++] = thread;
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

	spans_set_begin(spans, event->node, event->ts_ns);
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

int spans_end(struct spans *spans, uint32_t node, nsec_t end_ns, struct error *error)
{
	const struct span_node *ended = &spans->node[node];

	if (ended->last_ns == NSEC_MIN)
		return 0;
	if (end_ns < ended->last_ns)
		end_ns = ended->last_ns;
	spans->error = error;
	interrupt_finish(spans, node, end_ns);
	thread_finish(spans, node, end_ns);
	disk_finish(spans, node, end_ns);
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
	span_log_free(spans->log);
	texts_clear(&spans->sources);
	free(spans);
}

/* When a source's kernel was recorded, or what else tells of the node. */
static bool was_recorded(const struct merge_run *run, size_t at, size_t node,
			 nsec_t *begin, nsec_t *end)
{
	const struct merge_source *source = &run->source[at];

	*begin = clock_correct(&source->clock, source->facts.begin_ns);
	*end = clock_correct(&source->clock, source->facts.end_ns);
	return source->node == node && source->facts.events && source->tells_spans;
}

/* The first time of a node that begins after `row` ends; those that touch are one. */
static bool next_recorded(const struct merge_run *run, size_t node,
			  struct timeline_recorded *row)
{
	nsec_t after = row->end_ns, begin, end;
	bool has_grown = true;

	row->begin_ns = NSEC_MAX;
	for (size_t i = 0; i < run->count; i++)
		if (was_recorded(run, i, node, &begin, &end) && begin > after &&
		    begin < row->begin_ns)
			row->begin_ns = row->end_ns = begin;
	while (has_grown) {
		has_grown = false;
		for (size_t i = 0; i < run->count; i++)
			if (was_recorded(run, i, node, &begin, &end) && begin > after &&
			    begin <= row->end_ns && end > row->end_ns) {
				row->end_ns = end;
				has_grown = true;
			}
	}
	return row->begin_ns < NSEC_MAX;
}

/* Of processors, and before them of nodes. */
int spans_write_recorded(const struct spans *spans, const struct merge_run *run,
			 struct timeline_writer *writer, struct error *error)
{
	int status = 0;

	for (size_t at = 0; at < run->nodes; at++) {
		struct timeline_recorded row = {.node = run->node[at].id,
						.cpu = TIMELINE_NONE,
						.kind = "kernel",
						.end_ns = NSEC_MIN};

		while (!status && next_recorded(run, at, &row))
			status = timeline_add_recorded(writer, &row, error);
	}
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

/* The kernel's task states, by name and by the letter that ps shows. */
static const struct {
	const char *name;
	int64_t state;
} states[] = {
    {"TASK_RUNNING", 0},
    {"R", 0},
    {"R+", 256},
    {"TASK_INTERRUPTIBLE", 1},
    {"S", 1},
    {"TASK_UNINTERRUPTIBLE", 2},
    {"D", 2},
    {"T", 4},
    {"TASK_STOPPED", 4},
    {"__TASK_STOPPED", 4},
    {"t", 8},
    {"TASK_TRACED", 8},
    {"__TASK_TRACED", 8},
    {"X", 16},
    {"EXIT_DEAD", 16},
    {"Z", 32},
    {"x", 16},
    {"EXIT_ZOMBIE", 32},
    {"P", 64},
    {"I", 128},
    {"TASK_PARKED", 64},
    {"TASK_IDLE", 128},
    {"TASK_DEAD", 128},
};

static bool is_text(const struct cell *cell, const char *text)
{
	return strlen(text) == cell->size && memcmp(cell->bytes, text, cell->size) == 0;
}

/* A label that has no digits and no name here is read as blocked. */
int64_t field_state(const struct cell *cell)
{
	char digits[24];

	if (cell->type != CELL_TEXT)
		return cell_integer(cell, 1);
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (is_text(cell, states[i].name))
			return states[i].state;
	if (cell->size && cell->size < sizeof(digits)) {
		char *end;
		int64_t value;

		memcpy(digits, cell->bytes, cell->size);
		digits[cell->size] = '\0';
		value = strtoll(digits, &end, 10);
		if (!*end)
			return value;
	}
	return 1;
}

/* Text as blktrace has it: "WFS", "RA", "D". */
unsigned field_rwbs(const struct cell *cell)
{
	unsigned flags = 0;

	if (cell->type != CELL_TEXT)
		return (unsigned)cell_integer(cell, 0);
	for (uint32_t i = 0; i < cell->size; i++)
		switch (cell->bytes[i]) {
		case 'W':
			flags |= RWBS_WRITE;
			break;
		case 'R':
			flags |= RWBS_READ;
			break;
		case 'D':
			flags |= RWBS_DISCARD;
			break;
		case 'F':
			flags |= RWBS_FLUSH;
			break;
		}
	return flags;
}
