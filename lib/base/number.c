/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * The digits at the text, added below zero: that side of the range is the
 * larger. NULL where there are none or too many, else what follows them.
 */
static const char *digits(const char *text, int64_t *negative)
{
	if (!is_digit(*text))
		return NULL;
	for (; is_digit(*text); text++)
		if (__builtin_mul_overflow(*negative, 10, negative) ||
		    __builtin_sub_overflow(*negative, *text - '0', negative))
			return NULL;
	return text;
}

static int with_sign(bool minus, int64_t negative, int64_t *value)
{
	if (!minus && __builtin_sub_overflow((int64_t)0, negative, &negative))
		return -1;
	*value = negative;
	return 0;
}

int number_integer(const char *text, int64_t *value)
{
	bool minus = *text == '-';
	int64_t negative = 0;
	const char *end = digits(text + minus, &negative);

	return end && !*end ? with_sign(minus, negative, value) : -1;
}

int number_stamp(const char *text, nsec_t *value)
{
	return number_integer(text, value) || !nsec_is_stamp(*value) ? -1 : 0;
}

int number_seconds(const char *text, nsec_t *value)
{
	bool minus = *text == '-';
	int64_t negative = 0;
	nsec_t unit = NSEC_PER_SEC;
	const char *end = digits(text + minus, &negative);

	if (!end || __builtin_mul_overflow(negative, NSEC_PER_SEC, &negative))
		return -1;
	if (*end == '.' && !is_digit(*++end))
		return -1;
	for (; is_digit(*end); end++) {
		unit /= 10;
		if (__builtin_sub_overflow(negative, (*end - '0') * unit, &negative))
			return -1;
	}
	return *end ? -1 : with_sign(minus, negative, value);
}

int number_real(const char *text, double *value)
{
	const char *at = text + (*text == '-');
	char *end;

	/* strtod also takes blanks, hexadecimal, infinity and NaN. */
	if (!is_digit(*at))
		return -1;
	while (is_digit(*at))
		at++;
	if (*at == '.')
		at++;
	while (is_digit(*at))
		at++;
	if (*at && *at != 'e' && *at != 'E')
		return -1;
	*value = strtod(text, &end);
	return *end || !isfinite(*value) ? -1 : 0;
}
