/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/task.h"

#include <errno.h>
#include <netinet/in.h>

#include "simulate/cpu.h"
#include "simulate/event.h"
#include "simulate/host.h"
#include "simulate/process.h"
#include "simulate/program.h"
#include "simulate/sar.h"
#include "simulate/spans.h"
#include "simulate/thread.h"
#include "simulate/transport.h"

/* File descriptors: a socket a flow and side from here on. */
enum { FD_FILE = 3, FD_SOCKET = 4, FD_SOCKETS = 1000, STAT_BYTES = 2048 };

static const uint64_t buffer_base = 0x7ffe40000000u;

static uint64_t buffer_of(const struct thread *thread)
{
	return buffer_base + (uint64_t)thread->tid * 65536;
}

static int64_t socket_of(const struct thread *thread)
{
	return FD_SOCKET + thread->flow % FD_SOCKETS;
}

static bool is_stream(const struct world *world, const struct thread *thread)
{
	return world->flow[thread->flow].protocol == IPPROTO_TCP;
}

/* What the call returned that had data, or gave up. */
static int64_t received(const struct world *world, const struct thread *thread)
{
	const struct flow *flow = &world->flow[thread->flow];

	return flow->end[thread->side].unread >= thread->left ? (int64_t)thread->left
							      : -EAGAIN;
}

/* The call that the thread slept in is over. */
static void end_call(struct now *now, uint32_t number)
{
	struct thread *thread = &now->world->thread[number];

	switch ((enum task_call)thread->call) {
	case CALL_SLEEP:
		EVENT(now, EVENT_SLEEP_EXIT, {.i = 0}, {.u = 0});
		break;
	case CALL_READ:
		requests_taken(now, number, received(now->world, thread) >= 0);
		EVENT(now, EVENT_READ_EXIT, {.i = received(now->world, thread)},
		      {.u = buffer_of(thread)});
		break;
	case CALL_RECVFROM:
		requests_taken(now, number, received(now->world, thread) >= 0);
		EVENT(now, EVENT_RECVFROM_EXIT, {.i = received(now->world, thread)},
		      {.u = buffer_of(thread)}, {.u = 0}, {.u = 0});
		break;
	case CALL_PREAD:
		EVENT(now, EVENT_PREAD_EXIT, {.i = (int64_t)thread->bytes},
		      {.u = buffer_of(thread)});
		break;
	case CALL_FSYNC:
		EVENT(now, EVENT_FSYNC_EXIT, {.i = 0});
		break;
	case CALL_CLONE:
		EVENT(now, EVENT_CLONE_EXIT, {.i = 0});
		break;
	case CALL_WAIT4:
		process_end_wait(now, number);
		break;
	case CALL_WRITE:
	case CALL_NONE:
		return; /* it goes on writing */
	}
	thread->call = CALL_NONE;
}

static void do_sleep(struct now *now, uint32_t number, nsec_t until)
{
	struct thread *thread = &now->world->thread[number];

	EVENT(now, EVENT_SLEEP_ENTRY, {.i = 1}, {.i = 0}, {.u = buffer_of(thread)});
	thread->call = CALL_SLEEP;
	thread_await(now->world, number, WAIT_TIME, until > now->ns ? until : now->ns);
	cpu_sleep(now, STATE_INTERRUPTIBLE);
}

static void do_await_data(struct now *now, uint32_t number, nsec_t until)
{
	struct thread *thread = &now->world->thread[number];
	int64_t fd = socket_of(thread);

	if (is_stream(now->world, thread)) {
		EVENT(now, EVENT_READ_ENTRY, {.u = (uint64_t)fd}, {.u = thread->left});
		thread->call = CALL_READ;
	} else {
		EVENT(now, EVENT_RECVFROM_ENTRY, {.i = fd}, {.u = thread->left}, {.u = 0},
		      {.u = 0});
		thread->call = CALL_RECVFROM;
	}
	if (thread_has_data(now, number))
		return; /* the next step ends the call */
	thread_await(now->world, number, WAIT_DATA, until > now->ns ? until : now->ns);
	cpu_sleep(now, STATE_INTERRUPTIBLE);
}

static void begin_write(struct now *now, struct thread *thread, uint64_t bytes)
{
	if (thread->call != CALL_WRITE)
		EVENT(now, EVENT_WRITE_ENTRY, {.u = (uint64_t)socket_of(thread)},
		      {.u = buffer_of(thread)}, {.u = bytes});
	thread->call = CALL_WRITE;
}

static void do_await_sent(struct now *now, uint32_t number)
{
	struct thread *thread = &now->world->thread[number];

	begin_write(now, thread, thread->left);
	thread_await(now->world, number, WAIT_SENT, NSEC_MAX);
	cpu_sleep(now, STATE_INTERRUPTIBLE);
}

static void do_send(struct now *now, struct thread *thread, uint64_t bytes)
{
	const struct flow *flow = &now->world->flow[thread->flow];

	now_wait(now, flow->end[thread->side].answered_ns);
	if (is_stream(now->world, thread)) {
		begin_write(now, thread, bytes);
		transport_send(now, thread->flow, thread->side, bytes);
		EVENT(now, EVENT_WRITE_EXIT, {.i = (int64_t)bytes});
		thread->call = CALL_NONE;
		return;
	}
	EVENT(now, EVENT_SENDTO_ENTRY, {.i = socket_of(thread)}, {.u = buffer_of(thread)},
	      {.u = bytes}, {.u = 0}, {.u = buffer_of(thread) + 4096}, {.i = 16});
	transport_send(now, thread->flow, thread->side, bytes);
	EVENT(now, EVENT_SENDTO_EXIT, {.i = (int64_t)bytes});
}

static void do_disk(struct now *now, uint32_t number, uint64_t bytes, bool writes)
{
	struct thread *thread = &now->world->thread[number];
	int64_t position = (int64_t)dice_below(&now_host(now)->dice, 1 << 18) * 4096;

	thread->bytes = bytes;
	if (writes) {
		EVENT(now, EVENT_PWRITE_ENTRY, {.u = FD_FILE}, {.u = buffer_of(thread)},
		      {.u = bytes}, {.i = position});
		now_pass(now, 2000, 8000);
		EVENT(now, EVENT_PWRITE_EXIT, {.i = (int64_t)bytes});
		EVENT(now, EVENT_FSYNC_ENTRY, {.u = FD_FILE});
		thread->call = CALL_FSYNC;
	} else {
		EVENT(now, EVENT_PREAD_ENTRY, {.u = FD_FILE}, {.u = bytes},
		      {.i = position});
		thread->call = CALL_PREAD;
	}
	disk_submit(now, number, (uint64_t)position / 512, writes);
	thread_await(now->world, number, WAIT_DISK, NSEC_MAX);
	cpu_sleep(now, STATE_DISK);
}

/* Read what the kernel counts, and note it down. */
static void do_sample(struct now *now, struct thread *thread)
{
	EVENT(now, EVENT_READ_ENTRY, {.u = FD_FILE}, {.u = STAT_BYTES});
	now_pass(now, 20000, 60000);
	EVENT(now, EVENT_READ_EXIT, {.i = STAT_BYTES}, {.u = buffer_of(thread)});
	sar_sample(now);
	EVENT(now, EVENT_WRITE_ENTRY, {.u = FD_FILE + 1}, {.u = buffer_of(thread)},
	      {.u = STAT_BYTES});
	now_pass(now, 5000, 15000);
	EVENT(now, EVENT_WRITE_EXIT, {.i = STAT_BYTES});
}

void task_step(struct now *now, uint32_t number)
{
	struct thread *thread = &now->world->thread[number];
	struct action action;

	end_call(now, number);
	action = program_next(now->world, thread, now->ns);
	switch (action.kind) {
	case ACTION_SLEEP:
		do_sleep(now, number, action.until);
		break;
	case ACTION_COMPUTE:
		cpu_charge(now, USE_SYSTEM);
		thread->work_ns = action.span;
		break;
	case ACTION_SEND:
		do_send(now, thread, action.bytes);
		break;
	case ACTION_AWAIT_DATA:
		do_await_data(now, number, action.until);
		break;
	case ACTION_AWAIT_SENT:
		do_await_sent(now, number);
		break;
	case ACTION_READ_DISK:
	case ACTION_WRITE_DISK:
		do_disk(now, number, action.bytes, action.kind == ACTION_WRITE_DISK);
		break;
	case ACTION_SAMPLE:
		do_sample(now, thread);
		break;
	case ACTION_END:
		process_end_thread(now, number);
		break;
	case ACTION_FORK:
		process_fork(now, number);
		break;
	case ACTION_WAIT:
		process_wait(now, number);
		break;
	case ACTION_EXEC:
		process_exec(now, number);
		break;
	case ACTION_EXIT:
		process_exit(now, number);
		break;
	}
}
