/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/version.h"
#include "timeline/reader.h"
#include "timeline/rows.h"

/* 0 becomes NULL. */
static int64_t null_if_zero(int64_t value)
{
	return value ? value : TIMELINE_NONE;
}

static int write_nodes(const struct merge_run *run, struct timeline_writer *writer,
		       struct error *error)
{
	int status = 0;

	for (size_t i = 0; !status && i < run->nodes; i++) {
		const struct merge_node *node = &run->node[i];
		const struct node_facts *facts = &node->facts;
		struct timeline_node row = {
		    .id = node->id,
		    .name = node->name,
		    .hostname = facts->hostname,
		    .kernel = facts->kernel,
		    .cpus = null_if_zero(facts->cpus),
		    .cpu_mhz = facts->cpu_mhz > 0 ? facts->cpu_mhz : __builtin_nan(""),
		    .mem_kib = null_if_zero(facts->mem_kib),
		    .boot_id = facts->boot_id,
		};

		status = timeline_add_node(writer, &row, error);
	}
	return status;
}

/* A clock's uuid in the usual form, or NULL. */
static const char *format_uuid(const struct trace_facts *facts, char text[37])
{
	char *at = text;

	if (!facts->has_uuid)
		return NULL;
	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*at++ = '-';
		at += snprintf(at, 3, "%02x", facts->clock_uuid[i]);
	}
	return text;
}

static int write_source(const struct merge_run *run, size_t index,
			struct timeline_writer *writer, struct error *error)
{
	const struct merge_source *source = &run->source[index];
	const struct source *entry = &run->sources.item[index];
	const struct trace_facts *facts = &source->facts;
	bool is_tied = source->island >= 0;
	char uuid[37];
	struct timeline_source row = {
	    .id = source->id,
	    .node = run->node[source->node].id,
	    .kind = source->kind,
	    .path = entry->path,
	    .clock_uuid = format_uuid(facts, uuid),
	    .begin_ns = TIMELINE_NONE,
	    .end_ns = TIMELINE_NONE,
	    .events = (int64_t)facts->events,
	    .discarded = (int64_t)(facts->discarded_events + source->discarded_before),
	    .name = entry->name,
	    .reference =
		is_tied ? merge_run_source(run, source->clock.reference) : TIMELINE_NONE,
	    .quality = is_tied ? clock_quality_name(source->clock.quality) : NULL,
	};

	if (facts->events) {
		row.begin_ns = clock_correct(&source->clock, facts->begin_ns);
		row.end_ns = clock_correct(&source->clock, facts->end_ns);
	}
	return timeline_add_source(writer, &row, error);
}

static int write_clock(int64_t source, const struct clock *clock,
		       struct timeline_writer *writer, struct error *error)
{
	int status = 0;

	for (size_t i = 0; !status && i < clock->segments; i++) {
		const struct clock_segment *from = &clock->segment[i];
		struct timeline_clock row = {source, from->local_ns, from->ref_ns,
					     from->rate_ppb};

		status = timeline_add_clock(writer, &row, error);
	}
	for (size_t i = 0; !status && i < clock->bounds; i++) {
		const struct clock_bound *from = &clock->bound[i];
		bool is_open = from->high_ns == NSEC_MAX;
		struct timeline_clock_bound row = {source, from->local_ns, from->low_ns,
						   is_open ? TIMELINE_NONE
							   : from->high_ns};

		status = timeline_add_clock_bound(writer, &row, error);
	}
	return status;
}

static int write_pair(const struct merge_run *run, const struct clock_pair *pair,
		      struct timeline_writer *writer, struct error *error)
{
	nsec_t ab = pair->min_latency_ab_ns, ba = pair->min_latency_ba_ns;
	struct timeline_clock_pair row = {
	    .a = merge_run_source(run, pair->a),
	    .b = merge_run_source(run, pair->b),
	    .messages_ab = (int64_t)pair->messages_ab,
	    .messages_ba = (int64_t)pair->messages_ba,
	    .rejected = (int64_t)pair->rejected,
	    .quality = clock_quality_name(pair->quality),
	    .violations_before = (int64_t)pair->violations_before,
	    .violations_after = (int64_t)pair->violations_after,
	    .hull_ab = (int64_t)pair->hull_ab,
	    .hull_ba = (int64_t)pair->hull_ba,
	    .min_latency_ab_ns = ab == NSEC_MAX ? TIMELINE_NONE : ab,
	    .min_latency_ba_ns = ba == NSEC_MAX ? TIMELINE_NONE : ba,
	};

	/* The user's map may be of more than this run. Of parts, a's has it. */
	return row.b && merge_run_find(run, pair->a) >= 0
		   ? timeline_add_clock_pair(writer, &row, error)
		   : 0;
}

static int write_problem(const struct problem *problem, struct timeline_writer *writer,
			 struct error *error)
{
	struct timeline_problem row = {
	    .source = TIMELINE_NONE,
	    .kind = problem_kind_word(problem->kind),
	    .count = (int64_t)problem->count,
	    .text = problem->text,
	    .place = *problem->place ? problem->place : NULL,
	};

	return timeline_add_problem(writer, &row, error);
}

/* Write a fact, unless `text` is NULL. */
static int write_text(struct timeline_writer *writer, const char *key, const char *text,
		      struct error *error)
{
	const struct cell cell = cell_of_text(text);

	return text ? timeline_add_meta(writer, key, &cell, error) : 0;
}

/* Return the source whose clock is the axis, or NULL if no clock was corrected. */
static const char *axis_of(const struct merge_run *run)
{
	for (size_t i = 0; i < run->count; i++)
		if (run->source[i].island >= 0)
			return run->map.reference;
	return NULL;
}

static int write_facts(const struct merge_run *run, struct timeline_writer *writer,
		       struct error *error)
{
	const struct run_facts *facts = &run->facts;
	int status =
	    write_text(writer, "version", CT_VERSION, error) ||
	    write_text(writer, "command", run->command, error) ||
	    write_text(writer, "spans", run->without_spans ? "none" : NULL, error) ||
	    write_text(writer, "run", run->path, error) ||
	    write_text(writer, "reference", axis_of(run), error);
	const struct cell utc = cell_of_known(run->map.utc_bound_ns, NSEC_MAX);
	const struct cell median = cell_of_known(run->map.utc_median_bound_ns, NSEC_MAX);

	if (!status && run->map.utc_bound_ns)
		status = timeline_add_meta(writer, "utc_bound_ns", &utc, error) ||
			 timeline_add_meta(writer, "utc_median_bound_ns", &median, error);
	for (size_t i = 0; !status && i < facts->count; i++) {
		const struct run_fact *fact = &facts->item[i];
		const struct cell stamp = cell_of_integer(fact->stamp);

		status = write_text(writer, fact->name, fact->text, error);
		if (!status && fact->stamp)
			status = timeline_add_meta(writer, fact->name, &stamp, error);
	}
	for (size_t i = 0; !status && i < run->nodes; i++) {
		AUTOFREE char *key = mem_printf("node.json.%s", run->node[i].name);

		status = write_text(writer, key, run->node[i].facts.extra, error);
	}
	return status ? -1 : 0;
}

int tables_write(const struct merge_run *run, struct timeline_writer *writer,
		 struct error *error)
{
	int status = write_facts(run, writer, error);

	if (!status)
		status = write_nodes(run, writer, error);
	for (size_t i = 0; !status && i < run->count; i++) {
		status = write_source(run, i, writer, error);
		if (!status)
			status = write_clock(run->source[i].id, &run->source[i].clock,
					     writer, error);
	}
	for (size_t i = 0; !status && i < run->map.pairs; i++)
		status = write_pair(run, &run->map.pair[i], writer, error);
	for (size_t i = 0; !status && i < run->problems.count; i++)
		status = write_problem(&run->problems.item[i], writer, error);
	return status;
}

int tables_derive(const char *timeline, const char *place, struct error *error)
{
	struct timeline_reader *db = timeline_update_open(timeline, place, error);
	int status = !db || timeline_update_run(db, derived_sql, error) ||
		     timeline_update_commit(db, error);

	timeline_reader_free(db);
	return status ? -1 : 0;
}

static const char *const kind_names[] = {
    [RUN_FILE_NODE] = "node",       [RUN_FILE_CLOCK] = "clock",
    [RUN_FILE_CLAIMS] = "claims",   [RUN_FILE_PROC] = "proc",
    [RUN_FILE_SENSORS] = "sensors", [RUN_FILE_INVOCATIONS] = "invocations",
    [RUN_FILE_SADF] = "sadf",       [RUN_FILE_SA] = "sa",
};

/* Format a number; 0 is unknown. */
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

/* Format a span; in ns on a terminal, which chooses the unit. */
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
	AUTOFREE char *title = is_local && !on_terminal
				   ? mem_printf("BEGIN/%s", zone.name)
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
		const struct trace_facts *facts = &run->source[i].facts;
		char begin[NSEC_TEXT] = "", span[NSEC_TEXT] = "", events[24], lost[24];

		if (facts->events) {
			zone_format(begin, &zone, facts->begin_ns);
			format_span(span, nsec_sub(facts->end_ns, facts->begin_ns),
				    on_terminal);
		}
		snprintf(events, sizeof(events), "%" PRIu64, facts->events);
		snprintf(lost, sizeof(lost), "%" PRIu64, facts->discarded_events);
		table_add(table,
			  (const char *const[]){entry->name, run->source[i].kind, begin,
						span, events, lost, entry->path});
	}
	table_print(table, file);
	table_free(table);
}

/* Return the name of the reference of a source's island, or "". */
static const char *reference_name(const struct merge_source *source)
{
	return source->island < 0 ? "" : source->clock.reference;
}

static void describe_clocks(const struct merge_run *run, FILE *file)
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
		describe_clocks(run, file);
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
	const struct trace_facts *facts = &source->facts;
	bool is_tied = source->island >= 0;
	json_t *object =
	    json_pack("{ss ss ss ss sI sI sI sI ss? ss?}", "name", entry->name, "node",
		      run->node[source->node].name, "kind", source->kind, "path",
		      entry->path, "begin_ns", (json_int_t)facts->begin_ns, "end_ns",
		      (json_int_t)facts->end_ns, "events", (json_int_t)facts->events,
		      "discarded", (json_int_t)facts->discarded_events, "reference",
		      is_tied ? source->clock.reference : NULL, "quality",
		      is_tied ? clock_quality_name(source->clock.quality) : NULL);

	return object ? object : json_null();
}

void describe_json(const struct merge_run *run, FILE *file)
{
	json_t *nodes = json_array(), *sources = json_array(), *all;
	AUTOFREE char *text = NULL;

	for (size_t i = 0; i < run->nodes; i++)
		json_array_append_new(nodes, make_node(run, i));
	for (size_t i = 0; i < run->count; i++)
		json_array_append_new(sources, make_source(run, i));
	all =
	    json_pack("{ss so so}", "run", run->path, "nodes", nodes, "sources", sources);
	text = all ? json_one_line(all) : NULL;
	if (text)
		fprintf(file, "%s\n", text);
	json_decref(all);
}
