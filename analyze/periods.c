/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time from one event to another, both named by the user. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/bounds.h"
#include "analyze/condition.h"
#include "analyze/distribution.h"
#include "analyze/keys.h"
#include "analyze/message_groups.h"
#include "base/mem.h"

/* More open or known groups than this are a mistake in --group. */
enum { MOST_KEYS = 1000000, MOST_FIELDS = 8 };

static const struct result_column stats_columns[] = {
    {"group", "GROUP", UNIT_TEXT},  {"count", "COUNT", UNIT_COUNT},
    {"sum_ns", "SUM", UNIT_SPAN},   {"min_ns", "MIN", UNIT_SPAN},
    {"mean_ns", "MEAN", UNIT_SPAN}, {"p50_ns", "MEDIAN", UNIT_SPAN},
    {"p95_ns", "95 %", UNIT_SPAN},  {"p99_ns", "99 %", UNIT_SPAN},
    {"max_ns", "MAX", UNIT_SPAN},   {NULL, NULL, 0},
};

static const struct result_column log_columns[] = {
    {"group", "GROUP", UNIT_TEXT},     {"begin_ns", "BEGIN", UNIT_INSTANT},
    {"end_ns", "END", UNIT_INSTANT},   {"duration_ns", "DURATION", UNIT_SPAN},
    {"bound_ns", "BOUND", UNIT_BOUND}, {"from_node", "FROM", UNIT_TEXT},
    {"to_node", "TO", UNIT_TEXT},      {"begin_event", "EVENT", UNIT_ID},
    {"end_event", "EVENT", UNIT_ID},   {NULL, NULL, 0},
};

static const struct result_column bin_columns[] = {
    {"least_ns", "FROM", UNIT_SPAN},
    {"below_ns", "BELOW", UNIT_SPAN},
    {"count", "COUNT", UNIT_COUNT},
    {"share_percent", "SHARE", UNIT_PERCENT},
    {NULL, NULL, 0},
};

struct group_of_periods {
	char *name;
	bool open;
	nsec_t begin_ns;
	int64_t node, event;
	struct distribution duration;
};

struct periods {
	struct question *question;
	struct field_list fields;
	struct condition from, to;
	size_t key[2][MOST_FIELDS]; /* places in the fields: of begins, of ends */
	size_t key_fields;
	struct keys keys;
	struct group_of_periods *group;
	size_t room;
	struct distribution all;
	struct bounds *bounds;
	struct result_table *top, *log;
	uint64_t restarted, unbegun, begins, refused;
};

/* "FIELD" or "BEGIN_FIELD=END_FIELD" */
static int add_key(struct periods *periods, const char *word, struct error *error)
{
	const char *equals = strchr(word, '=');
	char *first = mem_strndup(word, equals ? (size_t)(equals - word) : strlen(word));
	int begin = field_list_add(&periods->fields, first, error), end = begin;

	free(first);
	if (begin >= 0 && equals)
		end = field_list_add(&periods->fields, equals + 1, error);
	if (begin < 0 || end < 0)
		return error_prefix(error, "--group");
	if (periods->key_fields == MOST_FIELDS)
		return error_set(error, "--group: more than %d fields", MOST_FIELDS);
	periods->key[0][periods->key_fields] = (size_t)begin;
	periods->key[1][periods->key_fields++] = (size_t)end;
	return 0;
}

static int parse_group(struct periods *periods, const char *group, struct error *error)
{
	char *all = mem_strdup(group ? group : ""), *word, *rest;
	int status = 0;

	for (word = strtok_r(all, ",", &rest); word && !status;
	     word = strtok_r(NULL, ",", &rest))
		status = add_key(periods, word, error);
	free(all);
	return status;
}

static int parse(struct periods *periods, struct error *error)
{
	const struct request *request = periods->question->request;

	if (!request->from || !request->to)
		return error_set(
		    error, "--%s is missing, want the event that %s a period",
		    request->from ? "to" : "from", request->from ? "ends" : "begins");
	if (condition_parse(&periods->from, request->from, &periods->fields, error))
		return error_prefix(error, "--from");
	if (condition_parse(&periods->to, request->to, &periods->fields, error))
		return error_prefix(error, "--to");
	return parse_group(periods, request->group, error);
}

static void put_cell(FILE *file, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_NULL:
		fputs("-", file);
		break;
	case CELL_INTEGER:
		fprintf(file, "%lld", (long long)cell->integer);
		break;
	case CELL_REAL:
		fprintf(file, "%.15g", cell->real);
		break;
	case CELL_TEXT:
	case CELL_BLOB:
		fwrite(cell->bytes, 1, cell->size, file);
		break;
	}
}

/* "cpu=1 tid=42"; for free(). */
static char *name_group(struct periods *periods, const struct event_row *row, int side)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (size_t i = 0; i < periods->key_fields; i++) {
		struct cell cell =
		    field_of(periods->question, row, periods->key[side][i]);

		fprintf(file, "%s%s=", i ? " " : "",
			periods->fields.name[periods->key[0][i]]);
		put_cell(file, &cell);
	}
	fclose(file);
	return text;
}

/* The group of an event as a begin (side 0) or an end (1); NULL: too many of them. */
static struct group_of_periods *find_group(struct periods *periods,
					   const struct event_row *row, int side)
{
	size_t before = periods->keys.count, at;

	keys_begin(&periods->keys);
	for (size_t i = 0; i < periods->key_fields; i++) {
		struct cell cell =
		    field_of(periods->question, row, periods->key[side][i]);

		if (cell.type == CELL_TEXT || cell.type == CELL_BLOB)
			keys_text(&periods->keys, cell.bytes, cell.size);
		else
			keys_integer(&periods->keys,
				     cell.type == CELL_INTEGER ? cell.integer : -1);
	}
	at = keys_lookup(&periods->keys);
	if (at != SIZE_MAX)
		return &periods->group[at];
	if (before >= MOST_KEYS || side == 1)
		return NULL;
	at = keys_find(&periods->keys);
	periods->group =
	    mem_grow(periods->group, at, &periods->room, sizeof(*periods->group));
	periods->group[at] =
	    (struct group_of_periods){.name = name_group(periods, row, side)};
	return &periods->group[at];
}

static void add_log(struct periods *periods, struct result_table *table,
		    const struct group_of_periods *group, const struct event_row *row)
{
	struct bound bound = bounds_between(
	    periods->bounds, bounds_source(periods->bounds, group->node), group->begin_ns,
	    bounds_source(periods->bounds, row->node), row->ts_ns);

	result_add(table, (struct cell[]){
			      cell_of_text(group->name), cell_of_integer(group->begin_ns),
			      cell_of_integer(row->ts_ns),
			      cell_of_integer(nsec_sub(row->ts_ns, group->begin_ns)),
			      cell_of_side(bound_width(bound)),
			      cell_of_text(question_node(periods->question, group->node)),
			      cell_of_text(question_node(periods->question, row->node)),
			      cell_of_integer(group->event), cell_of_integer(row->id)});
}

static void end_period(struct periods *periods, const struct event_row *row)
{
	struct group_of_periods *group = find_group(periods, row, 1);
	nsec_t duration;

	if (!group || !group->open) {
		periods->unbegun++;
		return;
	}
	group->open = false;
	duration = nsec_sub(row->ts_ns, group->begin_ns);
	if (!question_has_span(periods->question, duration))
		return;
	distribution_add(&group->duration, duration);
	distribution_add(&periods->all, duration);
	if (periods->top)
		add_log(periods, periods->top, group, row);
	if (periods->log)
		add_log(periods, periods->log, group, row);
}

static void begin_period(struct periods *periods, const struct event_row *row)
{
	struct group_of_periods *group = find_group(periods, row, 0);

	if (!group) {
		periods->refused++;
		return;
	}
	periods->begins++;
	periods->restarted += group->open;
	group->open = true;
	group->begin_ns = row->ts_ns;
	group->node = row->node;
	group->event = row->id;
}

/* One event may end a period and begin the next. */
static void take(struct periods *periods, const struct event_row *row)
{
	struct question *question = periods->question;

	if (!question_has_cpu(question, row->cpu) ||
	    !question_has_thread(question, row->node, row->tid, NULL, row->ts_ns))
		return;
	if (condition_holds(&periods->to, question, row))
		end_period(periods, row);
	if (condition_holds(&periods->from, question, row))
		begin_period(periods, row);
}

/* A field that no class has is a mistake of the user's. */
static int check_fields(const struct periods *periods, const struct events *events,
			struct error *error)
{
	for (size_t i = FIELD_OWN; i < periods->fields.count; i++)
		if (!events_has_field(events, 0, i - FIELD_OWN) &&
		    !events_has_field(events, 1, i - FIELD_OWN))
			return error_set(error, "no field '%s' in %s or %s",
					 periods->fields.name[i], periods->from.class,
					 periods->to.class);
	return 0;
}

static int read_events(struct periods *periods, struct result *result,
		       struct error *error)
{
	struct events_wish wish[2] = {{.class = periods->from.class},
				      {.class = periods->to.class}};
	/* One class gets one wish. */
	size_t wishes = strcmp(wish[0].class, wish[1].class) ? 2 : 1;
	struct events *events;
	struct event_row row;
	uint64_t count = 0;
	int more = 0;

	for (size_t i = FIELD_OWN; i < periods->fields.count; i++)
		wish[0].field[i - FIELD_OWN] = wish[1].field[i - FIELD_OWN] =
		    periods->fields.name[i];
	events = events_new(periods->question->reader, &periods->question->scope, wish,
			    wishes, error);
	if (!events)
		return -1;
	for (size_t i = 0; i < wishes; i++)
		if (!events_recorded(events, i))
			result_missing(result, i ? "ends" : "begins", wish[i].class);
	if (events_recorded(events, 0) && (wishes == 1 || events_recorded(events, 1)))
		more = check_fields(periods, events, error);
	while (!more && (more = events_next(events, &row, error)) > 0) {
		take(periods, &row);
		more = 0;
		if (++count % 4096 == 0)
			question_share(periods->question, events_share(events));
	}
	events_free(events);
	return more;
}

static void add_stats(struct result_table *table, const char *name,
		      struct distribution *duration)
{
	if (!duration->count)
		return;
	result_add(table,
		   (struct cell[]){
		       cell_of_text(name), cell_of_integer((int64_t)duration->count),
		       cell_of_integer((int64_t)duration->sum),
		       cell_of_integer(duration->least), cell_of_real(duration->mean),
		       cell_of_integer(distribution_percentile(duration, 0.5)),
		       cell_of_integer(distribution_percentile(duration, 0.95)),
		       cell_of_integer(distribution_percentile(duration, 0.99)),
		       cell_of_integer(duration->most)});
}

static void add_bins(struct result_table *table, const struct distribution *all)
{
	int64_t from, to;
	uint64_t count;

	for (size_t i = 0; distribution_bin(all, i, &from, &to, &count); i++)
		if (count)
			result_add(
			    table,
			    (struct cell[]){
				cell_of_known(from, INT64_MIN), cell_of_integer(to),
				cell_of_integer((int64_t)count),
				cell_of_real(100 * (double)count / (double)all->count)});
}

static struct result_table *make_log(struct result *result, const char *key,
				     const char *title, const char *order, size_t limit)
{
	struct result_table *table = result_table_new(result, key, title, log_columns);

	result_table_sort(table, order);
	result_table_limit(table, limit);
	return table;
}

static void add_notes(const struct periods *periods, struct result *result)
{
	uint64_t open = periods->restarted;

	for (size_t i = 0; i < periods->keys.count; i++)
		open += periods->group[i].open;
	if (open)
		result_note(
		    result, "%llu begins without an end%s", (unsigned long long)open,
		    periods->restarted ? "; where one came after another, the later "
					 "one counts"
				       : "");
	if (periods->unbegun)
		result_note(result, "%llu ends without a begin",
			    (unsigned long long)periods->unbegun);
	if (periods->refused)
		result_note(result, "%llu begins of groups beyond the first %d left out",
			    (unsigned long long)periods->refused, MOST_KEYS);
	if (!distribution_is_exact(&periods->all))
		result_note(result,
			    "percentiles of more than %d periods are within 0.4 %%",
			    DISTRIBUTION_EXACT);
}

static int fill(struct periods *periods, struct result *result, struct error *error)
{
	unsigned forms = periods->question->forms;
	struct result_table *stats = NULL, *bins = NULL;

	if (forms & FORM_STATS) {
		stats = result_table_new(result, "periods", "Periods", stats_columns);
		result_table_sort(stats, "-sum_ns,group");
		result_table_limit(stats, 20);
	}
	if (forms & FORM_FREQ)
		bins = result_table_new(result, "freq", "How many took how long",
					bin_columns);
	if (forms & FORM_TOP)
		periods->top = make_log(result, "longest", "Longest periods",
					"-duration_ns,begin_event", 10);
	if (forms & FORM_LOG)
		periods->log =
		    make_log(result, "log", "All periods", "begin_ns,begin_event", 1000);
	if (read_events(periods, result, error))
		return -1;
	for (size_t i = 0; stats && periods->key_fields && i < periods->keys.count; i++)
		add_stats(stats, periods->group[i].name, &periods->group[i].duration);
	if (stats)
		add_stats(stats, periods->key_fields ? "all" : "", &periods->all);
	if (bins)
		add_bins(bins, &periods->all);
	add_notes(periods, result);
	return 0;
}

static int run_periods(struct question *question, struct result *result,
		       struct error *error)
{
	struct periods periods = {.question = question};
	int status = -1;

	field_list_init(&periods.fields);
	periods.bounds = bounds_new(question->reader, error);
	if (periods.bounds && !parse(&periods, error))
		status = fill(&periods, result, error);
	for (size_t i = 0; i < periods.keys.count; i++) {
		free(periods.group[i].name);
		distribution_clear(&periods.group[i].duration);
	}
	free(periods.group);
	keys_clear(&periods.keys);
	distribution_clear(&periods.all);
	bounds_free(periods.bounds);
	condition_clear(&periods.from);
	condition_clear(&periods.to);
	field_list_clear(&periods.fields);
	return status;
}

const struct analysis analysis_periods = {
    .name = "periods",
    .summary = "the time from one event to another, both named by you",
    .usage = "[OPTION...] --from EVENT --to EVENT TIMELINE",
    .description =
	"EVENT is a class, or CLASS[CONDITION]: 'sched_switch[next_comm ~ \"kwork*\"]',\n"
	"'block_rq_issue[dev = 8388608 && nr_sector > 8]'. Classes and values behind ~\n"
	"may have * and ?. Besides the event's fields there are node, cpu, tid and\n"
	"procname; .tid is a field of the event's own. --group FIELD,... keeps periods\n"
	"apart by fields that begin and end have: cpu,tid; or by a pair of fields:\n"
	"next_tid=prev_tid. Of two begins in a row the later one counts. BOUND is how\n"
	"sure a period is that ends on another node. --min, --max: of the period.",
    .heeds = HEEDS_PERIOD | HEEDS_SPAN | HEEDS_GROUP | HEEDS_CPU | HEEDS_THREAD,
    .forms = FORM_STATS | FORM_TOP | FORM_FREQ | FORM_LOG,
    .default_forms = FORM_STATS | FORM_TOP,
    .run = run_periods,
};
