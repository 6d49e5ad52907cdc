/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/report/activity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/report.h"
#include "base/mem.h"
#include "base/order.h"
#include "timeline/reader.h"

/* Cells of all lanes: each is 8 bytes of the page. Steps are of all rows of tables. */
enum {
	ALL_CELLS = 60000,
	FEWEST_CELLS = 200,
	MOST_CELLS = 8000,
	ALL_STEPS = 20000,
	FEWEST_STEPS = 100,
	MOST_STEPS = 1000
};

struct reading {
	struct activity *activity;
	struct query *query;
	struct bin_tables *bins;
	struct bin_row *handler; /* row of the last interrupt's handler */
	size_t lane;             /* lane of the last span */
};

/* Select the threads that had a processor or waited for one, by thread and time. The
 * times are compared here, as SQLite takes twice as long for it. */
#define THREAD_ROWS                                                                      \
	"SELECT " TIMELINE_ROW "(s.node, s.tid, s.cpu, s.begin_ns, s.duration_ns, "      \
	"s.state_code, s.preempted, s.cut, s.comm) FROM "
#define THREAD_FILTER " s.state_code <= 1"
#define WINDOW_FILTER " AND s.begin_ns < ?2 AND s.begin_ns + s.duration_ns > ?1"

#define IRQ_ROWS                                                                         \
	"SELECT " TIMELINE_ROW "(s.node, s.cpu, s.kind, s.begin_ns, s.duration_ns, "     \
	"s.inner_ns, s.number, s.cut, s.handler) FROM "

/* Select all spans, or those of a window. The spans of a handler on a processor do not
 * overlap either. */
static const char *const thread_sql[] = {
    THREAD_ROWS "thread_state AS s WHERE" THREAD_FILTER,
    "WITH RECURSIVE " SCOPE_THREADS(
	"thread_state") " " THREAD_ROWS
			"list AS l CROSS JOIN thread_state AS s WHERE " SCOPE_SPANS(
			    "thread_state") "AND" THREAD_FILTER WINDOW_FILTER};

static const char *const irq_sql[] = {
    IRQ_ROWS "irq AS s",
    "WITH RECURSIVE numbers (node, kind, number) AS (SELECT n.id, k.column1,"
    " (SELECT min(i.number) FROM irq AS i WHERE i.node = n.id AND i.kind = k.column1)"
    " FROM node AS n CROSS JOIN (VALUES ('irq'), ('softirq')) AS k"
    " UNION ALL SELECT l.node, l.kind, (SELECT min(i.number) FROM irq AS i WHERE"
    "  i.node = l.node AND i.kind = l.kind AND i.number > l.number)"
    " FROM numbers AS l WHERE l.number IS NOT NULL),"
    "handlers (node, kind, number, handler) AS (SELECT l.node, l.kind, l.number,"
    " (SELECT min(i.handler) FROM irq AS i WHERE i.node = l.node AND i.kind = l.kind AND"
    "  i.number = l.number) FROM numbers AS l WHERE l.number IS NOT NULL"
    " UNION ALL SELECT l.node, l.kind, l.number, (SELECT min(i.handler) FROM irq AS i"
    "  WHERE i.node = l.node AND i.kind = l.kind AND i.number = l.number AND"
    "  i.handler > l.handler) FROM handlers AS l WHERE l.handler IS NOT NULL),"
    "list (node, kind, number, handler, cpu) AS (SELECT l.node, l.kind, l.number,"
    " l.handler, (SELECT min(i.cpu) FROM irq AS i WHERE i.node = l.node AND"
    "  i.kind = l.kind AND i.number = l.number AND i.handler = l.handler)"
    " FROM handlers AS l WHERE l.handler IS NOT NULL"
    " UNION ALL SELECT l.node, l.kind, l.number, l.handler, (SELECT min(i.cpu)"
    "  FROM irq AS i WHERE i.node = l.node AND i.kind = l.kind AND i.number = l.number"
    "  AND i.handler = l.handler AND i.cpu > l.cpu) FROM list AS l"
    " WHERE l.cpu IS NOT NULL ORDER BY 1, 2, 3, 4, 5) " IRQ_ROWS
    "list AS l CROSS JOIN irq AS s WHERE s.node = l.node AND s.kind = l.kind AND"
    " s.number = l.number AND s.handler = l.handler AND s.cpu = l.cpu AND"
    " s.begin_ns >= coalesce((SELECT max(b.begin_ns) FROM irq AS b WHERE"
    "  b.node = l.node AND b.kind = l.kind AND b.number = l.number AND"
    "  b.handler = l.handler AND b.cpu = l.cpu AND b.begin_ns <= ?1), ?1)" WINDOW_FILTER};

/* Every node has a lane, and so has every processor with a recording. */
static const char lane_sql[] =
    "SELECT DISTINCT n.id, coalesce(r.cpu, -1) FROM node AS n LEFT JOIN recorded AS r"
    " ON r.node = n.id AND r.kind = 'cpu' ORDER BY 1, 2";

static size_t find_lane(struct activity *activity, int64_t node, int64_t cpu)
{
	for (size_t i = 0; i < activity->lanes; i++)
		if (activity->lane[i].node == node && activity->lane[i].cpu == cpu)
			return i;
	*MEM_NEXT(activity->lane, activity->lanes, activity->lane_capacity) =
	    (struct activity_lane){
		.node = node,
		.cpu = cpu,
		.cell = activity->cells
			    ? mem_zalloc(activity->cells * sizeof(struct activity_cell))
			    : NULL};
	return activity->lanes - 1;
}

static struct activity_lane *lane_of(struct reading *reading, int64_t node, int64_t cpu)
{
	struct activity *activity = reading->activity;
	const struct activity_lane *last = &activity->lane[reading->lane];

	if (!activity->lanes || last->node != node || last->cpu != cpu)
		reading->lane = find_lane(activity, node, cpu);
	return &activity->lane[reading->lane];
}

static int add_lane(void *context, const struct cell *row, struct error *error)
{
	struct reading *reading = context;

	(void)error;
	if (scope_has_node(&reading->query->scope, row[0].integer))
		find_lane(reading->activity, row[0].integer, row[1].integer);
	return 0;
}

static size_t cell_at(const struct activity *activity, nsec_t at_ns)
{
	size_t cell = (size_t)((at_ns - activity->begin_ns) / activity->cell_ns);

	return cell < activity->cells ? cell : activity->cells - 1;
}

/* Return how much of a span is in a cell. */
static nsec_t part_of(const struct activity *activity, size_t cell, nsec_t begin_ns,
		      nsec_t end_ns)
{
	nsec_t from = activity->begin_ns + (nsec_t)cell * activity->cell_ns;
	nsec_t to = from + activity->cell_ns;

	from = begin_ns > from ? begin_ns : from;
	to = end_ns < to ? end_ns : to;
	return to > from ? to - from : 0;
}

static void count_thread(struct activity_cell *cell, uint32_t thread, nsec_t ns)
{
	cell->busy_ns = nsec_add(cell->busy_ns, ns);
	cell->now_ns = cell->now == thread ? nsec_add(cell->now_ns, ns) : ns;
	cell->now = thread;
	if (cell->now_ns > cell->most_ns) {
		cell->most_ns = cell->now_ns;
		cell->most = thread;
	}
}

static bool is_name(const char *name, const struct cell *cell)
{
	return strlen(name) == cell->size && !memcmp(name, cell->bytes, cell->size);
}

/* The entry of a row's thread: the last one, or a new one. */
static struct activity_thread *thread_of(struct reading *reading, const struct cell *row,
					 nsec_t begin_ns)
{
	struct activity *activity = reading->activity;
	int64_t node = row[0].integer, tid = row[1].integer;
	struct activity_thread *thread =
	    activity->threads ? &activity->thread[activity->threads - 1] : NULL;

	if (thread && thread->node == node && thread->tid == tid &&
	    (row[8].type == CELL_TEXT
		 ? thread->was_named && is_name(thread->name, &row[8])
		 : !thread->was_named))
		return thread;
	thread = MEM_NEXT(activity->thread, activity->threads, activity->thread_capacity);
	*thread =
	    (struct activity_thread){.node = node, .tid = tid, .first_ns = begin_ns};
	thread->rank = SIZE_MAX;
	thread->was_named = row[8].type == CELL_TEXT;
	thread->name =
	    thread->was_named
		? mem_strndup(row[8].bytes, row[8].size)
		: mem_strdup(query_thread_name(reading->query, node, tid, begin_ns));
	return thread;
}

static void count_running(const struct activity *activity, struct activity_thread *thread,
			  nsec_t begin_ns, nsec_t end_ns)
{
	bin_spread(&thread->run, &activity->grid, begin_ns, end_ns);
	if (!thread->busy_ns)
		thread->first_ns = begin_ns;
	thread->busy_ns = nsec_add(thread->busy_ns, end_ns - begin_ns);
	thread->last_ns = end_ns;
}

/* SQLite knows no types of what TIMELINE_ROW hands on, and stores any type in a column.
 * Return 0, or -1 with error if one of these cells is neither an integer nor NULL. */
static int check_integers(const struct reading *reading, const struct cell *row,
			  size_t cells, struct error *error)
{
	for (size_t i = 0; i < cells; i++)
		if (row[i].type != CELL_INTEGER && row[i].type != CELL_NULL)
			return error_set(error,
					 "%s: a span has a value of a wrong "
					 "type; " TIMELINE_MAKE_AGAIN,
					 reading->query->path);
	return 0;
}

/* Return true if some of a span is in the selected time. */
static bool is_selected(const struct activity *activity, const struct cell *row)
{
	return row[3].integer < activity->end_ns &&
	       nsec_add(row[3].integer, row[4].integer) > activity->begin_ns;
}

/* Return true if all of a span is in the selected time and was recorded. */
static bool is_whole(const struct activity *activity, const struct cell *row)
{
	return row[7].type == CELL_INTEGER && !row[7].integer &&
	       row[3].integer >= activity->begin_ns &&
	       nsec_add(row[3].integer, row[4].integer) <= activity->end_ns;
}

static void add_running(struct reading *reading, const struct cell *row)
{
	struct activity *activity = reading->activity;
	nsec_t begin_ns = row[3].integer, end_ns = nsec_add(begin_ns, row[4].integer);
	struct activity_lane *lane;
	bool is_idle = row[1].integer == 0;

	begin_ns = begin_ns > activity->begin_ns ? begin_ns : activity->begin_ns;
	end_ns = end_ns < activity->end_ns ? end_ns : activity->end_ns;
	lane = lane_of(reading, row[0].integer, row[2].integer);
	activity->runs++;
	if (!is_idle)
		count_running(activity, thread_of(reading, row, begin_ns), begin_ns,
			      end_ns);
	for (size_t i = cell_at(activity, begin_ns), last = cell_at(activity, end_ns);
	     i <= last; i++) {
		nsec_t part = part_of(activity, i, begin_ns, end_ns);

		lane->cell[i].known_ns = nsec_add(lane->cell[i].known_ns, part);
		if (!is_idle)
			count_thread(&lane->cell[i], (uint32_t)activity->threads, part);
	}
}

static void count_wait(struct reading *reading, const struct cell *row)
{
	struct activity *activity = reading->activity;
	const nsec_t begin_ns = row[3].integer, took_ns = row[4].integer;
	const uint32_t step = bin_step(&activity->grid, begin_ns);
	struct activity_thread *thread;

	bin_spread(
	    &activity->waiting[scope_place(&reading->query->scope, row[0].integer)],
	    &activity->grid, begin_ns, nsec_add(begin_ns, took_ns));
	if (row[6].type != CELL_INTEGER || row[6].integer || !is_whole(activity, row))
		return;
	thread = thread_of(reading, row, begin_ns);
	thread->waits++;
	thread->wait_ns = nsec_add(thread->wait_ns, took_ns);
	thread->most_wait_ns =
	    took_ns > thread->most_wait_ns ? took_ns : thread->most_wait_ns;
	bin_add(&thread->wait_count, step, 1);
	bin_add(&thread->wait_sum, step, took_ns);
	bin_raise(&thread->wait_most, step, took_ns);
}

static int add_span(void *context, const struct cell *row, struct error *error)
{
	struct reading *reading = context;

	if (check_integers(reading, row, 8, error))
		return -1;
	if (!is_selected(reading->activity, row) ||
	    !scope_has_node(&reading->query->scope, row[0].integer))
		return 0;
	if (row[5].integer == 1 && row[2].type == CELL_INTEGER)
		add_running(reading, row);
	else if (row[5].integer == 0)
		count_wait(reading, row);
	return 0;
}

/* Count an interrupt for its handler. Rows are sorted by node, kind, number and name. */
static void count_handler(struct reading *reading, const struct cell *row, bool is_soft)
{
	struct activity *activity = reading->activity;
	const nsec_t took_ns = row[4].integer;
	struct activity_handler *handler =
	    activity->handlers ? &activity->handler[activity->handlers - 1] : NULL;
	const struct cell name = row[8].type == CELL_TEXT ? row[8] : cell_of_text("");

	if (!handler || handler->node != row[0].integer || handler->is_soft != is_soft ||
	    handler->number != row[6].integer || !is_name(handler->name, &name)) {
		handler = MEM_NEXT(activity->handler, activity->handlers,
				   activity->handler_capacity);
		*handler =
		    (struct activity_handler){.node = row[0].integer,
					      .is_soft = is_soft,
					      .number = row[6].integer,
					      .name = mem_strndup(name.bytes, name.size)};
		reading->handler = bin_tables_row(
		    reading->bins, "interrupts",
		    (const struct cell[]){row[0], cell_of_integer(handler->is_soft),
					  row[6], cell_of_text(handler->name)});
	}
	if (!is_whole(activity, row))
		return;
	bin_row_count(reading->handler, &activity->grid, row[3].integer, took_ns);
	handler->count++;
	handler->sum_ns = nsec_add(handler->sum_ns, took_ns);
	handler->most_ns = took_ns > handler->most_ns ? took_ns : handler->most_ns;
}

/* Add an interrupt. Time in which another one interrupted it counts only for that one,
 * and is subtracted evenly over the whole of it. */
static int add_irq(void *context, const struct cell *row, struct error *error)
{
	struct reading *reading = context;
	struct activity *activity = reading->activity;
	nsec_t begin_ns = row[3].integer, took_ns = row[4].integer;
	nsec_t end_ns = nsec_add(begin_ns, took_ns);
	double own = took_ns > 0 ? 1 - (double)row[5].integer / (double)took_ns : 1;
	const bool is_soft = is_name("softirq", &row[2]);
	struct activity_lane *lane;

	if (check_integers(reading, row, 2, error) ||
	    check_integers(reading, &row[3], 5, error))
		return -1;
	own = fmin(fmax(own, 0), 1);
	if (!is_selected(activity, row) ||
	    !scope_has_node(&reading->query->scope, row[0].integer))
		return 0;
	lane = lane_of(reading, row[0].integer, row[1].integer);
	activity->irqs++;
	count_handler(reading, row, is_soft);
	begin_ns = begin_ns > activity->begin_ns ? begin_ns : activity->begin_ns;
	end_ns = end_ns < activity->end_ns ? end_ns : activity->end_ns;
	for (size_t i = cell_at(activity, begin_ns), last = cell_at(activity, end_ns);
	     i <= last; i++) {
		nsec_t part =
		    (nsec_t)((double)part_of(activity, i, begin_ns, end_ns) * own);

		nsec_t *sum = is_soft ? &lane->cell[i].softirq_ns : &lane->cell[i].irq_ns;

		*sum = nsec_add(*sum, part);
	}
	return 0;
}

static int scan_spans(struct reading *reading, const char *const *sql,
		      timeline_row_fn *take, struct error *error)
{
	const struct cell span[] = {cell_of_integer(reading->activity->begin_ns),
				    cell_of_integer(reading->activity->end_ns)};
	struct timeline_query *rows = timeline_query_new(
	    reading->query->reader, sql[scope_is_window(&reading->query->scope)], error);
	int status = rows && !timeline_query_ask(rows, span,
						 timeline_query_parameters(rows), error)
			 ? timeline_query_each(rows, take, reading, error)
			 : -1;

	timeline_query_free(rows);
	return status;
}

static int compare_lanes(const void *a, const void *b)
{
	const struct activity_lane *x = a, *y = b;

	return COMPARE(x->node, y->node) ?: COMPARE(x->cpu, y->cpu);
}

/* Choose the number of cells of a lane: the more lanes, the fewer cells. */
static void set_cells(struct activity *activity)
{
	nsec_t span = activity->end_ns - activity->begin_ns;
	size_t cells = ALL_CELLS / (activity->lanes ? activity->lanes : 1), steps;

	cells = cells < FEWEST_CELLS ? FEWEST_CELLS : cells;
	cells = cells > MOST_CELLS ? MOST_CELLS : cells;
	cells = (nsec_t)cells > span ? (size_t)span : cells;
	steps = ALL_STEPS / (activity->lanes ? activity->lanes : 1);
	steps = steps < FEWEST_STEPS ? FEWEST_STEPS
		: steps > MOST_STEPS ? MOST_STEPS
				     : steps;
	steps = steps < cells ? steps : cells;
	activity->cell_ns = (span + (nsec_t)cells - 1) / (nsec_t)cells;
	activity->cells = (size_t)((span + activity->cell_ns - 1) / activity->cell_ns);
	activity->grid.begin_ns = activity->begin_ns;
	activity->grid.end_ns = activity->end_ns;
	activity->grid.step_ns = (nsec_t)(cells / steps) * activity->cell_ns;
	activity->grid.steps =
	    (size_t)((span + activity->grid.step_ns - 1) / activity->grid.step_ns);
	for (size_t i = 0; i < activity->lanes; i++)
		activity->lane[i].cell =
		    mem_zalloc(activity->cells * sizeof(struct activity_cell));
}

int activity_begin(struct activity *activity, struct query *query, struct error *error)
{
	struct reading reading = {.activity = activity, .query = query};
	const struct scope *scope = &query->scope;

	activity->begin_ns = scope->begin_ns;
	activity->end_ns =
	    scope->end_ns > scope->begin_ns ? scope->end_ns : scope->begin_ns + 1;
	if (query_rows(query->reader, lane_sql, NULL, add_lane, &reading, error))
		return -1;
	set_cells(activity);
	activity->waiting = mem_zalloc((scope->nodes + 1) * sizeof(*activity->waiting));
	return 0;
}

int activity_read(struct activity *activity, struct bin_tables *bins, struct query *query,
		  struct error *error)
{
	struct reading reading = {.activity = activity, .query = query, .bins = bins};

	if (scan_spans(&reading, thread_sql, add_span, error) ||
	    scan_spans(&reading, irq_sql, add_irq, error))
		return -1;
	SORT(activity->lane, activity->lanes, compare_lanes);
	return 0;
}

enum { THREAD_TEXTS = 4 };

struct giving {
	const struct activity *activity;
	size_t at;
	char *text[THREAD_TEXTS]; /* the current thread's strings */
};

static int set_integers(struct cell *row, const int64_t *value, size_t count)
{
	for (size_t i = 0; i < count; i++)
		row[i] = cell_of_integer(value[i]);
	return 1;
}

/* Return the longest time in which the processor was busy for 98 % of every second. */
static nsec_t longest_full(const struct activity *activity,
			   const struct activity_lane *lane)
{
	size_t step = (size_t)(NSEC_PER_SEC / activity->cell_ns);
	nsec_t full_ns = 0, longest_ns = 0;

	step = step ? step : 1;
	for (size_t at = 0; at < activity->cells; at += step) {
		nsec_t known_ns = 0, busy_ns = 0;

		for (size_t i = at; i < at + step && i < activity->cells; i++) {
			known_ns = nsec_add(known_ns, lane->cell[i].known_ns);
			busy_ns = nsec_add(busy_ns, lane->cell[i].busy_ns);
		}
		full_ns = known_ns && busy_ns >= known_ns - known_ns / 50
			      ? nsec_add(full_ns, known_ns)
			      : 0;
		longest_ns = full_ns > longest_ns ? full_ns : longest_ns;
	}
	return longest_ns;
}

static int give_lane(void *context, struct cell *row, struct error *error)
{
	struct giving *giving = context;
	const struct activity_lane *lane = &giving->activity->lane[giving->at];
	nsec_t known_ns = 0, busy_ns = 0, irq_ns = 0, softirq_ns = 0;

	(void)error;
	if (giving->at++ == giving->activity->lanes)
		return 0;
	for (size_t i = 0; i < giving->activity->cells; i++) {
		known_ns = nsec_add(known_ns, lane->cell[i].known_ns);
		busy_ns = nsec_add(busy_ns, lane->cell[i].busy_ns);
		irq_ns = nsec_add(irq_ns, lane->cell[i].irq_ns);
		softirq_ns = nsec_add(softirq_ns, lane->cell[i].softirq_ns);
	}
	return set_integers(row,
			    (const int64_t[]){lane->node, lane->cpu, known_ns, busy_ns,
					      irq_ns, softirq_ns,
					      longest_full(giving->activity, lane)},
			    7);
}

static int give_thread(void *context, struct cell *row, struct error *error)
{
	struct giving *giving = context;
	const struct activity *activity = giving->activity;
	struct activity_thread *thread = &activity->thread[giving->at];

	(void)error;
	for (size_t i = 0; i < THREAD_TEXTS; i++)
		free(giving->text[i]);
	memset(giving->text, 0, sizeof(giving->text));
	if (giving->at++ == activity->threads)
		return 0;
	giving->text[0] = bin_text(&thread->run, false);
	giving->text[1] = bin_text(&thread->wait_count, false);
	giving->text[2] = bin_text(&thread->wait_sum, false);
	giving->text[3] = bin_text(&thread->wait_most, true);
	row[8] = cell_of_text(thread->name);
	for (size_t i = 0; i < THREAD_TEXTS; i++)
		row[9 + i] = cell_of_text(giving->text[i]);
	return set_integers(row,
			    (const int64_t[]){thread->node, thread->tid, thread->first_ns,
					      thread->last_ns, thread->busy_ns,
					      thread->waits, thread->wait_ns,
					      thread->most_wait_ns},
			    8);
}

static int give_handler(void *context, struct cell *row, struct error *error)
{
	struct giving *giving = context;
	const struct activity_handler *handler = &giving->activity->handler[giving->at];

	(void)error;
	if (giving->at++ == giving->activity->handlers)
		return 0;
	row[6] = cell_of_text(handler->name);
	return set_integers(row,
			    (const int64_t[]){handler->node, handler->is_soft,
					      handler->number, handler->count,
					      handler->sum_ns, handler->most_ns},
			    6);
}

/* The activity of a processor in a step. */
static int give_step(void *context, struct cell *row, struct error *error)
{
	struct giving *giving = context;
	const struct activity *activity = giving->activity;
	const size_t step = giving->at % activity->grid.steps;
	const size_t width = (size_t)(activity->grid.step_ns / activity->cell_ns);
	const struct activity_lane *lane;
	nsec_t sum[4] = {0};

	(void)error;
	if (giving->at == activity->lanes * activity->grid.steps)
		return 0;
	lane = &activity->lane[giving->at++ / activity->grid.steps];
	for (size_t i = step * width; i < (step + 1) * width && i < activity->cells;
	     i++) {
		sum[0] = nsec_add(sum[0], lane->cell[i].known_ns);
		sum[1] = nsec_add(sum[1], lane->cell[i].busy_ns);
		sum[2] = nsec_add(sum[2], lane->cell[i].irq_ns);
		sum[3] = nsec_add(sum[3], lane->cell[i].softirq_ns);
	}
	return set_integers(row,
			    (const int64_t[]){lane->node, lane->cpu, (int64_t)step,
					      sum[0], sum[1], sum[2], sum[3]},
			    7);
}

/* A thread's running in a step. */
struct run_cursor {
	const struct activity *activity;
	size_t thread, bin;
};

static int give_run(void *context, struct cell *row, struct error *error)
{
	struct run_cursor *cursor = context;
	const struct activity *activity = cursor->activity;
	const struct activity_thread *thread;

	(void)error;
	while (cursor->thread < activity->threads &&
	       cursor->bin == activity->thread[cursor->thread].run.count) {
		cursor->thread++;
		cursor->bin = 0;
	}
	if (cursor->thread == activity->threads)
		return 0;
	thread = &activity->thread[cursor->thread];
	row[0] = cell_of_integer(thread->node);
	row[1] = cell_of_text(thread->name);
	row[2] = cell_of_integer(thread->run.item[cursor->bin].step);
	row[3] = cell_of_integer(thread->run.item[cursor->bin].value);
	cursor->bin++;
	return 1;
}

static int keep_steps(const struct activity *activity, struct timeline_reader *reader,
		      struct error *error)
{
	struct giving steps = {activity, 0, {NULL}};
	struct run_cursor runs = {.activity = activity};

	return timeline_reader_keep_rows(reader,
					 "page_step (node, cpu, step, known_ns, busy_ns, "
					 "irq_ns, softirq_ns)",
					 7, give_step, &steps, error) ||
		       timeline_reader_keep_rows(reader,
						 "page_run (node, comm, step, run_ns)", 4,
						 give_run, &runs, error)
		   ? -1
		   : 0;
}

int activity_keep(const struct activity *activity, struct timeline_reader *reader,
		  struct error *error)
{
	struct giving lanes = {activity, 0, {NULL}}, threads = lanes, handlers = lanes;

	return timeline_reader_keep_rows(reader,
					 "page_lane (node, cpu, known_ns, busy_ns, "
					 "irq_ns, softirq_ns, full_ns)",
					 7, give_lane, &lanes, error) ||
		       timeline_reader_keep_rows(
			   reader,
			   "page_thread (node, tid, first_ns, last_ns, busy_ns, waits, "
			   "wait_ns, most_wait_ns, comm, run, wait_count, wait_sum, "
			   "wait_most)",
			   13, give_thread, &threads, error) ||
		       timeline_reader_keep_rows(
			   reader,
			   "page_handler (node, soft, number, count, sum_ns, max_ns, "
			   "handler)",
			   7, give_handler, &handlers, error) ||
		       keep_steps(activity, reader, error)
		   ? -1
		   : 0;
}

void activity_clear(struct activity *activity, const struct scope *scope)
{
	for (size_t i = 0; activity->waiting && i < scope->nodes; i++)
		bin_clear(&activity->waiting[i]);
	free(activity->waiting);
	for (size_t i = 0; i < activity->lanes; i++)
		free(activity->lane[i].cell);
	for (size_t i = 0; i < activity->threads; i++) {
		free(activity->thread[i].name);
		bin_clear(&activity->thread[i].run);
		bin_clear(&activity->thread[i].wait_count);
		bin_clear(&activity->thread[i].wait_sum);
		bin_clear(&activity->thread[i].wait_most);
	}
	for (size_t i = 0; i < activity->handlers; i++)
		free(activity->handler[i].name);
	free(activity->handler);
	free(activity->lane);
	free(activity->thread);
}
