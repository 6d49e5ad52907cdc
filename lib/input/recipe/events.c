/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What LTTng records. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/recipe/names.h"
#include "input/recipe/presets.h"
#include "input/recipe/private.h"

static void add_event(struct recipe_events *events, const char *name, bool required)
{
	struct recipe_event *event;

	for (size_t i = 0; i < events->count; i++)
		if (strcmp(events->item[i].name, name) == 0) {
			events->item[i].required |= required;
			return;
		}
	events->item =
	    mem_grow(events->item, events->count, &events->room, sizeof(*events->item));
	event = &events->item[events->count++];
	event->name = mem_strdup(name);
	event->required = required;
}

static void add_preset(struct recipe_reader *reader, const struct recipe_preset *preset)
{
	struct recipe *recipe = reader->recipe;
	const struct recipe_preset_event *row = recipe_preset_events;

	for (; row->name; row++)
		if (strcmp(row->preset, preset->name) == 0)
			add_event(&recipe->event[RECIPE_KERNEL], row->name,
				  row->required);
	reader->all_syscalls |= preset->syscalls;
}

/* Kernel events have an underscore; a word without one may be a misspelt preset. */
static const char *meant_preset(const char *name)
{
	return strpbrk(name, "_*?:") ? NULL : recipe_near_preset(name);
}

static bool read_kernel_list(struct recipe_reader *reader, const char *key,
			     const struct recipe_value *value, bool *named)
{
	struct text_list names = {0};
	bool well = recipe_take_list(reader, key, value, recipe_check_event, &names);

	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.item[i], *near;
		const struct recipe_preset *preset = recipe_find_preset(name);

		if (preset) {
			add_preset(reader, preset);
			*named = true;
			continue;
		}
		near = meant_preset(name);
		if (near)
			recipe_mistake_add(
			    reader->mistakes, value->place,
			    "%s: '%.60s' is no preset, is it meant to be %s", key, name,
			    near);
		add_event(&reader->recipe->event[RECIPE_KERNEL], name, true);
	}
	text_list_clear(&names);
	return well;
}

static void read_presets(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, void *target)
{
	struct text_list names = {0};

	(void)target;
	recipe_take_list(reader, key, value, NULL, &names);
	for (size_t i = 0; i < names.count; i++) {
		const struct recipe_preset *preset = recipe_find_preset(names.item[i]);
		const char *near = recipe_near_preset(names.item[i]);

		if (preset)
			add_preset(reader, preset);
		else
			recipe_mistake_add(reader->mistakes, value->place,
					   "%s: no preset '%.60s', %s%s", key,
					   names.item[i],
					   near ? "is it meant to be "
						: "want one that `ctrecipe events` lists",
					   near ? near : "");
	}
	text_list_clear(&names);
}

static const char *check_syscall(const char *name)
{
	if (strcmp(name, "all") == 0 || strcmp(name, "none") == 0)
		return "all, none or a list of names, not both";
	return recipe_check_event(name);
}

static void read_syscalls(struct recipe_reader *reader, const char *key,
			  const struct recipe_value *value, void *target)
{
	struct recipe *recipe = reader->recipe;
	struct text_list names = {0};
	bool is;

	(void)target;
	if (reader->syscalls.line) {
		recipe_mistake_add(reader->mistakes, value->place,
				   "%s: line %zu chooses system calls already", key,
				   reader->syscalls.line);
		return;
	}
	reader->syscalls = value->place;
	if (value->kind == RECIPE_TEXT && strcmp(value->text, "none") == 0)
		is = false;
	else if (value->kind == RECIPE_TEXT && strcmp(value->text, "all") == 0)
		is = true;
	else if (!recipe_is_bool(value, &is)) {
		recipe_take_list(reader, key, value, check_syscall, &names);
		for (size_t i = 0; i < names.count; i++)
			add_event(&recipe->syscall, names.item[i], true);
		text_list_clear(&names);
		return;
	}
	if (is)
		add_event(&recipe->syscall, "*", true);
}

static void read_kernel_events(struct recipe_reader *reader, const char *key,
			       const struct recipe_value *value, void *target)
{
	bool presets = false;

	(void)target;
	read_kernel_list(reader, key, value, &presets);
}

static const struct recipe_field kernel_fields[] = {
    {"events", read_kernel_events},
    {"presets", read_presets},
    {"syscalls", read_syscalls},
};

static void read_kernel(struct recipe_reader *reader, const char *key,
			const struct recipe_value *value, void *target)
{
	bool presets = false, is = true;

	if (recipe_is_bool(value, &is) && !is)
		return;
	if (value->kind == RECIPE_TEXT && strcmp(value->text, "none") == 0)
		return;
	if (value->kind == RECIPE_MAP) {
		recipe_map(reader, "events: kernel", value, kernel_fields,
			   sizeof(kernel_fields) / sizeof(*kernel_fields), target);
		return;
	}
	read_kernel_list(reader, key, value, &presets);
	/* A list of events alone is one of lttng-cluster's, which traces all of them. */
	reader->all_syscalls |= value->kind == RECIPE_LIST && value->count && !presets;
}

static void read_userspace(struct recipe_reader *reader, const char *key,
			   const struct recipe_value *value, void *target)
{
	struct recipe *recipe = target;
	struct text_list names = {0};

	recipe_take_list(reader, key, value, recipe_check_event, &names);
	for (size_t i = 0; i < names.count; i++)
		add_event(&recipe->event[RECIPE_USERSPACE], names.item[i], true);
	text_list_clear(&names);
}

static const struct recipe_field event_fields[] = {
    {"kernel", read_kernel},
    {"userspace", read_userspace},
    {"syscalls", read_syscalls},
};

void recipe_read_events(struct recipe_reader *reader, const char *key,
			const struct recipe_value *value, void *target)
{
	recipe_map(reader, key, value, event_fields,
		   sizeof(event_fields) / sizeof(*event_fields), target);
}

/* Whether another event of the list, a pattern, has this one in it. */
static bool is_covered(const struct recipe_events *events, size_t index)
{
	const char *name = events->item[index].name;

	for (size_t i = 0; i < events->count; i++)
		if (i != index && strpbrk(events->item[i].name, "*?") &&
		    !strpbrk(name, "*?") && fnmatch(events->item[i].name, name, 0) == 0)
			return true;
	return false;
}

/* An event that a pattern brings as well would be recorded twice by some tracers. */
static void drop_covered(struct recipe_events *events)
{
	struct recipe_events kept = {0};

	for (size_t i = 0; i < events->count; i++)
		if (!is_covered(events, i))
			add_event(&kept, events->item[i].name, events->item[i].required);
	for (size_t i = 0; i < events->count; i++)
		free(events->item[i].name);
	free(events->item);
	*events = kept;
}

void recipe_finish_events(struct recipe_reader *reader)
{
	struct recipe *recipe = reader->recipe;

	/* What is said of system calls stands over what presets bring. */
	if (reader->all_syscalls && !reader->syscalls.line)
		add_event(&recipe->syscall, "*", true);
	for (size_t i = 0; i < RECIPE_DOMAINS; i++)
		drop_covered(&recipe->event[i]);
	drop_covered(&recipe->syscall);
}
