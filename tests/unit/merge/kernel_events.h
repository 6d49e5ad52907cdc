/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_KERNEL_EVENTS_H
#define CT_TEST_KERNEL_EVENTS_H

/* Events of two nodes' kernels, made by hand; made.h and told_spans.h consume them. */
#include <inttypes.h>

#include "../timeline/timeline.h"
#include "timeline/writer.h"

enum { MADE_END = 1000 };

static const struct timeline_column made_switch[] = {
    {"prev_comm", CELL_TEXT, false},    {"prev_tid", CELL_INTEGER, false},
    {"prev_prio", CELL_INTEGER, false}, {"prev_state", CELL_INTEGER, false},
    {"next_comm", CELL_TEXT, false},    {"next_tid", CELL_INTEGER, false},
    {"next_prio", CELL_INTEGER, false},
};
static const struct timeline_column made_wakeup[] = {
    {"comm", CELL_TEXT, false},
    {"tid", CELL_INTEGER, false},
    {"prio", CELL_INTEGER, false},
    {"target_cpu", CELL_INTEGER, false},
};
static const struct timeline_column made_fork[] = {{"child_tid", CELL_INTEGER, false},
						   {"child_comm", CELL_TEXT, false}};
static const struct timeline_column made_tid[] = {{"tid", CELL_INTEGER, false},
						  {"old_tid", CELL_INTEGER, false}};
static const struct timeline_column made_irq[] = {{"irq", CELL_INTEGER, false},
						  {"name", CELL_TEXT, false}};
static const struct timeline_column made_vec[] = {{"vec", CELL_INTEGER, false}};
static const struct timeline_column made_name[] = {{"name", CELL_TEXT, false}};
static const struct timeline_column made_rq[] = {
    {"dev", CELL_INTEGER, false},       {"sector", CELL_INTEGER, false},
    {"nr_sector", CELL_INTEGER, false}, {"rwbs", CELL_INTEGER, false},
    {"tid", CELL_INTEGER, false},       {"error", CELL_INTEGER, false},
};
static const struct timeline_column made_read[] = {{"fd", CELL_INTEGER, false},
						   {"count", CELL_INTEGER, false}};
static const struct timeline_column made_packet[] = {{"length", CELL_INTEGER, false},
						     {"payload", CELL_INTEGER, false},
						     {"flags", CELL_INTEGER, false}};
static const struct timeline_column made_open[] = {{"filename", CELL_TEXT, false}};
static const struct timeline_column made_ret[] = {{"ret", CELL_INTEGER, false}};
static const struct timeline_column made_khz[] = {{"state", CELL_INTEGER, false},
						  {"cpu_id", CELL_INTEGER, false}};

enum made_kind {
	SWITCH,
	WAKING,
	WAKEUP,
	WAKEUP_NEW,
	FORK,
	EXEC,
	EXIT,
	FREE,
	IRQ,
	IRQ_END,
	RAISE,
	SOFTIRQ,
	SOFTIRQ_END,
	TIMER,
	TIMER_END,
	RECEIVE,
	SEND,
	PACKET,
	READ,
	READ_END,
	WRITE,
	WRITE_END,
	OPEN,
	OPEN_END,
	CLONE,
	CLONE_END,
	EXIT_GROUP,
	INSERT,
	ISSUE,
	REQUEUE,
	COMPLETE,
	KHZ,
	MARK,
	KINDS
};

static const struct timeline_class made_class[KINDS] = {
    [SWITCH] = {"kernel", "sched_switch", made_switch, 7},
    [WAKING] = {"kernel", "sched_waking", made_wakeup, 4},
    [WAKEUP] = {"kernel", "sched_wakeup", made_wakeup, 4},
    [WAKEUP_NEW] = {"kernel", "sched_wakeup_new", made_wakeup, 4},
    [FORK] = {"kernel", "sched_process_fork", made_fork, 2},
    [EXEC] = {"kernel", "sched_process_exec", made_tid, 2},
    [EXIT] = {"kernel", "sched_process_exit", made_tid, 1},
    [FREE] = {"kernel", "sched_process_free", made_tid, 1},
    [IRQ] = {"kernel", "irq_handler_entry", made_irq, 2},
    [IRQ_END] = {"kernel", "irq_handler_exit", made_irq, 1},
    [RAISE] = {"kernel", "irq_softirq_raise", made_vec, 1},
    [SOFTIRQ] = {"kernel", "irq_softirq_entry", made_vec, 1},
    [SOFTIRQ_END] = {"kernel", "irq_softirq_exit", made_vec, 1},
    [TIMER] = {"kernel", "timer_hrtimer_expire_entry", NULL, 0},
    [TIMER_END] = {"kernel", "timer_hrtimer_expire_exit", NULL, 0},
    [RECEIVE] = {"kernel", "net_if_receive_skb", made_name, 1},
    [SEND] = {"kernel", "net_dev_queue", made_name, 1},
    [PACKET] = {"capture", "packet", made_packet, 3},
    [READ] = {"kernel", "syscall_entry_read", made_read, 2},
    [READ_END] = {"kernel", "syscall_exit_read", made_ret, 1},
    [WRITE] = {"kernel", "syscall_entry_write", made_read, 2},
    [WRITE_END] = {"kernel", "syscall_exit_write", made_ret, 1},
    [OPEN] = {"kernel", "compat_syscall_entry_openat", made_open, 1},
    [OPEN_END] = {"kernel", "compat_syscall_exit_openat", made_ret, 1},
    [CLONE] = {"kernel", "syscall_entry_clone", NULL, 0},
    [CLONE_END] = {"kernel", "syscall_exit_clone", made_ret, 1},
    [EXIT_GROUP] = {"kernel", "syscall_entry_exit_group", NULL, 0},
    [INSERT] = {"kernel", "block_rq_insert", made_rq, 5},
    [ISSUE] = {"kernel", "block_rq_issue", made_rq, 5},
    [REQUEUE] = {"kernel", "block_rq_requeue", made_rq, 4},
    [COMPLETE] = {"kernel", "block_rq_complete", made_rq, 6},
    [MARK] = {"kernel", "mark", NULL, 0},
    [KHZ] = {"kernel", "power_cpu_frequency", made_khz, 2},
};

/* Add an event by thread `tid`, and return its id. */
static int64_t made_event(enum made_kind kind, nsec_t ts_ns, int32_t cpu, int64_t tid,
			  const struct cell *cell);

static inline struct cell made_text(const char *text)
{
	return (struct cell){
	    .type = CELL_TEXT, .size = (uint32_t)strlen(text), .bytes = text};
}

/* Names of threads are t and their number. */
static inline struct cell made_comm(int64_t tid, char name[24])
{
	snprintf(name, 24, tid ? "t%" PRId64 : "swapper", tid);
	return made_text(name);
}

static inline int64_t switch_at(nsec_t ts_ns, int32_t cpu, int64_t prev, int64_t state,
				int64_t next)
{
	char name[2][24];
	const struct cell cells[] = {
	    made_comm(prev, name[0]), INTEGER(prev), INTEGER(20), INTEGER(state),
	    made_comm(next, name[1]), INTEGER(next), INTEGER(20)};

	return made_event(SWITCH, ts_ns, cpu, prev, cells);
}

/* `by` wakes `tid` for a processor; WAKING, WAKEUP or WAKEUP_NEW. */
static inline int64_t wake_at(enum made_kind kind, nsec_t ts_ns, int32_t cpu, int64_t by,
			      int64_t tid, int64_t target)
{
	char name[24];
	const struct cell cells[] = {made_comm(tid, name), INTEGER(tid), INTEGER(20),
				     INTEGER(target)};

	return made_event(kind, ts_ns, cpu, by, cells);
}

static inline int64_t fork_at(nsec_t ts_ns, int32_t cpu, int64_t parent, int64_t child)
{
	char name[24];
	const struct cell cells[] = {INTEGER(child), made_comm(child, name)};

	return made_event(FORK, ts_ns, cpu, parent, cells);
}

/* Add an event of one or two fields, which are numbers. */
static inline int64_t number_at(enum made_kind kind, nsec_t ts_ns, int32_t cpu,
				int64_t tid, int64_t number, int64_t second)
{
	const struct cell cells[] = {INTEGER(number), INTEGER(second)};

	return made_event(kind, ts_ns, cpu, tid, cells);
}

static inline int64_t irq_at(nsec_t ts_ns, int32_t cpu, int64_t tid, int64_t number,
			     const char *name)
{
	const struct cell cells[] = {INTEGER(number), made_text(name)};

	return made_event(IRQ, ts_ns, cpu, tid, cells);
}

static inline int64_t name_at(enum made_kind kind, nsec_t ts_ns, int32_t cpu, int64_t tid,
			      const char *name)
{
	const struct cell cell = made_text(name);

	return made_event(kind, ts_ns, cpu, tid, &cell);
}

static inline int64_t disk_at(enum made_kind kind, nsec_t ts_ns, int64_t sector,
			      int64_t sectors, int64_t rwbs, int64_t tid)
{
	const struct cell cells[] = {INTEGER(8),    INTEGER(sector), INTEGER(sectors),
				     INTEGER(rwbs), INTEGER(tid),    INTEGER(0)};

	return made_event(kind, ts_ns, 0, 9, cells);
}

#endif
