/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/describe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "merge/tables.h"

static void ignore_sighting(void *context, const struct sighting *sighting)
{
	(void)context;
	(void)sighting;
}

static void read_source(struct merge_run *run, size_t index)
{
	struct merge_source *source = &run->source[index];
	const struct source *entry = &run->sources.item[index];
	struct error error = ERROR_INIT;
	struct packet_source *packets =
	    entry->kind == SOURCE_TRACE
		? trace_packets_open(entry->path, entry->reader, &error)
		: capture_packets_open(entry->path, NULL, 0, &error);
	struct problem_list problems = {NULL, 0, 0};

	source->is_read = packets != NULL;
	if (packets) {
		while (packet_source_step(packets, ignore_sighting, NULL))
			;
		source->facts = packets->facts;
		problem_move(&problems, &packets->problems);
	} else {
		problem_add(&problems, "", "unreadable", 1, "%s", error_text(&error));
	}
	merge_run_tell(run, &problems);
	packet_source_free(packets);
	error_clear(&error);
}

void describe_read(struct merge_run *run)
{
	for (size_t i = 0; i < run->count; i++)
		if (!run->source[i].facts.events && !run->source[i].is_twice)
			read_source(run, i);
}

static const char *const kind_names[] = {
    [RUN_FILE_NODE] = "node",
    [RUN_FILE_CLOCK] = "clock",
    [RUN_FILE_PROC] = "proc",
    [RUN_FILE_SENSORS] = "sensors",
    [RUN_FILE_INVOCATIONS] = "invocations",
    [RUN_FILE_SADF] = "sadf",
    [RUN_FILE_SA] = "sa",
};

/* A number that is 0 where it is not known, as text or "". */
static char *format_known(int64_t value)
{
	return value ? mem_printf("%" PRId64, value) : mem_strdup("");
}

static size_t count_sources(const struct merge_run *run, size_t node)
{
	size_t count = 0;

	for (size_t i = 0; i < run->count; i++)
		count += run->source[i].node == node;
	return count;
}

static void print_nodes(const struct merge_run *run, FILE *file)
{
	static const struct table_column columns[] = {
	    {.title = "NODE"},
	    {.title = "HOST"},
	    {.title = "KERNEL"},
	    {.title = "CPUS", .right = true},
	    {.title = "MEM/MIB", .right = true},
	    {.title = "SOURCES", .right = true},
	    {.title = "FILES", .right = true},
	};
	struct table *table = table_new(columns, 7);

	for (size_t i = 0; i < run->nodes; i++) {
		const struct merge_node *node = &run->node[i];
		const struct node_facts *facts = &node->facts;
		char *cpus = format_known(facts->cpus);
		char *memory = format_known(facts->mem_kib / 1024);
		char *sources = mem_printf("%zu", count_sources(run, i));
		char *files = mem_printf("%zu", node->files ? node->files->files : 0);

		table_add(table, (const char *const[]){
				     node->name, facts->hostname ? facts->hostname : "",
				     facts->kernel ? facts->kernel : "", cpus, memory,
				     sources, files});
		free(cpus);
		free(memory);
		free(sources);
		free(files);
	}
	table_print(table, file);
	table_free(table);
}

/* How sources are told. */
struct telling {
	struct table *table;
	struct zone zone;
	bool on_terminal; /* which wants spans in nanoseconds */
};

static void format_span(char text[NSEC_TEXT], nsec_t span, bool on_terminal)
{
	if (on_terminal)
		snprintf(text, NSEC_TEXT, "%" PRId64, span);
	else
		nsec_format_span(text, (double)span);
}

static void add_source(const struct merge_run *run, size_t index,
		       const struct telling *telling)
{
	const struct merge_source *source = &run->source[index];
	const struct source *entry = &run->sources.item[index];
	const struct ctf_facts *facts = &source->facts;
	char begin[NSEC_TEXT] = "", span[NSEC_TEXT] = "";
	char *events = mem_printf("%" PRIu64, facts->events);
	char *discarded = mem_printf("%" PRIu64, tables_discarded(run, index));

	if (facts->events) {
		zone_format(begin, &telling->zone, facts->begin_ns);
		format_span(span, nsec_sub(facts->end_ns, facts->begin_ns),
			    telling->on_terminal);
	}
	table_add(telling->table,
		  (const char *const[]){entry->name, source->kind, begin, span, events,
					discarded, entry->path});
	free(events);
	free(discarded);
}

static nsec_t first_begin(const struct merge_run *run)
{
	nsec_t first = NSEC_MAX;

	for (size_t i = 0; i < run->count; i++)
		if (run->source[i].facts.events && run->source[i].facts.begin_ns < first)
			first = run->source[i].facts.begin_ns;
	return first < NSEC_MAX ? first : 0;
}

static void print_sources(const struct merge_run *run, bool is_local, FILE *file)
{
	struct telling telling = {.zone = zone_at(is_local, first_begin(run)),
				  .on_terminal = table_on_terminal(file)};
	char *begin = is_local && !telling.on_terminal
			  ? mem_printf("BEGIN/%s", telling.zone.name)
			  : mem_strdup("BEGIN");
	const struct table_column columns[] = {
	    {.title = "SOURCE"},
	    {.title = "KIND"},
	    {.title = begin, .unit = telling.zone.name},
	    {.title = "SPAN", .right = true, .units = table_spans},
	    {.title = "EVENTS", .right = true},
	    {.title = "DISCARDED", .right = true},
	    {.title = "PATH"},
	};

	telling.table = table_new(columns, 7);
	for (size_t i = 0; i < run->count; i++)
		add_source(run, i, &telling);
	table_print(telling.table, file);
	table_free(telling.table);
	free(begin);
}

/* The name of the source that a source's island refers to, "" for none. */
static const char *reference_name(const struct merge_source *source)
{
	return source->island < 0 ? "" : source->clock.reference;
}

static nsec_t middle_of(const struct ctf_facts *facts)
{
	return facts->begin_ns + nsec_sub(facts->end_ns, facts->begin_ns) / 2;
}

static void print_clocks(const struct merge_run *run, FILE *file)
{
	static const struct table_column columns[] = {
	    {.title = "CLOCK"},
	    {.title = "REFERENCE"},
	    {.title = "DRIFT/PPM", .right = true},
	    {.title = "OFFSET",
	     .right = true,
	     .units = table_spans,
	     .resolution = NSEC_PER_USEC},
	    {.title = "SEGMENTS", .right = true},
	    {.title = "QUALITY"},
	};
	struct table *table = table_new(columns, 6);
	bool on_terminal = table_on_terminal(file);

	for (size_t i = 0; i < run->count; i++) {
		const struct merge_source *source = &run->source[i];
		const struct clock *clock = &source->clock;
		nsec_t middle = middle_of(&source->facts);
		nsec_t shift = nsec_sub(clock_correct(clock, middle), middle);
		char *drift = mem_printf("%.3f", clock_mean_rate(&source->clock) * 1e6);
		char *segments = mem_printf("%zu", clock->segments);
		char offset[NSEC_TEXT];

		format_span(offset, shift, on_terminal);
		table_add(
		    table,
		    (const char *const[]){
			run->sources.item[i].name, reference_name(source), drift, offset,
			segments,
			source->island < 0 ? "own" : clock_quality_name(clock->quality)});
		free(drift);
		free(segments);
	}
	table_print(table, file);
	table_free(table);
}

static void print_files(const struct merge_run *run, FILE *file)
{
	static const struct table_column columns[] = {
	    {.title = "NODE"}, {.title = "FILE"}, {.title = "PATH"}};
	struct table *table = table_new(columns, 3);

	for (size_t i = 0; i < run->files.nodes; i++) {
		const struct run_node *node = &run->files.node[i];

		for (size_t j = 0; j < node->files; j++)
			table_add(table, (const char *const[]){
					     node->name, kind_names[node->file[j].kind],
					     node->file[j].path});
	}
	table_print(table, file);
	table_free(table);
}

static bool has_files(const struct merge_run *run)
{
	for (size_t i = 0; i < run->files.nodes; i++)
		if (run->files.node[i].files)
			return true;
	return false;
}

void describe_text(const struct merge_run *run, bool is_local, FILE *file)
{
	print_nodes(run, file);
	if (run->count) {
		putc('\n', file);
		print_sources(run, is_local, file);
		putc('\n', file);
		print_clocks(run, file);
	}
	if (has_files(run)) {
		putc('\n', file);
		print_files(run, file);
	}
}

static json_t *json_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *make_node(const struct merge_run *run, size_t index)
{
	const struct merge_node *node = &run->node[index];
	const struct node_facts *facts = &node->facts;
	json_t *files = json_array(), *object;

	for (size_t i = 0; node->files && i < node->files->files; i++)
		json_array_append_new(files,
				      json_pack("{ss ss}", "kind",
						kind_names[node->files->file[i].kind],
						"path", node->files->file[i].path));
	object = json_pack("{ss so so sI sI so}", "name", node->name, "hostname",
			   json_or_null(facts->hostname), "kernel",
			   json_or_null(facts->kernel), "cpus", (json_int_t)facts->cpus,
			   "mem_kib", (json_int_t)facts->mem_kib, "files", files);
	return object ? object : json_null();
}

static json_t *make_source(const struct merge_run *run, size_t index)
{
	const struct merge_source *source = &run->source[index];
	const struct source *entry = &run->sources.item[index];
	const struct ctf_facts *facts = &source->facts;
	const char *reference = reference_name(source);
	bool is_tied = *reference;
	json_t *object = json_pack(
	    "{ss ss ss ss sI sI sI sI so so}", "name", entry->name, "node",
	    run->node[source->node].name, "kind", source->kind, "path", entry->path,
	    "begin_ns", (json_int_t)facts->begin_ns, "end_ns", (json_int_t)facts->end_ns,
	    "events", (json_int_t)facts->events, "discarded",
	    (json_int_t)tables_discarded(run, index), "reference",
	    json_or_null(is_tied ? reference : NULL), "quality",
	    json_or_null(is_tied ? clock_quality_name(source->clock.quality) : NULL));

	return object ? object : json_null();
}

void describe_json(const struct merge_run *run, FILE *file)
{
	json_t *nodes = json_array(), *sources = json_array(), *all;
	char *text;

	for (size_t i = 0; i < run->nodes; i++)
		json_array_append_new(nodes, make_node(run, i));
	for (size_t i = 0; i < run->count; i++)
		json_array_append_new(sources, make_source(run, i));
	all =
	    json_pack("{ss so so}", "run", run->path, "nodes", nodes, "sources", sources);
	text = all ? json_one_line(all) : NULL;
	if (text)
		fprintf(file, "%s\n", text);
	free(text);
	json_decref(all);
}
