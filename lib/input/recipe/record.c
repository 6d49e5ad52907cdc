/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is recorded beside traces: sar with its devices, captures, processes, sensors. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "input/recipe/names.h"
#include "input/recipe/presets.h"
#include "input/recipe/private.h"

#define COUNT(fields) (sizeof(fields) / sizeof(*(fields)))

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
    FIELD("interval", INTEGER, struct recipe_sar, interval_s, .least = 1, .most = 86400),
    {.key = "activities", .read = read_activities},
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
	else if (!recipe_is_switch(reader->sar, &on))
		recipe_map(reader, "sar", reader->sar, sar_fields, COUNT(sar_fields),
			   sar);
	sar->on = on;
}

/* What names a device may have in reports: anything on one line. */
static void add_alias(struct recipe_reader *reader, const char *key,
		      struct recipe_place place, const char *const texts[2],
		      const char *(*check)(const char *))
{
	struct recipe_aliases *list = reader->aliases;
	const char *wanted = check(texts[0]);

	if (wanted)
		recipe_mistake_add(reader->mistakes, place, "%s: it is '%.80s', want %s",
				   key, texts[0], wanted);
	if (strlen(texts[1]) > 80 || strpbrk(texts[1], "\n\r\t"))
		recipe_mistake_add(reader->mistakes, place,
				   "%s: the alias of %.80s is '%.80s', want up to 80 "
				   "characters on one line",
				   key, texts[0], texts[1]);
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->item[i].name, texts[0]) == 0) {
			recipe_mistake_add(reader->mistakes, place,
					   "%s: %.80s stands there twice", key, texts[0]);
			return;
		}
	list->item = mem_grow(list->item, list->count, &list->room, sizeof(*list->item));
	list->item[list->count].name = mem_strdup(texts[0]);
	list->item[list->count++].alias = mem_strdup(texts[1]);
}

static void read_alias_map(struct recipe_reader *reader, const char *key,
			   const struct recipe_value *map,
			   const char *(*check)(const char *))
{
	for (size_t i = 0; i < map->count; i++) {
		const struct recipe_entry *entry = &map->entry[i];
		const char *alias = entry->key;

		if (!recipe_value_is_null(&entry->value))
			alias = recipe_text(reader, key, &entry->value);
		if (alias)
			add_alias(reader, key, entry->place,
				  (const char *const[]){entry->key, alias}, check);
	}
}

/* A list of names and of maps NAME: ALIAS, or one map. */
static void read_aliases(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value,
			 const char *(*check)(const char *))
{
	if (value->kind == RECIPE_MAP)
		read_alias_map(reader, key, value, check);
	else if (value->kind == RECIPE_TEXT)
		add_alias(reader, key, value->place,
			  (const char *const[]){value->text, value->text}, check);
	for (size_t i = 0; value->kind == RECIPE_LIST && i < value->count; i++) {
		const struct recipe_value *item = &value->entry[i].value;

		if (item->kind == RECIPE_MAP)
			read_alias_map(reader, key, item, check);
		else if (recipe_text(reader, key, item))
			add_alias(reader, key, item->place,
				  (const char *const[]){item->text, item->text}, check);
	}
}

void recipe_read_filesystems(struct recipe_reader *reader, const char *key,
			     const struct recipe_value *value, void *target)
{
	reader->aliases = &((struct recipe *)target)->filesystems;
	read_aliases(reader, key, value, recipe_check_device);
}

void recipe_read_interfaces(struct recipe_reader *reader, const char *key,
			    const struct recipe_value *value, void *target)
{
	reader->aliases = &((struct recipe *)target)->interfaces;
	read_aliases(reader, key, value, recipe_check_interface);
}

static const char *check_filter(const char *text)
{
	return *text == '-' ? "a filter of tcpdump" : NULL;
}

static const struct recipe_field capture_fields[] = {
    FIELD("interfaces", LIST, struct recipe_capture, interfaces,
	  .check = recipe_check_interface),
    FIELD("filter", TEXT, struct recipe_capture, filter, .check = check_filter),
    FIELD("snaplen", INTEGER, struct recipe_capture, snaplen, .least = 64,
	  .most = 262144),
};

void recipe_read_capture(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, void *target)
{
	struct recipe_capture *capture = &((struct recipe *)target)->capture;

	if (recipe_is_switch(value, &capture->on))
		return;
	capture->on = true;
	recipe_map(reader, key, value, capture_fields, COUNT(capture_fields), capture);
}

/* Names of processes are matched by the shell, which knows no regular expressions. */
static const char *check_pattern(const char *text)
{
	if (strpbrk(text, "^$|\\\n"))
		return "a shell pattern such as 'ff*', or a list of them, not a regular "
		       "expression";
	return *text == '-' ? "a pattern that does not begin with '-'" : NULL;
}

static const char *check_directory(const char *text)
{
	return *text == '/' && !strchr(text, '\n')
		   ? NULL
		   : "true, false or the absolute path of a directory";
}

static void read_whitelist(struct recipe_reader *reader, const char *key,
			   const struct recipe_value *value, void *target)
{
	const struct recipe_field directory = {
	    .key = "whitelist", .type = FIELD_TEXT, .check = check_directory};
	struct recipe_process *process = target;

	if (!recipe_is_bool(value, &process->whitelist))
		process->whitelist = recipe_field_take(reader, &directory, key, value,
						       &process->directory);
}

static const struct recipe_field process_fields[] = {
    FIELD("interval_ms", INTEGER, struct recipe_process, interval_ms, .least = 10,
	  .most = 3600000),
    FIELD("match", LIST, struct recipe_process, match, .check = check_pattern),
    {.key = "whitelist", .read = read_whitelist},
};

void recipe_read_process(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, void *target)
{
	struct recipe_process *process = &((struct recipe *)target)->process;

	if (recipe_is_switch(value, &process->on))
		return;
	process->on = true;
	recipe_map(reader, key, value, process_fields, COUNT(process_fields), process);
	if (process->whitelist && process->match.count > 0)
		recipe_mistake_add(reader->mistakes, value->place,
				   "%s: match and whitelist, want one of them", key);
}

static const struct recipe_field sensor_fields[] = {
    FIELD("command", COMMAND, struct recipe_sensor, command),
    FIELD("interval", DURATION, struct recipe_sensor, interval_ms, .least = 100),
    FIELD("roles", LIST, struct recipe_sensor, roles),
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
	if (value && recipe_is_switch(value, &on) && !on)
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
	else if (value && !recipe_value_is_null(value) && !recipe_is_switch(value, &on))
		recipe_field_take(reader, &sensor_fields[0], name, value,
				  &sensor->command);
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
