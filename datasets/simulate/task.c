/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/task.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "simulate/cpu.h"
#include "simulate/dice.h"
#include "simulate/event.h"
#include "simulate/host.h"
#include "simulate/thread.h"
#include "simulate/transport.h"
#include "simulate/truth.h"

/* As lttng-modules numbers them (lttng-statedump-impl.c). */
enum { TYPE_USER = 0, TYPE_KERNEL = 1, MODE_SYSCALL = 1 };
enum { STATUS_WAIT_CPU = 2, STATUS_WAIT = 5, STATUS_RUN = 6 };

static int status_of(const struct thread *thread)
{
	if (thread->cpu->current == thread)
		return STATUS_RUN;
	return thread->wait == WAIT_NONE ? STATUS_WAIT_CPU : STATUS_WAIT;
}

void statedump(struct context *ctx)
{
	const struct world *world = ctx->world;

	event_add(ctx, EVENT_DUMP_START, NULL);
	for (int i = 0; i < world->scenario->cpus; i++)
		EVENT(ctx, EVENT_DUMP_PROCESS, {.i = 0}, {.i = 0}, {.i = 0},
		      {.text = ctx->host->cpu[i].idle_name}, {.i = TYPE_KERNEL},
		      {.i = MODE_SYSCALL}, {.i = 0}, {.i = STATUS_WAIT_CPU},
		      {.u = (uint64_t)i}, {.u = 0});
	for (size_t i = 0; i < world->threads; i++) {
		const struct thread *thread = &world->thread[i];

		if (thread->host != ctx->host || thread->wait == WAIT_FOREVER)
			continue;
		EVENT(ctx, EVENT_DUMP_PROCESS, {.i = thread->tid}, {.i = thread->pid},
		      {.i = thread->parent ? thread->parent->pid : 1},
		      {.text = thread->name}, {.i = TYPE_USER}, {.i = MODE_SYSCALL},
		      {.i = 0}, {.i = status_of(thread)}, {.u = thread->cpu->number},
		      {.u = 0xffff888008000000u + (uint64_t)(uint32_t)thread->pid * 704});
	}
	EVENT(ctx, EVENT_DUMP_DISK, {.u = DISK_DEVICE}, {.text = DISK_NAME});
	event_add(ctx, EVENT_DUMP_END, NULL);
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

/* A grace period, and how long a daemon sleeps at least: a child is freed by then. */
enum {
	GRACE_LEAST_NS = 3 * NSEC_PER_MSEC,
	GRACE_MOST_NS = 20 * NSEC_PER_MSEC,
	DAEMON_REST_NS = 30 * NSEC_PER_MSEC,
};

void process_add_daemon(struct world *world, struct host *host)
{
	struct thread *daemon = thread_add(world, host, ROLE_DAEMON, NULL);
	struct thread *child = thread_add(world, host, ROLE_CHILD, NULL);

	daemon->child = child;
	child->parent = daemon;
	child->wait = WAIT_FOREVER;
	host->alive--; /* it is not there yet */
}

static void reset_child(struct context *ctx, struct thread *child)
{
	child->tid = child->pid = thread_next_tid(ctx->host);
	child->wait = WAIT_NONE;
	child->call = EVENT_CLONE_EXIT;
	child->name = DAEMON_NAME;
	child->stage = 0;
	child->exited = false;
	child->work_ns = 0;
	child->cpu = ctx->cpu;
	ctx->host->alive++;
	ctx->host->count.forks++;
}

/*
 * The steps of threads' routines, as system calls of the current thread. Each returns
 * true if it is complete; otherwise it is the thread's next step again.
 */
static bool fork_child(struct context *ctx, struct thread *daemon)
{
	struct thread *child = daemon->child;

	EVENT(ctx, EVENT_CLONE_ENTRY, {.u = CLONE_FLAGS}, {.u = 0}, {.u = 0},
	      {.u = child_tid_address});
	pass_time(ctx, 60000, 200000);
	reset_child(ctx, child);
	EVENT(ctx, EVENT_FORK, {.text = daemon->name}, {.i = daemon->tid},
	      {.i = daemon->pid}, {.u = FIRST_NAMESPACE}, {.text = child->name},
	      {.i = child->tid}, {.i = child->tid}, {.i = child->pid},
	      {.u = FIRST_NAMESPACE});
	cpu_wake_new(ctx, child);
	EVENT(ctx, EVENT_CLONE_EXIT, {.i = child->tid});
	return true;
}

static bool execute_program(struct context *ctx, struct thread *child)
{
	const char *path = programs[dice_below(&ctx->host->dice, PROGRAMS)];

	EVENT(ctx, EVENT_EXECVE_ENTRY, {.text = path}, {.u = argv_address},
	      {.u = environ_address});
	pass_time(ctx, 150000, 600000);
	child->name = strrchr(path, '/') + 1;
	ctx->host->programs++;
	EVENT(ctx, EVENT_EXEC, {.text = path}, {.i = child->tid}, {.i = child->tid});
	pass_time(ctx, 10000, 50000);
	EVENT(ctx, EVENT_EXECVE_EXIT, {.i = 0});
	return true;
}

/* The thread's last system call, and what the kernel says of its end. */
static void exit_thread(struct context *ctx, struct thread *thread, enum event_kind call,
			int status)
{
	EVENT(ctx, call, {.i = status});
	pass_time(ctx, 40000, 200000);
	event_of_thread(ctx, EVENT_PROCESS_EXIT, thread);
	ctx->host->alive--;
}

static bool exit_process(struct context *ctx, struct thread *child)
{
	bool fails = dice_below(&ctx->host->dice, 20) == 0;

	exit_thread(ctx, child, EVENT_EXIT_GROUP, fails);
	ctx->host->programs--;
	child->exited = true;
	child->ended_ns = ctx->ns;
	if (child->parent->wait == WAIT_CHILD)
		thread_wake(ctx, child->parent);
	thread_await(ctx->world, child, WAIT_FOREVER, NSEC_MAX);
	cpu_sleep(ctx, STATE_DEAD);
	return true;
}

static void end_thread(struct context *ctx, struct thread *thread)
{
	bool last = --ctx->host->members[thread->role] == 0;

	if (ctx->world->full)
		exit_thread(ctx, thread, last ? EVENT_EXIT_GROUP : EVENT_EXIT, 0);
	thread_await(ctx->world, thread, WAIT_FOREVER, NSEC_MAX);
	cpu_sleep(ctx, STATE_DEAD);
}

/* Wait for the child's end; the call is over as soon as it has ended. */
static bool wait_for_child(struct context *ctx, struct thread *daemon)
{
	EVENT(ctx, EVENT_WAIT4_ENTRY, {.i = -1}, {.i = 0});
	EVENT(ctx, EVENT_PROCESS_WAIT, {.text = daemon->name}, {.i = 0}, {.i = PRIORITY});
	daemon->call = EVENT_WAIT4_EXIT;
	if (daemon->child->exited) {
		wait_until(ctx, daemon->child->ended_ns);
		return true;
	}
	thread_await(ctx->world, daemon, WAIT_CHILD, NSEC_MAX);
	cpu_sleep(ctx, STATE_INTERRUPTIBLE);
	return true;
}

void process_free(struct context *ctx, const struct thread *daemon)
{
	wait_until(ctx, daemon->child->asleep_ns);
	event_of_thread(ctx, EVENT_PROCESS_FREE, daemon->child);
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
	return FD_SOCKET + thread->end->flow->number % FD_SOCKETS;
}

static bool is_stream(const struct thread *thread)
{
	return thread->end->flow->protocol == IPPROTO_TCP;
}

/* Return the result of a receive call: the bytes, or -EAGAIN after a timeout. */
static int64_t receive_result(const struct thread *thread)
{
	return thread->end->unread >= thread->left ? (int64_t)thread->left : -EAGAIN;
}

/* End the system call that the thread slept in, unless it is a write to be continued. */
static void end_call(struct context *ctx, struct thread *thread)
{
	enum event_kind call = (enum event_kind)thread->call;
	uint64_t address = buffer_of(thread);
	int64_t result = 0;

	if (!call || call == EVENT_WRITE_EXIT)
		return;
	if (call == EVENT_READ_EXIT || call == EVENT_RECVFROM_EXIT) {
		result = receive_result(thread);
		requests_read(ctx, thread, result >= 0);
	} else if (call == EVENT_PREAD_EXIT) {
		result = (int64_t)thread->bytes;
	} else if (call == EVENT_WAIT4_EXIT) {
		result = thread->child->tid;
		address = status_address;
	} else {
		address = 0;
	}
	EVENT(ctx, call, {.i = result}, {.u = address}, {.u = 0}, {.u = 0});
	thread->call = 0;
	if (call == EVENT_WAIT4_EXIT)
		queue_add(&ctx->world->queue,
			  ctx->ns + dice_between(&ctx->host->dice, GRACE_LEAST_NS,
						 GRACE_MOST_NS),
			  PENDING_FREE, thread, 0);
}

static void sleep_until(struct context *ctx, struct thread *thread, nsec_t until)
{
	EVENT(ctx, EVENT_SLEEP_ENTRY, {.i = 1}, {.i = 0}, {.u = buffer_of(thread)});
	thread->call = EVENT_SLEEP_EXIT;
	thread_await(ctx->world, thread, WAIT_TIME, until > ctx->ns ? until : ctx->ns);
	cpu_sleep(ctx, STATE_INTERRUPTIBLE);
}

double fault_now(const struct context *ctx, enum scenario_form form)
{
	return scenario_fault(ctx->world->scenario, form, (int)ctx->host->number + 1, 0,
			      (double)(ctx->ns - ctx->world->begin_ns) / 1e9);
}

/* Return a fault's thread's computation (ns): a hog's until the fault is over; a holder's
 * while it has the lock. */
static nsec_t fault_span(const struct context *ctx, const struct thread *thread)
{
	nsec_t end = ctx->world->begin_ns + nsec_round(thread->fault->value[1] * 1e9);

	if (thread->role == ROLE_HOG)
		return end > ctx->ns + NSEC_PER_MSEC ? NSEC_PER_MSEC : 1;
	ctx->host->locked = true;
	return nsec_round(thread->fault->value[2] * 1e6);
}

static nsec_t fault_due(const struct context *ctx, const struct thread *thread)
{
	nsec_t from = ctx->world->begin_ns + nsec_round(thread->fault->value[0] * 1e9);
	nsec_t to = ctx->world->begin_ns + nsec_round(thread->fault->value[1] * 1e9);

	if (ctx->ns < from)
		return from;
	return ctx->ns >= to ? NSEC_MAX : ctx->ns + 2 * NSEC_PER_MSEC;
}

/* Sleep until the thread's next activity; end a thread that has none. */
static bool sleep_until_due(struct context *ctx, struct thread *thread)
{
	const struct scenario *scenario = ctx->world->scenario;
	nsec_t due;

	if (thread->fault)
		due = fault_due(ctx, thread);
	else if (thread->role == ROLE_SAMPLER)
		due = thread->due_ns += nsec_round(scenario->sample_s * 1e9);
	else if (thread->role == ROLE_DAEMON)
		due = ctx->ns + DAEMON_REST_NS +
		      dice_exponential(&ctx->host->dice,
				       nsec_round(scenario->spawn_ms * 1e6));
	else
		due = thread_next_due(ctx->world, thread, ctx->ns);
	if (due == NSEC_MAX)
		end_thread(ctx, thread);
	else
		sleep_until(ctx, thread, due);
	return true;
}

/* Release the lock and wake all threads that wait for it. */
static bool release_lock(struct context *ctx, struct thread *holder)
{
	struct world *world = ctx->world;

	(void)holder;
	ctx->host->locked = false;
	for (size_t i = 0; i < world->threads; i++)
		if (world->thread[i].host == ctx->host &&
		    world->thread[i].wait == WAIT_LOCK)
			thread_wake(ctx, &world->thread[i]);
	return true;
}

static bool await_lock(struct context *ctx, struct thread *thread)
{
	if (!ctx->world->full || !ctx->host->locked)
		return true;
	thread_await(ctx->world, thread, WAIT_LOCK, NSEC_MAX);
	cpu_sleep(ctx, STATE_INTERRUPTIBLE);
	return false;
}

static bool compute_step(struct context *ctx, struct thread *thread)
{
	const double times = fault_now(ctx, SCENARIO_SLOW);
	nsec_t mean = (thread->role == ROLE_CHILD ? 5 : 4) * NSEC_PER_MSEC, span;

	span = thread->role == ROLE_SERVER
		   ? dice_exponential(&thread->end->flow->dice, ctx->world->service_ns)
		   : NSEC_PER_USEC + dice_exponential(&ctx->host->dice, mean);
	if (thread->fault)
		span = fault_span(ctx, thread);
	else if (times > 0)
		span = nsec_round((double)span * times);
	cpu_charge(ctx, USE_SYSTEM);
	if (ctx->world->full)
		thread->work_ns = span;
	else
		thread_await(ctx->world, thread, WAIT_TIME, ctx->ns + span);
	/* A hog that shares its processor looks every millisecond whether its time is
	 * over. */
	return thread->role != ROLE_HOG || fault_due(ctx, thread) == NSEC_MAX;
}

/* Await what the other end sends as one message, which a datagram may cut. */
static bool await_data(struct context *ctx, struct thread *thread)
{
	struct world *world = ctx->world;
	uint64_t most = transport_most(thread->end->flow);
	bool is_client = thread->role == ROLE_CLIENT, stream = is_stream(thread);
	bool is_udp = thread->end->flow->protocol == IPPROTO_UDP;
	nsec_t until = NSEC_MAX;
	int64_t fd = socket_of(thread);

	thread->left =
	    is_client && (stream || is_udp) ? world->reply_bytes : world->request_bytes;
	if (!stream && thread->left > most)
		thread->left = most;
	if (is_client && !stream)
		until = ctx->ns + nsec_round(world->scenario->timeout_ms * 1e6);
	if (stream) {
		EVENT(ctx, EVENT_READ_ENTRY, {.u = (uint64_t)fd}, {.u = thread->left});
		thread->call = EVENT_READ_EXIT;
	} else {
		EVENT(ctx, EVENT_RECVFROM_ENTRY, {.i = fd}, {.u = thread->left}, {.u = 0},
		      {.u = 0});
		thread->call = EVENT_RECVFROM_EXIT;
	}
	if (thread_has_data(ctx, thread))
		return true; /* the next step ends the call */
	thread_await(world, thread, WAIT_DATA, until > ctx->ns ? until : ctx->ns);
	cpu_sleep(ctx, STATE_INTERRUPTIBLE);
	return true;
}

/* Read the data; a late datagram replaces all earlier ones. */
static bool read_data(struct context *ctx, struct thread *thread)
{
	struct endpoint *end = thread->end;

	(void)ctx;
	end->unread = is_stream(thread) ? end->unread - thread->left : 0;
	return true;
}

static void begin_write(struct context *ctx, struct thread *thread, uint64_t bytes)
{
	if (thread->call != EVENT_WRITE_EXIT)
		EVENT(ctx, EVENT_WRITE_ENTRY, {.u = (uint64_t)socket_of(thread)},
		      {.u = buffer_of(thread)}, {.u = bytes});
	thread->call = EVENT_WRITE_EXIT;
}

static void send_piece(struct context *ctx, struct thread *thread, uint64_t bytes)
{
	if (is_stream(thread)) {
		thread->left -= bytes;
		begin_write(ctx, thread, bytes);
		transport_send(ctx, thread->end, bytes);
		EVENT(ctx, EVENT_WRITE_EXIT, {.i = (int64_t)bytes});
		thread->call = 0;
		return;
	}
	/* A datagram is all there is of a message. */
	thread->left = 0;
	EVENT(ctx, EVENT_SENDTO_ENTRY, {.i = socket_of(thread)}, {.u = buffer_of(thread)},
	      {.u = bytes}, {.u = 0}, {.u = buffer_of(thread) + 4096}, {.i = 16});
	transport_send(ctx, thread->end, bytes);
	EVENT(ctx, EVENT_SENDTO_EXIT, {.i = (int64_t)bytes});
}

/* Send thread->left bytes, piece by piece, each when the last one was acknowledged. */
static bool send_message(struct context *ctx, struct thread *thread)
{
	uint64_t most = transport_most(thread->end->flow);

	if (!thread->left)
		return true;
	if (transport_is_answered(thread->end)) {
		if (ctx->world->full)
			wait_until(ctx, thread->end->answered_ns);
		send_piece(ctx, thread, thread->left < most ? thread->left : most);
		return false;
	}
	begin_write(ctx, thread, thread->left);
	thread_await(ctx->world, thread, WAIT_SENT, NSEC_MAX);
	cpu_sleep(ctx, STATE_INTERRUPTIBLE);
	return false;
}

static void use_disk(struct context *ctx, struct thread *thread, bool writes)
{
	struct dice *dice = &ctx->host->dice;
	uint64_t bytes = 4096 * (1 + dice_below(dice, 32));
	int64_t position = (int64_t)dice_below(dice, 1 << 18) * 4096;

	thread->bytes = bytes;
	if (writes) {
		EVENT(ctx, EVENT_PWRITE_ENTRY, {.u = FD_FILE}, {.u = buffer_of(thread)},
		      {.u = bytes}, {.i = position});
		pass_time(ctx, 2000, 8000);
		EVENT(ctx, EVENT_PWRITE_EXIT, {.i = (int64_t)bytes});
		EVENT(ctx, EVENT_FSYNC_ENTRY, {.u = FD_FILE});
		thread->call = EVENT_FSYNC_EXIT;
	} else {
		EVENT(ctx, EVENT_PREAD_ENTRY, {.u = FD_FILE}, {.u = bytes},
		      {.i = position});
		thread->call = EVENT_PREAD_EXIT;
	}
	disk_submit(ctx, thread, (uint64_t)position / 512, writes);
	thread_await(ctx->world, thread, WAIT_DISK, NSEC_MAX);
	cpu_sleep(ctx, STATE_DISK);
}

static bool read_disk(struct context *ctx, struct thread *thread)
{
	use_disk(ctx, thread, false);
	return true;
}

/* A worker sleeps, reads or writes. */
static bool step_worker(struct context *ctx, struct thread *thread)
{
	struct dice *dice = &ctx->host->dice;
	uint64_t choice = dice_below(dice, 100);

	if (choice < 40)
		sleep_until(ctx, thread,
			    ctx->ns + dice_exponential(dice, 20 * NSEC_PER_MSEC));
	else
		use_disk(ctx, thread, choice >= 80);
	return true;
}

/* Read the kernel's counters and write a sample, as sar does. */
static bool sample_counters(struct context *ctx, struct thread *thread)
{
	EVENT(ctx, EVENT_READ_ENTRY, {.u = FD_FILE}, {.u = STAT_BYTES});
	pass_time(ctx, 20000, 60000);
	EVENT(ctx, EVENT_READ_EXIT, {.i = STAT_BYTES}, {.u = buffer_of(thread)});
	sar_sample(ctx);
	EVENT(ctx, EVENT_WRITE_ENTRY, {.u = FD_FILE + 1}, {.u = buffer_of(thread)},
	      {.u = STAT_BYTES});
	pass_time(ctx, 5000, 15000);
	EVENT(ctx, EVENT_WRITE_EXIT, {.i = STAT_BYTES});
	return true;
}

/* The routine of each role's threads, repeated for ever; a child runs it once. */
static bool (*const routines[THREAD_ROLES][6])(struct context *, struct thread *) = {
    [ROLE_CLIENT] = {sleep_until_due, send_message, await_data, read_data},
    [ROLE_SERVER] = {await_data, read_data, await_lock, compute_step, send_message},
    [ROLE_SENDER] = {sleep_until_due, send_message},
    [ROLE_RECEIVER] = {await_data, read_data},
    [ROLE_WORKER] = {compute_step, step_worker},
    [ROLE_SAMPLER] = {sleep_until_due, sample_counters},
    [ROLE_DAEMON] = {sleep_until_due, fork_child, wait_for_child},
    [ROLE_HOG] = {sleep_until_due, compute_step},
    [ROLE_HOLDER] = {sleep_until_due, compute_step, release_lock},
    [ROLE_CHILD] = {execute_program, compute_step, read_disk, compute_step, exit_process},
};

void task_step(struct context *ctx, struct thread *thread)
{
	const struct world *world = ctx->world;
	typeof(&routines[0][0]) routine = routines[thread->role];

	if (world->full)
		end_call(ctx, thread);
	if (!routine[thread->stage](ctx, thread))
		return;
	thread->stage = routine[thread->stage + 1] ? thread->stage + 1 : 0;
	if (routine[thread->stage] == send_message)
		thread->left = thread->role == ROLE_SERVER ? world->reply_bytes
							   : world->request_bytes;
}
