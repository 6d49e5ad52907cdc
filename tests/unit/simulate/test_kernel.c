/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events of simulated kernels are consistent with each other. */
#include "../draw.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/event.h"
#include "simulate/world.h"
#include "simulate/writer.h"

enum { NODES = 3, CPUS = 3, TIDS = 2000 };

/* Facts of a thread from its events. */
struct seen_thread {
	bool dumped, awake, gone;
	bool forked, exited, waited_for, freed;
	int64_t parent;
	char comm[16];
	int running_on; /* processor + 1 */
	int call;       /* the entry of the system call that it is in, or -1 */
	int64_t woken_ns;
};

struct seen_cpu {
	int64_t last_ns;
	int32_t tid; /* that runs, 0: idle */
	bool known;
	int irq, softirq, timer;
	bool raised[10];
	uint64_t entered, held, queued; /* skb */
};

/* A writer that checks instead of writing. */
struct checker {
	struct sim_writer base;
	struct seen_thread thread[NODES][TIDS];
	struct seen_cpu cpu[NODES][CPUS];
	int64_t disk[NODES]; /* requests under way */
	uint64_t count[EVENT_KINDS];
};

static int64_t number(const struct sim_event *event, const char *name)
{
	for (size_t i = 0; i < event->class->fields; i++)
		if (strcmp(event->class->field[i].name, name) == 0)
			return event->value[i].i;
	fail_msg("%s has no %s", event->class->name, name);
	return 0;
}

static enum event_kind kind_of(const struct sim_event *event)
{
	for (int kind = 0; kind < EVENT_KINDS; kind++)
		if (event_class((enum event_kind)kind) == event->class)
			return (enum event_kind)kind;
	fail_msg("%s is of no known class", event->class->name);
	return EVENT_KINDS;
}

static struct seen_thread *thread_of(struct checker *checker,
				     const struct sim_event *event, int64_t tid)
{
	assert_true(tid > 0 && tid < TIDS);
	return &checker->thread[event->node][tid];
}

static const char *text(const struct sim_event *event, const char *name)
{
	return (const char *)(intptr_t)number(event, name);
}

/* A name stays as it is until a program is executed. */
static void check_comm(struct checker *checker, const struct sim_event *event,
		       int64_t tid, const char *comm)
{
	struct seen_thread *thread = thread_of(checker, event, tid);

	if (*thread->comm)
		assert_string_equal(comm, thread->comm);
	snprintf(thread->comm, sizeof(thread->comm), "%s", comm);
}

static void check_switch(struct checker *checker, const struct sim_event *event)
{
	struct seen_cpu *cpu = &checker->cpu[event->node][event->cpu];
	int64_t last = number(event, "prev_tid"), next = number(event, "next_tid");
	int64_t state = number(event, "prev_state");

	assert_true(last != next);
	if (cpu->known)
		assert_int_equal(last, cpu->tid);
	cpu->known = true;
	cpu->tid = (int32_t)next;
	assert_false(cpu->irq || cpu->softirq || cpu->timer);
	if (last) {
		struct seen_thread *thread = thread_of(checker, event, last);

		assert_int_equal(thread->running_on, event->cpu + 1);
		check_comm(checker, event, last, text(event, "prev_comm"));
		thread->running_on = 0;
		thread->awake = state == 0;
		thread->gone = state == 128;
		assert_int_equal(thread->gone, thread->exited);
		assert_true(state == 0 || thread->gone || thread->call >= 0);
		assert_int_equal(state == 2, thread->call == EVENT_PREAD_ENTRY ||
						 thread->call == EVENT_FSYNC_ENTRY);
	}
	if (next) {
		struct seen_thread *thread = thread_of(checker, event, next);

		assert_true(thread->awake && !thread->gone && !thread->running_on);
		assert_true(thread->woken_ns <= event->mono_ns);
		check_comm(checker, event, next, text(event, "next_comm"));
		thread->running_on = (int)event->cpu + 1;
	}
}

static void check_wake(struct checker *checker, const struct sim_event *event)
{
	struct seen_thread *thread = thread_of(checker, event, number(event, "tid"));

	assert_false(thread->awake || thread->running_on || thread->gone);
	assert_true(number(event, "target_cpu") < CPUS);
	if (kind_of(event) == EVENT_WAKEUP) {
		thread->awake = true;
		thread->woken_ns = event->mono_ns;
	}
}

static void check_interrupt(struct checker *checker, const struct sim_event *event)
{
	struct seen_cpu *cpu = &checker->cpu[event->node][event->cpu];
	int64_t vector;

	switch (kind_of(event)) {
	case EVENT_IRQ_ENTRY:
		assert_int_equal(cpu->irq++, 0);
		assert_true(number(event, "irq") > 0);
		break;
	case EVENT_IRQ_EXIT:
		assert_int_equal(--cpu->irq, 0);
		break;
	case EVENT_HRTIMER_ENTRY:
		assert_int_equal(cpu->timer++, 0);
		assert_int_equal(number(event, "now"), event->mono_ns);
		break;
	case EVENT_HRTIMER_EXIT:
		assert_int_equal(--cpu->timer, 0);
		break;
	case EVENT_SOFTIRQ_RAISE:
		cpu->raised[number(event, "vec")] = true;
		break;
	case EVENT_SOFTIRQ_ENTRY:
		vector = number(event, "vec");
		assert_true(cpu->raised[vector] && !cpu->irq);
		cpu->raised[vector] = false;
		assert_int_equal(cpu->softirq, 0);
		cpu->softirq = (int)vector;
		break;
	default:
		assert_int_equal(cpu->softirq, number(event, "vec"));
		cpu->softirq = 0;
		break;
	}
}

static void check_network(struct checker *checker, const struct sim_event *event)
{
	struct seen_cpu *cpu = &checker->cpu[event->node][event->cpu];
	const struct packet *packet;

	switch (kind_of(event)) {
	case EVENT_NET_DEV_QUEUE:
		packet = event->value[3].packet;
		cpu->queued = (uint64_t)number(event, "skbaddr");
		assert_int_equal(number(event, "len"),
				 packet->length + (packet->family == 6 ? 54 : 14));
		/* Either a thread sends, or a softirq does. */
		assert_true(cpu->softirq || cpu->tid);
		break;
	case EVENT_NET_DEV_XMIT:
		assert_int_equal(cpu->queued, number(event, "skbaddr"));
		break;
	case EVENT_GRO_ENTRY:
		assert_int_equal(cpu->softirq, 3);
		cpu->entered = (uint64_t)number(event, "skbaddr");
		break;
	case EVENT_GRO_EXIT:
		/* Held for more to come, or passed on: either is received later. */
		if (number(event, "ret") >= 2)
			cpu->held = cpu->entered;
		break;
	case EVENT_NET_RECEIVE:
		assert_int_equal(cpu->softirq, 3);
		assert_int_equal(cpu->held, number(event, "skbaddr"));
		break;
	default:
		assert_int_equal(cpu->softirq, 3);
		break;
	}
}

static void check_disk(struct checker *checker, const struct sim_event *event)
{
	const struct seen_cpu *cpu = &checker->cpu[event->node][event->cpu];

	if (kind_of(event) == EVENT_BLOCK_ISSUE) {
		assert_int_equal(number(event, "tid"), cpu->tid);
		checker->disk[event->node]++;
	} else if (kind_of(event) == EVENT_BLOCK_COMPLETE) {
		assert_int_equal(cpu->irq, 1);
		assert_true(checker->disk[event->node]-- > 0);
	}
}

static void check_fork(struct checker *checker, const struct sim_event *event)
{
	const struct seen_cpu *cpu = &checker->cpu[event->node][event->cpu];
	struct seen_thread *child = thread_of(checker, event, number(event, "child_tid"));

	assert_int_equal(number(event, "parent_tid"), cpu->tid);
	assert_int_equal(thread_of(checker, event, cpu->tid)->call, EVENT_CLONE_ENTRY);
	assert_int_equal(number(event, "vtids"), number(event, "child_tid"));
	assert_int_equal(number(event, "child_pid"), number(event, "child_tid"));
	assert_false(child->dumped || child->forked);
	child->forked = true;
	child->parent = cpu->tid;
	child->call = EVENT_CLONE_ENTRY; /* it returns, too */
	check_comm(checker, event, cpu->tid, text(event, "parent_comm"));
	check_comm(checker, event, number(event, "child_tid"), text(event, "child_comm"));
}

static void check_exec(struct checker *checker, const struct sim_event *event)
{
	const struct seen_cpu *cpu = &checker->cpu[event->node][event->cpu];
	struct seen_thread *thread = thread_of(checker, event, number(event, "tid"));
	const char *name = strrchr(text(event, "filename"), '/') + 1;

	assert_int_equal(number(event, "tid"), cpu->tid);
	assert_int_equal(thread->call, EVENT_EXECVE_ENTRY);
	snprintf(thread->comm, sizeof(thread->comm), "%s", name);
}

/* A process is forked, woken, runs, exits, is waited for and is freed. */
static void check_process(struct checker *checker, const struct sim_event *event)
{
	const struct seen_cpu *cpu = &checker->cpu[event->node][event->cpu];
	struct seen_thread *thread;
	int64_t tid;

	if (kind_of(event) == EVENT_FORK) {
		check_fork(checker, event);
		return;
	}
	if (kind_of(event) == EVENT_EXEC) {
		check_exec(checker, event);
		return;
	}
	tid = number(event, "tid");
	if (kind_of(event) == EVENT_PROCESS_WAIT) {
		assert_int_equal(tid, 0); /* any child */
		assert_int_equal(thread_of(checker, event, cpu->tid)->call,
				 EVENT_WAIT4_ENTRY);
		return;
	}
	check_comm(checker, event, tid, text(event, "comm"));
	thread = thread_of(checker, event, tid);
	if (kind_of(event) == EVENT_PROCESS_EXIT) {
		assert_int_equal(tid, cpu->tid);
		assert_false(thread->exited);
		thread->exited = true;
	} else if (kind_of(event) == EVENT_PROCESS_FREE) {
		assert_int_equal(cpu->softirq, 9);
		assert_true(thread->waited_for && thread->gone && !thread->freed);
		thread->freed = true;
	} else {
		assert_true(thread->forked && !thread->awake);
		thread->awake = true;
		thread->woken_ns = event->mono_ns;
	}
}

/* Calls that do not return are forgotten with their thread. */
static void check_last_call(struct checker *checker, const struct sim_event *event)
{
	const struct seen_cpu *cpu = &checker->cpu[event->node][event->cpu];
	const struct seen_thread *thread = thread_of(checker, event, cpu->tid);

	assert_int_equal(thread->call, -1);
	assert_int_equal(thread->running_on, event->cpu + 1);
}

/* The thread that waited knows the child that ended. */
static void check_waited(struct checker *checker, const struct sim_event *event)
{
	const struct seen_cpu *cpu = &checker->cpu[event->node][event->cpu];
	struct seen_thread *child = thread_of(checker, event, number(event, "ret"));

	assert_true(child->exited && !child->waited_for);
	assert_int_equal(child->parent, cpu->tid);
	child->waited_for = true;
}

/* Entries are even, exits odd, from the first on. */
static void check_call(struct checker *checker, const struct sim_event *event)
{
	const struct seen_cpu *cpu = &checker->cpu[event->node][event->cpu];
	struct seen_thread *thread = thread_of(checker, event, cpu->tid);
	int kind = (int)kind_of(event);

	assert_false(cpu->irq || cpu->softirq || cpu->timer);
	assert_int_equal(thread->running_on, event->cpu + 1);
	if (kind == EVENT_WAIT4_EXIT)
		check_waited(checker, event);
	if ((kind - EVENT_CALLS) % 2 == 0) {
		assert_int_equal(thread->call, -1);
		thread->call = kind;
	} else {
		assert_int_equal(thread->call, kind - 1);
		thread->call = -1;
	}
}

static void check_dump(struct checker *checker, const struct sim_event *event)
{
	struct seen_thread *thread;
	int64_t tid, status;

	if (kind_of(event) != EVENT_DUMP_PROCESS || !(tid = number(event, "tid")))
		return;
	thread = thread_of(checker, event, tid);
	status = number(event, "status");
	assert_false(thread->dumped);
	thread->dumped = true;
	thread->awake = status == 2;
	assert_int_equal(status, 2); /* all begin at once */
}

static int check_event(struct sim_writer *writer, const struct sim_event *event,
		       struct error *error)
{
	struct checker *checker = (struct checker *)writer;
	struct seen_cpu *cpu = &checker->cpu[event->node][event->cpu];
	enum event_kind kind = kind_of(event);

	(void)error;
	assert_true(event->mono_ns >= cpu->last_ns);
	cpu->last_ns = event->mono_ns;
	checker->count[kind]++;
	if (kind == EVENT_SWITCH)
		check_switch(checker, event);
	else if (kind == EVENT_WAKING || kind == EVENT_WAKEUP)
		check_wake(checker, event);
	else if (kind >= EVENT_SOFTIRQ_RAISE && kind <= EVENT_HRTIMER_EXIT)
		check_interrupt(checker, event);
	else if (kind <= EVENT_NAPI_POLL)
		check_network(checker, event);
	else if (kind >= EVENT_BLOCK_INSERT && kind <= EVENT_BLOCK_COMPLETE)
		check_disk(checker, event);
	else if (kind >= EVENT_CALLS)
		check_call(checker, event);
	else if (kind == EVENT_EXIT || kind == EVENT_EXIT_GROUP)
		check_last_call(checker, event);
	else if (kind == EVENT_WAKEUP_NEW ||
		 (kind >= EVENT_FORK && kind <= EVENT_PROCESS_FREE))
		check_process(checker, event);
	else if (kind >= EVENT_DUMP_START)
		check_dump(checker, event);
	return 0;
}

static void run_checked(const char *text, uint64_t *count)
{
	static const struct sim_writer_ops ops = {.add = check_event};
	struct checker *checker = mem_zalloc(sizeof(*checker));
	struct sim_node nodes[NODES];
	struct scenario scenario;
	struct world world;
	struct error error = ERROR_INIT;

	scenario_init(&scenario);
	if (scenario_parse(&scenario, "test", text, &error) ||
	    scenario_check(&scenario, &error))
		fail_msg("%s", error_text(&error));
	for (int node = 0; node < NODES; node++) {
		nodes[node] = (struct sim_node){.name = "n", .cpus = CPUS};
		for (int tid = 0; tid < TIDS; tid++)
			checker->thread[node][tid].call = -1;
	}
	checker->base = (struct sim_writer){&ops, nodes, NODES, false};
	world_init(&world, &scenario, draw_seed);
	world.writer = &checker->base;
	world.error = &error;
	world_run(&world, true);
	assert_false(world.failed);
	memcpy(count, checker->count, sizeof(checker->count));
	world_clear(&world);
	scenario_clear(&scenario);
	free(checker);
}

static const char busy[] = "nodes 3\ncpus 3\nseconds 4\nactivity full\nworkers 6\n"
			   "protocol mixed\ninterval_ms 3\nservice_us 300\n"
			   "spawn_ms 10\n";

TEST(test_full)
{
	uint64_t count[EVENT_KINDS];

	run_checked(busy, count);
	for (int kind = 0; kind < EVENT_KINDS; kind++)
		if (kind != EVENT_EXIT && !count[kind])
			fail_msg("no %s", event_class((enum event_kind)kind)->name);
	assert_int_equal(count[EVENT_DUMP_PROCESS], NODES * (CPUS + 2 + 6 + 2));
	assert_true(
	    llabs((int64_t)(count[EVENT_NET_DEV_QUEUE] - count[EVENT_NET_RECEIVE])) < 50);
	assert_int_equal(count[EVENT_WAKING], count[EVENT_WAKEUP]);
	/* All but the last ones go their whole way. */
	assert_int_equal(count[EVENT_FORK], count[EVENT_WAKEUP_NEW]);
	assert_in_range(count[EVENT_FORK] - count[EVENT_PROCESS_FREE], 0, NODES);
	assert_in_range(count[EVENT_PROCESS_EXIT] - count[EVENT_PROCESS_FREE], 0, NODES);
	assert_in_range(count[EVENT_FORK], 3 * 20, 3 * 4000 / 30);
}

TEST(test_losses)
{
	uint64_t count[EVENT_KINDS];
	char text[400];

	snprintf(text, sizeof(text),
		 "%sprotocol tcp\nloss 0.2\nreorder 0.1\n"
		 "duplicate 0.02\nrequest_bytes 200000\nfamily mixed",
		 busy);
	run_checked(text, count);
	assert_true(count[EVENT_NET_DEV_QUEUE] > count[EVENT_NET_RECEIVE]);
}

TEST(test_offload)
{
	uint64_t count[EVENT_KINDS];
	char text[400];

	snprintf(text, sizeof(text),
		 "%sprotocol tcp\ngso yes\ngro yes\ncoalesce_us 60\n"
		 "reply_bytes 100000\nlayers bond",
		 busy);
	run_checked(text, count);
	/* Two interfaces show each; what is merged enters on its own. */
	assert_int_equal(count[EVENT_NET_DEV_QUEUE], count[EVENT_NET_DEV_XMIT]);
	assert_true(count[EVENT_GRO_ENTRY] > count[EVENT_NET_RECEIVE]);
}

TEST(test_threads_end)
{
	uint64_t count[EVENT_KINDS];
	char text[400];

	snprintf(text, sizeof(text),
		 "%spattern oneway\nprotocol udp\nactive_to_s 2\nspawn_ms 0", busy);
	run_checked(text, count);
	assert_int_equal(count[EVENT_PROCESS_EXIT], 3);
	/* The last thread of a process ends the process. */
	assert_int_equal(count[EVENT_EXIT_GROUP], 2);
	assert_int_equal(count[EVENT_EXIT], 1);
}

TEST(test_overload)
{
	uint64_t count[EVENT_KINDS];

	run_checked("nodes 3\ncpus 1\nseconds 1\nactivity full\nworkers 20\n"
		    "pattern both\nprotocol udp\ninterval_ms 0.01",
		    count);
	assert_true(count[EVENT_NET_RECEIVE] > 1000);
}

TEST(test_net_alone)
{
	uint64_t count[EVENT_KINDS];

	run_checked("nodes 3\ncpus 3\nseconds 1\nprotocol udp\npattern request\nnat 1\n"
		    "workers 0\nspawn_ms 0\nactivity full",
		    count);
	assert_true(count[EVENT_NET_RECEIVE] > 0);
	assert_int_equal(count[EVENT_BLOCK_ISSUE], 0);
}
