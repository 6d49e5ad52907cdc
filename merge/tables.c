/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/version.h"

/* The length of a path that a text begins with, up to a file below it; else 0. */
static size_t begins_with(const char *text, const char *path)
{
	size_t length = strlen(path);

	if (strncmp(text, path, length) != 0 || !strchr("/: ", text[length]))
		return 0; /* strchr finds the end of the text as well */
	return length;
}

static const char *place_of(const struct problem *problem)
{
	return *problem->place ? problem->place : problem->text;
}

size_t tables_problem_source(const struct merge_run *run, const struct problem *problem)
{
	const char *place = place_of(problem);
	size_t best = SIZE_MAX, longest = 0;

	for (size_t i = 0; i < run->count; i++) {
		size_t length = begins_with(place, run->sources.item[i].path);

		if (length > longest) {
			longest = length;
			best = i;
		}
	}
	return best;
}

/* Whether a problem is a source's; all sources are gone through only if it may be. */
static bool is_about(const struct merge_run *run, size_t source,
		     const struct problem *problem)
{
	return begins_with(place_of(problem), run->sources.item[source].path) &&
	       tables_problem_source(run, problem) == source;
}

/* How much was told of a source; `kind` NULL: how often. */
static uint64_t count_problems(const struct merge_run *run, size_t source,
			       const char *kind)
{
	uint64_t count = 0;

	for (size_t i = 0; i < run->problems.count; i++) {
		const struct problem *problem = &run->problems.item[i];

		if ((!kind || strcmp(problem->kind, kind) == 0) &&
		    is_about(run, source, problem))
			count += kind ? problem->count : 1;
	}
	return count;
}

uint64_t tables_discarded(const struct merge_run *run, size_t source)
{
	return count_problems(run, source, "discarded");
}

/* NULL where nothing is known. */
static int64_t known(int64_t value)
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
		    .cpus = known(facts->cpus),
		    .cpu_mhz = facts->cpu_mhz > 0 ? facts->cpu_mhz : __builtin_nan(""),
		    .mem_kib = known(facts->mem_kib),
		    .boot_id = facts->boot_id,
		};

		status = timeline_add_node(writer, &row, error);
	}
	return status;
}

/* A clock's uuid in the usual form, or NULL. */
static const char *format_uuid(const struct ctf_facts *facts, char text[37])
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
	const struct ctf_facts *facts = &source->facts;
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
	    .discarded = (int64_t)tables_discarded(run, index),
	    .problems = (int64_t)count_problems(run, index, NULL),
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

	/* A map that was given may be of more than this run. Of parts, a's has it. */
	return row.b && merge_run_find(run, pair->a) >= 0
		   ? timeline_add_clock_pair(writer, &row, error)
		   : 0;
}

static int write_problem(const struct merge_run *run, const struct problem *problem,
			 struct timeline_writer *writer, struct error *error)
{
	size_t source = tables_problem_source(run, problem);
	struct timeline_problem row = {
	    .source = source == SIZE_MAX ? TIMELINE_NONE : run->source[source].id,
	    .kind = problem->kind,
	    .count = (int64_t)problem->count,
	    .text = problem->text,
	    .place = *problem->place ? problem->place : NULL,
	};

	return timeline_add_problem(writer, &row, error);
}

static int write_text(struct timeline_writer *writer, const char *key, const char *text,
		      struct error *error)
{
	struct cell cell;

	if (!text)
		return 0;
	cell_set_bytes(&cell, CELL_TEXT, text, strlen(text));
	return timeline_add_meta(writer, key, &cell, error);
}

static int write_stamp(struct timeline_writer *writer, const char *key, nsec_t stamp,
		       struct error *error)
{
	struct cell cell = {.type = CELL_INTEGER, .integer = stamp};

	return stamp ? timeline_add_meta(writer, key, &cell, error) : 0;
}

/* The source whose clock is the axis, or NULL where every clock was left as it was. */
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

	for (size_t i = 0; !status && i < facts->count; i++) {
		const struct run_fact *fact = &facts->item[i];

		status = write_text(writer, fact->name, fact->text, error) ||
			 write_stamp(writer, fact->name, fact->stamp, error);
	}
	for (size_t i = 0; !status && i < run->nodes; i++) {
		char *key = mem_printf("node.json.%s", run->node[i].name);

		status = write_text(writer, key, run->node[i].facts.extra, error);
		free(key);
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
		status = write_problem(run, &run->problems.item[i], writer, error);
	return status;
}
