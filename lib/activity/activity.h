/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ACTIVITY_ACTIVITY_H
#define CT_ACTIVITY_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/nsec.h"
#include "timeline/reader.h"
#include "timeline/scope.h"

/*
 * What the processors and threads of a cluster did, told by the kernel's events in one
 * pass: who ran where and when, who waited for what and who ended that, interrupts,
 * system calls, disk requests. Everything is a span from begin_ns to end_ns on the
 * timeline's axis.
 *
 * Spans of one kind come by their end. One that began before the scope, or before the
 * first event of its processor, or that goes on after the scope's end or its node's last
 * event, is cut there and says so. So is one whose end was lost: it comes when that is
 * noticed, and ends where it was last known. Where no event tells a thread's state
 * there is no span of it; nothing is guessed. No span of a thread is empty of time.
 *
 * To know what was going on at the scope's begin, some events before it are read, too.
 */
enum activity_state {
	ACTIVITY_UNKNOWN, /* no span has it */
	ACTIVITY_RUNNING,
	ACTIVITY_RUNNABLE, /* woken or preempted, waits for a processor */
	ACTIVITY_BLOCKED,
	ACTIVITY_DEAD, /* after its exit, until its parent has heard of it */
};

/* What ended a wait: where the wakeup came from. */
enum activity_wait {
	WAIT_UNKNOWN,
	WAIT_THREAD,    /* another thread of the node: waker_tid */
	WAIT_DISK,      /* a disk's interrupt or its softirq */
	WAIT_NETWORK,   /* a packet: in the network's softirq, by a packet's receive */
	WAIT_TIMER,     /* a timer's interrupt or softirq */
	WAIT_INTERRUPT, /* any other interrupt */
};

/* A thread in one state. Idle (tid 0) has only RUNNING. */
struct thread_span {
	int64_t node, tid;
	enum activity_state state;
	nsec_t begin_ns, end_ns;
	bool cut_begin, cut_end;
	int64_t cpu; /* RUNNING: where; RUNNABLE: where it is to run if told; else -1 */
	/* RUNNING, and RUNNABLE that ended: as recorded; by LTTng 20 is nice 0, and less
	 * than 0 is real-time. INT64_MIN: not recorded */
	int64_t priority;
	const char
	    *comm; /* as of the span's end; borrowed for the call; "" if not known */
	/* RUNNABLE: whether it lost the processor while it wanted to go on; RUNNING that
	 * ended: whether it loses it so. */
	bool preempted;
	/* RUNNABLE (of the wakeup that began it) and BLOCKED (of the one that ended it):
	 */
	enum activity_wait wait;
	int64_t
	    waker_tid; /* the thread on whose behalf or in whose stead; -1: not known */
	int64_t wake_event; /* event.id of the wakeup; 0: none */
	/* WAIT_NETWORK: event.id of the first and of the last packet that this softirq
	 * had received by then. The kernel may note several before it wakes anybody, so
	 * it is any of them, or none: by struct packet_received. 0: none */
	int64_t wake_batch, wake_recv;
	/* BLOCKED and RUNNING: the system call that it is in, as "read"; NULL: none, or
	 * not recorded. */
	const char *syscall;
	/* RUNNING that ended: the thread that came next on the processor; -1. */
	int64_t next_tid;
	/* RUNNABLE that ended: the thread that left the processor for it; -1. */
	int64_t prev_tid;
	/* BLOCKED: the state that the switch said (TASK_INTERRUPTIBLE 1, UNINTERRUPTIBLE
	 * 2, ...). */
	int64_t switch_state;
};

enum interrupt_kind { INTERRUPT_HARD, INTERRUPT_SOFT };

struct interrupt_span {
	enum interrupt_kind kind;
	int64_t node, cpu;
	int64_t number;   /* of the line, or of the softirq (0 HI, 1 TIMER, 2 NET_TX, 3
			     NET_RX, ...) */
	const char *name; /* handler, or the softirq's name; "" if not known */
	nsec_t begin_ns, end_ns;
	nsec_t raised_ns; /* softirq: when it was raised; NSEC_MIN: not recorded */
	nsec_t inner_ns;  /* how much of it went to interrupts that interrupted it */
	bool cut_begin, cut_end;
	int64_t tid; /* who was interrupted; -1: not known */
};

struct syscall_span {
	int64_t node, tid, cpu; /* the processor where it ended */
	const char *comm;       /* "" if not known */
	const char *name;       /* "read", without syscall_entry_ */
	nsec_t begin_ns, end_ns;
	bool cut_begin, cut_end;
	int64_t ret;                     /* INT64_MIN: not recorded or cut */
	int64_t entry_event, exit_event; /* event.id; 0: cut */
	int64_t fd;                      /* first argument `fd`; -1: none */
	int64_t count;                   /* argument `count`, `len` or `size`; -1: none */
	const char
	    *path; /* argument `filename` or `pathname` of open, openat, ...; NULL */
};

/* A disk request from where it was queued, or else issued, to its completion. */
struct disk_span {
	int64_t node, dev; /* the kernel's device number */
	int64_t sector, sectors;
	bool write, flush, discard; /* none of them: a read */
	nsec_t begin_ns;            /* queued (block_rq_insert), else issued */
	nsec_t issue_ns;            /* handed to the device; NSEC_MIN: not recorded */
	nsec_t end_ns;
	bool cut_begin, cut_end;
	int64_t tid; /* who queued or issued it; -1: not known */
	const char *comm;
	int64_t error;
	unsigned merged; /* how many other queued requests went into it */
};

/*
 * A packet that a node handed to an interface (net_dev_queue, inet_sock_local_out), and
 * what did so, as of a wakeup: WAIT_THREAD the thread `tid`, WAIT_NETWORK the network's
 * softirq in answer to one of the packets from `batch` to `recv`, WAIT_TIMER a timer,
 * which sends again what got no answer.
 */
struct packet_sent {
	int64_t node;
	int64_t event; /* event.id */
	nsec_t ts_ns;
	enum activity_wait by;
	int64_t tid;         /* who ran; -1: not known */
	int64_t batch, recv; /* as a wakeup's wake_batch and wake_recv */
};

/* A packet that came. Those of one softirq are a batch, named by the first of them. */
struct packet_received {
	int64_t node;
	int64_t event; /* event.id */
	int64_t batch;
};

/* A processor's frequency from ts_ns on: cpu_frequency events. */
struct frequency_step {
	int64_t node, cpu;
	nsec_t ts_ns;
	int64_t khz;
};

/* What of a thread's spans is not wanted, so that its events need not be read; and what
 * may be assumed. */
enum activity_without {
	ACTIVITY_NO_WAITS = 1,     /* `wait` is WAIT_UNKNOWN, `wake_recv` 0 */
	ACTIVITY_NO_SYSCALLS = 2,  /* `syscall` is NULL */
	ACTIVITY_ONLY_RUNNING = 4, /* no states but RUNNING come; implies the others */
	/* Where interrupts are not recorded, so that wakeups and sendings are else of an
	 * unknown kind, take them to be as it looks: see assumed_wake. */
	ACTIVITY_ASSUME = 8
};

/* Each may be NULL: what nobody asks for is not read. A return other than 0 ends the
 * walk. */
struct activity_ops {
	int (*thread)(void *context, const struct thread_span *span);
	int (*interrupt)(void *context, const struct interrupt_span *span);
	int (*syscall)(void *context, const struct syscall_span *span);
	int (*disk)(void *context, const struct disk_span *span);
	int (*frequency)(void *context, const struct frequency_step *step);
	/* These two of what is read before the scope, too. */
	int (*sent)(void *context, const struct packet_sent *packet);
	int (*received)(void *context, const struct packet_received *packet);
	/* Now and then, for progress: 0 to 1 of the scope. */
	void (*share)(void *context, double share);
	unsigned without; /* enum activity_without */
};

/* What the timeline records, so that a caller can say "not recorded (enable X)". */
struct activity_recorded {
	bool switches;   /* sched_switch */
	bool wakeups;    /* sched_wakeup, sched_waking */
	bool interrupts; /* irq_handler_entry and _exit */
	bool softirqs;   /* softirq_entry and _exit */
	bool raises;     /* softirq_raise */
	bool syscalls;   /* syscall_entry_* and syscall_exit_* */
	bool disk;       /* block_rq_issue and block_rq_complete */
	bool frequency;  /* cpu_frequency */
	bool timers;     /* hrtimer_expire_entry and _exit */
	bool receives;   /* net_if_receive_skb: names the packet that ended a wait */
};

int activity_recorded(struct activity_recorded *recorded, struct timeline_reader *reader,
		      struct error *error);

/*
 * Walk the scope. 0; what a callback returned, when that was not 0; or -1 with error.
 * Sources: the states follow Trace Compass's and lttng-analyses' models of sched_switch
 * and sched_wakeup(_new), sched_process_fork and sched_process_exit; docs/analyses.md
 * tells of them.
 */
int activity_walk(struct timeline_reader *reader, const struct scope *scope,
		  const struct activity_ops *ops, void *context, struct error *error);

#endif
