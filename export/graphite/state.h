/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_GRAPHITE_STATE_H
#define CT_EXPORT_GRAPHITE_STATE_H

#include <stdint.h>

#include "base/error.h"

/*
 * How many points of an export were delivered, in a file of one JSON object. `key` is
 * what is exported and to where; a file of another key is an error. Where there is no
 * file, 0 points. 0, or -1 with error.
 */
int graphite_state_read(const char *path, const char *key, uint64_t *points,
			struct error *error);

/* Replaces the file at once. 0, or -1 with error. */
int graphite_state_write(const char *path, const char *key, uint64_t points,
			 struct error *error);

#endif
