/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_CLOCK_FILE_H
#define CT_MERGE_CLOCK_FILE_H

#include "merge/run.h"

/*
 * Read a clock map that was made of this run, maybe elsewhere or under other
 * names, into run->map. A source's clock is the one of its name, else the one
 * whose path ends most like its own. Names of the map become those of sources;
 * clocks that no source has are left out and become problems. 0, or -1 with
 * error, which names file and member.
 */
int clock_file_read(struct merge_run *run, const char *path, struct error *error);

#endif
