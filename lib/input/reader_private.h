/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_READER_PRIVATE_H
#define CT_INPUT_READER_PRIVATE_H

#include "input/native/walk.h"
#include "input/reader.h"

/* For those who implement a reader. */
struct reader_ops {
	int (*step)(struct reader *reader, event_fn *give, void *context);
	const struct reader_facts *(*facts)(const struct reader *reader);
	struct problem_list *(*problems)(struct reader *reader);
	void (*free)(struct reader *reader);
	bool (*help)(struct reader *reader); /* NULL: nobody can */
};

struct reader {
	const struct reader_ops *ops;
	char *why; /* for reader_why */
};

/* The most fields of one wish, and at least one: so many values are needed. */
size_t reader_most_fields(const struct reader_wishes *wishes);

struct reader *babeltrace2_reader_open(const char *path,
				       const struct reader_wishes *wishes,
				       struct error *error);
struct reader *native_reader_open(const char *path, const struct reader_wishes *wishes,
				  struct error *error);

#endif
