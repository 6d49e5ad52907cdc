/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/command.h"
#include "input/recipe/recipe.h"

#include "../scratch.h"

static struct recipe read_text(const char *yaml)
{
	struct recipe_errors errors = {0};
	struct recipe recipe;

	scratch_text("r.yaml", yaml);
	if (recipe_read(&recipe, "r.yaml", &errors))
		print_error("%s\n", errors.item[0].text);
	assert_int_equal(errors.count, 0);
	recipe_errors_clear(&errors);
	return recipe;
}

SCRATCH_TEST(the_last_parameter_changes_first)
{
	static const char *const wanted[] = {"b=1-a=x", "b=1-a=y", "b=1-a=z",
					     "b=2-a=x", "b=2-a=y", "b=2-a=z"};
	struct recipe recipe = read_text("hosts: a\nsar: true\n"
					 "parameters: {b: [1, 2], a: [x, y, z]}\n");

	assert_int_equal(recipe_points(&recipe), 6);
	for (size_t i = 0; i < 6; i++) {
		char *suffix = recipe_point_suffix(&recipe, i);

		assert_string_equal(suffix, wanted[i]);
		free(suffix);
	}
	recipe_clear(&recipe);
}

SCRATCH_TEST(without_parameters_there_is_one_point)
{
	struct recipe recipe = read_text("hosts: a\nsar: true\n");
	char *suffix = recipe_point_suffix(&recipe, 0);

	assert_int_equal(recipe_points(&recipe), 1);
	assert_string_equal(suffix, "");
	assert_string_equal(recipe_text(&recipe.checked, "name"), "r"); /* of the file */
	free(suffix);
	recipe_clear(&recipe);
}

SCRATCH_TEST(keys_have_values_where_they_have_a_meaning)
{
	struct recipe recipe = read_text("hosts: [10.0.0.1: a, b]\nsar: true\nname: n\n"
					 "roledefs: {one: b}\nparameters: {p: v}\n");
	struct recipe_value values;

	recipe_point_values(&recipe, 0, "the-run", &values);
	assert_string_equal(recipe_text(&values, "p"), "v");
	assert_string_equal(recipe_text(&values, "run"), "the-run");
	assert_string_equal(recipe_text(&values, "name"), "n");
	assert_string_equal(recipe_text(&values, "point"), "1");
	assert_string_equal(recipe_text(&values, "all.node"), "a");
	assert_string_equal(recipe_text(&values, "all.address"), "10.0.0.1");
	assert_string_equal(recipe_text(&values, "one.node"), "b");
	assert_null(recipe_value_find(&values, "node"));
	assert_null(recipe_value_find(&values, "input"));
	recipe_value_clear(&values);
	recipe_clear(&recipe);
}

static void goes_to(const char *text, const char *user, const char *address,
		    const char *port)
{
	struct recipe_value to;

	assert_true(recipe_parse_destination(text, &to));
	assert_string_equal(recipe_text(&to, "address"), address);
	assert_string_equal(recipe_text(&to, "port"), port);
	assert_string_equal(recipe_text(&to, "username"), user);
	recipe_value_clear(&to);
}

SCRATCH_TEST(destinations_are_taken_apart)
{
	static const char *const wrong[] = {
	    "",     "-a",   "a b",     "@a",         "-l@a",
	    "a:",   "a:0",  "a:65536", "a:b",        "[::1",
	    "[a]b", "a/b",  "a;b",     "$(id)",      "a\nb",
	    "::g",  "a:-1", "[::1]22", "fe80::1%-x", "a@-b",
	    "::1%", ".a",   "a@b c",   "a:1:2",      "a:99999999999999999999",
	};

	goes_to("a", "", "a", "");
	goes_to("u@a_1.b-c:22", "u", "a_1.b-c", "22");
	goes_to("u@dom@a", "u@dom", "a", "");
	goes_to("10.0.0.1:2201", "", "10.0.0.1", "2201");
	goes_to("fd00::1", "", "fd00::1", "");
	goes_to("fd00:0:0:0:0:0:0:1", "", "fd00:0:0:0:0:0:0:1", "");
	goes_to("[fd00::1]", "", "fd00::1", "");
	goes_to("me@[fe80::1%eth0]:22", "me", "fe80::1%eth0", "22");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct recipe_value to;

		if (recipe_parse_destination(wrong[i], &to))
			fail_msg("'%s' is taken for a destination", wrong[i]);
		recipe_value_clear(&to);
	}
}

static const struct recipe_value *events_of(const struct recipe *recipe, const char *kind)
{
	return recipe_value_find(recipe_get(recipe, "events"), kind);
}

SCRATCH_TEST(presets_have_what_synchronization_needs)
{
	struct recipe recipe = read_text("hosts: a\nevents: {kernel: network}\n");
	const struct recipe_value *events = events_of(&recipe, "kernel");
	bool queue, receive, dump;

	queue = strcmp(recipe_text(events, "net_dev_queue"), "required") == 0;
	receive = strcmp(recipe_text(events, "net_if_receive_skb"), "required") == 0;
	dump = recipe_value_find(events, "lttng_statedump_*");
	assert_true(queue && receive && dump);
	assert_int_equal(events_of(&recipe, "syscall")->count, 0);
	recipe_clear(&recipe);
}

static size_t syscalls_of(const char *events)
{
	char *yaml = mem_printf("hosts: a\nsar: true\nevents: %s\n", events);
	struct recipe recipe = read_text(yaml);
	const struct recipe_value *syscalls = events_of(&recipe, "syscall");
	size_t count = syscalls->count;

	if (count == 1)
		assert_string_equal(syscalls->entry[0].key, "*");
	recipe_clear(&recipe);
	free(yaml);
	return count;
}

SCRATCH_TEST(system_calls_come_as_they_are_asked_for)
{
	assert_int_equal(syscalls_of("{kernel: network}"), 0);
	assert_int_equal(syscalls_of("{kernel: [network, a_b]}"), 0);
	assert_int_equal(syscalls_of("{kernel: [a_b]}"), 1); /* as lttng-cluster */
	assert_int_equal(syscalls_of("{kernel: a_b}"), 1);
	assert_int_equal(syscalls_of("{kernel: full}"), 1);
	assert_int_equal(syscalls_of("{kernel: full, syscalls: none}"), 0);
	assert_int_equal(syscalls_of("{syscalls: none, kernel: [a_b]}"), 0);
	assert_int_equal(syscalls_of("{kernel: network, syscalls: all}"), 1);
	assert_int_equal(syscalls_of("{kernel: full, syscalls: [open, read]}"), 2);
	assert_int_equal(syscalls_of("{kernel: [sched], syscalls: [all]}"), 1);
	assert_int_equal(syscalls_of("{kernel: none, syscalls: no}"), 0);
	assert_int_equal(syscalls_of("{kernel: true}"), 1);
	assert_int_equal(syscalls_of("{kernel: false, userspace: 'a:*'}"), 0);
}

static int64_t timeout_of(const char *text)
{
	char *yaml = mem_printf(
	    "hosts: a\nsar: true\nexecute: [{command: x, timeout: %s}]\n", text);
	struct recipe recipe = read_text(yaml);
	int64_t timeout = atoll(
	    recipe_text(&recipe_get(&recipe, "execute")->entry[0].value, "timeout"));

	recipe_clear(&recipe);
	free(yaml);
	return timeout;
}

SCRATCH_TEST(durations_have_units)
{
	assert_int_equal(timeout_of("5"), 5000);
	assert_int_equal(timeout_of("0.25"), 250);
	assert_int_equal(timeout_of("200ms"), 200);
	assert_int_equal(timeout_of("1.5s"), 1500);
	assert_int_equal(timeout_of("10m"), 600000);
	assert_int_equal(timeout_of("2h"), 7200000);
	assert_int_equal(timeout_of("0"), 0);
}
