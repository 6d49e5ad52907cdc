/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/thread.h"

#include <string.h>

#include "base/mem.h"
#include "simulate/event.h"
#include "simulate/host.h"
#include "simulate/network.h"
#include "simulate/truth.h"

static const nsec_t slice_ns = 4 * NSEC_PER_MSEC;

/* Nobody waits for it, so it comes behind those for whom the world waits. */
static bool only_computes(const struct thread *thread)
{
	return thread->role == ROLE_WORKER || thread->role == ROLE_CHILD;
}

void cpu_charge(struct now *now, enum cpu_use use)
{
	struct cpu *cpu = now_cpu(now);

	if (!now->world->full)
		return;
	if (now->ns > cpu->charged_ns)
		cpu->used_ns[use] += now->ns - cpu->charged_ns;
	cpu->charged_ns = now->ns;
}
/* Stop what the processor's thread computes, and charge the time until now. */
static void cpu_enter(struct now *now)
{
	struct cpu *cpu = now_cpu(now);

	if (cpu->current == NO_THREAD) {
		cpu_charge(now, now_host(now)->disk_waiting ? USE_IOWAIT : USE_IDLE);
	} else {
		struct thread *thread = &now->world->thread[cpu->current];
		nsec_t worked = now->ns - cpu->since_ns;

		thread->work_ns -= worked < thread->work_ns ? worked : thread->work_ns;
		cpu_charge(now, USE_USER);
	}
	cpu->since_ns = now->ns;
}

void cpu_add(struct world *world, uint32_t number)
{
	struct thread *thread = &world->thread[number];
	struct cpu *cpu = &world->host[thread->node].cpu[thread->cpu];

	*MEM_NEXT(cpu->runnable, cpu->runnables, cpu->runnable_room) = number;
}

/*
 * Take the one of those that wait for the processor whose turn it is, NO_THREAD
 * if there is none yet: who only computes comes last.
 */
static uint32_t dequeue(const struct now *now)
{
	struct cpu *cpu = now_cpu(now);
	size_t chosen = cpu->runnables;
	uint32_t number;

	for (size_t i = 0; i < cpu->runnables; i++) {
		const struct thread *thread = &now->world->thread[cpu->runnable[i]];

		if (thread->ready_ns > now->ns)
			continue;
		if (!only_computes(thread)) {
			chosen = i;
			break;
		}
		if (chosen == cpu->runnables)
			chosen = i;
	}
	if (chosen == cpu->runnables)
		return NO_THREAD;
	number = cpu->runnable[chosen];
	cpu->runnables--;
	memmove(cpu->runnable + chosen, cpu->runnable + chosen + 1,
		(cpu->runnables - chosen) * sizeof(*cpu->runnable));
	return number;
}

static const char *name_of(const struct now *now, uint32_t number)
{
	return number == NO_THREAD ? now_cpu(now)->idle_name
				   : now->world->thread[number].name;
}

static void switch_to(struct now *now, uint32_t next, int state)
{
	struct cpu *cpu = now_cpu(now);
	uint32_t last = cpu->current;

	now->about = next;
	EVENT(now, EVENT_SWITCH, {.text = name_of(now, last)}, {.i = now_tid(now, last)},
	      {.i = PRIORITY}, {.i = state}, {.text = name_of(now, next)},
	      {.i = now_tid(now, next)}, {.i = PRIORITY});
	now_host(now)->count.switches++;
	if (last != NO_THREAD)
		now->world->thread[last].asleep_ns = now->ns;
	cpu->current = next;
	cpu->slice_ns = now->ns + slice_ns;
	cpu_charge(now, USE_SYSTEM);
	now_pass(now, 500, 1500);
}

void cpu_sleep(struct now *now, int state)
{
	if (now->world->full)
		switch_to(now, dequeue(now), state);
}

/* Look again when the thread has computed enough, or for long enough. */
static void arm(struct now *now)
{
	struct world *world = now->world;
	struct cpu *cpu = now_cpu(now);
	nsec_t until = now->ns + world->thread[cpu->current].work_ns;

	if (cpu->slice_ns <= now->ns)
		cpu->slice_ns = now->ns + slice_ns;
	cpu->since_ns = now->ns;
	queue_add(&world->queue, until < cpu->slice_ns ? until : cpu->slice_ns,
		  OCCASION_CPU, cpu_number(world, now->node, now->cpu), ++cpu->age);
}

/* One step; whether there is another. */
static bool step(struct now *now)
{
	struct cpu *cpu = now_cpu(now);
	uint32_t last = cpu->current, next;

	if (last == NO_THREAD || cpu->resched) {
		cpu->resched = false;
		next = dequeue(now);
		if (next != NO_THREAD) {
			switch_to(now, next, STATE_RUNNING);
			if (last != NO_THREAD) {
				now->world->thread[last].ready_ns = now->ns;
				cpu_add(now->world, last);
			}
			return true;
		}
		if (last == NO_THREAD)
			return false;
	}
	if (now->world->thread[last].work_ns > 0) {
		arm(now);
		return false;
	}
	task_step(now, last);
	return true;
}
/* Go on after that: with the next thread if it is due, until something is awaited. */
static void cpu_leave(struct now *now)
{
	if (now->world->full) {
		now_cpu(now)->age++;
		while (!now->world->stopped && step(now))
			continue;
		cpu_charge(now, USE_SYSTEM);
		now_cpu(now)->since_ns = now->ns;
	}
	now_end(now);
}

/* Its own processor if that is idle, else one that is, else its own. */
static uint32_t choose_cpu(const struct now *now, const struct thread *thread)
{
	const struct host *host = now_host(now);
	uint32_t cpus = (uint32_t)now->world->scenario->cpus;

	for (uint32_t i = 0; i < cpus; i++) {
		uint32_t number = (thread->cpu + i) % cpus;

		if (host->cpu[number].current == NO_THREAD &&
		    !host->cpu[number].runnables)
			return number;
	}
	return thread->cpu;
}

static void tell_wakeup(struct now *now, struct thread *thread)
{
	uint32_t cpu = choose_cpu(now, thread);

	now->about = (uint32_t)(thread - now->world->thread);
	event_of_thread(now, EVENT_WAKING, thread);
	if (cpu != thread->cpu)
		EVENT(now, EVENT_MIGRATE, {.text = thread->name}, {.i = thread->tid},
		      {.i = PRIORITY}, {.i = (int32_t)thread->cpu}, {.i = (int32_t)cpu});
	thread->cpu = cpu;
	event_of_thread(now, EVENT_WAKEUP, thread);
}

/* It joins those that wait for its processor, and may go before who is there. */
static void make_ready(struct now *now, uint32_t number)
{
	struct world *world = now->world;
	struct thread *thread = &world->thread[number];
	struct cpu *cpu;

	thread->ready_ns = now->ns;
	cpu_add(world, number);
	cpu = &now_host(now)->cpu[thread->cpu];
	if (cpu->current != NO_THREAD) {
		/* Who waits for the world goes before who only computes. */
		if (!only_computes(&world->thread[cpu->current]) || only_computes(thread))
			return;
		cpu->resched = true;
	}
	if (thread->cpu != now->cpu)
		queue_add(&world->queue,
			  now->ns + dice_between(&now_host(now)->dice, 800, 3000),
			  OCCASION_KICK, cpu_number(world, now->node, thread->cpu), 0);
}

void cpu_wake(struct now *now, uint32_t number)
{
	struct thread *thread = &now->world->thread[number];

	/* It may be just falling asleep on another processor. */
	now_wait(now, thread->asleep_ns);
	tell_wakeup(now, thread);
	make_ready(now, number);
}

void cpu_wake_new(struct now *now, uint32_t number)
{
	struct thread *thread = &now->world->thread[number];

	thread->cpu = choose_cpu(now, thread);
	now->about = number;
	event_of_thread(now, EVENT_WAKEUP_NEW, thread);
	make_ready(now, number);
}

enum { SOFTIRQ_TIMER = 1, SOFTIRQ_NET_RX = 3, SOFTIRQ_RCU = 9 };
enum { CARD_IRQ = 27, DISK_IRQ = 25, BUDGET = 64 };

/* Functions of timers and the like, where a kernel could have them. */
enum { TICK = 0x40, WAKEUP = 0x80 };
static const uint64_t function_base = 0xffffffff81150000u;
static const uint64_t timer_base = 0xffff88807b000000u;
static const uint64_t napi_base = 0xffff888003c10000u;

static struct now interrupt_begin(struct world *world, uint32_t node, uint32_t cpu)
{
	struct now now = now_begin(world, node, cpu, world->now);

	if (world->full)
		cpu_enter(&now);
	return now;
}

static void raise_softirq(struct now *now, uint32_t vector)
{
	EVENT(now, EVENT_SOFTIRQ_RAISE, {.u = vector});
}

static void begin_softirq(struct now *now, uint32_t vector)
{
	cpu_charge(now, USE_IRQ);
	now_host(now)->count.softirqs++;
	EVENT(now, EVENT_SOFTIRQ_ENTRY, {.u = vector});
}

static void end_softirq(struct now *now, uint32_t vector)
{
	EVENT(now, EVENT_SOFTIRQ_EXIT, {.u = vector});
	cpu_charge(now, USE_SOFTIRQ);
}

static void begin_irq(struct now *now, int irq, const char *name)
{
	now_host(now)->count.interrupts++;
	if (now->world->full)
		now_pass(now, 300, 1500);
	EVENT(now, EVENT_IRQ_ENTRY, {.i = irq}, {.text = name});
}

static void end_irq(struct now *now, int irq)
{
	EVENT(now, EVENT_IRQ_EXIT, {.i = irq}, {.i = 1});
}

void interrupt_card(struct world *world, uint32_t node, uint32_t cpu)
{
	struct now now = interrupt_begin(world, node, cpu);
	int irq = CARD_IRQ + 2 * (int)cpu;
	size_t count;

	begin_irq(&now, irq, now_cpu(&now)->card_name);
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

static void interrupt_poll(struct world *world, const struct occasion *occasion)
{
	uint32_t cpus = (uint32_t)world->scenario->cpus;

	interrupt_card(world, occasion->what / cpus, occasion->what % cpus);
}

static void interrupt_resend(struct world *world, const struct occasion *occasion)
{
	uint32_t flow = occasion->what / 2;
	int side = (int)(occasion->what & 1);
	uint32_t node = world->flow[flow].end[side].node;
	uint32_t cpu = flow % (uint32_t)world->scenario->cpus;
	struct now now;

	if (!transport_is_overdue(world, flow, side))
		return;
	now = interrupt_begin(world, node, cpu);
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

static void interrupt_timer(struct world *world, const struct occasion *occasion)
{
	uint32_t number = occasion->what;
	struct thread *thread = &world->thread[number];
	struct now now;
	uint64_t timer;

	if ((thread->age & OCCASION_AGE) != occasion->age)
		return;
	now = interrupt_begin(world, thread->node, thread->cpu);
	if (!world->full) {
		thread->wait = WAIT_NONE;
		while (thread->wait == WAIT_NONE)
			task_step(&now, number);
		now_end(&now);
		return;
	}
	timer = begin_timer(&now, number + 64, WAKEUP);
	thread_wake(&now, number);
	end_timer(&now, timer);
	cpu_leave(&now);
}

static void interrupt_disk(struct world *world, const struct occasion *occasion)
{
	/* The disk has one queue, whose interrupts all come to one processor. */
	uint32_t number = occasion->what;
	struct now now = interrupt_begin(world, world->thread[number].node, 0);

	begin_irq(&now, DISK_IRQ, "virtio3-req.0");
	disk_complete(&now, number);
	end_irq(&now, DISK_IRQ);
	cpu_charge(&now, USE_IRQ);
	cpu_leave(&now);
}

/* Its thread has computed enough, or for so long that others get their turn. */
static void interrupt_cpu(struct world *world, const struct occasion *occasion)
{
	uint32_t cpus = (uint32_t)world->scenario->cpus, node = occasion->what / cpus;
	uint32_t number = occasion->what % cpus;
	struct cpu *cpu = &world->host[node].cpu[number];
	struct now now;

	if ((cpu->age & OCCASION_AGE) != occasion->age)
		return;
	now = interrupt_begin(world, node, number);
	if (cpu->current != NO_THREAD && now.ns >= cpu->slice_ns) {
		end_timer(&now, begin_timer(&now, number, TICK));
		cpu->resched |= cpu->runnables > 0;
	}
	cpu_leave(&now);
}

/* Another processor woke a thread for it. */
static void interrupt_kick(struct world *world, const struct occasion *occasion)
{
	uint32_t cpus = (uint32_t)world->scenario->cpus, node = occasion->what / cpus;
	uint32_t number = occasion->what % cpus;
	const struct cpu *cpu = &world->host[node].cpu[number];
	struct now now;

	if (!cpu->resched && (cpu->current != NO_THREAD || !cpu->runnables))
		return;
	now = interrupt_begin(world, node, number);
	cpu_leave(&now);
}

/* Nobody looks any more at what a daemon's last child left: a grace period ended. */
static void interrupt_free(struct world *world, const struct occasion *occasion)
{
	uint32_t daemon = occasion->what;
	const struct thread *thread = &world->thread[daemon];
	struct now now = interrupt_begin(world, thread->node, thread->cpu);
	uint64_t timer = begin_timer(&now, thread->cpu, TICK);

	raise_softirq(&now, SOFTIRQ_RCU);
	end_timer(&now, timer);
	begin_softirq(&now, SOFTIRQ_RCU);
	process_free(&now, daemon);
	end_softirq(&now, SOFTIRQ_RCU);
	cpu_leave(&now);
}

static void interrupt_dump(struct world *world, const struct occasion *occasion)
{
	struct now now = interrupt_begin(world, occasion->what, 0);

	statedump(&now);
	cpu_charge(&now, USE_SYSTEM);
	if (world->now > world->begin_ns)
		cpu_leave(&now);
	else /* nothing runs yet */
		now_end(&now);
}

void interrupt(struct world *world, const struct occasion *occasion)
{
	static void (*const handler[])(struct world *, const struct occasion *) = {
	    [OCCASION_TIMER] = interrupt_timer,   [OCCASION_ARRIVAL] = card_arrive,
	    [OCCASION_RESEND] = interrupt_resend, [OCCASION_POLL] = interrupt_poll,
	    [OCCASION_CPU] = interrupt_cpu,       [OCCASION_KICK] = interrupt_kick,
	    [OCCASION_DISK] = interrupt_disk,     [OCCASION_DUMP] = interrupt_dump,
	    [OCCASION_FREE] = interrupt_free,
	};

	handler[occasion->kind](world, occasion);
}
