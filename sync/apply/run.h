/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_APPLY_RUN_H
#define CT_SYNC_APPLY_RUN_H

#include <stdio.h>

#include "base/problem.h"
#include "clock/map.h"

/*
 * Make every CTF trace of the map, and say to `talk` how exact each one is:
 * directory/NAME is the trace of that name on its reference's clock; where the name is no
 * file name, base/file_name.h makes one of it. They come into place when all are made,
 * and none does where one of the names is there already. A trace that cannot be made
 * becomes a problem. 0, or -1 with error when the directory cannot.
 */
int apply_run(const struct clock_map *map, const char *directory, FILE *talk,
	      struct problem_list *problems, struct error *error);

#endif
