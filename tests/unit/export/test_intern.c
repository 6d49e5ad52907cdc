/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/intern.h"

#include <stdio.h>
#include <string.h>

#include "export.h"

static void texts_get_numbers_from_1(void **state)
{
	struct intern texts = {0};
	char text[] = "a";
	bool is_new;

	(void)state;
	assert_int_equal(intern(&texts, text, &is_new), 1);
	assert_true(is_new);
	text[0] = 'b'; /* it was copied */
	assert_int_equal(intern(&texts, text, &is_new), 2);
	assert_true(is_new);
	assert_int_equal(intern(&texts, "a", &is_new), 1);
	assert_false(is_new);
	assert_int_equal(intern(&texts, "", &is_new), 3);
	assert_true(is_new);
	intern_clear(&texts);
	assert_int_equal(intern(&texts, "b", &is_new), 1);
	intern_clear(&texts);
}

static void there_is_an_end_to_them(void **state)
{
	struct intern texts = {0};
	char text[INTERN_LONGEST + 2];
	bool is_new;

	(void)state;
	for (int i = 0; i < INTERN_MOST; i++) {
		snprintf(text, sizeof(text), "%d", i);
		assert_int_equal(intern(&texts, text, &is_new), i + 1);
		assert_true(is_new);
	}
	assert_int_equal(intern(&texts, "one more", &is_new), 0);
	assert_false(is_new);
	assert_int_equal(intern(&texts, "4711", &is_new), 4712);
	assert_false(is_new);
	intern_clear(&texts);

	memset(text, 'x', sizeof(text));
	text[INTERN_LONGEST + 1] = '\0';
	assert_int_equal(intern(&texts, text, &is_new), 0);
	text[INTERN_LONGEST] = '\0';
	assert_int_equal(intern(&texts, text, &is_new), 1);
	intern_clear(&texts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(texts_get_numbers_from_1),
	    cmocka_unit_test(there_is_an_end_to_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
