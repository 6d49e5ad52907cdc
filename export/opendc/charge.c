/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/charge.h"

#include <stdlib.h>

#include "base/mem.h"

/* Of a process's claims, how many begin before a time. */
static size_t begun_before(const struct opendc_claim *claim, size_t count, nsec_t when)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (claim[middle].begin_ns < when)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Claims of a process that overlap a stretch, into `active`: how many. */
static size_t find_active(struct opendc_charger *charger,
			  const struct opendc_process *process, nsec_t begin_ns,
			  nsec_t end_ns)
{
	const struct opendc_claim *claim = &charger->tasks->claim[process->claim];
	size_t count = 0;

	for (size_t i = begun_before(claim, process->claims, end_ns); i-- > 0;) {
		if (claim[i].latest_ns <= begin_ns)
			break;
		if (claim[i].end_ns <= begin_ns)
			continue;
		charger->active = mem_grow(charger->active, count, &charger->room,
					   sizeof(*charger->active));
		charger->active[count++] = claim[i];
	}
	return count;
}

static struct opendc_account *account_of(struct opendc_charger *charger,
					 const struct opendc_stretch *stretch)
{
	return &charger->cluster->node[stretch->node].account;
}

static double time_of(const struct opendc_stretch *stretch)
{
	return (double)nsec_sub(stretch->end_ns, stretch->begin_ns) * stretch->share;
}

static int add_to_task(struct opendc_charger *charger, int64_t task,
		       const struct opendc_stretch *stretch, double part,
		       struct error *error)
{
	account_of(charger, stretch)->task_ns += time_of(stretch) * part;
	return opendc_usage_add(charger->usage, task, stretch->begin_ns, stretch->end_ns,
				stretch->mhz * stretch->share * part, error);
}

/* Up to where the same claims hold, from the stretch's begin on; and how many do. */
static size_t holding(const struct opendc_claim *active, size_t count,
		      const struct opendc_stretch *stretch, nsec_t *until)
{
	size_t hold = 0;

	*until = stretch->end_ns;
	for (size_t i = 0; i < count; i++) {
		nsec_t change = active[i].begin_ns;

		if (change <= stretch->begin_ns) {
			change = active[i].end_ns;
			hold += change > stretch->begin_ns;
		}
		if (change > stretch->begin_ns && change < *until)
			*until = change;
	}
	return hold;
}

static int charge_keeper(struct opendc_charger *charger, int64_t keeper,
			 const struct opendc_stretch *stretch, struct error *error);

/* What a process's own claims leave is its ancestors'. */
static int charge_above(struct opendc_charger *charger, int64_t keeper,
			const struct opendc_stretch *stretch, struct error *error)
{
	int64_t parent = charger->cluster->process[keeper].parent;
	int64_t above =
	    parent < 0 ? OPENDC_NONE : charger->cluster->process[parent].keeper;

	return charge_keeper(charger, above, stretch, error);
}

/* `active` may be used again above, so it is found anew after that. */
static int charge_keeper(struct opendc_charger *charger, int64_t keeper,
			 const struct opendc_stretch *stretch, struct error *error)
{
	struct opendc_stretch rest = *stretch;

	if (keeper < 0) {
		account_of(charger, stretch)->outside_ns += time_of(stretch);
		return 0;
	}
	while (rest.begin_ns < stretch->end_ns) {
		struct opendc_stretch piece = rest;
		size_t count = find_active(charger, &charger->cluster->process[keeper],
					   rest.begin_ns, rest.end_ns);
		size_t hold = holding(charger->active, count, &rest, &piece.end_ns);

		if (!hold && charge_above(charger, keeper, &piece, error))
			return -1;
		for (size_t i = 0; hold && i < count; i++)
			if (charger->active[i].begin_ns <= piece.begin_ns &&
			    charger->active[i].end_ns > piece.begin_ns &&
			    add_to_task(charger, charger->active[i].task, &piece,
					1.0 / (double)hold, error))
				return -1;
		rest.begin_ns = piece.end_ns;
	}
	return 0;
}

/* A process's last moments come after the event of its exit. */
static int charge_process(struct opendc_charger *charger,
			  const struct opendc_process *process,
			  const struct opendc_stretch *stretch, struct error *error)
{
	struct opendc_task *task;

	if (process->task < 0) {
		struct opendc_account *account = account_of(charger, stretch);

		if (process->kernel)
			account->kernel_ns += time_of(stretch);
		else
			account->outside_ns += time_of(stretch);
		return 0;
	}
	task = &charger->tasks->task[process->task];
	if (stretch->end_ns > task->end_ns)
		task->end_ns = stretch->end_ns;
	return add_to_task(charger, process->task, stretch, 1, error);
}

int opendc_charge(struct opendc_charger *charger, const struct opendc_stretch *stretch,
		  struct error *error)
{
	const struct opendc_process *process;

	account_of(charger, stretch)->busy_ns += time_of(stretch);
	if (stretch->process < 0) {
		account_of(charger, stretch)->unknown_ns += time_of(stretch);
		return 0;
	}
	process = &charger->cluster->process[stretch->process];
	return charger->tasks->kind == OPENDC_INVOCATIONS
		   ? charge_keeper(charger, process->keeper, stretch, error)
		   : charge_process(charger, process, stretch, error);
}

int64_t opendc_task_at(const struct opendc_charger *charger, int64_t process, nsec_t when)
{
	const struct opendc_cluster *cluster = charger->cluster;
	int64_t keeper;

	if (process < 0)
		return OPENDC_NONE;
	if (charger->tasks->kind != OPENDC_INVOCATIONS)
		return cluster->process[process].task;
	for (keeper = cluster->process[process].keeper; keeper >= 0;) {
		const struct opendc_process *above = &cluster->process[keeper];
		const struct opendc_claim *claim = &charger->tasks->claim[above->claim];

		for (size_t i = begun_before(claim, above->claims, when + 1); i-- > 0;) {
			if (claim[i].latest_ns < when)
				break;
			if (claim[i].end_ns >= when)
				return claim[i].task;
		}
		keeper = above->parent < 0 ? OPENDC_NONE
					   : cluster->process[above->parent].keeper;
	}
	return OPENDC_NONE;
}

/* Take a process out of those of which a task's memory is the sum. */
static void let_go(struct opendc_charger *charger, int64_t process)
{
	struct opendc_process *gone = &charger->cluster->process[process];
	struct opendc_task *task;
	int64_t *link;

	if (gone->rss_task < 0)
		return;
	task = &charger->tasks->task[gone->rss_task];
	for (link = &task->rss_first; *link != process;)
		link = &charger->cluster->process[*link].rss_next;
	*link = gone->rss_next;
	task->rss -= gone->rss;
	gone->rss_task = OPENDC_NONE;
}

void opendc_hold(struct opendc_charger *charger, int64_t process, nsec_t when,
		 int64_t bytes)
{
	struct opendc_cluster *cluster = charger->cluster;
	int64_t index = opendc_task_at(charger, process, when), next;
	struct opendc_task *task;

	if (process < 0 || bytes < 0)
		return;
	let_go(charger, process);
	if (index < 0)
		return;
	task = &charger->tasks->task[index];
	/* Who has ended holds nothing, though nobody says so. */
	for (int64_t at = task->rss_first; at >= 0; at = next) {
		next = cluster->process[at].rss_next;
		if (cluster->process[at].end_ns < when)
			let_go(charger, at);
	}
	cluster->process[process].rss = bytes;
	cluster->process[process].rss_task = index;
	cluster->process[process].rss_next = task->rss_first;
	task->rss_first = process;
	if (__builtin_add_overflow(task->rss, bytes, &task->rss))
		task->rss = INT64_MAX / 2;
	if (task->rss > task->rss_peak)
		task->rss_peak = task->rss;
}

void opendc_charger_clear(struct opendc_charger *charger)
{
	free(charger->active);
	charger->active = NULL;
	charger->room = 0;
}
