/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/report/kept.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/catalog.h"
#include "base/mem.h"

/* Rows that the page shows of anything, but for over time. */
enum { ROWS = 64 };

static const struct {
	const char *name, *group;
} walked[] = {
    {"cpu", "thread"},  {"cpu", "process"}, {"sched", NULL},
    {"syscalls", NULL}, {"irq", NULL},      {"io", NULL},
};

enum { WALKED = sizeof(walked) / sizeof(*walked), NET = WALKED, ANSWERS };

struct report_kept {
	struct report *report;
	struct kept_answer {
		const struct analysis *analysis;
		struct question question;
		struct report_answer answer;
		void *context; /* between the begin and the end of a walk */
		bool is_done;
	} item[ANSWERS];
};

static const struct analysis *find(const struct catalog *catalog, const char *name)
{
	for (size_t i = 0; i < catalog->count; i++)
		if (!strcmp(catalog->item[i]->name, name))
			return catalog->item[i];
	return NULL;
}

static void prepare(struct report_kept *kept, size_t at, const char *name,
		    const struct report_wish *wish)
{
	struct report *report = kept->report;
	struct kept_answer *item = &kept->item[at];

	item->analysis = find(report->question->request->catalog, name);
	item->question = *report->question;
	item->question.analysis = item->analysis;
	item->question.request = &item->answer.request;
	item->question.forms = item->analysis->default_forms;
	item->question.group = wish->group;
	report_wish_request(report, wish, &item->answer.request);
	result_init(&item->answer.result, &item->answer.request);
	item->answer.result.begin_ns = report->result->begin_ns;
	item->answer.result.end_ns = report->result->end_ns;
}

struct report_kept *kept_new(struct report *report, struct shared_walk *walk,
			     struct error *error)
{
	struct report_kept *kept = mem_zalloc(sizeof(*kept));
	struct report_wish wish = {.limit = ROWS};

	kept->report = report;
	question_thread(report->question, -1, -1,
			0); /* all share what is known of them */
	for (size_t i = 0; i < WALKED; i++) {
		struct kept_answer *item = &kept->item[i];
		struct activity_ops ops = {.without = 0};

		wish.group = walked[i].group;
		prepare(kept, i, walked[i].name, &wish);
		if (item->analysis->walk->begin(&item->question, &item->answer.result,
						&ops, &item->context, error)) {
			kept_free(kept);
			return NULL;
		}
		ops.share = NULL;
		shared_walk_add(walk, &ops, item->context);
	}
	return kept;
}

static int finish_walked(struct kept_answer *item, int status, struct error *error)
{
	void *context = item->context;

	item->context = NULL;
	status = item->analysis->walk->end(context, status, error);
	if (!status)
		status = result_finish(&item->answer.result, error);
	item->is_done = !status;
	return status;
}

/* Packets are of another reading; the page shows them over time, too. */
static int ask_net(struct report_kept *kept, struct error *error)
{
	struct kept_answer *item = &kept->item[NET];
	struct report_wish wish = {.interval_ns = kept->report->bin_ns,
				   .limit = REPORT_ALL};

	prepare(kept, NET, "net", &wish);
	if (item->analysis->run(&item->question, &item->answer.result, error) ||
	    result_finish(&item->answer.result, error))
		return error_prefix(error, "net");
	item->is_done = true;
	return 0;
}

int kept_finish(struct report_kept *kept, int status, struct error *error)
{
	for (size_t i = 0; i < WALKED; i++)
		status = finish_walked(&kept->item[i], status, error);
	return status ? -1 : ask_net(kept, error);
}

bool kept_find(const struct report_kept *kept, const char *analysis, const char *group,
	       struct report_answer *answer)
{
	for (size_t i = 0; kept && i < ANSWERS; i++) {
		const struct kept_answer *item = &kept->item[i];

		if (!item->is_done || strcmp(item->analysis->name, analysis) != 0 ||
		    (group && item->question.group &&
		     strcmp(item->question.group, group) != 0))
			continue;
		*answer = item->answer;
		answer->is_kept = true;
		return true;
	}
	return false;
}

/* One whose walk was not made is told to let go. */
void kept_free(struct report_kept *kept)
{
	if (!kept)
		return;
	for (size_t i = 0; i < ANSWERS; i++) {
		struct kept_answer *item = &kept->item[i];

		if (item->context)
			item->analysis->walk->end(item->context, -1, NULL);
		if (item->answer.result.request)
			result_clear(&item->answer.result);
	}
	free(kept);
}
