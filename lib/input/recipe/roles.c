/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The roles of nodes. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/near.h"
#include "input/recipe/names.h"
#include "input/recipe/private.h"

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
		node = recipe_read_host(reader, value->text, value->place, NULL);
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
