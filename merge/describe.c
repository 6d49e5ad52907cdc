/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/describe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "merge/tables.h"

static const char *const kind_names[] = {
    [RUN_FILE_NODE] = "node",
    [RUN_FILE_CLOCK] = "clock",
    [RUN_FILE_PROC] = "proc",
    [RUN_FILE_SENSORS] = "sensors",
    [RUN_FILE_INVOCATIONS] = "invocations",
    [RUN_FILE_SADF] = "sadf",
    [RUN_FILE_SA] = "sa",
};

/* A number, 0 where it is not known. */
static const char *format_known(char text[NSEC_TEXT], int64_t value)
{
	snprintf(text, NSEC_TEXT, "%" PRId64, value);
	return value ? text : "";
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
		char cpus[NSEC_TEXT], memory[NSEC_TEXT], sources[24], files[24];

		snprintf(sources, sizeof(sources), "%zu", count_sources(run, i));
		snprintf(files, sizeof(files), "%zu",
			 node->files ? node->files->files : 0);
		table_add(table, (const char *const[]){
				     node->name, facts->hostname ? facts->hostname : "",
				     facts->kernel ? facts->kernel : "",
				     format_known(cpus, facts->cpus),
				     format_known(memory, facts->mem_kib / 1024), sources,
				     files});
	}
	table_print(table, file);
	table_free(table);
}

/* Spans are in nanoseconds where a terminal chooses their unit. */
static void format_span(char text[NSEC_TEXT], nsec_t span, bool on_terminal)
{
	if (on_terminal)
		snprintf(text, NSEC_TEXT, "%" PRId64, span);
	else
		nsec_format_span(text, (double)span);
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
	struct zone zone = zone_at(is_local, first_begin(run));
	bool on_terminal = table_on_terminal(file);
	char *title = is_local && !on_terminal ? mem_printf("BEGIN/%s", zone.name)
					       : mem_strdup("BEGIN");
	const struct table_column columns[] = {
	    {.title = "SOURCE"},
	    {.title = "KIND"},
	    {.title = title, .unit = zone.name},
	    {.title = "SPAN", .right = true, .units = table_spans},
	    {.title = "EVENTS", .right = true},
	    {.title = "DISCARDED", .right = true},
	    {.title = "PATH"},
	};
	struct table *table = table_new(columns, 7);

	for (size_t i = 0; i < run->count; i++) {
		const struct source *entry = &run->sources.item[i];
		const struct ctf_facts *facts = &run->source[i].facts;
		char begin[NSEC_TEXT] = "", span[NSEC_TEXT] = "", events[24], lost[24];

		if (facts->events) {
			zone_format(begin, &zone, facts->begin_ns);
			format_span(span, nsec_sub(facts->end_ns, facts->begin_ns),
				    on_terminal);
		}
		snprintf(events, sizeof(events), "%" PRIu64, facts->events);
		snprintf(lost, sizeof(lost), "%" PRIu64, tables_discarded(run, i));
		table_add(table,
			  (const char *const[]){entry->name, run->source[i].kind, begin,
						span, events, lost, entry->path});
	}
	table_print(table, file);
	table_free(table);
	free(title);
}

/* The name of the source that a source's island refers to, "" for none. */
static const char *reference_name(const struct merge_source *source)
{
	return source->island < 0 ? "" : source->clock.reference;
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
		nsec_t begin = source->facts.begin_ns, end = source->facts.end_ns;
		nsec_t middle = begin + nsec_sub(end, begin) / 2;
		char drift[NSEC_TEXT], segments[24], offset[NSEC_TEXT];

		snprintf(drift, sizeof(drift), "%.3f", clock_mean_rate(clock) * 1e6);
		snprintf(segments, sizeof(segments), "%zu", clock->segments);
		format_span(offset, nsec_sub(clock_correct(clock, middle), middle),
			    on_terminal);
		table_add(
		    table,
		    (const char *const[]){
			run->sources.item[i].name, reference_name(source), drift, offset,
			segments,
			source->island < 0 ? "own" : clock_quality_name(clock->quality)});
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

void describe_text(const struct merge_run *run, bool is_local, FILE *file)
{
	print_nodes(run, file);
	if (run->count) {
		putc('\n', file);
		print_sources(run, is_local, file);
		putc('\n', file);
		print_clocks(run, file);
	}
	if (merge_run_has_files(run)) {
		putc('\n', file);
		print_files(run, file);
	}
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
	object = json_pack("{ss ss? ss? sI sI so}", "name", node->name, "hostname",
			   facts->hostname, "kernel", facts->kernel, "cpus",
			   (json_int_t)facts->cpus, "mem_kib", (json_int_t)facts->mem_kib,
			   "files", files);
	return object ? object : json_null();
}

static json_t *make_source(const struct merge_run *run, size_t index)
{
	const struct merge_source *source = &run->source[index];
	const struct source *entry = &run->sources.item[index];
	const struct ctf_facts *facts = &source->facts;
	bool is_tied = source->island >= 0;
	json_t *object =
	    json_pack("{ss ss ss ss sI sI sI sI ss? ss?}", "name", entry->name, "node",
		      run->node[source->node].name, "kind", source->kind, "path",
		      entry->path, "begin_ns", (json_int_t)facts->begin_ns, "end_ns",
		      (json_int_t)facts->end_ns, "events", (json_int_t)facts->events,
		      "discarded", (json_int_t)tables_discarded(run, index), "reference",
		      is_tied ? source->clock.reference : NULL, "quality",
		      is_tied ? clock_quality_name(source->clock.quality) : NULL);

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
