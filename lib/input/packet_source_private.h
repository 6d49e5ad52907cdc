/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_PACKET_SOURCE_PRIVATE_H
#define CT_INPUT_PACKET_SOURCE_PRIVATE_H

#include "input/packet_source.h"

/* For those who implement a packet source: embed `base` first. */
struct packet_source_ops {
	enum step (*step)(struct packet_source *source, sighting_fn *give, void *context);
	void (*free)(struct packet_source *source);
};

struct packet_source {
	const struct packet_source_ops *ops;
	struct packet_source_facts facts;
	struct problem_list problems;
	char *path;
};

/* Fill in the base; copies path. */
void packet_source_init(struct packet_source *source, const struct packet_source_ops *ops,
			const char *path);

/* Free what packet_source_init and the problems hold, not the source itself. */
void packet_source_release(struct packet_source *source);

#endif
