/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/mem.h"
#include "merge/spans/spans_private.h"

/* The interrupts of a processor form a stack: a hard interrupt interrupts a softirq, and
 * a timer's function runs within the clock's interrupt. The top of the stack wakes a
 * thread. */
enum {
	SOFTIRQ_TIMER = 1,
	SOFTIRQ_NET_TX = 2,
	SOFTIRQ_NET_RX = 3,
	SOFTIRQ_BLOCK = 4,
	SOFTIRQ_HRTIMER = 8
};

/* Time after a packet's receive in which its softirq is assumed to act (assumed_wait): a
 * kernel needs some microseconds, an emulated one some hundred. */
static const nsec_t ASSUMED_NS = 500 * NSEC_PER_USEC;

/* include/linux/interrupt.h of the kernel; part of what user space may rely on */
static int64_t softirq_name(struct spans *spans, int64_t number)
{
	static const char *const names[] = {"HI",      "TIMER",    "NET_TX",  "NET_RX",
					    "BLOCK",   "IRQ_POLL", "TASKLET", "SCHED",
					    "HRTIMER", "RCU"};

	return number >= 0 && number < (int64_t)(sizeof(names) / sizeof(names[0]))
		   ? (int64_t)texts_put(&spans->texts, names[number])
		   : TIMELINE_NONE;
}

/* Make an interrupt that begins now, as far as is known. */
static void init_interrupt(struct interrupt *interrupt, const struct spans *spans,
			   enum interrupt_kind kind, int64_t number, int64_t name)
{
	interrupt->kind = kind;
	interrupt->disk = false;
	interrupt->number = number;
	interrupt->name = name;
	span_init(&interrupt->span, spans->event->ts_ns, spans->event->ts_ns);
	interrupt->span.irq.inner_ns = 0;
	interrupt->span.irq.tid = known(spans->tid);
}

static void add_interrupt(struct spans *spans, uint32_t node, const struct cpu *cpu,
			  struct interrupt *interrupt, nsec_t end_ns, int64_t cut)
{
	const struct interrupt_source source = {interrupt->kind == INTERRUPT_SOFT,
						interrupt->number, interrupt->name,
						cpu->number};

	if (interrupt->kind == INTERRUPT_TIMER)
		return;
	interrupt->span.end_ns = end_ns;
	interrupt->span.irq.cut =
	    cut | span_doubt(cpu->doubt_ns, NEED_INTERRUPT, interrupt->span.begin_ns);
	spans_add(spans, SPAN_INTERRUPT, node,
		  (int64_t)texts_put_bytes(&spans->sources, (const char *)&source,
					   sizeof(source)),
		  &interrupt->span);
}

/* The innermost interrupt ends. */
static void pop_interrupt(struct spans *spans, uint32_t node, struct cpu *cpu,
			  nsec_t end_ns, bool cut_end)
{
	struct interrupt *ended = &cpu->stack[--cpu->deep];
	size_t below = cpu->deep;
	int64_t *inner;

	add_interrupt(spans, node, cpu, ended, end_ns, span_cut(false, cut_end));
	if (ended->kind == INTERRUPT_TIMER)
		return;
	while (below > 0 && cpu->stack[below - 1].kind == INTERRUPT_TIMER)
		below--;
	if (below == 0)
		return;
	inner = &cpu->stack[below - 1].span.irq.inner_ns;
	*inner = nsec_add(*inner, nsec_sub(end_ns, ended->span.begin_ns));
}

static void cut_down_to(struct spans *spans, uint32_t node, struct cpu *cpu, size_t keep,
			nsec_t end_ns)
{
	while (cpu->deep > keep) {
		nsec_t begin_ns = cpu->stack[cpu->deep - 1].span.begin_ns;

		pop_interrupt(spans, node, cpu, end_ns > begin_ns ? end_ns : begin_ns,
			      true);
	}
}

void interrupt_cut(struct spans *spans, uint32_t node, struct cpu *cpu, nsec_t end_ns)
{
	cut_down_to(spans, node, cpu, 0, end_ns);
}

/* Remove interrupts that this one cannot interrupt: their ends were lost. A softirq
 * starts only when no interrupt is left, a line or a function does not interrupt itself,
 * and no kernel nests INTERRUPTS_DEEP deep. */
static void drop_lost(struct spans *spans, enum interrupt_kind kind, int64_t number)
{
	struct cpu *cpu = spans->cpu;
	size_t keep =
	    kind == INTERRUPT_SOFT || cpu->deep == INTERRUPTS_DEEP ? 0 : cpu->deep;

	for (size_t i = 0; i < keep; i++)
		if (cpu->stack[i].kind == kind && cpu->stack[i].number == number)
			keep = i;
	cut_down_to(spans, spans->event->node, cpu, keep, cpu->last_ns);
}

static void push_interrupt(struct spans *spans, enum interrupt_kind kind, int64_t number,
			   int64_t name)
{
	struct cpu *cpu = spans->cpu;

	drop_lost(spans, kind, number);
	init_interrupt(&cpu->stack[cpu->deep++], spans, kind, number, name);
}

/* Add an interrupt whose begin was before the recording or was lost. */
static void add_beginless(struct spans *spans, enum interrupt_kind kind, int64_t number)
{
	struct cpu *cpu = spans->cpu;
	struct interrupt interrupt;

	init_interrupt(&interrupt, spans, kind, number,
		       kind == INTERRUPT_SOFT ? softirq_name(spans, number)
					      : TIMELINE_NONE);
	interrupt.span.begin_ns = cpu->last_ns == NSEC_MIN ? cpu->first_ns : cpu->last_ns;
	add_interrupt(spans, spans->event->node, cpu, &interrupt, spans->event->ts_ns,
		      span_cut(true, false));
}

/* End an interrupt. Interrupts within it that have not ended lost their ends. */
static void end_interrupt(struct spans *spans, enum interrupt_kind kind, int64_t number)
{
	struct cpu *cpu = spans->cpu;
	size_t at = cpu->deep;

	while (at > 0 &&
	       (cpu->stack[at - 1].kind != kind ||
		(kind != INTERRUPT_TIMER && cpu->stack[at - 1].number != number)))
		at--;
	if (at == 0) {
		add_beginless(spans, kind, number);
		return;
	}
	while (cpu->deep > at)
		pop_interrupt(spans, spans->event->node, cpu, cpu->last_ns, true);
	pop_interrupt(spans, spans->event->node, cpu, spans->event->ts_ns, false);
}

static void begin_softirq(struct spans *spans, int64_t number)
{
	struct cpu *cpu = spans->cpu;

	push_interrupt(spans, INTERRUPT_SOFT, number, softirq_name(spans, number));
	if (number >= 0 && number < SOFTIRQS) {
		cpu->stack[cpu->deep - 1].span.irq.raised_ns = cpu->raised_ns[number];
		cpu->raised_ns[number] = NSEC_MIN;
	}
	if (number == SOFTIRQ_NET_RX)
		cpu->last_recv = 0;
}

static void raise_softirq(struct spans *spans, int64_t number)
{
	struct cpu *cpu = spans->cpu;

	if (number >= 0 && number < SOFTIRQS && cpu->raised_ns[number] == NSEC_MIN)
		cpu->raised_ns[number] = spans->event->ts_ns;
}

static bool has_interrupts(const struct spans *spans)
{
	const struct span_node *node = &spans->node[spans->event->node];

	return node->has_hard && node->has_soft;
}

/* Add a received packet to those of its softirq; if softirqs are not recorded, to those
 * received shortly before on the processor. */
static void add_received_packet(struct spans *spans)
{
	const struct cell *name = event_field(spans->event, RECEIVE_DEVICE);
	nsec_t now = spans->event->ts_ns;
	struct cpu *cpu = spans->cpu;

	if (!cpu->last_recv ||
	    (!has_interrupts(spans) && nsec_sub(now, cpu->recv_ns) > ASSUMED_NS))
		cpu->first_recv = spans->event->id;
	cpu->last_recv = spans->event->id;
	cpu->recv_ns = now;
	cpu->recv_woke = false;
	cpu->recv_is_local = name->type == CELL_TEXT && name->size == 2 &&
			     memcmp(name->bytes, "lo", 2) == 0;
	spans->cause->first_recv = cpu->first_recv;
}

void interrupt_event(struct spans *spans)
{
	int64_t number = event_integer(spans->event, IRQ_LINE, -1);

	if (!spans->cpu)
		return;
	switch (spans->tag) {
	case AT_IRQ_ENTRY:
		push_interrupt(spans, INTERRUPT_HARD, number,
			       spans_text(spans, IRQ_NAME));
		break;
	case AT_IRQ_EXIT:
		end_interrupt(spans, INTERRUPT_HARD, number);
		break;
	case AT_SOFTIRQ_RAISE:
		raise_softirq(spans, number);
		break;
	case AT_SOFTIRQ_ENTRY:
		begin_softirq(spans, number);
		break;
	case AT_SOFTIRQ_EXIT:
		end_interrupt(spans, INTERRUPT_SOFT, number);
		break;
	case AT_TIMER_ENTRY:
		push_interrupt(spans, INTERRUPT_TIMER, 0, TIMELINE_NONE);
		break;
	case AT_TIMER_EXIT:
		end_interrupt(spans, INTERRUPT_TIMER, 0);
		break;
	case AT_RECEIVE:
		add_received_packet(spans);
		break;
	default: /* a disk's request is complete */
		if (spans->cpu->deep > 0)
			spans->cpu->stack[spans->cpu->deep - 1].disk = true;
		break;
	}
}

static enum span_wait kind_of(const struct interrupt *top)
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

/* The assumed cause if interrupts are not recorded. A packet is received by a softirq,
 * which acts soon and before the processor's next switch: the first wakeup after it, and
 * sends while idle. A running thread sends by itself, except acknowledgements; a wakeup
 * by a thread can be an interrupt's, so it stays unknown. Idle does nothing by itself,
 * and neither does the thread that runs softirqs. */
static enum span_wait assumed_wait(const struct spans *spans, int64_t tid)
{
	const struct cpu *cpu = spans->cpu;
	bool sends = spans->tag == AT_SEND;
	bool by_none = tid == 0 || (cpu->known && cpu->comm != TIMELINE_NONE &&
				    strncmp(texts_get(&spans->texts, (size_t)cpu->comm),
					    "ksoftirqd/", 10) == 0);
	nsec_t since_ns =
	    cpu->last_recv ? nsec_sub(spans->event->ts_ns, cpu->recv_ns) : NSEC_MAX;

	if (!cpu->recv_is_local && since_ns <= ASSUMED_NS &&
	    (sends ? by_none : !cpu->recv_woke))
		return WAIT_NETWORK;
	if (by_none)
		return WAIT_INTERRUPT;
	return sends && tid > 0 ? WAIT_THREAD : WAIT_UNKNOWN;
}

/* Return the cause by the top of the processor's stack. */
static enum span_wait recorded_wait(const struct cpu *cpu, int64_t tid)
{
	const struct interrupt *top;
	enum span_wait wait;

	/* Idle wakes a thread only by an interrupt without an event. */
	if (cpu->deep == 0)
		return tid > 0 ? WAIT_THREAD : tid == 0 ? WAIT_INTERRUPT : WAIT_UNKNOWN;
	top = &cpu->stack[cpu->deep - 1];
	wait = kind_of(top);
	/* A packet to the same node: its sender is still on the processor. */
	if (wait == WAIT_NETWORK && top->number == SOFTIRQ_NET_RX && cpu->last_recv &&
	    cpu->recv_is_local && tid > 0)
		return WAIT_THREAD;
	return wait;
}

struct span_cause interrupt_cause(const struct spans *spans)
{
	const struct cpu *cpu = spans->cpu;
	struct span_cause cause = {.tid = spans->tid, .event = spans->event->id};
	bool is_recorded = has_interrupts(spans), has_packet;

	if (cause.tid < 0 && cpu && cpu->known)
		cause.tid = cpu->tid;
	if (!cpu || cpu->is_interrupt_unknown)
		return cause;
	cause.wait =
	    is_recorded ? recorded_wait(cpu, cause.tid) : assumed_wait(spans, cause.tid);
	cause.is_assumed = !is_recorded && cause.wait != WAIT_UNKNOWN;
	has_packet =
	    cause.wait == WAIT_NETWORK &&
	    (!is_recorded ||
	     (cpu->deep > 0 && cpu->stack[cpu->deep - 1].number == SOFTIRQ_NET_RX));
	if (has_packet && cpu->last_recv) {
		cause.first_recv = cpu->first_recv;
		cause.last_recv = cpu->last_recv;
	}
	return cause;
}

void interrupt_finish(struct spans *spans, uint32_t at, nsec_t end_ns)
{
	const struct span_node *node = &spans->node[at];

	for (size_t i = 0; i < node->cpus; i++)
		if (node->cpu[i])
			interrupt_cut(spans, at, node->cpu[i], end_ns);
}
