/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/query_values.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/period_events.h"
#include "analyze/query_text.h"
#include "base/mem.h"

/* limit of a number in --cpu, --irq and --softirq: each becomes a row */
enum { MOST_NUMBERS = 65536 };

/* infinity; twice this still fits */
static const nsec_t most = (nsec_t)1 << 62;

const char *query_values_add(struct query_values *values, struct cell cell,
			     const char *format, ...)
{
	struct query_value *value =
	    MEM_NEXT(values->item, values->count, values->capacity);

	if (cell.type == CELL_TEXT || cell.type == CELL_BLOB)
		cell.bytes = mem_strndup(cell.size ? cell.bytes : "", cell.size);
	*value = (struct query_value){MEM_VPRINTF(format), cell};
	return value->name;
}

void query_values_add_relation(struct query_values *values, const char *name, char *sql)
{
	query_file_add(&values->relations, QUERY_WITH, name)->sql = sql;
}

const struct cell *query_values_find(const struct query_values *values, const char *name)
{
	for (size_t i = 0; i < values->count; i++)
		if (!strcmp(values->item[i].name, name))
			return &values->item[i].cell;
	return NULL;
}

struct cell *query_values_of(const struct query_values *values,
			     const struct timeline_query *query, struct error *error)
{
	size_t count = timeline_query_parameters(query);
	struct cell *value = mem_zalloc((count + 1) * sizeof(*value));

	for (size_t i = 0; i < count; i++) {
		const char *name = timeline_query_parameter(query, i);
		const struct cell *cell = name ? query_values_find(values, name) : NULL;

		if (cell) {
			value[i] = *cell;
			continue;
		}
		error_set(
		    error,
		    "unknown parameter %s (expected :begin_ns, :end_ns, :min_ns, "
		    ":max_ns, :min_bytes, :max_bytes, :interval_ns, :group or :request)",
		    name ? name : "?");
		free(value);
		return NULL;
	}
	return value;
}

static int64_t clamp_open(int64_t value)
{
	return value < -most ? -most : value > most ? most : value;
}

/* Add SQL text under ":of_WORD". Takes ownership. */
static void add_sql(struct query_values *values, const char *word, char *sql)
{
	const struct cell text = {
	    .type = CELL_BLOB, .bytes = sql, .size = (uint32_t)strlen(sql)};

	query_values_add(values, text, ":of_%s", word);
	free(sql);
}

/* Add parameters ":WORD_1", ":WORD_2" for strings. Return the list of their names, or
 * "NULL". The caller frees it. */
static char *text_parameters(struct query_values *values, const char *word,
			     const struct text_list *texts)
{
	char *list;
	size_t size;
	FILE *file = mem_stream(&list, &size);

	for (size_t i = 0; i < texts->count; i++)
		fprintf(file, "%s%s", i ? ", " : "",
			query_values_add(values, cell_of_text(texts->item[i]), ":%s_%zu",
					 word, i + 1));
	if (!texts->count)
		fputs("NULL", file);
	fclose(file);
	return list;
}

/* Names of devices and interfaces with their aliases, and the interfaces and file systems
 * that the recipe lists. */
struct aliases {
	struct text_list names, aliases;
	struct text_list interfaces, filesystems;
};

static int add_alias(void *context, const struct cell *row, struct error *error)
{
	struct aliases *aliases = context;

	(void)error;
	if (row[1].type != CELL_TEXT)
		return 0;
	if (!strcmp(row[0].bytes, "net_interfaces"))
		text_list_add(&aliases->interfaces, row[1].bytes);
	if (!strcmp(row[0].bytes, "filesystem_names"))
		text_list_add(&aliases->filesystems, row[1].bytes);
	if (row[2].type != CELL_TEXT || !row[2].size)
		return 0;
	text_list_add(&aliases->names, row[1].bytes);
	text_list_add(&aliases->aliases, row[2].bytes);
	return 0;
}

/* The lists of the run's facts and its recipe, with a name and perhaps its alias per row:
 * {NAME: ALIAS}, or a list of NAME, {NAME: ALIAS}, {name, alias} and [name, alias]. */
static const char alias_sql[] =
    "WITH facts AS (SELECT CASE WHEN json_valid(value) THEN value ELSE '{}' END AS json"
    " FROM meta WHERE key IN ('run.json', 'recipe')),"
    " member AS (SELECT t.key AS list, e.key, e.type, e.value"
    "  FROM facts, json_tree(facts.json) AS t,"
    "  json_each(t.value) AS e WHERE t.key IN ('net_interfaces', 'interfaces',"
    "  'filesystem_names', 'filesystems', 'aliases') AND t.type IN ('array', 'object')) "
    "SELECT list, CASE WHEN type = 'object' THEN json_extract(value, '$.name')"
    " WHEN type = 'array' THEN json_extract(value, '$[0]')"
    " WHEN typeof(key) = 'integer' THEN value ELSE key END,"
    " CASE WHEN type = 'object' THEN json_extract(value, '$.alias')"
    " WHEN type = 'array' THEN json_extract(value, '$[1]')"
    " WHEN typeof(key) = 'text' THEN value END FROM member "
    "WHERE type <> 'object' OR json_extract(value, '$.name') IS NOT NULL UNION ALL "
    "SELECT list, p.key, CASE p.type WHEN 'text' THEN p.value END FROM member AS m, "
    "json_each("
    "CASE m.type WHEN 'object' THEN m.value ELSE '{}' END) AS p "
    "WHERE m.type = 'object' AND json_extract(m.value, '$.name') IS NULL";

static int read_aliases(struct aliases *aliases, struct query *query, struct error *error)
{
	const struct text_list *typed = &query->request->aliases;

	*aliases = (struct aliases){0};
	for (size_t i = 0; i < typed->count; i++) {
		const char *equals = strchr(typed->item[i], '=');
		char *name;

		if (!equals || equals == typed->item[i] || !equals[1])
			return error_misuse(
			    error, "--alias: invalid value '%s' (expected NAME=ALIAS)",
			    typed->item[i]);
		name = mem_strndup(typed->item[i], (size_t)(equals - typed->item[i]));
		text_list_add(&aliases->names, name);
		text_list_add(&aliases->aliases, equals + 1);
		free(name);
	}
	return query_rows(query->reader, alias_sql, NULL, add_alias, aliases, error);
}

static const char *alias_of(const struct aliases *aliases, const char *name)
{
	for (size_t i = 0; i < aliases->names.count; i++)
		if (!strcmp(aliases->names.item[i], name))
			return aliases->aliases.item[i];
	return name;
}

static void clear_aliases(struct aliases *aliases)
{
	text_list_clear(&aliases->names);
	text_list_clear(&aliases->aliases);
	text_list_clear(&aliases->interfaces);
	text_list_clear(&aliases->filesystems);
}

/* Add ":of_WORD": the names in a SELECT that match a glob themselves or by their alias.
 * Return 0, or -1 with error. */
static int add_matching_names(struct query_values *values, const char *word,
			      const char *sql, const struct text_list *globs,
			      const struct aliases *aliases, struct error *error)
{
	struct text_list all = {0}, names = {0};
	int status = 0;

	if (globs->count && !values->reader)
		status = error_set(error, "missing TIMELINE, which has the names");
	else if (globs->count)
		status = query_texts(values->reader, sql, NULL, &all, error);
	for (size_t i = 0; i < all.count; i++)
		if (text_list_matches(globs, all.item[i]) ||
		    (aliases && text_list_matches(globs, alias_of(aliases, all.item[i]))))
			text_list_add(&names, all.item[i]);
	add_sql(values, word, text_parameters(values, word, &names));
	text_list_clear(&names);
	text_list_clear(&all);
	return status;
}

/* "(tid = 5 OR tid BETWEEN 7 AND 9)": numbers, so they need no parameter. */
static char *range_condition(const char *column, const struct range_list *ranges)
{
	char *text;
	size_t size;
	FILE *file = mem_stream(&text, &size);

	fputs(ranges->count ? "(" : "1 = 1", file);
	for (size_t i = 0; i < ranges->count; i++)
		fprintf(file, "%s%s BETWEEN %lld AND %lld", i ? " OR " : "", column,
			(long long)ranges->item[i].least,
			(long long)ranges->item[i].most);
	fputs(ranges->count ? ")" : "", file);
	fclose(file);
	return text;
}

/* Add the numbers of ranges as rows, "(0), (1), (7)". Return 0, or -1 with error. */
static int add_numbers(struct query_values *values, const char *word,
		       const struct range_list *ranges, struct error *error)
{
	char *text;
	size_t size;
	FILE *file = mem_stream(&text, &size);
	int status = 0;

	fputs(ranges->count ? "" : "(-1)", file);
	for (size_t i = 0; i < ranges->count && !status; i++) {
		const struct range *range = &ranges->item[i];

		if (range->least < 0 || range->most >= MOST_NUMBERS)
			status =
			    error_set(error, "number out of range (expected 0 to %d)",
				      MOST_NUMBERS - 1);
		for (int64_t n = range->least; n <= range->most && !status; n++)
			fprintf(file, "%s(%lld)", i || n > range->least ? ", " : "",
				(long long)n);
	}
	fclose(file);
	add_sql(values, word, text);
	return status;
}

/* Return "CASE name WHEN :aliased_1 THEN :alias_1 ... ELSE name END". The caller frees
 * it. */
static char *alias_case(struct query_values *values, const struct aliases *aliases)
{
	char *text;
	size_t size;
	FILE *file;

	if (!aliases->names.count)
		return mem_strdup("name");
	file = mem_stream(&text, &size);
	fputs("CASE name", file);
	for (size_t i = 0; i < aliases->names.count; i++) {
		struct cell name = cell_of_text(aliases->names.item[i]);
		struct cell alias = cell_of_text(aliases->aliases.item[i]);

		fprintf(file, " WHEN %s",
			query_values_add(values, name, ":aliased_%zu", i + 1));
		fprintf(file, " THEN %s",
			query_values_add(values, alias, ":alias_%zu", i + 1));
	}
	fputs(" ELSE name END", file);
	fclose(file);
	return text;
}

static void add_recipe_names(struct query_values *values, const char *word,
			     const struct text_list *names)
{
	add_sql(values, word, text_parameters(values, word, names));
	query_values_add(values, cell_of_integer(!names->count), ":all_%s", word);
}

static int add_items(struct query_values *values, struct query *query,
		     struct error *error)
{
	struct aliases aliases = {.names = {0}};
	int status = query->reader ? read_aliases(&aliases, query, error) : 0;

	if (!status)
		status = add_matching_names(values, "items",
					    "SELECT DISTINCT name FROM metric_item",
					    &query->request->items, &aliases, error);
	add_sql(values, "aliases", alias_case(values, &aliases));
	add_recipe_names(values, "interfaces", &aliases.interfaces);
	add_recipe_names(values, "filesystems", &aliases.filesystems);
	clear_aliases(&aliases);
	return status;
}

static void add_nodes(struct query_values *values, const struct scope *scope)
{
	struct text_list names = {0};

	for (size_t i = 0; i < scope->nodes && !scope->all_nodes; i++)
		if (scope->node[i].chosen)
			text_list_add(&names, scope->node[i].name);
	add_sql(values, "nodes", text_parameters(values, "nodes", &names));
	text_list_clear(&names);
}

/* The system calls of a window. */
static const char window_syscalls[] = "(WITH RECURSIVE " SCOPE_THREADS(
    "syscall") " SELECT node, tid FROM list WHERE tid IS NOT NULL) AS l CROSS JOIN "
	       "syscall AS s ON " SCOPE_SPANS("syscall", ":begin_ns");

int query_values_init(struct query_values *values, struct query *query,
		      const struct query_file *file, struct error *error)
{
	const struct request *request = query->request;
	const struct scope *scope = &query->scope;
	int64_t event[2] = {INT64_MIN, INT64_MAX}, message[2] = {INT64_MIN, INT64_MAX};
	/* Tables that are joined of parts have ids of their own. */
	const bool is_part = query->reader && !query->parquet && !query->scope.all_time &&
			     request->print_sql <= SQL_SQLITE;

	if (is_part && (scope_event_ids(scope, query->reader, event, error) ||
			scope_message_ids(scope, query->reader, message, error)))
		return -1;
	const struct {
		const char *name;
		int64_t value;
	} integers[] = {
	    {":first_event", event[0]},
	    {":last_event", event[1]},
	    {":first_message", message[0]},
	    {":last_message", message[1]},
	    {":begin_ns", scope->begin_ns},
	    {":end_ns", scope->end_ns},
	    {":min_ns", clamp_open(request->min_ns)},
	    {":max_ns", clamp_open(request->max_ns)},
	    {":min_bytes", clamp_open(request->least_bytes)},
	    {":max_bytes", clamp_open(request->most_bytes)},
	    {":interval_ns", request->interval_ns},
	    {":request", request->request},
	    {":all_nodes", scope->all_nodes},
	    {":all_cpus", !request->cpus.count},
	    {":all_threads",
	     !request->tids.count && !request->pids.count && !request->names.count},
	    {":all_names", !request->names.count},
	    {":all_irqs", !request->irqs.count && !request->softirqs.count},
	    {":all_metrics", !request->metrics.count},
	    {":all_items", !request->items.count},
	    {":all_spans", !request->min && !request->max},
	};

	values->reader = query->reader;
	for (size_t i = 0; i < sizeof(integers) / sizeof(*integers); i++)
		query_values_add(values, cell_of_integer(integers[i].value), "%s",
				 integers[i].name);
	query_values_add(values, cell_of_text(query->group ? query->group : ""),
			 ":group");
	add_nodes(values, scope);
	add_sql(values, "syscalls",
		mem_strdup(is_part && request->print_sql < 0 && scope_is_window(scope)
			       ? window_syscalls
			       : "syscall AS s"));
	add_sql(values, "tids", range_condition("tid", &request->tids));
	add_sql(values, "pids", range_condition("pid", &request->pids));
	if (add_numbers(values, "cpus", &request->cpus, error) ||
	    add_numbers(values, "irqs", &request->irqs, error) ||
	    add_numbers(values, "softirqs", &request->softirqs, error) ||
	    add_matching_names(values, "names",
			       "SELECT comm FROM thread UNION SELECT comm FROM process",
			       &request->names, NULL, error) ||
	    add_matching_names(values, "metrics", "SELECT DISTINCT name FROM metric",
			       &request->metrics, NULL, error) ||
	    ((query_file_names(file, "chosen_item") ||
	      query_file_names(file, "analyzed_item")) &&
	     add_items(values, query, error)) ||
	    (query_file_names(file, "begin_event") &&
	     period_events(values, query, error)))
		return -1;
	return 0;
}

void query_values_clear(struct query_values *values)
{
	for (size_t i = 0; i < values->count; i++) {
		free(values->item[i].name);
		if (values->item[i].cell.type == CELL_TEXT ||
		    values->item[i].cell.type == CELL_BLOB)
			free((char *)values->item[i].cell.bytes);
	}
	free(values->item);
	query_file_clear(&values->relations);
	*values = (struct query_values){0};
}
