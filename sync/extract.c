/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/extract.h"

#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "input/packets_file.h"
#include "sync/match/readers.h"

struct extract {
	struct sync *sync;
	struct packet_source **opened;
	struct packets_writer *writer;
	struct readers *readers;
	FILE *file;
};

static void describe(struct extract *extract, const struct source_list *sources)
{
	const struct sync *sync = extract->sync;

	for (size_t i = 0; i < sync->traces; i++) {
		const struct source *source = &sources->item[sync->trace[i].source];
		const char *slash = source->node ? strrchr(source->node, '/') : NULL;
		const struct packets_entry entry = {
		    .kind = source->kind,
		    .name = sync_source_name(source, &sync->trace[i].facts),
		    .node = slash ? slash + 1 : source->node,
		    .path = source->path,
		};

		packets_writer_describe(extract->writer, i, &entry,
					&extract->opened[i]->facts);
	}
}

static int take_arrivals(void *context, const struct arrival *arrival, size_t count)
{
	struct extract *extract = context;

	for (size_t i = 0; i < count; i++)
		packets_writer_add(extract->writer, arrival[i].source,
				   arrival[i].sighting,
				   readers_begin(extract->readers, arrival[i].source));
	return ferror(extract->file) ? -1 : 0;
}

static void finish(struct extract *extract)
{
	struct sync *sync = extract->sync;

	for (size_t i = 0; i < sync->traces; i++) {
		struct problem_list *problems = &extract->opened[i]->problems;

		packets_writer_finish(extract->writer, i, &extract->opened[i]->facts,
				      problems);
		problem_move(&sync->problems, problems);
	}
	packets_writer_end(extract->writer);
}

static void write_all(struct extract *extract, const struct source_list *sources,
		      struct progress *progress)
{
	struct sync *sync = extract->sync;

	extract->readers =
	    readers_new(extract->opened, sync->traces, sync->options.threads);
	extract->writer = packets_writer_new(extract->file, sync->traces);
	describe(extract, sources);
	readers_run(extract->readers, take_arrivals, extract, progress);
	finish(extract);
	readers_free(extract->readers);
}

int extract_packets(struct sync *sync, struct source_list *sources, const char *path,
		    struct progress *progress, struct error *error)
{
	struct extract extract = {.sync = sync};
	struct output output;
	int status;

	extract.opened = sync_open_sources(sync, sources);
	if (!sync->traces)
		status = error_set(error, "no trace to read, want 1 or more");
	else
		status = output_open(&output, path, error);
	if (!status) {
		extract.file = output.file;
		write_all(&extract, sources, progress);
		status = output_commit(&output, error);
		output_discard(&output);
	} else {
		for (size_t i = 0; i < sync->traces; i++)
			packet_source_free(extract.opened[i]);
	}
	free(extract.opened);
	return status;
}
