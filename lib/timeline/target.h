/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_TARGET_H
#define CT_TIMELINE_TARGET_H

#include <stdbool.h>

#include "base/error.h"
#include "base/output.h"

/*
 * Where a timeline goes, whole or not at all: it is written to a temporary,
 * which becomes the target at the commit. SQLite writes here and there in its
 * file, so what goes to standard output has to wait until it is finished.
 */
struct timeline_target {
	struct output output; /* towards a file */
	char *temporary;      /* towards a descriptor */
	int fd;
	bool force;
};

/*
 * Towards a file. One that is there is refused unless `force`, and even then
 * unless it is a timeline or empty. Links, devices, pipes are always refused.
 */
int timeline_target_open(struct timeline_target *target, const char *path, bool force,
			 struct error *error);

/*
 * Towards an open descriptor, standard output: the temporary is in $TMPDIR. A
 * terminal is refused.
 */
int timeline_target_open_stream(struct timeline_target *target, int fd,
				struct error *error);

/* The empty file to write the timeline to; borrowed until commit or discard. */
const char *timeline_target_path(const struct timeline_target *target);

/* What errors should name: the file asked for, or the temporary of a stream. */
const char *timeline_target_name(const struct timeline_target *target);

/*
 * Move the finished file into place, or send it on. 0, or -1 with error and
 * nothing in place; a file that the descriptor wrote to is cut back.
 */
int timeline_target_commit(struct timeline_target *target, struct error *error);

/* Throw away what was not committed; after a commit it does nothing. */
void timeline_target_discard(struct timeline_target *target);

#endif
