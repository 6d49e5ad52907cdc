/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collect-scripts/plan.h"

#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "input/recipe/command.h"

static void put_word(FILE *file, const char *text)
{
	putc(' ', file);
	if (recipe_value_is_plain(text)) {
		fputs(text, file);
		return;
	}
	putc('\'', file);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", file);
		else if (*text == '\n')
			fputs("'\"$NL\"'", file);
		else
			putc(*text, file);
	putc('\'', file);
}

static void put_number(FILE *file, size_t number)
{
	fprintf(file, " %zu", number);
}

/* The texts of some members of a map. The names end with NULL. */
static void put_members(FILE *file, const struct recipe_value *map,
			const char *const *names)
{
	for (; *names; names++)
		put_word(file, recipe_text(map, *names));
}

static void put_list(FILE *file, const struct recipe_value *list)
{
	for (size_t i = 0; list && i < list->count; i++)
		put_word(file, list->entry[i].value.text);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A line: what kind of record it is, and its words, which end with NULL. */
static void put_line(FILE *file, const char *kind, const char *const *words)
{
	fputs(kind, file);
	for (; *words; words++)
		put_word(file, *words);
	putc('\n', file);
}

void plan_print_point(const struct plan *plan)
{
	const struct recipe_value *parameters = recipe_get(plan->recipe, "parameters");
	char *suffix = recipe_point_suffix(plan->recipe, plan->point);

	fputs("point", plan->file);
	put_number(plan->file, plan->point + 1);
	put_number(plan->file, recipe_points(plan->recipe));
	put_word(plan->file, suffix);
	for (size_t i = 0; parameters && i < parameters->count; i++) {
		char *word =
		    mem_printf("%s=%s", parameters->entry[i].key,
			       recipe_choice(plan->recipe, plan->point, i)->text);

		put_word(plan->file, word);
		free(word);
	}
	putc('\n', plan->file);
	free(suffix);
}

void plan_print_nodes(const struct plan *plan)
{
	const struct recipe *recipe = plan->recipe;
	const struct recipe_value *options = recipe_get(recipe, "ssh_options");
	FILE *file = plan->file;

	put_line(file, "ssh_gateway",
		 WORDS(recipe_text(&recipe->checked, "ssh_gateway")));
	for (size_t i = 0; options && i < options->count; i++)
		put_line(file, "ssh_option", WORDS(options->entry[i].value.text));
	for (size_t i = 0; i < recipe->nodes.count; i++) {
		const struct recipe_entry *node = &recipe->nodes.entry[i];

		fputs("node", file);
		put_word(file, node->key);
		put_word(file, recipe_text(&node->value, "address"));
		put_word(file, recipe_value_find(&node->value, "username")
				   ? recipe_text(&node->value, "username")
				   : recipe_text(&recipe->checked, "username"));
		put_word(file, recipe_text(&node->value, "port"));
		for (size_t r = 0; r < recipe->roles.count; r++)
			if (recipe_has(&recipe->roles.entry[r].value, node->key))
				put_word(file, recipe->roles.entry[r].key);
		putc('\n', file);
	}
	for (size_t i = 0; i < recipe->roles.count; i++) {
		fputs("role", file);
		put_word(file, recipe->roles.entry[i].key);
		put_list(file, &recipe->roles.entry[i].value);
		putc('\n', file);
	}
}

static void print_tracing(const struct plan *plan)
{
	static const char *const kinds[] = {"kernel", "syscall", "userspace"};
	const struct recipe *recipe = plan->recipe;
	FILE *file = plan->file;

	for (size_t k = 0; k < RECIPE_EVENT_KINDS; k++)
		for (size_t i = 0; i < recipe->events[k].count; i++)
			put_line(file, "event",
				 WORDS(kinds[k], recipe->events[k].entry[i].key,
				       recipe->events[k].entry[i].value.text));
	for (size_t k = 0; k < RECIPE_EVENT_KINDS; k += RECIPE_USERSPACE) {
		const struct recipe_value *contexts =
		    recipe_value_find(recipe_get(recipe, "contexts"), kinds[k]);

		if (recipe->events[k].count == 0 &&
		    (k != RECIPE_KERNEL || recipe->events[RECIPE_SYSCALL].count == 0))
			continue;
		for (size_t i = 0; contexts && i < contexts->count; i++)
			put_line(file, "context",
				 WORDS(kinds[k], contexts->entry[i].value.text));
		fprintf(file, "channel %s", kinds[k]);
		put_members(file,
			    recipe_value_find(recipe_get(recipe, "channel"), kinds[k]),
			    WORDS("subbuf_size", "num_subbuf", "mode", "switch_timer_us",
				  "read_timer_us"));
		putc('\n', file);
	}
}

static void print_aliases(const struct plan *plan, const char *key, const char *kind)
{
	const struct recipe_value *all = recipe_get(plan->recipe, key);

	for (size_t i = 0; all && i < all->count; i++)
		put_line(plan->file, kind,
			 WORDS(all->entry[i].key, all->entry[i].value.text));
}

static void print_sources(const struct plan *plan)
{
	const struct recipe_value *sar = recipe_get(plan->recipe, "sar");
	const struct recipe_value *capture = recipe_get(plan->recipe, "capture");
	const struct recipe_value *process = recipe_get(plan->recipe, "process");
	const struct recipe_value *match = recipe_value_find(process, "match");
	const struct recipe_value *whitelist = recipe_value_find(process, "whitelist");
	FILE *file = plan->file;

	if (sar)
		put_line(
		    file, "sar",
		    WORDS(recipe_text(sar, "interval"), recipe_text(sar, "activities")));
	print_aliases(plan, "filesystem_names", "filesystem");
	print_aliases(plan, "net_interfaces", "net_interface");
	if (capture) {
		fputs("capture", file);
		put_members(file, capture, WORDS("snaplen", "filter"));
		put_list(file, recipe_value_find(capture, "interfaces"));
		putc('\n', file);
	}
	if (!process)
		return;
	fputs("process", file);
	put_word(file, recipe_text(process, "interval_ms"));
	put_word(file, whitelist ? "whitelist" : match ? "match" : "all");
	if (whitelist && *whitelist->text)
		put_word(file, whitelist->text);
	put_list(file, match);
	putc('\n', file);
}

/* Each node of some roles once, with the role that it comes by. */
typedef void plan_visit(const struct plan *plan, struct recipe_scope *scope,
			const struct recipe_entry *user);

static void visit_nodes(const struct plan *plan, struct recipe_scope *scope,
			const struct recipe_entry *user, plan_visit *visit)
{
	char all[] = "all";
	const struct recipe_entry everybody = {.value = {.text = all}};
	const struct recipe_value *roles = recipe_value_find(&user->value, "roles");
	const struct recipe_entry *role =
	    roles && roles->count ? roles->entry : &everybody;
	struct recipe_value seen = {.kind = RECIPE_LIST};

	for (size_t r = 0; r < (roles && roles->count ? roles->count : 1); r++) {
		const struct recipe_value *nodes;

		scope->role = role[r].value.text;
		nodes = recipe_value_find(&plan->recipe->roles, scope->role);
		for (size_t i = 0; i < nodes->count; i++) {
			scope->node = nodes->entry[i].value.text;
			if (recipe_has(&seen, scope->node))
				continue;
			recipe_value_set(recipe_value_add(&seen, NULL, seen.location),
					 scope->node);
			visit(plan, scope, user);
		}
	}
	recipe_value_clear(&seen);
	scope->node = scope->role = NULL;
}

/* The command of a user as it runs in this scope. */
static void put_command(const struct plan *plan, struct recipe_scope *scope,
			const struct recipe_value *user)
{
	char *command = recipe_scope_fill(scope, recipe_text(user, "command"));

	put_word(plan->file, command);
	putc('\n', plan->file);
	free(command);
}

static void print_sensor(const struct plan *plan, struct recipe_scope *scope,
			 const struct recipe_entry *sensor)
{
	fputs("sensor", plan->file);
	put_word(plan->file, scope->node);
	put_word(plan->file, sensor->key);
	put_word(plan->file, recipe_text(&sensor->value, "interval"));
	if (recipe_value_find(&sensor->value, "known"))
		put_line(plan->file, "", WORDS(recipe_text(&sensor->value, "known")));
	else
		put_command(plan, scope, &sensor->value);
}

static void print_execute(const struct plan *plan, struct recipe_scope *scope,
			  const struct recipe_entry *execute)
{
	bool is_sudo = strcmp(recipe_text(&execute->value, "use_sudo"), "true") == 0;

	fputs("execute", plan->file);
	put_number(plan->file, (size_t)scope->task);
	put_members(plan->file, &execute->value, WORDS("method", "timeout"));
	put_word(plan->file, is_sudo ? "sudo" : "");
	put_word(plan->file, scope->node ? scope->node : "");
	put_command(plan, scope, &execute->value);
}

static void print_worker(const struct plan *plan, struct recipe_scope *scope,
			 const struct recipe_entry *queue)
{
	(void)queue;
	put_word(plan->file, scope->node);
}

/* What a queue's tasks are about: its list, or the files that its pattern finds. */
static int find_inputs(const struct recipe_value *inputs, struct text_list *found,
		       struct error *error)
{
	glob_t files = {.gl_pathc = 0};
	int status;

	if (inputs->kind == RECIPE_LIST) {
		for (size_t i = 0; i < inputs->count; i++)
			text_list_add(found, inputs->entry[i].value.text);
		return 0;
	}
	status = glob(inputs->text, GLOB_TILDE, NULL, &files);
	for (size_t i = 0; status == 0 && i < files.gl_pathc; i++)
		text_list_add(found, files.gl_pathv[i]);
	globfree(&files);
	if (status == 0)
		return 0;
	return error_set(error, "%s:%zu: tasks: no file here is like '%s'",
			 inputs->location.file, inputs->location.line, inputs->text);
}

static int print_queue(const struct plan *plan, size_t number, struct recipe_scope *scope,
		       const struct recipe_entry *queue, struct error *error)
{
	struct text_list inputs = {0};
	int status =
	    find_inputs(recipe_value_find(&queue->value, "inputs"), &inputs, error);

	fprintf(plan->file, "tasks %zu", number);
	put_members(
	    plan->file, &queue->value,
	    WORDS("name", "policy", "parallel", "interval", "pending", "timeout"));
	visit_nodes(plan, scope, queue, print_worker);
	putc('\n', plan->file);
	for (size_t i = 0; i < inputs.count; i++) {
		scope->input = inputs.item[i];
		scope->task = (int64_t)i + 1;
		fprintf(plan->file, "task %zu %zu", number, i + 1);
		put_word(plan->file, scope->input);
		put_command(plan, scope, &queue->value);
	}
	text_list_clear(&inputs);
	return status;
}

static int print_commands(const struct plan *plan, struct recipe_scope *scope,
			  struct error *error)
{
	const struct recipe_value *sensors = recipe_get(plan->recipe, "sensors");
	const struct recipe_value *executes = recipe_get(plan->recipe, "execute");
	const struct recipe_value *queues = recipe_get(plan->recipe, "tasks");
	int status = 0;

	for (size_t i = 0; sensors && i < sensors->count; i++)
		visit_nodes(plan, scope, &sensors->entry[i], print_sensor);
	for (size_t i = 0; executes && i < executes->count; i++) {
		const struct recipe_entry *execute = &executes->entry[i];

		scope->task = (int64_t)i + 1;
		scope->kind = strcmp(recipe_text(&execute->value, "method"), "local") == 0
				  ? SCOPE_LOCAL
				  : SCOPE_NODE;
		if (scope->kind == SCOPE_LOCAL)
			print_execute(plan, scope, execute);
		else
			visit_nodes(plan, scope, execute, print_execute);
	}
	scope->kind = SCOPE_TASK;
	for (size_t i = 0; queues && i < queues->count && status == 0; i++)
		status = print_queue(plan, i + 1, scope, &queues->entry[i], error);
	return status;
}

int plan_print(const struct plan *plan, struct error *error)
{
	const struct recipe_value *checked = &plan->recipe->checked;
	char *suffix = recipe_point_suffix(plan->recipe, plan->point);
	char *run = plan->run ? mem_strdup(plan->run)
			      : mem_printf("%s%s%s", recipe_text(checked, "name"),
					   *suffix ? "-" : "", suffix);
	struct recipe_scope scope = {
	    .recipe = plan->recipe, .point = plan->point, .run = run};
	int status;

	put_line(plan->file, "name", WORDS(recipe_text(checked, "name")));
	plan_print_point(plan);
	put_line(plan->file, "tracedir", WORDS(recipe_text(checked, "tracedir")));
	put_line(plan->file, "tmpdir", WORDS(recipe_text(checked, "tmpdir")));
	put_line(plan->file, "fetch", WORDS(recipe_text(checked, "fetch")));
	plan_print_nodes(plan);
	print_tracing(plan);
	print_sources(plan);
	status = print_commands(plan, &scope, error);
	free(suffix);
	free(run);
	return status;
}

/* A value without quotes may be meant as a number or as true, false or null. */
static json_t *make_scalar(const struct recipe_value *value)
{
	const char *text = value->text;
	bool is_true = strcmp(text, "true") == 0;
	int64_t integer;
	double real;
	char again[32];

	if (recipe_value_is_null(value))
		return json_null();
	if (value->plain && (is_true || strcmp(text, "false") == 0))
		return json_boolean(is_true);
	/* 007, -0 and 1.10 are texts: as numbers they would not be what they were. */
	if (value->plain && number_integer(text, &integer) == 0) {
		snprintf(again, sizeof(again), "%" PRId64, integer);
		if (strcmp(again, text) == 0)
			return json_integer(integer);
	} else if (value->plain && strchr(text, '.') && number_real(text, &real) == 0) {
		snprintf(again, sizeof(again), "%.15g", real);
		if (strcmp(again, text) == 0)
			return json_real(real);
	}
	return json_string(text);
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

static json_t *make_node(const struct recipe *recipe, const struct recipe_entry *entry)
{
	json_t *node = json_object(), *roles = json_array();

	for (size_t i = 0; i + 1 < recipe->roles.count; i++) /* but for "all" */
		if (recipe_has(&recipe->roles.entry[i].value, entry->key))
			json_array_append_new(roles,
					      json_string(recipe->roles.entry[i].key));
	json_object_set_new(node, "name", json_string(entry->key));
	json_object_set_new(node, "address",
			    json_string(recipe_text(&entry->value, "address")));
	json_object_set_new(node, "roles", roles);
	return node;
}

char *plan_json(const struct plan *plan)
{
	const struct recipe *recipe = plan->recipe;
	const struct recipe_value *keys = recipe_get(recipe, "parameters");
	json_t *facts = json_object(), *parameters = json_object(), *nodes = json_array();
	char *text;

	for (size_t i = 0; keys && i < keys->count; i++)
		json_object_set_new(parameters, keys->entry[i].key,
				    make_scalar(recipe_choice(recipe, plan->point, i)));
	for (size_t i = 0; i < recipe->nodes.count; i++)
		json_array_append_new(nodes, make_node(recipe, &recipe->nodes.entry[i]));
	json_object_set_new(facts, "name",
			    json_string(recipe_text(&recipe->checked, "name")));
	if (plan->run)
		json_object_set_new(facts, "run", json_string(plan->run));
	json_object_set_new(facts, "parameters", parameters);
	json_object_set_new(facts, "nodes", nodes);
	json_object_set_new(facts, "recipe", make_json(&recipe->tree));
	text = json_dumps(facts, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(facts);
	return text ? text : mem_strdup("{}");
}
