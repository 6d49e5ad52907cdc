/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_PACKETS_FILE_H
#define CT_INPUT_PACKETS_FILE_H

#include <stdio.h>

#include "input/packet_source.h"
#include "input/run.h"

/*
 * The packet events of a node's sources in one file (docs/formats.md, Packet files):
 * what matching needs, and nothing else of the traces. To sync it is one more kind of
 * packet source.
 */
#define PACKETS_SUFFIX ".packets"

/* What stands in a file of one source; the name and the node may be NULL. */
struct packets_entry {
	enum source_kind kind;
	const char *name; /* as it was asked for, or recorded */
	const char *node; /* the directory of its node had this name */
	const char *path; /* it was read from */
};

struct packets_contents {
	struct packets_entry *item;
	size_t count;
};

bool packets_file_probe(const char *path);

/* What is in a file. 0, or -1 with error, which names file and offset. */
int packets_file_contents(const char *path, struct packets_contents *contents,
			  struct error *error);
void packets_contents_clear(struct packets_contents *contents);

/* Open one of its sources, by its place. NULL with error on failure. */
struct packet_source *packets_file_open(const char *path, size_t index,
					struct error *error);

/* To write one: begin with all sources, then packets as they come, then facts of each. */
struct packets_writer;

/* The file is the caller's, who finds in it whether something could not be written. */
struct packets_writer *packets_writer_new(FILE *file, size_t sources);
void packets_writer_describe(struct packets_writer *writer, size_t index,
			     const struct packets_entry *entry,
			     const struct ctf_facts *facts);

/* The source's first event, of any kind, was at begin_ns. */
void packets_writer_add(struct packets_writer *writer, size_t index,
			const struct sighting *sighting, nsec_t begin_ns);

/* No more comes of a source: what became of it in the end. */
void packets_writer_finish(struct packets_writer *writer, size_t index,
			   const struct ctf_facts *facts,
			   const struct problem_list *problems);

/* After all were finished; frees the writer. */
void packets_writer_end(struct packets_writer *writer);

#endif
