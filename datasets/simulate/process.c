/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/process.h"

#include <stdio.h>

#include "base/mem.h"
#include "simulate/cpu.h"
#include "simulate/event.h"
#include "simulate/host.h"
#include "simulate/task.h"
#include "simulate/thread.h"

/* As lttng-modules numbers them (lttng-statedump-impl.c). */
enum { TYPE_USER = 0, TYPE_KERNEL = 1, MODE_SYSCALL = 1 };
enum { STATUS_WAIT_CPU = 2, STATUS_WAIT = 5, STATUS_RUN = 6, STATUS_DEAD = 7 };

static int status_of(const struct now *now, uint32_t number)
{
	const struct thread *thread = &now->world->thread[number];

	if (now_host(now)->cpu[thread->cpu].current == number)
		return STATUS_RUN;
	return thread->wait == WAIT_NONE      ? STATUS_WAIT_CPU
	       : thread->wait == WAIT_FOREVER ? STATUS_DEAD
					      : STATUS_WAIT;
}

static void dump_thread(struct now *now, uint32_t number)
{
	const struct thread *thread = &now->world->thread[number];
	int status = status_of(now, number);

	if (status == STATUS_DEAD)
		return;
	EVENT(now, EVENT_DUMP_PROCESS, {.i = thread->tid}, {.i = thread->pid},
	      {.i = thread->role == ROLE_CHILD ? now->world->thread[thread->parent].pid
					       : 1},
	      {.text = cpu_thread_name(thread)}, {.i = TYPE_USER}, {.i = MODE_SYSCALL},
	      {.i = 0}, {.i = status}, {.u = thread->cpu},
	      {.u = 0xffff888008000000u + (uint64_t)(uint32_t)thread->pid * 704});
}

static void dump_idle(struct now *now, int cpu)
{
	char name[16];

	snprintf(name, sizeof(name), "swapper/%d", cpu % 100);
	EVENT(now, EVENT_DUMP_PROCESS, {.i = 0}, {.i = 0}, {.i = 0}, {.text = name},
	      {.i = TYPE_KERNEL}, {.i = MODE_SYSCALL}, {.i = 0}, {.i = STATUS_WAIT_CPU},
	      {.u = (uint64_t)cpu}, {.u = 0});
}

void statedump(struct now *now)
{
	const struct world *world = now->world;

	event_add(now, EVENT_DUMP_START, NULL);
	for (int i = 0; i < world->scenario->cpus; i++)
		dump_idle(now, i);
	for (uint32_t i = 0; i < world->threads; i++)
		if (world->thread[i].node == now->node)
			dump_thread(now, i);
	EVENT(now, EVENT_DUMP_DISK, {.u = DISK_DEVICE}, {.text = DISK_NAME});
	event_add(now, EVENT_DUMP_END, NULL);
}

/* As glibc's fork() asks for: SIGCHLD at the end, the child's tid in its memory. */
enum { CLONE_FLAGS = 0x1200011 };
enum { FIRST_NAMESPACE = 4026531836u };

static const uint64_t child_tid_address = 0x7fbf96cfca10;
static const uint64_t argv_address = 0x558e1a0c20d0, environ_address = 0x558e1a0ba8c0;
static const uint64_t status_address = 0x7ffe8c2f1a90;

static const struct program {
	const char *path, *name;
} programs[] = {
    {"/usr/bin/gzip", "gzip"},
    {"/usr/bin/sort", "sort"},
    {"/usr/bin/sha256sum", "sha256sum"},
    {"/usr/bin/find", "find"},
};

enum { PROGRAMS = sizeof(programs) / sizeof(*programs) };

static struct thread *child_of(struct world *world, const struct thread *daemon)
{
	return &world->thread[daemon->child];
}

void process_add_daemon(struct world *world, uint32_t node)
{
	uint32_t daemon = thread_add(world, node, ROLE_DAEMON, 0, 0);
	uint32_t child = thread_add(world, node, ROLE_CHILD, 0, 0);

	world->thread[daemon].child = child;
	world->thread[child].parent = daemon;
	world->thread[child].wait = WAIT_FOREVER;
	world->host[node].alive--; /* it is not there yet */
}

const char *process_name(const struct thread *child)
{
	return child->program ? programs[child->program - 1].name : DAEMON_NAME;
}

static void renew(struct now *now, struct thread *child, uint32_t cpu)
{
	child->tid = child->pid = thread_next_tid(now_host(now));
	child->wait = WAIT_NONE;
	child->call = CALL_CLONE;
	child->program = child->stage = 0;
	child->exited = false;
	child->work_ns = 0;
	child->cpu = cpu;
	now_host(now)->alive++;
	now_host(now)->count.forks++;
}

void process_fork(struct now *now, uint32_t number)
{
	struct thread *daemon = &now->world->thread[number];
	struct thread *child = child_of(now->world, daemon);

	EVENT(now, EVENT_CLONE_ENTRY, {.u = CLONE_FLAGS}, {.u = 0}, {.u = 0},
	      {.u = child_tid_address});
	now_pass(now, 60000, 200000);
	renew(now, child, now->cpu);
	EVENT(now, EVENT_FORK, {.text = cpu_thread_name(daemon)}, {.i = daemon->tid},
	      {.i = daemon->pid}, {.u = FIRST_NAMESPACE},
	      {.text = cpu_thread_name(child)}, {.i = child->tid}, {.i = child->tid},
	      {.i = child->pid}, {.u = FIRST_NAMESPACE});
	cpu_wake_new(now, daemon->child);
	EVENT(now, EVENT_CLONE_EXIT, {.i = child->tid});
}

void process_exec(struct now *now, uint32_t number)
{
	struct thread *child = &now->world->thread[number];
	uint64_t choice = dice_below(&now_host(now)->dice, PROGRAMS);
	const char *path = programs[choice].path;

	EVENT(now, EVENT_EXECVE_ENTRY, {.text = path}, {.u = argv_address},
	      {.u = environ_address});
	now_pass(now, 150000, 600000);
	child->program = (uint8_t)(choice + 1);
	now_host(now)->programs++;
	EVENT(now, EVENT_EXEC, {.text = path}, {.i = child->tid}, {.i = child->tid});
	now_pass(now, 10000, 50000);
	EVENT(now, EVENT_EXECVE_EXIT, {.i = 0});
}

static void tell_exit(struct now *now, struct thread *thread, enum event_kind call,
		      int status)
{
	EVENT(now, call, {.i = status});
	now_pass(now, 40000, 200000);
	EVENT(now, EVENT_PROCESS_EXIT, {.text = cpu_thread_name(thread)},
	      {.i = thread->tid}, {.i = PRIORITY});
	now_host(now)->alive--;
}

void process_exit(struct now *now, uint32_t number)
{
	struct thread *child = &now->world->thread[number];
	const struct thread *daemon = &now->world->thread[child->parent];
	bool fails = dice_below(&now_host(now)->dice, 20) == 0;

	tell_exit(now, child, EVENT_EXIT_GROUP, fails);
	now_host(now)->programs--;
	child->exited = true;
	child->ended_ns = now->ns;
	if (daemon->wait == WAIT_CHILD)
		thread_wake(now, child->parent);
	thread_await(now->world, number, WAIT_FOREVER, NSEC_MAX);
	cpu_sleep(now, STATE_DEAD);
}

void process_end_thread(struct now *now, uint32_t number)
{
	struct thread *thread = &now->world->thread[number];
	bool last = --now_host(now)->members[thread->role] == 0;

	tell_exit(now, thread, last ? EVENT_EXIT_GROUP : EVENT_EXIT, 0);
	thread_await(now->world, number, WAIT_FOREVER, NSEC_MAX);
	cpu_sleep(now, STATE_DEAD);
}

void process_wait(struct now *now, uint32_t number)
{
	struct thread *daemon = &now->world->thread[number];
	const struct thread *child = child_of(now->world, daemon);

	EVENT(now, EVENT_WAIT4_ENTRY, {.i = -1}, {.i = 0});
	EVENT(now, EVENT_PROCESS_WAIT, {.text = cpu_thread_name(daemon)}, {.i = 0},
	      {.i = PRIORITY});
	daemon->call = CALL_WAIT4;
	if (child->exited) {
		now_wait(now, child->ended_ns);
		return;
	}
	thread_await(now->world, number, WAIT_CHILD, NSEC_MAX);
	cpu_sleep(now, STATE_INTERRUPTIBLE);
}

void process_end_wait(struct now *now, uint32_t number)
{
	struct thread *daemon = &now->world->thread[number];

	EVENT(now, EVENT_WAIT4_EXIT, {.i = child_of(now->world, daemon)->tid},
	      {.u = status_address}, {.u = 0});
	queue_add(&now->world->queue,
		  now->ns +
		      dice_between(&now_host(now)->dice, GRACE_LEAST_NS, GRACE_MOST_NS),
		  OCCASION_FREE, number, 0);
}

void process_free(struct now *now, uint32_t number)
{
	const struct thread *daemon = &now->world->thread[number];
	const struct thread *child = child_of(now->world, daemon);

	now_wait(now, child->asleep_ns);
	EVENT(now, EVENT_PROCESS_FREE, {.text = cpu_thread_name(child)},
	      {.i = child->tid}, {.i = PRIORITY});
}
