/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/interrupt.h"

#include <stdio.h>

#include "simulate/card.h"
#include "simulate/cpu.h"
#include "simulate/event.h"
#include "simulate/host.h"
#include "simulate/process.h"
#include "simulate/spans.h"
#include "simulate/thread.h"
#include "simulate/transport.h"

enum { SOFTIRQ_TIMER = 1, SOFTIRQ_NET_RX = 3, SOFTIRQ_RCU = 9 };
enum { CARD_IRQ = 27, DISK_IRQ = 25, BUDGET = 64 };

/* Functions of timers and the like, where a kernel could have them. */
enum { TICK = 0x40, WAKEUP = 0x80 };
static const uint64_t function_base = 0xffffffff81150000u;
static const uint64_t timer_base = 0xffff88807b000000u;
static const uint64_t napi_base = 0xffff888003c10000u;

static struct now enter(struct world *world, uint32_t node, uint32_t cpu)
{
	struct now now = now_begin(world, node, cpu, world->now);

	cpu_enter(&now);
	return now;
}

static void raise_softirq(struct now *now, uint32_t vector)
{
	spans_raise(now, vector);
	EVENT(now, EVENT_SOFTIRQ_RAISE, {.u = vector});
}

static void begin_softirq(struct now *now, uint32_t vector)
{
	cpu_charge(now, USE_IRQ);
	now_host(now)->count.softirqs++;
	spans_interrupt(now, SPAN_SOFTIRQ, vector, "");
	EVENT(now, EVENT_SOFTIRQ_ENTRY, {.u = vector});
}

static void end_softirq(struct now *now, uint32_t vector)
{
	spans_interrupt_end(now);
	EVENT(now, EVENT_SOFTIRQ_EXIT, {.u = vector});
	cpu_charge(now, USE_SOFTIRQ);
}

static void begin_irq(struct now *now, int irq, const char *name)
{
	now_host(now)->count.interrupts++;
	now_pass(now, 300, 1500);
	spans_interrupt(now, SPAN_IRQ, irq, name);
	EVENT(now, EVENT_IRQ_ENTRY, {.i = irq}, {.text = name});
}

static void end_irq(struct now *now, int irq)
{
	spans_interrupt_end(now);
	EVENT(now, EVENT_IRQ_EXIT, {.i = irq}, {.i = 1});
}

void interrupt_card(struct world *world, uint32_t node, uint32_t cpu)
{
	int irq = CARD_IRQ + 2 * (int)cpu;
	struct now now;
	char name[32];
	size_t count;

	if (!world->full) {
		now = now_begin(world, node, cpu, world->now);
		card_poll(&now);
		now_end(&now);
		return;
	}
	snprintf(name, sizeof(name), "virtio0-input.%u", cpu);
	now = enter(world, node, cpu);
	begin_irq(&now, irq, name);
	raise_softirq(&now, SOFTIRQ_NET_RX);
	end_irq(&now, irq);
	begin_softirq(&now, SOFTIRQ_NET_RX);
	count = card_poll(&now);
	EVENT(&now, EVENT_NAPI_POLL, {.u = napi_base + 0x400 * (uint64_t)cpu},
	      {.text = CARD_NAME}, {.i = (int64_t)count},
	      {.i = count > BUDGET ? (int64_t)count : BUDGET});
	end_softirq(&now, SOFTIRQ_NET_RX);
	cpu_leave(&now);
}

void interrupt_resend(struct world *world, uint32_t flow, int side)
{
	uint32_t node = world->flow[flow].end[side].node;
	uint32_t cpu = flow % (uint32_t)world->scenario->cpus;
	struct now now;

	if (!transport_is_overdue(world, flow, side))
		return;
	if (!world->full) {
		now = now_begin(world, node, cpu, world->now);
		transport_resend(&now, flow, side);
		now_end(&now);
		return;
	}
	now = enter(world, node, cpu);
	raise_softirq(&now, SOFTIRQ_TIMER);
	begin_softirq(&now, SOFTIRQ_TIMER);
	transport_resend(&now, flow, side);
	end_softirq(&now, SOFTIRQ_TIMER);
	cpu_leave(&now);
}

/* Timers of threads and of the tick are told apart by their addresses. */
static uint64_t begin_timer(struct now *now, uint64_t number, uint64_t function)
{
	uint64_t timer = timer_base + number * 64;

	now_host(now)->count.interrupts++;
	EVENT(now, EVENT_HRTIMER_ENTRY, {.u = timer},
	      {.i = sim_clock_mono(&now_host(now)->clock, now->ns)},
	      {.u = function_base + function});
	return timer;
}

static void end_timer(struct now *now, uint64_t timer)
{
	EVENT(now, EVENT_HRTIMER_EXIT, {.u = timer});
	cpu_charge(now, USE_IRQ);
}

void interrupt_timer(struct world *world, uint32_t number, uint32_t age)
{
	struct thread *thread = &world->thread[number];
	struct now now;
	uint64_t timer;

	if ((thread->age & OCCASION_AGE) != age)
		return;
	if (!world->full) {
		light_timer(world, number);
		return;
	}
	now = enter(world, thread->node, thread->cpu);
	timer = begin_timer(&now, number + 64, WAKEUP);
	thread_wake(&now, number);
	end_timer(&now, timer);
	cpu_leave(&now);
}

void interrupt_disk(struct world *world, uint32_t number)
{
	/* The disk has one queue, whose interrupts all come to one processor. */
	struct now now = enter(world, world->thread[number].node, 0);

	begin_irq(&now, DISK_IRQ, "virtio3-req.0");
	disk_complete(&now, number);
	end_irq(&now, DISK_IRQ);
	cpu_charge(&now, USE_IRQ);
	cpu_leave(&now);
}

void interrupt_cpu(struct world *world, uint32_t node, uint32_t number, uint32_t age)
{
	struct cpu *cpu = &world->host[node].cpu[number];
	struct now now;

	if ((cpu->age & OCCASION_AGE) != age)
		return;
	now = enter(world, node, number);
	if (cpu->current != NO_THREAD && now.ns >= cpu->slice_ns) {
		end_timer(&now, begin_timer(&now, number, TICK));
		cpu->resched |= cpu->runnables > 0;
	}
	cpu_leave(&now);
}

void interrupt_kick(struct world *world, uint32_t node, uint32_t number)
{
	const struct cpu *cpu = &world->host[node].cpu[number];
	struct now now;

	if (!cpu->resched && (cpu->current != NO_THREAD || !cpu->runnables))
		return;
	now = enter(world, node, number);
	cpu_leave(&now);
}

void interrupt_free(struct world *world, uint32_t daemon)
{
	const struct thread *thread = &world->thread[daemon];
	struct now now = enter(world, thread->node, thread->cpu);
	uint64_t timer = begin_timer(&now, thread->cpu, TICK);

	raise_softirq(&now, SOFTIRQ_RCU);
	end_timer(&now, timer);
	begin_softirq(&now, SOFTIRQ_RCU);
	process_free(&now, daemon);
	end_softirq(&now, SOFTIRQ_RCU);
	cpu_leave(&now);
}

void interrupt_dump(struct world *world, uint32_t node)
{
	struct now now = enter(world, node, 0);

	statedump(&now);
	cpu_charge(&now, USE_SYSTEM);
	if (world->now > world->begin_ns)
		cpu_leave(&now);
	else /* nothing runs yet */
		now_end(&now);
}
