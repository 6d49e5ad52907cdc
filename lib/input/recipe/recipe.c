/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of a recipe as a whole, once each of its values is valid. */
#include "input/recipe/recipe.h"

#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/number.h"
#include "input/recipe/command.h"
#include "input/recipe/keys.h"
#include "input/recipe/plan.h"

/* known.yaml, by the build. */
extern const char recipe_known_names[];

/* A leading `-` is not accepted, because ssh would take it for an option. */
#define USER_FORM "[A-Za-z0-9_][A-Za-z0-9_.@+-]*"
#define HOST_FORM "[A-Za-z0-9_][A-Za-z0-9_.-]*"
#define IPV6_FORM                                                                        \
	"([0-9A-Fa-f:]*::[0-9A-Fa-f:.]*|([0-9A-Fa-f]+:){7}[0-9A-Fa-f]+)"                 \
	"(%[A-Za-z0-9][A-Za-z0-9_.-]*)?"
#define ADDRESS_FORM HOST_FORM "|" IPV6_FORM
#define DESTINATION_FORM                                                                 \
	"((" USER_FORM ")@)?(" ADDRESS_FORM "|\\[(" IPV6_FORM ")\\])(:([0-9]+))?"

bool recipe_is_address(const char *text)
{
	return recipe_has_form(ADDRESS_FORM, text);
}

bool recipe_parse_destination(const char *text, struct recipe_value *destination)
{
	enum { USER = 2, ADDRESS = 3, BRACKETED = 7, PORT = 12, GROUPS };
	const int groups[] = {USER, ADDRESS, BRACKETED, PORT};
	const char *const keys[] = {"username", "address", "address", "port"};
	regmatch_t match[GROUPS];
	int64_t port = 1;
	regex_t form;
	bool well;

	*destination = (struct recipe_value){.kind = RECIPE_MAP};
	if (regcomp(&form, "^" DESTINATION_FORM "$", REG_EXTENDED))
		abort();
	well = regexec(&form, text, GROUPS, match, 0) == 0;
	regfree(&form);
	for (size_t i = 0; well && i < sizeof(groups) / sizeof(*groups); i++) {
		regmatch_t at = match[groups[i]];
		AUTOFREE char *part =
		    at.rm_so < 0
			? NULL
			: mem_strndup(text + at.rm_so, (size_t)(at.rm_eo - at.rm_so));

		if (part)
			recipe_value_put(destination, keys[i], part);
		if (part && groups[i] == PORT && number_integer(part, &port))
			port = 0;
	}
	return well && port >= 1 && port <= 65535;
}

static bool is_file_name(const char *name)
{
	return strlen(name) <= 64 && recipe_has_form("[A-Za-z0-9_][A-Za-z0-9_.-]*", name);
}

static bool is_same_host(const struct recipe_value *a, const struct recipe_value *b)
{
	return strcasecmp(recipe_text(a, "address"), recipe_text(b, "address")) == 0 &&
	       strcmp(recipe_text(a, "username"), recipe_text(b, "username")) == 0 &&
	       strcmp(recipe_text(a, "port"), recipe_text(b, "port")) == 0;
}

/* Check that the last node does not conflict with those before it. */
static void check_node(struct recipe *recipe)
{
	/* Names that the collector itself uses in a run's directory. */
	static const char own[] = "run\\.json(\\.new)?|run\\.db|report\\.html|commands";
	const struct recipe_entry *other = recipe->nodes.entry;
	const struct recipe_entry *node = &other[recipe->nodes.count - 1];

	if (!is_file_name(node->key) || recipe_has_form(own, node->key))
		recipe_error_add(node->location,
				 "hosts: '%.80s' cannot name a directory; add an alias",
				 node->key);
	while (strcmp(other->key, node->key) != 0 &&
	       !is_same_host(&other->value, &node->value))
		other++;
	if (other < node)
		recipe_error_add(
		    node->location,
		    strcmp(other->key, node->key) == 0
			? "hosts: line %zu has a node %s already; use another alias"
			: "hosts: line %zu has the same host, as %s",
		    other->location.line, other->key);
}

/*
 * Add a node at [USER@]HOST[:PORT]; `details` override that. Return its name, or NULL
 * with an error.
 */
static const char *add_node(struct recipe *recipe, const struct recipe_value *text,
			    const struct recipe_value *details)
{
	struct recipe_value node;
	bool well = recipe_parse_destination(text->text, &node);
	const char *address = recipe_text(&node, "address");
	char *name = *recipe_text(details, "alias")
			 ? mem_strdup(recipe_text(details, "alias"))
			 : mem_printf("%s%s", *address == ':' ? "ip" : "", address);

	for (char *c = name; *c; c++) /* what the name of a file may hold */
		if (*c == ':' || *c == '%')
			*c = '-';
	for (size_t i = 0; details && i < details->count; i++)
		if (!recipe_value_is_null(&details->entry[i].value))
			recipe_value_put(&node, details->entry[i].key,
					 details->entry[i].value.text);
	if (well && (!*recipe_text(details, "address") ||
		     recipe_is_address(recipe_text(&node, "address")))) {
		recipe_value_put(&node, "written", text->text);
		recipe_value_add(&node, "roles", text->location)->kind = RECIPE_LIST;
		node.location = text->location;
		*recipe_value_add(&recipe->nodes, name, text->location) = node;
		free(name);
		check_node(recipe);
		return recipe->nodes.entry[recipe->nodes.count - 1].key;
	}
	recipe_add_invalid(
	    "hosts", text,
	    "[USER@]HOST[:PORT], an IPv6 address within '[' and ']', nothing "
	    "beginning with '-'");
	recipe_value_clear(&node);
	free(name);
	return NULL;
}

/* A node that a role names: by its name, its address, or as `hosts` has it. */
static const char *find_node(const struct recipe_value *nodes, const char *text)
{
	if (recipe_value_find(nodes, text))
		return text;
	for (size_t i = 0; i < nodes->count; i++) {
		const struct recipe_value *node = &nodes->entry[i].value;

		if (strcasecmp(recipe_text(node, "address"), text) == 0 ||
		    strcmp(recipe_text(node, "written"), text) == 0)
			return nodes->entry[i].key;
	}
	return NULL;
}

/* Add a role and its hosts. If the recipe has no `hosts`, they become its nodes. */
static void add_role(struct recipe *recipe, const struct recipe_entry *entry)
{
	struct recipe_value *role =
	    recipe_value_add(&recipe->roles, entry->key, entry->location);

	role->kind = RECIPE_LIST;
	if (strcmp(entry->key, "all") == 0)
		recipe_error_add(entry->location,
				 "roledefs: all is every node already; use another name");
	for (size_t i = 0; i < entry->value.count; i++) {
		const struct recipe_value *host = &entry->value.entry[i].value;
		const char *node = find_node(&recipe->nodes, host->text);

		if (!node && recipe_get(recipe, "hosts"))
			recipe_add_unknown("roledefs", host, "host", &recipe->nodes);
		else if (!node)
			node = add_node(recipe, host, NULL);
		if (!node || recipe_has(role, role->count, node))
			continue;
		recipe_value_put(role, NULL, node);
		recipe_value_put(
		    recipe_value_find(recipe_value_find(&recipe->nodes, node), "roles"),
		    NULL, entry->key);
	}
}

static void add_nodes(struct recipe *recipe)
{
	const struct recipe_value *hosts = recipe_get(recipe, "hosts");
	const struct recipe_value *roles = recipe_get(recipe, "roledefs");
	struct recipe_value *all;

	for (size_t i = 0; hosts && i < hosts->count; i++) {
		const struct recipe_entry *entry = &hosts->entry[i];
		const struct recipe_value text = {.location = entry->location,
						  .text = entry->key};

		add_node(recipe, &text, &entry->value);
	}
	for (size_t i = 0; roles && i < roles->count; i++)
		add_role(recipe, &roles->entry[i]);
	all = recipe_value_add(&recipe->roles, "all", recipe->tree.location);
	all->kind = RECIPE_LIST;
	for (size_t i = 0; i < recipe->nodes.count; i++) {
		struct recipe_entry *node = &recipe->nodes.entry[i];

		recipe_value_put(all, NULL, node->key);
		recipe_value_put(&node->value, "alias", node->key);
		if (!*recipe_text(&node->value, "username"))
			recipe_value_put(&node->value, "username",
					 recipe_text(&recipe->checked, "username"));
	}
	if (recipe->nodes.count == 0 && recipe->errors->count == 0)
		recipe_error_add(recipe->tree.location,
				 "no node to watch (expected hosts or roledefs)");
}

static void add_events(struct recipe_value *events, const struct recipe_value *names,
		       const char *is)
{
	for (size_t i = 0; names && i < names->count; i++) {
		const char *name = names->entry[i].value.text;

		if (strcmp(recipe_text(events, name), "required") != 0)
			recipe_value_put(events, name, is);
	}
}

/*
 * Kernel events by name, and presets. Events have an underscore; a word without one that
 * is not a preset may be misspelled. Return true if all system calls are recorded as
 * well: if a preset says so, or if the list has no preset, as in lttng-cluster.
 */
static bool add_kernel(const struct recipe_value *presets,
		       const struct recipe_value *names, struct recipe_value *events)
{
	bool has_preset = false, has_syscalls = false;

	for (size_t i = 0; names && i < names->count; i++) {
		const struct recipe_value *name = &names->entry[i].value;
		const struct recipe_value *preset =
		    recipe_value_find(presets, name->text);
		AUTOFREE char *meant = recipe_meant(name->text, presets);

		if (preset) {
			add_events(events, recipe_value_find(preset, "required"),
				   "required");
			add_events(events, recipe_value_find(preset, "optional"),
				   "optional");
			has_preset = true;
			has_syscalls |= recipe_value_find(preset, "syscalls") != NULL;
		} else if (*meant && !strpbrk(name->text, "_*?:")) {
			recipe_add_unknown("kernel", name, "preset", presets);
		} else {
			recipe_value_put(events, name->text, "required");
		}
	}
	return has_syscalls || (names && names->count && !has_preset);
}

/* Add a kind without what a pattern has in it: some tracers would record it twice. */
static void add_uncovered(struct recipe_value *kinds, const char *kind,
			  struct recipe_value *events)
{
	struct recipe_value *kept = recipe_value_add(kinds, kind, kinds->location);

	kept->kind = RECIPE_MAP;
	for (size_t i = 0; i < events->count; i++) {
		const char *name = events->entry[i].key;
		bool is_covered = false;

		for (size_t k = 0; k < events->count && !strpbrk(name, "*?"); k++)
			is_covered |= strpbrk(events->entry[k].key, "*?") &&
				      fnmatch(events->entry[k].key, name, 0) == 0;
		if (!is_covered)
			recipe_value_put(kept, name, events->entry[i].value.text);
	}
	recipe_value_clear(events);
}

/* Replace the list of events by a map of what to record of each kind. */
static void expand_events(struct recipe *recipe, const struct recipe_value *known)
{
	struct recipe_value *events = recipe_value_find(&recipe->checked, "events");
	const struct recipe_value *syscalls = recipe_value_find(events, "syscalls");
	const struct recipe_value *given = recipe_value_find(&recipe->tree, "events");
	bool has_all = syscalls && recipe_has(syscalls, syscalls->count, "all");
	struct recipe_value kernel = {.kind = RECIPE_MAP}, syscall = kernel,
			    userspace = kernel;

	if (!events)
		return;
	if (syscalls && syscalls->count > 1 &&
	    (has_all || recipe_has(syscalls, syscalls->count, "none")))
		recipe_add_invalid("syscalls", syscalls,
				   "all, none or a list of names, not both");
	if (add_kernel(recipe_value_find(known, "events"),
		       recipe_value_find(events, "kernel"), &kernel) &&
	    !recipe_value_find(given, "syscalls"))
		has_all = true;
	if (has_all)
		recipe_value_put(&syscall, "*", "required");
	else
		add_events(&syscall, syscalls, "required");
	add_events(&userspace, recipe_value_find(events, "userspace"), "required");
	recipe_value_clear(events);
	events->kind = RECIPE_MAP;
	add_uncovered(events, "kernel", &kernel);
	add_uncovered(events, "syscall", &syscall);
	add_uncovered(events, "userspace", &userspace);
}

/* Complete the sensors from the built-in ones of the same name. */
static void complete_sensors(struct recipe *recipe, const struct recipe_value *known)
{
	const struct recipe_value *sensors = recipe_get(recipe, "sensors");

	for (size_t i = 0; sensors && i < sensors->count; i++) {
		struct recipe_entry *entry = &sensors->entry[i];
		const struct recipe_value *own = recipe_value_find(known, entry->key);
		AUTOFREE char *meant = recipe_meant(entry->key, known);
		AUTOFREE char *interval =
		    mem_printf("%s000", own ? recipe_text(own, "interval") : "10");

		recipe_value_put(&entry->value, "name", entry->key);
		if (!recipe_value_find(&entry->value, "interval"))
			recipe_value_put(&entry->value, "interval", interval);
		if (recipe_value_find(&entry->value, "command"))
			continue;
		if (own)
			recipe_value_put(&entry->value, "command",
					 recipe_text(own, "command"));
		else
			recipe_error_add(entry->location,
					 "sensors: missing command of '%.80s', which is "
					 "not built in%s",
					 entry->key, meant);
	}
}

static void check_parameters(struct recipe *recipe)
{
	static const char taken[] = "name|run|point|node|address|role|input|task";
	const struct recipe_value *parameters = recipe_get(recipe, "parameters");

	for (size_t i = 0; parameters && i < parameters->count; i++)
		if (recipe_has_form(taken, parameters->entry[i].key))
			recipe_error_add(parameters->entry[i].location,
					 "parameters: commands get %s by themselves; "
					 "use another name",
					 parameters->entry[i].key);
	if (parameters && recipe_points(recipe) > RECIPE_MOST_POINTS)
		recipe_error_add(parameters->location,
				 "parameters: more than %d combinations of values",
				 RECIPE_MOST_POINTS);
}

/* Turn sar on if the recipe has settings that only sar uses and does not turn it off. */
static void prepare_sar(struct recipe_value *recipe)
{
	if (recipe_value_find(recipe, "sar") ||
	    (!recipe_value_find(recipe, "interval") &&
	     !recipe_value_find(recipe, "filesystem_names") &&
	     !recipe_value_find(recipe, "net_interfaces")))
		return;
	recipe_value_put(recipe, "sar", "true");
	recipe_value_find(recipe, "sar")->plain = true;
}

/* Without a name, a recipe is named after its file, as in lttng-cluster. */
static void name_by_file(struct recipe *recipe, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	AUTOFREE char *name =
	    mem_strndup(base, dot && dot != base ? (size_t)(dot - base) : strlen(base));

	if (!is_file_name(name))
		recipe_error_add(recipe->tree.location,
				 "no name, and that of the file, '%.80s', cannot name "
				 "a directory; add a name",
				 name);
	recipe_value_put(&recipe->checked, "name", name);
}

/* Replace ~/ by the home directory of the user who runs the collector. */
static void expand_home(struct recipe *recipe)
{
	const char *tracedir = recipe_text(&recipe->checked, "tracedir");
	const char *home = getenv("HOME");
	char *expanded;

	if (strncmp(tracedir, "~/", 2) != 0 || !home)
		return;
	expanded = mem_printf("%s%s", home, tracedir + 1);
	recipe_value_put(&recipe->checked, "tracedir", expanded);
	free(expanded);
}

static bool records_something(const struct recipe *recipe)
{
	static const char *const sources[] = {"sar", "capture", "process", "sensors",
					      "tasks"};
	const struct recipe_value *events = recipe_get(recipe, "events");
	size_t count = 0;

	for (size_t i = 0; events && i < events->count; i++)
		count += events->entry[i].value.count;
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		const struct recipe_value *source = recipe_get(recipe, sources[i]);

		count += source ? source->count : 0;
	}
	return count > 0;
}

/*
 * Check what the table of keys cannot express. References to other keys are checked when
 * they are printed, once all of those keys are valid.
 */
static void check_meaning(struct recipe *recipe, const struct recipe_value *known)
{
	const struct recipe_value *process = recipe_get(recipe, "process"), *kernel;
	struct bytes unused = {0};

	expand_home(recipe);
	add_nodes(recipe);
	expand_events(recipe, known);
	kernel = recipe_value_find(recipe_get(recipe, "events"), "kernel");
	if (recipe_value_find(process, "match") &&
	    recipe_value_find(process, "whitelist"))
		recipe_error_add(process->location,
				 "process: match and whitelist cannot be used together");
	complete_sensors(recipe, recipe_value_find(known, "sensors"));
	check_parameters(recipe);
	if (recipe->errors->count == 0) {
		recipe_print_plan(recipe, 0, NULL, &unused);
		bytes_clear(&unused);
	}
	if (recipe_get(recipe, "probe") && !recipe_get(recipe, "capture") &&
	    !(kernel && kernel->count))
		recipe_error_add(recipe_get(recipe, "probe")->location,
				 "probe: nothing records the packets (expected "
				 "events.kernel or capture)");
	if (recipe->errors->count == 0 && !records_something(recipe))
		recipe_error_add(recipe->tree.location,
				 "nothing is recorded (expected events, sar, capture, "
				 "process, sensors or tasks)");
}

int recipe_read(struct recipe *recipe, const char *path, struct recipe_errors *errors)
{
	struct recipe_value known;

	memset(recipe, 0, sizeof(*recipe));
	recipe->errors = errors;
	recipe_known(&known);
	recipe->nodes.kind = recipe->roles.kind = RECIPE_MAP;
	if (recipe_load(&recipe->tree, path, errors) == 0) {
		recipe_value_copy(&recipe->checked, &recipe->tree);
		prepare_sar(&recipe->checked);
		recipe_check(recipe_value_find(&known, "recipe"), "the recipe",
			     &recipe->checked);
		if (!recipe_get(recipe, "name"))
			name_by_file(recipe, path);
		check_meaning(recipe, &known);
	}
	recipe_value_clear(&known);
	if (recipe->errors->count == 0)
		return 0;
	recipe_errors_sort(errors);
	return -1;
}

void recipe_clear(struct recipe *recipe)
{
	recipe_value_clear(&recipe->tree);
	recipe_value_clear(&recipe->checked);
	recipe_value_clear(&recipe->nodes);
	recipe_value_clear(&recipe->roles);
}

const struct recipe_value *recipe_get(const struct recipe *recipe, const char *key)
{
	return recipe_value_find(&recipe->checked, key);
}

void recipe_known(struct recipe_value *known)
{
	recipe_load_text(known, recipe_known_names);
}
