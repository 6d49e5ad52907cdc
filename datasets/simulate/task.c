/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/thread.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/event.h"
#include "simulate/host.h"
#include "simulate/network.h"
#include "simulate/truth.h"

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
	      {.text = thread->name}, {.i = TYPE_USER}, {.i = MODE_SYSCALL}, {.i = 0},
	      {.i = status}, {.u = thread->cpu},
	      {.u = 0xffff888008000000u + (uint64_t)(uint32_t)thread->pid * 704});
}

static void dump_idle(struct now *now, int cpu)
{
	EVENT(now, EVENT_DUMP_PROCESS, {.i = 0}, {.i = 0}, {.i = 0},
	      {.text = now_host(now)->cpu[cpu].idle_name}, {.i = TYPE_KERNEL},
	      {.i = MODE_SYSCALL}, {.i = 0}, {.i = STATUS_WAIT_CPU}, {.u = (uint64_t)cpu},
	      {.u = 0});
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

static const char *const programs[] = {"/usr/bin/gzip", "/usr/bin/sort",
				       "/usr/bin/sha256sum", "/usr/bin/find"};

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

static void renew(struct now *now, struct thread *child, uint32_t cpu)
{
	child->tid = child->pid = thread_next_tid(now_host(now));
	child->wait = WAIT_NONE;
	child->call = EVENT_CLONE_EXIT;
	child->name = DAEMON_NAME;
	child->stage = 0;
	child->exited = false;
	child->work_ns = 0;
	child->cpu = cpu;
	now_host(now)->alive++;
	now_host(now)->count.forks++;
}

/*
 * Steps of what threads do, as system calls of the one that runs on this processor.
 * Each tells whether it is done; else it is the next step again.
 */
static bool fork_child(struct now *now, uint32_t number)
{
	struct thread *daemon = &now->world->thread[number];
	struct thread *child = child_of(now->world, daemon);

	EVENT(now, EVENT_CLONE_ENTRY, {.u = CLONE_FLAGS}, {.u = 0}, {.u = 0},
	      {.u = child_tid_address});
	now_pass(now, 60000, 200000);
	renew(now, child, now->cpu);
	EVENT(now, EVENT_FORK, {.text = daemon->name}, {.i = daemon->tid},
	      {.i = daemon->pid}, {.u = FIRST_NAMESPACE}, {.text = child->name},
	      {.i = child->tid}, {.i = child->tid}, {.i = child->pid},
	      {.u = FIRST_NAMESPACE});
	cpu_wake_new(now, daemon->child);
	EVENT(now, EVENT_CLONE_EXIT, {.i = child->tid});
	return true;
}

static bool execute(struct now *now, uint32_t number)
{
	struct thread *child = &now->world->thread[number];
	uint64_t choice = dice_below(&now_host(now)->dice, PROGRAMS);
	const char *path = programs[choice];

	EVENT(now, EVENT_EXECVE_ENTRY, {.text = path}, {.u = argv_address},
	      {.u = environ_address});
	now_pass(now, 150000, 600000);
	child->name = strrchr(path, '/') + 1;
	now_host(now)->programs++;
	EVENT(now, EVENT_EXEC, {.text = path}, {.i = child->tid}, {.i = child->tid});
	now_pass(now, 10000, 50000);
	EVENT(now, EVENT_EXECVE_EXIT, {.i = 0});
	return true;
}

static void tell_exit(struct now *now, struct thread *thread, enum event_kind call,
		      int status)
{
	EVENT(now, call, {.i = status});
	now_pass(now, 40000, 200000);
	event_of_thread(now, EVENT_PROCESS_EXIT, thread);
	now_host(now)->alive--;
}

static bool exit_process(struct now *now, uint32_t number)
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
	return true;
}

/* A thread that ends by itself: the call, and what the kernel says of it. */
static void end_thread(struct now *now, uint32_t number)
{
	struct thread *thread = &now->world->thread[number];
	bool last = --now_host(now)->members[thread->role] == 0;

	if (now->world->full)
		tell_exit(now, thread, last ? EVENT_EXIT_GROUP : EVENT_EXIT, 0);
	thread_await(now->world, number, WAIT_FOREVER, NSEC_MAX);
	cpu_sleep(now, STATE_DEAD);
}

/* Wait for the child's end; the call is over as soon as it has ended. */
static bool wait_for_child(struct now *now, uint32_t number)
{
	struct thread *daemon = &now->world->thread[number];
	const struct thread *child = child_of(now->world, daemon);

	EVENT(now, EVENT_WAIT4_ENTRY, {.i = -1}, {.i = 0});
	EVENT(now, EVENT_PROCESS_WAIT, {.text = daemon->name}, {.i = 0}, {.i = PRIORITY});
	daemon->call = EVENT_WAIT4_EXIT;
	if (child->exited) {
		now_wait(now, child->ended_ns);
		return true;
	}
	thread_await(now->world, number, WAIT_CHILD, NSEC_MAX);
	cpu_sleep(now, STATE_INTERRUPTIBLE);
	return true;
}

void process_free(struct now *now, uint32_t number)
{
	const struct thread *daemon = &now->world->thread[number];
	const struct thread *child = child_of(now->world, daemon);

	now_wait(now, child->asleep_ns);
	event_of_thread(now, EVENT_PROCESS_FREE, child);
}

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

static const struct flow *flow_of(const struct now *now, const struct thread *thread)
{
	return &now->world->flow[thread->flow];
}

static bool is_stream(const struct now *now, const struct thread *thread)
{
	return flow_of(now, thread)->protocol == IPPROTO_TCP;
}

/* What the call returned that had data, or gave up. */
static int64_t received(const struct world *world, const struct thread *thread)
{
	const struct flow *flow = &world->flow[thread->flow];

	return flow->end[thread->side].unread >= thread->left ? (int64_t)thread->left
							      : -EAGAIN;
}

/* The call that the thread slept in is over, unless it goes on writing. */
static void end_call(struct now *now, uint32_t number)
{
	struct thread *thread = &now->world->thread[number];
	enum event_kind call = (enum event_kind)thread->call;
	uint64_t address = buffer_of(thread);
	int64_t result = 0;

	if (!call || call == EVENT_WRITE_EXIT)
		return;
	if (call == EVENT_READ_EXIT || call == EVENT_RECVFROM_EXIT) {
		result = received(now->world, thread);
		requests_taken(now, number, result >= 0);
	} else if (call == EVENT_PREAD_EXIT) {
		result = (int64_t)thread->bytes;
	} else if (call == EVENT_WAIT4_EXIT) {
		result = child_of(now->world, thread)->tid;
		address = status_address;
	} else {
		address = 0;
	}
	EVENT(now, call, {.i = result}, {.u = address}, {.u = 0}, {.u = 0});
	thread->call = 0;
	if (call == EVENT_WAIT4_EXIT)
		queue_add(&now->world->queue,
			  now->ns + dice_between(&now_host(now)->dice, GRACE_LEAST_NS,
						 GRACE_MOST_NS),
			  OCCASION_FREE, number, 0);
}

static void sleep_until(struct now *now, uint32_t number, nsec_t until)
{
	struct thread *thread = &now->world->thread[number];

	EVENT(now, EVENT_SLEEP_ENTRY, {.i = 1}, {.i = 0}, {.u = buffer_of(thread)});
	thread->call = EVENT_SLEEP_EXIT;
	thread_await(now->world, number, WAIT_TIME, until > now->ns ? until : now->ns);
	cpu_sleep(now, STATE_INTERRUPTIBLE);
}

/* Sleep until there is something to do; who has nothing any more ends. */
static bool sleep_until_due(struct now *now, uint32_t number)
{
	const struct scenario *scenario = now->world->scenario;
	struct thread *thread = &now->world->thread[number];
	nsec_t due;

	if (thread->role == ROLE_SAMPLER)
		due = thread->due_ns += nsec_round(scenario->sample_s * 1e9);
	else if (thread->role == ROLE_DAEMON)
		due = now->ns + DAEMON_REST_NS +
		      dice_exponential(&now_host(now)->dice,
				       nsec_round(scenario->spawn_ms * 1e6));
	else
		due = thread_next_due(now->world, thread, now->ns);
	if (due == NSEC_MAX)
		end_thread(now, number);
	else
		sleep_until(now, number, due);
	return true;
}

static bool compute(struct now *now, uint32_t number)
{
	struct world *world = now->world;
	struct thread *thread = &world->thread[number];
	nsec_t mean = (thread->role == ROLE_CHILD ? 5 : 4) * NSEC_PER_MSEC, span;

	span = thread->role == ROLE_SERVER
		   ? dice_exponential(&world->flow[thread->flow].dice, world->service_ns)
		   : NSEC_PER_USEC + dice_exponential(&now_host(now)->dice, mean);
	cpu_charge(now, USE_SYSTEM);
	if (world->full)
		thread->work_ns = span;
	else
		thread_await(world, number, WAIT_TIME, now->ns + span);
	return true;
}

/* Await what the other end sends as one message, which a datagram may cut. */
static bool await_data(struct now *now, uint32_t number)
{
	struct world *world = now->world;
	struct thread *thread = &world->thread[number];
	uint8_t protocol = flow_of(now, thread)->protocol;
	uint64_t most = transport_most(flow_of(now, thread));
	bool is_client = thread->role == ROLE_CLIENT, stream = is_stream(now, thread);
	nsec_t until = NSEC_MAX;
	int64_t fd = socket_of(thread);

	thread->left = is_client && (stream || protocol == IPPROTO_UDP)
			   ? world->reply_bytes
			   : world->request_bytes;
	if (!stream && thread->left > most)
		thread->left = most;
	if (is_client && !stream)
		until = now->ns + nsec_round(world->scenario->timeout_ms * 1e6);
	if (stream) {
		EVENT(now, EVENT_READ_ENTRY, {.u = (uint64_t)fd}, {.u = thread->left});
		thread->call = EVENT_READ_EXIT;
	} else {
		EVENT(now, EVENT_RECVFROM_ENTRY, {.i = fd}, {.u = thread->left}, {.u = 0},
		      {.u = 0});
		thread->call = EVENT_RECVFROM_EXIT;
	}
	if (thread_has_data(now, number))
		return true; /* the next step ends the call */
	thread_await(world, number, WAIT_DATA, until > now->ns ? until : now->ns);
	cpu_sleep(now, STATE_INTERRUPTIBLE);
	return true;
}

/* Take what was awaited; a datagram that came late stands for all before it. */
static bool take_data(struct now *now, uint32_t number)
{
	struct thread *thread = &now->world->thread[number];
	uint64_t *unread = &now->world->flow[thread->flow].end[thread->side].unread;

	*unread = is_stream(now, thread) ? *unread - thread->left : 0;
	return true;
}

static void begin_write(struct now *now, struct thread *thread, uint64_t bytes)
{
	if (thread->call != EVENT_WRITE_EXIT)
		EVENT(now, EVENT_WRITE_ENTRY, {.u = (uint64_t)socket_of(thread)},
		      {.u = buffer_of(thread)}, {.u = bytes});
	thread->call = EVENT_WRITE_EXIT;
}

static void send_piece(struct now *now, struct thread *thread, uint64_t bytes)
{
	if (is_stream(now, thread)) {
		thread->left -= bytes;
		begin_write(now, thread, bytes);
		transport_send(now, thread->flow, thread->side, bytes);
		EVENT(now, EVENT_WRITE_EXIT, {.i = (int64_t)bytes});
		thread->call = 0;
		return;
	}
	/* A datagram is all there is of a message. */
	thread->left = 0;
	EVENT(now, EVENT_SENDTO_ENTRY, {.i = socket_of(thread)}, {.u = buffer_of(thread)},
	      {.u = bytes}, {.u = 0}, {.u = buffer_of(thread) + 4096}, {.i = 16});
	transport_send(now, thread->flow, thread->side, bytes);
	EVENT(now, EVENT_SENDTO_EXIT, {.i = (int64_t)bytes});
}

/* Send thread->left bytes, piece by piece, each when the last one was acknowledged. */
static bool send_message(struct now *now, uint32_t number)
{
	struct thread *thread = &now->world->thread[number];
	const struct flow *flow = flow_of(now, thread);
	uint64_t most = transport_most(flow);

	if (!thread->left)
		return true;
	if (transport_is_answered(flow, thread->side)) {
		if (now->world->full)
			now_wait(now, flow->end[thread->side].answered_ns);
		send_piece(now, thread, thread->left < most ? thread->left : most);
		return false;
	}
	begin_write(now, thread, thread->left);
	thread_await(now->world, number, WAIT_SENT, NSEC_MAX);
	cpu_sleep(now, STATE_INTERRUPTIBLE);
	return false;
}

static void use_disk(struct now *now, uint32_t number, bool writes)
{
	struct thread *thread = &now->world->thread[number];
	struct dice *dice = &now_host(now)->dice;
	uint64_t bytes = 4096 * (1 + dice_below(dice, 32));
	int64_t position = (int64_t)dice_below(dice, 1 << 18) * 4096;

	thread->bytes = bytes;
	if (writes) {
		EVENT(now, EVENT_PWRITE_ENTRY, {.u = FD_FILE}, {.u = buffer_of(thread)},
		      {.u = bytes}, {.i = position});
		now_pass(now, 2000, 8000);
		EVENT(now, EVENT_PWRITE_EXIT, {.i = (int64_t)bytes});
		EVENT(now, EVENT_FSYNC_ENTRY, {.u = FD_FILE});
		thread->call = EVENT_FSYNC_EXIT;
	} else {
		EVENT(now, EVENT_PREAD_ENTRY, {.u = FD_FILE}, {.u = bytes},
		      {.i = position});
		thread->call = EVENT_PREAD_EXIT;
	}
	disk_submit(now, number, (uint64_t)position / 512, writes);
	thread_await(now->world, number, WAIT_DISK, NSEC_MAX);
	cpu_sleep(now, STATE_DISK);
}

static bool read_disk(struct now *now, uint32_t number)
{
	use_disk(now, number, false);
	return true;
}

/* A worker sleeps, reads or writes. */
static bool rest(struct now *now, uint32_t number)
{
	struct dice *dice = &now_host(now)->dice;
	uint64_t choice = dice_below(dice, 100);

	if (choice < 40)
		sleep_until(now, number,
			    now->ns + dice_exponential(dice, 20 * NSEC_PER_MSEC));
	else
		use_disk(now, number, choice >= 80);
	return true;
}

/* Read what the kernel counts, and note it down, as sar does. */
static bool sample(struct now *now, uint32_t number)
{
	const struct thread *thread = &now->world->thread[number];

	EVENT(now, EVENT_READ_ENTRY, {.u = FD_FILE}, {.u = STAT_BYTES});
	now_pass(now, 20000, 60000);
	EVENT(now, EVENT_READ_EXIT, {.i = STAT_BYTES}, {.u = buffer_of(thread)});
	sar_sample(now);
	EVENT(now, EVENT_WRITE_ENTRY, {.u = FD_FILE + 1}, {.u = buffer_of(thread)},
	      {.u = STAT_BYTES});
	now_pass(now, 5000, 15000);
	EVENT(now, EVENT_WRITE_EXIT, {.i = STAT_BYTES});
	return true;
}

/* What threads of each role do, over and over; a child does it once. */
static bool (*const routines[THREAD_ROLES][6])(struct now *now, uint32_t number) = {
    [ROLE_CLIENT] = {sleep_until_due, send_message, await_data, take_data},
    [ROLE_SERVER] = {await_data, take_data, compute, send_message},
    [ROLE_SENDER] = {sleep_until_due, send_message},
    [ROLE_RECEIVER] = {await_data, take_data},
    [ROLE_WORKER] = {compute, rest},
    [ROLE_SAMPLER] = {sleep_until_due, sample},
    [ROLE_DAEMON] = {sleep_until_due, fork_child, wait_for_child},
    [ROLE_CHILD] = {execute, compute, read_disk, compute, exit_process},
};

void task_step(struct now *now, uint32_t number)
{
	struct world *world = now->world;
	struct thread *thread = &world->thread[number];
	typeof(&routines[0][0]) routine = routines[thread->role];

	if (world->full)
		end_call(now, number);
	if (!routine[thread->stage](now, number))
		return;
	thread->stage = routine[thread->stage + 1] ? thread->stage + 1 : 0;
	if (routine[thread->stage] == send_message)
		thread->left = thread->role == ROLE_SERVER ? world->reply_bytes
							   : world->request_bytes;
}
