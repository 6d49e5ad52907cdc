/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/recipe.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/mem.h"
#include "input/recipe/names.h"
#include "input/recipe/private.h"

/* The password itself is not repeated. */
static void refuse_password(struct recipe_reader *reader, const char *key,
			    const struct recipe_value *value, void *target)
{
	(void)target;
	recipe_mistake_add(reader->mistakes, value->place,
			   "%s: no password belongs in a file, want a key that the nodes "
			   "know (ssh-copy-id) and an agent that holds it (ssh-add)",
			   key);
}

static const char *check_tracedir(const char *text)
{
	return *text == '-' || strpbrk(text, "\n\r") ? "the path of a directory" : NULL;
}

static const char *check_tmpdir(const char *text)
{
	return *text != '/' || strpbrk(text, "\n\r") ? "the absolute path of a directory"
						     : NULL;
}

static void read_interval(struct recipe_reader *reader, const char *key,
			  const struct recipe_value *value, void *target)
{
	const struct recipe_field field = {
	    .key = key, .type = FIELD_INTEGER, .least = 1, .most = 86400};

	(void)target;
	recipe_field_take(reader, &field, key, value, &reader->interval_s);
}

/* Gone once it is imported; it stands in the table for those who misspelt it. */
static void pass_import(struct recipe_reader *reader, const char *key,
			const struct recipe_value *value, void *target)
{
	(void)reader;
	(void)key;
	(void)value;
	(void)target;
}

/* Only once all else is known. */
static void keep_roledefs(struct recipe_reader *reader, const char *key,
			  const struct recipe_value *value, void *target)
{
	(void)key;
	(void)target;
	reader->roledefs = value;
}

static void keep_sar(struct recipe_reader *reader, const char *key,
		     const struct recipe_value *value, void *target)
{
	(void)key;
	(void)target;
	reader->sar = value;
}

static const char *const fetches[] = {"all", "none", NULL};

static const struct recipe_field fields[] = {
    FIELD("name", TEXT, struct recipe, name, .check = recipe_check_file),
    {.key = "import", .read = pass_import},
    FIELD("username", TEXT, struct recipe, username, .check = recipe_check_user),
    /* It is username by now; this helps those who misspell it. */
    FIELD("ssh_username", TEXT, struct recipe, username, .check = recipe_check_user),
    {.key = "ssh_password", .read = refuse_password},
    {.key = "ssh_gateway", .read = recipe_read_gateway},
    {.key = "ssh_options", .read = recipe_read_ssh_options},
    {.key = "hosts", .read = recipe_read_hosts},
    {.key = "roledefs", .read = keep_roledefs},
    {.key = "events", .read = recipe_read_events},
    {.key = "contexts", .read = recipe_read_contexts},
    {.key = "channel", .read = recipe_read_channel},
    {.key = "sar", .read = keep_sar},
    {.key = "interval", .read = read_interval},
    {.key = "filesystem_names", .read = recipe_read_filesystems},
    {.key = "net_interfaces", .read = recipe_read_interfaces},
    {.key = "capture", .read = recipe_read_capture},
    {.key = "process", .read = recipe_read_process},
    {.key = "sensors", .read = recipe_read_sensors},
    {.key = "execute", .read = recipe_read_execute},
    {.key = "parameters", .read = recipe_read_parameters},
    {.key = "tasks", .read = recipe_read_tasks},
    FIELD("tracedir", TEXT, struct recipe, tracedir, .check = check_tracedir),
    FIELD("tmpdir", TEXT, struct recipe, tmpdir, .check = check_tmpdir),
    FIELD("fetch", WORD, struct recipe, fetch, .words = fetches),
};

static void set_defaults(struct recipe *recipe)
{
	static const char *const contexts[RECIPE_DOMAINS][3] = {
	    [RECIPE_KERNEL] = {"tid", "procname", NULL},
	    [RECIPE_USERSPACE] = {"vpid", "vtid", "procname"},
	};

	for (size_t i = 0; i < RECIPE_DOMAINS; i++) {
		recipe->channel[i] = (struct recipe_channel){.subbuf_size = 1 << 20,
							     .num_subbuf = 8,
							     .switch_us = -1,
							     .read_us = -1};
		for (size_t k = 0; k < 3 && contexts[i][k]; k++)
			text_list_add(&recipe->context[i], contexts[i][k]);
	}
	recipe->capture.snaplen = 128;
	recipe->capture.filter = mem_strdup("");
	recipe->process.interval_ms = 200;
	recipe->tracedir = mem_strdup("runs");
}

/* Without a name the file's is taken, as lttng-cluster does. */
static void name_by_file(struct recipe_reader *reader, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	char *name =
	    mem_strndup(base, dot && dot != base ? (size_t)(dot - base) : strlen(base));

	if (recipe_check_file(name))
		recipe_mistake_add(reader->mistakes, reader->recipe->tree.place,
				   "no name, and that of the file, '%.80s', is no name "
				   "for a directory, want a name",
				   name);
	reader->recipe->name = name;
}

/* ~/ is the home directory of who runs the collector. */
static void expand_home(char **path)
{
	const char *home = getenv("HOME");
	char *expanded;

	if (strncmp(*path, "~/", 2) != 0 || !home)
		return;
	expanded = mem_printf("%s%s", home, *path + 1);
	free(*path);
	*path = expanded;
}

static void finish(struct recipe_reader *reader, const char *path)
{
	struct recipe *recipe = reader->recipe;

	recipe_finish_roles(reader);
	recipe_finish_events(reader);
	recipe_finish_sar(reader);
	if (!recipe->name)
		name_by_file(reader, path);
	expand_home(&recipe->tracedir);
	if (recipe->capture.on && recipe->capture.interfaces.count == 0)
		text_list_add(&recipe->capture.interfaces, "any");
	recipe_check_commands(reader);
	if (reader->mistakes->count == 0 && recipe->event[RECIPE_KERNEL].count == 0 &&
	    recipe->event[RECIPE_USERSPACE].count == 0 && recipe->syscall.count == 0 &&
	    !recipe->sar.on && !recipe->capture.on && !recipe->process.on &&
	    recipe->sensors == 0 && recipe->task_queues == 0)
		recipe_mistake_add(reader->mistakes, recipe->tree.place,
				   "nothing is recorded, want events, sar, capture, "
				   "process, sensors or tasks");
}

int recipe_read(struct recipe *recipe, const char *path, struct recipe_mistakes *mistakes)
{
	struct recipe_reader reader = {.recipe = recipe, .mistakes = mistakes};

	memset(recipe, 0, sizeof(*recipe));
	if (recipe_import(&recipe->tree, path, mistakes) == 0) {
		set_defaults(recipe);
		recipe_map(&reader, "the recipe", &recipe->tree, fields,
			   sizeof(fields) / sizeof(*fields), recipe);
		finish(&reader, path);
	}
	if (mistakes->count == 0)
		return 0;
	recipe_mistakes_sort(mistakes);
	recipe_clear(recipe);
	return -1;
}

static void clear_events(struct recipe_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		free(events->item[i].name);
	free(events->item);
}

static void clear_aliases(struct recipe_aliases *aliases)
{
	for (size_t i = 0; i < aliases->count; i++) {
		free(aliases->item[i].name);
		free(aliases->item[i].alias);
	}
	free(aliases->item);
}

static void clear_nodes(struct recipe *recipe)
{
	for (size_t i = 0; i < recipe->nodes; i++) {
		free(recipe->node[i].name);
		free(recipe->node[i].address);
		free(recipe->node[i].user);
	}
	for (size_t i = 0; i < recipe->roles; i++) {
		free(recipe->role[i].name);
		free(recipe->role[i].node);
	}
	free(recipe->node);
	free(recipe->role);
}

static void clear_commands(struct recipe *recipe)
{
	for (size_t i = 0; i < recipe->sensors; i++) {
		free(recipe->sensor[i].name);
		free(recipe->sensor[i].command.text);
		text_list_clear(&recipe->sensor[i].roles);
	}
	for (size_t i = 0; i < recipe->executes; i++) {
		free(recipe->execute[i].command.text);
		text_list_clear(&recipe->execute[i].roles);
	}
	for (size_t i = 0; i < recipe->parameters; i++) {
		free(recipe->parameter[i].key);
		free(recipe->parameter[i].plain);
		text_list_clear(&recipe->parameter[i].values);
	}
	for (size_t i = 0; i < recipe->task_queues; i++) {
		free(recipe->tasks[i].name);
		free(recipe->tasks[i].command.text);
		free(recipe->tasks[i].pattern);
		text_list_clear(&recipe->tasks[i].inputs);
		text_list_clear(&recipe->tasks[i].roles);
	}
	free(recipe->sensor);
	free(recipe->execute);
	free(recipe->parameter);
	free(recipe->tasks);
}

void recipe_clear(struct recipe *recipe)
{
	recipe_value_clear(&recipe->tree);
	free(recipe->name);
	free(recipe->username);
	free(recipe->gateway);
	free(recipe->tracedir);
	free(recipe->tmpdir);
	free(recipe->sar.keywords);
	free(recipe->capture.filter);
	free(recipe->process.directory);
	text_list_clear(&recipe->ssh_options);
	text_list_clear(&recipe->capture.interfaces);
	text_list_clear(&recipe->process.match);
	for (size_t i = 0; i < RECIPE_DOMAINS; i++) {
		clear_events(&recipe->event[i]);
		text_list_clear(&recipe->context[i]);
	}
	clear_events(&recipe->syscall);
	clear_aliases(&recipe->filesystems);
	clear_aliases(&recipe->interfaces);
	clear_nodes(recipe);
	clear_commands(recipe);
	memset(recipe, 0, sizeof(*recipe));
}

const struct recipe_role *recipe_find_role(const struct recipe *recipe, const char *name)
{
	for (size_t i = 0; i < recipe->roles; i++)
		if (strcmp(recipe->role[i].name, name) == 0)
			return &recipe->role[i];
	return NULL;
}

bool recipe_role_has(const struct recipe_role *role, size_t node)
{
	for (size_t i = 0; i < role->nodes; i++)
		if (role->node[i] == node)
			return true;
	return false;
}

const char *recipe_library_version(void)
{
	return yaml_get_version_string();
}
