/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_SINK_H
#define CT_EXPORT_OPENDC_SINK_H

#include "base/error.h"
#include "export/opendc/schema.h"

/* A table's file while it is written, Parquet or CSV. */
struct opendc_sink;

/* Below a directory. Copies the table; NULL with error. */
struct opendc_sink *opendc_sink_new(const char *directory,
				    const struct opendc_table *table, bool csv,
				    struct error *error);

/* A fact for the file's own metadata, which CSV does not have. */
void opendc_sink_tell(struct opendc_sink *sink, const char *key, const char *value);

/* A row's cells and lists by their field (enum opendc_field); those that the table does
 * not have are not looked at. 0, or -1 with error. */
int opendc_sink_add(struct opendc_sink *sink, const struct cell *cell,
		    const struct parquet_list *list, struct error *error);

/* Write the rest; 0, or -1 with error. Frees it, as the next one does without that. */
int opendc_sink_finish(struct opendc_sink *sink, struct error *error);

void opendc_sink_free(struct opendc_sink *sink);

#endif
