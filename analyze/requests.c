/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests from node to node, and what the time until their responses went into. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/critical/request_path.h"
#include "analyze/exchange_work.h"
#include "analyze/tally.h"
#include "analyze/who.h"
#include "base/mem.h"

/* Parts of a request's time, in the order of their columns. */
enum { PART_THERE, PART_WORK, PART_BACK = PART_WORK + WORK_PARTS, PARTS };

#define PART_COLUMNS                                                                     \
	{"there_ns", "THERE", UNIT_SPAN}, {"queue_ns", "QUEUE", UNIT_SPAN},              \
	    {"running_ns", "RUNNING", UNIT_SPAN},                                        \
	    {"runnable_ns", "RUNNABLE", UNIT_SPAN}, {"disk_ns", "DISK", UNIT_SPAN},      \
	    {"node_ns", "NODE", UNIT_SPAN}, {"other_ns", "OTHER", UNIT_SPAN},            \
	    {"unknown_ns", "UNKNOWN", UNIT_SPAN},                                        \
	{                                                                                \
		"back_ns", "BACK", UNIT_SPAN                                             \
	}

/* "node_ns" would be the node's column for people who sort by "node". */
static const struct result_column request_columns[] = {
    {"begin_ns", "SENT", UNIT_INSTANT},
    {"request", "REQUEST", UNIT_ID},
    {"client", "CLIENT", UNIT_TEXT},
    {"client_tid", "TID", UNIT_ID},
    {"server", "SERVER", UNIT_TEXT},
    {"tid", "TID", UNIT_ID},
    {"comm", "COMM", UNIT_TEXT},
    {"port", "PORT", UNIT_ID},
    {"total_ns", "TOTAL", UNIT_SPAN},
    PART_COLUMNS,
    {"bound_ns", "BOUND", UNIT_BOUND},
    {"asked_bytes", "ASKED", UNIT_BYTES},
    {"replied_bytes", "REPLIED", UNIT_BYTES},
    {NULL, NULL, 0},
};

static const struct result_column total_columns[] = {TALLY_COLUMNS, {NULL, NULL, 0}};

static const struct result_column mean_columns[] = {
    {"count", "COUNT", UNIT_COUNT},
    {"mean_ns", "TOTAL", UNIT_SPAN},
    PART_COLUMNS,
    {"bound_ns", "BOUND", UNIT_BOUND},
    {NULL, NULL, 0},
};

enum { HEADS_MOST = 7 };

/* What --group adds up by, and its columns. */
static const struct grouping {
	const char *word;
	struct result_column column[HEADS_MOST + 1];
} groupings[] = {
    {"pair",
     {{"client", "CLIENT", UNIT_TEXT},
      {"server", "SERVER", UNIT_TEXT},
      {"process", "PROCESS", UNIT_TEXT}}},
    {"process",
     {{"server", "SERVER", UNIT_TEXT},
      {"pid", "PID", UNIT_ID},
      {"process", "PROCESS", UNIT_TEXT}}},
    {"thread",
     {{"server", "SERVER", UNIT_TEXT},
      {"tid", "TID", UNIT_ID},
      {"pid", "PID", UNIT_ID},
      {"comm", "COMM", UNIT_TEXT}}},
    {"container",
     {{"server", "SERVER", UNIT_TEXT},
      {"container", "CONTAINER", UNIT_TEXT},
      {"process", "PROCESS", UNIT_TEXT}}},
    {"flow",
     {{"client", "CLIENT", UNIT_TEXT},
      {"server", "SERVER", UNIT_TEXT},
      {"protocol", "PROTOCOL", UNIT_TEXT},
      {"src", "SRC", UNIT_TEXT},
      {"sport", "PORT", UNIT_ID},
      {"dst", "DST", UNIT_TEXT},
      {"dport", "PORT", UNIT_ID}}},
};

/* Sums of all requests of a group, beside the distribution of their totals. */
struct group_sums {
	nsec_t part[PARTS];
	nsec_t bound_ns; /* the widest */
};

struct requests {
	struct question *question;
	struct result *result;
	struct bounds *bounds;
	struct scope scope; /* of all nodes */
	struct exchanges exchanges;
	struct exchange_work *work;
	const struct grouping *grouping;
	struct tally tally;
	struct group_sums *sums; /* as the tally's groups */
	size_t sums_room;
	struct tally_lists lists;
	uint64_t count;
	bool any_switch, any_interrupt;
};

static struct who server_of(const struct requests *requests, size_t at)
{
	const struct exchange *exchange = &requests->exchanges.item[at];

	return (struct who){exchange->server,
			    requests->work[at].by_kernel ? -1 : exchange->server_tid, "",
			    exchange->replied_ns};
}

static void get_parts(const struct requests *requests, size_t at, nsec_t part[PARTS])
{
	const struct exchange *exchange = &requests->exchanges.item[at];

	part[PART_THERE] = nsec_sub(exchange->arrived_ns, exchange->begin_ns);
	memcpy(part + PART_WORK, requests->work[at].part,
	       sizeof(requests->work[at].part));
	part[PART_BACK] = nsec_sub(exchange->end_ns, exchange->replied_ns);
}

/* Of what is between the nodes, there and back; the wider. NSEC_MAX: open. */
static nsec_t bound_of(const struct requests *requests, const struct exchange *exchange)
{
	nsec_t there = bound_width(
	    bounds_between(requests->bounds, exchange->client_source, exchange->begin_ns,
			   exchange->server_source, exchange->arrived_ns));
	nsec_t back = bound_width(bounds_between(
	    requests->bounds, exchange->server_source, exchange->replied_ns,
	    exchange->client_source, exchange->end_ns));

	return there > back ? there : back;
}

static struct cell known_comm(struct question *question, const struct who *who)
{
	return who->tid > 0 ? cell_of_text(who_comm(question, who)) : cell_of_null();
}

static struct cell known_process(struct question *question, const struct who *who)
{
	return who->tid > 0 ? cell_of_text(who_process(question, who)) : cell_of_null();
}

static struct cell known_pid(struct question *question, const struct who *who)
{
	return who->tid > 0 ? cell_of_known(who_pid(question, who), -1) : cell_of_null();
}

static struct cell known_container(struct question *question, const struct who *who)
{
	const struct thread_facts *facts =
	    who->tid > 0 ? question_thread(question, who->node, who->tid, who->at_ns)
			 : NULL;

	return facts && *facts->container ? cell_of_text(facts->container)
					  : cell_of_null();
}

static void add_row(struct requests *requests, struct result_table *table, size_t at)
{
	struct question *question = requests->question;
	const struct exchange *exchange = &requests->exchanges.item[at];
	const struct who server = server_of(requests, at);
	struct cell cell[9 + PARTS + 3] = {
	    cell_of_integer(exchange->begin_ns),
	    cell_of_integer(exchange->number),
	    cell_of_text(question_node(question, exchange->client)),
	    cell_of_known(requests->work[at].asked_by_kernel ? -1 : exchange->client_tid,
			  -1),
	    cell_of_text(question_node(question, exchange->server)),
	    cell_of_known(server.tid, -1),
	    known_comm(question, &server),
	    cell_of_known(exchange_port(&requests->exchanges, exchange, 1), -1),
	    cell_of_integer(nsec_sub(exchange->end_ns, exchange->begin_ns)),
	};
	nsec_t part[PARTS];

	get_parts(requests, at, part);
	for (size_t i = 0; i < PARTS; i++)
		cell[9 + i] = cell_of_integer(part[i]);
	cell[9 + PARTS] = cell_of_known(bound_of(requests, exchange), NSEC_MAX);
	cell[10 + PARTS] = cell_of_integer(exchange->asked_bytes);
	cell[11 + PARTS] = cell_of_integer(exchange->replied_bytes);
	result_add(table, cell);
}

static void make_head(struct requests *requests, size_t at, struct cell *head)
{
	struct question *question = requests->question;
	const struct exchanges *exchanges = &requests->exchanges;
	const struct exchange *exchange = &exchanges->item[at];
	const struct who who = server_of(requests, at);
	struct cell client = cell_of_text(question_node(question, exchange->client));
	struct cell server = cell_of_text(question_node(question, exchange->server));

	head[0] = server;
	head[1] = known_pid(question, &who);
	head[2] = known_process(question, &who);
	if (who_is(question, "pair")) {
		head[0] = client;
		head[1] = server;
	} else if (who_is(question, "thread")) {
		head[3] = known_comm(question, &who);
		head[2] = head[1];
		head[1] = cell_of_known(who.tid, -1);
	} else if (who_is(question, "container")) {
		head[1] = known_container(question, &who);
	} else if (who_is(question, "flow")) {
		head[0] = client;
		head[1] = server;
		head[2] = cell_of_text(exchanges->flow[exchange->flow].protocol);
		for (int i = 0; i < 2; i++) {
			head[3 + 2 * i] =
			    cell_of_text(exchange_address(exchanges, exchange, i));
			head[4 + 2 * i] =
			    cell_of_known(exchange_port(exchanges, exchange, i), -1);
		}
	}
}

static void count_exchange(struct requests *requests, size_t at)
{
	const struct exchange *exchange = &requests->exchanges.item[at];
	struct cell head[TALLY_HEAD];
	size_t before = requests->tally.count, group;
	nsec_t part[PARTS], bound = bound_of(requests, exchange);
	struct tally_group *tally;

	make_head(requests, at, head);
	tally = tally_group(&requests->tally, head);
	distribution_add(&tally->spans, nsec_sub(exchange->end_ns, exchange->begin_ns));
	group = (size_t)(tally - requests->tally.group);
	if (requests->tally.count > before) {
		requests->sums = mem_grow(requests->sums, group, &requests->sums_room,
					  sizeof(*requests->sums));
		requests->sums[group] = (struct group_sums){.bound_ns = 0};
	}
	get_parts(requests, at, part);
	for (size_t i = 0; i < PARTS; i++)
		requests->sums[group].part[i] =
		    nsec_add(requests->sums[group].part[i], part[i]);
	if (bound > requests->sums[group].bound_ns)
		requests->sums[group].bound_ns = bound;
}

static bool is_asked_for(const struct requests *requests, size_t at)
{
	struct question *question = requests->question;
	const struct exchange *exchange = &requests->exchanges.item[at];
	const struct who server = server_of(requests, at);

	return (scope_has_node(&question->scope, exchange->client) ||
		scope_has_node(&question->scope, exchange->server)) &&
	       question_has_span(question,
				 nsec_sub(exchange->end_ns, exchange->begin_ns)) &&
	       question_has_thread(question, server.node, server.tid, "", server.at_ns);
}

static void take_all(struct requests *requests)
{
	for (size_t i = 0; i < requests->exchanges.count; i++) {
		if (!is_asked_for(requests, i))
			continue;
		requests->count++;
		count_exchange(requests, i);
		if (requests->lists.top)
			add_row(requests, requests->lists.top, i);
		if (requests->lists.log)
			add_row(requests, requests->lists.log, i);
	}
}

/* The group's columns and then these, which end with a key of NULL. */
static struct result_table *group_table(const struct requests *requests, const char *key,
					const char *title,
					const struct result_column *more)
{
	struct result_column columns[HEADS_MOST + 16] = {{NULL, NULL, 0}};
	struct result_table *table;
	size_t count = 0;

	for (; requests->grouping->column[count].key; count++)
		columns[count] = requests->grouping->column[count];
	for (; more->key; more++)
		columns[count++] = *more;
	columns[count] = (struct result_column){NULL, NULL, 0};
	table = result_table_new(requests->result, key, title, columns);
	result_table_sort(table, "-count");
	result_table_limit(table, 20);
	return table;
}

static void print_means(struct requests *requests)
{
	struct result_table *table = group_table(
	    requests, "parts", "What their time went into, on average", mean_columns);
	size_t heads = requests->tally.heads;

	for (size_t i = 0; i < requests->tally.count; i++) {
		struct tally_group *group = &requests->tally.group[i];
		const struct group_sums *sums = &requests->sums[i];
		int64_t count = (int64_t)group->spans.count;
		struct cell cell[HEADS_MOST + 2 + PARTS + 1];

		memcpy(cell, group->head, heads * sizeof(*cell));
		cell[heads] = cell_of_integer(count);
		cell[heads + 1] = cell_of_integer(nsec_round(group->spans.mean));
		for (size_t k = 0; k < PARTS; k++)
			cell[heads + 2 + k] = cell_of_integer(
			    nsec_round((double)sums->part[k] / (double)count));
		cell[heads + 2 + PARTS] = cell_of_known(sums->bound_ns, NSEC_MAX);
		result_add(table, cell);
	}
}

static struct result_table *make_list(struct requests *requests, const char *key,
				      const char *title, const char *order, size_t limit)
{
	struct result_table *table =
	    result_table_new(requests->result, key, title, request_columns);

	result_table_sort(table, order);
	result_table_limit(table, limit);
	return table;
}

static void make_lists(struct requests *requests)
{
	if (requests->question->forms & FORM_TOP)
		requests->lists.top = make_list(requests, "slowest", "Slowest requests",
						"-total_ns,request", 10);
	if (requests->question->forms & FORM_LOG)
		requests->lists.log =
		    make_list(requests, "log", "Requests, by their begin",
			      "begin_ns,request", 1000);
}

static void print(struct requests *requests)
{
	struct result *result = requests->result;

	if (requests->question->forms & FORM_STATS) {
		tally_print(&requests->tally,
			    group_table(requests, "totals", "From request to response",
					total_columns));
		print_means(requests);
	}
	if (requests->question->forms & FORM_FREQ)
		tally_print_bins(&requests->tally, result, "from request to response");
	tally_lists_last(&requests->lists, result);
}

static void add_notes(const struct requests *requests)
{
	struct result *result = requests->result;

	if (!requests->exchanges.messages) {
		result_missing(result, "messages between nodes",
			       "net_dev_queue, net_if_receive_skb on both nodes");
		return;
	}
	if (!requests->count)
		result_note(result, "no request of those asked for had a response");
	if (requests->exchanges.unanswered)
		result_note(result, "%" PRIu64 " requests of all had no response",
			    requests->exchanges.unanswered);
	if (requests->exchanges.carriers)
		result_note(result,
			    "%" PRIu64
			    " messages are of tunnels and carry others: no requests",
			    requests->exchanges.carriers);
	if (requests->count && !requests->any_switch)
		result_missing(result, "what servers did",
			       "sched_switch, sched_waking or sched_wakeup");
	else if (requests->count && !requests->any_interrupt)
		result_note(result, "%s", assumed_note);
}

static int read_all(struct requests *requests, struct error *error)
{
	struct question *question = requests->question;
	struct activity_recorded recorded;

	if (scope_of_all_nodes(&requests->scope, question, error) ||
	    activity_recorded(&recorded, question->reader, error))
		return -1;
	requests->any_switch = recorded.switches;
	requests->any_interrupt = recorded.interrupts && recorded.softirqs;
	requests->bounds = bounds_new(question->reader, error);
	if (!requests->bounds ||
	    exchanges_read(&requests->exchanges, question, &requests->scope,
			   requests->bounds, error))
		return -1;
	requests->work =
	    mem_zalloc((requests->exchanges.count + 1) * sizeof(*requests->work));
	return exchange_work_read(requests->work, &requests->exchanges, question,
				  &requests->scope, error);
}

static int run_requests(struct question *question, struct result *result,
			struct error *error)
{
	struct requests requests = {
	    .question = question, .result = result, .grouping = groupings};
	int status;

	for (size_t i = 0; i < sizeof(groupings) / sizeof(*groupings); i++)
		if (who_is(question, groupings[i].word))
			requests.grouping = &groupings[i];
	while (requests.grouping->column[requests.tally.heads].key)
		requests.tally.heads++;
	make_lists(&requests);
	status = read_all(&requests, error);
	if (!status) {
		take_all(&requests);
		print(&requests);
		add_notes(&requests);
	}
	tally_clear(&requests.tally);
	free(requests.sums);
	free(requests.work);
	exchanges_clear(&requests.exchanges);
	scope_clear(&requests.scope);
	bounds_free(requests.bounds);
	return status;
}

const struct analysis analysis_requests = {
    .name = "requests",
    .summary = "requests between nodes, and what their time went into",
    .description =
	"totals, parts: in each flow the data one way up to the first answer is a\n"
	"request, and the data the other way up to the next request its response. TOTAL\n"
	"is from the request's first message sent to the response's last one received,\n"
	"and the sum of: THERE, until all of the request had come; QUEUE, until the\n"
	"serving thread took it; then, up to the response's first message, RUNNING,\n"
	"RUNNABLE (waiting for a processor), blocked until a DISK, another NODE or an\n"
	"OTHER event ended that, UNKNOWN (not recorded); BACK, until all of the\n"
	"response had come. THERE and BACK are within BOUND, which both clocks give.\n"
	"slowest, log: each request with its number, for critical-path --request.\n"
	"freq: how many took how long. --min, --max: of the total; --tid, --pid,\n"
	"--procname: of the serving thread; --node: client or server. Needs\n"
	"net_dev_queue and net_if_receive_skb of both nodes; for what servers did also\n"
	"sched_switch, sched_waking or sched_wakeup, irq_handler_entry and _exit,\n"
	"irq_softirq_entry and _exit, block_rq_complete, and for the queue the\n"
	"system calls.",
    .heeds = HEEDS_THREAD | HEEDS_SPAN | HEEDS_GROUP,
    .forms = FORM_STATS | FORM_TOP | FORM_FREQ | FORM_LOG,
    .default_forms = FORM_STATS | FORM_TOP,
    .groups = "pair process thread container flow",
    .run = run_requests,
};
