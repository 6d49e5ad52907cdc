/* SPDX-License-Identifier: GPL-3.0-or-later */
/* truth BEGIN_NS END_NS STEP_NS NODE=CLOCK...: truth.csv of clocks as clock.h says. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

int main(int argc, char **argv)
{
	puts("node,host_ns,mono_ns,real_ns");
	for (int i = 4; i < argc; i++) {
		char *clock_text = strchr(argv[i], '=');
		struct made_up_clock made_up;
		int64_t begin = atoll(argv[1]), end = atoll(argv[2]);

		if (!clock_text || clock_parse(clock_text + 1, &made_up))
			return 2;
		*clock_text = '\0';
		for (int64_t at = begin; at <= end; at += atoll(argv[3]))
			printf("%s,%" PRId64 ",%" PRId64 ",%" PRId64 "\n", argv[i], at,
			       clock_at(&made_up, at), at);
	}
	return 0;
}
