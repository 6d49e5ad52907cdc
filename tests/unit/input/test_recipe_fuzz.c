/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Recipes damaged at random: whatever they hold, reading ends, touches nothing that
 * is not its own (the sanitizers say so), and either all is well or there is a
 * message that can be printed. CT_ROUNDS says how often, CT_SEED repeats.
 */
#include "input/recipe/command.h"
#include "input/recipe/plan.h"
#include "input/recipe/recipe.h"

#include "../draw.h"
#include "../scratch.h"

enum { ROUNDS = 600, MOST_DAMAGE = 5 };

static const char *const pieces[] = {
    "\t",
    "\0",
    "'",
    "\"",
    "{",
    "}",
    "[",
    "]",
    ": ",
    "- ",
    "\n",
    "\n  ",
    "#",
    "&a ",
    "*a",
    "<<: ",
    "!!int ",
    "|\n",
    ">",
    "%(",
    "%(x)s",
    "---\n",
    "...\n",
    "-1",
    "0",
    "99999999999999999999",
    "null",
    "true",
    "import: r\n",
    "\xff",
    "\xc3\xa9",
    "\xef\xbb\xbf",
    "\\x00",
    "? ",
    "@",
    "`",
    "all",
    "[[[[[[[[",
    "{a: {b: {c: ",
    "localhost",
};

struct text {
	char *bytes;
	size_t size;
};

static void put(struct text *text, size_t at, size_t over, const char *piece, size_t size)
{
	char *bytes = mem_alloc(text->size - over + size + 1);

	memcpy(bytes, text->bytes, at);
	memcpy(bytes + at, piece, size);
	memcpy(bytes + at + size, text->bytes + at + over, text->size - at - over);
	free(text->bytes);
	text->bytes = bytes;
	text->size += size - over;
}

static void damage(struct text *text)
{
	size_t at = (size_t)draw_between(0, (int64_t)text->size);
	size_t rest = text->size - at, from, size;
	int64_t piece;

	switch (draw_between(0, 5)) {
	case 0: /* cut off */
		text->size = at;
		break;
	case 1: /* a byte changes */
		if (rest)
			text->bytes[at] = (char)draw();
		break;
	case 2: /* some bytes are gone */
		put(text, at, (size_t)draw_between(0, (int64_t)(rest > 30 ? 30 : rest)),
		    "", 0);
		break;
	case 3: /* a part stands there once more */
		from = (size_t)draw_between(0, (int64_t)text->size);
		size = (size_t)draw_between(0, (int64_t)(text->size - from));
		if (size > 80)
			size = 80;
		{
			char *part = mem_strndup(text->bytes + from, 0);

			part = mem_realloc(part, size + 1, 1);
			memcpy(part, text->bytes + from, size);
			put(text, at, 0, part, size);
			free(part);
		}
		break;
	default:
		piece = draw_between(0, (int64_t)(sizeof(pieces) / sizeof(*pieces)) - 1);
		size = strlen(pieces[piece]);
		put(text, at, (size_t)draw_between(0, (int64_t)(rest > 3 ? 3 : rest)),
		    pieces[piece], size ? size : 1);
		break;
	}
}

/* Whatever can be asked of a recipe that is well: the plan of its last point. */
static void use(const struct recipe *recipe)
{
	size_t points = recipe_points(recipe);
	struct bytes text = {0};

	assert_true(points >= 1 && points <= RECIPE_MOST_POINTS);
	assert_true(recipe->nodes.count > 0);
	recipe_print_plan(recipe, points - 1, "run", &text);
	recipe_print_json(recipe, points - 1, NULL, &text);
	assert_true(text.size > 0 && text.data[text.size - 1] == '\n');
	bytes_clear(&text);
	for (size_t i = 0; i < recipe->nodes.count; i++) {
		const struct recipe_entry *node = &recipe->nodes.entry[i];

		assert_true(*node->key != '-' && !strpbrk(node->key, "/ \n"));
		assert_true(*recipe_text(&node->value, "address") != '-');
	}
}

static void read_it(size_t *good)
{
	struct recipe_errors errors = {0};
	struct recipe recipe;

	if (recipe_read(&recipe, "r.yaml", &errors) == 0) {
		assert_int_equal(errors.count, 0);
		use(&recipe);
		++*good;
	} else {
		assert_true(errors.count > 0);
	}
	for (size_t i = 0; i < errors.count; i++) {
		assert_non_null(errors.item[i].location.file);
		assert_true(*errors.item[i].text);
	}
	recipe_clear(&recipe);
	recipe_errors_clear(&errors);
}

static struct text load(const char *name)
{
	char *path =
	    mem_printf("%s/tests/fixtures/recipe/good/%s", getenv("CT_SOURCE"), name);
	struct text text;

	text.bytes = scratch_read(path, &text.size);
	free(path);
	return text;
}

SCRATCH_TEST(damaged_recipes_are_read_or_refused)
{
	static const char *const names[] = {"full.yaml", "clusterp.yaml", "merged.yaml",
					    "lttng-rpc.yaml"};
	const char *asked = getenv("CT_ROUNDS");
	long rounds = asked ? atol(asked) : ROUNDS;
	size_t good = 0;

	if (!getenv("CT_SOURCE"))
		skip();
	for (int i = 0; i < 2; i++) {
		static const char *const imported[] = {"full-base.yaml",
						       "lttng-base.yaml"};
		struct text text = load(imported[i]);

		scratch_bytes(imported[i], text.bytes, text.size);
		free(text.bytes);
	}
	for (long i = 0; i < rounds; i++) {
		struct text text = load(names[i % 4]);
		int64_t times = draw_between(0, MOST_DAMAGE);

		for (int64_t k = 0; k < times; k++)
			damage(&text);
		scratch_bytes("r.yaml", text.bytes, text.size);
		read_it(&good);
		free(text.bytes);
	}
	/* Neither is all refused nor all taken, or the test would tell nothing. */
	assert_true(rounds < 100 || (good > 0 && good < (size_t)rounds));
}
