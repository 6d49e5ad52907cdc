/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/spans/spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "merge/event_class.h"
#include "merge/spans/spans_private.h"

enum { CPUS_MOST = 65536 }; /* a higher number is damage */

struct spans *spans_new(const struct merge_run *run, nsec_t begin_ns)
{
	struct spans *spans = mem_zalloc(sizeof(*spans));

	spans->run = run;
	spans->begin_ns = begin_ns;
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
		for (int need = 0; need < NEEDS; need++)
			spans->node[i].since_ns[need] = spans->node[i].doubt_ns[need] =
			    NSEC_MIN;
	}
	return spans;
}

void spans_class(struct spans *spans, uint32_t at, struct event_class *class)
{
	struct span_node *node = &spans->node[at];

	node->has_hard |= class->tag == AT_IRQ_ENTRY;
	node->has_soft |= class->tag == AT_SOFTIRQ_ENTRY;
	node->calls_lack_tid |= class->call && class->context[CONTEXT_TID] < 0;
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
	cpu->first_ns = cpu->last_ns = cpu->begin_ns = cpu->end_ns = NSEC_MIN;
	for (int need = 0; need < NEEDS; need++)
		cpu->doubt_ns[need] = cpu->seen_ns[need] = NSEC_MIN;
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
				  .pending = NO_CAUSE};
	span_init(&thread->call, 0, 0);
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
	intmap_remove(&spans->thread_at, key_of(thread->node, thread->tid), &at);
	free_thread(thread);
}

static void part_event(struct spans *spans)
{
	if (spans->tag <= AT_FREE)
		thread_event(spans);
	else if (spans->tag == AT_SYSCALL_ENTRY || spans->tag == AT_SYSCALL_EXIT)
		call_event(spans);
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
	if (cpu && cpu->begin_ns == NSEC_MIN)
		cpu->begin_ns = node->new_cpu_ns = event->ts_ns;
	if (cpu && cpu->first_ns == NSEC_MIN)
		cpu->first_ns = event->ts_ns;
	if (cpu)
		cpu->end_ns = cpu->seen_ns[event->class->need] = event->ts_ns;
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

/* Cut the spans that need events that a processor did not record from `stop_ns` on. */
static void cut_lost_spans(struct spans *spans, uint32_t node, struct cpu *cpu,
			   unsigned needs, nsec_t stop_ns)
{
	if (cpu && needs & 1u << NEED_INTERRUPT)
		interrupt_cut(spans, node, cpu, stop_ns);
	thread_lose(spans, node, cpu, needs, stop_ns);
	if (needs & 1u << NEED_DISK)
		disk_lose(spans, node, stop_ns);
}

static void start_cpu(struct cpu *cpu, unsigned needs, nsec_t start_ns)
{
	if (needs & 1u << NEED_INTERRUPT) {
		for (size_t i = 0; i < SOFTIRQS; i++)
			cpu->raised_ns[i] = NSEC_MIN;
		cpu->last_ns = start_ns;
		cpu->last_recv = 0;
		cpu->is_interrupt_unknown = false;
	}
	if (needs & 1u << NEED_SWITCH)
		cpu->first_ns = start_ns;
}

/* Return the time of the last event of these needs on a processor, or of the node's last
 * event if `cpu` is NULL. */
static nsec_t last_seen(const struct span_node *node, const struct cpu *cpu,
			unsigned needs)
{
	nsec_t last_ns = cpu ? NSEC_MIN : node->last_ns;

	for (int need = 0; cpu && need < NEEDS; need++)
		if (needs >> need & 1 && cpu->seen_ns[need] > last_ns)
			last_ns = cpu->seen_ns[need];
	return last_ns;
}

/* Handle the start of a recording: cut the spans that need events between the previous
 * stop and this start, and set since when events are recorded. */
static void start_recording(struct spans *spans, uint32_t at, struct cpu *cpu,
			    struct recording_mark *mark)
{
	struct span_node *node = &spans->node[at];
	nsec_t start_ns = mark->ts_ns;

	if (mark->other_ns == NSEC_MAX)
		mark->other_ns = last_seen(node, cpu, mark->needs);
	cut_lost_spans(spans, at, cpu, mark->needs, mark->other_ns);
	if (start_ns == NSEC_MIN)
		return;
	if (start_ns < spans->begin_ns)
		start_ns = spans->begin_ns;
	for (int need = 0; need < NEEDS; need++)
		if (mark->needs >> need & 1 && node->since_ns[need] < start_ns)
			node->since_ns[need] = start_ns;
	if (cpu)
		start_cpu(cpu, mark->needs, start_ns);
}

static void mark_doubtful(struct span_node *node, struct cpu *cpu,
			  const struct recording_mark *mark)
{
	for (int need = 0; need < NEEDS; need++) {
		if (!(mark->needs >> need & 1))
			continue;
		if (node->doubt_ns[need] < mark->other_ns)
			node->doubt_ns[need] = mark->other_ns;
		if (cpu && cpu->doubt_ns[need] < mark->other_ns)
			cpu->doubt_ns[need] = mark->other_ns;
	}
}

int spans_mark(struct spans *spans, uint32_t node, struct recording_mark *mark,
	       struct error *error)
{
	struct cpu *cpu = spans_cpu(spans, node, mark->cpu);

	spans->error = error;
	switch (mark->kind) {
	case MARK_START:
		start_recording(spans, node, cpu, mark);
		break;
	case MARK_STOP:
		cut_lost_spans(spans, node, cpu, mark->needs, mark->ts_ns);
		if (cpu && mark->needs & 1u << NEED_INTERRUPT)
			cpu->is_interrupt_unknown = true;
		mark_doubtful(&spans->node[node], cpu, mark);
		break;
	case MARK_LOSS:
		mark_doubtful(&spans->node[node], cpu, mark);
		break;
	}
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
		disk_lose(spans, i, node_end_ns);
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
