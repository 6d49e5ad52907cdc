/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CTF_WRITER_H
#define CT_SIMULATE_CTF_WRITER_H

#include "simulate/writer.h"

/*
 * Make a writer of CTF traces as LTTng writes them, DIRECTORY/NODE/kernel with one stream
 * per CPU. Creates the directory but not its parents; overwrites no file. Borrows nodes
 * and classes until the writer is freed. Return NULL with error.
 *
 * Timestamps of one node and CPU may go backwards only at a step of its clock; nodes and
 * CPUs may be added in any order. No file stays open; a trace keeps a packet of up to
 * 2048 events per CPU in memory.
 */
struct sim_writer *sim_ctf_writer_new(const char *directory, const struct sim_node *node,
				      size_t nodes, const struct sim_class *class,
				      size_t classes, struct error *error);

#endif
