/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/recipe.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "base/mem.h"
#include "input/recipe/command.h"
#include "input/recipe/keys.h"

/* known.yaml, by the build. */
extern const char recipe_known_names[];

/* The password itself is not repeated. */
static void refuse_password(struct recipe_reader *reader, const char *key,
			    struct recipe_value *value)
{
	recipe_error_add(reader->errors, value->location,
			 "%s: no password belongs in a file, want a key that the nodes "
			 "know (ssh-copy-id) and an agent that holds it (ssh-add)",
			 key);
}

/* ~/ is the home directory of who runs the collector. */
static void expand_home(struct recipe_reader *reader, const char *key,
			struct recipe_value *value)
{
	const char *home = getenv("HOME");
	char *expanded;

	(void)reader;
	(void)key;
	if (strncmp(value->text, "~/", 2) != 0 || !home)
		return;
	expanded = mem_printf("%s%s", home, value->text + 1);
	recipe_value_set(value, expanded);
	free(expanded);
}

/* sadc's groups of activities; in every log there are those of `basic` as well. */
static void read_activities(struct recipe_reader *reader, const char *key,
			    struct recipe_value *value)
{
	static const char words[] = " basic all xall disk int ipv6 power snmp xdisk ";
	char *keywords = mem_strdup("");

	for (size_t i = 0; i < value->count; i++) {
		char *word = mem_printf(" %s ", value->entry[i].value.text), *longer;
		const char *found =
		    strchr(word + 1, ' ')[1] ? NULL : strcasestr(words, word);

		if (!found)
			recipe_error_add(reader->errors, value->entry[i].location,
					 "%s: no activities '%.60s', want basic, disk, "
					 "int, ipv6, power, snmp, xdisk, all or xall",
					 key, value->entry[i].value.text);
		longer =
		    mem_printf("%s%s%s", keywords, *keywords && found != words ? "," : "",
			       found == words ? "" : value->entry[i].value.text);
		free(keywords);
		keywords = longer;
		free(word);
	}
	for (char *c = keywords; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	recipe_value_set(value, keywords);
	free(keywords);
}

static const struct recipe_key sar_keys[] = {
    KEY("interval", INTEGER, .least = 1, .most = 86400),
    KEY("activities", TEXTS, .unset = "xall", .read = read_activities),
    {0},
};

static const struct recipe_form form_interface = {RECIPE_ALNUM "_", RECIPE_ALNUM "_.:@-",
						  32, "the name of a network interface"};
static const struct recipe_form form_device = {
    RECIPE_ALNUM "_/", RECIPE_ALNUM "_./:@+-", 255,
    "the name of a device or the path of a file system"};

/* What a device is called in reports: anything on one line. */
static void check_alias(struct recipe_reader *reader, const char *key,
			struct recipe_value *all, const struct recipe_entry *entry,
			const char *name)
{
	const struct recipe_value *value = &entry->value;
	const char *alias = recipe_value_is_null(value) ? name : value->text;
	const struct recipe_form *form =
	    strcmp(key, "net_interfaces") == 0 ? &form_interface : &form_device;
	const char *wanted = recipe_form_check(form, name);

	if (wanted)
		recipe_error_add(reader->errors, entry->location,
				 "%s: it is '%.80s', want %s", key, name, wanted);
	if (!alias || !*alias || strlen(alias) > 80 || strpbrk(alias, "\n\r\t"))
		recipe_error_add(reader->errors, entry->location,
				 "%s: the alias of %.80s is no text of up to 80 "
				 "characters on one line",
				 key, name);
	if (recipe_value_find(all, name))
		recipe_error_add(reader->errors, entry->location,
				 "%s: %.80s stands there twice", key, name);
	if (alias)
		recipe_value_set(recipe_value_add(all, name, entry->location), alias);
}

static void gather_aliases(struct recipe_reader *reader, const char *key,
			   struct recipe_value *all, const struct recipe_value *value)
{
	struct recipe_entry one = {.value = *value, .location = value->location};

	if (value->kind == RECIPE_TEXT)
		check_alias(reader, key, all, &one, value->text);
	for (size_t i = 0; i < value->count; i++)
		if (value->kind == RECIPE_MAP)
			check_alias(reader, key, all, &value->entry[i],
				    value->entry[i].key);
		else if (value->entry[i].value.kind == RECIPE_LIST)
			recipe_want(reader, key, &value->entry[i].value, "a text");
		else
			gather_aliases(reader, key, all, &value->entry[i].value);
}

/* A list of names and of maps NAME: ALIAS, or one map. Becomes one map. */
static void read_aliases(struct recipe_reader *reader, const char *key,
			 struct recipe_value *value)
{
	struct recipe_value all = {.kind = RECIPE_MAP, .location = value->location};

	gather_aliases(reader, key, &all, value);
	recipe_value_clear(value);
	*value = all;
}

static const struct recipe_form form_filter = {"^-", "^", 65536, "a filter of tcpdump"};

static const struct recipe_key capture_keys[] = {
    KEY("interfaces", TEXTS, .unset = "any", .form = &form_interface),
    KEY("filter", WORDS, .form = &form_filter),
    KEY("snaplen", INTEGER, .unset = "128", .least = 64, .most = 262144),
    {0},
};

/* Names of processes are matched by the shell, which knows no regular expressions. */
static const struct recipe_form form_pattern = {
    "^-^$|\\\n", "^^$|\\\n", 4096,
    "a shell pattern such as 'ff*', or a list of them, not a regular expression"};

/* A directory, or true: the collector's own, which becomes an empty text. */
static void read_whitelist(struct recipe_reader *reader, const char *key,
			   struct recipe_value *value)
{
	static const struct recipe_form form_directory = {
	    "/", "^\n", 4096, "true, false or the absolute path of a directory"};
	static const struct recipe_key directory = {.type = RECIPE_WORDS,
						    .form = &form_directory};
	bool is = true;

	if (!recipe_is_switch(value, &is)) {
		recipe_check(reader, &directory, key, value);
		return;
	}
	recipe_value_set(value, "");
	value->plain = !is; /* null */
}

static const struct recipe_key process_keys[] = {
    KEY("interval_ms", INTEGER, .unset = "200", .least = 10, .most = 3600000),
    KEY("match", TEXTS, .form = &form_pattern),
    KEY("whitelist", OWN, .read = read_whitelist),
    {0},
};

static void read_process(struct recipe_reader *reader, const char *key,
			 struct recipe_value *value)
{
	if (recipe_value_find(value, "match") && recipe_value_find(value, "whitelist"))
		recipe_error_add(reader->errors, value->location,
				 "%s: match and whitelist, want one of them", key);
}

static const struct recipe_key sensor_keys[] = {
    KEY("command", COMMAND),
    KEY("interval", DURATION, .least = 100),
    KEY("roles", TEXTS),
    {0},
};

/* A sensor that has no command is one that is known by its name. */
static void complete_sensor(struct recipe_reader *reader, const char *name,
			    struct recipe_value *sensor)
{
	static const struct recipe_key interval = KEY("interval", DURATION, .least = 100);
	const struct recipe_value *all = recipe_value_find(&reader->known, "sensors");
	const struct recipe_value *known = recipe_value_find(all, name);
	bool has_command = recipe_value_find(sensor, "command");
	struct recipe_value *added;

	if (!has_command && !known) {
		char *meant = recipe_meant(name, all);

		recipe_error_add(reader->errors, sensor->location,
				 "sensors: %s has no command, and is none of those that "
				 "need none%s",
				 name, meant);
		free(meant);
	}
	if (!recipe_value_find(sensor, "interval")) {
		added = recipe_value_add(sensor, "interval", sensor->location);
		recipe_value_set(added, known ? recipe_text(known, "interval") : "10");
		recipe_check(reader, &interval, "interval", added);
	}
	if (!has_command && known)
		recipe_value_set(recipe_value_add(sensor, "known", sensor->location),
				 recipe_text(known, "command"));
}

static const struct recipe_form form_sensor = {
    RECIPE_ALNUM "_", RECIPE_ALNUM "_./:-", 64,
    "up to 64 letters, digits, '.', '_', '/', ':' and '-'"};

static void read_sensor(struct recipe_reader *reader, struct recipe_value *sensors,
			const char *name, const struct recipe_entry *from)
{
	static const struct recipe_key map = {.type = RECIPE_KEYS, .keys = sensor_keys};
	const char *wanted = recipe_form_check(&form_sensor, name);
	struct recipe_value *sensor;
	bool on = true;

	if (wanted)
		recipe_error_add(reader->errors, from->location,
				 "sensors: the name is '%.80s', want %s", name, wanted);
	if (wanted || (recipe_is_switch(&from->value, &on) && !on))
		return;
	sensor = recipe_value_add(sensors, name, from->location);
	sensor->kind = RECIPE_MAP;
	if (from->value.kind == RECIPE_MAP ||
	    (from->value.kind == RECIPE_LIST && from->key)) {
		recipe_value_copy(sensor, &from->value);
		sensor->location = from->location;
	} else if (from->key && !recipe_value_is_null(&from->value) &&
		   !recipe_is_switch(&from->value, &on)) {
		recipe_value_copy(
		    recipe_value_add(sensor, "command", from->value.location),
		    &from->value);
	}
	if (recipe_check(reader, &map, "a sensor", sensor))
		complete_sensor(reader, name, sensor);
}

/* A list of names, or a map of them with what each is. Becomes such a map. */
static void read_sensors(struct recipe_reader *reader, const char *key,
			 struct recipe_value *value)
{
	static const struct recipe_key names = {.type = RECIPE_TEXTS};
	struct recipe_value sensors = {.kind = RECIPE_MAP, .location = value->location};

	if (value->kind != RECIPE_MAP && !recipe_check(reader, &names, key, value))
		return;
	for (size_t i = 0; i < value->count; i++)
		read_sensor(reader, &sensors,
			    value->kind == RECIPE_MAP ? value->entry[i].key
						      : value->entry[i].value.text,
			    &value->entry[i]);
	recipe_value_clear(value);
	*value = sensors;
}

static const char *const methods[] = {"foreground", "background", "local", NULL};

static const struct recipe_key execute_keys[] = {
    KEY("command", COMMAND, .needed = "one"),
    KEY("roles", TEXTS),
    KEY("method", CHOICE, .unset = "foreground", .words = methods),
    KEY("timeout", DURATION, .unset = "0"),
    KEY("use_sudo", BOOL, .unset = "false"),
    {0},
};

static void read_execute(struct recipe_reader *reader, const char *key,
			 struct recipe_value *value)
{
	for (size_t i = 0; i < value->count; i++) {
		const struct recipe_value *execute = &value->entry[i].value;

		if (strcmp(recipe_text(execute, "method"), "local") == 0 &&
		    recipe_value_find(execute, "roles"))
			recipe_error_add(reader->errors, execute->location,
					 "%s: method local runs on this machine, want no "
					 "roles with it",
					 key);
	}
}

static void read_parameter(struct recipe_reader *reader, struct recipe_entry *entry)
{
	static const struct recipe_form form_value = {"^", "^", 4096, "up to 4096 bytes"};
	const char *wanted = recipe_form_check(&recipe_form_key, entry->key);
	struct recipe_value list = {.kind = RECIPE_LIST, .location = entry->location};

	if (recipe_is_builtin(entry->key))
		wanted = "another name: commands get this one by themselves";
	if (wanted)
		recipe_error_add(reader->errors, entry->location,
				 "parameters: the name is '%.60s', want %s", entry->key,
				 wanted);
	if (entry->value.kind != RECIPE_LIST) {
		*recipe_value_add(&list, NULL, entry->value.location) = entry->value;
		entry->value = list;
	}
	for (size_t i = 0; i < entry->value.count; i++) {
		const struct recipe_value *value = &entry->value.entry[i].value;

		if (value->kind != RECIPE_TEXT)
			recipe_want(reader, entry->key, value,
				    "a value or a list of values");
		else if (*value->text && recipe_form_check(&form_value, value->text))
			recipe_want(reader, entry->key, value, form_value.wanted);
		for (size_t k = 0; value->kind == RECIPE_TEXT && k < i; k++)
			if (entry->value.entry[k].value.kind == RECIPE_TEXT &&
			    strcmp(entry->value.entry[k].value.text, value->text) == 0)
				recipe_error_add(reader->errors, value->location,
						 "parameters: %s has the value '%.60s' "
						 "twice",
						 entry->key, value->text);
	}
	if (entry->value.count == 0)
		recipe_error_add(reader->errors, entry->location,
				 "parameters: %s has no value, want at least one",
				 entry->key);
}

/* Becomes a map of lists, without those that are null. */
static void read_parameters(struct recipe_reader *reader, const char *key,
			    struct recipe_value *value)
{
	size_t kept = 0;

	if (value->kind != RECIPE_MAP) {
		recipe_want(reader, key, value, "a map of names, each with its values");
		return;
	}
	for (size_t i = 0; i < value->count; i++) {
		if (recipe_value_is_null(&value->entry[i].value)) {
			free(value->entry[i].key);
			recipe_value_clear(&value->entry[i].value);
			continue;
		}
		read_parameter(reader, &value->entry[i]);
		value->entry[kept++] = value->entry[i];
	}
	value->count = kept;
	if (recipe_points(reader->recipe) > RECIPE_MOST_POINTS)
		recipe_error_add(reader->errors, value->location,
				 "%s: more than %d combinations of values", key,
				 RECIPE_MOST_POINTS);
}

/* A pattern of files stays a text, inputs are a list. */
static void read_inputs(struct recipe_reader *reader, const char *key,
			struct recipe_value *value)
{
	static const struct recipe_key pattern = {.type = RECIPE_WORDS};
	static const struct recipe_key inputs = {.type = RECIPE_TEXTS};

	if (value->kind == RECIPE_LIST && value->count == 0)
		recipe_want(reader, key, value,
			    "a pattern of files or at least one input");
	else
		recipe_check(reader, value->kind == RECIPE_TEXT ? &pattern : &inputs, key,
			     value);
}

static const char *const policies[] = {"rr", "least-busy", NULL};

static const struct recipe_key task_keys[] = {
    KEY("name", WORDS, .form = &recipe_form_file),
    KEY("command", COMMAND, .needed = "one"),
    KEY("inputs", OWN, .needed = "a pattern of files or a list", .read = read_inputs),
    KEY("roles", TEXTS),
    KEY("policy", CHOICE, .unset = "rr", .words = policies),
    KEY("parallel", INTEGER, .unset = "1", .least = 1, .most = 1024),
    KEY("interval", DURATION, .unset = "100ms"),
    KEY("pending", INTEGER, .unset = "6", .most = 1000000),
    KEY("timeout", DURATION, .unset = "0"),
    {0},
};

static void name_tasks(struct recipe_reader *reader, const char *key,
		       struct recipe_value *value)
{
	(void)reader;
	(void)key;
	for (size_t i = 0; i < value->count; i++) {
		struct recipe_value *queue = &value->entry[i].value;
		char *name = i ? mem_printf("task-%zu", i + 1) : mem_strdup("task");

		if (!recipe_value_find(queue, "name"))
			recipe_value_set(recipe_value_add(queue, "name", queue->location),
					 name);
		free(name);
	}
}

static const struct recipe_form form_tracedir = {"^-\n\r", "^\n\r", 4096,
						 "the path of a directory"};
static const struct recipe_form form_tmpdir = {"/", "^\n\r", 4096,
					       "the absolute path of a directory"};
static const char *const fetches[] = {"all", "none", NULL};

/* Every key that there is. */
static const struct recipe_key keys[] = {
    KEY("name", WORDS, .form = &recipe_form_file),
    KEY("import", OWN), /* gone by now; for those who misspell it, */
    KEY("username", WORDS, .form = &recipe_form_user),
    KEY("ssh_username", OWN), /* and so is this, which is username */
    KEY("ssh_password", OWN, .read = refuse_password),
    KEY("ssh_gateway", TEXTS, .read = recipe_read_gateway),
    KEY("ssh_options", OWN, .read = recipe_read_ssh_options),
    KEY("hosts", OWN, .read = recipe_read_hosts),
    KEY("roledefs", OWN), /* once the hosts are known */
    KEY("events", OWN, .read = recipe_read_events),
    KEY("contexts", OWN, .unset = "{}", .read = recipe_read_contexts),
    KEY("channel", OWN, .unset = "{}", .read = recipe_read_channel),
    KEY("sar", SWITCH, .keys = sar_keys),
    KEY("interval", INTEGER, .least = 1, .most = 86400),
    KEY("filesystem_names", OWN, .read = read_aliases),
    KEY("net_interfaces", OWN, .read = read_aliases),
    KEY("capture", SWITCH, .keys = capture_keys),
    KEY("process", SWITCH, .keys = process_keys, .read = read_process),
    KEY("sensors", OWN, .read = read_sensors),
    KEY("execute", EACH, .keys = execute_keys, .read = read_execute),
    KEY("parameters", OWN, .read = read_parameters),
    KEY("tasks", EACH, .keys = task_keys, .read = name_tasks),
    KEY("tracedir", WORDS, .unset = "runs", .form = &form_tracedir, .read = expand_home),
    KEY("tmpdir", WORDS, .form = &form_tmpdir),
    KEY("fetch", CHOICE, .unset = "all", .words = fetches),
    {0},
};

/* Without a name the file's is taken, as lttng-cluster does. */
static void name_by_file(struct recipe_reader *reader, const char *path)
{
	struct recipe_value *checked = &reader->recipe->checked;
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	char *name =
	    mem_strndup(base, dot && dot != base ? (size_t)(dot - base) : strlen(base));

	if (recipe_form_check(&recipe_form_file, name))
		recipe_error_add(reader->errors, reader->recipe->tree.location,
				 "no name, and that of the file, '%.80s', is no name "
				 "for a directory, want a name",
				 name);
	recipe_value_set(recipe_value_add(checked, "name", checked->location), name);
	free(name);
}

/* clusterp's keys, which are of use only to sar, turn it on where nothing is said of it.
 */
static void finish_sar(struct recipe_reader *reader)
{
	static const struct recipe_key map = {.type = RECIPE_KEYS, .keys = sar_keys};
	struct recipe_value *checked = &reader->recipe->checked;
	const char *interval = recipe_text(checked, "interval");
	struct recipe_value *sar = recipe_value_find(checked, "sar");

	if (!sar && !recipe_value_find(&reader->recipe->tree, "sar") &&
	    (*interval || recipe_value_find(checked, "filesystem_names") ||
	     recipe_value_find(checked, "net_interfaces"))) {
		sar = recipe_value_add(checked, "sar", checked->location);
		sar->kind = RECIPE_MAP;
		recipe_check(reader, &map, "sar", sar);
	}
	if (sar && sar->kind == RECIPE_MAP && !recipe_value_find(sar, "interval"))
		recipe_value_set(recipe_value_add(sar, "interval", sar->location),
				 *interval ? interval : "1");
}

static bool records_something(const struct recipe *recipe)
{
	static const char *const sources[] = {"sar", "capture", "process", "sensors",
					      "tasks"};

	for (size_t i = 0; i < RECIPE_EVENT_KINDS; i++)
		if (recipe->events[i].count)
			return true;
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		const struct recipe_value *source = recipe_get(recipe, sources[i]);

		if (source && source->count)
			return true;
	}
	return false;
}

int recipe_read(struct recipe *recipe, const char *path, struct recipe_errors *errors)
{
	static const struct recipe_key all = {.type = RECIPE_KEYS, .keys = keys};
	struct recipe_reader reader = {.recipe = recipe, .errors = errors};

	memset(recipe, 0, sizeof(*recipe));
	recipe_known(&reader.known);
	recipe->nodes.kind = recipe->roles.kind = RECIPE_MAP;
	if (recipe_load(&recipe->tree, path, errors) == 0) {
		recipe_value_copy(&recipe->checked, &recipe->tree);
		recipe_check(&reader, &all, "the recipe", &recipe->checked);
		if (!recipe_get(recipe, "name"))
			name_by_file(&reader, path);
		recipe_read_roles(&reader);
		finish_sar(&reader);
		recipe_check_commands(&reader);
		if (errors->count == 0 && !records_something(recipe))
			recipe_error_add(errors, recipe->tree.location,
					 "nothing is recorded, want events, sar, "
					 "capture, process, sensors or tasks");
	}
	recipe_value_clear(&reader.known);
	if (errors->count == 0)
		return 0;
	recipe_errors_sort(errors);
	recipe_clear(recipe);
	return -1;
}

void recipe_clear(struct recipe *recipe)
{
	recipe_value_clear(&recipe->tree);
	recipe_value_clear(&recipe->checked);
	recipe_value_clear(&recipe->nodes);
	recipe_value_clear(&recipe->roles);
	for (size_t i = 0; i < RECIPE_EVENT_KINDS; i++)
		recipe_value_clear(&recipe->events[i]);
}

const struct recipe_value *recipe_get(const struct recipe *recipe, const char *key)
{
	return recipe_value_find(&recipe->checked, key);
}

const char *recipe_text(const struct recipe_value *map, const char *key)
{
	const struct recipe_value *value = recipe_value_find(map, key);

	return value && value->kind == RECIPE_TEXT ? value->text : "";
}

bool recipe_has(const struct recipe_value *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->entry[i].value.text, text) == 0)
			return true;
	return false;
}

void recipe_known(struct recipe_value *known)
{
	struct recipe_errors errors = {0};

	recipe_load_text(known, recipe_known_names, &errors);
	assert(errors.count == 0);
	recipe_errors_clear(&errors);
}

const char *recipe_library_version(void)
{
	return yaml_get_version_string();
}
