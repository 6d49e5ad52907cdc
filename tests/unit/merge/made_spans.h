/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_MADE_SPANS_H
#define CT_TEST_MADE_SPANS_H

#include "../activity/made.h"

#include "merge/spans_pass.h"

/* End the timeline "t" that was begun, if any, and make its spans. */
static inline void made_end(void)
{
	struct error error = ERROR_INIT;

	if (!made_writer)
		return;
	made_event(MARK, MADE_END, -1, -1, NULL);
	finish_timeline(made_writer);
	made_writer = NULL;
	assert_int_equal(spans_add_to_file("t", &error), 0);
	assert_string_equal(error_text(&error), "");
}

#endif
