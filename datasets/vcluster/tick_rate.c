/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vcluster/tick_rate.h"

#include <math.h>
#include <stdint.h>
#include <time.h>

#include "base/nsec.h"

#ifdef __x86_64__

enum { READINGS = 100 };

static nsec_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC_RAW, &time);
	return (nsec_t)time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

struct instant {
	nsec_t at_ns;
	uint64_t ticks;
};

/* Both at nearly one instant: the counter between the two closest stamps of many. */
static struct instant read_both(void)
{
	struct instant instant = {0};
	nsec_t least_ns = NSEC_MAX;

	for (int i = 0; i < READINGS; i++) {
		nsec_t before = now();
		uint64_t count = __builtin_ia32_rdtsc();
		nsec_t after = now();

		if (after - before < least_ns) {
			least_ns = after - before;
			instant.at_ns = before + least_ns / 2;
			instant.ticks = count;
		}
	}
	return instant;
}

int tick_rate_khz(long *khz, struct error *error)
{
	struct timespec second = {.tv_sec = 1};
	struct instant begin = read_both(), end;

	while (nanosleep(&second, &second))
		;
	end = read_both();
	*khz = lround((double)(end.ticks - begin.ticks) * 1e6 /
		      (double)(end.at_ns - begin.at_ns));
	if (*khz <= 0)
		return error_set(error, "the time stamp counter does not count");
	return 0;
}

#else

int tick_rate_khz(long *khz, struct error *error)
{
	*khz = 0;
	return error_set(error, "no time stamp counter, want an x86-64 processor");
}

#endif
