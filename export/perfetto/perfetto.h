/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PERFETTO_PERFETTO_H
#define CT_EXPORT_PERFETTO_PERFETTO_H

#include "export/format.h"
#include "export/perfetto/rows.h"

/* What the parts of a trace share; all borrowed. */
struct perfetto {
	struct export *export;
	struct perfetto_rows *rows;
	struct perfetto_writer *writer;
};

/* What --tracks may name, in the order of the bits of `parts`; ends with NULL. */
extern const char *const perfetto_parts[];

/*
 * Put parts on their tracks, as far as they lie within the scope: the statements of
 * perfetto.sql that bear their names. 0, or -1; with error, or without where it is the
 * file that cannot be written.
 */
int perfetto_add_parts(struct perfetto *perfetto, unsigned parts, struct error *error);

#endif
