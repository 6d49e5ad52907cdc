/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PERFETTO_PATHS_H
#define CT_EXPORT_PERFETTO_PATHS_H

#include "export/perfetto/perfetto.h"

/* Write the critical paths (timeline/path.h) of the requests whose ids `sql` selects,
 * each as a track of its client. Return 0, or -1 with error. */
int perfetto_add_paths(struct perfetto *perfetto, const char *sql,
		       const struct cell *value, struct error *error);

#endif
