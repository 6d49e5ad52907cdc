/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/names.h"

#include "../scratch.h"

static void names_to(const char *text, const char *wanted)
{
	char *name = file_name_of(text);

	assert_string_equal(name, wanted);
	free(name);
}

TEST(what_may_stand_in_a_name_stays)
{
	names_to("node-1_a.b+c", "node-1_a.b+c");
	names_to("n\u00e9\u0153ud", "n\u00e9\u0153ud");
	names_to("../x", "_._x");
	names_to("a b/c\n\x1b", "a_b_c__");
	names_to("", "_");
	names_to("\xff\xc3", "__");
	names_to("a\xe2\x80\xae\xc2\x9bz", "a__z");
}

TEST(all_are_different)
{
	static const char *const text[] = {"a b",   "a_b",    "a/b",
					   "a_b-2", "\u00e9", "\u00e8"};
	static const char *const wanted[] = {"a_b-3", "a_b",    "a_b-4",
					     "a_b-2", "\u00e9", "\u00e8"};
	char **name = file_names_of(text, 6);

	for (int i = 0; i < 6; i++)
		assert_string_equal(name[i], wanted[i]);
	file_names_free(name, 6);
}
