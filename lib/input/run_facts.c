/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/run_facts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "input/run.h"

void members_init(struct members *members, const json_t *object, struct faults *faults,
		  uint64_t line)
{
	members->object = object;
	/* jansson wants it mutable to count references, no more. */
	members->rest = json_copy((json_t *)(uintptr_t)object);
	members->faults = faults;
	members->line = line;
}

/* A member, or NULL where it is missing; null counts as missing. */
static const json_t *find(struct members *members, const char *name)
{
	const json_t *member = json_object_get(members->object, name);

	if (!json_is_null(member))
		return member;
	json_object_del(members->rest, name);
	return NULL;
}

/* A member if it is right, then taken; otherwise a fault says what is wanted. */
static const json_t *take(struct members *members, const char *name, const json_t *member,
			  bool right, const char *wanted)
{
	if (member && right) {
		json_object_del(members->rest, name);
		return member;
	}
	if (member)
		faults_add(members->faults, "malformed", members->line,
			   "%s: want %s, not used", name, wanted);
	return NULL;
}

void members_text(struct members *members, const char *name, char **copy)
{
	const json_t *member = find(members, name);

	if (take(members, name, member, json_is_string(member), "a string"))
		*copy = mem_strdup(json_string_value(member));
}

void members_integer(struct members *members, const char *name, int64_t *value)
{
	const json_t *member = find(members, name);

	if (take(members, name, member, json_is_integer(member), "an integer"))
		*value = json_integer_value(member);
}

void members_stamp(struct members *members, const char *name, nsec_t *value)
{
	const json_t *member = find(members, name);
	bool right = json_is_integer(member) && nsec_is_stamp(json_integer_value(member));

	if (take(members, name, member, right,
		 "integer nanoseconds between the years 1933 and 2070"))
		*value = json_integer_value(member);
}

static void members_real(struct members *members, const char *name, double *value)
{
	const json_t *member = find(members, name);

	if (take(members, name, member, json_is_number(member), "a number"))
		*value = json_number_value(member);
}

const json_t *members_array(struct members *members, const char *name)
{
	const json_t *member = find(members, name);

	return take(members, name, member, json_is_array(member), "an array");
}

static const json_t *members_object(struct members *members, const char *name)
{
	const json_t *member = find(members, name);

	return take(members, name, member, json_is_object(member), "an object");
}

static char *json_plain(const json_t *value)
{
	char text[NUMBER_TEXT];

	if (json_is_string(value))
		return mem_strdup(json_string_value(value));
	if (json_is_real(value))
		return mem_strdup(number_print(text, json_real_value(value)));
	return json_one_line(value);
}

char *json_join(const json_t *array, const char *separator)
{
	struct bytes text = {0};

	for (size_t i = 0; i < json_array_size(array); i++) {
		char *plain = json_plain(json_array_get(array, i));

		bytes_add_text(&text, i ? separator : "");
		bytes_add_text(&text, plain);
		free(plain);
	}
	bytes_add_byte(&text, 0);
	return (char *)text.data;
}

/* A string as it is, anything else as JSON on one line. For free(), or NULL. */
static char *members_any(struct members *members, const char *name)
{
	const json_t *member = find(members, name);

	return take(members, name, member, true, "") ? json_plain(member) : NULL;
}

char *members_end(struct members *members)
{
	char *text = NULL;

	if (json_object_size(members->rest))
		text = json_one_line(members->rest);
	json_decref(members->rest);
	members->rest = NULL;
	return text;
}

static int add_address(struct node_facts *facts, const char *path, const json_t *text,
		       struct error *error)
{
	struct node_address address;
	char *plain;

	if (!json_is_string(text))
		return error_set(error, "%s: interfaces.addresses: want strings", path);
	/* "10.7.0.1/24" is as good as "10.7.0.1". */
	plain =
	    mem_strndup(json_string_value(text), strcspn(json_string_value(text), "/%"));
	if (node_address_parse(plain, &address)) {
		free(plain);
		return error_set(error, "%s: '%s' is no address", path,
				 json_string_value(text));
	}
	free(plain);
	facts->address = mem_grow(facts->address, facts->addresses, &facts->room,
				  sizeof(*facts->address));
	facts->address[facts->addresses++] = address;
	return 0;
}

static int take_addresses(struct node_facts *facts, const char *path,
			  struct members *members, struct error *error)
{
	const json_t *interfaces = members_array(members, "interfaces");

	for (size_t i = 0; i < json_array_size(interfaces); i++) {
		const json_t *texts =
		    json_object_get(json_array_get(interfaces, i), "addresses");

		for (size_t k = 0; k < json_array_size(texts); k++)
			if (add_address(facts, path, json_array_get(texts, k), error))
				return -1;
	}
	return 0;
}

static void take_tools(struct node_facts *facts, struct members *members)
{
	const json_t *tools = members_object(members, "tools");
	const char *name;
	json_t *version;

	json_object_foreach((json_t *)(uintptr_t)tools, name, version)
	{
		facts->tool = mem_grow(facts->tool, facts->tools, &facts->tool_room,
				       sizeof(*facts->tool));
		facts->tool[facts->tools++] =
		    (struct node_tool){mem_strdup(name), json_plain(version)};
	}
}

/* A file of facts. 0, with NULL where there is none; or -1 with error and NULL. */
static int read_object(const char *path, json_t **root, struct error *error)
{
	struct stat file;

	*root = NULL;
	if (stat(path, &file))
		return 0;
	if (!S_ISREG(file.st_mode))
		return error_set(error, "%s: no plain file", path);
	*root = json_read_object(path, error);
	return *root ? 0 : -1;
}

static int read_members(struct node_facts *facts, const char *path, const json_t *root,
			struct problem_list *problems, struct error *error)
{
	struct members members;
	struct faults faults;
	int status;

	faults_init(&faults, path, problems);
	members_init(&members, root, &faults, 0);
	members_text(&members, "hostname", &facts->hostname);
	members_text(&members, "kernel", &facts->kernel);
	members_text(&members, "boot_id", &facts->boot_id);
	members_text(&members, "clock_source", &facts->clock_source);
	members_integer(&members, "cpus", &facts->cpus);
	members_integer(&members, "mem_kib", &facts->mem_kib);
	members_real(&members, "cpu_mhz", &facts->cpu_mhz);
	take_tools(facts, &members);
	status = take_addresses(facts, path, &members, error);
	facts->extra = members_end(&members);
	return status;
}

int node_facts_read(struct node_facts *facts, const char *path,
		    struct problem_list *problems, struct error *error)
{
	json_t *root;
	int status;

	memset(facts, 0, sizeof(*facts));
	status = read_object(path, &root, error);
	if (!root)
		return status;
	status = read_members(facts, path, root, problems, error);
	json_decref(root);
	if (status)
		node_facts_clear(facts);
	return status;
}

void node_facts_clear(struct node_facts *facts)
{
	for (size_t i = 0; i < facts->tools; i++) {
		free(facts->tool[i].name);
		free(facts->tool[i].version);
	}
	free(facts->hostname);
	free(facts->kernel);
	free(facts->boot_id);
	free(facts->clock_source);
	free(facts->tool);
	free(facts->address);
	free(facts->extra);
	memset(facts, 0, sizeof(*facts));
}

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
	json_t *root;
	int status;

	memset(facts, 0, sizeof(*facts));
	faults_init(&faults, path, problems);
	status = read_object(path, &root, error);
	if (!root)
		return status;
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
