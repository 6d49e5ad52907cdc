/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/charge.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "timeline/query.h"

enum { KHZ_PER_MHZ = 1000 };

/* A processor's speed from a time on. */
struct opendc_step {
	uint64_t cpu; /* of key_of */
	nsec_t from_ns;
	double mhz;
};

/* Milliseconds, rounded up. */
static int64_t millis(nsec_t span)
{
	return span / NSEC_PER_MSEC + (span % NSEC_PER_MSEC > 0);
}

static nsec_t floor_to(nsec_t instant, nsec_t step)
{
	nsec_t rest = instant % step;

	return nsec_sub(instant, rest < 0 ? rest + step : rest);
}

/* From a task's begin to the first multiple of the interval behind it. */
static int64_t first_length(const struct opendc_task *task, int64_t interval_ms)
{
	nsec_t step = interval_ms * NSEC_PER_MSEC;

	return millis(
	    nsec_sub(nsec_add(floor_to(task->begin_ns, step), step), task->begin_ns));
}

void opendc_cut(const struct opendc_task *task, int64_t interval_ms,
		struct opendc_cuts *cuts)
{
	int64_t all = millis(nsec_sub(task->end_ns, task->begin_ns));

	cuts->interval_ms = interval_ms;
	cuts->first_ms = first_length(task, interval_ms);
	cuts->all_ms = all ? all : 1;
	cuts->fragments = 1;
	if (cuts->all_ms > cuts->first_ms)
		cuts->fragments +=
		    (uint64_t)((cuts->all_ms - cuts->first_ms + interval_ms - 1) /
			       interval_ms);
}

int64_t opendc_length(const struct opendc_cuts *cuts, uint64_t index)
{
	int64_t begin =
	    index ? cuts->first_ms + ((int64_t)index - 1) * cuts->interval_ms : 0;
	int64_t length = index ? cuts->interval_ms : cuts->first_ms;

	return length < cuts->all_ms - begin ? length : cuts->all_ms - begin;
}

/* Fragments have 32 bits in files, and so has their number here. */
static int check_fragments(const struct opendc_charger *charger, struct error *error)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < charger->tasks->tasks; i++) {
		struct opendc_cuts cuts;

		opendc_cut(&charger->tasks->task[i], charger->choice->interval_ms, &cuts);
		sum += cuts.fragments;
		if (sum > UINT32_MAX)
			return error_set(error,
					 "%s: more than 2^32 fragments, want a longer "
					 "--interval, or less of the timeline",
					 charger->export->path);
	}
	return 0;
}

/*
 * A task worked from begin to end at some MHz. Time ahead of its begin counts with its
 * first fragment; time after its end with a later one, which is there if the end is
 * moved.
 */
static void add_work(struct opendc_charger *charger, struct opendc_task *task,
		     nsec_t begin_ns, nsec_t end_ns, double mhz)
{
	int64_t interval_ms = charger->choice->interval_ms;
	nsec_t first = first_length(task, interval_ms) * NSEC_PER_MSEC;
	nsec_t step = interval_ms * NSEC_PER_MSEC;

	while (begin_ns < end_ns) {
		nsec_t since = nsec_sub(begin_ns, task->begin_ns);
		int64_t index = since < first ? 0 : 1 + (since - first) / step;
		nsec_t until = nsec_add(task->begin_ns, first + index * step);
		nsec_t to = until < end_ns ? until : end_ns;
		double work = (double)nsec_sub(to, begin_ns) * mhz;

		if (!task->works || task->work[task->works - 1].index != index) {
			task->work = mem_grow(task->work, task->works, &task->work_room,
					      sizeof(*task->work));
			task->work[task->works++] =
			    (struct opendc_work){(uint32_t)index, 0};
		}
		task->work[task->works - 1].work += work;
		charger->work += work;
		begin_ns = to;
	}
}

static int compare_work(const void *a, const void *b)
{
	const struct opendc_work *one = a, *other = b;

	return (one->index > other->index) - (one->index < other->index);
}

size_t opendc_sum_work(struct opendc_task *task)
{
	size_t count = 0;

	/* Of several threads, or of samples of two sorts. */
	if (task->works)
		qsort(task->work, task->works, sizeof(*task->work), compare_work);
	for (size_t i = 0; i < task->works; i++)
		if (count && task->work[count - 1].index == task->work[i].index)
			task->work[count - 1].work += task->work[i].work;
		else
			task->work[count++] = task->work[i];
	task->works = count;
	return count;
}

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

static void add_to_task(struct opendc_charger *charger, int64_t task,
			const struct opendc_stretch *stretch, double part)
{
	account_of(charger, stretch)->task_ns += time_of(stretch) * part;
	add_work(charger, &charger->tasks->task[task], stretch->begin_ns, stretch->end_ns,
		 stretch->mhz * stretch->share * part);
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

static void charge_keeper(struct opendc_charger *charger, int64_t keeper,
			  const struct opendc_stretch *stretch);

/* What a process's own claims leave is its ancestors'. */
static void charge_above(struct opendc_charger *charger, int64_t keeper,
			 const struct opendc_stretch *stretch)
{
	int64_t parent = charger->cluster->process[keeper].parent;
	int64_t above =
	    parent < 0 ? OPENDC_NONE : charger->cluster->process[parent].keeper;

	charge_keeper(charger, above, stretch);
}

/* `active` may be used again above, so it is found anew after that. */
static void charge_keeper(struct opendc_charger *charger, int64_t keeper,
			  const struct opendc_stretch *stretch)
{
	struct opendc_stretch rest = *stretch;

	if (keeper < 0) {
		account_of(charger, stretch)->outside_ns += time_of(stretch);
		return;
	}
	while (rest.begin_ns < stretch->end_ns) {
		struct opendc_stretch piece = rest;
		size_t count = find_active(charger, &charger->cluster->process[keeper],
					   rest.begin_ns, rest.end_ns);
		size_t hold = holding(charger->active, count, &rest, &piece.end_ns);

		if (!hold)
			charge_above(charger, keeper, &piece);
		for (size_t i = 0; hold && i < count; i++)
			if (charger->active[i].begin_ns <= piece.begin_ns &&
			    charger->active[i].end_ns > piece.begin_ns)
				add_to_task(charger, charger->active[i].task, &piece,
					    1.0 / (double)hold);
		rest.begin_ns = piece.end_ns;
	}
}

/*
 * Time of a process outside of its own invocations is its nearest ancestor's; where
 * several of one process run at once they share it equally. A process's last moments come
 * after the event of its exit.
 */
static void charge(struct opendc_charger *charger, const struct opendc_stretch *stretch)
{
	const struct opendc_process *process =
	    &charger->cluster->process[stretch->process];
	struct opendc_task *task;

	if (charger->tasks->kind == OPENDC_INVOCATIONS) {
		charge_keeper(charger, process->keeper, stretch);
	} else if (process->task < 0) {
		struct opendc_account *account = account_of(charger, stretch);

		*(process->kernel ? &account->kernel_ns : &account->outside_ns) +=
		    time_of(stretch);
	} else {
		task = &charger->tasks->task[process->task];
		if (stretch->end_ns > task->end_ns)
			task->end_ns = stretch->end_ns;
		add_to_task(charger, process->task, stretch, 1);
	}
}

void opendc_charge_sampled(struct opendc_charger *charger,
			   const struct opendc_stretch *stretch)
{
	account_of(charger, stretch)->busy_ns += time_of(stretch);
	if (stretch->process < 0)
		account_of(charger, stretch)->unknown_ns += time_of(stretch);
	else
		charge(charger, stretch);
}

static uint64_t key_of(int64_t node, int64_t cpu)
{
	return (uint64_t)node << 32 | (uint32_t)cpu;
}

static int compare_steps(const void *a, const void *b)
{
	const struct opendc_step *one = a, *other = b;

	if (one->cpu != other->cpu)
		return one->cpu < other->cpu ? -1 : 1;
	return (one->from_ns > other->from_ns) - (one->from_ns < other->from_ns);
}

/* node, cpu, ts_ns, kHz */
static int take_step(void *context, const struct cell *row, struct error *error)
{
	struct opendc_charger *charger = context;
	int64_t node = opendc_node_of(charger->cluster, row[0].integer);
	double mhz = cell_number(&row[3]) / KHZ_PER_MHZ;

	(void)error;
	if (node < 0)
		return 0;
	charger->step = mem_grow(charger->step, charger->steps, &charger->step_room,
				 sizeof(*charger->step));
	charger->step[charger->steps++] = (struct opendc_step){
	    key_of(node, cell_integer(&row[1], -1)), row[2].integer, mhz};
	if (mhz > charger->cluster->node[node].mhz)
		charger->cluster->node[node].mhz = mhz;
	return 0;
}

static int load_speeds(struct opendc_charger *charger, struct error *error)
{
	if (query_scope(charger->export->timeline, &charger->export->scope,
			QUERY_FREQUENCIES, take_step, charger, error))
		return -1;
	if (charger->steps)
		qsort(charger->step, charger->steps, sizeof(*charger->step),
		      compare_steps);
	return 0;
}

/* Speed of a processor at a time, and until when it holds. Its first one held before. */
static double speed_at(const struct opendc_charger *charger, int64_t node, int64_t cpu,
		       nsec_t when, nsec_t *until)
{
	const struct opendc_step *step = charger->step;
	double mhz = charger->cluster->node[node].mhz;
	uint64_t key = key_of(node, cpu);
	size_t low = 0, high = charger->steps;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (step[middle].cpu < key ||
		    (step[middle].cpu == key && step[middle].from_ns <= when))
			low = middle + 1;
		else
			high = middle;
	}
	if (low < charger->steps && step[low].cpu == key && step[low].from_ns < *until)
		*until = step[low].from_ns;
	if (low && step[low - 1].cpu == key)
		return step[low - 1].mhz;
	if (low < charger->steps && step[low].cpu == key)
		return step[low].mhz;
	return mhz > 0 ? mhz : charger->choice->cpu_mhz;
}

static const char ran_sql[] =
    "SELECT max(begin_ns, ?4), min(end_ns, ?5), cpu FROM thread_state "
    "WHERE node = ?1 AND tid = ?2 AND state = 'running' AND thread = ?3"
    " AND begin_ns < ?5 AND end_ns > ?4 ORDER BY thread_state.begin_ns";

static int charge_thread(struct opendc_charger *charger,
			 const struct opendc_thread *thread, struct error *error)
{
	const struct scope *scope = &charger->export->scope;
	const struct cell value[] = {
	    cell_of_integer(charger->cluster->node[thread->node].fact->id),
	    cell_of_integer(thread->tid), cell_of_integer(thread->id),
	    cell_of_integer(scope->begin_ns), cell_of_integer(scope->end_ns)};
	struct opendc_stretch stretch = {
	    .node = thread->node, .process = thread->process, .share = 1};
	int more;

	if (timeline_query_ask(charger->spans, value, 5, error))
		return -1;
	while ((more = timeline_query_next(charger->spans, error)) > 0) {
		const struct cell *row = timeline_query_row(charger->spans);
		nsec_t end_ns = row[1].integer;

		for (nsec_t at = row[0].integer; at < end_ns; at = stretch.end_ns) {
			stretch.begin_ns = at;
			stretch.end_ns = end_ns;
			stretch.mhz =
			    speed_at(charger, thread->node, cell_integer(&row[2], -1), at,
				     &stretch.end_ns);
			charge(charger, &stretch);
		}
	}
	return more;
}

int opendc_charge_process(struct opendc_charger *charger, int64_t process,
			  struct error *error)
{
	const struct opendc_cluster *cluster = charger->cluster;
	int64_t at = cluster->process[process].thread;

	for (; at >= 0; at = cluster->thread[at].next)
		if (charge_thread(charger, &cluster->thread[at], error))
			return -1;
	return 0;
}

#define SUMS                                                                             \
	" sum(min(end_ns, ?2) - max(begin_ns, ?1)), max(cpu) + 1 FROM thread_state"      \
	" WHERE state = 'running' AND begin_ns < ?2 AND end_ns > ?1"

/* By numbers of threads, as they lie; and where several threads had one, each of these.
 */
static const char sums_sql[] =
    "SELECT node, tid, CASE WHEN count(thread) = count(*)"
    " AND min(thread) = max(thread) THEN max(thread) END," SUMS " GROUP BY node, tid";
static const char parts_sql[] =
    "SELECT node, -1, thread," SUMS " AND node = ?3 AND tid = ?4 GROUP BY thread";

/* node, tid, thread, time, processors */
static int take_sum(void *context, const struct cell *row, struct error *error)
{
	struct opendc_charger *charger = context;
	struct opendc_cluster *cluster = charger->cluster;
	const struct scope *scope = &charger->export->scope;
	const struct cell value[] = {cell_of_integer(scope->begin_ns),
				     cell_of_integer(scope->end_ns), row[0], row[1]};
	int64_t node = opendc_node_of(cluster, row[0].integer), at;
	struct opendc_node *place = node < 0 ? NULL : &cluster->node[node];
	double time = cell_number(&row[3]);

	if (!place)
		return 0;
	if (row[1].integer > 0 && row[2].type != CELL_INTEGER)
		return query_rows(charger->export->timeline, parts_sql, value, take_sum,
				  charger, error);
	if (!place->fact->cpus && cell_integer(&row[4], 0) > place->cpus)
		place->cpus = row[4].integer;
	if (row[1].integer == 0) {
		place->account.idle_ns += time;
		return 0;
	}
	place->account.busy_ns += time;
	if (row[2].type != CELL_INTEGER ||
	    !intmap_get(&cluster->thread_of_id, (uint64_t)row[2].integer, &at))
		place->account.unknown_ns += time;
	return 0;
}

int opendc_charger_init(struct opendc_charger *charger, struct error *error)
{
	struct export *export = charger->export;

	if (check_fragments(charger, error) || load_speeds(charger, error) ||
	    query_scope(export->timeline, &export->scope, sums_sql, take_sum, charger,
			error))
		return -1;
	charger->spans = timeline_query_new(export->timeline, ran_sql, error);
	return charger->spans ? 0 : -1;
}

int opendc_check_accounts(const struct opendc_charger *charger, struct error *error)
{
	for (size_t i = 0; i < charger->cluster->nodes; i++) {
		const struct opendc_node *node = &charger->cluster->node[i];
		const struct opendc_account *account = &node->account;
		double sum = account->task_ns + account->kernel_ns + account->outside_ns +
			     account->unknown_ns;

		if (fabs(sum - account->busy_ns) > account->busy_ns * 1e-6)
			return error_set(
			    error,
			    "%s: %s ran for %.0f ns, and %.0f ns are accounted "
			    "for",
			    charger->export->path, node->fact->name, account->busy_ns,
			    sum);
	}
	return 0;
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
	timeline_query_free(charger->spans);
	free(charger->step);
	free(charger->active);
}
