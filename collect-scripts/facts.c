/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collect-scripts/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "input/recipe/command.h"

/* A value without quotes may be meant as a number or as true, false or null. */
static json_t *make_scalar(const struct recipe_value *value)
{
	int64_t integer;
	double real;
	char text[32];
	bool is_true = strcmp(value->text, "true") == 0;

	if (recipe_value_is_null(value))
		return json_null();
	if (value->plain && (is_true || strcmp(value->text, "false") == 0))
		return json_boolean(is_true);
	/* 007, -0 and 1.10 are texts: as numbers they would not be what they were. */
	if (value->plain && number_integer(value->text, &integer) == 0 &&
	    strspn(value->text, "-0") == strspn(value->text, "-"))
		return json_integer(integer);
	if (value->plain && strcmp(value->text, "0") == 0)
		return json_integer(0);
	if (value->plain && strchr(value->text, '.') &&
	    number_real(value->text, &real) == 0) {
		snprintf(text, sizeof(text), "%.15g", real);
		if (strcmp(text, value->text) == 0)
			return json_real(real);
	}
	return json_string(value->text);
}

static json_t *make_json(const struct recipe_value *value)
{
	json_t *made;

	if (value->kind == RECIPE_TEXT)
		return make_scalar(value);
	made = value->kind == RECIPE_LIST ? json_array() : json_object();
	for (size_t i = 0; i < value->count; i++) {
		json_t *member = make_json(&value->entry[i].value);

		if (value->kind == RECIPE_LIST)
			json_array_append_new(made, member);
		else
			json_object_set_new(made, value->entry[i].key, member);
	}
	return made;
}

static json_t *make_parameters(const struct recipe *recipe, size_t point)
{
	json_t *parameters = json_object();

	for (size_t i = 0; i < recipe->parameters; i++) {
		const struct recipe_parameter *parameter = &recipe->parameter[i];
		size_t choice = recipe_choice(recipe, point, i);
		struct recipe_value value = {
		    .kind = RECIPE_TEXT,
		    .text = parameter->values.item[choice],
		    .plain = parameter->plain[choice],
		};

		json_object_set_new(parameters, parameter->key, make_scalar(&value));
	}
	return parameters;
}

static json_t *make_nodes(const struct recipe *recipe)
{
	json_t *nodes = json_array();

	for (size_t i = 0; i < recipe->nodes; i++) {
		json_t *node = json_object(), *roles = json_array();

		for (size_t k = 0; k + 1 < recipe->roles; k++) /* but for "all" */
			if (recipe_role_has(&recipe->role[k], i))
				json_array_append_new(roles,
						      json_string(recipe->role[k].name));
		json_object_set_new(node, "name", json_string(recipe->node[i].name));
		json_object_set_new(node, "address",
				    json_string(recipe->node[i].address));
		json_object_set_new(node, "roles", roles);
		json_array_append_new(nodes, node);
	}
	return nodes;
}

char *facts_of_point(const struct recipe *recipe, size_t point, const char *run)
{
	json_t *facts = json_object();
	char *text;

	json_object_set_new(facts, "name", json_string(recipe->name));
	if (run)
		json_object_set_new(facts, "run", json_string(run));
	json_object_set_new(facts, "parameters", make_parameters(recipe, point));
	json_object_set_new(facts, "nodes", make_nodes(recipe));
	json_object_set_new(facts, "recipe", make_json(&recipe->tree));
	text = json_dumps(facts, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(facts);
	return text ? text : mem_strdup("{}");
}
