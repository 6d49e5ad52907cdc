/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Parse digits into a number below zero, which is the larger half of the range. Return
 * what follows them, or NULL if there are none or too many.
 */
static const char *parse_digits(const char *text, int64_t *negative)
{
	if (!is_digit(*text))
		return NULL;
	for (; is_digit(*text); text++)
		if (__builtin_mul_overflow(*negative, 10, negative) ||
		    __builtin_sub_overflow(*negative, *text - '0', negative))
			return NULL;
	return text;
}

static int apply_sign(bool minus, int64_t negative, int64_t *value)
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
	const char *end = parse_digits(text + minus, &negative);

	return end && !*end ? apply_sign(minus, negative, value) : -1;
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
	const char *end = parse_digits(text + minus, &negative);

	if (!end || __builtin_mul_overflow(negative, NSEC_PER_SEC, &negative))
		return -1;
	if (*end == '.' && !is_digit(*++end))
		return -1;
	for (; is_digit(*end); end++) {
		unit /= 10;
		if (__builtin_sub_overflow(negative, (*end - '0') * unit, &negative))
			return -1;
	}
	return *end ? -1 : apply_sign(minus, negative, value);
}

int number_real(const char *text, double *value)
{
	const char *at = text + (*text == '-');
	char *end;

	/* strtod() also accepts blanks, hexadecimal, infinity and NaN. */
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

char *number_print(char text[NUMBER_TEXT], double value)
{
	for (int places = 15; places <= 17; places++) {
		snprintf(text, NUMBER_TEXT, "%.*g", places, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return text;
}

static nsec_t day_of(nsec_t instant)
{
	nsec_t day = 86400 * NSEC_PER_SEC, into = instant % day;

	return instant - (into < 0 ? into + day : into);
}

/* Parse a time of day such as "02:38:57.7", with or without a zone. Return 0 or -1. */
static int parse_clock(const char *text, nsec_t *clock, nsec_t *zone)
{
	struct tm tm = {0};
	const char *end = strptime(text, "%H:%M:%S", &tm);
	size_t digits = end ? strspn(end, ".0123456789") : 0;
	AUTOFREE char *part = end ? mem_printf("0%.*s", (int)digits, end) : NULL;

	/* strptime() also accepts leap seconds, and blanks in front of numbers. */
	if (!end || tm.tm_sec > 59 || strchr(text, ' ') || number_seconds(part, clock))
		return -1;
	end += digits;
	if (*end &&
	    (!(end = strptime(end, "%z", &tm)) || *end || labs(tm.tm_gmtoff) >= 86400))
		return -1;
	*clock += (tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec) * NSEC_PER_SEC;
	*zone = tm.tm_gmtoff * NSEC_PER_SEC;
	return 0;
}

/* Parse "2026-11-21T02:38:57.7+05:30", without the date or without the time. */
static int parse_utc(const char *text, nsec_t origin, nsec_t *instant)
{
	struct tm tm = {0}, back;
	const char *date = strptime(text, "%Y-%m-%d", &tm);
	nsec_t day, clock = 0, zone = 0;

	if (date && *date && *date != 'T' && *date != ' ')
		return -1;
	if ((!date || *date) && parse_clock(date ? date + 1 : text, &clock, &zone))
		return -1;
	back = tm;
	if (!date)
		day = day_of(nsec_add(origin, zone));
	else if (__builtin_mul_overflow(timegm(&back), NSEC_PER_SEC, &day) ||
		 back.tm_mday != tm.tm_mday) /* timegm() made April 31 May 1 */
		return -1;
	*instant = nsec_sub(nsec_add(day, clock), zone);
	return 0;
}

static int parse_number(const char *text, nsec_t origin, nsec_t *instant)
{
	if (*text == '+') {
		if (number_seconds(text + 1, instant))
			return -1;
		*instant = nsec_add(origin, *instant);
		return 0;
	}
	if (strchr(text, '.') || strlen(text) <= 11)
		return number_seconds(text, instant);
	return number_integer(text, instant);
}

int instant_parse(const char *text, nsec_t origin, nsec_t *instant, struct error *error)
{
	bool is_utc = strchr(text, ':') || strchr(text + (*text == '-'), '-');

	if (!(is_utc ? parse_utc : parse_number)(text, origin, instant) &&
	    nsec_is_stamp(*instant))
		return 0;
	return error_misuse(
	    error,
	    "invalid time '%s' (expected nanoseconds, seconds, +seconds, or UTC such as "
	    "2026-11-21T02:38:57.7)",
	    text);
}
