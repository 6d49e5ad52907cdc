/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PERFETTO_FTRACE_H
#define CT_EXPORT_PERFETTO_FTRACE_H

#include "export/perfetto/perfetto.h"

/* Return true if statements of this kind give kernel events. */
bool ftrace_has_kind(const char *kind);

/* Write the rows of a statement as kernel events. Return 0, or -1 with error. */
int ftrace_add(struct perfetto *perfetto, const char *kind, const char *sql,
	       const struct cell *value, struct error *error);

/* Say what the machines are: rows of id, name, kernel, cpus, mem_kib of nodes. As above.
 */
int ftrace_add_machines(struct perfetto *perfetto, const char *sql, struct error *error);

#endif
