/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the end of a request, or of a thread's time, waited for, across nodes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/bounds.h"
#include "analyze/critical/path.h"
#include "base/mem.h"

const char assumed_note[] =
    "interrupts are not recorded: what follows a packet's receive on its processor, "
    "within 500 us and before a switch, is taken to be its doing, other waits stay "
    "unknown (enable irq_handler_entry and _exit, irq_softirq_entry and _exit)";

#define REQUEST                                                                          \
	"SELECT r.id, r.last_message, r.client, r.server, r.client_tid, r.server_port,"  \
	" r.begin_ns, r.end_ns, r.bound_ns FROM request AS r "

static const char slowest_sql[] =
    REQUEST "WHERE r.begin_ns >= ? AND r.responded_ns <= ?"
	    " ORDER BY r.end_ns - r.begin_ns DESC, r.begin_ns, r.id";

/* Its flow's last one before the message, unless that came after all of it. */
static const char of_message_sql[] = REQUEST
    "JOIN message AS m ON m.id = ?1 WHERE r.id <= m.id AND r.protocol = m.protocol"
    " AND ((r.client_address = m.src AND r.server_address = m.dst"
    " AND r.client_port IS m.sport AND r.server_port IS m.dport)"
    " OR (r.client_address = m.dst AND r.server_address = m.src"
    " AND r.client_port IS m.dport AND r.server_port IS m.sport))"
    " ORDER BY r.id DESC LIMIT 1";

static int64_t integer_of(const struct cell *cell, int64_t none)
{
	return cell->type == CELL_INTEGER ? cell->integer : none;
}

static struct node_request read_request(const struct cell *row)
{
	return (struct node_request){
	    .id = row[0].integer,
	    .last_message = integer_of(&row[1], 0),
	    .client = integer_of(&row[2], -1),
	    .server = integer_of(&row[3], -1),
	    .client_tid = integer_of(&row[4], -1),
	    .server_port = integer_of(&row[5], -1),
	    .begin_ns = row[6].integer,
	    .end_ns = integer_of(&row[7], NSEC_MIN),
	    .bound_ns = integer_of(&row[8], NSEC_MAX),
	};
}

int node_requests_slowest(struct node_request *request, int most,
			  struct question *question, struct error *error)
{
	const struct scope *scope = &question->scope;
	const struct cell span[] = {{.type = CELL_INTEGER, .integer = scope->begin_ns},
				    {.type = CELL_INTEGER, .integer = scope->end_ns}};
	struct timeline_query *query =
	    timeline_query_new(question->reader, slowest_sql, error);
	int more = query && !timeline_query_ask(query, span, 2, error) ? 1 : -1;
	int count = 0;

	while (count < most && more > 0 &&
	       (more = timeline_query_next(query, error)) > 0) {
		request[count] = read_request(timeline_query_row(query));
		count += scope_has_node(scope, request[count].client) ||
			 scope_has_node(scope, request[count].server);
	}
	timeline_query_free(query);
	return more < 0 ? -1 : count;
}

int node_request_of(struct node_request *request, int64_t message,
		    struct question *question, struct error *error)
{
	const struct cell key = {.type = CELL_INTEGER, .integer = message};
	struct timeline_query *query =
	    timeline_query_new(question->reader, of_message_sql, error);
	int more = query && !timeline_query_ask(query, &key, 1, error)
		       ? timeline_query_next(query, error)
		       : -1;

	if (more > 0) {
		*request = read_request(timeline_query_row(query));
		more = request->last_message >= message;
	}
	timeline_query_free(query);
	return more;
}

int node_request_path(struct path *path, struct history *history,
		      const struct node_request *request)
{
	const struct path_start start = {
	    .node = request->client,
	    .tid = request->client_tid,
	    .begin_ns = request->begin_ns,
	    .end_ns = request->end_ns,
	    .message = request->last_message,
	};

	return path_walk(path, history, &start);
}

/* ---- tables */

#define THREAD_COLUMNS                                                                   \
	{"node", "NODE", UNIT_TEXT}, {"tid", "TID", UNIT_ID}, {"pid", "PID", UNIT_ID},   \
	{                                                                                \
		"comm", "COMM", UNIT_TEXT                                                \
	}

static const struct result_column path_columns[] = {
    {"begin_ns", "BEGIN", UNIT_INSTANT},
    {"took_ns", "TOOK", UNIT_SPAN},
    {"bound_ns", "BOUND", UNIT_BOUND},
    {"state", "STATE", UNIT_TEXT},
    THREAD_COLUMNS,
    {"cpu", "CPU", UNIT_ID},
    {"from", "FROM", UNIT_TEXT},
    {"message", "MESSAGE", UNIT_ID},
    {"other_tid", "OTHER", UNIT_ID},
    {"other", "NAME", UNIT_TEXT},
    {NULL, NULL, 0},
};

static const struct result_column state_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"state", "STATE", UNIT_TEXT},
    {"times", "TIMES", UNIT_COUNT},
    {"sum_ns", "SUM", UNIT_SPAN},
    {"share_percent", "SHARE", UNIT_PERCENT},
    {"max_ns", "MAX", UNIT_SPAN},
    {"bound_ns", "BOUND", UNIT_BOUND},
    {NULL, NULL, 0},
};

static const struct result_column thread_columns[] = {
    THREAD_COLUMNS,
    {"sum_ns", "SUM", UNIT_SPAN},
    {"share_percent", "SHARE", UNIT_PERCENT},
    {"running_ns", "RUNNING", UNIT_SPAN},
    {NULL, NULL, 0},
};

/* Of the path's segments at one node in one state, and of those of one thread. */
struct state_sum {
	int64_t node;
	enum path_state state;
	int64_t times;
	nsec_t sum_ns, most_ns, bound_ns;
};

struct thread_sum {
	int64_t node, tid;
	nsec_t at_ns; /* when it was there */
	nsec_t sum_ns, running_ns;
};

enum { MOST_NAMED = 4 }; /* threads, in an error */

/* A thread in the time asked for. */
struct candidate {
	int64_t node, tid;
	const char *comm;
	nsec_t begin_ns, end_ns;
};

struct candidates {
	struct candidate *item;
	size_t count, room;
};

struct critical {
	struct question *question;
	struct result *result;
	struct bounds *bounds;
	struct history *history;
	struct path path;
	struct result_table *table;
	struct state_sum *state;
	struct thread_sum *thread;
	size_t states, state_capacity, threads, thread_capacity;
	struct candidates found; /* that the options name */
};

static struct cell thread_name(struct critical *critical, int64_t node, int64_t tid,
			       nsec_t at_ns)
{
	return tid > 0 ? cell_of_text(question_comm(critical->question, node, tid, at_ns))
		       : cell_of_null();
}

static struct cell thread_pid(struct critical *critical, int64_t node, int64_t tid,
			      nsec_t at_ns)
{
	const struct thread_facts *facts =
	    tid > 0 ? question_thread(critical->question, node, tid, at_ns) : NULL;

	return cell_of_known(facts ? facts->pid : -1, -1);
}

/* How sure the time of a message on its way is; NSEC_MAX: not at all. */
static nsec_t bound_of(const struct critical *critical, const struct path_segment *at)
{
	const struct bounds *bounds = critical->bounds;

	if (at->state != PATH_NETWORK || at->from_node < 0)
		return 0;
	return bound_width(bounds_between(bounds, bounds_source(bounds, at->from_node),
					  at->sent_ns, bounds_source(bounds, at->node),
					  at->end_ns));
}

static struct state_sum *state_of(struct critical *critical, int64_t node,
				  enum path_state state)
{
	for (size_t i = 0; i < critical->states; i++)
		if (critical->state[i].node == node && critical->state[i].state == state)
			return &critical->state[i];
	critical->state = mem_grow(critical->state, critical->states,
				   &critical->state_capacity, sizeof(*critical->state));
	critical->state[critical->states] =
	    (struct state_sum){.node = node, .state = state};
	return &critical->state[critical->states++];
}

static struct thread_sum *thread_of(struct critical *critical,
				    const struct path_segment *at)
{
	for (size_t i = 0; i < critical->threads; i++)
		if (critical->thread[i].node == at->node &&
		    critical->thread[i].tid == at->tid)
			return &critical->thread[i];
	critical->thread =
	    mem_grow(critical->thread, critical->threads, &critical->thread_capacity,
		     sizeof(*critical->thread));
	critical->thread[critical->threads] =
	    (struct thread_sum){.node = at->node, .tid = at->tid, .at_ns = at->begin_ns};
	return &critical->thread[critical->threads++];
}

static void count_segment(struct critical *critical, const struct path_segment *at)
{
	struct state_sum *state = state_of(critical, at->node, at->state);
	nsec_t took = nsec_sub(at->end_ns, at->begin_ns);
	struct thread_sum *thread;

	state->times++;
	state->sum_ns = nsec_add(state->sum_ns, took);
	state->most_ns = took > state->most_ns ? took : state->most_ns;
	state->bound_ns = nsec_add(state->bound_ns, bound_of(critical, at));
	if (at->tid <= 0)
		return;
	thread = thread_of(critical, at);
	thread->sum_ns = nsec_add(thread->sum_ns, took);
	if (at->state == PATH_RUNNING)
		thread->running_ns = nsec_add(thread->running_ns, took);
}

static void add_segment(struct critical *critical, const struct path_segment *at)
{
	struct question *question = critical->question;
	nsec_t bound = bound_of(critical, at);

	result_add(
	    critical->table,
	    (struct cell[]){
		cell_of_integer(at->begin_ns),
		cell_of_integer(nsec_sub(at->end_ns, at->begin_ns)),
		at->from_node < 0 ? cell_of_null() : cell_of_known(bound, NSEC_MAX),
		cell_of_text(path_state_name(at->state)),
		cell_of_text(question_node(question, at->node)),
		cell_of_known(at->tid, -1),
		thread_pid(critical, at->node, at->tid, at->begin_ns),
		thread_name(critical, at->node, at->tid, at->begin_ns),
		cell_of_known(at->cpu, -1),
		at->from_node < 0 ? cell_of_null()
				  : cell_of_text(question_node(question, at->from_node)),
		cell_of_known(at->message, 0), cell_of_known(at->other_tid, -1),
		thread_name(critical, at->node, at->other_tid, at->begin_ns)});
	count_segment(critical, at);
}

static struct cell share_of(nsec_t part, nsec_t whole)
{
	return whole ? cell_of_real(100 * (double)part / (double)whole) : cell_of_null();
}

static void print_states(struct critical *critical, nsec_t whole)
{
	struct result_table *table = result_table_new(critical->result, "states",
						      "By node and state", state_columns);

	result_table_sort(table, "-sum_ns,node,state");
	for (size_t i = 0; i < critical->states; i++) {
		const struct state_sum *state = &critical->state[i];

		result_add(
		    table,
		    (struct cell[]){
			cell_of_text(question_node(critical->question, state->node)),
			cell_of_text(path_state_name(state->state)),
			cell_of_integer(state->times), cell_of_integer(state->sum_ns),
			share_of(state->sum_ns, whole), cell_of_integer(state->most_ns),
			state->state == PATH_NETWORK
			    ? cell_of_known(state->bound_ns, NSEC_MAX)
			    : cell_of_null()});
	}
}

static void print_threads(struct critical *critical, nsec_t whole)
{
	struct result_table *table =
	    result_table_new(critical->result, "threads", "By thread", thread_columns);

	result_table_sort(table, "-sum_ns,node,tid");
	result_table_limit(table, 10);
	for (size_t i = 0; i < critical->threads; i++) {
		const struct thread_sum *of = &critical->thread[i];

		result_add(table,
			   (struct cell[]){
			       cell_of_text(question_node(critical->question, of->node)),
			       cell_of_integer(of->tid),
			       thread_pid(critical, of->node, of->tid, of->at_ns),
			       thread_name(critical, of->node, of->tid, of->at_ns),
			       cell_of_integer(of->sum_ns), share_of(of->sum_ns, whole),
			       cell_of_integer(of->running_ns)});
	}
}

static void print_path(struct critical *critical)
{
	struct path *path = &critical->path;
	struct result *result = critical->result;
	nsec_t whole = path->count ? path->segment[path->count - 1].end_ns -
					 path->segment[0].begin_ns
				   : 0;

	critical->table = result_table_new(result, "path", "Critical path", path_columns);
	result_table_limit(critical->table, 100);
	for (size_t i = 0; i < path->count; i++)
		add_segment(critical, &path->segment[i]);
	print_states(critical, whole);
	print_threads(critical, whole);
	if (path->deep)
		result_note(result,
			    "%zu waits stand within %d others and are not followed",
			    path->deep, PATH_DEEPEST);
	if (path->backward)
		result_note(result, "%zu messages came before they were sent",
			    path->backward);
}

/* What is missing makes parts of the path unknown. */
static int note_missing(struct critical *critical, bool *any, struct error *error)
{
	struct result *result = critical->result;
	struct history_events recorded;

	if (history_events_read(&recorded, critical->question, error))
		return -1;
	*any = recorded.switches;
	if (critical->question->scope.without_spans)
		result_note(result, "%s", no_spans_note);
	if (!recorded.switches)
		result_missing(result, "what threads did", "sched_switch");
	if (!recorded.wakeups)
		result_missing(result, "what ended waits",
			       "sched_waking or sched_wakeup");
	else if (!recorded.interrupts)
		result_note(result, "%s", assumed_note);
	else if (!recorded.receives)
		result_missing(result, "which message ended a wait",
			       "net_if_receive_skb");
	return 0;
}

static void note_request(struct critical *critical, const struct node_request *request)
{
	struct question *question = critical->question;
	char *from =
	    request->client_tid > 0
		? mem_printf("thread %" PRId64 " (%s)", request->client_tid,
			     question_comm(question, request->client, request->client_tid,
					   request->begin_ns))
		: mem_strdup("a thread that is not known");

	result_note(critical->result,
		    "of request %" PRId64 ": from %s of %s to %s, port %" PRId64,
		    request->id, from, question_node(question, request->client),
		    question_node(question, request->server), request->server_port);
	free(from);
}

static int of_request(struct critical *critical, struct error *error)
{
	struct question *question = critical->question;
	int64_t wanted = question->request->request;
	struct node_request request;
	int found = wanted ? node_request_of(&request, wanted, question, error)
			   : node_requests_slowest(&request, 1, question, error);

	if (found < 0)
		return -1;
	if (!found && wanted)
		return error_set(error,
				 "%s: --request: message %" PRId64
				 " is of no request that was answered, ctanalyze "
				 "requests --log has their numbers",
				 question->path, wanted);
	if (!found) {
		result_note(critical->result,
			    "no request between nodes was found, and no "
			    "thread was asked for: see --tid");
		return 0;
	}
	if (node_request_path(&critical->path, critical->history, &request))
		return -1;
	print_path(critical);
	note_request(critical, &request);
	return 0;
}

static int add_candidate(void *context, const struct cell *row)
{
	struct critical *critical = context;
	struct question *question = critical->question;
	struct candidates *found = &critical->found;
	const struct scope *scope = &question->scope;
	struct candidate thread = {
	    .node = row[0].integer,
	    .tid = row[1].integer,
	    .begin_ns = row[2].integer,
	    .end_ns = row[3].integer,
	};

	if (thread.begin_ns < scope->begin_ns)
		thread.begin_ns = scope->begin_ns;
	if (thread.end_ns > scope->end_ns)
		thread.end_ns = scope->end_ns;
	if (!scope_has_node(scope, thread.node) ||
	    !question_has_thread(question, thread.node, thread.tid, thread.begin_ns))
		return 0;
	thread.comm = question_comm(question, thread.node, thread.tid, thread.begin_ns);
	found->item =
	    mem_grow(found->item, found->count, &found->room, sizeof(*found->item));
	found->item[found->count++] = thread;
	return 0;
}

/* "web/900 server, db/901 server, ...": some of them; for free(). */
static char *names_of(const struct question *question, const struct candidates *found)
{
	char *names = mem_strdup("");

	for (size_t i = 0; i < found->count && i < MOST_NAMED; i++) {
		const struct candidate *thread = &found->item[i];
		char *longer = mem_printf("%s%s%s/%" PRId64 " %s", names, i ? ", " : "",
					  question_node(question, thread->node),
					  thread->tid, thread->comm);

		free(names);
		names = longer;
	}
	return names;
}

/* The one thread that the options name; -1 with an error that tells of several. */
static int choose_thread(struct critical *critical, struct error *error)
{
	static const char sql[] =
	    "SELECT node, tid, min(begin_ns), max(end_ns) FROM thread_state"
	    " WHERE tid > 0 AND begin_ns < ?2 AND end_ns > ?1 AND state <> 'dead'"
	    " GROUP BY node, tid ORDER BY node, tid";
	struct question *question = critical->question;
	const struct candidates *found = &critical->found;
	const struct cell span[] = {cell_of_integer(question->scope.begin_ns),
				    cell_of_integer(question->scope.end_ns)};

	if (question_ask(question, sql, span, add_candidate, critical, error))
		return -1;
	if (found->count > 1) {
		char *names = names_of(question, found);

		error_set(error,
			  "%s: %zu threads are like that (%s%s), want one: --node, --tid",
			  question->path, found->count, names,
			  found->count > MOST_NAMED ? ", ..." : "");
		free(names);
	} else if (!found->count) {
		error_set(error,
			  "%s: no such thread in the time asked for, see ctanalyze cpu",
			  question->path);
	}
	return found->count == 1 ? 0 : -1;
}

static int of_thread(struct critical *critical, struct error *error)
{
	const struct candidate *thread;
	struct path_start start;

	if (choose_thread(critical, error))
		return -1;
	thread = critical->found.item;
	start = (struct path_start){.node = thread->node,
				    .tid = thread->tid,
				    .begin_ns = thread->begin_ns,
				    .end_ns = thread->end_ns};
	if (path_walk(&critical->path, critical->history, &start))
		return -1;
	result_note(
	    critical->result,
	    "of thread %" PRId64 " (%s) of %s, as long as it is known in the time "
	    "asked for",
	    thread->tid, thread->comm, question_node(critical->question, thread->node));
	print_path(critical);
	return 0;
}

static int run_critical_path(struct question *question, struct result *result,
			     struct error *error)
{
	const struct request *request = question->request;
	struct critical critical = {.question = question, .result = result};
	bool any, by_thread =
		      request->tids.count || request->pids.count || request->names.count;
	int status = -1;

	if (request->request && by_thread)
		return error_misuse(error, "--request names the thread, want it without "
					   "--tid, --pid and --procname");
	critical.bounds = bounds_new(question->reader, error);
	critical.history = critical.bounds ? history_new(question->reader, error) : NULL;
	if (critical.history && !note_missing(&critical, &any, error)) {
		if (!any)
			status = 0;
		else if (by_thread)
			status = of_thread(&critical, error);
		else
			status = of_request(&critical, error);
	}
	path_clear(&critical.path);
	free(critical.state);
	free(critical.thread);
	free(critical.found.item);
	history_free(critical.history);
	bounds_free(critical.bounds);
	return status;
}

const struct analysis analysis_critical_path = {
    .name = "critical-path",
    .summary = "what a request or a thread waited for, across nodes",
    .description =
	"path: back from the end, each wait replaced by what whoever ended it did\n"
	"meanwhile: threads that woke others, messages and who sent them on which node,\n"
	"disks, timers, interrupts. The rows follow each other without gaps and add up\n"
	"to the whole. TOOK of a message is within BOUND, which both clocks give. OTHER\n"
	"had the processor that a runnable thread waited for, or woke it. states and\n"
	"threads: the sums. With --tid, --pid or --procname (and --node, --begin, "
	"--end)\n"
	"of one thread; else of a request: --request, or the slowest one. unknown: it\n"
	"was not recorded. Needs sched_switch, sched_waking or sched_wakeup,\n"
	"irq_handler_entry and _exit, irq_softirq_entry and _exit, net_if_receive_skb,\n"
	"net_dev_queue; for timers and disks also timer_hrtimer_expire_entry and _exit,\n"
	"block_rq_complete.",
    .heeds = HEEDS_THREAD | HEEDS_REQUEST,
    .run = run_critical_path,
};
