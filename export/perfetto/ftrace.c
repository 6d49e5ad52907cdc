/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The activity of a node's kernel in the form that Perfetto's recorder writes: machines,
 * trees of processes, and bundles of ftrace events for each processor. Trace processor
 * makes its tables sched, thread_state, process and thread of them.
 *
 * The scheduler's events are made from the spans of threads, not from recorded events:
 * spans respect the selection and losses. Trace processor infers a thread's states from
 * switches and wakeups alone. So a time without a span is shown by a thread of our own
 * that "ran", and by a state that no kernel reports.
 */
#include "export/perfetto/ftrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/sorter.h"
#include "export/perfetto/proto.h"
#include "export/perfetto/tracks.h"

enum {
	PACKET_FTRACE_EVENTS = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_SYSTEM_INFO = 45,

	INFO_UTSNAME = 1,
	INFO_CPUS = 8,
	INFO_RAM_BYTES = 16,
	INFO_MACHINE_NAME = 17,
	UTSNAME_SYSNAME = 1,
	UTSNAME_RELEASE = 3,

	TREE_PROCESS = 1,
	TREE_THREAD = 2,
	TREE_PROCESS_PID = 1,
	TREE_PROCESS_PPID = 2,
	TREE_PROCESS_CMDLINE = 3,
	TREE_THREAD_TID = 1,
	TREE_THREAD_NAME = 2,
	TREE_THREAD_TGID = 3,

	BUNDLE_CPU = 1,
	BUNDLE_EVENT = 2,
	BUNDLE_COMPACT = 4,
	EVENT_TIMESTAMP = 1,
	EVENT_PID = 2,
};

/* Events, by the numbers of their fields in FtraceEvent. */
enum ftrace_event {
	SCHED_SWITCH = 4,
	CPU_FREQUENCY = 11,
	SCHED_WAKING = 20,
	SOFTIRQ_ENTRY = 24,
	SOFTIRQ_EXIT = 25,
	IRQ_HANDLER_ENTRY = 36,
	IRQ_HANDLER_EXIT = 37,
	BLOCK_RQ_ISSUE = 45,
	BLOCK_RQ_COMPLETE = 125,
	SCHED_PROCESS_FREE = 240,
	NETIF_RECEIVE_SKB = 360,
	NET_DEV_XMIT = 361,
	BLOCK_IO_START = 546,
	BLOCK_IO_DONE = 547,
};

/* Limits of trace processor: it refuses other processors, and has names for these
 * softirqs. */
enum { CPUS_MOST = 1024, SOFTIRQS = 10 };

/* States of sched_switch: EXIT_DEAD, EXIT_ZOMBIE, and a combination that cannot occur,
 * for unknown. */
enum { STATE_DEAD = 0x10, STATE_ZOMBIE = 0x20, STATE_UNKNOWN = 0x1c };

/* state_code of thread_state. */
enum { RUNNABLE, RUNNING, INTERRUPTIBLE, UNINTERRUPTIBLE, BLOCKED, DEAD };

/* The thread that "runs" while nothing was recorded has this tid plus the processor's
 * number. */
enum { NOT_RECORDED = 0x7fff0000 };

/*
 * Switches of a processor in columns, each a packed field: their times, each since the
 * one before; in which state the thread before was left; the next thread, its priority,
 * and the number of its name. Only the names are fields of their own. Trace processor
 * takes the thread before from the switch before, so the first one of a processor is an
 * event.
 */
enum column { C_TIME, C_STATE, C_PID, C_PRIORITY, C_NAME, COLUMNS };

struct compact {
	struct bytes column[COLUMNS], names;
	nsec_t last_ns; /* time of the last switch, or 0 */
	size_t named;   /* names in this bundle */
	struct name_number {
		uint32_t bundle, number;
	} * number; /* by text, in the bundle of that number */
	size_t numbers;
	uint32_t bundles; /* so far */
};

/* A processor's bundle, to which events are added. */
struct bundle {
	struct perfetto *perfetto;
	int32_t node; /* 0 if no bundle is open */
	int64_t cpu;
	size_t packet, inner, event, fields;
	struct compact compact;
};

static void end_compact(struct bundle *bundle)
{
	static const unsigned fields[COLUMNS] = {1, 2, 3, 4, 6};
	struct compact *compact = &bundle->compact;
	struct bytes *out = &bundle->perfetto->out;
	size_t begun;

	if (!compact->column[C_TIME].size)
		return;
	begun = protobuf_begin(out, BUNDLE_COMPACT);
	bytes_add(out, compact->names.data, compact->names.size);
	for (int i = 0; i < COLUMNS; i++) {
		protobuf_add_bytes(out, fields[i], &compact->column[i]);
		compact->column[i].size = 0;
	}
	protobuf_end(out, begun);
	compact->names.size = compact->named = 0;
	compact->last_ns = 0;
	compact->bundles++;
}

static void close_bundle(struct bundle *bundle)
{
	if (!bundle->node)
		return;
	end_compact(bundle);
	protobuf_end(&bundle->perfetto->out, bundle->inner);
	protobuf_end(&bundle->perfetto->out, bundle->packet);
	bundle->node = 0;
}

static int end_bundle(struct bundle *bundle, size_t at_least, struct error *error)
{
	close_bundle(bundle);
	return export_write(bundle->perfetto->export, &bundle->perfetto->out, at_least,
			    error);
}

static void open_bundle(struct bundle *bundle, int32_t node, int64_t cpu)
{
	struct bytes *out = &bundle->perfetto->out;

	if (bundle->node != node || bundle->cpu != cpu)
		close_bundle(bundle);
	if (!bundle->node) {
		bundle->packet = proto_begin_packet(bundle->perfetto, node, 0);
		bundle->inner = protobuf_begin(out, PACKET_FTRACE_EVENTS);
		protobuf_add_uint(out, BUNDLE_CPU, (uint64_t)cpu);
		bundle->node = node;
		bundle->cpu = cpu;
	}
}

/* The fields of an event follow, then end_event. */
static struct bytes *begin_event(struct bundle *bundle, int32_t node, int64_t cpu,
				 nsec_t at_ns, int64_t tid, enum ftrace_event kind)
{
	struct bytes *out = &bundle->perfetto->out;

	open_bundle(bundle, node, cpu);
	bundle->event = protobuf_begin(out, BUNDLE_EVENT);
	protobuf_add_uint(out, EVENT_TIMESTAMP, (uint64_t)at_ns);
	protobuf_add_uint(out, EVENT_PID, (uint64_t)tid);
	bundle->fields = protobuf_begin(out, kind);
	return out;
}

static int end_event(struct bundle *bundle, struct error *error)
{
	struct bytes *out = &bundle->perfetto->out;

	protobuf_end(out, bundle->fields);
	protobuf_end(out, bundle->event);
	return out->size < EXPORT_BUFFER ? 0 : end_bundle(bundle, 0, error);
}

/* Return a name's number in the bundle. */
static uint32_t number_name(struct bundle *bundle, size_t name)
{
	enum { INTERN_TABLE = 5 };
	struct compact *compact = &bundle->compact;
	const struct texts *names = &bundle->perfetto->names;
	struct name_number *number;

	if (name >= compact->numbers) {
		size_t count = names->count + names->count / 2;

		compact->number =
		    mem_realloc(compact->number, count, sizeof(*compact->number));
		memset(compact->number + compact->numbers, 0xff,
		       (count - compact->numbers) * sizeof(*compact->number));
		compact->numbers = count;
	}
	number = &compact->number[name];
	if (number->bundle != compact->bundles) {
		*number =
		    (struct name_number){compact->bundles, (uint32_t)compact->named++};
		protobuf_add_text(&compact->names, INTERN_TABLE, texts_get(names, name));
	}
	return number->number;
}

static const char *text_of(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? cell->bytes : "";
}

static void add_known(struct bytes *out, unsigned field, const struct cell *cell)
{
	if (cell->type == CELL_INTEGER)
		protobuf_add_uint(out, field, (uint64_t)cell->integer);
}

/* The columns that all rows have, clipped to the scope. */
struct span {
	int32_t node;
	nsec_t begin_ns, end_ns;
	bool is_cut; /* at its end, by the scope */
};

static struct span span_of(const struct perfetto *perfetto, const struct cell *row)
{
	const struct scope *scope = &perfetto->export->scope;
	nsec_t begin_ns = row[1].integer, end_ns = cell_integer(&row[2], begin_ns);

	return (struct span){
	    .node = perfetto_node_number(perfetto, row[0].integer),
	    .begin_ns = begin_ns < scope->begin_ns ? scope->begin_ns : begin_ns,
	    .end_ns = end_ns > scope->end_ns ? scope->end_ns : end_ns,
	    .is_cut = end_ns > scope->end_ns,
	};
}

/* Kernels before 4.14 reported other states beyond EXIT_ZOMBIE; trace processor decides
 * by the release. */
static void set_release(struct perfetto_machine *machine, const char *release)
{
	unsigned major = 0, minor = 0;

	if (sscanf(release, "%u.%u", &major, &minor) != 2)
		major = 0;
	machine->is_old = major < 4 || (major == 4 && minor < 14);
	machine->preempted = !machine->is_old           ? 0x100
			     : major == 4 && minor >= 8 ? 0x1000
							: 0x800;
}

static int write_machine(void *context, const struct cell *row, struct error *error)
{
	enum { ID, NAME, KERNEL, CPUS, MEM_KIB };
	struct perfetto *perfetto = context;
	struct bytes *out = &perfetto->out;
	const struct scope *scope = &perfetto->export->scope;
	int32_t node;
	size_t packet, info, name;

	(void)error;
	if (!scope_has_node(scope, row[ID].integer))
		return 0;
	node = perfetto_node_number(perfetto, row[ID].integer);
	set_release(&perfetto->machine[node - 1], text_of(&row[KERNEL]));
	packet = proto_begin_packet_at(perfetto, node, scope->begin_ns);
	info = protobuf_begin(out, PACKET_SYSTEM_INFO);
	if (row[KERNEL].type == CELL_TEXT) {
		name = protobuf_begin(out, INFO_UTSNAME);
		protobuf_add_text(out, UTSNAME_SYSNAME, "Linux");
		protobuf_add_text(out, UTSNAME_RELEASE, row[KERNEL].bytes);
		protobuf_end(out, name);
	}
	add_known(out, INFO_CPUS, &row[CPUS]);
	if (row[MEM_KIB].type == CELL_INTEGER)
		protobuf_add_uint(out, INFO_RAM_BYTES,
				  (uint64_t)row[MEM_KIB].integer << 10);
	protobuf_add_text(out, INFO_MACHINE_NAME, text_of(&row[NAME]));
	protobuf_end(out, info);
	protobuf_end(out, packet);
	return 0;
}

static int write_tree(void *context, const struct cell *row, struct error *error)
{
	enum { NODE, AT, TID, PID, PPID, COMM, PROCESS };
	struct bundle *bundle = context;
	struct perfetto *perfetto = bundle->perfetto;
	struct bytes *out = &perfetto->out;
	size_t packet, tree, part;

	packet = proto_begin_packet_at(
	    perfetto, perfetto_node_number(perfetto, row[NODE].integer), row[AT].integer);
	tree = protobuf_begin(out, PACKET_PROCESS_TREE);
	part = protobuf_begin(out, TREE_PROCESS);
	add_known(out, TREE_PROCESS_PID, &row[PID]);
	add_known(out, TREE_PROCESS_PPID, &row[PPID]);
	protobuf_add_text(out, TREE_PROCESS_CMDLINE, text_of(&row[PROCESS]));
	protobuf_end(out, part);
	part = protobuf_begin(out, TREE_THREAD);
	add_known(out, TREE_THREAD_TID, &row[TID]);
	protobuf_add_text(out, TREE_THREAD_NAME, text_of(&row[COMM]));
	add_known(out, TREE_THREAD_TGID, &row[PID]);
	protobuf_end(out, part);
	protobuf_end(out, tree);
	protobuf_end(out, packet);
	return export_write(perfetto->export, out, EXPORT_BUFFER, error);
}

/* A thread on a processor, and the state that it left it in. */
struct ran {
	nsec_t begin_ns, end_ns;
	int64_t cpu, tid, priority, state;
	size_t name;
	int32_t node;
};

static int by_processor(const void *a, const void *b)
{
	const struct ran *p = a, *q = b;

	return COMPARE(p->node, q->node) ?:
	       COMPARE(p->cpu, q->cpu) ?:
	       COMPARE(p->begin_ns, q->begin_ns) ?:
	       COMPARE(p->end_ns, q->end_ns) ?:
	       COMPARE(p->tid, q->tid);
}

/* A thread that ended; on the processor that it ran on last. */
struct ended {
	int32_t node;
	int64_t tid, cpu;
	nsec_t at_ns;
};

/* The states of one thread after the other. */
struct states {
	struct bundle bundle;
	struct sorter *sorter; /* items are struct ran */
	struct ran last;       /* the span before, whatever its state */
	int64_t last_code;     /* or -1 */
	int64_t last_thread, last_cpu;
	const struct perfetto_thread *thread; /* the last thread; NULL: unknown */
	nsec_t thread_end_ns;                 /* NSEC_MAX: not known */
	struct ended *ended;
	size_t endings, capacity;
	uint64_t left_out; /* spans on processors that trace processor refuses */

	/* While processors are written. */
	struct ran now; /* node 0: no thread */
	struct error *error;
};

enum state_column {
	S_NODE,
	S_BEGIN,
	S_END,
	S_TID,
	S_CODE,
	S_CPU,
	S_COMM,
	S_PRIORITY,
	S_PREEMPTED,
	S_SWITCH_STATE,
	S_THREAD,
	S_WAKE_CPU,
	S_WAKE_TID
};

/* Return prev_state of sched_switch for a thread that changes to this state. */
static int64_t state_of(const struct perfetto_machine *machine, const struct cell *row)
{
	static const int64_t others[] = {
	    [INTERRUPTIBLE] = 1, [UNINTERRUPTIBLE] = 2, [BLOCKED] = STATE_UNKNOWN};
	int64_t code = row[S_CODE].integer, raw = cell_integer(&row[S_SWITCH_STATE], 0);
	bool is_idle = raw == 0x80 || raw == 0x402;

	if (code == RUNNABLE)
		return row[S_PREEMPTED].integer ? machine->preempted : 0;
	if (code == RUNNING)
		return 0;
	if (code == DEAD)
		return STATE_ZOMBIE;
	if (is_idle)
		return machine->is_old ? 0x402 : 0x80;
	raw &= machine->is_old ? 0x7ff : 0x7f;
	return raw ? raw : code <= BLOCKED ? others[code] : STATE_UNKNOWN;
}

static int add_ran(struct states *states, int64_t state, struct error *error)
{
	struct ran *last = &states->last;

	if (last->cpu < 0 || last->cpu >= CPUS_MOST) {
		states->left_out++;
		return 0;
	}
	last->state = last->tid ? state : 0;
	return sorter_add(states->sorter, last, error);
}

/* End the preceding span; the thread continues in this state. A thread that waited for a
 * processor and never got one must "run" for no time, because trace processor does not
 * end the wait otherwise. */
static int end_last(struct states *states, int64_t state, struct error *error)
{
	if (states->last_code == RUNNABLE)
		states->last.begin_ns = states->last.end_ns;
	else if (states->last_code != RUNNING)
		return 0;
	return add_ran(states, state, error);
}

/* End the thread's entry. Its end distinguishes it from another thread that gets its tid.
 */
static int end_thread(struct states *states, bool is_tid_reused, struct error *error)
{
	const struct ran *last = &states->last;
	nsec_t end_ns = states->thread_end_ns;
	bool is_over = end_ns <= states->bundle.perfetto->export->scope.end_ns;

	if (states->last_code < 0)
		return 0;
	if (is_tid_reused)
		*MEM_NEXT(states->ended, states->endings, states->capacity) =
		    (struct ended){last->node, last->tid, states->last_cpu,
				   is_over && end_ns > last->end_ns ? end_ns
								    : last->end_ns};
	if (end_last(states,
		     is_over && end_ns <= last->end_ns ? STATE_DEAD : STATE_UNKNOWN,
		     error))
		return -1;
	states->last_code = -1;
	return 0;
}

/* Return the name that a row's thread had, which it lacks if that was not recorded. */
static const char *comm_of(const struct perfetto_thread *thread, const struct cell *row)
{
	if (row[S_COMM].type == CELL_TEXT)
		return row[S_COMM].bytes;
	return thread && thread->comm ? thread->comm : "";
}

static int add_waking(struct states *states, const struct cell *row,
		      const struct ran *ran, struct error *error)
{
	enum { COMM = 1, PID, PRIORITY, SUCCESS, TARGET_CPU };
	int64_t cpu = cell_integer(&row[S_WAKE_CPU], ran->cpu);
	struct bytes *out;

	if (cpu < 0 || cpu >= CPUS_MOST)
		cpu = 0;
	out = begin_event(&states->bundle, ran->node, cpu, ran->begin_ns,
			  cell_integer(&row[S_WAKE_TID], 0), SCHED_WAKING);
	protobuf_add_text(out, COMM,
			  texts_get(&states->bundle.perfetto->names, ran->name));
	protobuf_add_uint(out, PID, (uint64_t)ran->tid);
	add_known(out, PRIORITY, &row[S_PRIORITY]);
	protobuf_add_uint(out, SUCCESS, 1);
	add_known(out, TARGET_CPU, &row[S_CPU]);
	return end_event(&states->bundle, error);
}

static int add_state(void *context, const struct cell *row, struct error *error)
{
	struct states *states = context;
	struct perfetto *perfetto = states->bundle.perfetto;
	struct span span = span_of(perfetto, row);
	int64_t code = row[S_CODE].integer, thread = cell_integer(&row[S_THREAD], -1);
	const struct perfetto_thread *of = thread == states->last_thread
					       ? states->thread
					       : perfetto_find_thread(perfetto, thread);
	struct ran ran = {.begin_ns = span.begin_ns,
			  .end_ns = span.end_ns,
			  .cpu = cell_integer(&row[S_CPU], code == RUNNING ? -1 : 0),
			  .tid = row[S_TID].integer,
			  .priority = cell_integer(&row[S_PRIORITY], 0),
			  .name = texts_put(&perfetto->names, comm_of(of, row)),
			  .node = span.node};
	bool follows, went_on, is_same_id;

	if (!scope_has_node(&perfetto->export->scope, row[S_NODE].integer) ||
	    ran.tid < 0 || ran.tid >= NOT_RECORDED)
		return 0;
	is_same_id = states->last.node == ran.node && states->last.tid == ran.tid;
	if ((!is_same_id || states->last_thread != thread || !ran.tid) &&
	    end_thread(states, is_same_id && ran.tid, error))
		return -1;
	if (ran.begin_ns >= ran.end_ns)
		return 0;
	follows = states->last_code >= 0 && states->last.end_ns == ran.begin_ns;
	went_on = follows && states->last_code <= RUNNING;
	if (!(went_on && states->last_code == RUNNABLE && code <= RUNNING) &&
	    end_last(states,
		     follows ? state_of(&perfetto->machine[ran.node - 1], row)
			     : STATE_UNKNOWN,
		     error))
		return -1;
	if (code == RUNNABLE && !went_on && add_waking(states, row, &ran, error))
		return -1;
	states->last = ran;
	states->last_code = code;
	states->last_thread = thread;
	states->thread = of;
	states->thread_end_ns = of ? of->end_ns : NSEC_MAX;
	if (code == RUNNING)
		states->last_cpu = ran.cpu;
	return 0;
}

/* The first switch of a processor, as an event in a bundle of its own: trace processor
 * takes the columns of a bundle before its events. */
static int add_first_switch(struct states *states, const struct ran *prev,
			    const struct ran *next, nsec_t at_ns, struct error *error)
{
	enum {
		PREV_COMM = 1,
		PREV_PID,
		PREV_PRIO,
		PREV_STATE,
		NEXT_COMM,
		NEXT_PID,
		NEXT_PRIO
	};
	const struct texts *names = &states->bundle.perfetto->names;
	struct bytes *out = begin_event(&states->bundle, prev->node, prev->cpu, at_ns,
					prev->tid, SCHED_SWITCH);

	protobuf_add_text(out, PREV_COMM, texts_get(names, prev->name));
	protobuf_add_uint(out, PREV_PID, (uint64_t)prev->tid);
	protobuf_add_uint(out, PREV_PRIO, (uint64_t)prev->priority);
	protobuf_add_uint(out, PREV_STATE, (uint64_t)prev->state);
	protobuf_add_text(out, NEXT_COMM, texts_get(names, next->name));
	protobuf_add_uint(out, NEXT_PID, (uint64_t)next->tid);
	protobuf_add_uint(out, NEXT_PRIO, (uint64_t)next->priority);
	return end_event(&states->bundle, error) || end_bundle(&states->bundle, 0, error)
		   ? -1
		   : 0;
}

/* A switch from the thread that the last one on the processor switched to. */
static int add_switch(struct states *states, int64_t state, const struct ran *next,
		      nsec_t at_ns, struct error *error)
{
	struct bundle *bundle = &states->bundle;
	struct compact *compact = &bundle->compact;
	struct bytes *column = compact->column;

	open_bundle(bundle, next->node, next->cpu);
	bytes_add_varint(&column[C_TIME], (uint64_t)at_ns - (uint64_t)compact->last_ns);
	bytes_add_varint(&column[C_STATE], (uint64_t)state);
	bytes_add_varint(&column[C_PID], (uint64_t)next->tid);
	bytes_add_varint(&column[C_PRIORITY], (uint64_t)next->priority);
	bytes_add_varint(&column[C_NAME], number_name(bundle, next->name));
	compact->last_ns = at_ns;
	return column[C_TIME].size < EXPORT_BUFFER / COLUMNS
		   ? 0
		   : end_bundle(bundle, 0, error);
}

/* Return the thread that "ran" while the running thread is unknown. */
static struct ran not_recorded(struct states *states, const struct ran *of)
{
	return (struct ran){
	    .node = of->node,
	    .cpu = of->cpu,
	    .tid = NOT_RECORDED + of->cpu,
	    .state = STATE_UNKNOWN,
	    .name = texts_put(&states->bundle.perfetto->names, "not recorded")};
}

static int end_processor(struct states *states, struct error *error)
{
	const struct ran *now = &states->now;
	struct ran nobody = not_recorded(states, now);

	return now->node ? add_switch(states, now->state, &nobody, now->end_ns, error)
			 : 0;
}

/* The next thread on a processor. */
static int write_ran(void *context, const void *item)
{
	struct states *states = context;
	struct error *error = states->error;
	const struct ran *next = item;
	struct ran *now = &states->now, nobody = not_recorded(states, next);
	int64_t state = now->state;
	bool is_within = false;

	if (now->node != next->node || now->cpu != next->cpu) {
		if (end_processor(states, error) ||
		    add_first_switch(states, &nobody, next, next->begin_ns, error))
			return -1;
		*now = *next;
		return 0;
	}
	if (now->end_ns < next->begin_ns) {
		if (add_switch(states, state, &nobody, now->end_ns, error))
			return -1;
		state = nobody.state;
	} else if (now->end_ns > next->begin_ns) {
		state = 0; /* pushed aside */
		is_within = next->end_ns < now->end_ns;
	}
	if (add_switch(states, state, next, next->begin_ns, error))
		return -1;
	if (is_within)
		return add_switch(states, next->state, now, next->end_ns, error);
	*now = *next;
	return 0;
}

static int add_endings(struct states *states, struct error *error)
{
	enum { COMM = 1, PID };

	for (size_t i = 0; i < states->endings; i++) {
		const struct ended *ended = &states->ended[i];
		struct bytes *out =
		    begin_event(&states->bundle, ended->node, ended->cpu, ended->at_ns,
				ended->tid, SCHED_PROCESS_FREE);

		protobuf_add_uint(out, PID, (uint64_t)ended->tid);
		if (end_event(&states->bundle, error))
			return -1;
	}
	return 0;
}

/* Threads one after the other, then processors; each has what the other's order lacks. */
static int add_states(struct perfetto *perfetto, const char *sql,
		      const struct cell *value, struct error *error)
{
	enum { SORTED = 1 << 16 };
	struct states states = {
	    .bundle = {.perfetto = perfetto}, .last_code = -1, .error = error};
	int status;

	states.sorter = sorter_new(sizeof(struct ran), SORTED, by_processor);
	status = query_rows(perfetto->export->timeline, sql, value, add_state, &states,
			    error) ||
		 end_thread(&states, false, error) ||
		 sorter_each(states.sorter, write_ran, &states, error) ||
		 end_processor(&states, error) || add_endings(&states, error) ||
		 end_bundle(&states.bundle, EXPORT_BUFFER, error);
	sorter_free(states.sorter);
	free(states.ended);
	for (int i = 0; i < COLUMNS; i++)
		bytes_clear(&states.bundle.compact.column[i]);
	bytes_clear(&states.bundle.compact.names);
	free(states.bundle.compact.number);
	if (states.left_out)
		problem_add(&perfetto->export->notes, perfetto->export->path,
			    PROBLEM_NOTE, states.left_out,
			    "%" PRIu64 " spans of unknown processors, or of processors "
			    "not below %d, omitted",
			    states.left_out, CPUS_MOST);
	return status ? -1 : 0;
}

static bool has_bundle(int64_t cpu)
{
	return cpu >= 0 && cpu < CPUS_MOST;
}

static int write_interrupt(void *context, const struct cell *row, struct error *error)
{
	enum { CPU = 3, IS_SOFT, NUMBER, NAME, TID };
	enum { IRQ = 1, IRQ_NAME, VECTOR = 1 };
	struct bundle *bundle = context;
	struct span span = span_of(bundle->perfetto, row);
	int64_t cpu = row[CPU].integer, tid = cell_integer(&row[TID], 0);
	bool is_soft = row[IS_SOFT].integer;
	struct bytes *out;

	if (!has_bundle(cpu) || (is_soft && (uint64_t)row[NUMBER].integer >= SOFTIRQS))
		return 0;
	out = begin_event(bundle, span.node, cpu, span.begin_ns, tid,
			  is_soft ? SOFTIRQ_ENTRY : IRQ_HANDLER_ENTRY);
	protobuf_add_uint(out, is_soft ? VECTOR : IRQ, (uint64_t)row[NUMBER].integer);
	if (!is_soft)
		protobuf_add_text(out, IRQ_NAME, text_of(&row[NAME]));
	if (end_event(bundle, error))
		return -1;
	out = begin_event(bundle, span.node, cpu, span.end_ns, tid,
			  is_soft ? SOFTIRQ_EXIT : IRQ_HANDLER_EXIT);
	protobuf_add_uint(out, is_soft ? VECTOR : IRQ, (uint64_t)row[NUMBER].integer);
	return end_event(bundle, error);
}

static int write_frequency(void *context, const struct cell *row, struct error *error)
{
	enum { CPU = 2, FREQUENCY, OF };
	enum { STATE = 1, CPU_ID };
	struct bundle *bundle = context;
	int64_t cpu = cell_integer(&row[CPU], 0);
	struct bytes *out;

	if (!has_bundle(cpu) || row[OF].type != CELL_INTEGER)
		return 0;
	out = begin_event(bundle, perfetto_node_number(bundle->perfetto, row[0].integer),
			  cpu, row[1].integer, 0, CPU_FREQUENCY);
	protobuf_add_uint(out, STATE, (uint64_t)row[FREQUENCY].integer);
	protobuf_add_uint(out, CPU_ID, (uint64_t)row[OF].integer);
	return end_event(bundle, error);
}

enum request_column {
	R_ISSUE = 3,
	R_DEV,
	R_SECTOR,
	R_BYTES,
	R_ERROR,
	R_TID,
	R_COMM,
	R_CUT,
	R_OPERATION
};

/* The processor of a disk request is unknown; use the first. */
static int add_request(struct bundle *bundle, const struct cell *row, int32_t node,
		       nsec_t at_ns, enum ftrace_event kind, struct error *error)
{
	enum { DEV = 1, SECTOR, SECTORS, BYTES };
	bool is_end = kind == BLOCK_RQ_COMPLETE || kind == BLOCK_IO_DONE;
	bool is_io = kind == BLOCK_IO_START || kind == BLOCK_IO_DONE;
	struct bytes *out = begin_event(bundle, node, 0, at_ns,
					is_end ? 0 : cell_integer(&row[R_TID], 0), kind);

	add_known(out, DEV, &row[R_DEV]);
	add_known(out, SECTOR, &row[R_SECTOR]);
	if (row[R_BYTES].type == CELL_INTEGER) {
		protobuf_add_uint(out, SECTORS, (uint64_t)row[R_BYTES].integer / 512);
		if (kind != BLOCK_RQ_COMPLETE)
			protobuf_add_uint(out, BYTES, (uint64_t)row[R_BYTES].integer);
	}
	protobuf_add_text(out, is_io ? 6 : 5, text_of(&row[R_OPERATION]));
	if (kind == BLOCK_RQ_COMPLETE)
		add_known(out, 7, &row[R_ERROR]);
	else if (!is_end)
		protobuf_add_text(out, is_io ? 7 : 6, text_of(&row[R_COMM]));
	return end_event(bundle, error);
}

/* Queued, issued, completed. */
static int write_request(void *context, const struct cell *row, struct error *error)
{
	struct bundle *bundle = context;
	struct span span = span_of(bundle->perfetto, row);
	bool is_whole = !span.is_cut && !(row[R_CUT].integer & 2);
	nsec_t issue_ns = cell_integer(&row[R_ISSUE], span.begin_ns);

	if (add_request(bundle, row, span.node, span.begin_ns, BLOCK_IO_START, error))
		return -1;
	if (issue_ns >= span.begin_ns && issue_ns <= span.end_ns &&
	    add_request(bundle, row, span.node, issue_ns, BLOCK_RQ_ISSUE, error))
		return -1;
	return is_whole && (add_request(bundle, row, span.node, span.end_ns,
					BLOCK_RQ_COMPLETE, error) ||
			    add_request(bundle, row, span.node, span.end_ns,
					BLOCK_IO_DONE, error))
		   ? -1
		   : 0;
}

static int write_packet(void *context, const struct cell *row, struct error *error)
{
	enum { CPU = 2, TID, SENT, LENGTH, DEVICE, SKB };
	enum { LEN = 1, NAME };
	struct bundle *bundle = context;
	bool is_sent = row[SENT].integer;
	struct bytes *out;

	if (!has_bundle(row[CPU].integer))
		return 0;
	out = begin_event(bundle, perfetto_node_number(bundle->perfetto, row[0].integer),
			  row[CPU].integer, row[1].integer, cell_integer(&row[TID], 0),
			  is_sent ? NET_DEV_XMIT : NETIF_RECEIVE_SKB);
	add_known(out, LEN, &row[LENGTH]);
	protobuf_add_text(out, NAME, text_of(&row[DEVICE]));
	add_known(out, is_sent ? 4 : 3, &row[SKB]);
	return end_event(bundle, error);
}

static const struct kind {
	const char *name;
	timeline_row_fn *write_row;
} kinds[] = {
    {"trees", write_tree},
    {"interrupts", write_interrupt},
    {"frequencies", write_frequency},
    {"requests", write_request},
    {"packets", write_packet},
    {"switches", NULL},
};

/* Rows of nodes of the scope. */
struct chosen_rows {
	struct bundle bundle;
	timeline_row_fn *write_row;
};

static int write_chosen_row(void *context, const struct cell *row, struct error *error)
{
	struct chosen_rows *rows = context;

	return scope_has_node(&rows->bundle.perfetto->export->scope, row[0].integer)
		   ? rows->write_row(&rows->bundle, row, error)
		   : 0;
}

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

bool ftrace_has_kind(const char *kind)
{
	return find_kind(kind) != NULL;
}

int ftrace_add(struct perfetto *perfetto, const char *kind, const char *sql,
	       const struct cell *value, struct error *error)
{
	struct chosen_rows rows = {{.perfetto = perfetto}, find_kind(kind)->write_row};

	if (!rows.write_row)
		return add_states(perfetto, sql, value, error);
	return query_rows(perfetto->export->timeline, sql, value, write_chosen_row, &rows,
			  error) ||
		       end_bundle(&rows.bundle, EXPORT_BUFFER, error)
		   ? -1
		   : 0;
}

int ftrace_add_machines(struct perfetto *perfetto, const char *sql, struct error *error)
{
	return query_rows(perfetto->export->timeline, sql, NULL, write_machine, perfetto,
			  error);
}
