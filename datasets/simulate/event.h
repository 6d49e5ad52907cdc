/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_EVENT_H
#define CT_SIMULATE_EVENT_H

#include "simulate/world.h"

/* The events of a kernel that the simulator knows, as lttng-modules 2.13 names them. */
enum event_kind {
	EVENT_NET_DEV_QUEUE,
	EVENT_NET_DEV_XMIT,
	EVENT_GRO_ENTRY,
	EVENT_GRO_EXIT,
	EVENT_NET_RECEIVE,
	EVENT_NET_LAST = EVENT_NET_RECEIVE, /* with activity net there are no more */
	EVENT_NAPI_POLL,
	EVENT_SWITCH,
	EVENT_WAKING,
	EVENT_WAKEUP,
	EVENT_WAKEUP_NEW,
	EVENT_MIGRATE,
	EVENT_FORK,
	EVENT_EXEC,
	EVENT_PROCESS_EXIT,
	EVENT_PROCESS_WAIT,
	EVENT_PROCESS_FREE,
	EVENT_SOFTIRQ_RAISE,
	EVENT_SOFTIRQ_ENTRY,
	EVENT_SOFTIRQ_EXIT,
	EVENT_IRQ_ENTRY,
	EVENT_IRQ_EXIT,
	EVENT_HRTIMER_ENTRY,
	EVENT_HRTIMER_EXIT,
	EVENT_BLOCK_INSERT,
	EVENT_BLOCK_ISSUE,
	EVENT_BLOCK_COMPLETE,
	EVENT_DUMP_START,
	EVENT_DUMP_PROCESS,
	EVENT_DUMP_DISK,
	EVENT_DUMP_END,
	EVENT_EXIT,
	EVENT_EXIT_GROUP,
	EVENT_CALLS, /* from here on an entry and its exit each */
	EVENT_READ_ENTRY = EVENT_CALLS,
	EVENT_READ_EXIT,
	EVENT_WRITE_ENTRY,
	EVENT_WRITE_EXIT,
	EVENT_PREAD_ENTRY,
	EVENT_PREAD_EXIT,
	EVENT_PWRITE_ENTRY,
	EVENT_PWRITE_EXIT,
	EVENT_FSYNC_ENTRY,
	EVENT_FSYNC_EXIT,
	EVENT_SENDTO_ENTRY,
	EVENT_SENDTO_EXIT,
	EVENT_RECVFROM_ENTRY,
	EVENT_RECVFROM_EXIT,
	EVENT_SLEEP_ENTRY,
	EVENT_SLEEP_EXIT,
	EVENT_CLONE_ENTRY,
	EVENT_CLONE_EXIT,
	EVENT_EXECVE_ENTRY,
	EVENT_EXECVE_EXIT,
	EVENT_WAIT4_ENTRY,
	EVENT_WAIT4_EXIT,
	EVENT_KINDS,
};

/* How events of that kind are recorded. */
const struct sim_class *event_class(enum event_kind kind);

/*
 * Hand an event to the writer, if there is one and the node is traced, and let
 * a little time pass. `value` has one a field.
 */
void event_add(struct now *now, enum event_kind kind, const union sim_value *value);

#define EVENT(now, kind, ...) event_add(now, kind, (const union sim_value[]){__VA_ARGS__})

#endif
