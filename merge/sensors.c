/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "input/sensors.h"
#include "merge/samples_private.h"

/* Sensors name what they read by its unit, where it is one of these. */
static const struct {
	const char *unit, *kind;
} units[] = {
    {"celsius", "gauge"}, {"joules", "counter"}, {"watts", "gauge"}, {"volts", "gauge"},
    {"amperes", "gauge"}, {"hertz", "gauge"},    {"rpm", "gauge"},   {"percent", "gauge"},
};

static struct timeline_metric about(const char *name)
{
	struct timeline_metric metric = {.name = name, .activity = "sensor"};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(units[i].unit, name) != 0)
			continue;
		metric.unit = units[i].unit;
		metric.kind = units[i].kind;
	}
	return metric;
}

static int take_row(void *context, const struct sensor_sample *sample)
{
	struct sampler *sampler = context;
	struct sampled sampled = {.metric = about(sample->metric),
				  .item_type = "sensor",
				  .item = sample->sensor,
				  .ts_ns =
				      stamps_place(&sampler->stamps, sample->realtime_ns),
				  .interval_ns = TIMELINE_NONE,
				  .value = sample->value};

	if (!sampler_wants(sampler, sampled.ts_ns))
		return 0;
	return sampler_add(sampler, &sampled) ? 1 : 0;
}

int sample_sensors(struct sampler *sampler, const char *path)
{
	int status = sensors_read(path, take_row, sampler, &sampler->run->problems);

	return status > 0 ? -1 : 0;
}
