/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_JOIN_H
#define CT_MERGE_JOIN_H

#include "base/options.h"
#include "base/progress.h"

/*
 * Join parts (merge/part.h) to tables that are one timeline's: DIR/TABLE/part=NODE/ has
 * links to the files of each part, and DIR/TABLE.parquet what stands once. Pairs
 * the messages and requests of which each part has one end, and names the
 * tables of the classes as a merge of the whole run does.
 */
struct join_wish {
	const struct text_list *parts; /* directories */
	const char *output, *command;
	struct progress *progress;
};

/* 0, or -1 with error. */
int join_parts(const struct join_wish *wish, struct error *error);

#endif
