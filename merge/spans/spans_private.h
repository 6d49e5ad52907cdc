/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SPANS_SPAN_MODEL_H
#define CT_MERGE_SPANS_SPAN_MODEL_H

#include "base/cell.h"
#include "base/hash.h"
#include "base/nsec.h"
#include "base/spill.h"
#include "merge/spans/spans.h"
#include "timeline/reader.h"
#include "timeline/rows.h"

/* Ended spans, packed, to be read back sorted by kind, node, thread (or source of
 * interrupts, or disk) and begin. Those of one thread come in that order already, so each
 * thread has a chain of chunks; full ones are written to an unnamed file. Chains in
 * another order (idle runs on several processors, a disk has several requests at a time)
 * are sorted when they are read. */
enum span_kind { SPAN_THREAD, SPAN_SYSCALL, SPAN_INTERRUPT, SPAN_DISK, SPAN_KINDS };

enum { SPAN_VALUES = sizeof(struct timeline_thread_state) / sizeof(int64_t) };

/* A row of its table; id, node, thread, begin and duration are set when it is written. */
struct span {
	nsec_t begin_ns, end_ns;
	int64_t id; /* counts the spans of a kind; the log's */
	union {     /* TIMELINE_NONE if unknown; strings as indexes of `texts` */
		struct timeline_thread_state state;
		struct timeline_syscall syscall;
		struct timeline_irq irq;
		struct timeline_block_request disk;
		int64_t value[SPAN_VALUES];
	};
	bool is_presumed; /* see add_presumed_sleep() in threads.c */
	const char *path; /* path of a system call; or NULL */
	size_t path_size;
};

struct span_log {
	struct chain *chain; /* see span_rows.c */
	size_t chains, capacity;
	struct intmap index; /* index of chains */
	int64_t ids[SPAN_KINDS];
	size_t held; /* bytes of all chains */
	struct spill spill;
};

void span_log_clear(struct span_log *log);

enum {                     /* thread_state.state_code, by schema.sql */
       STATE_UNKNOWN = -1, /* no span has it */
       STATE_RUNNABLE,     /* woken or preempted, waits for a processor */
       STATE_RUNNING,
       STATE_INTERRUPTIBLE,
       STATE_UNINTERRUPTIBLE,
       STATE_BLOCKED, /* it sleeps, how is not known */
       STATE_DEAD     /* after its exit, until its parent has heard of it */
};

#define NO_CAUSE ((struct span_cause){.wait = WAIT_UNKNOWN, .tid = -1})

struct thread {
	size_t at; /* place in the list of all */
	uint32_t node;
	int64_t tid, comm;
	int64_t state;
	struct span open; /* its state's, except STATE_RUNNING, which its processor has;
			     a new thread's begins at its fork */
	bool exiting;     /* after sched_process_exit */
	nsec_t fork_ns;   /* NSEC_MIN: not seen */
	bool is_new;      /* forked, and not woken yet */
	int64_t cpu;      /* RUNNING: its CPU; RUNNABLE: the CPU it waits for */
	int64_t last_cpu; /* CPU of its last running span, or -1 */
	struct span_cause pending; /* woken while it still ran; event 0: was not */
	struct span call;          /* its current call; without a name if it is in none */
	char *path;                /* path of the call */
	bool called;               /* a system call of it was seen */
};

/* An interrupt that a processor is in. */
enum interrupt_kind { INTERRUPT_HARD, INTERRUPT_SOFT, INTERRUPT_TIMER /* a function */ };

struct interrupt {
	enum interrupt_kind kind;
	bool disk; /* a request was completed in it */
	int64_t number, name;
	struct span span;
};

enum { INTERRUPTS_DEEP = 16, SOFTIRQS = 16 };

/* A source of repeated interrupts: a handler of a line, or a softirq. */
struct interrupt_source {
	int64_t is_soft, number, name, cpu;
};

struct cpu {
	int64_t number;
	nsec_t first_ns; /* recorded without a hole since then; NSEC_MIN: unknown */
	nsec_t last_ns;  /* last event that spans are made from, or start of a recording
			  * of interrupts */
	nsec_t seen_ns[NEEDS];     /* last event of each need, or NSEC_MIN */
	nsec_t begin_ns, end_ns;   /* first and last event, or NSEC_MIN */
	nsec_t doubt_ns[NEEDS];    /* events may have been lost until then */
	bool is_interrupt_unknown; /* no interrupts are recorded now */
	bool known;      /* the running thread and the start of its run are known */
	bool cut;        /* it ran before since_ns, too */
	int64_t tid;     /* the running thread */
	nsec_t since_ns; /* start of the thread's run; NSEC_MAX: unknown */
	int64_t priority, comm;
	bool is_preempted; /* the thread that is switched out */
	struct interrupt stack[INTERRUPTS_DEEP];
	size_t deep;
	nsec_t raised_ns[SOFTIRQS];    /* NSEC_MIN: is not */
	int64_t first_recv, last_recv; /* packets of this softirq; or 0 */
	nsec_t recv_ns;                /* time of the last one */
	bool recv_woke;                /* a thread was woken since */
	bool recv_is_local;            /* received by the loopback device */
};

struct disk_request {
	struct span span; /* span of the remaining sectors */
	int64_t sectors;
	int64_t done; /* sectors before them that were completed */
	bool is_write;
	bool lacks_operation; /* the event does not state one */
	nsec_t next_issue_ns; /* next issue on its sector, or NSEC_MAX */
	/* Its completion, unless one on the sector was lost; see disks.c. */
	nsec_t completed_ns; /* or NSEC_MIN */
	int64_t error;
};

struct disk {
	int64_t dev, name;
	struct disk_request *request; /* in order of arrival */
	size_t count, capacity;
};

struct span_node {
	int64_t node;             /* its id */
	nsec_t begin_ns, last_ns; /* NSEC_MIN: no event yet */
	nsec_t since_ns[NEEDS]; /* all CPUs are recorded since then; NSEC_MIN: unknown */
	nsec_t doubt_ns[NEEDS]; /* as in struct cpu, for any processor */
	nsec_t new_cpu_ns;      /* first event of the last processor that appeared */
	struct cpu **cpu;       /* by number; NULL if not seen */
	size_t cpus;
	struct disk *disk;
	size_t disks, disk_capacity;
	bool has_hard, has_soft; /* such events are recorded */
	bool calls_lack_tid; /* the thread of a system call follows only from switches */
};

struct spans {
	const struct merge_run *run;
	nsec_t begin_ns; /* start of the selection */
	struct span_log log;
	struct texts texts;
	struct span_node *node; /* as the run's */
	size_t nodes;
	struct thread **thread;
	size_t threads, thread_capacity;
	struct intmap thread_at; /* by node and tid */
	struct texts sources;    /* sources of interrupts: the bytes of their struct */
	int failed;              /* the log's */
	struct error *error;

	/* The current event. */
	const struct merged_event *event;
	enum event_tag tag;
	int64_t tid;
	struct cpu *cpu; /* its processor; NULL: not recorded */
	struct span_cause *cause;
};

/* nodes, processors, threads */
struct cpu *spans_cpu(struct spans *spans, uint32_t node, int64_t number);
struct thread *spans_find(const struct spans *spans, uint32_t node, int64_t tid);
struct thread *spans_thread(struct spans *spans, uint32_t node, int64_t tid); /* or new */
void spans_forget(struct spans *spans, struct thread *thread);

/* Return the thread in a field of the current event, or -1. */
static inline int64_t spans_tid(const struct spans *spans, int place)
{
	int64_t tid = event_integer(spans->event, place, -1);

	return tid < 0 || tid > INT32_MAX ? -1 : tid;
}

int64_t spans_text(struct spans *spans, int place); /* a field */

/* A name in LTTng's enumerations for a number. */
struct flag_name {
	const char *name; /* NULL at the end */
	int64_t flag;
};

/* Return a field of flags, which is a number or a name; or `none`. */
int64_t spans_flags(const struct spans *spans, int place, const struct flag_name *known,
		    int64_t none);

/* Make a span without values. */
static inline void span_init(struct span *span, nsec_t begin_ns, nsec_t end_ns)
{
	span->begin_ns = begin_ns;
	span->end_ns = end_ns;
	span->id = 0;
	for (int i = 0; i < SPAN_VALUES; i++)
		span->value[i] = TIMELINE_NONE;
	span->is_presumed = false;
	span->path = NULL;
	span->path_size = 0;
}

/* Add a span that has ended; copies it. If it ends before it begins, its length becomes
 * 0. `whose` is -1 to 2^32 - 1. */
void spans_add(struct spans *spans, enum span_kind kind, uint32_t node, int64_t whose,
	       struct span *span);

typedef int span_fn(void *context, const struct span *span);

/*
 * Pass the spans of a thread, or of a source of interrupts or a disk, that become rows to
 * `on_span` until it returns other than 0: in order of begin and id. A span is valid
 * during the call. Use after spans_end(), in any thread. Return 0, what `on_span`
 * returned, or -1 with error if the log cannot be read.
 */
int spans_read(const struct spans *spans, enum span_kind kind, uint32_t node,
	       int64_t whose, span_fn *on_span, void *context, struct error *error);

/* Handle the current event. */
void thread_event(struct spans *spans);
void call_event(struct spans *spans);
void interrupt_event(struct spans *spans);
void disk_event(struct spans *spans);

/* Return the cause of a wakeup or a send by the current event. */
struct span_cause interrupt_cause(const struct spans *spans);

/* End a thread's system call, if it is in one, as cut: its exit was not seen. */
void call_cut(struct spans *spans, struct thread *thread, nsec_t end_ns);

/* Return the time since which a node's events of a need are recorded without a hole. */
static inline nsec_t known_since(const struct span_node *node, enum event_need need)
{
	return node->since_ns[need] > NSEC_MIN ? node->since_ns[need] : node->begin_ns;
}

/*
 * Cut the spans that go on, because events that they need were not recorded on a
 * processor from `stop_ns` on. A later span is cut at its start.
 */
void thread_lose(struct spans *spans, uint32_t node, struct cpu *cpu, unsigned needs,
		 nsec_t stop_ns);
void call_lose(struct spans *spans, struct thread *thread, nsec_t stop_ns);
void disk_lose(struct spans *spans, uint32_t node, nsec_t stop_ns);

/* All interrupts of a processor ended unseen. */
void interrupt_cut(struct spans *spans, uint32_t node, struct cpu *cpu, nsec_t end_ns);

/* A node's recording is over. */
void thread_finish(struct spans *spans, uint32_t node, nsec_t end_ns);
void interrupt_finish(struct spans *spans, uint32_t node, nsec_t end_ns);

static inline int64_t known(int64_t number) /* -1 if unknown */
{
	return number < 0 ? TIMELINE_NONE : number;
}

static inline int64_t span_cut(bool begin, bool end)
{
	return begin + 2 * end;
}

enum { CUT_DOUBT = 4 }; /* a further bit of `cut`: it may be several spans */

static inline int64_t span_doubt(const nsec_t doubt_ns[NEEDS], enum event_need need,
				 nsec_t begin_ns)
{
	return doubt_ns[need] > begin_ns ? CUT_DOUBT : 0;
}

#endif
