/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/event_class.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "timeline/reader.h"
#include "timeline/writer.h"

/* Classes and the fields that are read of them. Older tracers omit the prefix that newer
 * ones put before a field's name. */
#define FIELDS(...)                                                                      \
	{                                                                                \
		__VA_ARGS__                                                              \
	}
#define V4    "network_header_ipv4_"
#define V6    "network_header_ipv6_"
#define SEQ   "transport_header_tcp_seq"
#define WOKEN [WOKEN_COMM] = "comm", [WOKEN_TID] = "tid", [WOKEN_CPU] = "target_cpu"
#define RECEIVE                                                                          \
	[RECEIVE_DEVICE] = "name", [RECEIVE_LENGTH] = "len",                             \
	[RECEIVE_HEADER] = V4 "tot_len"
#define CALL                                                                             \
	[ENTRY_FD] = "fd", [ENTRY_COUNT] = "count", [ENTRY_LEN] = "len",                 \
	[ENTRY_SIZE] = "size", [ENTRY_FILENAME] = "filename",                            \
	[ENTRY_PATHNAME] = "pathname"
#define BLOCK                                                                            \
	[BLOCK_DEV] = "dev", [BLOCK_SECTOR] = "sector", [BLOCK_SECTORS] = "nr_sector",   \
	[BLOCK_RWBS] = "rwbs", [BLOCK_TID] = "tid", [BLOCK_COMM] = "comm",               \
	[BLOCK_ERROR] = "error"
static const struct {
	const char *class; /* ends with '*': begins so */
	enum event_tag tag;
	unsigned use;
	const char *field[EVENT_FIELDS];
} classes[] = {
    {"sched_switch", AT_SWITCH, EVENT_FOLLOWED,
     FIELDS([PREV_COMM] = "prev_comm", [PREV_TID] = "prev_tid", [PREV_PRIO] = "prev_prio",
	    [PREV_STATE] = "prev_state", [NEXT_COMM] = "next_comm",
	    [NEXT_TID] = "next_tid", [NEXT_PRIO] = "next_prio")},
    {"sched_waking", AT_WAKING, 0, FIELDS(WOKEN)},
    {"sched_wakeup", AT_WAKEUP, 0, FIELDS(WOKEN)},
    {"sched_wakeup_new", AT_WAKEUP_NEW, 0, FIELDS(WOKEN)},
    {"sched_process_fork", AT_FORK, EVENT_FOLLOWED,
     FIELDS([CHILD_COMM] = "child_comm", [CHILD_TID] = "child_tid",
	    [CHILD_PID] = "child_pid", [PARENT_COMM] = "parent_comm",
	    [PARENT_TID] = "parent_tid", [PARENT_PID] = "parent_pid")},
    {"sched_process_exec", AT_EXEC, EVENT_FOLLOWED,
     FIELDS([EXEC_TID] = "tid", [EXEC_OLD_TID] = "old_tid", [EXEC_FILE] = "filename")},
    {"sched_process_exit", AT_EXIT, EVENT_FOLLOWED,
     FIELDS([EXIT_TID] = "tid", [EXIT_COMM] = "comm", [EXIT_GROUP_DEAD] = "group_dead",
	    [EXIT_CODE] = "exit_code")},
    {"sched_process_free", AT_FREE, EVENT_FOLLOWED, FIELDS([FREE_TID] = "tid")},
    {"irq_handler_entry", AT_IRQ_ENTRY, 0,
     FIELDS([IRQ_LINE] = "irq", [IRQ_NAME] = "name")},
    {"irq_handler_exit", AT_IRQ_EXIT, 0, FIELDS([IRQ_LINE] = "irq")},
    {"irq_softirq_raise", AT_SOFTIRQ_RAISE, 0, FIELDS([IRQ_LINE] = "vec")},
    {"softirq_raise", AT_SOFTIRQ_RAISE, 0, FIELDS([IRQ_LINE] = "vec")},
    {"irq_softirq_entry", AT_SOFTIRQ_ENTRY, 0, FIELDS([IRQ_LINE] = "vec")},
    {"softirq_entry", AT_SOFTIRQ_ENTRY, 0, FIELDS([IRQ_LINE] = "vec")},
    {"irq_softirq_exit", AT_SOFTIRQ_EXIT, 0, FIELDS([IRQ_LINE] = "vec")},
    {"softirq_exit", AT_SOFTIRQ_EXIT, 0, FIELDS([IRQ_LINE] = "vec")},
    {"timer_hrtimer_expire_entry", AT_TIMER_ENTRY, 0, FIELDS(NULL)},
    {"hrtimer_expire_entry", AT_TIMER_ENTRY, 0, FIELDS(NULL)},
    {"timer_hrtimer_expire_exit", AT_TIMER_EXIT, 0, FIELDS(NULL)},
    {"hrtimer_expire_exit", AT_TIMER_EXIT, 0, FIELDS(NULL)},
    {"net_if_receive_skb", AT_RECEIVE, EVENT_LINKED, FIELDS(RECEIVE)},
    {"netif_receive_skb", AT_RECEIVE, EVENT_LINKED, FIELDS(RECEIVE)},
    {"net_dev_queue", AT_SEND, EVENT_LINKED,
     FIELDS([SEND_BUFFER] = "skbaddr", [SEND_DEVICE] = "name", [SEND_LENGTH] = "len",
	    [SEND_V4 + IP_LENGTH] = V4 "tot_len", [SEND_V4 + IP_TTL] = V4 "ttl",
	    [SEND_V4 + IP_PROTOCOL] = V4 "protocol", [SEND_V4 + IP_SRC] = V4 "saddr",
	    [SEND_V4 + IP_DST] = V4 "daddr", [SEND_V4 + IP_SEQ] = V4 SEQ,
	    [SEND_V4 + IPV4_ID] = V4 "id", [SEND_V6 + IP_LENGTH] = V6 "payload_len",
	    [SEND_V6 + IP_TTL] = V6 "hop_limit", [SEND_V6 + IP_PROTOCOL] = V6 "nexthdr",
	    [SEND_V6 + IP_SRC] = V6 "saddr", [SEND_V6 + IP_DST] = V6 "daddr",
	    [SEND_V6 + IP_SEQ] = V6 SEQ)},
    {"inet_sock_local_out", AT_SEND, EVENT_LINKED, FIELDS(NULL)},
    {"inet_sock_local_in", AT_OTHER, EVENT_LINKED, FIELDS(NULL)},
    {"packet", AT_CAPTURED, EVENT_LINKED,
     FIELDS([CAPTURED_FAMILY] = "family", [CAPTURED_LENGTH] = "length")},
    {"syscall_entry_exit", AT_SYSCALL_ENTRY, EVENT_FOLLOWED,
     FIELDS(CALL, [ENTRY_STATUS] = "error_code")},
    {"syscall_entry_exit_group", AT_SYSCALL_ENTRY, EVENT_FOLLOWED,
     FIELDS(CALL, [ENTRY_STATUS] = "error_code")},
    {"syscall_entry_*", AT_SYSCALL_ENTRY, 0, FIELDS(CALL)},
    {"compat_syscall_entry_*", AT_SYSCALL_ENTRY, 0, FIELDS(CALL)},
    {"syscall_exit_*", AT_SYSCALL_EXIT, 0, FIELDS([RETURNED] = "ret")},
    {"compat_syscall_exit_*", AT_SYSCALL_EXIT, 0, FIELDS([RETURNED] = "ret")},
    {"block_rq_insert", AT_BLOCK_INSERT, 0, FIELDS(BLOCK)},
    {"block_rq_issue", AT_BLOCK_ISSUE, 0, FIELDS(BLOCK)},
    {"block_rq_requeue", AT_BLOCK_REQUEUE, 0, FIELDS(BLOCK)},
    {"block_rq_complete", AT_BLOCK_COMPLETE, 0, FIELDS(BLOCK)},
    {"lttng_statedump_block_device", AT_DISK_NAME, 0,
     FIELDS([NAMED_DEV] = "dev", [DEV_NAME] = "diskname")},
    {"lttng_statedump_process_state", AT_DUMP, EVENT_FOLLOWED,
     FIELDS([DUMP_TID] = "tid", [DUMP_PID] = "pid", [DUMP_PPID] = "ppid",
	    [DUMP_COMM] = "name")},
    {"lttng_statedump_process_cgroup_ns", AT_DUMP_CGROUP, EVENT_FOLLOWED,
     FIELDS([DUMP_TID] = "tid", [DUMP_NAMESPACE] = "ns_inum")},
    {"lttng_statedump_process_net_ns", AT_DUMP_NETWORK, EVENT_FOLLOWED,
     FIELDS([DUMP_TID] = "tid", [DUMP_NAMESPACE] = "ns_inum")},
};

static enum event_need need_of(enum event_tag tag)
{
	if (tag == AT_SWITCH)
		return NEED_SWITCH;
	if (tag >= AT_WAKING && tag <= AT_FREE)
		return NEED_WAKEUP;
	if (tag >= AT_IRQ_ENTRY && tag <= AT_TIMER_EXIT)
		return NEED_INTERRUPT;
	if (tag == AT_SYSCALL_ENTRY || tag == AT_SYSCALL_EXIT)
		return NEED_CALL;
	return tag >= AT_BLOCK_INSERT && tag <= AT_BLOCK_COMPLETE ? NEED_DISK : NEED_ANY;
}

/* Names of context fields: the kernel's, and user space's. */
static const char *const contexts[CONTEXT_FIELDS][2] = {
    [CONTEXT_TID] = {"tid", "vtid"},        [CONTEXT_PID] = {"pid", "vpid"},
    [CONTEXT_PPID] = {"ppid", NULL},        [CONTEXT_COMM] = {"procname", NULL},
    [CONTEXT_CGROUP] = {"cgroup_ns", NULL}, [CONTEXT_NETWORK] = {"net_ns", NULL}};

#define ROWS(array) (sizeof(array) / sizeof(*(array)))

/* Return the column of a field, or of a context field, or -1. */
static int column_of(const struct trace_class *class, const char *name, bool context)
{
	for (size_t i = 0; name && i < class->columns; i++)
		if (class->column[i].context == context &&
		    strcmp(class->column[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* Return the part of the class's name that '*' matches, "" if the glob has none, or NULL
 * if the name does not match. */
static const char *rest_of(const char *glob, const char *class)
{
	size_t length = strcspn(glob, "*");

	if (strncmp(class, glob, length) != 0 || (!glob[length] && class[length]))
		return NULL;
	return class + length;
}

static void find_columns(struct event_class *class)
{
	size_t at = 0;

	while (at < ROWS(classes) && !rest_of(classes[at].class, class->of->name))
		at++;
	for (size_t i = 0; i < EVENT_FIELDS; i++)
		class->column[i] = -1;
	for (size_t i = 0; i < EVENT_FIELDS && at < ROWS(classes); i++)
		class->column[i] = column_of(class->of, classes[at].field[i], false);
	for (size_t i = 0; i < CONTEXT_FIELDS; i++) {
		class->context[i] = column_of(class->of, contexts[i][0], true);
		if (class->context[i] < 0)
			class->context[i] = column_of(class->of, contexts[i][1], true);
		if (class->context[i] >= 0)
			class->use |= i == CONTEXT_TID || i == CONTEXT_PPID
					  ? EVENT_CELLS
					  : EVENT_CELLS | EVENT_CONTEXT;
	}
	if (at == ROWS(classes))
		return;
	class->tag = classes[at].tag;
	class->use |= classes[at].use;
	if (class->tag == AT_SYSCALL_ENTRY || class->tag == AT_SYSCALL_EXIT) {
		class->call = strchr(strstr(class->of->name, "syscall_") + 8, '_') + 1;
	}
}

void event_class_init(struct event_class *class, const struct trace_class *of,
		      const struct event_filter *filter)
{
	*class = (struct event_class){.of = of, .cells = of->columns};
	find_columns(class);
	class->need = need_of(class->tag);
	if (selection_has_class(filter->selection, of->name))
		class->use |= EVENT_SELECTED;
	if (class->use & EVENT_FOLLOWED ||
	    (filter->payload && class->use & EVENT_LINKED) ||
	    (filter->spans && class->tag > AT_OTHER && class->tag < AT_DUMP))
		class->use |= EVENT_CELLS;
	if (!filter->payload || !(class->use & EVENT_SELECTED))
		return;
	if (filter->columns) {
		class->use |= EVENT_CELLS;
		return;
	}
	class->use |= EVENT_PAYLOAD;
	class->columns =
	    of->columns < TIMELINE_COLUMNS_MOST ? of->columns : TIMELINE_COLUMNS_MOST;
	class->type = mem_zalloc(class->columns * sizeof(*class->type));
	for (size_t i = 0; i < class->columns; i++)
		class->type[i] = of->column[i].type;
}

static bool has_column(const int *column, size_t count, int which)
{
	for (size_t i = 0; i < count; i++)
		if (column[i] == which)
			return true;
	return false;
}

static void renumber_column(int *column, size_t count, int from, int to)
{
	for (size_t i = 0; i < count; i++)
		if (column[i] == from)
			column[i] = to;
}

void event_class_choose_cells(struct event_class *class)
{
	class->chosen = mem_alloc(class->of->columns * sizeof(*class->chosen) + 1);
	class->cells = 0;
	for (unsigned i = 0; i < class->of->columns; i++) {
		int from = (int)i, to = (int)class->cells;

		if (!has_column(class->column, EVENT_FIELDS, from) &&
		    !has_column(class->context, CONTEXT_FIELDS, from))
			continue;
		renumber_column(class->column, EVENT_FIELDS, from, to);
		renumber_column(class->context, CONTEXT_FIELDS, from, to);
		class->chosen[class->cells++] = i;
	}
}

bool event_class_wants_cells(const struct event_class *class)
{
	return class->use & EVENT_PAYLOAD ||
	       (class->use & EVENT_CELLS &&
		class->use & (EVENT_SELECTED | EVENT_FOLLOWED));
}

unsigned event_class_use(const struct event_class *class,
			 const struct selection *selection, nsec_t ts_ns)
{
	unsigned use = class->use;

	if (ts_ns < selection->begin_ns) {
		/* The processes of selected events are known before them, too. */
		if (use & EVENT_SELECTED && use & EVENT_CONTEXT)
			use |= EVENT_FOLLOWED;
		use &= ~(unsigned)(EVENT_SELECTED | EVENT_PAYLOAD);
	}
	return ts_ns > selection->end_ns || !(use & (EVENT_SELECTED | EVENT_FOLLOWED))
		   ? 0
		   : use;
}

enum trace_use event_class_use_before(const struct event_class *class)
{
	if (class->use & EVENT_FOLLOWED ||
	    (class->use & EVENT_SELECTED && class->use & EVENT_CONTEXT))
		return TRACE_NEEDED;
	return class->use & EVENT_LINKED ? TRACE_COUNTED : TRACE_UNUSED;
}

const struct cell *event_cell(const struct cell *cell, int column)
{
	static const struct cell nothing = {.type = CELL_NULL};

	return cell && column >= 0 ? &cell[column] : &nothing;
}

const struct cell *event_field(const struct merged_event *event, int place)
{
	return event_cell(event->cell, event->class->column[place]);
}

int64_t event_integer(const struct merged_event *event, int place, int64_t none)
{
	return cell_integer(event_field(event, place), none);
}

void event_class_clear(struct event_class *class)
{
	free(class->chosen);
	free(class->type);
}

struct follow {
	uint32_t *clock;       /* by source: the first one with its clock */
	struct intmap current; /* thread by that source and processor */
};

struct follow *follow_new(const struct merge_run *run)
{
	struct follow *follow = mem_zalloc(sizeof(*follow));

	follow->clock = mem_zalloc((run->count + 1) * sizeof(*follow->clock));
	for (uint32_t i = 0; i < run->count; i++)
		while (
		    !merge_is_one_clock(&run->source[follow->clock[i]], &run->source[i]))
			follow->clock[i]++;
	return follow;
}

static uint64_t follow_key(const struct follow *follow, uint32_t source, int64_t cpu)
{
	return (uint64_t)follow->clock[source] << 32 | (uint32_t)cpu;
}

void follow_lose(struct follow *follow, const struct merge_run *run, uint32_t node,
		 int64_t cpu)
{
	int64_t tid;

	for (uint32_t i = 0; i < run->count; i++)
		if (run->source[i].node == node)
			intmap_remove(&follow->current, follow_key(follow, i, cpu), &tid);
}

int64_t follow_event(struct follow *follow, uint32_t source,
		     const struct event_class *class, const struct trace_event *event)
{
	uint64_t key = follow_key(follow, source, event->cpu);
	int64_t tid = -1;

	if (class->tag == AT_SWITCH && class->column[NEXT_TID] >= 0) {
		/* a switch belongs to the thread that is switched out */
		tid = cell_integer(event_cell(event->cell, class->column[PREV_TID]), -1);
		if (event->cpu >= 0)
			intmap_put(
			    &follow->current, key,
			    cell_integer(event_cell(event->cell, class->column[NEXT_TID]),
					 -1));
	} else if (!intmap_get(&follow->current, key, &tid)) {
		tid = -1;
	}
	return class->context[CONTEXT_TID] >= 0
		   ? cell_integer(event_cell(event->cell, class->context[CONTEXT_TID]),
				  -1)
		   : tid;
}

void follow_free(struct follow *follow)
{
	if (!follow)
		return;
	free(follow->clock);
	intmap_clear(&follow->current);
	free(follow);
}
