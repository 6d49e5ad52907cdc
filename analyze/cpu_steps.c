/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/cpu_steps.h"

#include <stdlib.h>

#include "base/mem.h"

int cpu_steps_init(struct cpu_steps *steps, const struct question *question,
		   struct error *error)
{
	nsec_t span = nsec_sub(question->scope.end_ns, question->scope.begin_ns);
	nsec_t step = question->request->interval_ns;

	*steps = (struct cpu_steps){.question = question};
	if (!step)
		return 0;
	if (span / step >= CPU_STEPS_MOST)
		return error_set(error,
				 "--interval: %lld steps in the time asked for, want at "
				 "most %d",
				 (long long)(span / step + 1), CPU_STEPS_MOST);
	steps->steps = (size_t)(span / step) + 1;
	return 0;
}

static struct cpu_row *row_of(struct cpu_steps *steps, int64_t node, int64_t cpu)
{
	struct cpu_row *row;

	for (size_t i = 0; i < steps->rows; i++)
		if (steps->row[i].node == node && steps->row[i].cpu == cpu)
			return &steps->row[i];
	steps->row = mem_grow(steps->row, steps->rows, &steps->room, sizeof(*steps->row));
	row = &steps->row[steps->rows++];
	row->node = node;
	row->cpu = cpu;
	row->busy_ns = mem_zalloc(steps->steps * sizeof(*row->busy_ns));
	row->idle_ns = mem_zalloc(steps->steps * sizeof(*row->idle_ns));
	row->known_ns = mem_zalloc(steps->steps * sizeof(*row->known_ns));
	return row;
}

void cpu_steps_add(struct cpu_steps *steps, const struct thread_span *span, bool is_use)
{
	struct cpu_row *row = row_of(steps, span->node, span->cpu);
	nsec_t origin = steps->question->scope.begin_ns;
	nsec_t step_ns = steps->question->request->interval_ns;
	nsec_t *sum = span->tid == 0 ? row->idle_ns : is_use ? row->busy_ns : NULL;

	for (nsec_t at = span->begin_ns; at < span->end_ns;) {
		size_t step = (size_t)((at - origin) / step_ns);
		nsec_t next = origin + (nsec_t)(step + 1) * step_ns;

		if (next > span->end_ns)
			next = span->end_ns;
		if (step < steps->steps) {
			row->known_ns[step] += next - at;
			if (sum)
				sum[step] = nsec_add(sum[step], next - at);
		}
		at = next;
	}
}

static int compare(const void *a, const void *b)
{
	const struct cpu_row *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

void cpu_steps_print(struct cpu_steps *steps, struct result *result)
{
	static const struct result_column columns[] = {
	    {"begin_ns", "BEGIN", UNIT_INSTANT},
	    {"node", "NODE", UNIT_TEXT},
	    {"cpu", "CPU", UNIT_ID},
	    {"busy_ns", "BUSY", UNIT_SPAN},
	    {"idle_ns", "IDLE", UNIT_SPAN},
	    {"busy_percent", "BUSY %", UNIT_PERCENT},
	    {NULL, NULL, 0},
	};
	struct result_table *table =
	    result_table_new(result, "intervals", "Over time", columns);
	nsec_t step_ns = steps->question->request->interval_ns;

	if (steps->rows)
		qsort(steps->row, steps->rows, sizeof(*steps->row), compare);
	for (size_t step = 0; step < steps->steps; step++)
		for (size_t i = 0; i < steps->rows; i++) {
			const struct cpu_row *row = &steps->row[i];
			nsec_t begin =
			    steps->question->scope.begin_ns + (nsec_t)step * step_ns;
			nsec_t known = row->known_ns[step];

			result_add(
			    table,
			    (struct cell[]){
				cell_of_integer(begin),
				cell_of_text(question_node(steps->question, row->node)),
				cell_of_integer(row->cpu),
				known ? cell_of_integer(row->busy_ns[step])
				      : cell_of_null(),
				known ? cell_of_integer(row->idle_ns[step])
				      : cell_of_null(),
				known ? cell_of_real(100.0 * (double)row->busy_ns[step] /
						     (double)known)
				      : cell_of_null()});
		}
}

void cpu_steps_clear(struct cpu_steps *steps)
{
	for (size_t i = 0; i < steps->rows; i++) {
		free(steps->row[i].busy_ns);
		free(steps->row[i].idle_ns);
		free(steps->row[i].known_ns);
	}
	free(steps->row);
	*steps = (struct cpu_steps){0};
}
