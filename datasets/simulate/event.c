/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/event.h"

#include <string.h>

#include "simulate/host.h"
#include "simulate/spans.h"

#define FIELDS(...)                                                                      \
	(const struct sim_field[])                                                       \
	{                                                                                \
		__VA_ARGS__                                                              \
	}
#define COUNT(...) sizeof(FIELDS(__VA_ARGS__)) / sizeof(struct sim_field)
#define CLASS(name, capture, ...)                                                        \
	{                                                                                \
		name, FIELDS(__VA_ARGS__), COUNT(__VA_ARGS__), capture                   \
	}
#define PLAIN(name, ...) CLASS(name, SIM_NOT_CAPTURED, __VA_ARGS__)

#define NETWORK                                                                          \
	{"skbaddr", SIM_HEX64}, {"len", SIM_U32}, {"name", SIM_TEXT},                    \
	{                                                                                \
		"network_header", SIM_PACKET                                             \
	}
#define WAKE                                                                             \
	{"comm", SIM_COMM}, {"tid", SIM_S32}, {"prio", SIM_S32},                         \
	{                                                                                \
		"target_cpu", SIM_S32                                                    \
	}
#define PROCESS                                                                          \
	{"comm", SIM_COMM}, {"tid", SIM_S32},                                            \
	{                                                                                \
		"prio", SIM_S32                                                          \
	}
#define REQUEST                                                                          \
	{"dev", SIM_U32}, {"sector", SIM_U64}, {"nr_sector", SIM_U32},                   \
	    {"bytes", SIM_U32}, {"tid", SIM_S32}, {"rwbs", SIM_U32},                     \
	{                                                                                \
		"comm", SIM_COMM                                                         \
	}

static const struct sim_class classes[EVENT_KINDS] = {
    [EVENT_NET_DEV_QUEUE] = CLASS("net_dev_queue", SIM_CAPTURED_SENT, NETWORK),
    [EVENT_NET_DEV_XMIT] = PLAIN("net_dev_xmit", {"skbaddr", SIM_HEX64}, {"rc", SIM_S32},
				 {"len", SIM_U32}, {"name", SIM_TEXT}),
    [EVENT_GRO_ENTRY] = PLAIN("net_napi_gro_receive_entry", {"skbaddr", SIM_HEX64}),
    [EVENT_GRO_EXIT] = PLAIN("net_napi_gro_receive_exit", {"ret", SIM_S32}),
    [EVENT_NET_RECEIVE] = CLASS("net_if_receive_skb", SIM_CAPTURED_RECEIVED, NETWORK),
    [EVENT_NAPI_POLL] = PLAIN("napi_poll", {"napi", SIM_HEX64}, {"dev_name", SIM_TEXT},
			      {"work", SIM_S32}, {"budget", SIM_S32}),
    [EVENT_SWITCH] =
	PLAIN("sched_switch", {"prev_comm", SIM_COMM}, {"prev_tid", SIM_S32},
	      {"prev_prio", SIM_S32}, {"prev_state", SIM_S64}, {"next_comm", SIM_COMM},
	      {"next_tid", SIM_S32}, {"next_prio", SIM_S32}),
    [EVENT_WAKING] = PLAIN("sched_waking", WAKE),
    [EVENT_WAKEUP] = PLAIN("sched_wakeup", WAKE),
    [EVENT_WAKEUP_NEW] = PLAIN("sched_wakeup_new", WAKE),
    [EVENT_MIGRATE] =
	PLAIN("sched_migrate_task", {"comm", SIM_COMM}, {"tid", SIM_S32},
	      {"prio", SIM_S32}, {"orig_cpu", SIM_S32}, {"dest_cpu", SIM_S32}),
    [EVENT_FORK] =
	PLAIN("sched_process_fork", {"parent_comm", SIM_COMM}, {"parent_tid", SIM_S32},
	      {"parent_pid", SIM_S32}, {"parent_ns_inum", SIM_U32},
	      {"child_comm", SIM_COMM}, {"child_tid", SIM_S32}, {"vtids", SIM_S32_LIST},
	      {"child_pid", SIM_S32}, {"child_ns_inum", SIM_U32}),
    [EVENT_EXEC] = PLAIN("sched_process_exec", {"filename", SIM_TEXT}, {"tid", SIM_S32},
			 {"old_tid", SIM_S32}),
    [EVENT_PROCESS_EXIT] = PLAIN("sched_process_exit", PROCESS),
    [EVENT_PROCESS_WAIT] = PLAIN("sched_process_wait", PROCESS),
    [EVENT_PROCESS_FREE] = PLAIN("sched_process_free", PROCESS),
    [EVENT_SOFTIRQ_RAISE] = PLAIN("irq_softirq_raise", {"vec", SIM_U32}),
    [EVENT_SOFTIRQ_ENTRY] = PLAIN("irq_softirq_entry", {"vec", SIM_U32}),
    [EVENT_SOFTIRQ_EXIT] = PLAIN("irq_softirq_exit", {"vec", SIM_U32}),
    [EVENT_IRQ_ENTRY] = PLAIN("irq_handler_entry", {"irq", SIM_S32}, {"name", SIM_TEXT}),
    [EVENT_IRQ_EXIT] = PLAIN("irq_handler_exit", {"irq", SIM_S32}, {"ret", SIM_S32}),
    [EVENT_HRTIMER_ENTRY] = PLAIN("timer_hrtimer_expire_entry", {"hrtimer", SIM_HEX64},
				  {"now", SIM_S64}, {"function", SIM_HEX64}),
    [EVENT_HRTIMER_EXIT] = PLAIN("timer_hrtimer_expire_exit", {"hrtimer", SIM_HEX64}),
    [EVENT_BLOCK_INSERT] = PLAIN("block_rq_insert", REQUEST),
    [EVENT_BLOCK_ISSUE] = PLAIN("block_rq_issue", REQUEST),
    [EVENT_BLOCK_COMPLETE] =
	PLAIN("block_rq_complete", {"dev", SIM_U32}, {"sector", SIM_U64},
	      {"nr_sector", SIM_U32}, {"error", SIM_S32}, {"rwbs", SIM_U32}),
    [EVENT_DUMP_START] = {"lttng_statedump_start", NULL, 0, SIM_NOT_CAPTURED},
    [EVENT_DUMP_PROCESS] =
	PLAIN("lttng_statedump_process_state", {"tid", SIM_S32}, {"pid", SIM_S32},
	      {"ppid", SIM_S32}, {"name", SIM_COMM}, {"type", SIM_S32}, {"mode", SIM_S32},
	      {"submode", SIM_S32}, {"status", SIM_S32}, {"cpu", SIM_U32},
	      {"file_table_address", SIM_HEX64}),
    [EVENT_DUMP_DISK] =
	PLAIN("lttng_statedump_block_device", {"dev", SIM_U32}, {"diskname", SIM_TEXT}),
    [EVENT_DUMP_END] = {"lttng_statedump_end", NULL, 0, SIM_NOT_CAPTURED},
    [EVENT_EXIT] = PLAIN("syscall_entry_exit", {"error_code", SIM_S32}),
    [EVENT_EXIT_GROUP] = PLAIN("syscall_entry_exit_group", {"error_code", SIM_S32}),
    [EVENT_READ_ENTRY] = PLAIN("syscall_entry_read", {"fd", SIM_U32}, {"count", SIM_U64}),
    [EVENT_READ_EXIT] = PLAIN("syscall_exit_read", {"ret", SIM_S64}, {"buf", SIM_U64}),
    [EVENT_WRITE_ENTRY] = PLAIN("syscall_entry_write", {"fd", SIM_U32}, {"buf", SIM_U64},
				{"count", SIM_U64}),
    [EVENT_WRITE_EXIT] = PLAIN("syscall_exit_write", {"ret", SIM_S64}),
    [EVENT_PREAD_ENTRY] = PLAIN("syscall_entry_pread64", {"fd", SIM_U32},
				{"count", SIM_U64}, {"pos", SIM_S64}),
    [EVENT_PREAD_EXIT] =
	PLAIN("syscall_exit_pread64", {"ret", SIM_S64}, {"buf", SIM_U64}),
    [EVENT_PWRITE_ENTRY] = PLAIN("syscall_entry_pwrite64", {"fd", SIM_U32},
				 {"buf", SIM_U64}, {"count", SIM_U64}, {"pos", SIM_S64}),
    [EVENT_PWRITE_EXIT] = PLAIN("syscall_exit_pwrite64", {"ret", SIM_S64}),
    [EVENT_FSYNC_ENTRY] = PLAIN("syscall_entry_fsync", {"fd", SIM_U32}),
    [EVENT_FSYNC_EXIT] = PLAIN("syscall_exit_fsync", {"ret", SIM_S64}),
    [EVENT_SENDTO_ENTRY] = PLAIN("syscall_entry_sendto", {"fd", SIM_S32},
				 {"buff", SIM_U64}, {"len", SIM_U64}, {"flags", SIM_U32},
				 {"addr", SIM_U64}, {"addr_len", SIM_S32}),
    [EVENT_SENDTO_EXIT] = PLAIN("syscall_exit_sendto", {"ret", SIM_S64}),
    [EVENT_RECVFROM_ENTRY] =
	PLAIN("syscall_entry_recvfrom", {"fd", SIM_S32}, {"size", SIM_U64},
	      {"flags", SIM_U32}, {"addr_len", SIM_U64}),
    [EVENT_RECVFROM_EXIT] =
	PLAIN("syscall_exit_recvfrom", {"ret", SIM_S64}, {"ubuf", SIM_U64},
	      {"addr", SIM_U64}, {"addr_len", SIM_U64}),
    [EVENT_SLEEP_ENTRY] = PLAIN("syscall_entry_clock_nanosleep", {"which_clock", SIM_S32},
				{"flags", SIM_S32}, {"rqtp", SIM_U64}),
    [EVENT_SLEEP_EXIT] =
	PLAIN("syscall_exit_clock_nanosleep", {"ret", SIM_S64}, {"rmtp", SIM_U64}),
    [EVENT_CLONE_ENTRY] =
	PLAIN("syscall_entry_clone", {"flags", SIM_HEX64}, {"newsp", SIM_HEX64},
	      {"parent_tid", SIM_HEX64}, {"child_tid", SIM_HEX64}),
    [EVENT_CLONE_EXIT] = PLAIN("syscall_exit_clone", {"ret", SIM_S64}),
    [EVENT_EXECVE_ENTRY] = PLAIN("syscall_entry_execve", {"filename", SIM_TEXT},
				 {"argv", SIM_HEX64}, {"envp", SIM_HEX64}),
    [EVENT_EXECVE_EXIT] = PLAIN("syscall_exit_execve", {"ret", SIM_S64}),
    [EVENT_WAIT4_ENTRY] =
	PLAIN("syscall_entry_wait4", {"upid", SIM_S32}, {"options", SIM_S32}),
    [EVENT_WAIT4_EXIT] = PLAIN("syscall_exit_wait4", {"ret", SIM_S64},
			       {"stat_addr", SIM_U64}, {"ru", SIM_U64}),
};

const struct sim_class *event_class(enum event_kind kind)
{
	return &classes[kind];
}

/* Behind EVENT_CALLS entries and exits take turns, and an exit's first field is what the
 * call returned. */
static void tell_call(struct now *now, enum event_kind kind, const union sim_value *value)
{
	if ((kind - EVENT_CALLS) % 2 == 0)
		spans_call(now, classes[kind].name + strlen("syscall_entry_"));
	else
		spans_call_end(now, value[0].i);
}

void event_add(struct now *now, enum event_kind kind, const union sim_value *value)
{
	struct world *world = now->world;
	struct host *host = now_host(now);

	if (kind >= EVENT_CALLS)
		tell_call(now, kind, value);
	if (world->writer && !world->failed && !world->stopped &&
	    host_is_traced(host, now->ns)) {
		struct sim_clock *clock = &host->clock;
		const struct sim_event event = {
		    .node = now->node,
		    .cpu = now->cpu,
		    .mono_ns = world->real_stamps
				   ? sim_clock_real(clock, now->ns) - clock->boot_ns
				   : sim_clock_mono(clock, now->ns),
		    .class = &classes[kind],
		    .value = value,
		    .routers = now->routers,
		};

		if (sim_writer_add(world->writer, &event, world->error))
			world->failed = true;
		spans_note_event(now, event.mono_ns);
		world->stopped |= ++world->events >= world->events_most;
	}
	now_pass(now, 200, 1000);
}
