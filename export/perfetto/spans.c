/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What threads, processors and disks did: the timeline's spans become slices. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/perfetto/perfetto.h"
#include "timeline/query.h"

enum { CPUS_SAID = 4096 }; /* of a node; more is taken to be damage */

/* The bits of `cut`. */
enum { CUT_BEGIN = 1, CUT_END = 2 };

/* All of these begin so: a span as far as it is in the scope, and of what it is. */
#define SPAN                                                                             \
	"SELECT s.node, max(s.begin_ns, ?1), min(s.end_ns, ?2),"                         \
	" s.cut | (s.begin_ns < ?1) | (s.end_ns > ?2) * 2, "
#define IN_SCOPE " s.begin_ns <= ?2 AND s.end_ns >= ?1"

enum span_column { NODE, BEGIN, END, CUT, COLUMNS };

/*
 * The slices of one track come by their end: those of a thread where they lie by thread,
 * those of a processor or disk where they are sorted.
 */
static const char states_sql[] = SPAN
    "s.tid, s.state, s.cpu, s.priority, s.preempted, CASE s.wait_assumed WHEN 0 THEN "
    "s.wait"
    " END, s.waker_tid, s.wake_event, CASE WHEN s.wake_first_recv = s.wake_last_recv AND "
    "s.wait_assumed = 0 THEN s.wake_last_recv END, s.syscall, s.switch_state "
    "FROM thread_state AS s WHERE s.tid <> 0 AND" IN_SCOPE
    " ORDER BY s.node, s.tid, s.begin_ns, s.id";

static const char running_sql[] = SPAN
    "s.cpu, s.tid, coalesce(s.comm, t.comm), p.pid, s.priority FROM thread_state AS s "
    "LEFT JOIN thread AS t ON t.id = s.thread LEFT JOIN process AS p ON p.id = t.process "
    "WHERE s.state = 'running' AND s.tid <> 0 AND s.cpu IS NOT NULL AND" IN_SCOPE
    " ORDER BY s.end_ns, s.node, s.cpu";

static const char irqs_sql[] =
    SPAN "s.cpu, s.kind, s.number, s.name, s.tid, s.begin_ns - s.raised_ns FROM irq AS s "
	 "WHERE" IN_SCOPE " ORDER BY s.end_ns, s.id";

static const char syscalls_sql[] = SPAN
    "s.tid, s.name, s.ret, s.fd, s.count, s.path, s.cpu, s.entry_event, s.exit_event "
    "FROM syscall AS s WHERE" IN_SCOPE " ORDER BY s.node, s.tid, s.begin_ns, s.id";

static const char disks_sql[] = SPAN
    "s.dev, s.operation, s.sector, s.bytes / 512, s.issue_ns - s.begin_ns, s.tid,"
    " coalesce(s.comm, t.comm), nullif(s.error, 0) FROM block_request AS s "
    "LEFT JOIN thread AS t ON t.id = s.thread WHERE" IN_SCOPE " ORDER BY s.end_ns, s.id";

/* A span on its way to a slice; texts are freed with it. */
struct slice {
	const struct perfetto *perfetto;
	const struct cell *row;
	struct perfetto_event event;
	char *text[6];
	size_t texts;
};

static const char *keep_text(struct slice *slice, char *text)
{
	slice->text[slice->texts++] = text;
	return text;
}

static void begin_slice(struct slice *slice, const struct perfetto *perfetto,
			const struct cell *row, const char *category)
{
	slice->perfetto = perfetto;
	slice->row = row;
	slice->texts = 0;
	slice->event = (struct perfetto_event){.begin_ns = row[BEGIN].integer,
					       .end_ns = row[END].integer,
					       .category = category};
}

static void add_number(struct slice *slice, const char *name, int column)
{
	if (slice->row[column].type == CELL_INTEGER)
		perfetto_add_integer(&slice->event, name, slice->row[column].integer);
}

static void add_text(struct slice *slice, const char *name, int column)
{
	if (slice->row[column].type == CELL_TEXT)
		perfetto_add_text(&slice->event, name,
				  keep_text(slice, cell_text(&slice->row[column])));
}

/* "nginx 812": who had a thread's number of the node when the span ended. */
static void add_thread(struct slice *slice, const char *name, int column)
{
	int64_t tid = cell_integer(&slice->row[column], -1);
	const struct perfetto_name *found;

	if (tid < 0)
		return;
	found = perfetto_names_find(slice->perfetto->names, slice->row[NODE].integer, tid,
				    slice->event.end_ns);
	perfetto_add_text(
	    &slice->event, name,
	    keep_text(slice,
		      mem_printf("%s %" PRId64,
				 found && *found->comm ? found->comm : "thread", tid)));
}

/* Put it on a track of its kind. */
static int end_slice(struct slice *slice, enum perfetto_row kind, int64_t of)
{
	static const char *const cuts[] = {NULL, "begin", "end", "begin and end"};
	const struct perfetto *perfetto = slice->perfetto;
	struct perfetto_event *event = &slice->event;

	perfetto_add_text(event, "cut",
			  cuts[slice->row[CUT].integer & (CUT_BEGIN | CUT_END)]);
	event->place = *perfetto_rows_lane(perfetto->rows, kind, slice->row[NODE].integer,
					   of, event->begin_ns, event->end_ns);
	if (perfetto->writer->events % 4096 == 0)
		progress_update(perfetto->progress, "ctexport perfetto",
				perfetto->writer->events, 0, 0);
	return perfetto_write_event(perfetto->writer, event);
}

static int free_slice(struct slice *slice, int status)
{
	for (size_t i = 0; i < slice->texts; i++)
		free(slice->text[i]);
	return status;
}

static bool is_text(const struct cell *cell, const char *text)
{
	return cell->type == CELL_TEXT && cell->size == strlen(text) &&
	       memcmp(cell->bytes, text, cell->size) == 0;
}

static const char *wait_name(const struct cell *wait)
{
	static const char *const names[][2] = {
	    {"thread", "Blocked on a thread"},        {"disk", "Blocked on a disk"},
	    {"network", "Blocked on the network"},    {"timer", "Blocked on a timer"},
	    {"interrupt", "Blocked on an interrupt"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (is_text(wait, names[i][0]))
			return names[i][1];
	return "Blocked";
}

static int take_state(void *context, const struct cell *row, struct error *error)
{
	enum {
		TID = COLUMNS,
		STATE,
		CPU,
		PRIORITY,
		PREEMPTED,
		WAIT,
		WAKER,
		WAKE_EVENT,
		RECV_EVENT,
		SYSCALL,
		SWITCH_STATE
	};
	const struct perfetto *perfetto = context;
	bool running = is_text(&row[STATE], "running");
	bool runnable = is_text(&row[STATE], "runnable");
	bool dead = is_text(&row[STATE], "dead"), sleeps = !running && !runnable && !dead;
	struct slice slice;

	(void)error;
	if (!scope_has_node(perfetto->scope, row[NODE].integer))
		return 0;
	begin_slice(&slice, perfetto, row, "state");
	slice.event.name = running                            ? "Running"
			   : dead                             ? "Dead"
			   : sleeps                           ? wait_name(&row[WAIT])
			   : cell_integer(&row[PREEMPTED], 0) ? "Runnable (preempted)"
							      : "Runnable";
	if (running || runnable)
		add_number(&slice, "cpu", CPU);
	if (running)
		add_number(&slice, "priority", PRIORITY);
	add_text(&slice, "system call", SYSCALL);
	if (sleeps)
		add_number(&slice, "switch_state", SWITCH_STATE);
	if (sleeps || runnable) {
		add_thread(&slice,
			   row[WAIT].type == CELL_TEXT && !is_text(&row[WAIT], "thread")
			       ? "interrupted"
			       : "waker",
			   WAKER);
		add_number(&slice, "wakeup event", WAKE_EVENT);
		add_number(&slice, "receive event", RECV_EVENT); /* it came alone */
	}
	return free_slice(&slice, end_slice(&slice, ROW_STATES, row[TID].integer));
}

/* What a processor ran; nothing is drawn where it was idle. */
static int take_running(void *context, const struct cell *row, struct error *error)
{
	enum { CPU = COLUMNS, TID, COMM, PID, PRIORITY };
	const struct perfetto *perfetto = context;
	struct slice slice;

	(void)error;
	if (!scope_has_node(perfetto->scope, row[NODE].integer))
		return 0;
	begin_slice(&slice, perfetto, row, "cpu");
	slice.event.name = row[COMM].type == CELL_TEXT && row[COMM].size
			       ? keep_text(&slice, cell_text(&row[COMM]))
			       : "(no name)";
	add_number(&slice, "tid", TID);
	add_number(&slice, "pid", PID);
	add_number(&slice, "priority", PRIORITY);
	return free_slice(&slice, end_slice(&slice, ROW_CPU, row[CPU].integer));
}

static int take_irq(void *context, const struct cell *row, struct error *error)
{
	enum { CPU = COLUMNS, KIND, NUMBER, NAME, TID, LATENCY };
	const struct perfetto *perfetto = context;
	bool hard = is_text(&row[KIND], "irq");
	struct slice slice;

	(void)error;
	if (!scope_has_node(perfetto->scope, row[NODE].integer))
		return 0;
	begin_slice(&slice, perfetto, row, hard ? "irq" : "softirq");
	slice.event.name =
	    keep_text(&slice, row[NAME].type == CELL_TEXT
				  ? cell_text(&row[NAME])
				  : mem_printf("%s %" PRId64, slice.event.category,
					       row[NUMBER].integer));
	add_number(&slice, "number", NUMBER);
	add_thread(&slice, "interrupted", TID);
	add_number(&slice, "raise latency ns", LATENCY);
	return free_slice(
	    &slice, end_slice(&slice, hard ? ROW_IRQ : ROW_SOFTIRQ, row[CPU].integer));
}

static int take_syscall(void *context, const struct cell *row, struct error *error)
{
	enum { TID = COLUMNS, NAME, RET, FD, COUNT, PATH, CPU, ENTRY, EXIT };
	const struct perfetto *perfetto = context;
	struct slice slice;

	(void)error;
	if (!scope_has_node(perfetto->scope, row[NODE].integer))
		return 0;
	begin_slice(&slice, perfetto, row, "syscall");
	slice.event.name = keep_text(&slice, cell_text(&row[NAME]));
	add_number(&slice, "return", RET);
	add_number(&slice, "fd", FD);
	add_number(&slice, "count", COUNT);
	add_text(&slice, "path", PATH);
	add_number(&slice, "cpu", CPU);
	add_number(&slice, "entry event", ENTRY);
	add_number(&slice, "exit event", EXIT);
	return free_slice(&slice, end_slice(&slice, ROW_SYSCALLS, row[TID].integer));
}

static int take_disk(void *context, const struct cell *row, struct error *error)
{
	enum { DEV = COLUMNS, OPERATION, SECTOR, SECTORS, QUEUED, TID, COMM, ERROR };
	const struct perfetto *perfetto = context;
	struct slice slice;

	(void)error;
	if (!scope_has_node(perfetto->scope, row[NODE].integer))
		return 0;
	begin_slice(&slice, perfetto, row, "disk");
	slice.event.name = keep_text(&slice, cell_text(&row[OPERATION]));
	add_number(&slice, "sector", SECTOR);
	add_number(&slice, "sectors", SECTORS);
	add_number(&slice, "queued ns", QUEUED);
	add_number(&slice, "tid", TID);
	add_text(&slice, "comm", COMM);
	add_number(&slice, "error", ERROR);
	return free_slice(&slice, end_slice(&slice, ROW_DISK, row[DEV].integer));
}

/* node, cpu, ts_ns, kHz */
static int take_step(void *context, const struct cell *row, struct error *error)
{
	const struct perfetto *perfetto = context;
	struct perfetto_counter counter = {.kind = ROW_FREQUENCY,
					   .node = row[0].integer,
					   .of = cell_integer(&row[1], -1)};
	const struct perfetto_track *track =
	    perfetto_rows_counter(perfetto->rows, &counter);

	(void)error;
	if (!scope_has_node(perfetto->scope, counter.node))
		return 0;
	if (!track) {
		char *name = mem_printf("CPU %" PRId64 " frequency", counter.of);
		struct perfetto_label label = {
		    .group = ROW_CPUS, .name = name, .unit = "kHz"};

		track = perfetto_rows_new_counter(perfetto->rows, &counter, &label);
		free(name);
	}
	return perfetto_write_counter(perfetto->writer, track, row[2].integer,
				      cell_number(&row[3]));
}

/*
 * Nothing is drawn where a processor was idle, so it has to be said where it is not
 * known: what lies before the begin of its node's trace, or else what comes after that.
 */
static int add_unrecorded(const struct perfetto *perfetto, bool before)
{
	const struct scope *scope = perfetto->scope;

	for (size_t i = 0; i < scope->nodes; i++) {
		const struct scope_node *node = &scope->node[i];
		int64_t cpus = node->cpus > 0 && node->cpus < CPUS_SAID ? node->cpus : 1;
		nsec_t at = scope->begin_ns, until;

		while (node->chosen && recorded_gap(&scope->recorded, node->id, &at,
						    scope->end_ns, &until)) {
			struct perfetto_event event = {.begin_ns = at,
						       .end_ns = until,
						       .category = "recorded",
						       .name = "not recorded"};

			for (int64_t cpu = 0;
			     (at == scope->begin_ns) == before && cpu < cpus; cpu++) {
				event.place = *perfetto_rows_lane(
				    perfetto->rows, ROW_CPU, node->id, cpu, at, until);
				if (perfetto_write_event(perfetto->writer, &event))
					return -1;
			}
			at = until;
		}
	}
	return 0;
}

/* What was asked for and cannot be had. */
static int note_missing(const struct perfetto *perfetto, struct error *error)
{
	static const char sql[] = "SELECT sum(events) FROM event_class WHERE name IN ";
	int64_t switches = 0, wakeups = 0;
	char *switch_sql = mem_printf("%s ('sched_switch')", sql);
	char *wakeup_sql =
	    mem_printf("%s ('sched_wakeup', 'sched_waking', 'sched_wakeup_new')", sql);
	int status =
	    query_integer(perfetto->timeline, switch_sql, NULL, &switches, error) < 0 ||
	    query_integer(perfetto->timeline, wakeup_sql, NULL, &wakeups, error) < 0;

	free(switch_sql);
	free(wakeup_sql);
	if (status)
		return -1;
	if (!switches && perfetto->parts & (PART_STATES | PART_CPUS))
		problem_add(perfetto->notes, "", "missing", 1,
			    "no sched_switch was recorded: no states of threads and "
			    "processors");
	else if (!wakeups && perfetto->parts & PART_STATES)
		problem_add(perfetto->notes, "", "missing", 1,
			    "no sched_wakeup was recorded: what threads waited for is "
			    "not known");
	return 0;
}

int perfetto_add_spans(struct perfetto *perfetto, struct error *error)
{
	static const struct {
		enum perfetto_part part;
		const char *sql;
		timeline_take *take;
	} kinds[] = {
	    {PART_STATES, states_sql, take_state},
	    {PART_CPUS, running_sql, take_running},
	    {PART_INTERRUPTS, irqs_sql, take_irq},
	    {PART_SYSCALLS, syscalls_sql, take_syscall},
	    {PART_DISKS, disks_sql, take_disk},
	};
	bool cpus = perfetto->parts & PART_CPUS;

	if (note_missing(perfetto, error) || (cpus && add_unrecorded(perfetto, true)))
		return -1;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (perfetto->parts & kinds[i].part &&
		    query_scope(perfetto->timeline, perfetto->scope, kinds[i].sql,
				kinds[i].take, perfetto, error))
			return -1;
	if (!cpus)
		return 0;
	return add_unrecorded(perfetto, false) ||
		       query_scope(perfetto->timeline, perfetto->scope, QUERY_FREQUENCIES,
				   take_step, perfetto, error)
		   ? -1
		   : 0;
}
