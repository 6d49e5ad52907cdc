/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ACTIVITY_ACTIVITY_PRIVATE_H
#define CT_ACTIVITY_ACTIVITY_PRIVATE_H

#include "activity/activity.h"
#include "base/intmap.h"
#include "timeline/events.h"

/* What the parts of a walk share. */

/* What an event is; the tags of the wishes. */
enum activity_event {
	AT_SWITCH,
	AT_WAKING,
	AT_WAKEUP,
	AT_WAKEUP_NEW,
	AT_FORK,
	AT_EXEC,
	AT_EXIT,
	AT_FREE,
	AT_IRQ_ENTRY,
	AT_IRQ_EXIT,
	AT_SOFTIRQ_RAISE,
	AT_SOFTIRQ_ENTRY,
	AT_SOFTIRQ_EXIT,
	AT_TIMER_ENTRY,
	AT_TIMER_EXIT,
	AT_RECEIVE,
	AT_SEND,
	AT_SYSCALL_ENTRY,
	AT_SYSCALL_EXIT,
	AT_BLOCK_INSERT,
	AT_BLOCK_ISSUE,
	AT_BLOCK_REQUEUE,
	AT_BLOCK_COMPLETE,
	AT_FREQUENCY,
	AT_EVENTS,
};

/* Where a wakeup came from. */
struct wake {
	enum activity_wait wait;
	int64_t tid;   /* -1: not known */
	int64_t event; /* 0: none */
	int64_t batch, recv;
};

#define NO_WAKE ((struct wake){.wait = WAIT_UNKNOWN, .tid = -1})

/* A system call that was begun. */
struct call {
	const char *name; /* NULL: none */
	nsec_t begin_ns;
	int64_t entry_event, fd, count;
	char *path;
};

struct thread {
	size_t at; /* place in the walk's list */
	size_t node;
	int64_t tid;
	const char *comm;
	enum activity_state state;
	nsec_t since_ns;
	bool cut;       /* it began before since_ns */
	bool exiting;   /* after sched_process_exit */
	nsec_t fork_ns; /* NSEC_MIN: not seen */
	bool is_new;    /* forked, and not woken yet */
	int64_t cpu;    /* RUNNING: where; RUNNABLE: where to */
	bool preempted;
	int64_t switch_state;
	struct wake wake;    /* RUNNABLE: what began it */
	struct wake pending; /* woken while it still ran; wake.event 0: was not */
	struct call call;
	bool called; /* a system call of it was seen */
};

/* An interrupt that a processor is in. */
enum { INTERRUPT_TIMER = INTERRUPT_SOFT + 1 }; /* a high-resolution timer's function */
struct interrupt {
	int kind;
	bool disk; /* a request was completed in it */
	int64_t number;
	const char *name;
	nsec_t begin_ns, raised_ns, inner_ns;
	int64_t tid;
};

enum { INTERRUPTS_DEEP = 16, SOFTIRQS = 16 };

struct cpu {
	int64_t number;
	nsec_t first_ns; /* of its first event */
	nsec_t last_ns;  /* of the last one that was read */
	bool known;      /* whether it is known who runs, and since when */
	bool cut;        /* it ran before since_ns, too */
	int64_t tid;     /* of who runs */
	nsec_t since_ns; /* NSEC_MAX: nobody knows since when who runs */
	int64_t priority;
	const char *comm;
	struct interrupt stack[INTERRUPTS_DEEP];
	size_t deep;
	nsec_t raised_ns[SOFTIRQS]; /* NSEC_MIN: is not */
	int64_t batch, recv;        /* first and last packet of this softirq; 0: none */
	nsec_t recv_ns;             /* when the last one came */
	bool recv_woke;             /* somebody was woken since */
	bool recv_is_local;         /* it came by the loopback */
};

struct disk_request {
	struct disk_span span;
	bool issued;
	int64_t done; /* sectors before span.sector that were completed */
	const char *comm;
};

struct disk_queue {
	int64_t dev;
	struct disk_request *request; /* in the order in which they came */
	size_t count, room;
};

struct activity_node {
	int64_t id;
	bool chosen, ended;
	nsec_t begin_ns, end_ns; /* what is known of it lies within */
	struct cpu **cpu;        /* by number; NULL: none of that number yet */
	size_t cpus;
	struct disk_queue *disk;
	size_t disks, disk_room;
};

/* Texts that are kept once. */
struct texts {
	struct text_node {
		char *text;
		int64_t next;
	} * item;
	size_t count, room;
	struct intmap first; /* by hash */
};

struct walk {
	const struct scope *scope;
	const struct activity_ops *ops;
	void *context;
	unsigned without;
	bool has_wakeups;           /* sched_wakeup is recorded */
	bool has_interrupts;        /* hard ones and softirqs are, and were read */
	struct activity_node *node; /* as the scope's nodes */
	nsec_t next_end_ns;         /* when the next node ends */
	struct thread **thread;
	size_t threads, thread_room;
	struct intmap thread_at; /* by node and tid */
	struct texts texts;
	struct event_row row; /* the event at hand */
	size_t at_node;       /* its node's place */
	struct cpu *cpu;      /* its processor; NULL: not recorded */
	int status;           /* of a callback; not 0 ends the walk */
};

/* places.c: nodes, processors, threads */
int walk_init(struct walk *walk, struct timeline_reader *reader, nsec_t begin_ns,
	      struct error *error);
void walk_clear(struct walk *walk);
struct cpu *walk_cpu(struct walk *walk, size_t node, int64_t number);
struct thread *walk_find(const struct walk *walk, size_t node, int64_t tid);
struct thread *walk_thread(struct walk *walk, size_t node,
			   int64_t tid); /* or a new one */
void walk_forget(struct walk *walk, struct thread *thread);

/* texts.c: borrowed as long as the walk; "" for what is no text */
const char *texts_keep(struct texts *texts, const struct cell *cell);
void texts_clear(struct texts *texts);

/* fields.c */
int64_t field_integer(const struct cell *cell, int64_t none);
int64_t field_state(const struct cell *cell); /* of prev_state, as the kernel's bits */
unsigned field_rwbs(const struct cell *cell); /* as LTTng's flags */
enum {
	RWBS_WRITE = 1,
	RWBS_DISCARD = 2,
	RWBS_READ = 4,
	RWBS_FLUSH = 256,
	RWBS_PREFLUSH = 1024
};

/* The parts: each takes the event at hand. */
void thread_event(struct walk *walk);
void interrupt_event(struct walk *walk);
void syscall_event(struct walk *walk);
void disk_event(struct walk *walk);

/* Where a wakeup by the event at hand comes from. */
struct wake interrupt_wake(const struct walk *walk);

/* All interrupts of a processor ended unseen. */
void interrupt_cut(struct walk *walk, size_t node, struct cpu *cpu, nsec_t end_ns);

/* The thread's call ends unseen. */
void syscall_cut(struct walk *walk, struct thread *thread, nsec_t end_ns);

/* A node's recording is over. */
void thread_finish(struct walk *walk, size_t node, nsec_t end_ns);
void interrupt_finish(struct walk *walk, size_t node, nsec_t end_ns);
void syscall_finish(struct walk *walk, size_t node, nsec_t end_ns);
void disk_finish(struct walk *walk, size_t node, nsec_t end_ns);

/*
 * Whether anything of a span lies in the scope, with its begin moved there; `point`:
 * a span without length counts, too.
 */
bool walk_clip(const struct walk *walk, nsec_t *begin_ns, nsec_t end_ns, bool *cut_begin,
	       bool point);

#endif
