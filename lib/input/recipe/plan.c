/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recipes as records for a POSIX shell, a line each; docs/recipe.md describes them. A
 * line is made of words that `eval "set -- $line"` gives back whatever they hold: those
 * that could mean anything to the shell stand in single quotes, and a line feed is
 * written as "$NL" between them, so that it ends no line; the script sets NL.
 */
#include <ctype.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/options.h"
#include "input/recipe/recipe.h"

static void put_word(struct bytes *out, const char *text)
{
	if (out->size && out->data[out->size - 1] != '\n')
		bytes_add_byte(out, ' ');
	bytes_add_shell_word(out, text, "'\"$NL\"'");
}

static void end_line(struct bytes *out)
{
	bytes_add_byte(out, '\n');
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Words of a line, up to NULL. */
static void put_words(struct bytes *out, const char *const *words)
{
	for (; *words; words++)
		put_word(out, *words);
}

static void put_line(struct bytes *out, const char *const *words)
{
	put_words(out, words);
	end_line(out);
}

static void put_list(struct bytes *out, const struct recipe_value *list)
{
	for (size_t i = 0; list && i < list->count; i++)
		put_word(out, list->entry[i].value.text);
}

/* A list with commas between, but for one word, for free(). */
static char *join(const struct recipe_value *list, const char *but)
{
	struct bytes all = {0};

	for (size_t i = 0; list && i < list->count; i++)
		if (strcmp(list->entry[i].value.text, but) != 0)
			bytes_print(&all, "%s%s", all.size ? "," : "",
				    list->entry[i].value.text);
	bytes_add_byte(&all, '\0');
	return (char *)all.data;
}

static void put_setting(struct bytes *out, const char *key, const char *value)
{
	char *word = mem_printf("%s=%s", key, value);

	put_word(out, word);
	free(word);
}

void recipe_print_point(const struct recipe *recipe, size_t point, struct bytes *out)
{
	const struct recipe_value *parameters = recipe_get(recipe, "parameters");
	char *suffix = recipe_point_suffix(recipe, point);

	bytes_print(out, "point %zu %zu", point + 1, recipe_points(recipe));
	put_word(out, suffix);
	for (size_t i = 0; parameters && i < parameters->count; i++)
		put_setting(out, parameters->entry[i].key,
			    recipe_choice(recipe, point, i)->text);
	end_line(out);
	free(suffix);
}

void recipe_print_nodes(const struct recipe *recipe, struct bytes *out)
{
	const struct recipe_value *options = recipe_get(recipe, "ssh_options");
	const struct recipe_value *roles = &recipe->roles;
	char *hops = join(recipe_get(recipe, "ssh_gateway"), "");

	put_line(out, WORDS("ssh_gateway", hops));
	free(hops);
	for (size_t i = 0; options && i < options->count; i++) {
		put_word(out, "ssh_option");
		put_setting(out, options->entry[i].key, options->entry[i].value.text);
		end_line(out);
	}
	for (size_t i = 0; i < recipe->nodes.count; i++) {
		const struct recipe_value *node = &recipe->nodes.entry[i].value;
		bool has_user = recipe_value_find(node, "username");

		put_words(out, WORDS("node", recipe->nodes.entry[i].key,
				     recipe_text(node, "address"),
				     recipe_text(has_user ? node : &recipe->checked,
						 "username"),
				     recipe_text(node, "port")));
		put_list(out, recipe_value_find(node, "roles"));
		put_line(out, WORDS("all"));
	}
	for (size_t i = 0; i < roles->count; i++) {
		put_words(out, WORDS("role", roles->entry[i].key));
		put_list(out, &roles->entry[i].value);
		end_line(out);
	}
}

/* What is added to the events of the kernel or of user space, and where they are kept. */
static void print_domain(const struct recipe *recipe, const char *domain,
			 struct bytes *out)
{
	static const char *const keys[] = {"subbuf_size", "num_subbuf", "mode",
					   "switch_timer_us", "read_timer_us"};
	const struct recipe_value *both = recipe_get(recipe, "channel");
	const struct recipe_value *own = recipe_value_find(both, domain);
	const struct recipe_value *contexts =
	    recipe_value_find(recipe_get(recipe, "contexts"), domain);

	for (size_t i = 0; contexts && i < contexts->count; i++)
		put_line(out, WORDS("context", domain, contexts->entry[i].value.text));
	put_words(out, WORDS("channel", domain));
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		put_word(out, recipe_text(recipe_value_find(own, keys[i]) ? own : both,
					  keys[i]));
	end_line(out);
}

static void print_tracing(const struct recipe *recipe, struct bytes *out)
{
	const struct recipe_value *events = recipe_get(recipe, "events");
	size_t count[3] = {0};

	for (size_t kind = 0; events && kind < events->count; kind++) {
		const struct recipe_value *names = &events->entry[kind].value;

		count[kind] = names->count;
		for (size_t i = 0; i < names->count; i++)
			put_line(out,
				 WORDS("event", events->entry[kind].key,
				       names->entry[i].key, names->entry[i].value.text));
	}
	if (count[0] || count[1])
		print_domain(recipe, "kernel", out);
	if (count[2])
		print_domain(recipe, "userspace", out);
}

/* sadc's groups of activities; those of `basic` are in every log. */
static void print_sar(const struct recipe *recipe, const struct recipe_value *sar,
		      struct bytes *out)
{
	const struct recipe_value *activities = recipe_value_find(sar, "activities");
	const char *interval = recipe_text(&recipe->checked, "interval");
	char *keywords = join(activities, "basic");

	for (char *c = keywords; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	if (recipe_value_find(sar, "interval"))
		interval = recipe_text(sar, "interval");
	put_line(out, WORDS("sar", *interval ? interval : "1", keywords));
	free(keywords);
}

static void print_aliases(const struct recipe *recipe, const char *key, const char *kind,
			  struct bytes *out)
{
	const struct recipe_value *all = recipe_get(recipe, key);

	for (size_t i = 0; all && i < all->count; i++) {
		const struct recipe_entry *entry = &all->entry[i];

		put_line(out,
			 WORDS(kind, entry->key,
			       recipe_value_is_null(&entry->value) ? entry->key
								   : entry->value.text));
	}
}

static void print_sources(const struct recipe *recipe, struct bytes *out)
{
	const struct recipe_value *sar = recipe_get(recipe, "sar");
	const struct recipe_value *capture = recipe_get(recipe, "capture");
	const struct recipe_value *process = recipe_get(recipe, "process");
	const struct recipe_value *match = recipe_value_find(process, "match");
	const struct recipe_value *whitelist = recipe_value_find(process, "whitelist");

	if (sar)
		print_sar(recipe, sar, out);
	print_aliases(recipe, "filesystem_names", "filesystem", out);
	print_aliases(recipe, "net_interfaces", "net_interface", out);
	if (capture) {
		put_words(out, WORDS("capture", recipe_text(capture, "snaplen"),
				     recipe_text(capture, "filter")));
		put_list(out, recipe_value_find(capture, "interfaces"));
		end_line(out);
	}
	if (!process)
		return;
	put_words(out, WORDS("process", recipe_text(process, "interval_ms"),
			     whitelist ? "whitelist"
			     : match   ? "match"
				       : "all"));
	if (whitelist && *whitelist->text)
		put_word(out, whitelist->text);
	put_list(out, match);
	end_line(out);
}

/* What runs at a point, while it is printed. */
struct plan {
	const struct recipe *recipe;
	struct recipe_value values; /* of %(key)s */
	struct bytes *out;
};

/* The nodes of some roles, a map of each with the role that it comes by. */
static void choose_nodes(const struct plan *plan, const struct recipe_value *user,
			 struct recipe_value *chosen)
{
	const struct recipe_value *roles = recipe_value_find(user, "roles");
	size_t count = roles ? roles->count : 0;

	*chosen = (struct recipe_value){.kind = RECIPE_MAP};
	for (size_t r = 0; r < (count ? count : 1); r++) {
		const char *role = count ? roles->entry[r].value.text : "all";
		const struct recipe_value *nodes =
		    recipe_value_find(&plan->recipe->roles, role);

		for (size_t i = 0; i < nodes->count; i++)
			if (!recipe_value_find(chosen, nodes->entry[i].value.text))
				recipe_value_put(chosen, nodes->entry[i].value.text,
						 role);
	}
}

static void put_command(struct plan *plan, const struct recipe_value *user)
{
	char *command = recipe_command_fill(recipe_value_find(user, "command"),
					    &plan->values, "", NULL);

	put_word(plan->out, command);
	end_line(plan->out);
	free(command);
}

/* What a node runs: a line for each, of words, the node, other words and the command. */
static void print_on_nodes(struct plan *plan, const struct recipe_value *user,
			   const char *const *before, const char *const *behind)
{
	struct recipe_value chosen;

	choose_nodes(plan, user, &chosen);
	for (size_t i = 0; i < chosen.count; i++) {
		const char *node = chosen.entry[i].key;

		recipe_value_put(&plan->values, "node", node);
		recipe_value_put(&plan->values, "role", chosen.entry[i].value.text);
		recipe_value_put(
		    &plan->values, "address",
		    recipe_text(recipe_value_find(&plan->recipe->nodes, node),
				"address"));
		put_words(plan->out, before);
		put_word(plan->out, node);
		put_words(plan->out, behind);
		put_command(plan, user);
	}
	recipe_value_clear(&chosen);
}

static void print_execute(struct plan *plan, size_t number,
			  const struct recipe_value *execute)
{
	bool is_sudo = strcmp(recipe_text(execute, "use_sudo"), "true") == 0;
	bool is_local = strcmp(recipe_text(execute, "method"), "local") == 0;
	char *index = mem_printf("%zu", number);
	const char *const *words =
	    WORDS("execute", index, recipe_text(execute, "method"),
		  recipe_text(execute, "timeout"), is_sudo ? "sudo" : "");

	if (is_local) {
		put_words(plan->out, words);
		put_word(plan->out, "");
		put_command(plan, execute);
	} else {
		print_on_nodes(plan, execute, words, WORDS(NULL));
	}
	free(index);
}

/* What a queue's tasks are about: its list, or the files that its pattern finds. */
static int find_inputs(const struct recipe_value *inputs, struct text_list *found,
		       struct error *error)
{
	glob_t files = {.gl_pathc = 0};
	int status;

	for (size_t i = 0; inputs->kind == RECIPE_LIST && i < inputs->count; i++)
		text_list_add(found, inputs->entry[i].value.text);
	if (inputs->kind == RECIPE_LIST)
		return 0;
	status = glob(inputs->text, GLOB_TILDE, NULL, &files);
	for (size_t i = 0; status == 0 && i < files.gl_pathc; i++)
		text_list_add(found, files.gl_pathv[i]);
	globfree(&files);
	if (status == 0)
		return 0;
	return error_set(error, "%s:%zu: tasks: no file here is like '%s'",
			 inputs->location.file, inputs->location.line, inputs->text);
}

static int print_queue(struct plan *plan, size_t number, const struct recipe_value *queue,
		       struct error *error)
{
	char *index = mem_printf("%zu", number);
	char *name = number > 1 ? mem_printf("task-%zu", number) : mem_strdup("task");
	struct text_list inputs = {0};
	struct recipe_value chosen;
	int status = find_inputs(recipe_value_find(queue, "inputs"), &inputs, error);

	put_words(
	    plan->out,
	    WORDS("tasks", index,
		  recipe_value_find(queue, "name") ? recipe_text(queue, "name") : name,
		  recipe_text(queue, "policy"), recipe_text(queue, "parallel"),
		  recipe_text(queue, "interval"), recipe_text(queue, "pending"),
		  recipe_text(queue, "timeout")));
	choose_nodes(plan, queue, &chosen);
	for (size_t i = 0; i < chosen.count; i++)
		put_word(plan->out, chosen.entry[i].key);
	end_line(plan->out);
	for (size_t i = 0; i < inputs.count; i++) {
		char *task = mem_printf("%zu", i + 1);

		recipe_value_put(&plan->values, "input", inputs.item[i]);
		recipe_value_put(&plan->values, "task", task);
		put_words(plan->out, WORDS("task", index, task, inputs.item[i]));
		put_command(plan, queue);
		free(task);
	}
	recipe_value_clear(&chosen);
	text_list_clear(&inputs);
	free(index);
	free(name);
	return status;
}

int recipe_print_plan(const struct recipe *recipe, size_t point, const char *run,
		      struct bytes *out, struct error *error)
{
	static const char *const singles[] = {"tracedir", "tmpdir", "fetch"};
	const struct recipe_value *sensors = recipe_get(recipe, "sensors");
	const struct recipe_value *executes = recipe_get(recipe, "execute");
	const struct recipe_value *queues = recipe_get(recipe, "tasks");
	const char *name = recipe_text(&recipe->checked, "name");
	char *suffix = recipe_point_suffix(recipe, point);
	char *own = mem_printf("%s%s%s", name, *suffix ? "-" : "", suffix);
	struct plan plan = {.recipe = recipe, .out = out};
	int status = 0;

	recipe_point_values(recipe, point, run ? run : own, &plan.values);
	put_line(out, WORDS("name", name));
	recipe_print_point(recipe, point, out);
	for (size_t i = 0; i < sizeof(singles) / sizeof(*singles); i++)
		put_line(out,
			 WORDS(singles[i], recipe_text(&recipe->checked, singles[i])));
	recipe_print_nodes(recipe, out);
	print_tracing(recipe, out);
	print_sources(recipe, out);
	for (size_t i = 0; sensors && i < sensors->count; i++) {
		const struct recipe_entry *sensor = &sensors->entry[i];

		print_on_nodes(
		    &plan, &sensor->value, WORDS("sensor"),
		    WORDS(sensor->key, recipe_text(&sensor->value, "interval")));
	}
	for (size_t i = 0; executes && i < executes->count; i++)
		print_execute(&plan, i + 1, &executes->entry[i].value);
	for (size_t i = 0; queues && i < queues->count && status == 0; i++)
		status = print_queue(&plan, i + 1, &queues->entry[i].value, error);
	recipe_value_clear(&plan.values);
	free(suffix);
	free(own);
	return status;
}

/* A value without quotes may be meant as a number or as true, false or null. */
static void add_json(struct bytes *out, const struct recipe_value *value)
{
	/* 007, -0 and 1.10 are texts: as numbers they would not be what they were. */
	static const char numbers[] = "true|false|0|-?[1-9][0-9]{0,17}|"
				      "-?(0|[1-9][0-9]{0,8})[.][0-9]{0,5}[1-9]";

	if (value->kind == RECIPE_TEXT && recipe_value_is_null(value))
		bytes_add_text(out, "null");
	else if (value->kind == RECIPE_TEXT && value->plain &&
		 recipe_has_form(numbers, value->text))
		bytes_add_text(out, value->text);
	else if (value->kind == RECIPE_TEXT)
		json_add_word(out, value->text);
	if (value->kind == RECIPE_TEXT)
		return;
	bytes_add_byte(out, value->kind == RECIPE_LIST ? '[' : '{');
	for (size_t i = 0; i < value->count; i++) {
		if (i)
			bytes_add_byte(out, ',');
		if (value->kind == RECIPE_MAP) {
			json_add_word(out, value->entry[i].key);
			bytes_add_byte(out, ':');
		}
		add_json(out, &value->entry[i].value);
	}
	bytes_add_byte(out, value->kind == RECIPE_LIST ? ']' : '}');
}

static struct recipe_value *add_member(struct recipe_value *value, const char *key,
				       enum recipe_kind kind)
{
	struct recipe_value *member = recipe_value_add(value, key, value->location);

	member->kind = kind;
	return member;
}

void recipe_print_json(const struct recipe *recipe, size_t point, const char *run,
		       struct bytes *out)
{
	const struct recipe_value *keys = recipe_get(recipe, "parameters");
	struct recipe_value all = {.kind = RECIPE_MAP}, *part, *node;

	recipe_value_put(&all, "name", recipe_text(&recipe->checked, "name"));
	if (run)
		recipe_value_put(&all, "run", run);
	part = add_member(&all, "parameters", RECIPE_MAP);
	for (size_t i = 0; keys && i < keys->count; i++)
		recipe_value_copy(add_member(part, keys->entry[i].key, RECIPE_TEXT),
				  recipe_choice(recipe, point, i));
	part = add_member(&all, "nodes", RECIPE_LIST);
	for (size_t i = 0; i < recipe->nodes.count; i++) {
		const struct recipe_entry *from = &recipe->nodes.entry[i];

		node = add_member(part, NULL, RECIPE_MAP);
		recipe_value_put(node, "name", from->key);
		recipe_value_put(node, "address", recipe_text(&from->value, "address"));
		recipe_value_copy(add_member(node, "roles", RECIPE_LIST),
				  recipe_value_find(&from->value, "roles"));
	}
	recipe_value_copy(add_member(&all, "recipe", RECIPE_MAP), &recipe->tree);
	add_json(out, &all);
	bytes_add_byte(out, '\n');
	recipe_value_clear(&all);
}
