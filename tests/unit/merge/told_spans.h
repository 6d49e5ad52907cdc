/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_TOLD_SPANS_H
#define CT_TEST_TOLD_SPANS_H

/*
 * A kernel's events, made by hand, and the spans that the timeline has of them, as text:
 * a line a span, in the order in which they ended. Node 1 has processors 0 and 1, node 2
 * has one; both end at MADE_END.
 */
#include <inttypes.h>

#include "../timeline/timeline.h"
#include "made_up_class.h"
#include "merge/spans/span_rows.h"
#include "merge/spans/spans.h"
#include "timeline/rows.h"

enum { MADE_END = 1000 };

static struct trace_column made_switch[] = {
    {(char *)"prev_comm", CELL_TEXT, false},
    {(char *)"prev_tid", CELL_INTEGER, false},
    {(char *)"prev_prio", CELL_INTEGER, false},
    {(char *)"prev_state", CELL_INTEGER, false},
    {(char *)"next_comm", CELL_TEXT, false},
    {(char *)"next_tid", CELL_INTEGER, false},
    {(char *)"next_prio", CELL_INTEGER, false},
};
static struct trace_column made_wakeup[] = {
    {(char *)"comm", CELL_TEXT, false},
    {(char *)"tid", CELL_INTEGER, false},
    {(char *)"prio", CELL_INTEGER, false},
    {(char *)"target_cpu", CELL_INTEGER, false},
};
static struct trace_column made_fork[] = {{(char *)"child_tid", CELL_INTEGER, false},
					  {(char *)"child_comm", CELL_TEXT, false}};
static struct trace_column made_tid[] = {{(char *)"tid", CELL_INTEGER, false},
					 {(char *)"old_tid", CELL_INTEGER, false}};
static struct trace_column made_irq[] = {{(char *)"irq", CELL_INTEGER, false},
					 {(char *)"name", CELL_TEXT, false}};
static struct trace_column made_vec[] = {{(char *)"vec", CELL_INTEGER, false}};
static struct trace_column made_name[] = {{(char *)"name", CELL_TEXT, false}};
static struct trace_column made_rq[] = {
    {(char *)"dev", CELL_INTEGER, false},       {(char *)"sector", CELL_INTEGER, false},
    {(char *)"nr_sector", CELL_INTEGER, false}, {(char *)"rwbs", CELL_INTEGER, false},
    {(char *)"tid", CELL_INTEGER, false},       {(char *)"error", CELL_INTEGER, false},
};
static struct trace_column made_read[] = {{(char *)"fd", CELL_INTEGER, false},
					  {(char *)"count", CELL_INTEGER, false}};
static struct trace_column made_open[] = {{(char *)"filename", CELL_TEXT, false}};
static struct trace_column made_ret[] = {{(char *)"ret", CELL_INTEGER, false}};

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
	KINDS
};

static const struct trace_class made_class[KINDS] = {
    [SWITCH] = {.name = (char *)"sched_switch", .column = made_switch, .columns = 7},
    [WAKING] = {.name = (char *)"sched_waking", .column = made_wakeup, .columns = 4},
    [WAKEUP] = {.name = (char *)"sched_wakeup", .column = made_wakeup, .columns = 4},
    [WAKEUP_NEW] = {.name = (char *)"sched_wakeup_new",
		    .column = made_wakeup,
		    .columns = 4},
    [FORK] = {.name = (char *)"sched_process_fork", .column = made_fork, .columns = 2},
    [EXEC] = {.name = (char *)"sched_process_exec", .column = made_tid, .columns = 2},
    [EXIT] = {.name = (char *)"sched_process_exit", .column = made_tid, .columns = 1},
    [FREE] = {.name = (char *)"sched_process_free", .column = made_tid, .columns = 1},
    [IRQ] = {.name = (char *)"irq_handler_entry", .column = made_irq, .columns = 2},
    [IRQ_END] = {.name = (char *)"irq_handler_exit", .column = made_irq, .columns = 1},
    [RAISE] = {.name = (char *)"irq_softirq_raise", .column = made_vec, .columns = 1},
    [SOFTIRQ] = {.name = (char *)"irq_softirq_entry", .column = made_vec, .columns = 1},
    [SOFTIRQ_END] = {.name = (char *)"irq_softirq_exit",
		     .column = made_vec,
		     .columns = 1},
    [TIMER] = {.name = (char *)"timer_hrtimer_expire_entry",
	       .column = NULL,
	       .columns = 0},
    [TIMER_END] = {.name = (char *)"timer_hrtimer_expire_exit",
		   .column = NULL,
		   .columns = 0},
    [RECEIVE] = {.name = (char *)"net_if_receive_skb", .column = made_name, .columns = 1},
    [SEND] = {.name = (char *)"net_dev_queue", .column = made_name, .columns = 1},
    [READ] = {.name = (char *)"syscall_entry_read", .column = made_read, .columns = 2},
    [READ_END] = {.name = (char *)"syscall_exit_read", .column = made_ret, .columns = 1},
    [WRITE] = {.name = (char *)"syscall_entry_write", .column = made_read, .columns = 2},
    [WRITE_END] = {.name = (char *)"syscall_exit_write",
		   .column = made_ret,
		   .columns = 1},
    [OPEN] = {.name = (char *)"compat_syscall_entry_openat",
	      .column = made_open,
	      .columns = 1},
    [OPEN_END] = {.name = (char *)"compat_syscall_exit_openat",
		  .column = made_ret,
		  .columns = 1},
    [CLONE] = {.name = (char *)"syscall_entry_clone", .column = NULL, .columns = 0},
    [CLONE_END] = {.name = (char *)"syscall_exit_clone",
		   .column = made_ret,
		   .columns = 1},
    [EXIT_GROUP] = {.name = (char *)"syscall_entry_exit_group",
		    .column = NULL,
		    .columns = 0},
    [INSERT] = {.name = (char *)"block_rq_insert", .column = made_rq, .columns = 5},
    [ISSUE] = {.name = (char *)"block_rq_issue", .column = made_rq, .columns = 5},
    [REQUEUE] = {.name = (char *)"block_rq_requeue", .column = made_rq, .columns = 4},
    [COMPLETE] = {.name = (char *)"block_rq_complete", .column = made_rq, .columns = 6},
};

/* Of each packet's event, what was told of it. */
struct made_cause {
	int64_t event, node;
	nsec_t ts_ns;
	struct span_cause cause;
	bool is_sent;
};

static struct merge_node made_nodes[2] = {{.id = 1, .name = (char *)"n1"},
					  {.id = 2, .name = (char *)"n2"}};
static struct merge_run made_run = {.node = made_nodes, .nodes = 2};
static struct spans *made_spans;
static struct event_class made_known[KINDS]; /* of NULL: no event of it yet */
static int64_t made_node, made_events;
static nsec_t made_first, made_last; /* what is selected */
static struct made_cause made_cause[32];
static size_t made_causes;

static inline void made_begin(void)
{
	made_spans = spans_new(&made_run, NSEC_MIN);
	for (int i = 0; i < KINDS; i++)
		made_known[i].of = NULL;
	made_node = 1;
	made_events = 0;
	made_causes = 0;
	made_first = 0;
	made_last = MADE_END;
}

/* Only events from one time to another are selected. */
static inline void made_select(nsec_t first, nsec_t last)
{
	made_first = first;
	made_last = last;
}

/* Both nodes record such events. */
static inline void made_records(enum made_kind kind)
{
	if (made_known[kind].of)
		return;
	made_up(&made_class[kind], &made_known[kind]);
	for (uint32_t node = 0; node < 2; node++)
		spans_class(made_spans, node, &made_known[kind]);
}

/* An event by thread `tid`; its id. */
static inline int64_t made_event(enum made_kind kind, nsec_t ts_ns, int32_t cpu,
				 int64_t tid, const struct cell *cell)
{
	struct error error = ERROR_INIT;
	struct span_cause cause;
	struct merged_event event = {.id = ++made_events,
				     .node = (uint32_t)made_node - 1,
				     .ts_ns = ts_ns,
				     .cpu = cpu,
				     .tid = tid,
				     .cell = cell};

	if (ts_ns < made_first || ts_ns > made_last)
		return made_events;
	made_records(kind);
	event.class = &made_known[kind];
	assert_int_equal(spans_event(made_spans, &event, &cause, &error), 0);
	if (kind == SEND || kind == RECEIVE)
		made_cause[made_causes++] = (struct made_cause){
		    made_events, made_node, ts_ns, cause, kind == SEND};
	return made_events;
}

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

/* One whose first field is a number, and a second one perhaps, too. */
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

static const char made_thread_sql[] =
    "SELECT node || '/' || tid || CASE state WHEN 'running' THEN ' runs' WHEN 'runnable' "
    "THEN ' waits' WHEN 'dead' THEN ' dead' ELSE ' sleeps' END || ' ' "
    "|| iif(cut & 1, '...', '') || begin_ns || '-' || end_ns || iif(cut & 2, '...', '') "
    "|| coalesce(' cpu' || cpu, '') || iif(preempted, ' preempted', '') "
    "|| iif(wake_event IS NULL, '', ' by ' || coalesce(iif(wait_assumed AND NOT :assume, "
    "NULL, wait), 'unknown') || ' ' || coalesce(waker_tid, -1) || ' #' || wake_event) "
    "|| iif(wait_assumed AND NOT :assume, '', coalesce(' packet #' || wake_last_recv, "
    "'') "
    "|| iif(wake_first_recv <> wake_last_recv, ' of those from #' || wake_first_recv, "
    "'')) "
    "|| coalesce(' in ' || syscall, '') || coalesce(' then ' || next_tid, '') "
    "|| coalesce(' after ' || prev_tid, '') || coalesce(' state ' || switch_state, '') "
    "FROM thread_state ORDER BY id";
static const char made_interrupt_sql[] =
    "SELECT node || '/cpu' || cpu || ' ' || kind || ' ' || number || ' ' "
    "|| coalesce(name, '') || ' ' || iif(cut & 1, '...', '') || begin_ns || '-' || "
    "end_ns "
    "|| iif(cut & 2, '...', '') || coalesce(' raised ' || raised_ns, '') "
    "|| iif(inner_ns, ' inner ' || inner_ns, '') || ' on ' || coalesce(tid, -1) "
    "FROM irq ORDER BY id";
static const char made_syscall_sql[] =
    "SELECT node || '/' || tid || ' ' || name || ' ' || iif(cut & 1, '...', '') || "
    "begin_ns || '-' || end_ns || iif(cut & 2, '...', '') || coalesce(' = ' || ret, '') "
    "|| coalesce(' fd ' || fd, '') || coalesce(' count ' || count, '') "
    "|| coalesce(' path ' || path, '') || ' #' || coalesce(entry_event, 0) || ' #' "
    "|| coalesce(exit_event, 0) FROM syscall ORDER BY id";
static const char made_disk_sql[] =
    "SELECT node || '/' || dev || ' ' || operation || ' ' || sector || '+' "
    "|| (bytes / 512) || ' ' || iif(cut & 1, '...', '') || begin_ns || '-' || end_ns "
    "|| iif(cut & 2, '...', '') || coalesce(' issued ' || issue_ns, '') "
    "|| iif(merged, ' merged ' || merged, '') || ' by ' || coalesce(tid, -1) "
    "FROM block_request ORDER BY id";

static inline void made_tell(FILE *out, struct timeline_reader *reader, const char *sql,
			     bool assume)
{
	struct error error = ERROR_INIT;
	struct timeline_query *query = timeline_query_new(reader, sql, &error);
	const struct cell cell = INTEGER(assume);
	size_t cells = query ? timeline_query_parameters(query) : 0;

	assert_string_equal(error_text(&error), "");
	assert_int_equal(timeline_query_ask(query, &cell, cells, &error), 0);
	while (timeline_query_next(query, &error) > 0) {
		const struct cell *row = timeline_query_row(query);

		fprintf(out, "%.*s\n", (int)row->size, row->bytes);
	}
	timeline_query_free(query);
}

static inline void made_tell_packets(FILE *out, bool received, bool assume)
{
	for (size_t i = 0; i < made_causes; i++) {
		const struct made_cause *made = &made_cause[i];
		struct span_cause cause = made->cause;
		bool is_hidden;

		if (!made->is_sent && !received)
			continue;
		if (!made->is_sent) {
			fprintf(out, "%" PRId64 " #%" PRId64 " came, with #%" PRId64 "\n",
				made->node, made->event, cause.first_recv);
			continue;
		}
		is_hidden = cause.is_assumed && !assume;
		fprintf(out, "%" PRId64 " #%" PRId64 " at %" PRId64 " by %s %" PRId64,
			made->node, made->event, made->ts_ns,
			is_hidden || !cause.wait ? "unknown" : span_wait_name(cause.wait),
			cause.tid);
		if (!is_hidden && cause.last_recv)
			fprintf(out, " packet #%" PRId64, cause.last_recv);
		if (!is_hidden && cause.first_recv != cause.last_recv)
			fprintf(out, " of those from #%" PRId64, cause.first_recv);
		fputc('\n', out);
	}
}

enum {
	THREADS = 1,
	INTERRUPTS = 2,
	SYSCALLS = 4,
	DISKS = 8,
	PACKETS = 16,
	RECEIVED = 32,
	ASSUMED = 64
};

/* End the events and tell of some kinds of spans; for free(). */
static inline char *made_told(unsigned kinds)
{
	struct error error = ERROR_INIT;
	struct timeline_writer *writer;
	struct processes *processes = processes_new(4);
	struct timeline_reader *reader;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	unlink("t");
	writer = timeline_writer_new("t", NULL, true, &error);
	assert_int_equal(spans_end(made_spans, made_last, &error), 0);
	assert_int_equal(spans_write(made_spans, processes, writer, &error), 0);
	finish_timeline(writer);
	reader = timeline_reader_open_own("t", "t", &error);
	assert_string_equal(error_text(&error), "");
	if (kinds & INTERRUPTS)
		made_tell(out, reader, made_interrupt_sql, false);
	if (kinds & SYSCALLS)
		made_tell(out, reader, made_syscall_sql, false);
	if (kinds & DISKS)
		made_tell(out, reader, made_disk_sql, false);
	if (kinds & PACKETS)
		made_tell_packets(out, kinds & RECEIVED, kinds & ASSUMED);
	if (kinds & THREADS)
		made_tell(out, reader, made_thread_sql, kinds & ASSUMED);
	fclose(out);
	timeline_reader_free(reader);
	processes_free(processes);
	spans_free(made_spans);
	made_spans = NULL;
	return text;
}

#define assert_told(kinds, wanted)                                                       \
	do {                                                                             \
		char *told_ = made_told(kinds);                                          \
		assert_string_equal(told_, (wanted));                                    \
		free(told_);                                                             \
	} while (0)

#endif
