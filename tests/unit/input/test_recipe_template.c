/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/command.h"

#include "../draw.h"
#include "../scratch.h"

enum { ROUNDS = 150 };

static const char *the_value(void *context, const char *key)
{
	(void)key;
	return context;
}

static void becomes(const char *command, const char *value, const char *wanted)
{
	char *copy = mem_strdup(value);
	char *filled = recipe_template_fill(command, the_value, copy);

	assert_string_equal(filled, wanted);
	free(filled);
	free(copy);
}

static void values_are_quoted_outside_of_quotes(void **state)
{
	(void)state;
	becomes("a %(x)s b", "1", "a '1' b");
	becomes("%(x)s", "it's", "'it'\\''s'");
	becomes("a %(x)s %(x)s", "", "a '' ''");
	becomes("a=%(x)s>f", "2", "a='2'>f");
	becomes("echo \"it's\" 'a\"' %(x)s", "b c", "echo \"it's\" 'a\"' 'b c'");
}

static void marks_get_backslashes_in_double_quotes(void **state)
{
	(void)state;
	becomes("echo \"a %(x)s\" %(x)s", "1", "echo \"a 1\" '1'");
	becomes("echo \"%(x)s\"", "it's \"b\" $HOME `c` \\",
		"echo \"it's \\\"b\\\" \\$HOME \\`c\\` \\\\\"");
}

static void plain_values_stand_elsewhere_as_they_are(void **state)
{
	(void)state;
	becomes("echo 'a %(x)s' %(x)s", "1", "echo 'a 1' '1'");
	becomes("echo \"\\\"%(x)s\" %(x)s", "1", "echo \"\\\"1\" 1");
	becomes("echo '\\' %(x)s", "1", "echo '\\' '1'");
	becomes("echo $((%(x)s + (2))) %(x)s", "1", "echo $((1 + (2))) 1");
	becomes("sleep %(x)s # it's %(x)s\necho %(x)s", "1",
		"sleep '1' # it's 1\necho 1");
	becomes("cat <<E\n%(x)s\nE\necho %(x)s", "1", "cat <<E\n1\nE\necho 1");
	becomes("echo `echo %(x)s`", "1", "echo `echo 1`");
	becomes("echo \"$(echo \"%(x)s\")\" %(x)s", "1", "echo \"$(echo \"1\")\" 1");
	becomes("echo $'\\'%(x)s'", "1", "echo $'\\'1'");
	becomes("echo \\ #'a\n%(x)s'", "1", "echo \\ #'a\n1'");
}

static void what_is_no_placeholder_stays(void **state)
{
	(void)state;
	becomes("date +%s 100% %% %(", "1", "date +%s 100% %% %(");
	becomes("%%(x)s %%%(x)s", "1", "%(x)s %%(x)s");
	becomes("printf '%(%F)T'", "1", "printf '%(%F)T'");
	becomes("%()s %(a b)s %(x s", "1", "%()s %(a b)s %(x s");
	becomes("", "1", "");
}

static struct recipe_placeholder first(const char *command)
{
	struct recipe_placeholder placeholder;
	struct recipe_template scan = {.at = command};

	assert_true(recipe_template_next(&scan, &placeholder));
	assert_string_equal(placeholder.key, "x");
	free(placeholder.key);
	return placeholder;
}

static void places_where_nothing_can_stand_are_known(void **state)
{
	(void)state;
	assert_int_equal(first("echo $%(x)s").quoting, QUOTE_IMPOSSIBLE);
	assert_int_equal(first("echo \\%(x)s").quoting, QUOTE_IMPOSSIBLE);
	assert_int_equal(first("echo \"$%(x)s\"").quoting, QUOTE_IMPOSSIBLE);
	assert_int_equal(first("echo $ %(x)s").quoting, QUOTE_SINGLE);
	assert_int_equal(first("%(x)d").conversion, 'd');
	assert_int_equal(first("%(x)").conversion, '\0');
}

static char *draw_text(const char *letters, int64_t most)
{
	int64_t length = draw_between(0, most);
	char *text = mem_alloc((size_t)length + 1);

	for (int64_t i = 0; i < length; i++)
		text[i] = letters[draw_between(0, (int64_t)strlen(letters) - 1)];
	text[length] = '\0';
	return text;
}

/* What a shell prints that runs a script of ours. */
static char *run(const char *script, size_t *size)
{
	FILE *pipe;
	char *text = mem_zalloc(4096);

	scratch_text("script", script);
	pipe = popen("sh ./script 2>&1", "r");
	assert_non_null(pipe);
	*size = fread(text, 1, 4095, pipe);
	assert_int_equal(pclose(pipe), 0);
	return text;
}

/*
 * Whatever the value and whatever stands around it, as long as quotes are clear: a
 * shell has it as one word.
 */
static void a_shell_has_any_value_as_one_word(void **state)
{
	static const char *const around[][2] = {
	    {"show ", ""},
	    {"a='q u'; show ", ""},
	    {": \"it's\"; show ", " # it's"},
	    {": $(echo 'a'\"b\") ${x:-\"y\"};show ", ";:"},
	    {"show \"", "\""},
	    {"show ''\"\"\"", "\" # it's"},
	    {": 'a\"' \"b'\" 'c\\'; show ", " <&0"},
	    {"if true; then show ", "; fi"},
	};
	static const char letters[] = "ab '\"\\$`(){}<>|&;#!*?~%=-\n\t";

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		const char *const *sides = around[draw_between(
		    0, (int64_t)(sizeof(around) / sizeof(*around)) - 1)];
		char *value = draw_text(letters, 12);
		char *command = mem_printf("show() { printf '%%s:%%s' $# \"$1\"; }\n"
					   "%s%%(x)s%s\n",
					   sides[0], sides[1]);
		char *filled = recipe_template_fill(command, the_value, value);
		char *wanted = mem_printf("1:%s", value);
		size_t size;
		char *got = run(filled, &size);

		assert_string_equal(got, wanted);
		free(got);
		free(wanted);
		free(filled);
		free(command);
		free(value);
	}
}

/* Any command is walked to its end, and what is not a placeholder is kept. */
static void any_command_is_walked(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS * 100; i++) {
		char *command = draw_text("%%%((x))s'\"\\$`#<\n a", 40);
		struct recipe_template scan = {.at = command};
		struct recipe_placeholder placeholder;
		const char *end = command;

		while (recipe_template_next(&scan, &placeholder)) {
			assert_true(placeholder.begin >= end);
			assert_true(placeholder.end > placeholder.begin);
			end = placeholder.end;
			assert_true(end <= command + strlen(command));
			free(placeholder.key);
		}
		free(command);
	}
}

static int enter(void **state)
{
	draw_restart(state);
	return scratch_enter(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(values_are_quoted_outside_of_quotes),
	    cmocka_unit_test(marks_get_backslashes_in_double_quotes),
	    cmocka_unit_test(plain_values_stand_elsewhere_as_they_are),
	    cmocka_unit_test(what_is_no_placeholder_stays),
	    cmocka_unit_test(places_where_nothing_can_stand_are_known),
	    cmocka_unit_test_setup_teardown(a_shell_has_any_value_as_one_word, enter,
					    scratch_leave),
	    cmocka_unit_test_setup_teardown(any_command_is_walked, enter, scratch_leave),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
