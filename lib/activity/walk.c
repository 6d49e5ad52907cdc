/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "activity/activity_private.h"
#include "base/mem.h"

/* One pass over the events that the wanted spans need. */
enum {
	LEAD_EVENTS = 200000, /* read before the scope, to know what is going on */
	SHARE_EVENTS = 65536, /* how often it is told how far we are */
	WISHES_MOST = 40,
};

struct wish_list {
	struct events_wish item[WISHES_MOST];
	size_t count;
};

static void add(struct wish_list *list, enum activity_event tag, const char *class,
		const char *const *field)
{
	struct events_wish *wish = &list->item[list->count++];

	*wish = (struct events_wish){.class = class, .tag = (int)tag};
	for (size_t i = 0; field && field[i]; i++)
		wish->field[i] = field[i];
}

#define FIELDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void wish_threads(struct wish_list *list, unsigned without)
{
	const char *const *wakeup = FIELDS("comm", "tid", "prio", "target_cpu");

	add(list, AT_SWITCH, "sched_switch",
	    FIELDS("prev_comm", "prev_tid", "prev_prio", "prev_state", "next_comm",
		   "next_tid", "next_prio"));
	add(list, AT_FORK, "sched_process_fork", FIELDS("child_tid", "child_comm"));
	add(list, AT_EXEC, "sched_process_exec", FIELDS("tid", "old_tid"));
	add(list, AT_EXIT, "sched_process_exit", FIELDS("tid"));
	add(list, AT_FREE, "sched_process_free", FIELDS("tid"));
	if (without & ACTIVITY_ONLY_RUNNING)
		return;
	add(list, AT_WAKING, "sched_waking", wakeup);
	add(list, AT_WAKEUP, "sched_wakeup", wakeup);
	add(list, AT_WAKEUP_NEW, "sched_wakeup_new", wakeup);
}

/* Older tracers leave out what stands in front of the names of newer ones. */
static void wish_interrupts(struct wish_list *list, bool spans, bool waits)
{
	if (!spans && !waits)
		return;
	add(list, AT_IRQ_ENTRY, "irq_handler_entry", FIELDS("irq", "name"));
	add(list, AT_IRQ_EXIT, "irq_handler_exit", FIELDS("irq"));
	add(list, AT_SOFTIRQ_ENTRY, "irq_softirq_entry", FIELDS("vec"));
	add(list, AT_SOFTIRQ_ENTRY, "softirq_entry", FIELDS("vec"));
	add(list, AT_SOFTIRQ_EXIT, "irq_softirq_exit", FIELDS("vec"));
	add(list, AT_SOFTIRQ_EXIT, "softirq_exit", FIELDS("vec"));
	if (spans) {
		add(list, AT_SOFTIRQ_RAISE, "irq_softirq_raise", FIELDS("vec"));
		add(list, AT_SOFTIRQ_RAISE, "softirq_raise", FIELDS("vec"));
	}
	if (!waits)
		return;
	add(list, AT_TIMER_ENTRY, "timer_hrtimer_expire_entry", NULL);
	add(list, AT_TIMER_ENTRY, "hrtimer_expire_entry", NULL);
	add(list, AT_TIMER_EXIT, "timer_hrtimer_expire_exit", NULL);
	add(list, AT_TIMER_EXIT, "hrtimer_expire_exit", NULL);
	add(list, AT_RECEIVE, "net_if_receive_skb", FIELDS("name"));
	add(list, AT_RECEIVE, "netif_receive_skb", FIELDS("name"));
}

static void wish_syscalls(struct wish_list *list, bool spans)
{
	const char *const *entry =
	    FIELDS("fd", "count", "len", "size", "filename", "pathname");

	add(list, AT_SYSCALL_ENTRY, "syscall_entry_*", spans ? entry : NULL);
	add(list, AT_SYSCALL_ENTRY, "compat_syscall_entry_*", spans ? entry : NULL);
	add(list, AT_SYSCALL_EXIT, "syscall_exit_*", spans ? FIELDS("ret") : NULL);
	add(list, AT_SYSCALL_EXIT, "compat_syscall_exit_*", spans ? FIELDS("ret") : NULL);
}

static void wish_disks(struct wish_list *list, bool spans, bool waits)
{
	const char *const *fields =
	    FIELDS("dev", "sector", "nr_sector", "rwbs", "tid", "comm", "error");

	if (spans) {
		add(list, AT_BLOCK_INSERT, "block_rq_insert", fields);
		add(list, AT_BLOCK_ISSUE, "block_rq_issue", fields);
		add(list, AT_BLOCK_REQUEUE, "block_rq_requeue", fields);
	}
	if (spans || waits)
		add(list, AT_BLOCK_COMPLETE, "block_rq_complete", spans ? fields : NULL);
}

static struct wish_list wishes_of(const struct activity_ops *ops, unsigned without)
{
	struct wish_list list = {.count = 0};
	bool waits =
	    ops->sent || ops->received || (ops->thread && !(without & ACTIVITY_NO_WAITS));

	if (ops->thread)
		wish_threads(&list, without);
	else if (ops->interrupt) /* ends that were lost show there */
		add(&list, AT_SWITCH, "sched_switch", NULL);
	wish_interrupts(&list, ops->interrupt != NULL, waits);
	if (ops->syscall || (ops->thread && !(without & ACTIVITY_NO_SYSCALLS)))
		wish_syscalls(&list, ops->syscall != NULL);
	wish_disks(&list, ops->disk != NULL, waits);
	if (ops->sent) {
		add(&list, AT_SEND, "net_dev_queue", NULL);
		add(&list, AT_SEND, "inet_sock_local_out", NULL);
	}
	if (ops->frequency) {
		add(&list, AT_FREQUENCY, "power_cpu_frequency",
		    FIELDS("state", "cpu_id"));
		add(&list, AT_FREQUENCY, "cpu_frequency", FIELDS("state", "cpu_id"));
	}
	return list;
}

static bool has(const struct events *events, const struct wish_list *list,
		enum activity_event tag)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->item[i].tag == (int)tag && events_recorded(events, i))
			return true;
	return false;
}

static void frequency_event(struct walk *walk)
{
	struct frequency_step step = {
	    .node = walk->row.node,
	    .cpu = field_integer(&walk->row.field[1], walk->row.cpu),
	    .ts_ns = walk->row.ts_ns,
	    .khz = field_integer(&walk->row.field[0], 0),
	};

	/* The last one before the scope holds at its begin. */
	if (step.ts_ns < walk->scope->begin_ns)
		step.ts_ns = walk->scope->begin_ns;
	walk->status = walk->ops->frequency(walk->context, &step);
}

static void sent_event(struct walk *walk)
{
	struct wake by = interrupt_wake(walk);
	const struct packet_sent packet = {
	    .node = walk->row.node,
	    .event = walk->row.id,
	    .ts_ns = walk->row.ts_ns,
	    .by = by.wait,
	    .tid = by.tid,
	    .batch = by.batch,
	    .recv = by.recv,
	};

	if (!walk->status)
		walk->status = walk->ops->sent(walk->context, &packet);
}

static void part_event(struct walk *walk)
{
	int tag = walk->row.tag;

	if (tag <= AT_FREE) {
		if (walk->ops->thread)
			thread_event(walk);
		else if (walk->cpu)
			interrupt_cut(walk, walk->at_node, walk->cpu, walk->cpu->last_ns);
	} else if (tag <= AT_RECEIVE) {
		interrupt_event(walk);
	} else if (tag == AT_SEND) {
		sent_event(walk);
	} else if (tag <= AT_SYSCALL_EXIT) {
		syscall_event(walk);
	} else if (tag <= AT_BLOCK_COMPLETE) {
		if (tag == AT_BLOCK_COMPLETE)
			interrupt_event(walk);
		if (walk->ops->disk)
			disk_event(walk);
	} else {
		frequency_event(walk);
	}
}

static void finish(struct walk *walk, size_t at)
{
	struct activity_node *node = &walk->node[at];

	if (!node->chosen || node->ended)
		return;
	node->ended = true;
	interrupt_finish(walk, at, node->end_ns);
	thread_finish(walk, at, node->end_ns);
	syscall_finish(walk, at, node->end_ns);
	disk_finish(walk, at, node->end_ns);
}

/* Nodes whose recording is over by then, in the order of their ends. */
static void finish_until(struct walk *walk, nsec_t now)
{
	while (walk->next_end_ns < now) {
		nsec_t next = NSEC_MAX;

		for (size_t i = 0; i < walk->scope->nodes; i++) {
			if (walk->node[i].end_ns == walk->next_end_ns)
				finish(walk, i);
			else if (walk->node[i].end_ns > walk->next_end_ns &&
				 walk->node[i].end_ns < next)
				next = walk->node[i].end_ns;
		}
		walk->next_end_ns = next;
	}
}

static void take(struct walk *walk)
{
	const struct scope_node *node = scope_find(walk->scope, walk->row.node);
	struct cpu *cpu;

	if (!node)
		return;
	if (walk->row.ts_ns > walk->next_end_ns)
		finish_until(walk, walk->row.ts_ns);
	walk->at_node = (size_t)(node - walk->scope->node);
	cpu = walk_cpu(walk, walk->at_node, walk->row.cpu);
	walk->cpu = cpu;
	if (cpu && cpu->first_ns == NSEC_MIN)
		cpu->first_ns = walk->row.ts_ns;
	if (walk->node[walk->at_node].begin_ns == NSEC_MIN)
		walk->node[walk->at_node].begin_ns = walk->row.ts_ns;
	part_event(walk);
	if (cpu)
		cpu->last_ns = walk->row.ts_ns;
}

static int read_all(struct walk *walk, struct events *events, struct error *error)
{
	uint64_t count = 0;
	int more = 1;

	while (!walk->status && (more = events_next(events, &walk->row, error)) > 0) {
		take(walk);
		if (walk->ops->share && ++count % SHARE_EVENTS == 0)
			walk->ops->share(walk->context, events_share(events));
	}
	if (more < 0)
		return -1;
	finish_until(walk, NSEC_MAX);
	return walk->status;
}

/* A little earlier than the scope begins, to know what is going on then. */
static int find_lead(const struct scope *scope, struct timeline_reader *reader,
		     nsec_t *begin_ns, struct error *error)
{
	struct timeline_query *query;
	const struct cell values[2] = {
	    {.type = CELL_INTEGER, .integer = scope->begin_ns},
	    {.type = CELL_INTEGER, .integer = LEAD_EVENTS},
	};
	int more = -1;

	*begin_ns = scope->begin_ns;
	if (scope->begin_ns <= scope->origin_ns)
		return 0;
	query = timeline_query_new(
	    reader,
	    "SELECT ts_ns FROM event WHERE id >= (SELECT id FROM event WHERE ts_ns >= ? "
	    "ORDER BY ts_ns, id LIMIT 1) - ? ORDER BY id LIMIT 1",
	    error);
	if (query && !timeline_query_ask(query, values, 2, error))
		more = timeline_query_next(query, error);
	if (more > 0 && field_integer(&timeline_query_row(query)[0], 0) < *begin_ns)
		*begin_ns = timeline_query_row(query)[0].integer;
	timeline_query_free(query);
	return more < 0 ? -1 : 0;
}

int activity_walk(struct timeline_reader *reader, const struct scope *scope,
		  const struct activity_ops *ops, void *context, struct error *error)
{
	struct walk walk = {.scope = scope, .ops = ops, .context = context};
	struct scope led = *scope;
	struct events *events = NULL;
	struct wish_list wishes;
	int status = -1;

	walk.without = ops->without;
	if (walk.without & ACTIVITY_ONLY_RUNNING)
		walk.without |= ACTIVITY_NO_WAITS | ACTIVITY_NO_SYSCALLS;
	wishes = wishes_of(ops, walk.without);
	if (find_lead(scope, reader, &led.begin_ns, error) ||
	    walk_init(&walk, reader, led.begin_ns, error))
		goto out;
	events = events_new(reader, &led, wishes.item, wishes.count, error);
	if (!events)
		goto out;
	walk.has_wakeups = has(events, &wishes, AT_WAKEUP);
	walk.has_interrupts =
	    has(events, &wishes, AT_IRQ_ENTRY) && has(events, &wishes, AT_SOFTIRQ_ENTRY);
	status = read_all(&walk, events, error);
out:
	events_free(events);
	walk_clear(&walk);
	return status;
}
