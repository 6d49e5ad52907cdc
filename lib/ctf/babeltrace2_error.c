/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf/babeltrace2_error.h"

#include <babeltrace2/babeltrace.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Up to the first ": " of details, without line breaks and a final stop. */
static char *short_message(const bt_error *causes, uint64_t index)
{
	const char *text =
	    bt_error_cause_get_message(bt_error_borrow_cause_by_index(causes, index));
	char *line = mem_strndup(text, strcspn(text, "\n"));
	char *details = strstr(line, ": ");
	size_t length;

	if (details)
		*details = '\0';
	length = strlen(line);
	if (length && line[length - 1] == '.')
		line[length - 1] = '\0';
	return line;
}

void babeltrace2_error_take(struct error *error)
{
	const bt_error *causes = bt_current_thread_take_error();
	uint64_t count = causes ? bt_error_get_cause_count(causes) : 0;
	char *first, *next;

	if (!count) {
		error_set(error, "libbabeltrace2 failed and gave no cause");
	} else {
		first = short_message(causes, 0);
		error_set(error, "%s", first);
		if (count > 1) {
			next = short_message(causes, 1);
			if (strcmp(first, next) != 0)
				error_set(error, "%s (%s)", next, first);
			free(next);
		}
		free(first);
	}
	if (causes)
		bt_error_release(causes);
}
