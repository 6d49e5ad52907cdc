/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_SENSORS_H
#define CT_INPUT_SENSORS_H

#include <stdint.h>

#include "base/nsec.h"
#include "base/problem.h"

/* What a sensor of the node read, by its real-time clock: sensors.csv. */
struct sensor_sample {
	nsec_t realtime_ns;
	const char *sensor; /* "coretemp/temp1", "rapl/package-0" */
	const char *metric; /* "celsius", "joules" */
	double value;
	uint64_t line;
};

/*
 * Read a sensors.csv: realtime_ns,sensor,metric,value with or without a header
 * line. Texts are valid until the callback returns. Returns as
 * proc_samples_read does.
 */
int sensors_read(const char *path,
		 int (*row)(void *context, const struct sensor_sample *sample),
		 void *context, struct problem_list *problems);

#endif
