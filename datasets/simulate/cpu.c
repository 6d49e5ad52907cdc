/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/cpu.h"

#include <string.h>

#include "base/mem.h"
#include "simulate/dice.h"
#include "simulate/event.h"
#include "simulate/host.h"
#include "simulate/network.h"
#include "simulate/task.h"
#include "simulate/thread.h"
#include "simulate/transport.h"

static const nsec_t slice_ns = 4 * NSEC_PER_MSEC;

/* Return true for a background thread, which runs only if no other thread is ready. */
static bool only_computes(const struct thread *thread)
{
	return thread->role == ROLE_WORKER || thread->role == ROLE_CHILD;
}

void cpu_charge(struct context *ctx, enum cpu_use use)
{
	struct cpu *cpu = ctx->cpu;

	if (!ctx->world->full)
		return;
	if (ctx->ns > cpu->charged_ns)
		cpu->used_ns[use] += ctx->ns - cpu->charged_ns;
	cpu->charged_ns = ctx->ns;
}

/* Stop what the processor's thread computes, and charge the time until now. */
static void cpu_enter(struct context *ctx)
{
	struct cpu *cpu = ctx->cpu;
	struct thread *thread = cpu->current;

	if (thread) {
		nsec_t worked = ctx->ns - cpu->since_ns;

		thread->work_ns -= worked < thread->work_ns ? worked : thread->work_ns;
		cpu_charge(ctx, USE_USER);
	} else {
		cpu_charge(ctx, ctx->host->disk_waiting ? USE_IOWAIT : USE_IDLE);
	}
	cpu->since_ns = ctx->ns;
}

void cpu_add(struct thread *thread)
{
	struct cpu *cpu = thread->cpu;

	*MEM_NEXT(cpu->runnable, cpu->runnables, cpu->runnable_capacity) = thread;
}

/*
 * Remove the next thread from the processor's run queue, background threads last. Return
 * NULL if none is ready yet.
 */
static struct thread *dequeue_thread(const struct context *ctx)
{
	struct cpu *cpu = ctx->cpu;
	size_t chosen = cpu->runnables;
	struct thread *thread;

	for (size_t i = 0; i < cpu->runnables; i++) {
		if (cpu->runnable[i]->ready_ns > ctx->ns)
			continue;
		if (!only_computes(cpu->runnable[i])) {
			chosen = i;
			break;
		}
		if (chosen == cpu->runnables)
			chosen = i;
	}
	if (chosen == cpu->runnables)
		return NULL;
	thread = cpu->runnable[chosen];
	cpu->runnables--;
	memmove(cpu->runnable + chosen, cpu->runnable + chosen + 1,
		(cpu->runnables - chosen) * sizeof(*cpu->runnable));
	return thread;
}

static void switch_to(struct context *ctx, struct thread *next, int state)
{
	struct cpu *cpu = ctx->cpu;
	struct thread *last = cpu->current;

	ctx->about = next;
	EVENT(ctx, EVENT_SWITCH, {.text = last ? last->name : cpu->idle_name},
	      {.i = tid_of(last)}, {.i = PRIORITY}, {.i = state},
	      {.text = next ? next->name : cpu->idle_name}, {.i = tid_of(next)},
	      {.i = PRIORITY});
	ctx->host->count.switches++;
	if (last)
		last->asleep_ns = ctx->ns;
	cpu->current = next;
	cpu->slice_ns = ctx->ns + slice_ns;
	cpu_charge(ctx, USE_SYSTEM);
	pass_time(ctx, 500, 1500);
}

void cpu_sleep(struct context *ctx, int state)
{
	if (ctx->world->full)
		switch_to(ctx, dequeue_thread(ctx), state);
}

/* Look again when the thread has computed enough, or for long enough. */
static void arm_timer(struct context *ctx)
{
	struct cpu *cpu = ctx->cpu;
	nsec_t until = ctx->ns + cpu->current->work_ns;

	if (cpu->slice_ns <= ctx->ns)
		cpu->slice_ns = ctx->ns + slice_ns;
	cpu->since_ns = ctx->ns;
	queue_add(&ctx->world->queue, until < cpu->slice_ns ? until : cpu->slice_ns,
		  PENDING_CPU, cpu, ++cpu->age);
}

/* One step; whether there is another. */
static bool step_thread(struct context *ctx)
{
	struct cpu *cpu = ctx->cpu;
	struct thread *last = cpu->current;

	if (!last || cpu->resched) {
		struct thread *next = dequeue_thread(ctx);

		cpu->resched = false;
		if (next) {
			switch_to(ctx, next, STATE_RUNNING);
			if (last) {
				last->ready_ns = ctx->ns;
				cpu_add(last);
			}
			return true;
		}
		if (!last)
			return false;
	}
	if (last->work_ns > 0) {
		arm_timer(ctx);
		return false;
	}
	task_step(ctx, last);
	return true;
}

/* Go on after that: with the next thread if it is due, until something is awaited. */
static void cpu_leave(struct context *ctx)
{
	if (ctx->world->full) {
		ctx->cpu->age++;
		while (!ctx->world->stopped && step_thread(ctx))
			continue;
		cpu_charge(ctx, USE_SYSTEM);
		ctx->cpu->since_ns = ctx->ns;
	}
	ctx->cpu->free_ns = ctx->ns;
}

/* Return the thread's processor if it is idle, otherwise an idle one, otherwise its own,
 * or one that is online. */
static struct cpu *choose_cpu(const struct context *ctx, const struct thread *thread)
{
	uint32_t cpus = (uint32_t)ctx->world->scenario->cpus;
	const uint32_t offline = (uint32_t)fault_now(ctx, SCENARIO_OFFLINE);

	cpus = offline < cpus ? cpus - offline : 1;
	for (uint32_t i = 0; i < cpus; i++) {
		struct cpu *cpu = &ctx->host->cpu[(thread->cpu->number + i) % cpus];

		if (!cpu->current && !cpu->runnables)
			return cpu;
	}
	return &ctx->host->cpu[thread->cpu->number % cpus];
}

/* Add a thread to its processor's run queue; it may preempt a background thread. */
static void make_ready(struct context *ctx, struct thread *thread)
{
	struct cpu *cpu = thread->cpu;

	thread->ready_ns = ctx->ns;
	cpu_add(thread);
	if (cpu->current) {
		if (!only_computes(cpu->current) || only_computes(thread))
			return;
		cpu->resched = true;
	}
	if (cpu != ctx->cpu)
		queue_add(&ctx->world->queue,
			  ctx->ns + dice_between(&ctx->host->dice, 800, 3000),
			  PENDING_KICK, cpu, 0);
}

void cpu_wake(struct context *ctx, struct thread *thread)
{
	struct cpu *cpu;

	/* The thread may be about to fall asleep on another processor. */
	wait_until(ctx, thread->asleep_ns);
	cpu = choose_cpu(ctx, thread);
	ctx->about = thread;
	event_of_thread(ctx, EVENT_WAKING, thread);
	if (cpu != thread->cpu)
		EVENT(ctx, EVENT_MIGRATE, {.text = thread->name}, {.i = thread->tid},
		      {.i = PRIORITY}, {.i = (int32_t)thread->cpu->number},
		      {.i = (int32_t)cpu->number});
	thread->cpu = cpu;
	event_of_thread(ctx, EVENT_WAKEUP, thread);
	make_ready(ctx, thread);
}

void cpu_wake_new(struct context *ctx, struct thread *thread)
{
	thread->cpu = choose_cpu(ctx, thread);
	ctx->about = thread;
	event_of_thread(ctx, EVENT_WAKEUP_NEW, thread);
	make_ready(ctx, thread);
}

enum { SOFTIRQ_TIMER = 1, SOFTIRQ_NET_RX = 3, SOFTIRQ_RCU = 9 };
enum { NIC_IRQ = 27, DISK_IRQ = 25, BUDGET = 64 };

/* Addresses for timers' functions and the like that a kernel could have. */
enum { TICK = 0x40, WAKEUP = 0x80 };
static const uint64_t function_base = 0xffffffff81150000u;
static const uint64_t timer_base = 0xffff88807b000000u;
static const uint64_t napi_base = 0xffff888003c10000u;

static struct context interrupt_begin(struct world *world, struct cpu *cpu)
{
	struct context ctx = context_begin(world, cpu, world->now);

	if (world->full)
		cpu_enter(&ctx);
	return ctx;
}

static void raise_softirq(struct context *ctx, uint32_t vector)
{
	EVENT(ctx, EVENT_SOFTIRQ_RAISE, {.u = vector});
}

static void begin_softirq(struct context *ctx, uint32_t vector)
{
	cpu_charge(ctx, USE_IRQ);
	ctx->host->count.softirqs++;
	EVENT(ctx, EVENT_SOFTIRQ_ENTRY, {.u = vector});
}

static void end_softirq(struct context *ctx, uint32_t vector)
{
	EVENT(ctx, EVENT_SOFTIRQ_EXIT, {.u = vector});
	cpu_charge(ctx, USE_SOFTIRQ);
	cpu_leave(ctx);
}

static void begin_irq(struct context *ctx, int irq, const char *name)
{
	ctx->host->count.interrupts++;
	if (ctx->world->full)
		pass_time(ctx, 300, 1500);
	EVENT(ctx, EVENT_IRQ_ENTRY, {.i = irq}, {.text = name});
}

static void end_irq(struct context *ctx, int irq)
{
	EVENT(ctx, EVENT_IRQ_EXIT, {.i = irq}, {.i = 1});
}

void interrupt_nic(struct world *world, struct cpu *cpu)
{
	struct context ctx = interrupt_begin(world, cpu);
	int irq = NIC_IRQ + 2 * (int)cpu->number;
	size_t count;

	begin_irq(&ctx, irq, cpu->nic_name);
	raise_softirq(&ctx, SOFTIRQ_NET_RX);
	end_irq(&ctx, irq);
	begin_softirq(&ctx, SOFTIRQ_NET_RX);
	count = nic_poll(&ctx);
	EVENT(&ctx, EVENT_NAPI_POLL, {.u = napi_base + 0x400 * (uint64_t)cpu->number},
	      {.text = NIC_NAME}, {.i = (int64_t)count},
	      {.i = count > BUDGET ? (int64_t)count : BUDGET});
	end_softirq(&ctx, SOFTIRQ_NET_RX);
}

static void interrupt_poll(struct world *world, const struct pending *pending)
{
	interrupt_nic(world, pending->what);
}

static void interrupt_resend(struct world *world, const struct pending *pending)
{
	struct endpoint *end = pending->what;
	struct context ctx;

	if (!transport_is_overdue(world, end))
		return;
	ctx = interrupt_begin(world, end->cpu);
	raise_softirq(&ctx, SOFTIRQ_TIMER);
	begin_softirq(&ctx, SOFTIRQ_TIMER);
	transport_resend(&ctx, end);
	end_softirq(&ctx, SOFTIRQ_TIMER);
}

/* Timers of threads and of the tick differ by their addresses. */
static uint64_t begin_timer(struct context *ctx, uint64_t number, uint64_t function)
{
	uint64_t timer = timer_base + number * 64;

	ctx->host->count.interrupts++;
	EVENT(ctx, EVENT_HRTIMER_ENTRY, {.u = timer},
	      {.i = sim_clock_mono(&ctx->host->clock, ctx->ns)},
	      {.u = function_base + function});
	return timer;
}

static void end_timer(struct context *ctx, uint64_t timer)
{
	EVENT(ctx, EVENT_HRTIMER_EXIT, {.u = timer});
	cpu_charge(ctx, USE_IRQ);
}

static void interrupt_timer(struct world *world, const struct pending *pending)
{
	struct thread *thread = pending->what;
	struct context ctx;
	uint64_t timer;

	if ((thread->age & PENDING_AGE) != pending->age)
		return;
	ctx = interrupt_begin(world, thread->cpu);
	if (!world->full) {
		thread->wait = WAIT_NONE;
		while (thread->wait == WAIT_NONE)
			task_step(&ctx, thread);
	} else {
		timer =
		    begin_timer(&ctx, (uint64_t)(thread - world->thread) + 64, WAKEUP);
		thread_wake(&ctx, thread);
		end_timer(&ctx, timer);
	}
	cpu_leave(&ctx);
}

static void interrupt_disk(struct world *world, const struct pending *pending)
{
	struct thread *thread = pending->what;
	/* The disk has one queue; processor 0 handles its interrupts. */
	struct context ctx = interrupt_begin(world, &thread->host->cpu[0]);

	begin_irq(&ctx, DISK_IRQ, "virtio3-req.0");
	disk_complete(&ctx, thread);
	end_irq(&ctx, DISK_IRQ);
	cpu_charge(&ctx, USE_IRQ);
	cpu_leave(&ctx);
}

/* End the current thread's computation, or its time slice. */
static void interrupt_cpu(struct world *world, const struct pending *pending)
{
	struct cpu *cpu = pending->what;
	struct context ctx;

	if ((cpu->age & PENDING_AGE) != pending->age)
		return;
	ctx = interrupt_begin(world, cpu);
	if (cpu->current && ctx.ns >= cpu->slice_ns) {
		end_timer(&ctx, begin_timer(&ctx, cpu->number, TICK));
		cpu->resched |= cpu->runnables > 0;
	}
	cpu_leave(&ctx);
}

/* Another processor woke a thread for it. */
static void interrupt_kick(struct world *world, const struct pending *pending)
{
	struct cpu *cpu = pending->what;
	struct context ctx;

	if (!cpu->resched && (cpu->current || !cpu->runnables))
		return;
	ctx = interrupt_begin(world, cpu);
	cpu_leave(&ctx);
}

/* Nobody looks any more at what a daemon's last child left: a grace period ended. */
static void interrupt_free(struct world *world, const struct pending *pending)
{
	struct thread *daemon = pending->what;
	struct context ctx = interrupt_begin(world, daemon->cpu);
	uint64_t timer = begin_timer(&ctx, daemon->cpu->number, TICK);

	raise_softirq(&ctx, SOFTIRQ_RCU);
	end_timer(&ctx, timer);
	begin_softirq(&ctx, SOFTIRQ_RCU);
	process_free(&ctx, daemon);
	end_softirq(&ctx, SOFTIRQ_RCU);
}

static void interrupt_dump(struct world *world, const struct pending *pending)
{
	struct host *host = pending->what;
	struct context ctx = interrupt_begin(world, &host->cpu[0]);

	statedump(&ctx);
	cpu_charge(&ctx, USE_SYSTEM);
	if (world->now > world->begin_ns)
		cpu_leave(&ctx);
	else /* nothing runs yet */
		ctx.cpu->free_ns = ctx.ns;
}

void interrupt(struct world *world, const struct pending *pending)
{
	static void (*const handler[])(struct world *, const struct pending *) = {
	    [PENDING_TIMER] = interrupt_timer,   [PENDING_ARRIVAL] = nic_arrive,
	    [PENDING_RESEND] = interrupt_resend, [PENDING_POLL] = interrupt_poll,
	    [PENDING_CPU] = interrupt_cpu,       [PENDING_KICK] = interrupt_kick,
	    [PENDING_DISK] = interrupt_disk,     [PENDING_DUMP] = interrupt_dump,
	    [PENDING_FREE] = interrupt_free,
	};

	handler[pending->kind](world, pending);
}
