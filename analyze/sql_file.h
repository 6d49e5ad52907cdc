/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_SQL_FILE_H
#define CT_ANALYZE_SQL_FILE_H

#include "analyze/analysis.h"

/*
 * An analysis that the user wrote as SQL. Comments at the begin of its file say what it
 * is, a KEY: VALUE a line, continued by lines that are indented:
 *
 *	-- name: busy
 *	-- summary: which programs used the processors
 *	-- description: Needs sched_switch.
 *	-- column cpu_ns: ns, CPU
 *	-- sort: -cpu_ns
 *	-- limit: 10
 *
 * The rest is one SELECT; it may use :begin_ns, :end_ns, :nodes (a JSON array of names),
 * :min_ns, :max_ns and :interval_ns.
 */
struct sql_file;

/* NULL with an error that names file and line. */
struct sql_file *sql_file_read(const char *path, struct error *error);

/* The analysis that it makes; good as long as the file. */
const struct analysis *sql_file_analysis(const struct sql_file *file);

void sql_file_free(struct sql_file *file);

#endif
