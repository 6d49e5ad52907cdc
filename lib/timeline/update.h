/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_UPDATE_H
#define CT_TIMELINE_UPDATE_H

#include "timeline/reader.h"

/*
 * Open a timeline that its writer has just finished, to add rows that follow from those
 * that it has: its queries may INSERT, too. Errors name `place`, the file that the user
 * asked for; NULL: the path. Nobody else has the file, and one that was not committed is
 * thrown away, so there is no journal. NULL with error.
 */
struct timeline_reader *timeline_update_open(const char *path, const char *place,
					     struct error *error);

/* Make what was added part of the file, after its queries are freed. The reader is left
 * to timeline_reader_free, as it is without this. 0, or -1 with error. */
int timeline_update_commit(struct timeline_reader *reader, struct error *error);

#endif
