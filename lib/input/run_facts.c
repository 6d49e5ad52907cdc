/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/run_facts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "input/members.h"

static void take_parameters(struct run_facts *facts, struct members *members)
{
	const json_t *parameters = members_object(members, "parameters");
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)parameters, name, value)
	{
		facts->parameter =
		    mem_grow(facts->parameter, facts->parameters, &facts->parameter_room,
			     sizeof(*facts->parameter));
		facts->parameter[facts->parameters++] =
		    (struct run_parameter){mem_strdup(name), json_plain(value)};
	}
}

/* "role": "web", or "roles": ["web", "db"]. */
static char *take_role(struct members *members)
{
	const json_t *roles = members_array(members, "roles");
	char *role = NULL;

	if (roles)
		return json_join(roles, ",");
	members_text(members, "role", &role);
	return role;
}

static void add_node(struct run_facts *facts, const json_t *value, struct faults *faults)
{
	struct run_fact_node node = {NULL, NULL, NULL};
	struct members members;

	if (json_is_string(value)) {
		node.name = mem_strdup(json_string_value(value));
	} else if (json_is_object(value)) {
		members_init(&members, value, faults, 0);
		members_text(&members, "name", &node.name);
		node.role = take_role(&members);
		node.extra = members_end(&members);
	}
	if (!node.name) {
		faults_add(faults, "malformed", 0,
			   "nodes: want names or objects with a "
			   "name, left out");
		free(node.role);
		free(node.extra);
		return;
	}
	facts->node =
	    mem_grow(facts->node, facts->nodes, &facts->node_room, sizeof(*facts->node));
	facts->node[facts->nodes++] = node;
}

static void take_members(struct run_facts *facts, const json_t *root,
			 struct faults *faults)
{
	struct members members;
	const json_t *nodes;

	members_init(&members, root, faults, 0);
	members_text(&members, "name", &facts->name);
	facts->recipe = members_any(&members, "recipe");
	members_text(&members, "collector_version", &facts->collector_version);
	members_stamp(&members, "begin_ns", &facts->begin_ns);
	members_stamp(&members, "end_ns", &facts->end_ns);
	take_parameters(facts, &members);
	nodes = members_array(&members, "nodes");
	for (size_t i = 0; i < json_array_size(nodes); i++)
		add_node(facts, json_array_get(nodes, i), faults);
	facts->extra = members_end(&members);
}

int run_facts_read(struct run_facts *facts, const char *path,
		   struct problem_list *problems, struct error *error)
{
	struct faults faults;
	struct stat file;
	json_t *root;

	memset(facts, 0, sizeof(*facts));
	faults_init(&faults, path, problems);
	if (stat(path, &file))
		return 0;
	if (!S_ISREG(file.st_mode))
		return error_set(error, "%s: no plain file", path);
	root = json_read_object(path, error);
	if (!root)
		return -1;
	take_members(facts, root, &faults);
	json_decref(root);
	return 0;
}

void run_facts_clear(struct run_facts *facts)
{
	for (size_t i = 0; i < facts->parameters; i++) {
		free(facts->parameter[i].name);
		free(facts->parameter[i].value);
	}
	for (size_t i = 0; i < facts->nodes; i++) {
		free(facts->node[i].name);
		free(facts->node[i].role);
		free(facts->node[i].extra);
	}
	free(facts->name);
	free(facts->recipe);
	free(facts->collector_version);
	free(facts->parameter);
	free(facts->node);
	free(facts->extra);
	memset(facts, 0, sizeof(*facts));
}
