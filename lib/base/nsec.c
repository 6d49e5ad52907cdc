/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/nsec.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/order.h"

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

struct zone zone_at(bool is_local, nsec_t instant)
{
	time_t seconds = (time_t)(instant / NSEC_PER_SEC);
	struct zone zone = {0, "UTC"};
	struct tm broken;
	long away;

	if (is_local)
		tzset();
	if (!is_local || !localtime_r(&seconds, &broken) || !broken.tm_gmtoff)
		return zone;
	zone.offset_ns = broken.tm_gmtoff * NSEC_PER_SEC;
	away = labs(broken.tm_gmtoff);
	snprintf(zone.name, sizeof(zone.name), "UTC%c%02ld:%02ld",
		 broken.tm_gmtoff < 0 ? '-' : '+', away / 3600 % 100, away / 60 % 60);
	return zone;
}

char *zone_format(char text[NSEC_TEXT], const struct zone *zone, nsec_t instant)
{
	return nsec_format_utc(text, nsec_add(instant, zone->offset_ns));
}

static nsec_t day_of(const struct zone *zone, nsec_t instant)
{
	nsec_t day = 86400 * NSEC_PER_SEC, there = nsec_add(instant, zone->offset_ns);

	return there / day - (there % day < 0);
}

bool zone_is_one_day(const struct zone *zone, nsec_t a, nsec_t b)
{
	return day_of(zone, a) == day_of(zone, b);
}

bool nsec_is_stamp(nsec_t instant)
{
	return instant >= NSEC_STAMP_LEAST && instant <= NSEC_STAMP_MOST;
}

nsec_t nsec_monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
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

int nsec_compare(const void *a, const void *b)
{
	nsec_t p = *(const nsec_t *)a, q = *(const nsec_t *)b;

	return COMPARE(p, q);
}

nsec_t nsec_round(double value)
{
	if (value >= 0x1p63)
		return NSEC_MAX;
	if (value < -0x1p63)
		return NSEC_MIN;
	return (nsec_t)llround(value);
}
