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

char *number_print(char text[NUMBER_TEXT], double value)
{
	for (int places = 15; places <= 17; places++) {
		snprintf(text, NUMBER_TEXT, "%.*g", places, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return text;
}

/* "02:38:57.7" from a day's begin on. 0, or -1. */
static int parse_clock(const char *text, nsec_t day, nsec_t *instant)
{
	int hour, minute, length = 0;
	nsec_t second;

	if (sscanf(text, "%2d:%2d:%n", &hour, &minute, &length) != 2 || !length ||
	    strspn(text, "0123456789:.") != strlen(text))
		return -1;
	if (hour > 23 || minute > 59 || number_seconds(text + length, &second) ||
	    second >= 60 * NSEC_PER_SEC)
		return -1;
	*instant = nsec_add(day, (hour * 60 + minute) * 60 * NSEC_PER_SEC + second);
	return 0;
}

/* "2026-11-21T02:38:57.7", the clock left out or behind a blank. 0, or -1. */
static int parse_utc(const char *text, nsec_t *instant)
{
	struct tm date = {0}, back;
	int length = 0;
	time_t day;

	if (sscanf(text, "%4d-%2d-%2d%n", &date.tm_year, &date.tm_mon, &date.tm_mday,
		   &length) != 3)
		return -1;
	date.tm_year -= 1900;
	date.tm_mon--;
	back = date;
	day = timegm(&back);
	/* timegm takes a 31st of April for the 1st of May. */
	if (back.tm_mday != date.tm_mday || back.tm_mon != date.tm_mon)
		return -1;
	if (__builtin_mul_overflow(day, NSEC_PER_SEC, instant))
		return -1;
	if (!text[length])
		return 0;
	if (text[length] != 'T' && text[length] != ' ')
		return -1;
	return parse_clock(text + length + 1, *instant, instant);
}

static nsec_t day_of(nsec_t instant)
{
	nsec_t day = 86400 * NSEC_PER_SEC, into = instant % day;

	return instant - (into < 0 ? into + day : into);
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

/* Cut "Z", "+05:30" or "-05:00" off the end of a time of day; how far it is from UTC. */
static nsec_t cut_zone(char *text, bool *is_named)
{
	size_t length = strlen(text);
	unsigned hours, minutes;
	bool is_west;
	int read = 0;

	if (length && text[length - 1] == 'Z') {
		text[length - 1] = '\0';
		*is_named = true;
		return 0;
	}
	*is_named =
	    length > 6 && strchr(text, ':') < text + length - 6 &&
	    strchr("+-", text[length - 6]) &&
	    sscanf(text + length - 5, "%2u:%2u%n", &hours, &minutes, &read) == 2 &&
	    read == 5 && hours < 24 && minutes < 60;
	if (!*is_named)
		return 0;
	is_west = text[length - 6] == '-';
	text[length - 6] = '\0';
	return (is_west ? -1 : 1) * (nsec_t)(hours * 60 + minutes) * 60 * NSEC_PER_SEC;
}

int instant_parse(const char *text, nsec_t origin, nsec_t *instant, struct error *error)
{
	char *copy = mem_strdup(text);
	bool has_zone;
	nsec_t offset = cut_zone(copy, &has_zone);
	int status;

	if (strchr(copy, ':') || strchr(copy + (*copy == '-'), '-')) {
		status = parse_utc(copy, instant) &&
			 parse_clock(copy, day_of(nsec_add(origin, offset)), instant);
		*instant = status ? 0 : nsec_sub(*instant, offset);
	} else {
		status = has_zone ? -1 : parse_number(copy, origin, instant);
	}
	free(copy);
	if (!status && nsec_is_stamp(*instant))
		return 0;
	return error_misuse(
	    error,
	    "'%s' is no time, want nanoseconds, seconds, +seconds, or UTC "
	    "such as 2026-11-21T02:38:57.7",
	    text);
}
