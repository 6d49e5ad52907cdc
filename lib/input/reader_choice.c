/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/reader_choice.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"

int reader_kind_find(const char *name, enum reader_kind *kind)
{
	static const char *const names[] = {
	    [READER_AUTO] = "auto",
	    [READER_NATIVE] = "native",
	    [READER_BABELTRACE2] = "babeltrace2",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0) {
			*kind = (enum reader_kind)i;
			return 0;
		}
	return -1;
}

void reader_choice_tell(struct reader_choice *choice, const char *why)
{
	if (choice && why && !choice->why)
		choice->why = mem_strdup(why);
}
