/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a Tracekit run, a directory a node. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/formats.h"
#include "export/tables/dataset.h"
#include "export/tracekit/files.h"

struct tracekit_options {
	char *stage;
};

static void *new_options(void)
{
	return mem_zalloc(sizeof(struct tracekit_options));
}

static size_t option_rows(void *options, struct option_row *row)
{
	struct tracekit_options *tracekit = options;

	row[0] = (struct option_row){.name = "stage",
				     .kind = OPTION_STRING,
				     .target = &tracekit->stage,
				     .argument = "NAME",
				     .help = "the stage of all nodes (default: cloud)"};
	return 1;
}

static void free_options(void *options)
{
	struct tracekit_options *tracekit = options;

	free(tracekit->stage);
	free(tracekit);
}

static int make_plan(const void *options, const char *output, struct export_plan *plan,
		     struct error *error)
{
	(void)options;
	(void)output;
	(void)error;
	plan->target = EXPORT_TO_DIRECTORY;
	return 0;
}

/* Names of nodes are names of directories; for free(). */
static char *directory_of(const struct scope_node *node)
{
	return dataset_escape(node->name, strlen(node->name));
}

static int run(struct export *export, struct error *error)
{
	const struct tracekit_options *tracekit = export->options;
	const struct scope *scope = &export->scope;

	for (size_t i = 0; i < scope->nodes; i++) {
		struct tracekit_node node = {.export = export,
					     .node = &scope->node[i],
					     .stage = tracekit->stage ? tracekit->stage
								      : "cloud"};
		int status;

		if (!scope->node[i].chosen)
			continue;
		node.directory = directory_of(&scope->node[i]);
		status = tracekit_write_facts(&node, error) ||
			 tracekit_write_invocations(&node, error) ||
			 tracekit_write_samples(&node, error);
		free(node.directory);
		if (status)
			return -1;
	}
	return 0;
}

const struct export_format export_tracekit = {
    .name = "tracekit",
    .summary = "the JSON files of a Tracekit run, a directory a node",
    .usage = "[OPTION...] RUN.db -o DIR",
    .options_new = new_options,
    .rows = option_rows,
    .options_free = free_options,
    .plan = make_plan,
    .run = run,
};
