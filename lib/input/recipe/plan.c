/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recipes as records for a POSIX shell, one per line; docs/recipe.md describes them.
 * `eval "set -- $line"` splits a line into its words, whatever they contain: words with
 * characters that are special to the shell are in single quotes, and a line feed is
 * written as "$NL" between them, so that it does not end the line; the script sets NL.
 */
#include "input/recipe/plan.h"

#include <ctype.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/mem.h"
#include "input/recipe/command.h"
#include "input/recipe/keys.h"

static void put_word(struct bytes *out, const char *text)
{
	if (out->size && out->data[out->size - 1] != '\n')
		bytes_add_byte(out, ' ');
	bytes_add_shell_word(out, text, "'\"$NL\"'");
}

static void put_list(struct bytes *out, const struct recipe_value *list)
{
	for (size_t i = 0; list && i < list->count; i++)
		put_word(out, list->entry[i].value.text);
}

/*
 * Words as docs/recipe.md has them: %KEY is a text of the map, or of the other one, and
 * *KEY all of a list.
 */
static void put_words(struct bytes *out, const char *format,
		      const struct recipe_value *map, const struct recipe_value *other)
{
	char *words = mem_strdup(format), *rest = words, *word;

	while ((word = strsep(&rest, " ")))
		if (*word == '*')
			put_list(out, recipe_value_find(map, word + 1));
		else if (*word == '%')
			put_word(out, recipe_text(
					  recipe_value_find(map, word + 1) ? map : other,
					  word + 1));
		else
			put_word(out, word);
	free(words);
}

static void put_line(struct bytes *out, const char *format,
		     const struct recipe_value *map)
{
	put_words(out, format, map, NULL);
	bytes_add_byte(out, '\n');
}

static struct recipe_value *add_member(struct recipe_value *value, const char *key,
				       enum recipe_kind kind)
{
	struct recipe_value *member = recipe_value_add(value, key, value->location);

	member->kind = kind;
	return member;
}

/* Join the items of a list with commas, except one. The caller frees the result. */
static char *join_items(const struct recipe_value *list, const char *but)
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
	AUTOFREE char *word = mem_printf("%s=%s", key, value);

	put_word(out, word);
}

void recipe_print_point(const struct recipe *recipe, size_t point, struct bytes *out)
{
	const struct recipe_value *parameters = recipe_get(recipe, "parameters");
	AUTOFREE char *suffix = recipe_point_suffix(recipe, point);

	bytes_print(out, "point %zu %zu", point + 1, recipe_points(recipe));
	put_word(out, suffix);
	for (size_t i = 0; i < parameters->count; i++)
		put_setting(out, parameters->entry[i].key,
			    recipe_choice(recipe, point, i)->text);
	bytes_add_byte(out, '\n');
}

void recipe_print_nodes(const struct recipe *recipe, struct bytes *out)
{
	const struct recipe_value *options = recipe_get(recipe, "ssh_options");
	const struct recipe_value *roles = &recipe->roles;
	AUTOFREE char *hops = join_items(recipe_get(recipe, "ssh_gateway"), "");

	put_word(out, "ssh_gateway");
	put_word(out, hops);
	bytes_add_byte(out, '\n');
	for (size_t i = 0; options && i < options->count; i++) {
		put_word(out, "ssh_option");
		put_setting(out, options->entry[i].key, options->entry[i].value.text);
		bytes_add_byte(out, '\n');
	}
	for (size_t i = 0; i < recipe->nodes.count; i++)
		put_line(out, "node %alias %address %username %port *roles all",
			 &recipe->nodes.entry[i].value);
	for (size_t i = 0; i < roles->count; i++) {
		put_word(out, "role");
		put_word(out, roles->entry[i].key);
		put_list(out, &roles->entry[i].value);
		bytes_add_byte(out, '\n');
	}
}

/* Print the contexts and channels of the kernel's or user space's events. */
static void print_domain(const struct recipe *recipe, const char *domain,
			 struct bytes *out)
{
	const struct recipe_value *both = recipe_get(recipe, "channel");
	const struct recipe_value *own = recipe_value_find(both, domain);
	const struct recipe_value *contexts =
	    recipe_value_find(recipe_get(recipe, "contexts"), domain);
	struct recipe_value line;

	recipe_value_copy(&line, both);
	recipe_value_put(&line, "domain", domain);
	for (size_t i = 0; own && i < own->count; i++)
		if (!recipe_value_is_null(&own->entry[i].value))
			recipe_value_put(&line, own->entry[i].key,
					 own->entry[i].value.text);
	for (size_t i = 0; contexts && i < contexts->count; i++) {
		recipe_value_put(&line, "context", contexts->entry[i].value.text);
		put_line(out, "context %domain %context", &line);
	}
	put_line(out,
		 "channel %domain %subbuf_size %num_subbuf %mode %switch_timer_us "
		 "%read_timer_us",
		 &line);
	recipe_value_clear(&line);
}

/* Lines KIND KEY VALUE of a map; a name without a value is its own. */
static void print_map(const char *kind, const struct recipe_value *map, struct bytes *out)
{
	for (size_t i = 0; map && i < map->count; i++) {
		const struct recipe_entry *entry = &map->entry[i];

		put_words(out, kind, NULL, NULL);
		put_word(out, entry->key);
		put_word(out, recipe_value_is_null(&entry->value) ? entry->key
								  : entry->value.text);
		bytes_add_byte(out, '\n');
	}
}

static void print_tracing(const struct recipe *recipe, struct bytes *out)
{
	const struct recipe_value *events = recipe_get(recipe, "events");
	const struct recipe_value *kernel = recipe_value_find(events, "kernel");
	const struct recipe_value *syscall = recipe_value_find(events, "syscall");
	const struct recipe_value *userspace = recipe_value_find(events, "userspace");

	if (events && kernel->count + syscall->count)
		put_line(out, "tracer %tracer", &recipe->checked);
	print_map("event kernel", kernel, out);
	print_map("event syscall", syscall, out);
	print_map("event userspace", userspace, out);
	if (events && kernel->count + syscall->count)
		print_domain(recipe, "kernel", out);
	if (events && userspace->count)
		print_domain(recipe, "userspace", out);
}

/* sadc's groups of activities; those of `basic` are in every log. */
static void print_sar(const struct recipe *recipe, const struct recipe_value *sar,
		      struct bytes *out)
{
	const struct recipe_value *activities = recipe_value_find(sar, "activities");
	const char *interval = recipe_text(&recipe->checked, "interval");
	AUTOFREE char *keywords = join_items(activities, "basic");

	for (char *c = keywords; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	if (recipe_value_find(sar, "interval"))
		interval = recipe_text(sar, "interval");
	put_word(out, "sar");
	put_word(out, *interval ? interval : "1");
	put_word(out, keywords);
	bytes_add_byte(out, '\n');
}

/* Choose the nodes of the roles that a part of the recipe names, or all, as a map from
 * each node to the role that it was chosen by. Adds an error to the recipe for a role
 * that does not exist; `section` is the part's name in it. The caller clears the map. */
static void choose_nodes(const struct recipe *recipe, const char *section,
			 const struct recipe_value *user, struct recipe_value *chosen)
{
	const struct recipe_value *roles = recipe_value_find(user, "roles");
	size_t count = roles ? roles->count : 0;

	*chosen = (struct recipe_value){.kind = RECIPE_MAP};
	for (size_t r = 0; r < (count ? count : 1); r++) {
		const char *role = count ? roles->entry[r].value.text : "all";
		const struct recipe_value *nodes =
		    recipe_value_find(&recipe->roles, role);

		if (!nodes) { /* its command is looked at all the same */
			nodes = recipe_value_find(&recipe->roles, "all");
			recipe_add_unknown(section, &roles->entry[r].value, "role",
					   &recipe->roles);
		}
		for (size_t i = 0; i < nodes->count; i++)
			if (!recipe_value_find(chosen, nodes->entry[i].value.text))
				recipe_value_put(chosen, nodes->entry[i].value.text,
						 role);
	}
}

enum { MOST_CHORDS = 32 }; /* as in known.yaml */

/* Return the smallest integer whose power is at least `least`. */
static size_t root_of(size_t least, size_t exponent)
{
	for (size_t root = 1;; root++) {
		size_t power = 1;

		for (size_t i = 0; i < exponent && power < least; i++)
			power *= root;
		if (power >= least)
			return root;
	}
}

/*
 * Set `offset` to the distances along the ring at which a node has neighbors: 1 and the
 * powers of a root of the number of nodes, each at most half of the ring. Return their
 * number.
 */
static size_t find_offsets(size_t nodes, size_t chords, size_t *offset)
{
	size_t root = root_of(nodes, chords + 1), count = 0;

	for (size_t i = 0, power = 1; i <= chords && power < nodes; i++, power *= root) {
		size_t apart = power < nodes - power ? power : nodes - power;
		bool is_new = true;

		for (size_t k = 0; k < count; k++)
			is_new &= offset[k] != apart;
		if (is_new)
			offset[count++] = apart;
	}
	return count;
}

static const char *probe_address(const struct recipe *recipe, const char *node)
{
	const struct recipe_value *known = recipe_value_find(&recipe->nodes, node);
	const char *own = recipe_text(known, "probe_address");

	return *own ? own : recipe_text(known, "address");
}

static void add_probe(const struct recipe *recipe, const char *node, const char *neighbor,
		      struct recipe_value *probes)
{
	const struct recipe_value *probe = recipe_get(recipe, "probe");
	const char *address = probe_address(recipe, neighbor);
	struct recipe_value *added = recipe_value_add(probes, NULL, probe->location);

	added->kind = RECIPE_MAP;
	recipe_value_put(added, "node", node);
	recipe_value_put(added, "neighbor", neighbor);
	recipe_value_put(added, "address", address);
	recipe_value_put(added, "interval_ms", recipe_text(probe, "interval"));
	recipe_value_find(added, "interval_ms")->plain = true; /* a number in JSON */
	if (recipe_has_form("localhost|127[.].*|::1", address) ||
	    strcasecmp(address, probe_address(recipe, node)) == 0)
		recipe_error_add(probe->location,
				 "probe: %s does not lead from %s to %s; add a "
				 "probe_address to %s in hosts",
				 address, node, neighbor, neighbor);
}

/*
 * List the pings between nodes, each as a map of `node`, which pings, its `neighbor`, the
 * neighbor's `address` and `interval_ms`. The nodes are a ring in the order of the
 * recipe, with chords, and both ends ping each other. Adds an error to the recipe for an
 * address that cannot lead to the neighbor. The list is empty if the recipe has no
 * probes; the caller clears it.
 */
static void find_probes(const struct recipe *recipe, struct recipe_value *probes)
{
	const struct recipe_value *probe = recipe_get(recipe, "probe");
	size_t offset[MOST_CHORDS + 1], offsets, count;
	struct recipe_value ring;

	*probes = (struct recipe_value){.kind = RECIPE_LIST};
	if (!probe)
		return;
	choose_nodes(recipe, "probe", probe, &ring);
	count = ring.count;
	offsets =
	    find_offsets(count, strtoul(recipe_text(probe, "chords"), NULL, 10), offset);
	if (count < 2)
		recipe_error_add(probe->location, "probe: missing second node");
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < offsets; k++) {
			const char *node = ring.entry[i].key;
			const char *other = ring.entry[(i + offset[k]) % count].key;

			/* Halfway around the ring, both ends have the same chord. */
			if (2 * offset[k] == count && i >= offset[k])
				continue;
			add_probe(recipe, node, other, probes);
			add_probe(recipe, other, node, probes);
		}
	recipe_value_clear(&ring);
}

/* Return the filter of the captures, which lets probes pass, or "" if everything passes.
 * The caller frees it. */
static char *probe_filter(const struct recipe *recipe)
{
	const char *filter = recipe_text(recipe_get(recipe, "capture"), "filter");

	return recipe_get(recipe, "probe") && *filter
		   ? mem_printf("(%s) or icmp or icmp6", filter)
		   : mem_strdup(filter);
}

static void print_sources(const struct recipe *recipe, struct bytes *out)
{
	const struct recipe_value *sar = recipe_get(recipe, "sar");
	const struct recipe_value *capture = recipe_get(recipe, "capture");
	const struct recipe_value *process = recipe_get(recipe, "process");
	const struct recipe_value *whitelist = recipe_value_find(process, "whitelist");
	struct recipe_value filtered;

	if (sar)
		print_sar(recipe, sar, out);
	print_map("filesystem", recipe_get(recipe, "filesystem_names"), out);
	print_map("net_interface", recipe_get(recipe, "net_interfaces"), out);
	if (capture) {
		AUTOFREE char *filter = probe_filter(recipe);

		recipe_value_copy(&filtered, capture);
		recipe_value_put(&filtered, "filter", filter);
		put_line(out, "capture %snaplen %filter *interfaces", &filtered);
		recipe_value_clear(&filtered);
	}
	if (whitelist)
		put_line(out,
			 *whitelist->text ? "process %interval_ms whitelist %whitelist"
					  : "process %interval_ms whitelist",
			 process);
	else if (recipe_value_find(process, "match"))
		put_line(out, "process %interval_ms match *match", process);
	else if (process)
		put_line(out, "process %interval_ms all", process);
}

static void print_probes(const struct recipe *recipe, struct bytes *out)
{
	struct recipe_value probes;

	find_probes(recipe, &probes);
	for (size_t i = 0; i < probes.count; i++)
		put_line(out, "probe %node %interval_ms %neighbor %address",
			 &probes.entry[i].value);
	recipe_value_clear(&probes);
}

/* The commands of a point, while they are printed. */
struct plan {
	const struct recipe *recipe;
	struct recipe_value
	    values; /* values of %(key)s; keys with a dot are for lines only */
	struct bytes *out;
};

/* Print a line for a command: words, which can contain %(key)s, and the command. */
static void print_command(struct plan *plan, const char *section, const char *format,
			  const struct recipe_value *user,
			  const struct recipe_value *values)
{
	AUTOFREE char *command =
	    recipe_command_fill(recipe_value_find(user, "command"), values, section);

	put_words(plan->out, format, user, values);
	put_word(plan->out, command);
	bytes_add_byte(plan->out, '\n');
}

/* Print the commands that nodes run, one line each. */
static void print_on_nodes(struct plan *plan, const char *section, const char *format,
			   const struct recipe_value *user)
{
	struct recipe_value chosen, values;

	choose_nodes(plan->recipe, section, user, &chosen);
	recipe_value_copy(&values, &plan->values);
	for (size_t i = 0; i < chosen.count; i++) {
		const char *name = chosen.entry[i].key;
		const struct recipe_value *node =
		    recipe_value_find(&plan->recipe->nodes, name);

		recipe_value_put(&values, "node", name);
		recipe_value_put(&values, "role", chosen.entry[i].value.text);
		recipe_value_put(&values, "address", recipe_text(node, "address"));
		print_command(plan, section, format, user, &values);
	}
	recipe_value_clear(&values);
	recipe_value_clear(&chosen);
}

static void find_files(const struct recipe_value *pattern, struct recipe_value *found)
{
	glob_t files = {.gl_pathc = 0};

	if (glob(pattern->text, GLOB_TILDE, NULL, &files))
		recipe_error_add(pattern->location, "tasks: no file here is like '%s'",
				 pattern->text);
	for (size_t i = 0; i < files.gl_pathc; i++)
		recipe_value_put(found, NULL, files.gl_pathv[i]);
	globfree(&files);
}

static void put_number(struct recipe_value *values, const char *key, size_t number)
{
	AUTOFREE char *text = mem_printf("%zu", number);

	recipe_value_put(values, key, text);
}

static void print_queue(struct plan *plan, size_t number,
			const struct recipe_value *queue)
{
	const struct recipe_value *inputs = recipe_value_find(queue, "inputs");
	AUTOFREE char *name =
	    number > 1 ? mem_printf("task-%zu", number) : mem_strdup("task");
	struct recipe_value files = {.kind = RECIPE_LIST}, chosen, values;

	if (inputs->kind == RECIPE_TEXT) {
		find_files(inputs, &files);
		inputs = &files;
	}
	recipe_value_copy(&values, &plan->values);
	put_number(&values, ".index", number);
	if (recipe_value_find(queue, "name"))
		recipe_value_put(&values, ".name", recipe_text(queue, "name"));
	else
		recipe_value_put(&values, ".name", name);
	put_words(plan->out,
		  "tasks %.index %.name %policy %parallel %interval %pending %timeout",
		  queue, &values);
	choose_nodes(plan->recipe, "tasks", queue, &chosen);
	for (size_t i = 0; i < chosen.count; i++)
		put_word(plan->out, chosen.entry[i].key);
	bytes_add_byte(plan->out, '\n');
	for (size_t i = 0; i < inputs->count; i++) {
		recipe_value_put(&values, "input", inputs->entry[i].value.text);
		put_number(&values, "task", i + 1);
		print_command(plan, "tasks", "task %.index %task %input", queue, &values);
	}
	recipe_value_clear(&chosen);
	recipe_value_clear(&values);
	recipe_value_clear(&files);
}

static void print_execute(struct plan *plan, const struct recipe_value *execute)
{
	static const char line[] = "execute %.index %method %timeout %use_sudo %node";

	if (strcmp(recipe_text(execute, "method"), "local") != 0) {
		print_on_nodes(plan, "execute", line, execute);
		return;
	}
	print_command(plan, "execute", line, execute, &plan->values);
	if (recipe_value_find(execute, "roles"))
		recipe_error_add(execute->location,
				 "execute: method local runs on this machine and "
				 "cannot be used with roles");
}

int recipe_print_plan(const struct recipe *recipe, size_t point, const char *run,
		      struct bytes *out)
{
	const struct recipe_value *sensors = recipe_get(recipe, "sensors");
	const struct recipe_value *executes = recipe_get(recipe, "execute");
	const struct recipe_value *queues = recipe_get(recipe, "tasks");
	const char *name = recipe_text(&recipe->checked, "name");
	AUTOFREE char *suffix = recipe_point_suffix(recipe, point);
	AUTOFREE char *own = mem_printf("%s%s%s", name, *suffix ? "-" : "", suffix);
	struct plan plan = {.recipe = recipe, .out = out};

	recipe_point_values(recipe, point, run ? run : own, &plan.values);
	put_line(out, "name %name", &recipe->checked);
	recipe_print_point(recipe, point, out);
	put_line(out, "tracedir %tracedir", &recipe->checked);
	put_line(out, "tmpdir %tmpdir", &recipe->checked);
	put_line(out, "fetch %fetch", &recipe->checked);
	recipe_print_nodes(recipe, out);
	print_tracing(recipe, out);
	print_sources(recipe, out);
	print_probes(recipe, out);
	for (size_t i = 0; sensors && i < sensors->count; i++)
		print_on_nodes(&plan, "sensors", "sensor %node %name %interval",
			       &sensors->entry[i].value);
	for (size_t i = 0; executes && i < executes->count; i++) {
		put_number(&plan.values, ".index", i + 1);
		print_execute(&plan, &executes->entry[i].value);
	}
	for (size_t i = 0; queues && i < queues->count; i++)
		print_queue(&plan, i + 1, &queues->entry[i].value);
	recipe_value_clear(&plan.values);
	recipe_errors_sort(recipe->errors);
	return recipe->errors->count ? -1 : 0;
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

void recipe_print_json(const struct recipe *recipe, size_t point, const char *run,
		       struct bytes *out)
{
	const struct recipe_value *keys = recipe_get(recipe, "parameters");
	struct recipe_value all = {.kind = RECIPE_MAP}, *part, *node;

	recipe_value_put(&all, "name", recipe_text(&recipe->checked, "name"));
	if (run)
		recipe_value_put(&all, "run", run);
	part = add_member(&all, "parameters", RECIPE_MAP);
	for (size_t i = 0; i < keys->count; i++)
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
	find_probes(recipe, add_member(&all, "probes", RECIPE_LIST));
	recipe_value_copy(add_member(&all, "recipe", RECIPE_MAP), &recipe->tree);
	add_json(out, &all);
	bytes_add_byte(out, '\n');
	recipe_value_clear(&all);
}
