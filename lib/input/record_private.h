/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECORD_PRIVATE_H
#define CT_INPUT_RECORD_PRIVATE_H

#include "input/record.h"

/* For those who implement a record source: embed `base` first. */
struct record_source_ops {
	enum step (*step)(struct record_source *source, record_fn *give, void *context);
	void (*free)(struct record_source *source);
	/* For record_source_begin; NULL: nothing is left out. */
	void (*begin)(struct record_source *source, nsec_t local_ns, record_use_fn *use,
		      void *context);
};

struct record_source {
	const struct record_source_ops *ops;
	struct packet_source_facts facts;
	struct problem_list problems;
	char *path;
	struct record_class **class; /* each stays where it is */
	size_t classes, room;
	record_wish_fn *wants; /* NULL: every class is chosen */
	void *wish_context;
	uint64_t pace; /* most records a step */
};

/* Fill in the base; copies path. */
void record_source_init(struct record_source *source, const struct record_source_ops *ops,
			const char *path);

/* One more class, without columns; copies the name. Owned by the source. */
struct record_class *record_source_add(struct record_source *source, const char *name);

/* One more column; copies the name. */
void record_class_add(struct record_class *class, const char *name, enum cell_type type,
		      bool context);

/* Whether the cells of a class are chosen. */
bool record_source_wants(const struct record_source *source,
			 const struct record_class *class);

/* Whether both have the same name and the same columns. */
bool record_class_equal(const struct record_class *a, const struct record_class *b);

/*
 * The index of the class added last, or of one before with the same columns,
 * which then stands for it: every channel of LTTng has classes of its own.
 */
uint32_t record_source_merge(struct record_source *source);

void record_class_free(struct record_class *class);

struct ctf_facts;

/*
 * After a step of a trace's walk: what it knows and found odd is the source's, which also
 * tells what the tracer lost when there is no more. Moves the problems.
 */
enum step record_source_stepped(struct record_source *source, bool more,
				const struct ctf_facts *facts,
				struct problem_list *problems);

/* Free what the base holds, not the source itself. */
void record_source_release(struct record_source *source);

#endif
