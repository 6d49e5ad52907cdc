/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timeline as a trace that Perfetto's viewer opens (ui.perfetto.dev). */
#include "export/perfetto/perfetto.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/near.h"
#include "export/format.h"

struct perfetto_options {
	char *form;
	struct text_list tracks;
};

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

static bool is_json(const struct perfetto_options *own)
{
	return own->form && strcmp(own->form, "json") == 0;
}

static int add_part(const char *name, unsigned *chosen, struct error *error)
{
	const char *meant;
	size_t count = 0;

	for (; perfetto_parts[count]; count++)
		if (strcmp(name, perfetto_parts[count]) == 0) {
			*chosen |= 1u << count;
			return 0;
		}
	meant = near_find(name, perfetto_parts, count);
	if (meant)
		return error_set(error, "--tracks: no part '%s', did you mean '%s'?",
				 name, meant);
	return error_set(error, "--tracks: no part '%s' (see --help)", name);
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

static int run(struct export *export, struct error *error)
{
	const struct perfetto_options *own = export->options;
	struct perfetto perfetto = {.export = export};
	unsigned chosen;
	int status = -1;

	if (choose_parts(&own->tracks, &chosen, error))
		return -1;
	if (export->scope.without_spans)
		problem_add(&export->notes, export->path, "no_spans", 1,
			    "no spans of threads, processors and disks, want ctmerge "
			    "without --no-spans");
	perfetto.writer = (is_json(own) ? perfetto_json_new : perfetto_proto_new)(
	    export->file, export->file_name, export->scope.origin_ns);
	perfetto.rows =
	    perfetto_rows_new(perfetto.writer, &export->scope, export->timeline, error);
	/* Where it was the file that failed, the end says why. */
	if (perfetto.rows && (perfetto_add_parts(&perfetto, chosen, error) == 0 ||
			      perfetto.writer->failed))
		status = perfetto_write_end(perfetto.writer, error);
	perfetto_rows_free(perfetto.rows);
	perfetto_writer_free(perfetto.writer);
	return status;
}

const struct export_format export_perfetto = {
    .name = "perfetto",
    .summary = "a trace for Perfetto's viewer (ui.perfetto.dev)",
    .usage = "[OPTION...] RUN.db [-o FILE]",
    .options_size = sizeof(struct perfetto_options),
    .rows = option_rows,
    .plan = make_plan,
    .run = run,
};
