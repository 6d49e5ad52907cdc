/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/observe/extract.h"

#include "base/output.h"
#include <stdio.h>
#include <string.h>

#include "input/packets_file.h"
#include "sync/observe/readers.h"
#include "sync/observe/sources.h"

/* Describe the sources. The first one of a node has the claims of its clock daemons, and
 * what relates these to its traces. */
static void describe_sources(struct packets_writer *writer,
			     const struct observations *seen,
			     struct packet_source **opened, struct source_list *sources,
			     struct problem_list *problems)
{
	const char *node = NULL;

	for (size_t i = 0; i < seen->traces; i++) {
		struct source *source = &sources->item[seen->trace[i].source_index];
		struct source named;

		if (source->node && !source->extract &&
		    (!node || strcmp(node, source->node))) {
			node_claims_read(&source->claims, source->node, problems);
			if (source->claims.sources && !source->realtimes)
				source_read_realtime(source);
		}
		node = source->node;
		named = *source;
		named.name = (char *)source_name(source, &seen->trace[i].facts);
		packets_writer_describe(writer, i, &named, opened[i]);
	}
}

static void write_arrivals(struct packets_writer *writer, struct readers *readers,
			   FILE *file)
{
	struct arrival arrival[ARRIVALS_AT_ONCE];
	size_t count;

	while (!ferror(file) && (count = readers_next(readers, arrival)))
		for (size_t i = 0; i < count; i++)
			packets_writer_add(
			    writer, arrival[i].trace_index, arrival[i].packet_event,
			    readers_begin(readers, arrival[i].trace_index));
	readers_free(readers);
}

static void finish_sources(struct packets_writer *writer, struct packet_source **opened,
			   size_t traces, struct problem_list *problems)
{
	for (size_t i = 0; i < traces; i++) {
		packets_writer_finish(writer, i, opened[i]);
		problem_move(problems, &opened[i]->problems);
	}
	packets_writer_end(writer);
}

int extract_packets(struct source_list *sources, int threads, const char *path,
		    struct problem_list *problems, struct progress *progress,
		    struct error *error)
{
	struct observations seen;
	struct packet_source **opened;
	struct packets_writer *writer;
	struct output output;
	int status;

	observations_init(&seen);
	opened = sources_open(sources, threads, &seen, problems);
	if (!seen.traces)
		status = error_set(error, "no trace to read");
	else
		status = output_open(&output, path, error);
	if (!status) {
		writer = packets_writer_new(output.file, seen.traces);
		describe_sources(writer, &seen, opened, sources, problems);
		write_arrivals(writer,
			       readers_new(opened, seen.traces, threads, progress),
			       output.file);
		finish_sources(writer, opened, seen.traces, problems);
		status = output_commit(&output, error);
		output_discard(&output);
	}
	sources_close(opened, seen.traces);
	observations_clear(&seen);
	return status;
}
