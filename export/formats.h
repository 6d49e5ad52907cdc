/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_FORMATS_H
#define CT_EXPORT_FORMATS_H

#include "export/format.h"

/* Each is the whole of export/NAME.c to others. */
extern const struct export_format export_csv;
extern const struct export_format export_json;
extern const struct export_format export_tracekit;
extern const struct export_format export_graphite;
extern const struct export_format export_parquet;
extern const struct export_format export_perfetto;
extern const struct export_format export_opendc;

#endif
