/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_GRAPHITE_TEXT_H
#define CT_EXPORT_GRAPHITE_TEXT_H

#include <stdbool.h>

#include "base/bytes.h"
#include "export/graphite/points.h"

/*
 * Points as carbon reads them: a line "PATH VALUE SECONDS" each; or messages of a length
 * in 4 bytes, highest first, and a pickle of a list of (path, (seconds, value)), by the
 * second of Python's pickle protocols (PEP 307), up to 500 points each.
 */
struct graphite_text {
	struct bytes bytes;
	bool pickle;
	size_t message;  /* where the open message begins */
	unsigned points; /* in it, 0: none is open */
};

void graphite_text_add(struct graphite_text *text, const struct graphite_point *point);

/* End the message at hand. */
void graphite_text_end(struct graphite_text *text);

#endif
