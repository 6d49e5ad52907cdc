/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_PRESETS_H
#define CT_INPUT_RECIPE_PRESETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Groups of kernel events that have a name. */
struct recipe_preset {
	const char *name;
	const char *help;
	bool syscalls; /* brings all system calls, too */
};

struct recipe_preset_event {
	const char *preset;
	const char *name;
	bool required; /* the group is of no use without it */
};

/* Both end with a row whose name is NULL. */
extern const struct recipe_preset recipe_presets[];
extern const struct recipe_preset_event recipe_preset_events[];

const struct recipe_preset *recipe_find_preset(const char *name);

/* The preset that a misspelt name may mean, or NULL. */
const char *recipe_near_preset(const char *name);

/* Sensors that need no command. The last row's name is NULL. */
struct recipe_sensor_preset {
	const char *name;
	const char *help;
	int64_t interval_ms;
	const char *command; /* POSIX sh; prints `[PART/]METRIC VALUE` lines */
};

extern const struct recipe_sensor_preset recipe_sensor_presets[];

const struct recipe_sensor_preset *recipe_find_sensor(const char *name);
const char *recipe_near_sensor(const char *name);

/* NULL where LTTng has such a context, else what is wanted. */
const char *recipe_check_context(const char *name);

#endif
