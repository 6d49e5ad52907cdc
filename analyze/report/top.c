/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The greatest users and the longest waits, as the analyses tell them. */
#include "analyze/report/html.h"

enum { TOP_ROWS = 15 };

int report_top(struct report *report, struct error *error)
{
	static const struct {
		const char *analysis, *group;
		unsigned forms;
		const char *without;
	} tops[] = {
	    {"cpu", "process", 0, "nodes cpus"},
	    {"cpu", "thread", 0, "nodes cpus"},
	    {"sched", NULL, 0, NULL},
	    {"io", NULL, 0, "disks"},
	    {"syscalls", NULL, 0, NULL},
	    {"irq", NULL, 0, NULL},
	    {"net", NULL, 0, "interfaces over_time"},
	    {"messages", NULL, FORM_TOP, NULL},
	    {"mem", NULL, 0, "nodes"},
	};

	html_section(report->page, "top", "Top");
	for (size_t i = 0; i < sizeof(tops) / sizeof(*tops); i++) {
		struct report_wish wish = report_wish_of(report, tops[i].analysis,
							 tops[i].group, tops[i].forms);
		const struct result *result =
		    report_ask(report, tops[i].analysis, &wish, error);

		if (!result)
			return -1;
		html_result(report, result, tops[i].without, TOP_ROWS);
	}
	html_section_end(report->page);
	return 0;
}
