/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nodes, their roles, and how ssh gets to them. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/number.h"
#include "input/recipe/keys.h"

enum { MOST_NODES = 10000 };

static bool is_ipv6(const char *text)
{
	static const struct recipe_form zone = {RECIPE_ALNUM, RECIPE_ALNUM "_.-", 15, ""};
	size_t length = strcspn(text, "%");
	char *bare = mem_strndup(text, length);
	struct in6_addr address;
	bool is = inet_pton(AF_INET6, bare, &address) == 1 &&
		  (!text[length] || !recipe_form_check(&zone, text + length + 1));

	free(bare);
	return is;
}

static const char *check_address(const char *address)
{
	static const struct recipe_form form = {RECIPE_ALNUM "_", RECIPE_ALNUM "_.-", 253,
						"a host name or address"};

	if (is_ipv6(address))
		return NULL;
	return *address == '-' ? "a host name or address, which never begins with '-'"
			       : recipe_form_check(&form, address);
}

/* The host and the port after an '@', if there was one. */
static const char *parse_host(const char *text, struct recipe_destination *destination)
{
	const char *end, *port = NULL;
	int64_t number;

	if (*text == '[') {
		end = strchr(++text, ']');
		if (!end || (end[1] && end[1] != ':'))
			return "an IPv6 address within '[' and ']'";
		port = end[1] ? end + 2 : NULL;
	} else {
		end = strchr(text, ':');
		if (end && !strchr(end + 1, ':'))
			port = end + 1;
		else
			end = text + strlen(text); /* none, or IPv6 */
	}
	destination->address = mem_strndup(text, (size_t)(end - text));
	if (port) {
		if (number_integer(port, &number) || number < 1 || number > 65535)
			return "a port from 1 to 65535 after the last ':'";
		destination->port = (int)number;
	}
	return check_address(destination->address);
}

const char *recipe_parse_destination(const char *text,
				     struct recipe_destination *destination)
{
	const char *at = strrchr(text, '@');

	memset(destination, 0, sizeof(*destination));
	if (at) {
		destination->user = mem_strndup(text, (size_t)(at - text));
		if (recipe_form_check(&recipe_form_user, destination->user))
			return "a user name before the '@'";
		text = at + 1;
	}
	return parse_host(text, destination);
}

void recipe_destination_clear(struct recipe_destination *destination)
{
	free(destination->user);
	free(destination->address);
	memset(destination, 0, sizeof(*destination));
}

static void check_host_address(struct recipe_reader *reader, const char *key,
			       struct recipe_value *value)
{
	const char *wanted = check_address(value->text);

	if (wanted)
		recipe_want(reader, key, value, wanted);
}

static const struct recipe_key host_keys[] = {
    KEY("alias", WORDS, .form = &recipe_form_file),
    KEY("address", WORDS, .read = check_host_address),
    KEY("username", WORDS, .form = &recipe_form_user),
    KEY("ssh_username", WORDS, .form = &recipe_form_user),
    KEY("port", INTEGER, .least = 1, .most = 65535),
    {0},
};

/* A name for what has none: of an address, what a file name may hold of it. */
static char *default_name(const char *address)
{
	char *name = mem_printf("%s%.64s", *address == ':' ? "ip" : "", address);

	for (char *c = name; *c; c++)
		if (*c == ':' || *c == '%')
			*c = '-';
	return name;
}

static bool is_same_host(const struct recipe_value *a, const struct recipe_value *b)
{
	return strcasecmp(recipe_text(a, "address"), recipe_text(b, "address")) == 0 &&
	       strcmp(recipe_text(a, "username"), recipe_text(b, "username")) == 0 &&
	       strcmp(recipe_text(a, "port"), recipe_text(b, "port")) == 0;
}

/* Whether a node, the last one, can stand beside those that are there. */
static bool is_new(struct recipe_reader *reader, const char *name)
{
	const struct recipe_value *nodes = &reader->recipe->nodes;
	const struct recipe_entry *node = &nodes->entry[nodes->count - 1];
	/* What the collector itself puts into a run's directory. */
	static const char *const own[] = {"run.json", "run.json.new", "run.db",
					  "report.html", "commands"};
	bool is_own = false;

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		is_own |= strcmp(name, own[i]) == 0;
	if (is_own || recipe_form_check(&recipe_form_file, name)) {
		recipe_error_add(
		    reader->errors, node->location,
		    "hosts: '%.80s' is no name for a directory, want an alias", name);
		return false;
	}
	if (nodes->count > MOST_NODES) {
		recipe_error_add(reader->errors, node->location,
				 "hosts: more than %d nodes", MOST_NODES);
		return false;
	}
	for (const struct recipe_entry *other = nodes->entry; other < node; other++) {
		bool is_named_so = strcmp(other->key, name) == 0;

		if (!is_named_so && !is_same_host(&other->value, &node->value))
			continue;
		recipe_error_add(reader->errors, node->location,
				 is_named_so
				     ? "hosts: line %zu has a node %s already, want "
				       "another alias"
				     : "hosts: line %zu has the same host, as %s",
				 other->location.line, other->key);
		return false;
	}
	return true;
}

static void set_member(struct recipe_value *map, const char *key, const char *text)
{
	if (text)
		recipe_value_set(recipe_value_add(map, key, map->location), text);
}

static const char *text_or(const struct recipe_value *map, const char *key,
			   const char *otherwise)
{
	const struct recipe_value *value = recipe_value_find(map, key);

	return value ? value->text : otherwise;
}

static const char *add_node(struct recipe_reader *reader,
			    const struct recipe_destination *to,
			    struct recipe_location location,
			    const struct recipe_value *details)
{
	struct recipe_value *nodes = &reader->recipe->nodes, *node;
	char *name = default_name(to->address);
	char *port = to->port ? mem_printf("%d", to->port) : NULL;
	const char *chosen = details && details->kind == RECIPE_TEXT
				 ? details->text
				 : text_or(details, "alias", name);

	node = recipe_value_add(nodes, chosen, location);
	node->kind = RECIPE_MAP;
	set_member(node, "address", text_or(details, "address", to->address));
	set_member(
	    node, "username",
	    text_or(details, "username", text_or(details, "ssh_username", to->user)));
	set_member(node, "port", text_or(details, "port", port));
	free(name);
	free(port);
	chosen = nodes->entry[nodes->count - 1].key;
	if (is_new(reader, chosen))
		return chosen;
	free(nodes->entry[--nodes->count].key);
	recipe_value_clear(&nodes->entry[nodes->count].value);
	return NULL;
}

/*
 * Add a node. `spec` is [USER@]HOST[:PORT], `details` an alias, a map of details, or
 * NULL. Its name, or NULL with an error.
 */
static const char *read_host(struct recipe_reader *reader, const char *spec,
			     struct recipe_location location,
			     struct recipe_value *details)
{
	static const struct recipe_key host = {.type = RECIPE_KEYS, .keys = host_keys};
	struct recipe_destination to;
	const char *wanted = recipe_parse_destination(spec, &to), *name = NULL;
	bool well = !wanted;

	if (wanted)
		recipe_error_add(reader->errors, location,
				 "hosts: it is '%.80s', want %s", spec, wanted);
	if (details && recipe_value_is_null(details))
		details = NULL;
	if (details && details->kind == RECIPE_TEXT)
		well &= recipe_check(reader, &host_keys[0], "hosts: alias", details);
	else if (details)
		well &= recipe_check(reader, &host, "a host", details);
	if (well)
		name = add_node(reader, &to, location, details);
	recipe_destination_clear(&to);
	return name;
}

void recipe_read_hosts(struct recipe_reader *reader, const char *key,
		       struct recipe_value *value)
{
	if (value->kind == RECIPE_TEXT)
		read_host(reader, value->text, value->location, NULL);
	for (size_t i = 0; i < value->count; i++) {
		struct recipe_entry *entry = &value->entry[i];

		if (value->kind == RECIPE_MAP)
			read_host(reader, entry->key, entry->location, &entry->value);
		else if (entry->value.kind == RECIPE_LIST)
			recipe_want(reader, key, &entry->value, "a host");
		else
			recipe_read_hosts(reader, key, &entry->value);
	}
}

/* A node that a role names: by its name, its address, or as `hosts` has it. */
static const char *find_node(const struct recipe *recipe, const char *text)
{
	struct recipe_destination to;
	const char *found = NULL;

	if (recipe_value_find(&recipe->nodes, text))
		return text;
	if (!recipe_parse_destination(text, &to))
		for (size_t i = 0; i < recipe->nodes.count && !found; i++) {
			const struct recipe_entry *node = &recipe->nodes.entry[i];

			if (strcasecmp(recipe_text(&node->value, "address"),
				       to.address) == 0 &&
			    (!to.port ||
			     to.port == atoi(recipe_text(&node->value, "port"))) &&
			    (!to.user ||
			     strcmp(to.user, recipe_text(&node->value, "username")) == 0))
				found = node->key;
		}
	recipe_destination_clear(&to);
	return found;
}

static void add_to_role(struct recipe_reader *reader, const char *name,
			struct recipe_value *role, struct recipe_value *value)
{
	const struct recipe *recipe = reader->recipe;
	const char *node;
	char *meant;

	if (value->kind != RECIPE_TEXT || recipe_value_is_null(value)) {
		recipe_want(reader, name, value, "a host or a list of hosts");
		return;
	}
	node = find_node(recipe, value->text);
	if (!node && recipe_get(recipe, "hosts")) {
		meant = recipe_meant(value->text, &recipe->nodes);
		recipe_error_add(reader->errors, value->location,
				 "roledefs: %s: no host '%.80s' in hosts%s", name,
				 value->text, meant);
		free(meant);
		return;
	}
	if (!node)
		node = read_host(reader, value->text, value->location, NULL);
	if (node && !recipe_has(role, node))
		set_member(role, NULL, node);
}

static void read_role(struct recipe_reader *reader, struct recipe_entry *entry)
{
	struct recipe_value *value = &entry->value;
	const char *wanted = recipe_form_check(&recipe_form_key, entry->key);
	size_t count = reader->errors->count;
	struct recipe_value *role;

	if (strcmp(entry->key, "all") == 0)
		wanted = "another name: all is every node already";
	if (wanted) {
		recipe_error_add(reader->errors, entry->location,
				 "roledefs: the role is '%.60s', want %s", entry->key,
				 wanted);
		return;
	}
	if (recipe_value_is_null(value))
		return;
	role = recipe_value_add(&reader->recipe->roles, entry->key, entry->location);
	role->kind = RECIPE_LIST;
	if (value->kind != RECIPE_LIST)
		add_to_role(reader, entry->key, role, value);
	for (size_t i = 0; value->kind == RECIPE_LIST && i < value->count; i++)
		add_to_role(reader, entry->key, role, &value->entry[i].value);
	if (role->count == 0 && reader->errors->count == count)
		recipe_error_add(reader->errors, entry->location,
				 "roledefs: %s names no host", entry->key);
}

void recipe_read_roles(struct recipe_reader *reader)
{
	struct recipe *recipe = reader->recipe;
	struct recipe_value *roles = recipe_value_find(&recipe->checked, "roledefs"),
			    *all;
	size_t count = reader->errors->count;

	if (roles && roles->kind != RECIPE_MAP)
		recipe_want(reader, "roledefs", roles,
			    "a map of roles, each with its hosts");
	for (size_t i = 0; roles && roles->kind == RECIPE_MAP && i < roles->count; i++)
		read_role(reader, &roles->entry[i]);
	if (recipe->nodes.count == 0 && count == 0 && reader->errors->count == 0)
		recipe_error_add(reader->errors, recipe->tree.location,
				 "no node to watch, want hosts or roledefs");
	all = recipe_value_add(&recipe->roles, "all", recipe->tree.location);
	all->kind = RECIPE_LIST;
	for (size_t i = 0; i < recipe->nodes.count; i++)
		set_member(all, NULL, recipe->nodes.entry[i].key);
}

void recipe_check_roles(struct recipe_reader *reader, const char *what,
			const struct recipe_value *user)
{
	const struct recipe_value *names = recipe_value_find(user, "roles");

	for (size_t i = 0; names && names->kind == RECIPE_LIST && i < names->count; i++) {
		const char *name = names->entry[i].value.text;
		char *meant;

		if (recipe_value_find(&reader->recipe->roles, name))
			continue;
		meant = recipe_meant(name, &reader->recipe->roles);
		recipe_error_add(reader->errors, names->entry[i].location,
				 "%s: no role '%.60s' in roledefs%s", what, name, meant);
		free(meant);
	}
}

/* Gateways: a text with commas or a list, as ssh -J takes them. Becomes such a text. */
void recipe_read_gateway(struct recipe_reader *reader, const char *key,
			 struct recipe_value *value)
{
	char *all = mem_strdup("");

	for (size_t i = 0; i < value->count; i++) {
		char *longer =
		    mem_printf("%s%s%s", all, i ? "," : "", value->entry[i].value.text);

		free(all);
		all = longer;
	}
	recipe_value_set(value, all);
	for (char *rest = all, *hop; (hop = strsep(&rest, ","));) {
		struct recipe_destination to;
		const char *wanted = recipe_parse_destination(hop, &to);

		recipe_destination_clear(&to);
		if (wanted)
			recipe_want(reader, key, value, wanted);
	}
	free(all);
}

/* What is wanted instead of an option of ssh, or NULL where it is well. */
static const char *check_option(const char *name, const char *value)
{
	static const struct {
		const char *name, *value, *wanted;
	} refused[] = {
	    {"BatchMode", NULL, "another option: the collector sets this one itself"},
	    {"ControlMaster", NULL, "another option: the collector sets this one itself"},
	    {"ControlPath", NULL, "another option: the collector sets this one itself"},
	    {"ControlPersist", NULL,
	     "another option: the collector sets this one itself"},
	    {"RequestTTY", NULL, "another option: the collector sets this one itself"},
	    {"ProxyJump", NULL, "that as ssh_gateway"},
	    {"UserKnownHostsFile", "/dev/null", "a file: the keys of hosts are checked"},
	    {"StrictHostKeyChecking", "no",
	     "yes or accept-new: the keys of hosts are checked"},
	    {"StrictHostKeyChecking", "off",
	     "yes or accept-new: the keys of hosts are checked"},
	    {"StrictHostKeyChecking", "false",
	     "yes or accept-new: the keys of hosts are checked"},
	};

	if (!*name || name[strspn(name, RECIPE_ALNUM)])
		return "KEY=VALUE as in ssh_config";
	if (!*value || strpbrk(value, "\n\r"))
		return "KEY=VALUE on one line";
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if (strcasecmp(name, refused[i].name) == 0 &&
		    (!refused[i].value || strcasecmp(value, refused[i].value) == 0))
			return refused[i].wanted;
	return NULL;
}

/* Becomes a list of KEY=VALUE. */
void recipe_read_ssh_options(struct recipe_reader *reader, const char *key,
			     struct recipe_value *value)
{
	static const struct recipe_key texts = {.type = RECIPE_TEXTS};
	struct recipe_value list = {.kind = RECIPE_LIST, .location = value->location};
	bool is_map = value->kind == RECIPE_MAP;

	if (!is_map && !recipe_check(reader, &texts, key, value))
		return;
	for (size_t i = 0; i < value->count; i++) {
		const struct recipe_entry *entry = &value->entry[i];
		const char *text =
		    entry->value.kind == RECIPE_TEXT ? entry->value.text : "";
		size_t length = is_map ? 0 : strcspn(text, "= \t");
		char *name = is_map ? mem_strdup(entry->key) : mem_strndup(text, length);
		const char *setting = text + length + strspn(text + length, "= \t");
		char *option = mem_printf("%s=%s", name, setting);
		const char *wanted = check_option(name, setting);

		if (wanted)
			recipe_error_add(reader->errors, entry->value.location,
					 "%s: it is '%.80s', want %s", key, option,
					 wanted);
		recipe_value_set(recipe_value_add(&list, NULL, entry->location), option);
		free(name);
		free(option);
	}
	recipe_value_clear(value);
	*value = list;
}
