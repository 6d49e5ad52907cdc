/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collect-scripts/plan.h"

#include <glob.h>
#include <stdlib.h>

#include "base/mem.h"
#include "collect-scripts/lines.h"
#include "input/recipe/command.h"

static void line_of(struct lines *lines, const char *kind, const char *a, const char *b)
{
	lines_begin(lines, kind);
	lines_word(lines, a);
	if (b)
		lines_word(lines, b);
	lines_end(lines);
}

static void print_point(const struct recipe *recipe, size_t point, struct lines *lines)
{
	char *suffix = recipe_point_suffix(recipe, point);

	lines_begin(lines, "point");
	lines_number(lines, (int64_t)point + 1);
	lines_number(lines, (int64_t)recipe_points(recipe));
	lines_word(lines, suffix);
	for (size_t i = 0; i < recipe->parameters; i++) {
		const struct recipe_parameter *parameter = &recipe->parameter[i];
		char *word =
		    mem_printf("%s=%s", parameter->key,
			       parameter->values.item[recipe_choice(recipe, point, i)]);

		lines_word(lines, word);
		free(word);
	}
	lines_end(lines);
	free(suffix);
}

void plan_print_points(const struct recipe *recipe, FILE *file)
{
	struct lines lines = {.file = file};
	size_t count = recipe_points(recipe);

	for (size_t i = 0; i < count; i++)
		print_point(recipe, i, &lines);
}

static void print_node(const struct recipe *recipe, size_t index, struct lines *lines)
{
	const struct recipe_node *node = &recipe->node[index];

	lines_begin(lines, "node");
	lines_word(lines, node->name);
	lines_word(lines, node->address);
	lines_word(lines, node->user ? node->user : recipe->username);
	if (node->port)
		lines_number(lines, node->port);
	else
		lines_word(lines, "");
	for (size_t i = 0; i < recipe->roles; i++)
		if (recipe_role_has(&recipe->role[i], index))
			lines_word(lines, recipe->role[i].name);
	lines_end(lines);
}

static void print_nodes(const struct recipe *recipe, struct lines *lines)
{
	line_of(lines, "ssh_gateway", recipe->gateway, NULL);
	for (size_t i = 0; i < recipe->ssh_options.count; i++)
		line_of(lines, "ssh_option", recipe->ssh_options.item[i], NULL);
	for (size_t i = 0; i < recipe->nodes; i++)
		print_node(recipe, i, lines);
	for (size_t i = 0; i < recipe->roles; i++) {
		lines_begin(lines, "role");
		lines_word(lines, recipe->role[i].name);
		for (size_t k = 0; k < recipe->role[i].nodes; k++)
			lines_word(lines, recipe->node[recipe->role[i].node[k]].name);
		lines_end(lines);
	}
}

void plan_print_nodes(const struct recipe *recipe, FILE *file)
{
	struct lines lines = {.file = file};

	print_nodes(recipe, &lines);
}

static void print_events(const struct recipe_events *events, const char *domain,
			 struct lines *lines)
{
	for (size_t i = 0; i < events->count; i++) {
		lines_begin(lines, "event");
		lines_word(lines, domain);
		lines_word(lines, events->item[i].name);
		lines_word(lines, events->item[i].required ? "required" : "optional");
		lines_end(lines);
	}
}

static void print_timer(struct lines *lines, int64_t microseconds)
{
	if (microseconds < 0)
		lines_word(lines, "");
	else
		lines_number(lines, microseconds);
}

static void print_channel(const struct recipe_channel *channel, const char *domain,
			  struct lines *lines)
{
	lines_begin(lines, "channel");
	lines_word(lines, domain);
	lines_number(lines, channel->subbuf_size);
	lines_number(lines, channel->num_subbuf);
	lines_word(lines, channel->mode == RECIPE_OVERWRITE ? "overwrite" : "discard");
	print_timer(lines, channel->switch_us);
	print_timer(lines, channel->read_us);
	lines_end(lines);
}

static void print_tracing(const struct recipe *recipe, struct lines *lines)
{
	static const char *const domains[] = {"kernel", "userspace"};

	print_events(&recipe->event[RECIPE_KERNEL], "kernel", lines);
	print_events(&recipe->syscall, "syscall", lines);
	print_events(&recipe->event[RECIPE_USERSPACE], "userspace", lines);
	for (size_t i = 0; i < RECIPE_DOMAINS; i++) {
		if (recipe->event[i].count == 0 &&
		    (i != RECIPE_KERNEL || recipe->syscall.count == 0))
			continue;
		for (size_t k = 0; k < recipe->context[i].count; k++)
			line_of(lines, "context", domains[i], recipe->context[i].item[k]);
		print_channel(&recipe->channel[i], domains[i], lines);
	}
}

static void print_aliases(const struct recipe_aliases *aliases, const char *kind,
			  struct lines *lines)
{
	for (size_t i = 0; i < aliases->count; i++)
		line_of(lines, kind, aliases->item[i].name, aliases->item[i].alias);
}

static void print_words(struct lines *lines, const struct text_list *words)
{
	for (size_t i = 0; i < words->count; i++)
		lines_word(lines, words->item[i]);
	lines_end(lines);
}

static void print_process(const struct recipe_process *process, struct lines *lines)
{
	lines_begin(lines, "process");
	lines_number(lines, process->interval_ms);
	lines_word(lines, process->whitelist         ? "whitelist"
			  : process->match.count > 0 ? "match"
						     : "all");
	if (process->directory)
		lines_word(lines, process->directory);
	print_words(lines, &process->match);
}

static void print_logs(const struct recipe *recipe, struct lines *lines)
{
	if (recipe->sar.on) {
		lines_begin(lines, "sar");
		lines_number(lines, recipe->sar.interval_s);
		lines_word(lines, recipe->sar.keywords);
		lines_end(lines);
	}
	print_aliases(&recipe->filesystems, "filesystem", lines);
	print_aliases(&recipe->interfaces, "net_interface", lines);
	if (recipe->capture.on) {
		lines_begin(lines, "capture");
		lines_number(lines, recipe->capture.snaplen);
		lines_word(lines, recipe->capture.filter);
		print_words(lines, &recipe->capture.interfaces);
	}
	if (recipe->process.on)
		print_process(&recipe->process, lines);
}

/* Walks the nodes of some roles, each once, with the role that it comes by. */
struct walk {
	const struct recipe *recipe;
	const struct text_list *roles; /* none: all */
	size_t role, member;
	bool *seen;
	const char *role_name;
};

static struct walk walk_begin(const struct recipe *recipe, const struct text_list *roles)
{
	return (struct walk){
	    .recipe = recipe, .roles = roles, .seen = mem_zalloc(recipe->nodes)};
}

/* NULL at the end, where it frees what it had. */
static const struct recipe_node *walk_next(struct walk *walk)
{
	static const char *const all[] = {"all"};
	size_t count = walk->roles->count ? walk->roles->count : 1;

	for (; walk->role < count; walk->role++, walk->member = 0) {
		const struct recipe_role *role;

		walk->role_name =
		    walk->roles->count ? walk->roles->item[walk->role] : all[0];
		role = recipe_find_role(walk->recipe, walk->role_name);
		while (role && walk->member < role->nodes) {
			size_t node = role->node[walk->member++];

			if (walk->seen[node])
				continue;
			walk->seen[node] = true;
			return &walk->recipe->node[node];
		}
	}
	free(walk->seen);
	walk->seen = NULL;
	return NULL;
}

static void print_sensor(const struct recipe_sensor *sensor, struct recipe_scope *scope,
			 struct lines *lines)
{
	struct walk walk = walk_begin(scope->recipe, &sensor->roles);

	scope->kind = SCOPE_NODE;
	while ((scope->node = walk_next(&walk))) {
		char *command;

		scope->role = walk.role_name;
		command = sensor->preset ? mem_strdup(sensor->command.text)
					 : recipe_scope_fill(scope, &sensor->command);
		lines_begin(lines, "sensor");
		lines_word(lines, scope->node->name);
		lines_word(lines, sensor->name);
		lines_number(lines, sensor->interval_ms);
		lines_word(lines, command);
		lines_end(lines);
		free(command);
	}
}

static void print_execute_line(const struct recipe_execute *execute, size_t index,
			       struct recipe_scope *scope, struct lines *lines)
{
	static const char *const methods[] = {
	    [RECIPE_FOREGROUND] = "foreground",
	    [RECIPE_BACKGROUND] = "background",
	    [RECIPE_LOCAL] = "local",
	};
	char *command = recipe_scope_fill(scope, &execute->command);

	lines_begin(lines, "execute");
	lines_number(lines, (int64_t)index + 1);
	lines_word(lines, methods[execute->method]);
	lines_number(lines, execute->timeout_ms);
	lines_word(lines, execute->sudo ? "sudo" : "");
	lines_word(lines, scope->node ? scope->node->name : "");
	lines_word(lines, command);
	lines_end(lines);
	free(command);
}

static void print_execute(const struct recipe_execute *execute, size_t index,
			  struct recipe_scope *scope, struct lines *lines)
{
	struct walk walk;

	if (execute->method == RECIPE_LOCAL) {
		scope->kind = SCOPE_LOCAL;
		scope->node = NULL;
		scope->role = NULL;
		print_execute_line(execute, index, scope, lines);
		return;
	}
	walk = walk_begin(scope->recipe, &execute->roles);
	scope->kind = SCOPE_NODE;
	while ((scope->node = walk_next(&walk))) {
		scope->role = walk.role_name;
		print_execute_line(execute, index, scope, lines);
	}
}

static void print_queue(const struct recipe_tasks *tasks, size_t index,
			const struct recipe *recipe, struct lines *lines)
{
	struct walk walk = walk_begin(recipe, &tasks->roles);
	const struct recipe_node *node;

	lines_begin(lines, "tasks");
	lines_number(lines, (int64_t)index + 1);
	lines_word(lines, tasks->name);
	lines_word(lines, tasks->policy == RECIPE_ROUND_ROBIN ? "rr" : "least-busy");
	lines_number(lines, tasks->parallel);
	lines_number(lines, tasks->interval_ms);
	lines_number(lines, tasks->pending);
	lines_number(lines, tasks->timeout_ms);
	while ((node = walk_next(&walk)))
		lines_word(lines, node->name);
	lines_end(lines);
}

/* What a queue's tasks are about: its list, or the files that its pattern finds. */
static int find_inputs(const struct recipe_tasks *tasks, struct text_list *inputs,
		       struct error *error)
{
	glob_t found = {.gl_pathc = 0};
	int status = 0;

	for (size_t i = 0; i < tasks->inputs.count; i++)
		text_list_add(inputs, tasks->inputs.item[i]);
	if (!tasks->pattern)
		return 0;
	status = glob(tasks->pattern, GLOB_TILDE, NULL, &found);
	if (status == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			text_list_add(inputs, found.gl_pathv[i]);
	globfree(&found);
	if (status == 0)
		return 0;
	return error_set(error, "%s:%zu: tasks: no file here is like '%s'",
			 tasks->place.file, tasks->place.line, tasks->pattern);
}

static int print_tasks(const struct recipe_tasks *tasks, size_t index,
		       struct recipe_scope *scope, struct lines *lines,
		       struct error *error)
{
	struct text_list inputs = {0};
	int status = find_inputs(tasks, &inputs, error);

	print_queue(tasks, index, scope->recipe, lines);
	scope->kind = SCOPE_TASK;
	scope->node = NULL;
	for (size_t i = 0; i < inputs.count; i++) {
		char *command;

		scope->input = inputs.item[i];
		scope->task = (int64_t)i + 1;
		command = recipe_scope_fill(scope, &tasks->command);
		lines_begin(lines, "task");
		lines_number(lines, (int64_t)index + 1);
		lines_number(lines, scope->task);
		lines_word(lines, scope->input);
		lines_word(lines, command);
		lines_end(lines);
		free(command);
	}
	text_list_clear(&inputs);
	return status;
}

static char *run_name(const struct plan *plan)
{
	char *suffix, *name;

	if (plan->run)
		return mem_strdup(plan->run);
	suffix = recipe_point_suffix(plan->recipe, plan->point);
	name = mem_printf("%s%s%s", plan->recipe->name, *suffix ? "-" : "", suffix);
	free(suffix);
	return name;
}

int plan_print(const struct plan *plan, FILE *file, struct error *error)
{
	const struct recipe *recipe = plan->recipe;
	char *run = run_name(plan);
	struct recipe_scope scope = {.recipe = recipe, .point = plan->point, .run = run};
	struct lines lines = {.file = file};
	int status = 0;

	line_of(&lines, "name", recipe->name, NULL);
	print_point(recipe, plan->point, &lines);
	line_of(&lines, "tracedir", recipe->tracedir, NULL);
	line_of(&lines, "tmpdir", recipe->tmpdir ? recipe->tmpdir : "", NULL);
	line_of(&lines, "fetch", recipe->fetch == RECIPE_FETCH_NONE ? "none" : "all",
		NULL);
	print_nodes(recipe, &lines);
	print_tracing(recipe, &lines);
	print_logs(recipe, &lines);
	for (size_t i = 0; i < recipe->sensors; i++)
		print_sensor(&recipe->sensor[i], &scope, &lines);
	for (size_t i = 0; i < recipe->executes; i++)
		print_execute(&recipe->execute[i], i, &scope, &lines);
	for (size_t i = 0; i < recipe->task_queues && status == 0; i++)
		status = print_tasks(&recipe->tasks[i], i, &scope, &lines, error);
	free(run);
	return status;
}
