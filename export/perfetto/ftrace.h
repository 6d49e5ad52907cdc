/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PERFETTO_FTRACE_H
#define CT_EXPORT_PERFETTO_FTRACE_H

#include "export/perfetto/perfetto.h"

/* Whether the rows of a statement of this kind become events of the kernel. */
bool ftrace_has_kind(const char *kind);

/* Write them. 0, or -1 with error. */
int ftrace_add(struct perfetto *perfetto, const char *kind, const char *sql,
	       const struct cell *value, struct error *error);

/* Say what the machines are: rows of id, name, kernel, cpus, mem_kib of nodes. As above.
 */
int ftrace_add_machines(struct perfetto *perfetto, const char *sql, struct error *error);

#endif
