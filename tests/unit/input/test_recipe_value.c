/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/value.h"

#include <time.h>

#include "base/bytes.h"
#include "base/mem.h"

#include "../scratch.h"

/* A tree on one line: texts in quotes unless plain, each with @LINE. */
static void print(FILE *file, const struct recipe_value *value)
{
	const char *mark = value->plain ? "" : "'";

	if (value->kind == RECIPE_TEXT && !value->text) {
		fputs("nothing", file);
		return;
	}
	if (value->kind == RECIPE_TEXT) {
		fprintf(file, "%s%s%s@%zu", mark, value->text, mark,
			value->location.line);
		return;
	}
	putc(value->kind == RECIPE_LIST ? '[' : '{', file);
	for (size_t i = 0; i < value->count; i++) {
		fputs(i ? " " : "", file);
		if (value->entry[i].key)
			fprintf(file, "%s=", value->entry[i].key);
		print(file, &value->entry[i].value);
	}
	putc(value->kind == RECIPE_LIST ? ']' : '}', file);
}

static char *as_text(const struct recipe_value *value, struct recipe_errors *errors)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	print(file, value);
	recipe_errors_sort(errors);
	for (size_t i = 0; i < errors->count; i++)
		fprintf(file, "\n%s:%zu: %s", errors->item[i].location.file,
			errors->item[i].location.line, errors->item[i].text);
	assert_int_equal(fclose(file), 0);
	return text;
}

static void reads_as(const char *yaml, const char *wanted)
{
	struct recipe_errors errors = {0};
	struct recipe_value value;
	char *text;

	scratch_text("f", yaml);
	recipe_load(&value, "f", &errors);
	text = as_text(&value, &errors);
	assert_string_equal(text, wanted);
	free(text);
	recipe_value_clear(&value);
	recipe_errors_clear(&errors);
}

SCRATCH_TEST(values_know_their_lines)
{
	reads_as("a: 1\nb: '1'\nc:\n- x\n- {y: z,\n   w: ''}\n",
		 "{a=1@1 b='1'@2 c=[x@4 {y=z@5 w=''@6}]}");
	reads_as("a: |\n  b\n  c\nd: e", "{a='b\nc\n'@1 d=e@4}");
	reads_as("\xef\xbb\xbf"
		 "a: \"h\\u00e9\"",
		 "{a='h\xc3\xa9'@1}");
	reads_as("", "{}");
	reads_as("# only a comment\n---\n~\n", "{}");
	reads_as("a: '5'\nb: !!int 5", "{a='5'@1 b=5@2}");
	reads_as("a: b\r\nc: d\r\n", "{a=b@1 c=d@2}");
}

SCRATCH_TEST(aliases_are_copies)
{
	reads_as("a: &x [1, 2]\nb: *x\n", "{a=[1@1 2@1] b=[1@1 2@1]}");
	reads_as("a: &x 1\nb: &x 2\n", "nothing\nf:2: invalid YAML: found duplicate "
				       "anchor; first occurrence which began "
				       "in line 1, second occurrence");
	reads_as("a: *y\n", "nothing\nf:1: invalid YAML: found undefined alias");
	reads_as("a: &x [*x]\n",
		 "nothing\nf:1: more than 32 lists and maps within one another");
	reads_as("&x a: *x\n", "{a=a@1}");
}

SCRATCH_TEST(merge_keys_give_way)
{
	reads_as("a: &a {x: 1, y: 2}\nb: {y: 3, <<: *a}\n",
		 "{a={x=1@1 y=2@1} b={y=3@2 x=1@1}}");
	reads_as("a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc:\n  <<: [*a, *b]\n",
		 "{a={x=1@1} b={x=2@2 y=2@2} c={x=1@1 y=2@2}}");
	reads_as("a: {<<: {x: 1}, <<: {y: 2}}\n", "{a={x=1@1 y=2@1}}");
	reads_as("a: {\"<<\": 1}\n", "{a={<<=1@1}}");
	reads_as("a: {<<: 1}\n",
		 "{a={}}\nf:1: <<: invalid value '1' (expected a map or a list of maps)");
}

SCRATCH_TEST(reading_goes_on_after_what_can_be_passed_over)
{
	reads_as("a: 1\na: 2\n? [k]\n: v\nb: !x c\n",
		 "{a=1@1 b=c@5}\nf:2: a is in line 1 already\n"
		 "f:3: a key: a list (expected a text)");
}

SCRATCH_TEST(bounds_hold)
{
	char *deep = mem_zalloc(200), *wide = mem_zalloc(RECIPE_MOST_VALUES * 4);

	memcpy(deep, "a: ", 3);
	memset(deep + 3, '[', 31);
	memset(deep + 34, ']', 31);
	reads_as(deep,
		 "{a=[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}");
	memset(deep + 3, '[', 32);
	memset(deep + 35, ']', 32);
	reads_as(deep, "nothing\nf:1: more than 32 lists and maps within one another");
	/* Deep by copies of copies. */
	reads_as("l:\n- &a [[[[[[[[[[x]]]]]]]]]]\n- &b [[[[[[[[[[[*a]]]]]]]]]]]\n"
		 "- [[[[[[[[[[*b]]]]]]]]]]\n",
		 "nothing\nf:2: more than 32 lists and maps within one another");
	strcpy(wide, "a: [");
	for (int i = 0; i < RECIPE_MOST_VALUES / 10; i++)
		strcpy(wide + 4 + 20 * (size_t)i, "[x,x,x,x,x,x,x,x,x],");
	strcat(wide, "]");
	reads_as(wide, "nothing\nf:1: more than 50000 values in the recipe and what it "
		       "imports");
	free(deep);
	free(wide);
}

/* Each takes libyaml, or us, a time that grows with the square of its length. */
SCRATCH_TEST(long_recipes_are_refused_quickly)
{
	static const struct {
		const char *begin, *piece, *why;
	} recipe[] = {
	    {"a: ", "[", "f:1: more than 32 lists and maps within one another"},
	    {"a: ", "{b: ", "f:1: more than 32 lists and maps within one another"},
	    {"", "- ", "f:1: more than 32 lists and maps within one another"},
	    {"a: [&x y,", " *x,", "f:1: too many anchors and aliases (limit 1000)"},
	    {"", "k%zu:\n", "f:1: too many keys in a map (limit 1000)"},
	    {"", "- a%zu\n", "f:1: too many items in a list (limit 5000)"},
	    {"a: [x", ", &x%zu y", "f:1: too many anchors and aliases (limit 1000)"},
	};

	for (size_t i = 0; i < sizeof(recipe) / sizeof(*recipe); i++) {
		struct bytes text = {0};
		AUTOFREE char *wanted = mem_printf("nothing\n%s", recipe[i].why);
		clock_t before = clock();

		bytes_add_text(&text, recipe[i].begin);
		for (size_t n = 0; text.size < 1000000; n++)
			bytes_print(&text, recipe[i].piece, n);
		bytes_add_byte(&text, 0);
		reads_as((char *)text.data, wanted);
		assert_true(clock() - before < 10 * CLOCKS_PER_SEC);
		bytes_clear(&text);
	}
}

static void imports_as(const char *wanted)
{
	struct recipe_errors errors = {0};
	struct recipe_value value;
	char *text;

	recipe_load(&value, "main.yaml", &errors);
	text = as_text(&value, &errors);
	assert_string_equal(text, wanted);
	free(text);
	recipe_value_clear(&value);
	recipe_errors_clear(&errors);
}

SCRATCH_TEST(imports_are_merged)
{
	scratch_text("one.yaml", "a: 1\nm: {x: 1, y: {z: 1}}\nl: [1]\n");
	scratch_text("two.yml", "a: 2\nm: {y: {w: 2}}\nb: 2\n");
	scratch_text("main.yaml", "import: [one, two.yml]\nb: 3\nl: [3]\n");
	imports_as("{a=2@1 m={x=1@2 y={z=1@2 w=2@2}} l=[3@3] b=3@2}");
	/* The own file stands over what it imports, wherever `import` stands. */
	scratch_text("main.yaml", "a: 3\nm:\nimport: one\n");
	imports_as("{a=3@1 m=@2 l=[1@3]}");
	/* One file by two ways is no circle. */
	scratch_text("two.yaml", "import: one\n");
	scratch_text("main.yaml", "import: [two, one, two]\n");
	imports_as("{a=1@1 m={x=1@2 y={z=1@2}} l=[1@3]}");
	scratch_text("main.yaml", "import:\nssh_username: u\n");
	imports_as("{username=u@2}");
}

SCRATCH_TEST(wrong_imports_are_told)
{
	scratch_text("one.yaml", "a: 1\n");
	scratch_text("main.yaml", "import:\n- one\n- ../x\n- [y]\n- none\n");
	imports_as("nothing\n"
		   "main.yaml:3: import: invalid value '../x' (expected the name of a "
		   "recipe in the "
		   "same directory, or a list of names)\n"
		   "main.yaml:4: import: a list (expected the name of a recipe in the "
		   "same directory, or a list of names)\n"
		   "main.yaml:5: import: none.yaml cannot be used\n"
		   "none.yaml:0: No such file or directory");
	scratch_text("main.yaml", "import: main\n");
	imports_as("nothing\nmain.yaml:1: import: main.yaml cannot be used\n"
		   "main.yaml:1: import: more than 64 recipes in all, is there a circle");
}

/* Each file imports the next one twice: 2^n files if nothing stopped it. */
SCRATCH_TEST(imports_are_bounded)
{
	struct recipe_errors errors = {0};
	struct recipe_value value;

	for (int i = 0; i < 12; i++) {
		char *name = mem_printf("r%d.yaml", i);
		char *text = mem_printf("import: [r%d, r%d]\n", i + 1, i + 1);

		scratch_text(name, text);
		free(name);
		free(text);
	}
	scratch_text("r12.yaml", "a: 1\n");
	assert_int_equal(recipe_load(&value, "r0.yaml", &errors), -1);
	assert_true(errors.count > 0 && errors.count < 1000);
	assert_non_null(strstr(errors.item[errors.count - 1].text, "more than 64"));
	recipe_errors_clear(&errors);
}
