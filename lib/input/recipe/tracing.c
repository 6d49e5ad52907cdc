/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What LTTng records, and how. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
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
    {.key = "events", .read = read_kernel_events},
    {.key = "presets", .read = read_presets},
    {.key = "syscalls", .read = read_syscalls},
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
    {.key = "kernel", .read = read_kernel},
    {.key = "userspace", .read = read_userspace},
    {.key = "syscalls", .read = read_syscalls},
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

static const char *const domain_names[] = {"kernel", "userspace"};

/* What is said of contexts takes the place of the defaults. */
static void read_context(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, struct text_list *contexts)
{
	text_list_clear(contexts);
	recipe_take_list(reader, key, value, recipe_check_context, contexts);
}

static void read_kernel_contexts(struct recipe_reader *reader, const char *key,
				 const struct recipe_value *value, void *target)
{
	read_context(reader, key, value,
		     &((struct recipe *)target)->context[RECIPE_KERNEL]);
}

static void read_userspace_contexts(struct recipe_reader *reader, const char *key,
				    const struct recipe_value *value, void *target)
{
	read_context(reader, key, value,
		     &((struct recipe *)target)->context[RECIPE_USERSPACE]);
}

static const struct recipe_field context_fields[] = {
    {.key = "kernel", .read = read_kernel_contexts},
    {.key = "userspace", .read = read_userspace_contexts},
};

void recipe_read_contexts(struct recipe_reader *reader, const char *key,
			  const struct recipe_value *value, void *target)
{
	if (value->kind == RECIPE_MAP)
		recipe_map(reader, key, value, context_fields,
			   sizeof(context_fields) / sizeof(*context_fields), target);
	else
		read_kernel_contexts(reader, key, value, target);
}

/* A number of bytes, with k, M or G as lttng takes them. -1 where it is none. */
static int parse_size(const char *text, int64_t *size)
{
	static const char units[] = "kMG";
	size_t length = strlen(text);
	const char *unit = length ? strchr(units, text[length - 1]) : NULL;
	char *number = mem_strndup(text, length - (unit != NULL));
	int status = number_integer(number, size);

	for (const char *u = units; status == 0 && unit && u <= unit; u++)
		if (__builtin_mul_overflow(*size, 1024, size))
			status = -1;
	free(number);
	return status;
}

static bool is_power_of_two(int64_t number)
{
	return number > 0 && (number & (number - 1)) == 0;
}

static void read_subbuf_size(struct recipe_reader *reader, const char *key,
			     const struct recipe_value *value, void *target)
{
	struct recipe_channel *channel = target;
	int64_t size;

	if (value->kind == RECIPE_TEXT && parse_size(value->text, &size) == 0 &&
	    size >= 4096 && size <= (int64_t)1 << 30 && is_power_of_two(size))
		channel->subbuf_size = size;
	else
		recipe_want(reader, key, value,
			    "a power of two of bytes from 4k to 1G, such as 16384 or 1M");
}

static void read_num_subbuf(struct recipe_reader *reader, const char *key,
			    const struct recipe_value *value, void *target)
{
	struct recipe_channel *channel = target;
	int64_t number;

	if (value->kind == RECIPE_TEXT && number_integer(value->text, &number) == 0 &&
	    number >= 2 && number <= 65536 && is_power_of_two(number))
		channel->num_subbuf = number;
	else
		recipe_want(reader, key, value, "a power of two from 2 to 65536");
}

static const char *const modes[] = {"discard", "overwrite", NULL};

enum { MOST_TIMER_US = 3600 * 1000000LL };

static const struct recipe_field channel_fields[] = {
    {.key = "subbuf_size", .read = read_subbuf_size},
    {.key = "num_subbuf", .read = read_num_subbuf},
    FIELD("mode", WORD, struct recipe_channel, mode, .words = modes),
    FIELD("switch_timer_us", INTEGER, struct recipe_channel, switch_us,
	  .most = MOST_TIMER_US),
    FIELD("read_timer_us", INTEGER, struct recipe_channel, read_us,
	  .most = MOST_TIMER_US),
};

enum { CHANNEL_FIELDS = sizeof(channel_fields) / sizeof(*channel_fields) };

/* What is for both domains first, so that a domain's own settings stand over it. */
void recipe_read_channel(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, void *target)
{
	struct recipe *recipe = target;
	struct recipe_value common = {.kind = RECIPE_MAP, .place = value->place};
	const struct recipe_value *own[RECIPE_DOMAINS] = {NULL};

	if (value->kind != RECIPE_MAP) {
		recipe_want(reader, key, value, "a map");
		return;
	}
	for (size_t i = 0; i < RECIPE_DOMAINS; i++)
		own[i] = recipe_value_find(value, domain_names[i]);
	/* The entries are borrowed, so only the array is freed. */
	common.entry = mem_alloc((value->count + 1) * sizeof(*common.entry));
	for (size_t i = 0; i < value->count; i++)
		if (&value->entry[i].value != own[RECIPE_KERNEL] &&
		    &value->entry[i].value != own[RECIPE_USERSPACE])
			common.entry[common.count++] = value->entry[i];
	for (size_t i = 0; i < RECIPE_DOMAINS; i++) {
		/* What is wrong in the common part is told once. */
		struct recipe_mistakes silent = {0};
		struct recipe_reader again = {.recipe = recipe, .mistakes = &silent};

		recipe_map(i == 0 ? reader : &again, key, &common, channel_fields,
			   CHANNEL_FIELDS, &recipe->channel[i]);
		recipe_mistakes_clear(&silent);
		if (own[i] && !recipe_value_is_null(own[i]))
			recipe_map(reader, domain_names[i], own[i], channel_fields,
				   CHANNEL_FIELDS, &recipe->channel[i]);
	}
	free(common.entry);
}
