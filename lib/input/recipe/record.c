/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is recorded beside traces: sar, captures, processes, sensors. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "input/recipe/names.h"
#include "input/recipe/presets.h"
#include "input/recipe/private.h"

#define COUNT(fields) (sizeof(fields) / sizeof(*(fields)))

/* `KEY: true` or `KEY: false` instead of a map: whether it was one of these. */
static bool is_switch(const struct recipe_value *value, bool *on)
{
	if (recipe_is_bool(value, on))
		return true;
	if (value->kind != RECIPE_TEXT || strcmp(value->text, "none") != 0)
		return false;
	*on = false;
	return true;
}

static void read_sar_interval(struct recipe_reader *reader, const char *key,
			      const struct recipe_value *value, void *target)
{
	recipe_take_seconds(reader, key, value,
			    &((struct recipe_sar *)target)->interval_s);
}

/* sadc's groups of activities; in every log there are those of `basic` as well. */
static void read_activities(struct recipe_reader *reader, const char *key,
			    const struct recipe_value *value, void *target)
{
	static const char *const words[] = {"basic", "all",   "xall", "disk", "int",
					    "ipv6",  "power", "snmp", "xdisk"};
	struct recipe_sar *sar = target;
	struct text_list names = {0};
	char *keywords = mem_strdup("");

	recipe_take_list(reader, key, value, NULL, &names);
	for (size_t i = 0; i < names.count; i++) {
		size_t k = 0;
		char *longer;

		while (k < COUNT(words) && strcasecmp(words[k], names.item[i]) != 0)
			k++;
		if (k == COUNT(words))
			recipe_mistake_add(reader->mistakes, value->place,
					   "%s: no activities '%.60s', want basic, disk, "
					   "int, ipv6, power, snmp, xdisk, all or xall",
					   key, names.item[i]);
		if (k == COUNT(words) || k == 0)
			continue;
		longer = mem_printf("%s%s%s", keywords, *keywords ? "," : "", words[k]);
		free(keywords);
		keywords = longer;
	}
	for (char *c = keywords; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	free(sar->keywords);
	sar->keywords = keywords;
	text_list_clear(&names);
}

static const struct recipe_field sar_fields[] = {
    {"interval", read_sar_interval},
    {"activities", read_activities},
};

/* clusterp's keys, which are of use only to sar, turn it on, too. */
void recipe_finish_sar(struct recipe_reader *reader)
{
	struct recipe *recipe = reader->recipe;
	struct recipe_sar *sar = &recipe->sar;
	bool on = true;

	sar->keywords = mem_strdup("XALL");
	sar->interval_s = reader->interval_s ? reader->interval_s : 1;
	if (!reader->sar)
		on = reader->interval_s || recipe->filesystems.count > 0 ||
		     recipe->interfaces.count > 0;
	else if (!is_switch(reader->sar, &on))
		recipe_map(reader, "sar", reader->sar, sar_fields, COUNT(sar_fields),
			   sar);
	sar->on = on;
}

static void read_capture_interfaces(struct recipe_reader *reader, const char *key,
				    const struct recipe_value *value, void *target)
{
	recipe_take_list(reader, key, value, recipe_check_interface,
			 &((struct recipe_capture *)target)->interfaces);
}

static void read_filter(struct recipe_reader *reader, const char *key,
			const struct recipe_value *value, void *target)
{
	const char *text = recipe_text(reader, key, value);

	if (text && *text == '-')
		recipe_want(reader, key, value, "a filter of tcpdump");
	else if (text)
		recipe_take_text(reader, key, value,
				 &((struct recipe_capture *)target)->filter);
}

static void read_snaplen(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, void *target)
{
	recipe_take_integer(reader, key, value, (const int64_t[]){64, 262144},
			    &((struct recipe_capture *)target)->snaplen);
}

static const struct recipe_field capture_fields[] = {
    {"interfaces", read_capture_interfaces},
    {"filter", read_filter},
    {"snaplen", read_snaplen},
};

void recipe_read_capture(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, void *target)
{
	struct recipe_capture *capture = &((struct recipe *)target)->capture;

	if (is_switch(value, &capture->on))
		return;
	capture->on = true;
	recipe_map(reader, key, value, capture_fields, COUNT(capture_fields), capture);
}

static void read_interval_ms(struct recipe_reader *reader, const char *key,
			     const struct recipe_value *value, void *target)
{
	recipe_take_integer(reader, key, value, (const int64_t[]){10, 3600000},
			    &((struct recipe_process *)target)->interval_ms);
}

/* Names of processes are matched by the shell, which knows no regular expressions. */
static const char *check_pattern(const char *text)
{
	if (strpbrk(text, "^$|\\\n"))
		return "a shell pattern such as 'ff*', or a list of them, not a regular "
		       "expression";
	return *text == '-' ? "a pattern that does not begin with '-'" : NULL;
}

static void read_match(struct recipe_reader *reader, const char *key,
		       const struct recipe_value *value, void *target)
{
	recipe_take_list(reader, key, value, check_pattern,
			 &((struct recipe_process *)target)->match);
}

static void read_whitelist(struct recipe_reader *reader, const char *key,
			   const struct recipe_value *value, void *target)
{
	struct recipe_process *process = target;

	if (recipe_is_bool(value, &process->whitelist))
		return;
	if (value->kind == RECIPE_TEXT && *value->text == '/' &&
	    !strchr(value->text, '\n')) {
		process->whitelist = true;
		recipe_take_text(reader, key, value, &process->directory);
	} else {
		recipe_want(reader, key, value,
			    "true, false or the absolute path of a directory");
	}
}

static const struct recipe_field process_fields[] = {
    {"interval_ms", read_interval_ms},
    {"match", read_match},
    {"whitelist", read_whitelist},
};

void recipe_read_process(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, void *target)
{
	struct recipe_process *process = &((struct recipe *)target)->process;

	if (is_switch(value, &process->on))
		return;
	process->on = true;
	recipe_map(reader, key, value, process_fields, COUNT(process_fields), process);
	if (process->whitelist && process->match.count > 0)
		recipe_mistake_add(reader->mistakes, value->place,
				   "%s: match and whitelist, want one of them", key);
}

static void read_sensor_interval(struct recipe_reader *reader, const char *key,
				 const struct recipe_value *value, void *target)
{
	recipe_take_duration(reader, key, value, 100,
			     &((struct recipe_sensor *)target)->interval_ms);
}

static void read_sensor_command(struct recipe_reader *reader, const char *key,
				const struct recipe_value *value, void *target)
{
	recipe_read_command(reader, key, value,
			    &((struct recipe_sensor *)target)->command);
}

static void read_sensor_roles(struct recipe_reader *reader, const char *key,
			      const struct recipe_value *value, void *target)
{
	recipe_take_list(reader, key, value, NULL,
			 &((struct recipe_sensor *)target)->roles);
}

static const struct recipe_field sensor_fields[] = {
    {"command", read_sensor_command},
    {"interval", read_sensor_interval},
    {"roles", read_sensor_roles},
};

/* A sensor that has no command is one that is known by its name. */
static void complete_sensor(struct recipe_reader *reader, struct recipe_sensor *sensor,
			    struct recipe_place place)
{
	const struct recipe_sensor_preset *preset = recipe_find_sensor(sensor->name);
	const char *near = recipe_near_sensor(sensor->name);

	if (!sensor->command.text && !preset) {
		recipe_mistake_add(
		    reader->mistakes, place,
		    "sensors: %s has no command, and is none of those that "
		    "need none%s%s",
		    sensor->name, near ? ", is it meant to be " : "", near ? near : "");
		return;
	}
	if (!sensor->interval_ms)
		sensor->interval_ms = preset ? preset->interval_ms : 10000;
	if (sensor->command.text)
		return;
	sensor->command.text = mem_strdup(preset->command);
	sensor->command.place = place;
	sensor->preset = true;
}

static void read_sensor(struct recipe_reader *reader, const char *name,
			struct recipe_place place, const struct recipe_value *value)
{
	struct recipe *recipe = reader->recipe;
	const char *wanted = recipe_check_sensor(name);
	size_t count = reader->mistakes->count;
	struct recipe_sensor *sensor;
	bool on = true;

	if (wanted) {
		recipe_mistake_add(reader->mistakes, place,
				   "sensors: the name is '%.80s', want %s", name, wanted);
		return;
	}
	if (value && is_switch(value, &on) && !on)
		return;
	recipe->sensor = mem_grow(recipe->sensor, recipe->sensors, &recipe->sensor_room,
				  sizeof(*recipe->sensor));
	sensor = &recipe->sensor[recipe->sensors++];
	memset(sensor, 0, sizeof(*sensor));
	sensor->name = mem_strdup(name);
	sensor->place = place;
	if (value && value->kind == RECIPE_MAP)
		recipe_map(reader, "a sensor", value, sensor_fields, COUNT(sensor_fields),
			   sensor);
	else if (value && !recipe_value_is_null(value) && !is_switch(value, &on))
		recipe_read_command(reader, name, value, &sensor->command);
	if (reader->mistakes->count == count)
		complete_sensor(reader, sensor, place);
}

void recipe_read_sensors(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, void *target)
{
	struct text_list names = {0};

	(void)target;
	for (size_t i = 0; value->kind == RECIPE_MAP && i < value->count; i++)
		read_sensor(reader, value->entry[i].key, value->entry[i].place,
			    &value->entry[i].value);
	if (value->kind != RECIPE_MAP)
		recipe_take_list(reader, key, value, NULL, &names);
	for (size_t i = 0; i < names.count; i++)
		read_sensor(reader, names.item[i], value->place, NULL);
	text_list_clear(&names);
}
