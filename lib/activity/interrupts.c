/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "activity/activity_private.h"

/*
 * Interrupts of a processor are a stack: a hard one interrupts a softirq, a timer's
 * function runs inside of the clock's interrupt. What stands on top when a thread is
 * woken is what woke it.
 */
enum {
	SOFTIRQ_TIMER = 1,
	SOFTIRQ_NET_TX = 2,
	SOFTIRQ_NET_RX = 3,
	SOFTIRQ_BLOCK = 4,
	SOFTIRQ_HRTIMER = 8
};

/* How long after a packet's receive something may be its doing, see assumed_wake: a
 * kernel takes some microseconds, an emulated one some hundreds. */
static const nsec_t ASSUMED_NS = 500 * NSEC_PER_USEC;

/* include/linux/interrupt.h of the kernel; part of what user space may rely on */
static const char *softirq_name(int64_t number)
{
	static const char *const names[] = {"HI",      "TIMER",    "NET_TX",  "NET_RX",
					    "BLOCK",   "IRQ_POLL", "TASKLET", "SCHED",
					    "HRTIMER", "RCU"};

	return number >= 0 && number < (int64_t)(sizeof(names) / sizeof(names[0]))
		   ? names[number]
		   : "";
}

static void tell(struct walk *walk, size_t node, const struct cpu *cpu,
		 const struct interrupt *interrupt, nsec_t end_ns, bool cut_end)
{
	struct interrupt_span span = {
	    .kind = (enum interrupt_kind)interrupt->kind,
	    .node = walk->node[node].id,
	    .cpu = cpu->number,
	    .number = interrupt->number,
	    .name = interrupt->name,
	    .begin_ns = interrupt->begin_ns,
	    .end_ns = end_ns,
	    .raised_ns = interrupt->raised_ns,
	    .inner_ns = interrupt->inner_ns,
	    .cut_end = cut_end,
	    .tid = interrupt->tid,
	};

	if (interrupt->kind == INTERRUPT_TIMER || !walk->ops->interrupt || walk->status ||
	    !walk_clip(walk, &span.begin_ns, end_ns, &span.cut_begin, true))
		return;
	/* What interrupted it before the scope's begin is not of the part that is left.
	 */
	if (span.inner_ns > nsec_sub(end_ns, span.begin_ns))
		span.inner_ns = nsec_sub(end_ns, span.begin_ns);
	walk->status = walk->ops->interrupt(walk->context, &span);
}

/* The innermost interrupt ends. */
static void pop(struct walk *walk, size_t node, struct cpu *cpu, nsec_t end_ns,
		bool cut_end)
{
	const struct interrupt *ended = &cpu->stack[--cpu->deep];
	size_t below = cpu->deep;

	tell(walk, node, cpu, ended, end_ns, cut_end);
	if (ended->kind == INTERRUPT_TIMER)
		return;
	while (below > 0 && cpu->stack[below - 1].kind == INTERRUPT_TIMER)
		below--;
	if (below > 0)
		cpu->stack[below - 1].inner_ns = nsec_add(
		    cpu->stack[below - 1].inner_ns, nsec_sub(end_ns, ended->begin_ns));
}

static void cut_down_to(struct walk *walk, size_t node, struct cpu *cpu, size_t keep,
			nsec_t end_ns)
{
	while (cpu->deep > keep) {
		nsec_t begin_ns = cpu->stack[cpu->deep - 1].begin_ns;

		pop(walk, node, cpu, end_ns > begin_ns ? end_ns : begin_ns, true);
	}
}

void interrupt_cut(struct walk *walk, size_t node, struct cpu *cpu, nsec_t end_ns)
{
	cut_down_to(walk, node, cpu, 0, end_ns);
}

/*
 * What cannot be interrupted by this one has ended, and its end was lost: softirqs come
 * when no interrupt is left, a line or a function does not interrupt itself, and no
 * kernel nests as deep as there is room for.
 */
static void drop_lost(struct walk *walk, int kind, int64_t number)
{
	struct cpu *cpu = walk->cpu;
	size_t keep =
	    kind == INTERRUPT_SOFT || cpu->deep == INTERRUPTS_DEEP ? 0 : cpu->deep;

	for (size_t i = 0; i < keep; i++)
		if (cpu->stack[i].kind == kind && cpu->stack[i].number == number)
			keep = i;
	cut_down_to(walk, walk->at_node, cpu, keep, cpu->last_ns);
}

static void push(struct walk *walk, int kind, int64_t number, const char *name)
{
	struct cpu *cpu = walk->cpu;

	drop_lost(walk, kind, number);
	cpu->stack[cpu->deep++] = (struct interrupt){
	    .kind = kind,
	    .number = number,
	    .name = name,
	    .begin_ns = walk->row.ts_ns,
	    .raised_ns = NSEC_MIN,
	    .tid = walk->row.tid,
	};
}

/* An end whose begin was not seen: before the recording, or lost. */
static void tell_beginless(struct walk *walk, int kind, int64_t number, const char *name)
{
	struct cpu *cpu = walk->cpu;
	struct interrupt_span span = {
	    .kind = (enum interrupt_kind)kind,
	    .node = walk->node[walk->at_node].id,
	    .cpu = cpu->number,
	    .number = number,
	    .name = name,
	    .begin_ns = cpu->last_ns == NSEC_MIN ? cpu->first_ns : cpu->last_ns,
	    .end_ns = walk->row.ts_ns,
	    .raised_ns = NSEC_MIN,
	    .cut_begin = true,
	    .tid = walk->row.tid,
	};

	if (kind != INTERRUPT_TIMER && walk->ops->interrupt && !walk->status &&
	    walk_clip(walk, &span.begin_ns, span.end_ns, &span.cut_begin, true))
		walk->status = walk->ops->interrupt(walk->context, &span);
}

/* Those inside of it that did not end before it were lost. */
static void end(struct walk *walk, int kind, int64_t number)
{
	struct cpu *cpu = walk->cpu;
	size_t at = cpu->deep;

	while (at > 0 &&
	       (cpu->stack[at - 1].kind != kind ||
		(kind != INTERRUPT_TIMER && cpu->stack[at - 1].number != number)))
		at--;
	if (at == 0) {
		tell_beginless(walk, kind, number,
			       kind == INTERRUPT_SOFT ? softirq_name(number) : "");
		return;
	}
	while (cpu->deep > at)
		pop(walk, walk->at_node, cpu, cpu->last_ns, true);
	pop(walk, walk->at_node, cpu, walk->row.ts_ns, false);
}

static void begin_softirq(struct walk *walk, int64_t number)
{
	struct cpu *cpu = walk->cpu;

	push(walk, INTERRUPT_SOFT, number, softirq_name(number));
	if (number >= 0 && number < SOFTIRQS) {
		cpu->stack[cpu->deep - 1].raised_ns = cpu->raised_ns[number];
		cpu->raised_ns[number] = NSEC_MIN;
	}
	if (number == SOFTIRQ_NET_RX)
		cpu->recv = 0;
}

static void raise_softirq(struct walk *walk, int64_t number)
{
	struct cpu *cpu = walk->cpu;

	if (number >= 0 && number < SOFTIRQS && cpu->raised_ns[number] == NSEC_MIN)
		cpu->raised_ns[number] = walk->row.ts_ns;
}

/* A packet joins the softirq's others; where softirqs are not recorded, those that came
 * shortly before it on the processor. */
static void receive(struct walk *walk)
{
	const struct cell *name = &walk->row.field[0];
	struct cpu *cpu = walk->cpu;
	struct packet_received packet = {.node = walk->row.node, .event = walk->row.id};

	if (!cpu->recv || (!walk->has_interrupts &&
			   nsec_sub(walk->row.ts_ns, cpu->recv_ns) > ASSUMED_NS))
		cpu->batch = walk->row.id;
	cpu->recv = walk->row.id;
	cpu->recv_ns = walk->row.ts_ns;
	cpu->recv_woke = false;
	cpu->recv_is_local = name->type == CELL_TEXT && name->size == 2 &&
			     memcmp(name->bytes, "lo", 2) == 0;
	packet.batch = cpu->batch;
	if (walk->ops->received && !walk->status)
		walk->status = walk->ops->received(walk->context, &packet);
}

void interrupt_event(struct walk *walk)
{
	const struct cell *field = walk->row.field;
	int64_t number = field ? field_integer(&field[0], -1) : -1;

	if (!walk->cpu)
		return;
	switch (walk->row.tag) {
	case AT_IRQ_ENTRY:
		push(walk, INTERRUPT_HARD, number, texts_keep(&walk->texts, &field[1]));
		break;
	case AT_IRQ_EXIT:
		end(walk, INTERRUPT_HARD, number);
		break;
	case AT_SOFTIRQ_RAISE:
		raise_softirq(walk, number);
		break;
	case AT_SOFTIRQ_ENTRY:
		begin_softirq(walk, number);
		break;
	case AT_SOFTIRQ_EXIT:
		end(walk, INTERRUPT_SOFT, number);
		break;
	case AT_TIMER_ENTRY:
		push(walk, INTERRUPT_TIMER, 0, "");
		break;
	case AT_TIMER_EXIT:
		end(walk, INTERRUPT_TIMER, 0);
		break;
	case AT_RECEIVE:
		receive(walk);
		break;
	case AT_BLOCK_COMPLETE:
		if (walk->cpu->deep > 0)
			walk->cpu->stack[walk->cpu->deep - 1].disk = true;
		break;
	}
}

static enum activity_wait kind_of(const struct interrupt *top)
{
	if (top->disk)
		return WAIT_DISK;
	if (top->kind == INTERRUPT_TIMER)
		return WAIT_TIMER;
	if (top->kind == INTERRUPT_HARD)
		return WAIT_INTERRUPT;
	switch (top->number) {
	case SOFTIRQ_NET_TX:
	case SOFTIRQ_NET_RX:
		return WAIT_NETWORK;
	case SOFTIRQ_BLOCK:
		return WAIT_DISK;
	case SOFTIRQ_TIMER:
	case SOFTIRQ_HRTIMER:
		return WAIT_TIMER;
	}
	return WAIT_INTERRUPT;
}

/*
 * As it looks where interrupts are not recorded. A packet's receive is a softirq's doing,
 * and what it leads to comes soon and before the processor's next switch: the first
 * wakeup after it, and what is sent by idle. A thread that runs sends itself (but for
 * acknowledgements); whom a thread wakes may be an interrupt's doing, too, and stays
 * unknown. Idle does nothing itself, nor does the thread that softirqs are left to.
 */
static struct wake assumed_wake(const struct walk *walk, struct wake wake)
{
	const struct cpu *cpu = walk->cpu;
	bool sends = walk->row.tag == AT_SEND;
	bool by_none =
	    wake.tid == 0 || (cpu->known && strncmp(cpu->comm, "ksoftirqd/", 10) == 0);
	nsec_t since_ns = cpu->recv ? nsec_sub(walk->row.ts_ns, cpu->recv_ns) : NSEC_MAX;

	if (!cpu->recv_is_local && since_ns <= ASSUMED_NS &&
	    (sends ? by_none : !cpu->recv_woke)) {
		wake.wait = WAIT_NETWORK;
		wake.batch = cpu->batch;
		wake.recv = cpu->recv;
	} else if (by_none) {
		wake.wait = WAIT_INTERRUPT;
	} else if (sends && wake.tid > 0) {
		wake.wait = WAIT_THREAD;
	}
	return wake;
}

struct wake interrupt_wake(const struct walk *walk)
{
	const struct cpu *cpu = walk->cpu;
	struct wake wake = {
	    .wait = WAIT_UNKNOWN, .tid = walk->row.tid, .event = walk->row.id};

	if (wake.tid < 0 && cpu && cpu->known)
		wake.tid = cpu->tid;
	if (cpu && !walk->has_interrupts && walk->without & ACTIVITY_ASSUME)
		return assumed_wake(walk, wake);
	if (!cpu || !walk->has_interrupts)
		return wake;
	if (cpu->deep == 0) {
		/* Idle itself wakes nobody but for an interrupt without an event. */
		wake.wait = wake.tid > 0    ? WAIT_THREAD
			    : wake.tid == 0 ? WAIT_INTERRUPT
					    : WAIT_UNKNOWN;
		return wake;
	}
	wake.wait = kind_of(&cpu->stack[cpu->deep - 1]);
	if (wake.wait != WAIT_NETWORK || !cpu->recv ||
	    cpu->stack[cpu->deep - 1].number != SOFTIRQ_NET_RX)
		return wake;
	/* A packet to the same node: whoever sent it is still on the processor. */
	if (cpu->recv_is_local && wake.tid > 0) {
		wake.wait = WAIT_THREAD;
		return wake;
	}
	wake.batch = cpu->batch;
	wake.recv = cpu->recv;
	return wake;
}

void interrupt_finish(struct walk *walk, size_t at, nsec_t end_ns)
{
	const struct activity_node *node = &walk->node[at];

	for (size_t i = 0; i < node->cpus; i++)
		if (node->cpu[i])
			interrupt_cut(walk, at, node->cpu[i], end_ns);
}
