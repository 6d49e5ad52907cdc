/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_NUMBER_H
#define CT_BASE_NUMBER_H

#include <stdint.h>

#include "base/error.h"
#include "base/nsec.h"

/*
 * Parsers for numbers in files. The whole string must be a decimal number, without blanks
 * or a plus sign, whatever the locale. Return 0, or -1 if the string is not one.
 */
int number_integer(const char *text, int64_t *value);

/* Parse an instant in nanoseconds, between the years 1967 and 2111. */
int number_stamp(const char *text, nsec_t *value);

/*
 * Parse seconds with or without a fraction, using integers only. Digits of the fraction
 * after the ninth are cut off.
 */
int number_seconds(const char *text, nsec_t *value);

/* Parse a finite number: 4.29, -1, 2.5e-3. */
int number_real(const char *text, double *value);

/* Format a number with as few digits, but at least 15, as read back as the same double.
 * Return `text`. */
enum { NUMBER_TEXT = 40 }; /* bytes that hold every number, with its NUL */
char *number_print(char text[NUMBER_TEXT], double value);

/*
 * Parse an instant as users type it:
 * - nanoseconds since the epoch;
 * - seconds since the epoch, with a fraction or with at most 11 digits;
 * - seconds after `origin`: "+12.5";
 * - a date and a time, or one of them: 2026-11-21T02:38:57.7. A time alone is on the day
 *   of `origin`. The zone is UTC, or is given as in 08:08:57.7+05:30.
 *
 * Return 0, or -1 with error.
 */
int instant_parse(const char *text, nsec_t origin, nsec_t *instant, struct error *error);

#endif
