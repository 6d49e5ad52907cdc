/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_INSTANT_H
#define CT_BASE_INSTANT_H

#include "base/error.h"
#include "base/nsec.h"

/*
 * An instant as users type it: nanoseconds since the epoch; seconds since then, with
 * a fraction or in up to 11 digits; seconds from `origin` on, as "+12.5"; or a time of
 * day, as 2026-11-21T02:38:57.7, and 02:38:57.7 of origin's day: UTC, with or without a Z
 * behind it, or by a zone that is named there, as 08:08:57.7+05:30. 0, or -1 with error.
 */
int instant_parse(const char *text, nsec_t origin, nsec_t *instant, struct error *error);

#endif
