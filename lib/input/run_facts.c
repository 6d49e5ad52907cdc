/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/run_facts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "input/csv.h"
#include "input/run.h"

static bool has_type(const json_t *value, enum member_type type)
{
	switch (type) {
	case MEMBER_TEXT:
		return json_is_string(value);
	case MEMBER_INTEGER:
		return json_is_integer(value);
	case MEMBER_INTEGER_OR_TEXT:
		return json_is_integer(value) || json_is_string(value);
	case MEMBER_STAMP:
		return json_is_integer(value) && nsec_is_stamp(json_integer_value(value));
	case MEMBER_REAL:
		return json_is_number(value);
	case MEMBER_ARRAY:
		return json_is_array(value);
	case MEMBER_OBJECT:
		return json_is_object(value);
	case MEMBER_ANY:
		break;
	}
	return true;
}

static void set_member(void *to, enum member_type type, const json_t *value)
{
	if (type == MEMBER_TEXT)
		*(const char **)to = json_string_value(value);
	else if (type == MEMBER_REAL)
		*(double *)to = json_number_value(value);
	else if (type < MEMBER_REAL)
		*(int64_t *)to = json_integer_value(value);
	else
		*(const json_t **)to = value;
}

json_t *members_read(const json_t *object, const struct member *member, void *to,
		     struct problem_log *log, uint64_t line)
{
	static const char *const wanted[] = {
	    [MEMBER_TEXT] = "a string",
	    [MEMBER_INTEGER] = "an integer",
	    [MEMBER_INTEGER_OR_TEXT] = "an integer",
	    [MEMBER_STAMP] = "integer nanoseconds between the years 1967 and 2111",
	    [MEMBER_REAL] = "a number",
	    [MEMBER_ARRAY] = "an array",
	    [MEMBER_OBJECT] = "an object",
	};
	/* jansson needs a mutable object only to count references. */
	json_t *rest = json_copy((json_t *)(uintptr_t)object);

	for (; member->name; member++) {
		const json_t *value = json_object_get(object, member->name);
		bool is_there = value && !json_is_null(value);

		if (is_there && !has_type(value, member->type)) {
			problem_log_add(log, PROBLEM_MALFORMED, line,
					"%s: ignored (expected %s)", member->name,
					wanted[member->type]);
			continue;
		}
		if (is_there &&
		    (member->offset == MEMBER_STAYS ||
		     (member->type == MEMBER_INTEGER_OR_TEXT && json_is_string(value))))
			continue;
		if (is_there)
			set_member((char *)to + member->offset, member->type, value);
		json_object_del(rest, member->name);
	}
	return rest;
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
		AUTOFREE char *plain = json_plain(json_array_get(array, i));

		bytes_add_text(&text, i ? separator : "");
		bytes_add_text(&text, plain);
	}
	bytes_add_byte(&text, 0);
	return (char *)text.data;
}

/*
 * Return the rest as a JSON object on one line, or NULL if it is empty. The caller frees
 * the result.
 */
static char *rest_text(json_t *rest)
{
	char *text = json_object_size(rest) ? json_one_line(rest) : NULL;

	json_decref(rest);
	return text;
}

static int add_address(struct node_facts *facts, const char *path, const json_t *text,
		       struct error *error)
{
	struct node_address address;
	char *plain;

	if (!json_is_string(text))
		return error_set(error, "%s: interfaces.addresses: expected strings",
				 path);
	/* Addresses can have a prefix length, "10.7.0.1/24". */
	plain =
	    mem_strndup(json_string_value(text), strcspn(json_string_value(text), "/%"));
	if (node_address_parse(plain, &address)) {
		free(plain);
		return error_set(error, "%s: invalid address '%s'", path,
				 json_string_value(text));
	}
	free(plain);
	*MEM_NEXT(facts->address, facts->addresses, facts->capacity) = address;
	return 0;
}

/*
 * Add the addresses of all interfaces, as in node.json and as printed by `ip -j addr`.
 * Return 0, or -1 with error.
 */
static int add_addresses(struct node_facts *facts, const char *path, struct error *error)
{
	for (size_t i = 0; i < json_array_size(facts->interfaces); i++) {
		const json_t *interface = json_array_get(facts->interfaces, i), *local;
		const json_t *texts = json_object_get(interface, "addresses");
		const json_t *infos = json_object_get(interface, "addr_info");

		for (size_t k = 0; k < json_array_size(texts); k++)
			if (add_address(facts, path, json_array_get(texts, k), error))
				return -1;
		for (size_t k = 0; k < json_array_size(infos); k++) {
			local = json_object_get(json_array_get(infos, k), "local");
			if (local && add_address(facts, path, local, error))
				return -1;
		}
	}
	return 0;
}

/* Wrap the output of `ip -j addr` in an object like that of a node.json. */
static json_t *wrap_interfaces(json_t *root)
{
	json_t *object = json_object();

	json_object_set_new(object, "interfaces", root);
	return object;
}

/*
 * Read a file of facts: an object or, with `or_array`, a non-empty array. Return 0, with
 * `*root` NULL if there is no file; or -1 with error and `*root` NULL.
 */
static int read_object(const char *path, bool or_array, json_t **root,
		       struct error *error)
{
	struct stat file;

	*root = NULL;
	if (stat(path, &file))
		return 0;
	if (!S_ISREG(file.st_mode))
		return error_set(error, "%s: not a regular file", path);
	*root = json_read(path, error);
	if (*root && !json_is_object(*root) && !(or_array && json_array_size(*root))) {
		error_set(error, "%s: not a JSON object", path);
		json_decref(*root);
		*root = NULL;
	}
	return *root ? 0 : -1;
}

int node_facts_read(struct node_facts *facts, const char *path,
		    struct problem_list *problems, struct error *error)
{
	static const struct member known[] = {
	    {"hostname", MEMBER_TEXT, offsetof(struct node_facts, hostname)},
	    {"kernel", MEMBER_TEXT, offsetof(struct node_facts, kernel)},
	    {"boot_id", MEMBER_TEXT, offsetof(struct node_facts, boot_id)},
	    {"cpus", MEMBER_INTEGER, offsetof(struct node_facts, cpus)},
	    {"mem_kib", MEMBER_INTEGER, offsetof(struct node_facts, mem_kib)},
	    {"cpu_mhz", MEMBER_REAL, offsetof(struct node_facts, cpu_mhz)},
	    {"interfaces", MEMBER_ARRAY, offsetof(struct node_facts, interfaces)},
	    {NULL, MEMBER_ANY, 0},
	};
	struct problem_log log;
	int status;

	memset(facts, 0, sizeof(*facts));
	status = read_object(path, true, &facts->object, error);
	if (!facts->object)
		return status;
	if (json_is_array(facts->object))
		facts->object = wrap_interfaces(facts->object);
	problem_log_init(&log, path, problems);
	facts->extra = rest_text(members_read(facts->object, known, facts, &log, 0));
	status = add_addresses(facts, path, error);
	if (status)
		node_facts_clear(facts);
	return status;
}

void node_facts_clear(struct node_facts *facts)
{
	json_decref(facts->object);
	free(facts->address);
	free(facts->extra);
	memset(facts, 0, sizeof(*facts));
}

/* Takes ownership of `text`. `of` is the prefix of the name, or "". */
static void add_fact(struct run_facts *facts, const char *of, const char *name,
		     char *text, nsec_t stamp)
{
	if (!text && !stamp)
		return;
	*MEM_NEXT(facts->item, facts->count, facts->capacity) = (struct run_fact){
	    mem_printf("%s%s%s", of, *of ? "." : "", name), text, stamp};
}

/*
 * Add the role of a node, given as a name or as an object with "role": "web" or "roles":
 * ["web", "db"].
 */
static void add_role(struct run_facts *facts, const json_t *value,
		     struct problem_log *log)
{
	struct of_node {
		const char *name, *role;
		const json_t *roles;
	} node = {NULL, NULL, NULL};
	static const struct member known[] = {
	    {"name", MEMBER_TEXT, offsetof(struct of_node, name)},
	    {"roles", MEMBER_ARRAY, offsetof(struct of_node, roles)},
	    {"role", MEMBER_TEXT, offsetof(struct of_node, role)},
	    {NULL, MEMBER_ANY, 0},
	};

	if (json_is_object(value))
		json_decref(members_read(value, known, &node, log, 0));
	if (!node.name && !json_is_string(value))
		problem_log_add(log, PROBLEM_MALFORMED, 0,
				"nodes: expected names or objects with a name; skipped");
	else if (node.roles)
		add_fact(facts, "role", node.name, json_join(node.roles, ","), 0);
	else if (node.role)
		add_fact(facts, "role", node.name, mem_strdup(node.role), 0);
}

static void add_run_members(struct run_facts *facts, const json_t *root,
			    struct problem_log *log)
{
	struct of_run {
		const json_t *recipe, *parameters, *nodes;
		const char *name, *collector;
		nsec_t begin_ns, end_ns;
	} run = {.begin_ns = 0};
	static const struct member known[] = {
	    {"name", MEMBER_TEXT, offsetof(struct of_run, name)},
	    {"recipe", MEMBER_ANY, offsetof(struct of_run, recipe)},
	    {"collector_version", MEMBER_TEXT, offsetof(struct of_run, collector)},
	    {"begin_ns", MEMBER_STAMP, offsetof(struct of_run, begin_ns)},
	    {"end_ns", MEMBER_STAMP, offsetof(struct of_run, end_ns)},
	    {"parameters", MEMBER_OBJECT, offsetof(struct of_run, parameters)},
	    {"nodes", MEMBER_ARRAY, offsetof(struct of_run, nodes)},
	    {NULL, MEMBER_ANY, 0},
	};
	char *rest = rest_text(members_read(root, known, &run, log, 0));
	const char *name;
	json_t *value;

	add_fact(facts, "", "name", run.name ? mem_strdup(run.name) : NULL, 0);
	add_fact(facts, "", "recipe", run.recipe ? json_plain(run.recipe) : NULL, 0);
	add_fact(facts, "", "collector", run.collector ? mem_strdup(run.collector) : NULL,
		 0);
	add_fact(facts, "", "run.json", rest, 0);
	add_fact(facts, "", "begin_ns", NULL, run.begin_ns);
	add_fact(facts, "", "end_ns", NULL, run.end_ns);
	json_object_foreach((json_t *)(uintptr_t)run.parameters, name, value)
	{
		add_fact(facts, "parameter", name, json_plain(value), 0);
	}
	for (size_t i = 0; i < json_array_size(run.nodes); i++)
		add_role(facts, json_array_get(run.nodes, i), log);
}

int run_facts_read(struct run_facts *facts, const char *path,
		   struct problem_list *problems, struct error *error)
{
	struct problem_log log;
	json_t *root;
	int status;

	memset(facts, 0, sizeof(*facts));
	problem_log_init(&log, path, problems);
	status = read_object(path, false, &root, error);
	if (!root)
		return status;
	add_run_members(facts, root, &log);
	json_decref(root);
	return 0;
}

void run_facts_clear(struct run_facts *facts)
{
	for (size_t i = 0; i < facts->count; i++) {
		free(facts->item[i].name);
		free(facts->item[i].text);
	}
	free(facts->item);
	memset(facts, 0, sizeof(*facts));
}
