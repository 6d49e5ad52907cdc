/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_EVENT_CLASS_H
#define CT_MERGE_EVENT_CLASS_H

#include "merge/run.h"
#include "trace/reader.h"

/* A source's event class as the merge uses it, determined when the source is opened: the
 * uses of its events, and the columns that are read. */
enum event_use {
	EVENT_SELECTED = 1, /* becomes a row */
	EVENT_FOLLOWED = 2, /* threads or processes are followed by its fields */
	EVENT_CONTEXT = 4,  /* or by its context */
	EVENT_CELLS = 8,    /* the merging thread reads its cells */
	EVENT_LINKED = 16,  /* it can be what a message was made of */
	EVENT_PAYLOAD = 32, /* its cells become a row of its class */
};

/* The meaning of an event. */
enum event_tag {
	AT_OTHER,
	AT_SWITCH, /* threads */
	AT_WAKING,
	AT_WAKEUP,
	AT_WAKEUP_NEW,
	AT_FORK,
	AT_EXEC,
	AT_EXIT,
	AT_FREE,
	AT_IRQ_ENTRY, /* interrupts */
	AT_IRQ_EXIT,
	AT_SOFTIRQ_RAISE,
	AT_SOFTIRQ_ENTRY,
	AT_SOFTIRQ_EXIT,
	AT_TIMER_ENTRY,
	AT_TIMER_EXIT,
	AT_RECEIVE,
	AT_SEND,
	AT_SYSCALL_ENTRY, /* system calls */
	AT_SYSCALL_EXIT,
	AT_BLOCK_INSERT, /* disks */
	AT_BLOCK_ISSUE,
	AT_BLOCK_REQUEUE,
	AT_BLOCK_COMPLETE,
	AT_DISK_NAME,
	AT_CAPTURED,
	AT_DUMP, /* from here on only of processes */
	AT_DUMP_CGROUP,
	AT_DUMP_NETWORK,
};

/* The kinds of events that spans need. They are recorded and lost independently of each
 * other: a processor has a stream for each channel, and a channel has some classes of
 * events. */
enum event_need {
	NEED_SWITCH, /* which thread runs */
	NEED_WAKEUP, /* which threads exist, and which of them wait */
	NEED_CALL,
	NEED_INTERRUPT,
	NEED_DISK,
	NEED_ANY, /* events of any class */
	NEEDS,
};

/* The fields that are read, by tag: indexes of struct event_class.column. */
enum { PREV_COMM, PREV_TID, PREV_PRIO, PREV_STATE, NEXT_COMM, NEXT_TID, NEXT_PRIO };
enum { WOKEN_COMM, WOKEN_TID, WOKEN_CPU };
enum { CHILD_COMM, CHILD_TID, CHILD_PID, PARENT_COMM, PARENT_TID, PARENT_PID };
enum { EXEC_TID, EXEC_OLD_TID, EXEC_FILE };
enum { EXIT_TID, EXIT_COMM, EXIT_GROUP_DEAD, EXIT_CODE };
enum { FREE_TID };
enum { IRQ_LINE, IRQ_NAME };
enum { RECEIVE_DEVICE, RECEIVE_LENGTH, RECEIVE_HEADER };
enum { CAPTURED_FAMILY, CAPTURED_LENGTH };
enum {
	ENTRY_FD,
	ENTRY_COUNT,
	ENTRY_LEN,
	ENTRY_SIZE,
	ENTRY_FILENAME,
	ENTRY_PATHNAME,
	ENTRY_STATUS
};
enum { RETURNED };
enum {
	BLOCK_DEV,
	BLOCK_SECTOR,
	BLOCK_SECTORS,
	BLOCK_RWBS,
	BLOCK_TID,
	BLOCK_COMM,
	BLOCK_ERROR
};
enum { NAMED_DEV, DEV_NAME };
enum { DUMP_TID, DUMP_PID, DUMP_PPID, DUMP_COMM, DUMP_NAMESPACE = DUMP_PID };
enum {
	SEND_BUFFER,
	SEND_DEVICE,
	SEND_LENGTH,
	SEND_V4,
	SEND_V6 = SEND_V4 + 7 /* bases of the packet fields below */
};
enum { IP_LENGTH, IP_TTL, IP_PROTOCOL, IP_SRC, IP_DST, IP_SEQ, IPV4_ID };
enum { EVENT_FIELDS = SEND_V6 + IPV4_ID };

/* And those of the context, of the thread that runs; namespaces by their inodes. */
enum event_context {
	CONTEXT_TID,
	CONTEXT_PID,
	CONTEXT_PPID,
	CONTEXT_COMM,
	CONTEXT_CGROUP,
	CONTEXT_NETWORK,
	CONTEXT_FIELDS
};

struct event_class {
	const struct trace_class *of; /* borrowed */
	unsigned use;
	enum event_tag tag;
	enum event_need need;
	const char *call;         /* name of a system call */
	int column[EVENT_FIELDS]; /* index of an event's cell, or -1 */
	int context[CONTEXT_FIELDS];
	unsigned *chosen; /* columns of the cells; NULL: all, see
			     event_class_choose_cells() */
	size_t cells;
	enum cell_type *type; /* types of its table's columns; NULL without a table */
	size_t columns;

	/* While rows are written: as the timeline and others number it; 0: not yet. */
	uint32_t id;
	size_t span_text; /* `call` */
};

/* The purposes of a run's classes. */
struct event_filter {
	const struct selection *selection;
	bool payload; /* rows of classes */
	bool columns; /* as cells, not as bytes of a timeline */
	bool spans;
};

void event_class_init(struct event_class *class, const struct trace_class *of,
		      const struct event_filter *filter);

/* Reduce an event's cells to the columns that are read: `column` and `context` become
 * indexes of `chosen`, which has those columns in ascending order. */
void event_class_choose_cells(struct event_class *class);

/* Return true if it was recorded with any of its cells. */
bool event_class_wants_cells(const struct event_class *class);

/* Return the uses of an event at a time, or-ed; 0 if it has none. */
unsigned event_class_use(const struct event_class *class,
			 const struct selection *selection, nsec_t ts_ns);

/* Return the use of a class before the selection begins. */
enum trace_use event_class_use_before(const struct event_class *class);

/* An event as it is merged. */
struct merged_event {
	int64_t id;    /* id of its row; or 0 */
	uint32_t node; /* index in the run */
	const struct event_class *class;
	nsec_t ts_ns;
	int64_t cpu, tid; /* -1: not known */
	const struct cell *cell;
};

/* Return a field of the event; NULL cells for a missing one. */
const struct cell *event_field(const struct merged_event *event, int place);
int64_t event_integer(const struct merged_event *event, int place, int64_t none);

/* Return the cell of a column; a NULL cell if the column is missing. */
const struct cell *event_cell(const struct cell *cell, int column);

void event_class_clear(struct event_class *class);

/* Determines the thread of an event: by its context, if `tid` (in user space `vtid`) was
 * recorded, otherwise by the last sched_switch on its CPU; a switch belongs to its
 * prev_tid. Before a CPU's first switch the thread is unknown (-1). In user space, the
 * kernel trace with the same clock gives the running thread. */
struct follow;

struct follow *follow_new(const struct merge_run *run);

/* Return the thread of an event, or -1. Call in order of a source's events. */
int64_t follow_event(struct follow *follow, uint32_t source,
		     const struct event_class *class, const struct trace_event *event);

/* Forget which thread runs on a CPU of a node: it is unknown until the next switch. */
void follow_lose(struct follow *follow, const struct merge_run *run, uint32_t node,
		 int64_t cpu);

void follow_free(struct follow *follow);

#endif
