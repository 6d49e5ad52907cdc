/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_PACKETS_FILE_H
#define CT_INPUT_PACKETS_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "input/packet_source.h"
#include "input/run.h"

/*
 * Packet files: the packet events of a node's sources (docs/formats.md, Packet files).
 * They hold what matching needs and nothing else of the traces; for synchronization they
 * are another kind of packet source.
 */
#define PACKETS_SUFFIX ".packets"

bool packets_file_probe(const char *path);

/*
 * Read the kind, the name and, if known, the node's directory name of each source in a
 * file. Return 0, or -1 with error, which names the file and offset.
 */
int packets_file_contents(const char *path, struct source_list *contents,
			  struct error *error);

/* Open a source in a file by its index. Return NULL with error. */
struct packet_source *packets_file_open(const char *path, size_t index,
					struct error *error);

/*
 * A writer of a packet file: first describe all sources, then add packets, then finish
 * each source.
 */
struct packets_writer;

/* Start a file, which stays the caller's and records write errors. */
struct packets_writer *packets_writer_new(FILE *file, size_t sources);

/* Describe a source. Of its node, only the name of the directory is written. */
void packets_writer_describe(struct packets_writer *writer, size_t index,
			     const struct source *source,
			     const struct packet_source *packets);

/* Add a packet event. `begin_ns` is the time of the source's first event of any kind. */
void packets_writer_add(struct packets_writer *writer, size_t index,
			const struct packet_event *packet_event, nsec_t begin_ns);

/* Finish a source, with its final facts, counts and problems. */
void packets_writer_finish(struct packets_writer *writer, size_t index,
			   const struct packet_source *packets);

/* End the file and free the writer. Call after all sources are finished. */
void packets_writer_end(struct packets_writer *writer);

#endif
