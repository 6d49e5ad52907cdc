/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nodes, their roles, and how ssh gets to them. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/near.h"
#include "input/recipe/names.h"
#include "input/recipe/private.h"

enum { MOST_NODES = 10000 };

/* A node as one entry of `hosts` describes it. */
struct host {
	struct recipe_destination to;
	char *name;
	char *user;
	int64_t port;
	char *address;
};

static void clear_host(struct host *host)
{
	recipe_destination_clear(&host->to);
	free(host->name);
	free(host->user);
	free(host->address);
}

static const struct recipe_field host_fields[] = {
    FIELD("alias", TEXT, struct host, name, .check = recipe_check_file),
    FIELD("address", TEXT, struct host, address, .check = recipe_check_address),
    FIELD("username", TEXT, struct host, user, .check = recipe_check_user),
    FIELD("ssh_username", TEXT, struct host, user, .check = recipe_check_user),
    FIELD("port", INTEGER, struct host, port, .least = 1, .most = 65535),
};

/* A name for what has none: of an address, what a file name may hold of it. */
static char *default_name(const char *address)
{
	char *name = mem_strdup(address);

	for (char *c = name; *c; c++)
		if (*c == ':' || *c == '%')
			*c = '-';
	if (*name != '-')
		return name;
	free(name);
	return mem_printf("ip%.60s", address); /* ::1 */
}

static const char *or_none(const char *text)
{
	return text ? text : "";
}

static bool is_same_place(const struct recipe_node *a, const struct recipe_node *b)
{
	return strcasecmp(a->address, b->address) == 0 && a->port == b->port &&
	       strcmp(or_none(a->user), or_none(b->user)) == 0;
}

/* Whether a node can stand beside those that are there. */
static bool is_new(struct recipe_reader *reader, const struct recipe_node *node)
{
	const struct recipe *recipe = reader->recipe;

	if (recipe->nodes >= MOST_NODES) {
		recipe_mistake_add(reader->mistakes, node->place,
				   "hosts: more than %d nodes", MOST_NODES);
		return false;
	}
	for (size_t i = 0; i < recipe->nodes; i++) {
		const struct recipe_node *other = &recipe->node[i];

		if (strcmp(other->name, node->name) == 0)
			recipe_mistake_add(reader->mistakes, node->place,
					   "hosts: line %zu has a node %s already, want "
					   "another alias",
					   other->place.line, node->name);
		else if (is_same_place(other, node))
			recipe_mistake_add(reader->mistakes, node->place,
					   "hosts: %s is the same host as %s in line %zu",
					   node->name, other->name, other->place.line);
		else
			continue;
		return false;
	}
	return true;
}

static void free_node(struct recipe_node *node)
{
	free(node->name);
	free(node->address);
	free(node->user);
}

/* Whether the collector itself puts this into a run's directory, beside the nodes. */
static bool is_of_run(const char *name)
{
	static const char *const own[] = {"run.json", "run.json.new", "run.db",
					  "report.html", "commands"};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (strcmp(name, own[i]) == 0)
			return true;
	return false;
}

/* Index of the added node, or SIZE_MAX with a mistake. Takes what the host holds. */
static size_t add_node(struct recipe_reader *reader, struct host *host,
		       struct recipe_place place)
{
	struct recipe *recipe = reader->recipe;
	const char *address = host->address ? host->address : host->to.address;
	struct recipe_node node = {
	    .name = mem_strdup(""),
	    .address = mem_strdup(address),
	    .port = host->port ? (int)host->port : host->to.port,
	    .place = place,
	};

	free(node.name);
	node.name = host->name ? mem_strdup(host->name) : default_name(host->to.address);
	if (host->user || host->to.user)
		node.user = mem_strdup(host->user ? host->user : host->to.user);
	if (recipe_check_file(node.name) || is_of_run(node.name)) {
		recipe_mistake_add(
		    reader->mistakes, place,
		    "hosts: '%s' is no name for a directory, want an alias", node.name);
	} else if (is_new(reader, &node)) {
		recipe->node = mem_grow(recipe->node, recipe->nodes, &recipe->node_room,
					sizeof(*recipe->node));
		recipe->node[recipe->nodes] = node;
		return recipe->nodes++;
	}
	free_node(&node);
	return SIZE_MAX;
}

/*
 * Add a node. `spec` is [USER@]HOST[:PORT], `details` an alias, a map of details, or
 * NULL. Its index, or SIZE_MAX with a mistake.
 */
static size_t read_host(struct recipe_reader *reader, const char *spec,
			struct recipe_place place, const struct recipe_value *details)
{
	struct host host = {.port = 0};
	const char *wanted = recipe_parse_destination(spec, &host.to);
	size_t count = reader->mistakes->count, index = SIZE_MAX;

	if (wanted)
		recipe_mistake_add(reader->mistakes, place,
				   "hosts: it is '%.80s', want %s", spec, wanted);
	if (details && details->kind == RECIPE_MAP)
		recipe_map(reader, "a host", details, host_fields,
			   sizeof(host_fields) / sizeof(*host_fields), &host);
	else if (details && !recipe_value_is_null(details))
		recipe_field_take(reader, &host_fields[0], "hosts: alias", details,
				  &host.name);
	if (reader->mistakes->count == count)
		index = add_node(reader, &host, place);
	clear_host(&host);
	return index;
}

static void read_host_map(struct recipe_reader *reader, const struct recipe_value *map)
{
	for (size_t i = 0; i < map->count; i++)
		read_host(reader, map->entry[i].key, map->entry[i].place,
			  &map->entry[i].value);
}

void recipe_read_hosts(struct recipe_reader *reader, const char *key,
		       const struct recipe_value *value, void *target)
{
	(void)target;
	reader->has_hosts = true;
	if (value->kind == RECIPE_MAP)
		read_host_map(reader, value);
	else if (value->kind == RECIPE_TEXT)
		read_host(reader, value->text, value->place, NULL);
	for (size_t i = 0; value->kind == RECIPE_LIST && i < value->count; i++) {
		const struct recipe_value *host = &value->entry[i].value;

		if (host->kind == RECIPE_MAP)
			read_host_map(reader, host);
		else if (recipe_text(reader, key, host))
			read_host(reader, host->text, host->place, NULL);
	}
}

/* A node that a role names: by its name, its address, or as `hosts` has it. */
static size_t find_node(const struct recipe *recipe, const char *text)
{
	struct recipe_destination to;
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < recipe->nodes; i++)
		if (strcmp(recipe->node[i].name, text) == 0)
			return i;
	if (!recipe_parse_destination(text, &to))
		for (size_t i = 0; i < recipe->nodes && found == SIZE_MAX; i++) {
			const struct recipe_node *node = &recipe->node[i];

			if (strcasecmp(node->address, to.address) == 0 &&
			    (!to.port || node->port == to.port) &&
			    (!to.user ||
			     (node->user && strcmp(node->user, to.user) == 0)))
				found = i;
		}
	recipe_destination_clear(&to);
	return found;
}

static void unknown_host(struct recipe_reader *reader, const char *role,
			 const struct recipe_value *value)
{
	const struct recipe *recipe = reader->recipe;
	const char **names = mem_alloc((recipe->nodes + 1) * sizeof(*names));
	const char *near;

	for (size_t i = 0; i < recipe->nodes; i++)
		names[i] = recipe->node[i].name;
	near = near_find(value->text, names, recipe->nodes);
	recipe_mistake_add(
	    reader->mistakes, value->place, "roledefs: %s: no host '%.80s' in hosts%s%s",
	    role, value->text, near ? ", is it meant to be " : "", near ? near : "");
	free(names);
}

static void add_to_role(struct recipe_reader *reader, struct recipe_role *role,
			const struct recipe_value *value)
{
	size_t node;

	if (!recipe_text(reader, role->name, value))
		return;
	node = find_node(reader->recipe, value->text);
	if (node == SIZE_MAX && reader->has_hosts) {
		unknown_host(reader, role->name, value);
		return;
	}
	if (node == SIZE_MAX)
		node = read_host(reader, value->text, value->place, NULL);
	if (node == SIZE_MAX || recipe_role_has(role, node))
		return;
	role->node = mem_grow(role->node, role->nodes, &role->room, sizeof(*role->node));
	role->node[role->nodes++] = node;
}

static struct recipe_role *new_role(struct recipe *recipe, const char *name)
{
	struct recipe_role *role;

	recipe->role = mem_grow(recipe->role, recipe->roles, &recipe->role_room,
				sizeof(*recipe->role));
	role = &recipe->role[recipe->roles++];
	memset(role, 0, sizeof(*role));
	role->name = mem_strdup(name);
	return role;
}

static void read_role(struct recipe_reader *reader, const struct recipe_entry *entry)
{
	const struct recipe_value *value = &entry->value;
	const char *wanted = recipe_check_key(entry->key);
	size_t count = reader->mistakes->count;
	struct recipe_role *role;

	if (strcmp(entry->key, "all") == 0)
		wanted = "another name: all is every node already";
	if (wanted) {
		recipe_mistake_add(reader->mistakes, entry->place,
				   "roledefs: the role is '%.60s', want %s", entry->key,
				   wanted);
		return;
	}
	if (recipe_value_is_null(value))
		return;
	if (value->kind == RECIPE_MAP) {
		recipe_want(reader, entry->key, value, "a host or a list of hosts");
		return;
	}
	role = new_role(reader->recipe, entry->key);
	if (value->kind == RECIPE_TEXT)
		add_to_role(reader, role, value);
	for (size_t i = 0; value->kind == RECIPE_LIST && i < value->count; i++)
		add_to_role(reader, role, &value->entry[i].value);
	if (role->nodes == 0 && reader->mistakes->count == count)
		recipe_mistake_add(reader->mistakes, entry->place,
				   "roledefs: %s names no host", entry->key);
}

void recipe_finish_roles(struct recipe_reader *reader)
{
	struct recipe *recipe = reader->recipe;
	const struct recipe_value *roles = reader->roledefs;
	size_t count = reader->mistakes->count;
	struct recipe_role *all;

	if (roles && roles->kind != RECIPE_MAP)
		recipe_want(reader, "roledefs", roles,
			    "a map of roles, each with its hosts");
	for (size_t i = 0; roles && roles->kind == RECIPE_MAP && i < roles->count; i++)
		read_role(reader, &roles->entry[i]);
	if (recipe->nodes == 0 && count == 0 && reader->mistakes->count == 0)
		recipe_mistake_add(reader->mistakes, recipe->tree.place,
				   "no node to watch, want hosts or roledefs");
	all = new_role(recipe, "all");
	all->node = mem_alloc((recipe->nodes + 1) * sizeof(*all->node));
	for (all->nodes = 0; all->nodes < recipe->nodes; all->nodes++)
		all->node[all->nodes] = all->nodes;
}

void recipe_check_role_names(struct recipe_reader *reader, const char *what,
			     const struct text_list *roles, struct recipe_place place)
{
	const struct recipe *recipe = reader->recipe;
	const char **names = mem_alloc(recipe->roles * sizeof(*names));

	for (size_t i = 0; i < recipe->roles; i++)
		names[i] = recipe->role[i].name;
	for (size_t i = 0; i < roles->count; i++) {
		const char *near;

		if (recipe_find_role(recipe, roles->item[i]))
			continue;
		near = near_find(roles->item[i], names, recipe->roles);
		recipe_mistake_add(
		    reader->mistakes, place, "%s: no role '%.60s' in roledefs%s%s", what,
		    roles->item[i], near ? ", is it meant to be " : "", near ? near : "");
	}
	free(names);
}

/* Gateways: a text with commas or a list, as ssh -J takes them. */
void recipe_read_gateway(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, void *target)
{
	char **gateway = &((struct recipe *)target)->gateway;
	struct text_list hops = {0};
	bool well = recipe_take_list(reader, key, value, NULL, &hops);

	for (size_t i = 0; well && i < hops.count; i++) {
		char *rest = hops.item[i], *hop;

		while (well && (hop = strsep(&rest, ","))) {
			struct recipe_destination to;
			const char *wanted = recipe_parse_destination(hop, &to);
			char *longer = mem_printf("%s%s%s", *gateway ? *gateway : "",
						  *gateway ? "," : "", hop);

			recipe_destination_clear(&to);
			free(*gateway);
			*gateway = longer;
			well = !wanted;
			if (wanted)
				recipe_want(reader, key, value, wanted);
		}
	}
	text_list_clear(&hops);
}

/* What is wanted instead of an option of ssh, or NULL where it is well. */
static const char *check_option(const char *name, const char *value)
{
	static const char *const own[] = {"BatchMode", "ControlMaster", "ControlPath",
					  "ControlPersist", "RequestTTY"};
	static const char *const unchecked[] = {"no", "off", "false"};

	if (!*name || name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
					"uvwxyz0123456789")])
		return "KEY=VALUE as in ssh_config";
	if (!*value || strpbrk(value, "\n\r"))
		return "KEY=VALUE on one line";
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (strcasecmp(name, own[i]) == 0)
			return "another option: the collector sets this one itself";
	if (strcasecmp(name, "ProxyJump") == 0)
		return "that as ssh_gateway";
	if (strcasecmp(name, "UserKnownHostsFile") == 0 &&
	    strcmp(value, "/dev/null") == 0)
		return "a file: the keys of hosts are checked";
	for (size_t i = 0; strcasecmp(name, "StrictHostKeyChecking") == 0 &&
			   i < sizeof(unchecked) / sizeof(*unchecked);
	     i++)
		if (strcasecmp(value, unchecked[i]) == 0)
			return "yes or accept-new: the keys of hosts are checked";
	return NULL;
}

static void add_option(struct recipe_reader *reader, const char *key,
		       const struct recipe_value *value, const char *option)
{
	size_t length = strcspn(option, "= \t");
	char *name = mem_strndup(option, length), *text;
	const char *setting = option + length, *wanted;

	setting += strspn(setting, "= \t");
	text = mem_printf("%s=%s", name, setting);
	wanted = check_option(name, setting);
	if (wanted)
		recipe_mistake_add(reader->mistakes, value->place,
				   "%s: it is '%.80s', want %s", key, text, wanted);
	else
		text_list_add(&reader->recipe->ssh_options, text);
	free(name);
	free(text);
}

void recipe_read_ssh_options(struct recipe_reader *reader, const char *key,
			     const struct recipe_value *value, void *target)
{
	struct text_list options = {0};

	(void)target;
	for (size_t i = 0; value->kind == RECIPE_MAP && i < value->count; i++) {
		const struct recipe_entry *entry = &value->entry[i];
		char *option;

		if (!recipe_text(reader, entry->key, &entry->value))
			continue;
		option = mem_printf("%s=%s", entry->key, entry->value.text);
		add_option(reader, key, &entry->value, option);
		free(option);
	}
	if (value->kind != RECIPE_MAP)
		recipe_take_list(reader, key, value, NULL, &options);
	for (size_t i = 0; i < options.count; i++)
		add_option(reader, key, value, options.item[i]);
	text_list_clear(&options);
}
