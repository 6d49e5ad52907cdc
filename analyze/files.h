/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_FILES_H
#define CT_ANALYZE_FILES_H

#include "base/error.h"

/* Make a directory, and those above it; one that is there is fine. 0, or -1 with error.
 */
int files_make_directory(const char *path, struct error *error);

#endif
