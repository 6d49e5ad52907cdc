/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a Tracekit run, a directory a node: tracekit.sql makes their lines. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "export/format.h"
#include "tables/dataset.h"
#include "timeline/reader.h"

/* The data that is missing if a file has no line. */
static const struct {
	const char *file, *text;
} empty[] = {
    {"cctf/invocations.jsonl", "no tasks (invocations.jsonl): invocations, "
			       "placement_events and system_stats are empty"},
    {"cctf/proc_metrics.jsonl", "no samples of processes (proc.csv): proc_metrics, "
				"proc_cpu and proc_rss are empty"},
    {"cctf/host_metrics.jsonl",
     "no samples of %idle and kbmemfree (sar): host_metrics is empty"},
    {"cctf/link_metrics.jsonl",
     "no samples of rxkB/s and txkB/s (sar): link_metrics is empty"},
};

static int write_line(void *context, const struct cell *row, struct error *error)
{
	FILE *file = context;

	(void)error; /* the close reports errors of writing */
	fwrite(row->bytes, 1, row->type == CELL_TEXT ? row->size : 0, file);
	putc('\n', file);
	return 0;
}

static void note_empty(struct export *export, const char *node, const char *file)
{
	for (size_t i = 0; i < sizeof(empty) / sizeof(*empty); i++)
		if (strcmp(empty[i].file, file) == 0)
			problem_add(&export->notes, node, PROBLEM_EMPTY, 1, "%s",
				    empty[i].text);
}

/* One node's files. */
struct tracekit {
	struct export *export;
	const struct scope_node *node;
	struct cell value[5]; /* parameters of tracekit.sql */
};

static int write_file(void *context, const struct statement *statement,
		      struct error *error)
{
	struct tracekit *tracekit = context;
	const char *node = tracekit->node->name;
	AUTOFREE char *directory = file_name_escape(node, strlen(node));
	AUTOFREE char *path = mem_printf("%s/%s", directory, statement->name);
	FILE *file = export_create(tracekit->export->directory, path, error);
	int status = -1;

	if (file) {
		status = query_rows(tracekit->export->timeline, statement->sql,
				    tracekit->value, write_line, file, error);
		if (!status && ftell(file) == 0)
			note_empty(tracekit->export, node, statement->name);
		if (status)
			fclose(file);
		else
			status = export_close(file, statement->name, error);
	}
	return status;
}

static int write_node(struct export *export, const struct scope_node *node,
		      const char *stage, struct error *error)
{
	struct tracekit tracekit = {export,
				    node,
				    {cell_of_integer(node->id),
				     cell_of_integer(export->scope.begin_ns),
				     cell_of_integer(export->scope.end_ns)}};

	cell_set_bytes(&tracekit.value[3], CELL_TEXT, node->name, strlen(node->name));
	cell_set_bytes(&tracekit.value[4], CELL_TEXT, stage, strlen(stage));
	return statement_each(export->timeline, tracekit_sql, tracekit.value, write_file,
			      &tracekit, error);
}

static struct {
	char *stage;
} options;

static const struct option_row rows[] = {
    {0, "stage", OPTION_STRING, &options.stage, "NAME",
     "the stage of all nodes (default: cloud)", 0, 0},
    {0},
};

static int run_tracekit_export(struct export *export, struct error *error)
{
	const struct scope *scope = &export->scope;

	for (size_t i = 0; i < scope->nodes; i++)
		if (scope->node[i].chosen &&
		    write_node(export, &scope->node[i],
			       options.stage ? options.stage : "cloud", error))
			return -1;
	return 0;
}

const struct export_format export_tracekit = {
    .name = "tracekit",
    .summary = "the JSON files of a Tracekit run, one directory per node",
    .usage = "[OPTION...] RUN.db -o DIR",
    .rows = rows,
    .target = EXPORT_TO_DIRECTORY,
    .run = run_tracekit_export,
};
