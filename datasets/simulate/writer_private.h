/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_WRITER_PRIVATE_H
#define CT_SIMULATE_WRITER_PRIVATE_H

#include "simulate/writer.h"

/* For implementers of writers: what stands first in each of them. */
struct sim_writer_ops {
	int (*add)(struct sim_writer *writer, const struct sim_event *event,
		   struct error *error);
	int (*finish)(struct sim_writer *writer, struct error *error);
};

struct sim_writer {
	const struct sim_writer_ops *ops;
	const struct sim_node *node;
	size_t nodes;
};

/* Make DIRECTORY and DIRECTORY/NODE where they are not there yet. */
int sim_writer_directory(const char *directory, const char *node, struct error *error);

#endif
