/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CTF_CLASSES_H
#define CT_INPUT_CTF_CLASSES_H

#include "input/ctf/plan.h"

/* What the wishes say of each event class of a trace, found once a class. */
struct ctf_class {
	const bt_event_class *class;
	int wish; /* index, or -1: nobody wants it */
	struct ctf_plan *plan;
};

struct ctf_classes {
	const struct event_wish *wish;
	size_t wishes;
	struct ctf_class *slot; /* open addressing by the class's address */
	size_t slots, used;     /* slots is a power of two */
};

void ctf_classes_init(struct ctf_classes *classes, const struct event_wish *wish,
		      size_t wishes);

/* Set defined[i] for every wish that a class of the stream's trace has. */
void ctf_classes_define(const struct ctf_classes *classes, const bt_stream *stream,
			int *defined);

/* Never NULL; borrowed until the next call. */
const struct ctf_class *ctf_classes_find(struct ctf_classes *classes,
					 const bt_event_class *class);

void ctf_classes_clear(struct ctf_classes *classes);

#endif
