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

bool packets_file_probe(const char *path);

/*
 * What is in a file: kind, name and, if it was known, the name of the node's
 * directory of each. 0, or -1 with error, which names file and offset.
 */
int packets_file_contents(const char *path, struct source_list *contents,
			  struct error *error);

/* Open one of its sources, by its place. NULL with error on failure. */
struct packet_source *packets_file_open(const char *path, size_t index,
					struct error *error);

/* To write one: begin with all sources, then packets as they come, then facts of each. */
struct packets_writer;

/* The file is the caller's, who finds in it whether something could not be written. */
struct packets_writer *packets_writer_new(FILE *file, size_t sources);

/* Of its node the last part is written, the name of the directory. */
void packets_writer_describe(struct packets_writer *writer, size_t index,
			     const struct source *source, const struct ctf_facts *facts);

/* The source's first event, of any kind, was at begin_ns. */
void packets_writer_add(struct packets_writer *writer, size_t index,
			const struct packet_event *packet_event, nsec_t begin_ns);

/* No more comes of a source: what became of it in the end. */
void packets_writer_finish(struct packets_writer *writer, size_t index,
			   const struct ctf_facts *facts,
			   const struct problem_list *problems);

/* After all were finished; frees the writer. */
void packets_writer_end(struct packets_writer *writer);

#endif
