/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A clock for LTTng-UST (LTTNG_UST_CLOCK_PLUGIN), made up by MADE_UP_CLOCK as clock.h
 * says. Both the program and its session daemon load it.
 */
#include <lttng/ust-clock.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

static struct made_up_clock made_up;

static uint64_t read_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)clock_at(&made_up,
				  (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
}

static uint64_t frequency(void)
{
	return 1000000000;
}

/* One for each clock. */
static int uuid(char *text)
{
	char made[LTTNG_UST_UUID_STR_LEN];

	snprintf(made, sizeof(made), "c10cc10c-0000-4000-8000-%012llx",
		 (unsigned long long)made_up.ahead_ns & 0xffffffffffff);
	memcpy(text, made, sizeof(made));
	return 0;
}

static const char *name(void)
{
	return "made_up";
}

static const char *description(void)
{
	return "CLOCK_MONOTONIC, changed by a known function";
}

void lttng_ust_clock_plugin_init(void);
void lttng_ust_clock_plugin_init(void)
{
	if (clock_parse(getenv("MADE_UP_CLOCK"), &made_up) ||
	    lttng_ust_trace_clock_set_read64_cb(read_clock) ||
	    lttng_ust_trace_clock_set_freq_cb(frequency) ||
	    lttng_ust_trace_clock_set_uuid_cb(uuid) ||
	    lttng_ust_trace_clock_set_name_cb(name) ||
	    lttng_ust_trace_clock_set_description_cb(description) ||
	    lttng_ust_enable_trace_clock_override()) {
		fputs("clock.c: MADE_UP_CLOCK is not set, or LTTng-UST refuses it\n",
		      stderr);
		exit(1);
	}
}
