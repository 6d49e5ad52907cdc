/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorded.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "input/run.h"
#include "input/trace_packets.h"

/* The trace's clock class tells where its clock stands on the epoch's axis. */
static int take_offset(struct truth_node *node, const char *path, struct error *error)
{
	struct packet_source *packets = trace_packets_open(path, error);

	if (!packets)
		return -1;
	node->offset_ns = packets->facts.clock_offset_ns;
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
	if (!run->simulated &&
	    !truth_ascends(node, is_trace ? TRUTH_TRACE : TRUTH_CAPTURE))
		return error_set(error, "%s: the clock of %s goes back in its truth.csv",
				 run->path, source->name);
	node->simulated = run->simulated;
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

/* Messages of a run bear the real time of every node. */
static void add_nodes(struct recorded *run, const char *messages)
{
	run->subject = mem_zalloc(run->truth.nodes * sizeof(*run->subject));
	for (size_t i = 0; i < run->truth.nodes; i++) {
		struct truth_node *node = &run->truth.node[i];

		node->simulated = run->simulated;
		run->subject[i] = (struct subject){
		    mem_strdup(node->name), mem_strdup(messages), node, TRUTH_CAPTURE};
	}
	run->captures = run->truth.nodes;
}

static int add_run(struct recorded *run, struct error *error)
{
	struct source_list sources = {0};
	struct problem_list problems = {NULL, 0, 0};
	int status = source_add_run(&sources, run->path, &problems, error);

	if (!status)
		status = add_sources(run, SOURCE_TRACE, &sources, error);
	if (!status)
		status = add_sources(run, SOURCE_CAPTURE, &sources, error);
	source_list_clear(&sources);
	problem_clear(&problems);
	return status;
}

static int read_truth(struct recorded *run, const char *path, struct error *error)
{
	char *truth = mem_printf("%s/truth.csv", path);
	const char *slash = strrchr(path, '/');
	int status;

	memset(run, 0, sizeof(*run));
	run->path = path;
	run->name = slash && slash[1] ? slash + 1 : path;
	status = truth_read(&run->truth, truth, error);
	free(truth);
	return status;
}

int recorded_open(struct recorded *run, const char *path, struct error *error)
{
	int status = read_truth(run, path, error);

	if (!status)
		status = add_run(run, error);
	run->reference = choose_reference(run);
	return status;
}

int simulated_open(struct recorded *run, const char *path, struct error *error)
{
	int status = read_truth(run, path, error);
	char *messages = mem_printf("%s/messages.csv", path);

	run->simulated = true;
	if (!status && access(messages, R_OK) == 0)
		add_nodes(run, messages);
	else if (!status)
		status = add_run(run, error);
	free(messages);
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
