/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/statedump.h"

#include <stdio.h>

#include "simulate/cpu.h"
#include "simulate/disk.h"
#include "simulate/event.h"

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
