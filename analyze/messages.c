/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One-way latencies between nodes, with how sure they are. */
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/message_groups.h"
#include "base/natural.h"

#define PAIR_COLUMNS                                                                     \
	{"from", "FROM", UNIT_TEXT},                                                     \
	{                                                                                \
		"to", "TO", UNIT_TEXT                                                    \
	}
#define FLOW_COLUMNS                                                                     \
	{"protocol", "PROTOCOL", UNIT_TEXT}, {"src", "SRC", UNIT_TEXT},                  \
	    {"sport", "PORT", UNIT_ID}, {"dst", "DST", UNIT_TEXT},                       \
	{                                                                                \
		"dport", "PORT", UNIT_ID                                                 \
	}

static const struct result_column pair_columns[] = {PAIR_COLUMNS, GROUP_COLUMNS};
static const struct result_column node_columns[] = {{"node", "NODE", UNIT_TEXT},
						    GROUP_COLUMNS};
static const struct result_column protocol_columns[] = {
    {"protocol", "PROTOCOL", UNIT_TEXT}, GROUP_COLUMNS};
static const struct result_column flow_columns[] = {PAIR_COLUMNS, FLOW_COLUMNS,
						    GROUP_COLUMNS};
static const struct result_column interval_columns[] = {
    {"begin_ns", "BEGIN", UNIT_INSTANT}, PAIR_COLUMNS, GROUP_COLUMNS};

static const struct result_column path_columns[] = {
    {"a", "A", UNIT_TEXT},
    {"b", "B", UNIT_TEXT},
    {"p50_ab_ns", "MEDIAN A>B", UNIT_SPAN},
    {"p50_ba_ns", "MEDIAN B>A", UNIT_SPAN},
    {"difference_ns", "DIFFERENCE", UNIT_SPAN},
    {"bound_ns", "BOUND", UNIT_BOUND},
    {"asymmetric", "ASYMMETRIC", UNIT_TEXT},
    {"p99_ab_ns", "99 % A>B", UNIT_SPAN},
    {"p99_ba_ns", "99 % B>A", UNIT_SPAN},
    {NULL, NULL, 0},
};

static const struct result_column message_columns[] = {
    {"send_ns", "SENT", UNIT_INSTANT},
    PAIR_COLUMNS,
    FLOW_COLUMNS,
    {"bytes", "BYTES", UNIT_BYTES},
    {"latency_ns", "LATENCY", UNIT_SPAN},
    {"least_ns", "AT LEAST", UNIT_SPAN},
    {"most_ns", "AT MOST", UNIT_SPAN},
    {"message", "MESSAGE", UNIT_ID},
    {NULL, NULL, 0},
};

static const struct result_column bin_columns[] = {
    PAIR_COLUMNS,
    {"least_ns", "FROM", UNIT_SPAN},
    {"below_ns", "BELOW", UNIT_SPAN},
    {"messages", "MESSAGES", UNIT_COUNT},
    {"share_percent", "SHARE", UNIT_PERCENT},
    {NULL, NULL, 0},
};

enum { BY_PAIR, BY_FLOW, BY_NODE, BY_PROTOCOL, BY_INTERVAL, GROUPINGS };

struct messages {
	struct question *question;
	struct result *result;
	struct grouping by[GROUPINGS];
	nsec_t interval_end;
	uint64_t negative, count;
	struct result_table *paths, *bins, *slowest, *violations, *log;
};

static struct cell name_of(const struct messages *messages, int64_t node)
{
	return cell_of_text(question_node(messages->question, node));
}

static void end_interval(struct messages *messages)
{
	struct grouping *interval = &messages->by[BY_INTERVAL];
	struct cell begin = cell_of_integer(messages->interval_end -
					    messages->question->request->interval_ns);

	grouping_print(interval, &begin);
	grouping_clear(interval);
}

static void move_interval(struct messages *messages, nsec_t at_ns)
{
	nsec_t length = messages->question->request->interval_ns;
	nsec_t origin = messages->question->scope.begin_ns;

	end_interval(messages);
	messages->interval_end = origin + ((at_ns - origin) / length + 1) * length;
}

static void add_message(struct messages *messages, struct result_table *table,
			const struct message_row *row)
{
	nsec_t least = nsec_add(row->latency_ns, row->bound.low_ns);
	bool is_open = row->bound.low_ns == NSEC_MIN;

	/* A message is received after it was sent, whatever the clocks allow. */
	result_add(
	    table,
	    (struct cell[]){
		cell_of_integer(row->send_ns), name_of(messages, row->from),
		name_of(messages, row->to), *row->protocol, *row->src, *row->sport,
		*row->dst, *row->dport, *row->bytes, cell_of_integer(row->latency_ns),
		cell_of_integer(is_open || least < 0 ? 0 : least),
		row->bound.high_ns == NSEC_MAX
		    ? cell_of_null()
		    : cell_of_integer(nsec_add(row->latency_ns, row->bound.high_ns)),
		cell_of_integer(row->id)});
}

/* Both ends' cells follow each other in `head`: from, to, flow. */
static void add_to_groups(struct messages *messages, const struct message_row *row)
{
	struct cell head[GROUP_HEAD] = {name_of(messages, row->from),
					name_of(messages, row->to),
					*row->protocol,
					*row->src,
					*row->sport,
					*row->dst,
					*row->dport};
	static const size_t first[GROUPINGS] = {[BY_PROTOCOL] = 2};

	if (messages->by[BY_INTERVAL].table && row->send_ns >= messages->interval_end)
		move_interval(messages, row->send_ns);
	for (size_t i = 0; i < GROUPINGS; i++)
		if (messages->by[i].heads)
			grouping_add(&messages->by[i], &head[first[i]], row);
	if (messages->by[BY_NODE].heads)
		grouping_add(&messages->by[BY_NODE], &head[1], row);
}

static int take(void *context, const struct message_row *row)
{
	struct messages *messages = context;

	if (!question_has_span(messages->question, row->latency_ns))
		return 0;
	messages->count++;
	messages->negative += row->latency_ns < 0;
	add_to_groups(messages, row);
	if (messages->slowest)
		add_message(messages, messages->slowest, row);
	if (messages->violations && row->latency_ns < 0)
		add_message(messages, messages->violations, row);
	if (messages->log)
		add_message(messages, messages->log, row);
	return 0;
}

/* What one way takes longer than the other. The clocks' error is in both, with the sign
 * turned, so it counts twice. */
static void add_path(struct messages *messages, size_t ab, size_t ba)
{
	struct grouping *pairs = &messages->by[BY_PAIR];
	struct group *there = &pairs->group[ab], *back = &pairs->group[ba];
	nsec_t median_ab = distribution_percentile(&there->latency, 0.5);
	nsec_t median_ba = distribution_percentile(&back->latency, 0.5);
	nsec_t difference = median_ab - median_ba;
	struct bound bound = {NSEC_MIN, NSEC_MAX};

	if (bound_width(there->bound) < NSEC_MAX && bound_width(back->bound) < NSEC_MAX)
		bound =
		    (struct bound){nsec_sub(there->bound.low_ns, back->bound.high_ns),
				   nsec_sub(there->bound.high_ns, back->bound.low_ns)};
	result_add(messages->paths,
		   (struct cell[]){
		       pairs->head[ab * GROUP_HEAD], pairs->head[ab * GROUP_HEAD + 1],
		       cell_of_integer(median_ab), cell_of_integer(median_ba),
		       cell_of_integer(difference), cell_of_side(bound_width(bound)),
		       cell_of_text(nsec_add(difference, bound.low_ns) > 0 ||
					    nsec_add(difference, bound.high_ns) < 0
					? "yes"
					: "not known"),
		       cell_of_integer(distribution_percentile(&there->latency, 0.99)),
		       cell_of_integer(distribution_percentile(&back->latency, 0.99))});
}

static void add_paths(struct messages *messages)
{
	struct grouping *pairs = &messages->by[BY_PAIR];

	for (size_t i = 0; i < pairs->keys.count; i++) {
		const struct cell back[] = {pairs->head[i * GROUP_HEAD + 1],
					    pairs->head[i * GROUP_HEAD]};
		size_t other = grouping_find(pairs, back);

		if (other != SIZE_MAX &&
		    natural_compare(back[1].bytes, back[0].bytes) < 0)
			add_path(messages, i, other);
	}
}

static void add_bins(struct messages *messages, size_t pair)
{
	const struct grouping *pairs = &messages->by[BY_PAIR];
	const struct distribution *latency = &pairs->group[pair].latency;
	const struct cell *head = &pairs->head[pair * GROUP_HEAD];
	int64_t from, to;
	uint64_t count;

	for (size_t k = 0; distribution_bin(latency, k, &from, &to, &count); k++)
		if (count)
			result_add(messages->bins,
				   (struct cell[]){head[0], head[1],
						   cell_of_known(from, INT64_MIN),
						   cell_of_integer(to),
						   cell_of_integer((int64_t)count),
						   cell_of_real(100 * (double)count /
								(double)latency->count)});
}

/* A table that is filled by groups, where it is asked for. */
static void make_grouping(struct messages *messages, int by, const char *key,
			  const char *title, const struct result_column *columns)
{
	static const size_t heads[GROUPINGS] = {2, GROUP_HEAD, 1, 1, 2};
	struct grouping *grouping = &messages->by[by];

	grouping->table = result_table_new(messages->result, key, title, columns);
	grouping->heads = heads[by];
}

static bool groups_by(const struct messages *messages, const char *what)
{
	const char *group = messages->question->group;

	return group && !strcmp(group, what);
}

static void make_stats(struct messages *messages)
{
	bool any = !messages->question->group;

	if (any || groups_by(messages, "pair")) {
		make_grouping(messages, BY_PAIR, "pairs", "Latency by pair of nodes",
			      pair_columns);
		result_table_sort(messages->by[BY_PAIR].table, "from,to");
		messages->paths = result_table_new(messages->result, "paths",
						   "Both ways of a pair", path_columns);
		result_table_sort(messages->paths, "a,b");
	}
	if (any || groups_by(messages, "flow")) {
		make_grouping(messages, BY_FLOW, "flows", "Latency by flow",
			      flow_columns);
		result_table_sort(messages->by[BY_FLOW].table,
				  "-messages,from,to,src,sport,dst,dport");
		result_table_limit(messages->by[BY_FLOW].table, 10);
	}
	if (groups_by(messages, "node")) {
		make_grouping(messages, BY_NODE, "nodes",
			      "Latency by node, sent and received", node_columns);
		result_table_sort(messages->by[BY_NODE].table, "node");
	}
	if (groups_by(messages, "protocol")) {
		make_grouping(messages, BY_PROTOCOL, "protocols", "Latency by protocol",
			      protocol_columns);
		result_table_sort(messages->by[BY_PROTOCOL].table, "protocol");
	}
}

static struct result_table *make_log(struct messages *messages, const char *key,
				     const char *title, const char *order, size_t limit)
{
	struct result_table *table =
	    result_table_new(messages->result, key, title, message_columns);

	result_table_sort(table, order);
	result_table_limit(table, limit);
	return table;
}

static void make_tables(struct messages *messages)
{
	unsigned forms = messages->question->forms;

	if (forms & FORM_STATS)
		make_stats(messages);
	if (messages->question->request->interval_ns) {
		make_grouping(messages, BY_INTERVAL, "over_time", "Latency over time",
			      interval_columns);
		result_table_sort(messages->by[BY_INTERVAL].table, "begin_ns,from,to");
		messages->interval_end = messages->question->scope.begin_ns +
					 messages->question->request->interval_ns;
	}
	if (forms & FORM_FREQ) {
		messages->by[BY_PAIR].heads = 2;
		messages->bins = result_table_new(messages->result, "freq",
						  "How many took how long", bin_columns);
		result_table_sort(messages->bins, "from,to,below_ns");
	}
	if (forms & FORM_TOP) {
		messages->slowest = make_log(messages, "slowest", "Slowest messages",
					     "-latency_ns,message", 10);
		messages->violations =
		    make_log(messages, "violations", "Received before they were sent",
			     "latency_ns,message", 10);
	}
	if (forms & FORM_LOG)
		messages->log =
		    make_log(messages, "log", "Messages", "send_ns,message", 1000);
}

static void fill_tables(struct messages *messages)
{
	struct grouping *pairs = &messages->by[BY_PAIR];

	for (size_t i = 0; i < BY_INTERVAL; i++) {
		if (messages->by[i].table)
			grouping_print(&messages->by[i], NULL);
		if (messages->by[i].merged)
			result_note(messages->result,
				    "%llu messages of flows beyond the first %d are "
				    "counted with the last of these",
				    (unsigned long long)messages->by[i].merged,
				    MOST_GROUPS);
	}
	if (messages->by[BY_INTERVAL].table)
		end_interval(messages);
	if (messages->paths)
		add_paths(messages);
	for (size_t i = 0; messages->bins && i < pairs->keys.count; i++)
		add_bins(messages, i);
}

static void add_notes(const struct messages *messages)
{
	struct result *result = messages->result;

	if (!messages->count)
		result_missing(result, "messages between nodes",
			       "net_dev_queue, net_if_receive_skb on both nodes");
	else if (messages->violations && !messages->negative)
		result_note(result, "no message was received before it was sent");
	else if (messages->negative)
		result_note(result, "%llu messages were received before they were sent",
			    (unsigned long long)messages->negative);
	for (size_t i = 0; i < GROUPINGS; i++)
		for (size_t k = 0; k < messages->by[i].keys.count; k++)
			if (!distribution_is_exact(&messages->by[i].group[k].latency)) {
				result_note(result,
					    "percentiles of more than %d messages are "
					    "within 0.4 %%",
					    DISTRIBUTION_EXACT);
				return;
			}
}

static int run_messages(struct question *question, struct result *result,
			struct error *error)
{
	struct messages messages = {.question = question, .result = result};
	struct bounds *bounds = bounds_new(question->reader, error);
	int status;

	if (!bounds)
		return -1;
	make_tables(&messages);
	status = message_stream(question, bounds, take, &messages, error);
	if (!status) {
		fill_tables(&messages);
		add_notes(&messages);
	}
	for (size_t i = 0; i < GROUPINGS; i++)
		grouping_clear(&messages.by[i]);
	bounds_free(bounds);
	return status;
}

const struct analysis analysis_messages = {
    .name = "messages",
    .summary = "how long messages take between nodes, and how sure that is",
    .description =
	"pairs, flows: one-way latency of messages; the true one of each is within\n"
	"BOUND, which both clocks give. paths: where one way takes longer than the\n"
	"other; ASYMMETRIC is yes if the clocks cannot be the cause. slowest: the\n"
	"slowest, with what each took AT LEAST and AT MOST. violations: what was\n"
	"received before it was sent, by the clocks as corrected. freq: how many took\n"
	"how long. log: every message. --interval: pairs over time.\n"
	"--group: pair, flow, node, protocol. --min, --max: of the latency.\n"
	"A message counts if it was sent in the time asked for, from or to a chosen\n"
	"node. Needs net_dev_queue and net_if_receive_skb of both nodes, or captures.",
    .heeds = HEEDS_SPAN | HEEDS_INTERVAL,
    .forms = FORM_STATS | FORM_TOP | FORM_FREQ | FORM_LOG,
    .default_forms = FORM_STATS | FORM_TOP,
    .groups = "pair flow node protocol",
    .run = run_messages,
};
