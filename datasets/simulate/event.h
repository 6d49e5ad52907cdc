/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_EVENT_H
#define CT_SIMULATE_EVENT_H

#include "simulate/world.h"

/*
 * The kernel events that the simulator makes, named as in lttng-modules 2.13: E(kind,
 * name, fields), with F(name, type) for each field. Activity net uses none after
 * NET_RECEIVE. From READ_ENTRY on entries and exits alternate; an exit's first field is
 * the return value.
 */
#define SIM_NETWORK(F)                                                                   \
	F(skbaddr, HEX64) F(len, U32) F(name, TEXT) F(network_header, PACKET)
#define SIM_WAKE(F)    F(comm, COMM) F(tid, S32) F(prio, S32) F(target_cpu, S32)
#define SIM_PROCESS(F) F(comm, COMM) F(tid, S32) F(prio, S32)
#define SIM_REQUEST(F)                                                                   \
	F(dev, U32)                                                                      \
	F(sector, U64)                                                                   \
	F(nr_sector, U32) F(bytes, U32) F(tid, S32) F(rwbs, U32) F(comm, COMM)

#define SIM_EVENTS(E, F)                                                                 \
	E(NET_DEV_QUEUE, net_dev_queue, SIM_NETWORK(F))                                  \
	E(NET_DEV_XMIT, net_dev_xmit,                                                    \
	  F(skbaddr, HEX64) F(rc, S32) F(len, U32) F(name, TEXT))                        \
	E(GRO_ENTRY, net_napi_gro_receive_entry, F(skbaddr, HEX64))                      \
	E(GRO_EXIT, net_napi_gro_receive_exit, F(ret, S32))                              \
	E(NET_RECEIVE, net_if_receive_skb, SIM_NETWORK(F))                               \
	E(NAPI_POLL, napi_poll,                                                          \
	  F(napi, HEX64) F(dev_name, TEXT) F(work, S32) F(budget, S32))                  \
	E(SWITCH, sched_switch,                                                          \
	  F(prev_comm, COMM) F(prev_tid, S32) F(prev_prio, S32) F(prev_state, S64)       \
	      F(next_comm, COMM) F(next_tid, S32) F(next_prio, S32))                     \
	E(WAKING, sched_waking, SIM_WAKE(F))                                             \
	E(WAKEUP, sched_wakeup, SIM_WAKE(F))                                             \
	E(WAKEUP_NEW, sched_wakeup_new, SIM_WAKE(F))                                     \
	E(MIGRATE, sched_migrate_task,                                                   \
	  F(comm, COMM) F(tid, S32) F(prio, S32) F(orig_cpu, S32) F(dest_cpu, S32))      \
	E(FORK, sched_process_fork,                                                      \
	  F(parent_comm, COMM) F(parent_tid, S32) F(parent_pid, S32)                     \
	      F(parent_ns_inum, U32) F(child_comm, COMM) F(child_tid, S32)               \
		  F(vtids, S32_LIST) F(child_pid, S32) F(child_ns_inum, U32))            \
	E(EXEC, sched_process_exec, F(filename, TEXT) F(tid, S32) F(old_tid, S32))       \
	E(PROCESS_EXIT, sched_process_exit, SIM_PROCESS(F))                              \
	E(PROCESS_WAIT, sched_process_wait, SIM_PROCESS(F))                              \
	E(PROCESS_FREE, sched_process_free, SIM_PROCESS(F))                              \
	E(SOFTIRQ_RAISE, irq_softirq_raise, F(vec, U32))                                 \
	E(SOFTIRQ_ENTRY, irq_softirq_entry, F(vec, U32))                                 \
	E(SOFTIRQ_EXIT, irq_softirq_exit, F(vec, U32))                                   \
	E(IRQ_ENTRY, irq_handler_entry, F(irq, S32) F(name, TEXT))                       \
	E(IRQ_EXIT, irq_handler_exit, F(irq, S32) F(ret, S32))                           \
	E(HRTIMER_ENTRY, timer_hrtimer_expire_entry,                                     \
	  F(hrtimer, HEX64) F(now, S64) F(function, HEX64))                              \
	E(HRTIMER_EXIT, timer_hrtimer_expire_exit, F(hrtimer, HEX64))                    \
	E(BLOCK_INSERT, block_rq_insert, SIM_REQUEST(F))                                 \
	E(BLOCK_ISSUE, block_rq_issue, SIM_REQUEST(F))                                   \
	E(BLOCK_COMPLETE, block_rq_complete,                                             \
	  F(dev, U32) F(sector, U64) F(nr_sector, U32) F(error, S32) F(rwbs, U32))       \
	E(DUMP_START, lttng_statedump_start, )                                           \
	E(DUMP_PROCESS, lttng_statedump_process_state,                                   \
	  F(tid, S32) F(pid, S32) F(ppid, S32) F(name, COMM) F(type, S32) F(mode, S32)   \
	      F(submode, S32) F(status, S32) F(cpu, U32) F(file_table_address, HEX64))   \
	E(DUMP_DISK, lttng_statedump_block_device, F(dev, U32) F(diskname, TEXT))        \
	E(DUMP_END, lttng_statedump_end, )                                               \
	E(EXIT, syscall_entry_exit, F(error_code, S32))                                  \
	E(EXIT_GROUP, syscall_entry_exit_group, F(error_code, S32))                      \
	E(READ_ENTRY, syscall_entry_read, F(fd, U32) F(count, U64))                      \
	E(READ_EXIT, syscall_exit_read, F(ret, S64) F(buf, U64))                         \
	E(WRITE_ENTRY, syscall_entry_write, F(fd, U32) F(buf, U64) F(count, U64))        \
	E(WRITE_EXIT, syscall_exit_write, F(ret, S64))                                   \
	E(PREAD_ENTRY, syscall_entry_pread64, F(fd, U32) F(count, U64) F(pos, S64))      \
	E(PREAD_EXIT, syscall_exit_pread64, F(ret, S64) F(buf, U64))                     \
	E(PWRITE_ENTRY, syscall_entry_pwrite64,                                          \
	  F(fd, U32) F(buf, U64) F(count, U64) F(pos, S64))                              \
	E(PWRITE_EXIT, syscall_exit_pwrite64, F(ret, S64))                               \
	E(FSYNC_ENTRY, syscall_entry_fsync, F(fd, U32))                                  \
	E(FSYNC_EXIT, syscall_exit_fsync, F(ret, S64))                                   \
	E(SENDTO_ENTRY, syscall_entry_sendto,                                            \
	  F(fd, S32) F(buff, U64) F(len, U64) F(flags, U32) F(addr, U64)                 \
	      F(addr_len, S32))                                                          \
	E(SENDTO_EXIT, syscall_exit_sendto, F(ret, S64))                                 \
	E(RECVFROM_ENTRY, syscall_entry_recvfrom,                                        \
	  F(fd, S32) F(size, U64) F(flags, U32) F(addr_len, U64))                        \
	E(RECVFROM_EXIT, syscall_exit_recvfrom,                                          \
	  F(ret, S64) F(ubuf, U64) F(addr, U64) F(addr_len, U64))                        \
	E(SLEEP_ENTRY, syscall_entry_clock_nanosleep,                                    \
	  F(which_clock, S32) F(flags, S32) F(rqtp, U64))                                \
	E(SLEEP_EXIT, syscall_exit_clock_nanosleep, F(ret, S64) F(rmtp, U64))            \
	E(CLONE_ENTRY, syscall_entry_clone,                                              \
	  F(flags, HEX64) F(newsp, HEX64) F(parent_tid, HEX64) F(child_tid, HEX64))      \
	E(CLONE_EXIT, syscall_exit_clone, F(ret, S64))                                   \
	E(EXECVE_ENTRY, syscall_entry_execve,                                            \
	  F(filename, TEXT) F(argv, HEX64) F(envp, HEX64))                               \
	E(EXECVE_EXIT, syscall_exit_execve, F(ret, S64))                                 \
	E(WAIT4_ENTRY, syscall_entry_wait4, F(upid, S32) F(options, S32))                \
	E(WAIT4_EXIT, syscall_exit_wait4, F(ret, S64) F(stat_addr, U64) F(ru, U64))

enum event_kind {
#define KIND(kind, ...) EVENT_##kind,
	SIM_EVENTS(KIND, )
#undef KIND
	    EVENT_KINDS,
	EVENT_NET_LAST = EVENT_NET_RECEIVE,
	EVENT_CALLS = EVENT_READ_ENTRY
};

/* Return the class that events of this kind are recorded with. */
const struct sim_class *event_class(enum event_kind kind);

/*
 * Pass an event to the writer, if there is one and the node is traced, and let 200 to
 * 1000 ns pass. `value` has a value for each field.
 */
void event_add(struct context *ctx, enum event_kind kind, const union sim_value *value);

/* Add an event whose fields are a thread's name, tid, priority and perhaps processor. */
void event_of_thread(struct context *ctx, enum event_kind kind,
		     const struct thread *thread);

enum { PRIORITY = 20 }; /* every thread's */

/* Add an event, unless it is one that activity net does not have. */
#define EVENT(ctx, kind, ...)                                                            \
	((ctx)->world->full || (kind) <= EVENT_NET_LAST                                  \
	     ? event_add(ctx, kind, (const union sim_value[]){__VA_ARGS__})              \
	     : (void)0)

#endif
