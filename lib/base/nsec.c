/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/nsec.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

char *nsec_format_span(char text[NSEC_TEXT], double span_ns)
{
	static const struct {
		double least, unit;
		int digits;
		const char *name;
	} scale[] = {
	    {1e9, 1e9, 6, "s"},
	    {1e6, 1e6, 3, "ms"},
	    {1e3, 1e3, 3, "us"},
	    {0, 1, 0, "ns"},
	};
	size_t k = 0;

	while (fabs(span_ns) < scale[k].least)
		k++;
	snprintf(text, NSEC_TEXT, "%.*f %s", scale[k].digits, span_ns / scale[k].unit,
		 scale[k].name);
	return text;
}

char *nsec_format_seconds(char text[NSEC_TEXT], nsec_t instant)
{
	uint64_t size = instant < 0 ? -(uint64_t)instant : (uint64_t)instant;

	snprintf(text, NSEC_TEXT, "%s%" PRIu64 ".%09" PRIu64, instant < 0 ? "-" : "",
		 size / (uint64_t)NSEC_PER_SEC, size % (uint64_t)NSEC_PER_SEC);
	return text;
}

char *nsec_format_utc(char text[NSEC_TEXT], nsec_t instant)
{
	nsec_t part = instant % NSEC_PER_SEC;
	time_t seconds = (time_t)(instant / NSEC_PER_SEC);
	struct tm broken;
	char day[32];

	if (part < 0) {
		part += NSEC_PER_SEC;
		seconds--;
	}
	if (!gmtime_r(&seconds, &broken) ||
	    !strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &broken))
		return nsec_format_seconds(text, instant);
	snprintf(text, NSEC_TEXT, "%s.%09" PRId64, day, part);
	return text;
}

int nsec_parse(const char *text, nsec_t *value)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(text, &end, 10);
	if (errno || end == text || *end)
		return -1;
	*value = number;
	return 0;
}

bool nsec_is_stamp(nsec_t instant)
{
	return instant >= NSEC_STAMP_LEAST && instant <= NSEC_STAMP_MOST;
}

nsec_t nsec_add(nsec_t a, nsec_t b)
{
	nsec_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? NSEC_MAX : NSEC_MIN;
	return sum;
}

nsec_t nsec_sub(nsec_t a, nsec_t b)
{
	nsec_t difference;

	if (__builtin_sub_overflow(a, b, &difference))
		return b < 0 ? NSEC_MAX : NSEC_MIN;
	return difference;
}

nsec_t nsec_round(double value)
{
	if (value >= 0x1p63)
		return NSEC_MAX;
	if (value < -0x1p63)
		return NSEC_MIN;
	return (nsec_t)llround(value);
}
