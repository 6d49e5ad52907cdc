/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorded.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/run.h"

/* The trace's clock class tells where its clock stands on the epoch's axis. */
static int take_offset(struct truth_node *node, const char *path, struct error *error)
{
	struct packet_source *packets = trace_packets_open(path, error);

	if (!packets)
		return -1;
	node->offset_ns = packet_source_facts(packets)->clock_offset_ns;
	packet_source_free(packets);
	return 0;
}

static int add_source(struct recorded *run, const struct source *source,
		      struct error *error)
{
	struct truth_node *node =
	    truth_find(&run->truth, source->name, strcspn(source->name, ":"));
	bool is_trace = source->kind == SOURCE_TRACE;
	struct subject *subject;
	size_t n = run->traces + run->captures;

	if (!node)
		return error_set(error, "%s: its truth.csv has no row of %s", run->path,
				 source->name);
	if (is_trace && take_offset(node, source->path, error))
		return -1;
	run->subject = mem_realloc(run->subject, n + 1, sizeof(*run->subject));
	subject = &run->subject[n];
	subject->name = mem_strdup(source->name);
	subject->path = mem_strdup(source->path);
	subject->node = node;
	subject->clock = is_trace ? TRUTH_TRACE : TRUTH_CAPTURE;
	*(is_trace ? &run->traces : &run->captures) += 1;
	return 0;
}

static int add_sources(struct recorded *run, enum source_kind kind,
		       const struct source_list *sources, struct error *error)
{
	for (size_t i = 0; i < sources->count; i++)
		if (sources->item[i].kind == kind &&
		    add_source(run, &sources->item[i], error))
			return -1;
	return 0;
}

static const struct truth_node *choose_reference(const struct recorded *run)
{
	const struct subject *subject = run->subject;

	for (size_t i = 0; i < run->traces; i++)
		for (size_t k = 0; k < run->captures; k++)
			if (subject[i].node == subject[run->traces + k].node)
				return subject[i].node;
	return run->traces + run->captures ? subject[0].node : NULL;
}

int recorded_open(struct recorded *run, const char *path, struct error *error)
{
	struct source_list sources = {NULL, 0, 0};
	struct problem_list problems = {NULL, 0, 0};
	char *truth = mem_printf("%s/truth.csv", path);
	const char *slash = strrchr(path, '/');
	int status;

	memset(run, 0, sizeof(*run));
	run->path = path;
	run->name = slash && slash[1] ? slash + 1 : path;
	status = truth_read(&run->truth, truth, error);
	if (!status)
		status = source_add_run(&sources, path, &problems, error);
	if (!status)
		status = add_sources(run, SOURCE_TRACE, &sources, error);
	if (!status)
		status = add_sources(run, SOURCE_CAPTURE, &sources, error);
	run->reference = choose_reference(run);
	source_list_clear(&sources);
	problem_clear(&problems);
	free(truth);
	return status;
}

void recorded_close(struct recorded *run)
{
	for (size_t i = 0; i < run->traces + run->captures; i++) {
		free(run->subject[i].name);
		free(run->subject[i].path);
	}
	free(run->subject);
	truth_clear(&run->truth);
	memset(run, 0, sizeof(*run));
}
