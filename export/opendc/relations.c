/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/mem.h"
#include "export/opendc/check.h"

enum { BY_CHILD, BY_PARENT };

void opendc_check_list(struct opendc_check *check, int64_t task, int which,
		       const struct parquet_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		int64_t other = list->cell[i].type == CELL_NULL
				    ? OPENDC_NO_ID
				    : opendc_ids_find(&check->ids, &list->cell[i]);
		char *own = opendc_ids_text(&check->ids, task);
		char *name = opendc_id_text(&list->cell[i]);

		if (other < 0) {
			report_add(&check->report, REPORT_ERROR, "relation",
				   "task %s has the %s %s, which is no task", own,
				   which == BY_CHILD ? "parent" : "child", name);
		} else {
			check->relation[which] = mem_grow(
			    check->relation[which], check->relations[which],
			    &check->relation_room[which], sizeof(**check->relation));
			check->relation[which][check->relations[which]++] =
			    which == BY_CHILD ? (struct opendc_relation){(uint32_t)other,
									 (uint32_t)task}
					      : (struct opendc_relation){(uint32_t)task,
									 (uint32_t)other};
		}
		free(own);
		free(name);
	}
}

static int compare(const void *a, const void *b)
{
	const struct opendc_relation *one = a, *other = b;

	if (one->parent != other->parent)
		return one->parent < other->parent ? -1 : 1;
	return one->child < other->child ? -1 : one->child > other->child;
}

static void tell_one_sided(struct opendc_check *check, int which,
			   const struct opendc_relation *relation)
{
	char *parent = opendc_ids_text(&check->ids, relation->parent);
	char *child = opendc_ids_text(&check->ids, relation->child);

	if (which == BY_CHILD)
		report_add(&check->report, REPORT_ERROR, "symmetry",
			   "task %s has the parent %s, which has no such child", child,
			   parent);
	else
		report_add(&check->report, REPORT_ERROR, "symmetry",
			   "task %s has the child %s, which has no such parent", parent,
			   child);
	free(parent);
	free(child);
}

/* Both lists are sorted: what is in one only stands out. */
static void check_symmetry(struct opendc_check *check)
{
	size_t at[2] = {0, 0};

	while (at[0] < check->relations[0] || at[1] < check->relations[1]) {
		const struct opendc_relation *one = check->relation[0] + at[0];
		const struct opendc_relation *other = check->relation[1] + at[1];
		int order = at[0] == check->relations[0]   ? 1
			    : at[1] == check->relations[1] ? -1
							   : compare(one, other);

		if (order < 0)
			tell_one_sided(check, BY_CHILD, one);
		else if (order > 0)
			tell_one_sided(check, BY_PARENT, other);
		at[0] += order <= 0;
		at[1] += order >= 0;
	}
}

/* Take away tasks that wait for nobody, again and again: what stays is in a circle, or
 * waits for one (Kahn 1962). */
static void check_circles(struct opendc_check *check,
			  const struct opendc_relation *relation, size_t count)
{
	size_t *waits = mem_zalloc((check->tasks + 1) * sizeof(*waits));
	size_t *first = mem_zalloc((check->tasks + 2) * sizeof(*first));
	uint32_t *ready = mem_zalloc((check->tasks + 1) * sizeof(*ready));
	size_t head = 0, tail = 0;

	for (size_t i = 0; i < count; i++) {
		waits[relation[i].child]++;
		first[relation[i].parent + 1]++;
	}
	for (size_t i = 0; i < check->tasks; i++) {
		first[i + 1] += first[i];
		if (!waits[i])
			ready[tail++] = (uint32_t)i;
	}
	while (head < tail) {
		size_t parent = ready[head++];

		for (size_t i = first[parent]; i < first[parent + 1]; i++)
			if (!--waits[relation[i].child])
				ready[tail++] = relation[i].child;
	}
	for (size_t i = 0; tail < check->tasks && i < check->tasks; i++)
		if (waits[i]) {
			char *name = opendc_ids_text(&check->ids, (int64_t)i);

			report_add(&check->report, REPORT_ERROR, "circle",
				   "task %s is its own ancestor, or waits for one that "
				   "is",
				   name);
			free(name);
		}
	free(waits);
	free(first);
	free(ready);
}

void opendc_check_relations(struct opendc_check *check)
{
	int which = check->told[BY_CHILD] ? BY_CHILD : BY_PARENT;

	for (int i = 0; i < 2; i++)
		if (check->relations[i])
			qsort(check->relation[i], check->relations[i],
			      sizeof(**check->relation), compare);
	if (check->told[0] && check->told[1])
		check_symmetry(check);
	else if (check->relations[which])
		report_add(&check->report, REPORT_WARNING, "symmetry",
			   "there are %s only, so it cannot be seen whether both sides "
			   "agree",
			   which == BY_CHILD ? "parents" : "children");
	check_circles(check, check->relation[which], check->relations[which]);
}
