/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timeline as a trace that Perfetto's viewer opens (ui.perfetto.dev). */
#include "export/perfetto/perfetto.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/near.h"
#include "export/formats.h"

struct perfetto_options {
	char *form;
	struct text_list tracks;
};

static const struct part {
	const char *name;
	enum perfetto_part part;
} parts[] = {
    {"states", PART_STATES},     {"cpus", PART_CPUS},     {"interrupts", PART_INTERRUPTS},
    {"syscalls", PART_SYSCALLS}, {"disks", PART_DISKS},   {"messages", PART_MESSAGES},
    {"samples", PART_SAMPLES},   {"clocks", PART_CLOCKS}, {"tasks", PART_TASKS},
};

enum { PARTS = sizeof(parts) / sizeof(*parts) };

static void *new_options(void)
{
	return mem_zalloc(sizeof(struct perfetto_options));
}

static size_t option_rows(void *options, struct option_row *row)
{
	struct perfetto_options *own = options;

	row[0] = (struct option_row){.name = "format",
				     .kind = OPTION_STRING,
				     .target = &own->form,
				     .argument = "proto|json",
				     .help = "Perfetto's own form (default), or Chrome's "
					     "JSON"};
	row[1] = (struct option_row){.name = "tracks",
				     .kind = OPTION_LIST,
				     .target = &own->tracks,
				     .argument = "PART,...",
				     .help = "only these: states, cpus, interrupts, "
					     "syscalls, disks, messages, samples, "
					     "clocks, tasks"};
	return 2;
}

static void free_options(void *options)
{
	struct perfetto_options *own = options;

	free(own->form);
	text_list_clear(&own->tracks);
	free(own);
}

static bool is_json(const struct perfetto_options *own)
{
	return own->form && strcmp(own->form, "json") == 0;
}

static int no_such_part(const char *name, struct error *error)
{
	const char *names[PARTS], *meant;

	for (size_t i = 0; i < PARTS; i++)
		names[i] = parts[i].name;
	meant = near_find(name, names, PARTS);
	if (meant)
		return error_misuse(error, "--tracks: no part '%s', did you mean '%s'?",
				    name, meant);
	return error_misuse(error, "--tracks: no part '%s' (see --help)", name);
}

static int add_part(const char *name, unsigned *chosen, struct error *error)
{
	for (size_t i = 0; i < PARTS; i++)
		if (strcmp(name, parts[i].name) == 0) {
			*chosen |= parts[i].part;
			return 0;
		}
	return no_such_part(name, error);
}

/* "states,cpus", more than once; none: all. */
static int choose_parts(const struct text_list *words, unsigned *chosen,
			struct error *error)
{
	*chosen = words->count ? 0 : ~0u;
	for (size_t i = 0; i < words->count; i++) {
		const char *at = words->item[i];

		do {
			size_t length = strcspn(at, ",");
			char *name = mem_strndup(at, length);
			int status = add_part(name, chosen, error);

			free(name);
			if (status)
				return -1;
			at += length;
		} while (*at++);
	}
	return 0;
}

static int make_plan(const void *options, const char *output, struct export_plan *plan,
		     struct error *error)
{
	const struct perfetto_options *own = options;
	unsigned chosen;

	(void)output;
	if (own->form && !is_json(own) && strcmp(own->form, "proto") != 0)
		return error_misuse(error, "--format: '%s', want proto or json",
				    own->form);
	plan->binary = !is_json(own);
	return choose_parts(&own->tracks, &chosen, error);
}

static int add_parts(struct perfetto *perfetto, struct error *error)
{
	static const struct {
		enum perfetto_part part;
		int (*add)(struct perfetto *perfetto, struct error *error);
	} steps[] = {
	    {PART_CLOCKS, perfetto_add_clocks},
	    {PART_STATES | PART_CPUS | PART_INTERRUPTS | PART_SYSCALLS | PART_DISKS,
	     perfetto_add_spans},
	    {PART_MESSAGES, perfetto_add_messages},
	    {PART_TASKS, perfetto_add_tasks},
	    {PART_SAMPLES, perfetto_add_samples},
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if (perfetto->parts & steps[i].part && steps[i].add(perfetto, error))
			return -1;
	return 0;
}

static int run(struct export *export, struct error *error)
{
	const struct perfetto_options *own = export->options;
	struct perfetto perfetto = {
	    .timeline = export->timeline,
	    .scope = &export->scope,
	    .notes = &export->notes,
	    .progress = &export->progress,
	};
	int status = -1;

	if (choose_parts(&own->tracks, &perfetto.parts, error))
		return -1;
	if (export->scope.without_spans)
		problem_add(&export->notes, export->path, "no_spans", 1,
			    "no spans of threads, processors and disks, want ctmerge "
			    "without --no-spans");
	perfetto.names = perfetto_names_new(export->timeline, &export->scope, error);
	if (!perfetto.names)
		return -1;
	perfetto.writer = is_json(own)
			      ? perfetto_json_new(export->file, export->file_name)
			      : perfetto_proto_new(export->file, export->file_name);
	perfetto_write_begin(perfetto.writer, export->scope.origin_ns);
	perfetto.rows =
	    perfetto_rows_new(perfetto.writer, &export->scope, perfetto.names);
	/* Where it was the file that failed, the end says why. */
	if (add_parts(&perfetto, error) == 0 || perfetto.writer->failed)
		status = perfetto_write_end(perfetto.writer, error);
	perfetto_rows_free(perfetto.rows);
	perfetto_writer_free(perfetto.writer);
	perfetto_names_free(perfetto.names);
	return status;
}

const struct export_format export_perfetto = {
    .name = "perfetto",
    .summary = "a trace for Perfetto's viewer (ui.perfetto.dev)",
    .usage = "[OPTION...] RUN.db [-o FILE]",
    .options_new = new_options,
    .rows = option_rows,
    .options_free = free_options,
    .plan = make_plan,
    .run = run,
};
