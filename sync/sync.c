/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/sync.h"

#include "base/mem.h"
#include "sync/bounds/doubt.h"
#include "sync/piecewise/reject.h"

/* Clocks that were set back become references only if all clocks were. */
static void make_graph(struct network *net, int reference)
{
	AUTOFREE bool *is_set_back = mem_zalloc(net->clocks.count + 1);

	for (size_t i = 0; i < net->clocks.count; i++)
		is_set_back[i] = net->clocks.clock[i].trace->facts.set_backs;
	graph_make(&net->graph, net->clocks.count, &net->pairs, is_set_back, reference,
		   net->limit);
}

int network_refine(struct network *net, const struct fit_options *how, int reference,
		   struct problem_list *problems, struct error *error)
{
	int changed;

	/* Hulls and a line for each pair; once more without the messages that are false.
	 */
	if (pairs_collect(&net->pairs, &net->log, net->limit, error))
		return -1;
	changed = reject_false_matches(net, how->max_rejected, problems, error);
	if (changed < 0 ||
	    (changed && pairs_collect(&net->pairs, &net->log, net->limit, error)))
		return -1;
	make_graph(net, reference);
	return 0;
}

int network_begin(struct observations *seen, const struct fit_options *how,
		  struct network *net, int *reference, struct problem_list *problems,
		  struct error *error)
{
	*net = (struct network){.limit_ppm = how->drift_limit_ppm,
				.limit = how->drift_limit_ppm * 1e-6};
	/* A capture that is tied to its host's trace has its clock; so do its messages.
	 */
	return clocks_find(seen, &net->clocks, &net->log, problems, error) ||
		       clocks_reference(&net->clocks, how->reference, reference, problems,
					error)
		   ? -1
		   : 0;
}

int network_find(struct observations *seen, const struct fit_options *how,
		 struct network *net, struct problem_list *problems, struct error *error)
{
	int reference;

	return network_begin(seen, how, net, &reference, problems, error) ||
		       network_refine(net, how, reference, problems, error)
		   ? -1
		   : 0;
}

/* The steps of docs/method.md, in its order. */
int synchronize_network(const struct fit_options *how, struct synchronization *sync,
			struct problem_list *problems, struct error *error)
{
	struct network *net = &sync->network;
	struct lines lines = {0};   /* a line for each clock */
	struct curves curves = {0}; /* segments of clocks that one line does not fit */
	struct bounds bounds = {0}; /* what the messages leave possible */
	int status;

	status =
	    lines_fit(net, how->method, &lines, problems, error) ||
	    segments_fit(net, &lines, &how->segments, &curves, problems, error) ||
	    latencies_find(net, &curves, &sync->latencies, error) ||
	    doubt_quickest(net, &curves, error) ||
	    bounds_find(net, &curves, &sync->latencies, &how->bounds, &bounds, error);
	if (!status)
		judge(net, &curves, &sync->latencies, &bounds, &sync->verdict, problems);
	bounds_clear(&bounds, net);
	curves_clear(&curves, net);
	lines_clear(&lines, net);
	return status ? -1 : 0;
}

static int unmark_message(void *context, struct message *message)
{
	(void)context;
	message->rejected = message->doubted = false;
	return 0;
}

int synchronization_reset(struct synchronization *sync, struct error *error)
{
	latencies_clear(&sync->latencies, &sync->network);
	verdict_clear(&sync->verdict, &sync->network);
	graph_clear(&sync->network.graph);
	pair_table_clear(&sync->network.pairs);
	return message_log_change(&sync->network.log, unmark_message, NULL, error);
}

void synchronization_clear(struct synchronization *sync)
{
	latencies_clear(&sync->latencies, &sync->network);
	verdict_clear(&sync->verdict, &sync->network);
	graph_clear(&sync->network.graph);
	pair_table_clear(&sync->network.pairs);
	message_log_clear(&sync->network.log);
	clocks_clear(&sync->network.clocks);
}
