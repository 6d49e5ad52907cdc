/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sim-unseen STRAIGHT EVENTS: of two simulated runs of the same messages, without and
 * with steps and slews of the clocks. Exit status 0 if clocks that were never set, each
 * off by a constant and at a constant rate within the drift limit, could have stamped all
 * messages of the second, with none received before it is sent.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/options.h"
#include "message_file.h"
#include "recorded.h"
#include "sync/fit/lp.h"
#include "sync/pair/hull.h"

#define LIMIT    200e-6 /* ctsync's default drift limit */
#define LEAST_NS 4      /* time that a message takes at least; for rounding */

/* Offsets and changes by rates in half of the run are in units of this, for the LP. */
#define UNIT_NS 1e5

struct stamped {
	struct message_row row; /* names are of the truth */
	size_t from, to;        /* nodes */
};

struct stamped_list {
	const struct truth *truth;
	struct stamped *item;
	size_t count, capacity;
	bool is_unknown; /* some node has no truth */
};

static void add_row(void *own, const struct message_row *row)
{
	struct stamped_list *list = own;
	const struct truth *truth = list->truth;
	const struct truth_node *from =
	    truth_find(truth, row->send_node, strlen(row->send_node));
	const struct truth_node *to =
	    truth_find(truth, row->recv_node, strlen(row->recv_node));

	if (!from || !to) {
		list->is_unknown = true;
		return;
	}
	*MEM_NEXT(list->item, list->count, list->capacity) =
	    (struct stamped){{from->name, to->name, row->send_ns, row->recv_ns},
			     (size_t)(from - truth->node),
			     (size_t)(to - truth->node)};
}

static int read_rows(struct stamped_list *list, const char *run, const char *file,
		     struct error *error)
{
	char *path = mem_printf("%s/%s", run, file);
	int status = message_file_read(path, add_row, list, error);

	free(path);
	if (!status && list->is_unknown)
		status = error_set(error, "%s: %s: a node without truth", run, file);
	return status;
}

static int by_stamps(const void *a, const void *b)
{
	const struct stamped *p = a, *q = b;

	if (p->row.send_ns != q->row.send_ns)
		return p->row.send_ns < q->row.send_ns ? -1 : 1;
	if (p->row.recv_ns != q->row.recv_ns)
		return p->row.recv_ns < q->row.recv_ns ? -1 : 1;
	if (p->from != q->from)
		return p->from < q->from ? -1 : 1;
	return (p->to > q->to) - (p->to < q->to);
}

/* By pair of nodes: how long messages take by the clocks that were never set. */
static int make_hulls(const struct truth *truth, const struct stamped_list *was,
		      const struct stamped_list *is, const struct stamped_list *wrong,
		      struct hull *hulls, struct error *error)
{
	if (was->count != is->count)
		return error_set(error, "the runs do not have the same messages");
	for (size_t i = 0; i < is->count; i++) {
		const struct stamped *a = &was->item[i], *b = &is->item[i];
		nsec_t sent, travel;

		if (a->from != b->from || a->to != b->to)
			return error_set(error, "the runs' messages differ");
		if (wrong->count && bsearch(b, wrong->item, wrong->count,
					    sizeof(*wrong->item), by_stamps))
			continue;
		sent =
		    truth_to_host(&truth->node[a->from], TRUTH_CAPTURE, a->row.send_ns);
		travel =
		    truth_to_host(&truth->node[a->to], TRUTH_CAPTURE, a->row.recv_ns) -
		    sent + (b->row.recv_ns - a->row.recv_ns) -
		    (b->row.send_ns - a->row.send_ns) - LEAST_NS;
		hull_add(&hulls[a->from * truth->nodes + a->to], sent, sent + travel);
	}
	return 0;
}

static double true_rate(const struct truth_node *node)
{
	const struct truth_row *first = node->row, *last = &node->row[node->rows - 1];
	double passed = (double)(last->host_ns - first->host_ns);

	return ((double)(last->local_ns[TRUTH_CAPTURE] - first->local_ns[TRUTH_CAPTURE]) -
		passed) /
	       passed;
}

/* A column of the LP for each node's offset, one for its rate; the last is the slack. */
static void add_corners(struct lp *lp, const struct truth *truth, struct hull *hulls,
			const nsec_t span[2])
{
	double half = (double)(span[1] - span[0]) / 2;
	size_t n = truth->nodes;

	for (size_t k = 0; k < n * n; k++) {
		size_t from = k / n, to = k % n;

		hull_settle(&hulls[k]);
		for (size_t i = 0; i < hulls[k].count; i++) {
			struct hull_point p = hulls[k].point[i];
			double at = (double)(p.x - span[0]) / half - 1;
			const struct lp_term term[] = {{to, 1},
						       {from, -1},
						       {n + to, at},
						       {n + from, -at},
						       {2 * n, -1}};

			lp_row(lp, term, 5, -(double)(p.y - p.x) / UNIT_NS);
		}
	}
}

static bool is_unseen(const struct truth *truth, struct hull *hulls)
{
	const struct truth_node *node = truth->node;
	const nsec_t span[2] = {node->row->host_ns, node->row[node->rows - 1].host_ns};
	double half = (double)(span[1] - span[0]) / 2;
	size_t n = truth->nodes;
	struct lp *lp = lp_new(2 * n + 1);
	bool is_unseen;

	for (size_t a = 0; a < n; a++) {
		lp_bound(lp, a, a ? -LP_INFINITY : 0, a ? LP_INFINITY : 0);
		lp_bound(lp, n + a, a ? -LP_INFINITY : 0, a ? LP_INFINITY : 0);
		for (size_t b = 0; b < n; b++) {
			const struct lp_term term[] = {{n + a, 1}, {n + b, -1}};
			double ahead = true_rate(&node[a]) - true_rate(&node[b]);

			if (a != b) /* LIMIT - ahead >= b's correction more than a's */
				lp_row(lp, term, 2, (ahead - LIMIT) * half / UNIT_NS);
		}
	}
	lp_bound(lp, 2 * n, -LP_INFINITY, 1);
	lp_objective(lp, 2 * n, 1);
	add_corners(lp, truth, hulls, span);
	is_unseen = lp_maximize(lp) && lp_value(lp, 2 * n) >= 0;
	lp_free(lp);
	return is_unseen;
}

static int compare(const char *straight, const char *events, bool *unseen,
		   struct error *error)
{
	struct recorded run;
	int status = simulated_open(&run, straight, error);
	struct stamped_list list[3] = {
	    {.truth = &run.truth}, {.truth = &run.truth}, {.truth = &run.truth}};
	size_t pairs = run.truth.nodes * run.truth.nodes;
	struct hull *hulls = mem_zalloc((pairs + 1) * sizeof(*hulls));

	if (!status)
		status = read_rows(&list[0], straight, "messages.csv", error) ||
			 read_rows(&list[1], events, "messages.csv", error) ||
			 read_rows(&list[2], events, "false.csv", error);
	if (list[2].count)
		qsort(list[2].item, list[2].count, sizeof(*list[2].item), by_stamps);
	if (!status)
		status =
		    make_hulls(&run.truth, &list[0], &list[1], &list[2], hulls, error);
	if (!status)
		*unseen = is_unseen(&run.truth, hulls);
	for (size_t i = 0; i < 3; i++)
		free(list[i].item);
	for (size_t i = 0; i < pairs; i++)
		hull_clear(&hulls[i]);
	free(hulls);
	recorded_close(&run);
	return status ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct error error = ERROR_INIT;
	bool unseen = false;
	int status = argc == 3 ? compare(argv[1], argv[2], &unseen, &error)
			       : error_misuse(&error, "expected STRAIGHT and EVENTS");

	status = program_end("sim-unseen", status, &error);
	return status ? status : !unseen;
}
