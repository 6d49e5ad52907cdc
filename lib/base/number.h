/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_NUMBER_H
#define CT_BASE_NUMBER_H

#include <stdint.h>

#include "base/error.h"
#include "base/nsec.h"

/*
 * Numbers as files have them: the whole text, decimal, no blanks, no plus sign,
 * nothing that depends on a locale. All return 0, or -1 where the text is none.
 */
int number_integer(const char *text, int64_t *value);

/* An instant in nanoseconds, between the years 1967 and 2111. */
int number_stamp(const char *text, nsec_t *value);

/*
 * Seconds with or without a fraction, to nanoseconds without a double between.
 * Digits after the ninth of the fraction are cut off.
 */
int number_seconds(const char *text, nsec_t *value);

/* A finite number: 4.29, -1, 2.5e-3. */
int number_real(const char *text, double *value);

/* A number with as few digits, from 15 on, as give the same double when they are read;
 * returns the text. */
enum { NUMBER_TEXT = 40 }; /* bytes, enough for every number */
char *number_print(char text[NUMBER_TEXT], double value);

/*
 * An instant as users type it: nanoseconds since the epoch; seconds since then, with
 * a fraction or in up to 11 digits; seconds from `origin` on, as "+12.5"; or a time of
 * day, as 2026-11-21T02:38:57.7, and 02:38:57.7 of origin's day: UTC, with or without a Z
 * behind it, or by a zone that is named there, as 08:08:57.7+05:30. 0, or -1 with error.
 */
int instant_parse(const char *text, nsec_t origin, nsec_t *instant, struct error *error);

#endif
