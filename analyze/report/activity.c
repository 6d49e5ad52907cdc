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
 * times are compared here, as SQLite takes twice as long for it. The last column is
 * an enum span_kind: of most rows, the columns at their end are not looked for. */
enum span_kind { PART_OF_WAIT, WHOLE_WAIT, RUNNING };

#define THREAD_ROWS                                                                      \
	"SELECT " TIMELINE_ROW "(s.node, s.tid, s.cpu, s.begin_ns, s.duration_ns, "      \
	"s.comm, CASE s.state_code WHEN 1 THEN 2 WHEN 0 THEN s.preempted IS 0 AND "      \
	"s.cut = 0 END) FROM "
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
			    "thread_state", "?1") "AND" THREAD_FILTER WINDOW_FILTER};

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
	    (row[5].type == CELL_TEXT
		 ? thread->was_named && is_name(thread->name, &row[5])
		 : !thread->was_named))
		return thread;
	thread = MEM_NEXT(activity->thread, activity->threads, activity->thread_capacity);
	*thread =
	    (struct activity_thread){.node = node, .tid = tid, .first_ns = begin_ns};
	thread->rank = SIZE_MAX;
	thread->was_named = row[5].type == CELL_TEXT;
	thread->name =
	    thread->was_named
		? mem_strndup(row[5].bytes, row[5].size)
		: mem_strdup(query_last_name(reading->query, node, tid, begin_ns));
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

/* Return true if all of a span is in the selected time. */
static bool is_inside(const struct activity *activity, const struct cell *row)
{
	return row[3].integer >= activity->begin_ns &&
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
	if (row[6].integer != WHOLE_WAIT || !is_inside(activity, row))
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

	if (check_integers(reading, row, 5, error))
		return -1;
	if (!is_selected(reading->activity, row) ||
	    !scope_has_node(&reading->query->scope, row[0].integer))
		return 0;
	if (row[6].type != CELL_INTEGER)
		return 0;
	if (row[6].integer != RUNNING)
		count_wait(reading, row);
	else if (row[2].type == CELL_INTEGER)
		add_running(reading, row);
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
	if (row[7].type != CELL_INTEGER || row[7].integer || !is_inside(activity, row))
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
		      timeline_row_fn *on_row, struct error *error)
{
	const struct cell span[] = {cell_of_integer(reading->activity->begin_ns),
				    cell_of_integer(reading->activity->end_ns)};
	const struct query *query = reading->query;

	return query_each(query->reader, sql[scope_is_window(&query->scope)], span,
			  on_row, reading, error);
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

/* Add up the cells from `at` up to `end`. */
static struct activity_cell sum_cells(const struct activity *activity,
				      const struct activity_lane *lane, size_t at,
				      size_t end)
{
	struct activity_cell sum = {0};

	for (; at < end && at < activity->cells; at++) {
		const struct activity_cell *cell = &lane->cell[at];

		sum.known_ns = nsec_add(sum.known_ns, cell->known_ns);
		sum.busy_ns = nsec_add(sum.busy_ns, cell->busy_ns);
		sum.irq_ns = nsec_add(sum.irq_ns, cell->irq_ns);
		sum.softirq_ns = nsec_add(sum.softirq_ns, cell->softirq_ns);
	}
	return sum;
}

/* Return the longest time in which the processor was busy for 98 % of every second. */
static nsec_t longest_full(const struct activity *activity,
			   const struct activity_lane *lane)
{
	size_t step = (size_t)(NSEC_PER_SEC / activity->cell_ns);
	nsec_t full_ns = 0, longest_ns = 0;

	step = step ? step : 1;
	for (size_t at = 0; at < activity->cells; at += step) {
		const struct activity_cell sum = sum_cells(activity, lane, at, at + step);
		const bool is_full =
		    sum.known_ns && sum.busy_ns >= sum.known_ns - sum.known_ns / 50;

		full_ns = is_full ? nsec_add(full_ns, sum.known_ns) : 0;
		longest_ns = full_ns > longest_ns ? full_ns : longest_ns;
	}
	return longest_ns;
}

static int keep_lanes(const struct activity *activity, struct timeline_reader *reader,
		      struct error *error)
{
	struct timeline_rows *rows = timeline_rows_begin(
	    reader,
	    "page_lane (node, cpu, known_ns, busy_ns, irq_ns, softirq_ns, full_ns)", 7,
	    error);

	for (size_t i = 0; i < activity->lanes; i++) {
		const struct activity_lane *lane = &activity->lane[i];
		const struct activity_cell sum = sum_cells(activity, lane, 0, SIZE_MAX);

		timeline_rows_add(
		    rows,
		    (const struct cell[]){
			cell_of_integer(lane->node), cell_of_integer(lane->cpu),
			cell_of_integer(sum.known_ns), cell_of_integer(sum.busy_ns),
			cell_of_integer(sum.irq_ns), cell_of_integer(sum.softirq_ns),
			cell_of_integer(longest_full(activity, lane))});
	}
	return timeline_rows_end(rows);
}

static int keep_threads(const struct activity *activity, struct timeline_reader *reader,
			struct error *error)
{
	struct timeline_rows *rows = timeline_rows_begin(
	    reader,
	    "page_thread (node, tid, first_ns, last_ns, busy_ns, waits, wait_ns, "
	    "most_wait_ns, comm, run, wait_count, wait_sum, wait_most)",
	    13, error);

	for (size_t i = 0; i < activity->threads; i++) {
		const struct activity_thread *thread = &activity->thread[i];
		AUTOFREE char *run = bin_text(&thread->run, false);
		AUTOFREE char *count = bin_text(&thread->wait_count, false);
		AUTOFREE char *sum = bin_text(&thread->wait_sum, false);
		AUTOFREE char *most = bin_text(&thread->wait_most, true);

		timeline_rows_add(
		    rows,
		    (const struct cell[]){
			cell_of_integer(thread->node), cell_of_integer(thread->tid),
			cell_of_integer(thread->first_ns),
			cell_of_integer(thread->last_ns),
			cell_of_integer(thread->busy_ns), cell_of_integer(thread->waits),
			cell_of_integer(thread->wait_ns),
			cell_of_integer(thread->most_wait_ns), cell_of_text(thread->name),
			cell_of_text(run), cell_of_text(count), cell_of_text(sum),
			cell_of_text(most)});
	}
	return timeline_rows_end(rows);
}

static int keep_handlers(const struct activity *activity, struct timeline_reader *reader,
			 struct error *error)
{
	struct timeline_rows *rows = timeline_rows_begin(
	    reader, "page_handler (node, soft, number, count, sum_ns, max_ns, handler)",
	    7, error);

	for (size_t i = 0; i < activity->handlers; i++) {
		const struct activity_handler *handler = &activity->handler[i];

		timeline_rows_add(
		    rows, (const struct cell[]){cell_of_integer(handler->node),
						cell_of_integer(handler->is_soft),
						cell_of_integer(handler->number),
						cell_of_integer((int64_t)handler->count),
						cell_of_integer(handler->sum_ns),
						cell_of_integer(handler->most_ns),
						cell_of_text(handler->name)});
	}
	return timeline_rows_end(rows);
}

/* Store the activity of each processor in each step. */
static int keep_steps(const struct activity *activity, struct timeline_reader *reader,
		      struct error *error)
{
	const size_t width = (size_t)(activity->grid.step_ns / activity->cell_ns);
	struct timeline_rows *rows = timeline_rows_begin(
	    reader, "page_step (node, cpu, step, known_ns, busy_ns, irq_ns, softirq_ns)",
	    7, error);

	for (size_t i = 0; i < activity->lanes; i++)
		for (size_t step = 0; step < activity->grid.steps; step++) {
			const struct activity_lane *lane = &activity->lane[i];
			const struct activity_cell sum =
			    sum_cells(activity, lane, step * width, (step + 1) * width);

			timeline_rows_add(
			    rows, (const struct cell[]){cell_of_integer(lane->node),
							cell_of_integer(lane->cpu),
							cell_of_integer((int64_t)step),
							cell_of_integer(sum.known_ns),
							cell_of_integer(sum.busy_ns),
							cell_of_integer(sum.irq_ns),
							cell_of_integer(sum.softirq_ns)});
		}
	return timeline_rows_end(rows);
}

/* Store the time that each thread ran in each step. */
static int keep_runs(const struct activity *activity, struct timeline_reader *reader,
		     struct error *error)
{
	struct timeline_rows *rows =
	    timeline_rows_begin(reader, "page_run (node, comm, step, run_ns)", 4, error);

	for (size_t i = 0; i < activity->threads; i++) {
		const struct activity_thread *thread = &activity->thread[i];

		for (size_t k = 0; k < thread->run.count; k++)
			timeline_rows_add(
			    rows,
			    (const struct cell[]){
				cell_of_integer(thread->node), cell_of_text(thread->name),
				cell_of_integer(thread->run.item[k].step),
				cell_of_integer(thread->run.item[k].value)});
	}
	return timeline_rows_end(rows);
}

int activity_keep(const struct activity *activity, struct timeline_reader *reader,
		  struct error *error)
{
	return keep_lanes(activity, reader, error) ||
		       keep_threads(activity, reader, error) ||
		       keep_handlers(activity, reader, error) ||
		       keep_steps(activity, reader, error) ||
		       keep_runs(activity, reader, error)
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
