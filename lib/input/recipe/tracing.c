/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What LTTng records, and how. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "input/recipe/keys.h"

static const struct recipe_form form_event = {
    RECIPE_ALNUM "_*?", RECIPE_ALNUM "_*?:.@$-", 255,
    "the name of an event or a pattern with '*'"};

static void add_event(struct recipe_value *events, const char *name, bool required)
{
	struct recipe_value *event = recipe_value_find(events, name);

	events->kind = RECIPE_MAP;
	if (!event)
		event = recipe_value_add(events, name, events->location);
	else if (!required)
		return;
	recipe_value_set(event, required ? "required" : "optional");
}

static const struct recipe_value *find_preset(const struct recipe_reader *reader,
					      const char *name)
{
	return recipe_value_find(recipe_value_find(&reader->known, "events"), name);
}

static void add_events(struct recipe_value *events, const struct recipe_value *names,
		       bool required)
{
	for (size_t i = 0; names && i < names->count; i++)
		add_event(events, names->entry[i].value.text, required);
}

/*
 * Kernel events by name, and presets. Events have an underscore; a word without one that
 * is no preset may be a misspelt one.
 */
static void add_kernel(struct recipe_reader *reader, const char *key,
		       const struct recipe_value *names, bool presets_only)
{
	struct recipe_value *events = &reader->recipe->events[RECIPE_KERNEL];

	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->entry[i].value.text;
		const struct recipe_value *preset = find_preset(reader, name);
		char *meant =
		    recipe_meant(name, recipe_value_find(&reader->known, "events"));

		if (preset) {
			add_events(events, recipe_value_find(preset, "required"), true);
			add_events(events, recipe_value_find(preset, "optional"), false);
			reader->all_syscalls |=
			    recipe_value_find(preset, "syscalls") != NULL;
		} else if (presets_only || (*meant && !strpbrk(name, "_*?:"))) {
			recipe_error_add(
			    reader->errors, names->entry[i].location,
			    "%s: '%.60s' is no preset%s", key, name,
			    *meant ? meant : ", want one that `ctrecipe events` lists");
		} else {
			add_event(events, name, true);
		}
		free(meant);
	}
}

static void read_kernel_names(struct recipe_reader *reader, const char *key,
			      struct recipe_value *value)
{
	add_kernel(reader, key, value, false);
}

static void read_presets(struct recipe_reader *reader, const char *key,
			 struct recipe_value *value)
{
	add_kernel(reader, key, value, true);
}

/* A list of names: what a key of this table takes. */
static bool want_events(struct recipe_reader *reader, const char *key,
			struct recipe_value *value)
{
	static const struct recipe_key names = {.type = RECIPE_TEXTS,
						.form = &form_event};

	return recipe_check(reader, &names, key, value);
}

static void read_syscalls(struct recipe_reader *reader, const char *key,
			  struct recipe_value *value)
{
	struct recipe_value *syscalls = &reader->recipe->events[RECIPE_SYSCALL];
	bool is = true;

	if (reader->syscalls_line) {
		recipe_error_add(reader->errors, value->location,
				 "%s: line %zu chooses system calls already", key,
				 reader->syscalls_line);
		return;
	}
	reader->syscalls_line = value->location.line;
	if (recipe_is_switch(value, &is) ||
	    (value->kind == RECIPE_TEXT && strcmp(value->text, "all") == 0)) {
		if (is)
			add_event(syscalls, "*", true);
		return;
	}
	if (!want_events(reader, key, value))
		return;
	for (size_t i = 0; i < value->count; i++)
		if (strcmp(value->entry[i].value.text, "all") == 0 ||
		    strcmp(value->entry[i].value.text, "none") == 0)
			recipe_want(reader, key, &value->entry[i].value,
				    "all, none or a list of names, not both");
		else
			add_event(syscalls, value->entry[i].value.text, true);
}

static const struct recipe_key kernel_keys[] = {
    KEY("events", TEXTS, .form = &form_event, .read = read_kernel_names),
    KEY("presets", TEXTS, .form = &form_event, .read = read_presets),
    KEY("syscalls", OWN, .read = read_syscalls),
    {0},
};

static void read_kernel(struct recipe_reader *reader, const char *key,
			struct recipe_value *value)
{
	static const struct recipe_key map = {.type = RECIPE_KEYS, .keys = kernel_keys};
	bool is = true, is_list = value->kind == RECIPE_LIST;

	if (recipe_is_switch(value, &is) && !is)
		return;
	if (value->kind == RECIPE_MAP) {
		recipe_check(reader, &map, "events: kernel", value);
		return;
	}
	if (!want_events(reader, key, value))
		return;
	/* A list of events alone is one of lttng-cluster's, which traces all of them. */
	for (size_t i = 0; i < value->count; i++)
		is_list &= !find_preset(reader, value->entry[i].value.text);
	reader->all_syscalls |= is_list && value->count;
	add_kernel(reader, key, value, false);
}

static void read_userspace(struct recipe_reader *reader, const char *key,
			   struct recipe_value *value)
{
	(void)key;
	for (size_t i = 0; i < value->count; i++)
		add_event(&reader->recipe->events[RECIPE_USERSPACE],
			  value->entry[i].value.text, true);
}

/* Whether another event, a pattern, has this one in it: some tracers record it twice. */
static bool is_covered(const struct recipe_value *events, const char *name)
{
	for (size_t i = 0; i < events->count; i++)
		if (strpbrk(events->entry[i].key, "*?") && !strpbrk(name, "*?") &&
		    fnmatch(events->entry[i].key, name, 0) == 0)
			return true;
	return false;
}

static void finish_events(struct recipe_reader *reader)
{
	struct recipe *recipe = reader->recipe;

	/* What is said of system calls stands over what presets bring. */
	if (reader->all_syscalls && !reader->syscalls_line)
		add_event(&recipe->events[RECIPE_SYSCALL], "*", true);
	for (size_t kind = 0; kind < RECIPE_EVENT_KINDS; kind++) {
		struct recipe_value kept = {.kind = RECIPE_MAP};
		struct recipe_value *events = &recipe->events[kind];

		for (size_t i = 0; i < events->count; i++)
			if (!is_covered(events, events->entry[i].key))
				recipe_value_set(
				    recipe_value_add(&kept, events->entry[i].key,
						     events->entry[i].location),
				    events->entry[i].value.text);
		recipe_value_clear(events);
		*events = kept;
	}
}

static const struct recipe_key event_keys[] = {
    KEY("kernel", OWN, .read = read_kernel),
    KEY("userspace", TEXTS, .form = &form_event, .read = read_userspace),
    KEY("syscalls", OWN, .read = read_syscalls),
    {0},
};

void recipe_read_events(struct recipe_reader *reader, const char *key,
			struct recipe_value *value)
{
	static const struct recipe_key map = {.type = RECIPE_KEYS, .keys = event_keys};

	recipe_check(reader, &map, key, value);
	finish_events(reader);
}

/* NULL where LTTng has such a context, else what is wanted; for free(). */
static char *check_context(const struct recipe_reader *reader, const char *name)
{
	static const struct recipe_form own = {RECIPE_ALNUM "_:.-", RECIPE_ALNUM "_:.-",
					       255, ""};
	const struct recipe_value *names = recipe_value_find(&reader->known, "contexts");
	const char *near;

	if (recipe_has(names, name))
		return NULL;
	if (strncmp(name, "perf:", 5) == 0 || strncmp(name, "$app.", 5) == 0)
		if (!recipe_form_check(&own, name + 5))
			return NULL;
	near = strcmp(name, "comm") == 0 ? "procname" : recipe_near(name, names);
	return mem_strdup(near ? near
			       : "a context of LTTng, such as tid, procname or vtid");
}

static void read_context_list(struct recipe_reader *reader, const char *key,
			      struct recipe_value *value)
{
	for (size_t i = 0; i < value->count; i++) {
		char *wanted = check_context(reader, value->entry[i].value.text);

		if (wanted)
			recipe_want(reader, key, &value->entry[i].value, wanted);
		free(wanted);
	}
}

static const struct recipe_key context_keys[] = {
    KEY("kernel", TEXTS, .unset = "tid,procname", .read = read_context_list),
    KEY("userspace", TEXTS, .unset = "vpid,vtid,procname", .read = read_context_list),
    {0},
};

/* Becomes a map. */
void recipe_read_contexts(struct recipe_reader *reader, const char *key,
			  struct recipe_value *value)
{
	static const struct recipe_key map = {.type = RECIPE_KEYS, .keys = context_keys};
	struct recipe_value kernel = *value;

	if (value->kind != RECIPE_MAP) {
		*value = (struct recipe_value){.kind = RECIPE_MAP,
					       .location = kernel.location};
		*recipe_value_add(value, "kernel", kernel.location) = kernel;
	}
	recipe_check(reader, &map, key, value);
}

static bool is_power_of_two(int64_t number)
{
	return number > 0 && (number & (number - 1)) == 0;
}

/* Bytes, with k, M or G as lttng takes them. */
static void read_subbuf_size(struct recipe_reader *reader, const char *key,
			     struct recipe_value *value)
{
	static const char units[] = "kMG";
	size_t length = strlen(value->text);
	const char *unit = strchr(units, value->text[length - 1]);
	char *number = mem_strndup(value->text, length - (unit != NULL));
	int64_t size = 0;
	bool well = number_integer(number, &size) == 0;

	for (const char *u = units; unit && u <= unit; u++)
		well &= !__builtin_mul_overflow(size, 1024, &size);
	free(number);
	if (!well || size < 4096 || size > (int64_t)1 << 30 || !is_power_of_two(size)) {
		recipe_want(reader, key, value,
			    "a power of two of bytes from 4k to 1G, such as 16384 or 1M");
		return;
	}
	number = mem_printf("%lld", (long long)size);
	recipe_value_set(value, number);
	free(number);
}

static void read_num_subbuf(struct recipe_reader *reader, const char *key,
			    struct recipe_value *value)
{
	int64_t number;

	if (number_integer(value->text, &number) || !is_power_of_two(number))
		recipe_want(reader, key, value, "a power of two from 2 to 65536");
}

static const char *const modes[] = {"discard", "overwrite", NULL};

enum { MOST_TIMER_US = 3600 * 1000000LL };

static const struct recipe_key channel_keys[] = {
    KEY("subbuf_size", WORDS, .unset = "1M", .read = read_subbuf_size),
    KEY("num_subbuf", INTEGER, .unset = "8", .least = 2, .most = 65536,
	.read = read_num_subbuf),
    KEY("mode", CHOICE, .unset = "discard", .words = modes),
    KEY("switch_timer_us", INTEGER, .most = MOST_TIMER_US),
    KEY("read_timer_us", INTEGER, .most = MOST_TIMER_US),
    {0},
};

/*
 * Becomes a map of both domains, each with all that is said for both and not for itself.
 */
void recipe_read_channel(struct recipe_reader *reader, const char *key,
			 struct recipe_value *value)
{
	static const char *const domains[] = {"kernel", "userspace"};
	static const struct recipe_key map = {.type = RECIPE_KEYS, .keys = channel_keys};
	struct recipe_value both = {.kind = RECIPE_MAP, .location = value->location};

	if (value->kind != RECIPE_MAP) {
		recipe_want(reader, key, value, "a map");
		return;
	}
	for (size_t d = 0; d < 2; d++) {
		struct recipe_value *own = recipe_value_find(value, domains[d]), copy;
		struct recipe_value *made =
		    recipe_value_add(&both, domains[d], value->location);

		made->kind = RECIPE_MAP;
		for (size_t i = 0; i < value->count; i++)
			if (strcmp(value->entry[i].key, domains[0]) != 0 &&
			    strcmp(value->entry[i].key, domains[1]) != 0)
				recipe_value_copy(
				    recipe_value_add(made, value->entry[i].key,
						     value->entry[i].location),
				    &value->entry[i].value);
		if (own && own->kind != RECIPE_MAP) {
			recipe_want(reader, domains[d], own, "a map");
		} else if (own) {
			recipe_value_copy(&copy, own);
			recipe_value_merge(made, &copy);
		}
		recipe_check(reader, &map, key, made);
	}
	recipe_value_clear(value);
	*value = both;
}
