/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_DIRECTORY_H
#define CT_SIMULATE_DIRECTORY_H

#include "base/error.h"

/* Make a directory, or take an empty one. 0, or -1 with error. */
int directory_make(const char *path, struct error *error);

/* Make a directory unless it is there. 0, or -1 with error. */
int directory_ensure(const char *path, struct error *error);

#endif
