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
		struct report_wish wish = {
		    .group = tops[i].group, .forms = tops[i].forms, .limit = TOP_ROWS};
		struct report_answer answer;
		int status = report_ask(report, tops[i].analysis, &wish, &answer, error);

		if (status < 0)
			return -1;
		if (status)
			html_result(report, &answer.result, tops[i].without, TOP_ROWS);
		report_answer_clear(&answer);
	}
	html_section_end(report->page);
	return 0;
}
