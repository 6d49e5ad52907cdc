/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CAPTURE_WRITER_H
#define CT_SIMULATE_CAPTURE_WRITER_H

#include "simulate/writer.h"

/*
 * Make a writer of captures, DIRECTORY/NODE/NODE.pcap. Directories, nodes and errors as
 * sim_ctf_writer_new().
 */
struct sim_writer *sim_capture_writer_new(const char *directory,
					  const struct sim_node *node, size_t nodes,
					  struct error *error);

#endif
