/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nodes. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
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

/* A text with a check of its own, for a char * at `target`. */
static void take_checked(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value,
			 const char *(*check)(const char *), char **target)
{
	const char *text = recipe_text(reader, key, value), *wanted;

	if (!text)
		return;
	wanted = check(text);
	if (wanted) {
		recipe_want(reader, key, value, wanted);
		return;
	}
	free(*target);
	*target = mem_strdup(text);
}

static void read_alias(struct recipe_reader *reader, const char *key,
		       const struct recipe_value *value, void *target)
{
	take_checked(reader, key, value, recipe_check_file,
		     &((struct host *)target)->name);
}

static void read_user(struct recipe_reader *reader, const char *key,
		      const struct recipe_value *value, void *target)
{
	take_checked(reader, key, value, recipe_check_user,
		     &((struct host *)target)->user);
}

static void read_address(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, void *target)
{
	take_checked(reader, key, value, recipe_check_address,
		     &((struct host *)target)->address);
}

static void read_port(struct recipe_reader *reader, const char *key,
		      const struct recipe_value *value, void *target)
{
	recipe_take_integer(reader, key, value, (const int64_t[]){1, 65535},
			    &((struct host *)target)->port);
}

static const struct recipe_field host_fields[] = {
    {"alias", read_alias},       {"address", read_address}, {"username", read_user},
    {"ssh_username", read_user}, {"port", read_port},
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

/* `spec` is [USER@]HOST[:PORT]; what follows it an alias, a map of details, or null. */
size_t recipe_read_host(struct recipe_reader *reader, const char *spec,
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
		read_alias(reader, "hosts: alias", details, &host);
	if (reader->mistakes->count == count)
		index = add_node(reader, &host, place);
	clear_host(&host);
	return index;
}

static void read_host_map(struct recipe_reader *reader, const struct recipe_value *map)
{
	for (size_t i = 0; i < map->count; i++)
		recipe_read_host(reader, map->entry[i].key, map->entry[i].place,
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
		recipe_read_host(reader, value->text, value->place, NULL);
	for (size_t i = 0; value->kind == RECIPE_LIST && i < value->count; i++) {
		const struct recipe_value *host = &value->entry[i].value;

		if (host->kind == RECIPE_MAP)
			read_host_map(reader, host);
		else if (recipe_text(reader, key, host))
			recipe_read_host(reader, host->text, host->place, NULL);
	}
}
