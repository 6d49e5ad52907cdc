/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_VERIFY_H
#define CT_EXPORT_OPENDC_VERIFY_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/*
 * Check a workload trace of OpenDC in a directory, ours or another's, as Parquet or CSV.
 * Of version `schema`, 0: find out. What was found goes to `out`, as text or JSON. 0; or
 * -1 with error where the trace has errors, or cannot be read.
 */
int opendc_verify(const char *directory, int schema, bool json, FILE *out,
		  struct error *error);

#endif
