/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/command.h"
#include "input/recipe/recipe.h"

#include "../draw.h"
#include "../scratch.h"

enum { ROUNDS = 150 };

/* A command with a value of x; the errors are of it alone. */
static char *fill(const char *command, const char *value, struct recipe_errors *errors)
{
	struct recipe_value values = {.kind = RECIPE_MAP};
	struct recipe_value from = {.location = {.errors = errors}};
	char *filled;

	recipe_value_set(&from, command);
	recipe_value_put(&values, "x", value);
	filled = recipe_command_fill(&from, &values, "it");
	recipe_value_clear(&values);
	recipe_value_clear(&from);
	return filled;
}

static void becomes(const char *command, const char *value, const char *wanted)
{
	struct recipe_errors errors = {0};
	char *filled = fill(command, value, &errors);

	assert_int_equal(errors.count, 0);
	assert_string_equal(filled, wanted);
	free(filled);
}

TEST(values_are_quoted_outside_of_quotes)
{
	becomes("a %(x)s b", "1", "a '1' b");
	becomes("%(x)s", "it's", "'it'\\''s'");
	becomes("a %(x)s %(x)s", "", "a '' ''");
	becomes("a=%(x)s>f", "2", "a='2'>f");
	becomes("echo \"it's\" 'a\"' %(x)s", "b c", "echo \"it's\" 'a\"' 'b c'");
}

TEST(marks_get_backslashes_in_double_quotes)
{
	becomes("echo \"a %(x)s\" %(x)s", "1", "echo \"a 1\" '1'");
	becomes("echo \"%(x)s\"", "it's \"b\" $HOME `c` \\",
		"echo \"it's \\\"b\\\" \\$HOME \\`c\\` \\\\\"");
}

TEST(quotes_are_counted_up_to_what_hides_them)
{
	static const char *const refused[] = {
	    "echo 'a %(x)s'",
	    "echo \"\\\"%(x)s\"",
	    "echo '\\' %(x)s",
	    "echo $((%(x)s + 2))",
	    "sleep 1 # it's %(x)s",
	    "cat <<E\n%(x)s\nE",
	    "echo `echo %(x)s`",
	    "echo \"$(echo \"%(x)s\")\"",
	    "echo $'\\'%(x)s'",
	    "echo \\ %(x)s",
	    "((%(x)s))",
	    "echo ${x:-%(x)s}",
	    "echo $%(x)s",
	    "echo \"$%(x)s\"",
	    "echo $[%(x)s]",
	    "%(x)d",
	    "%(x)",
	    "%(y)s",
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		struct recipe_errors errors = {0};

		free(fill(refused[i], "1", &errors));
		if (errors.count != 1)
			fail_msg("%s: %zu errors", refused[i], errors.count);
		recipe_errors_clear(&errors);
	}
	becomes("echo $ %(x)s 'a' # it's", "1", "echo $ '1' 'a' # it's");
	becomes("a=%(x)s; echo \"$(echo $a)\" \\", "1", "a='1'; echo \"$(echo $a)\" \\");
}

TEST(what_is_no_placeholder_stays)
{
	becomes("date +%s 100% %% %(", "1", "date +%s 100% %% %(");
	becomes("%%(x)s %%%(x)s", "1", "%(x)s %%(x)s");
	becomes("printf '%(%F)T'", "1", "printf '%(%F)T'");
	becomes("%()s %(a b)s %(x s", "1", "%()s %(a b)s %(x s");
	becomes("", "1", "");
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

/* Return what a shell prints that runs the script. */
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
SCRATCH_TEST(a_shell_has_any_value_as_one_word)
{
	static const char *const around[][2] = {
	    {"show ", ""},
	    {"a='q u'; show ", ""},
	    {": \"it's\"; show ", " # it's"},
	    {"a=$HOME;show ", ";: $(echo 'a'\"b\") ${x:-\"y\"}"},
	    {"show \"", "\""},
	    {"show ''\"\"\"", "\" # it's"},
	    {": 'a\"' \"b'\" 'c'; show ", " <&0"},
	    {"if true; then show ", "; fi"},
	};
	static const char letters[] = "ab '\"\\$`(){}<>|&;#!*?~%=-\n\t";

	for (int i = 0; i < ROUNDS; i++) {
		const char *const *sides = around[draw_between(
		    0, (int64_t)(sizeof(around) / sizeof(*around)) - 1)];
		char *value = draw_text(letters, 12);
		char *command = mem_printf("%s%%(x)s%s\n", sides[0], sides[1]);
		struct recipe_errors errors = {0};
		char *filled = fill(command, value, &errors);
		char *wanted = mem_printf("1:%s", value);
		size_t size;
		char *script =
		    mem_printf("show() { printf '%%s:%%s' $# \"$1\"; }\n%s", filled);
		char *got = run(script, &size);

		assert_int_equal(errors.count, 0);
		assert_string_equal(got, wanted);
		free(got);
		free(wanted);
		free(script);
		free(filled);
		free(command);
		free(value);
	}
}

/* Any command is filled or refused, and what is not a placeholder is kept. */
SCRATCH_TEST(any_command_is_filled_or_refused)
{
	for (int i = 0; i < ROUNDS * 100; i++) {
		char *command = draw_text("%%%((x))s'\"\\$`#<\n a", 40);
		struct recipe_errors errors = {0};
		char *filled = fill(command, "1", &errors);

		if (!strstr(command, "%(")) {
			assert_string_equal(filled, command);
			assert_int_equal(errors.count, 0);
		}
		recipe_errors_clear(&errors);
		free(filled);
		free(command);
	}
}
