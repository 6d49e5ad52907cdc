/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/trust.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "base/order.h"
#include "base/output.h"
#include "sync/claims.h"
#include "sync/describe.h"
#include "sync/observe/sources.h"

/* Between claims further apart than this nothing is assumed. */
#define GAP_MOST_NS (60 * NSEC_PER_SEC)

/* Between two claims, constraints are so far apart at least. */
#define APART_LEAST_NS (20 * NSEC_PER_MSEC)

enum { CONSTRAINTS_MOST = 1 << 19 }; /* bounds on all clocks, between claims */

struct trust {
	struct network *net;
	struct claim_relations relations;
	const struct clock_map *tested; /* the map without claims */
	struct problem_list *problems;
	int reference; /* clock, or -1 */
	uint32_t utc;  /* clock */
	nsec_t apart_least_ns;
	size_t claims;
	nsec_t begin_ns, end_ns; /* span of UTC, by the claims */
};

static bool trusts_all(const struct text_list *trusted)
{
	return trusted->count == 1 && strcmp(trusted->item[0], "claims") == 0;
}

/* Check that --trust has names of nodes, and that no clock is called UTC. Return 0, or -1
 * with error (misuse). */
static int check_names(const struct observations *seen, const struct text_list *trusted,
		       struct error *error)
{
	const struct source_list *sources = seen->sources;
	struct text_list nodes = {0};
	int status = 0;

	for (size_t i = 0; i < seen->traces; i++)
		if (strcmp(seen->trace[i].name, CLOCK_UTC) == 0)
			return error_misuse(error,
					    "--trust: a trace has the name " CLOCK_UTC);
	for (size_t i = 0; i < sources->count; i++) {
		const char *node = sources->item[i].node;

		if (node && !text_list_has(&nodes, file_name(node)))
			text_list_add(&nodes, file_name(node));
	}
	for (size_t i = 0; i < trusted->count && !trusts_all(trusted) && !status; i++)
		if (!text_list_has(&nodes, trusted->item[i]))
			status = error_unknown_word(
			    error, "--trust: unknown node", trusted->item[i],
			    (const char *const *)nodes.item, nodes.count, NULL);
	text_list_clear(&nodes);
	return status;
}

static int add_constraint(const struct trust *trust, uint32_t from, uint32_t to,
			  nsec_t sent_ns, nsec_t received_ns, struct error *error)
{
	const struct message message = {
	    .claimed = true, .send_ns = sent_ns, .recv_ns = received_ns};

	return message_log_add(&trust->net->log, from, to, &message, error);
}

/* At a local time of its trace, a clock is within a claim's bounds of UTC. */
static int add_claim(struct trust *trust, const struct claim_relation *claim, nsec_t at,
		     struct error *error)
{
	const struct trace_clock *of = &trust->net->clocks.of_trace[claim->trace_index];
	nsec_t shown = nsec_add(at, of->trace->shift_ns);
	nsec_t low = nsec_add(at, claim->low_ns), high = nsec_add(at, claim->high_ns);

	if (!trust->claims++ || low < trust->begin_ns)
		trust->begin_ns = low;
	if (trust->claims == 1 || high > trust->end_ns)
		trust->end_ns = high;
	return add_constraint(trust, of->clock_index, trust->utc,
			      of->tie ? tie_earliest(of->tie, shown) : shown, high,
			      error) ||
	       add_constraint(trust, trust->utc, of->clock_index, low,
			      of->tie ? tie_latest(of->tie, shown) : shown, error);
}

/* From one claim of a daemon to the next, the bounds of either hold, unless the clock was
 * stepped or slewed. */
static int add_between(struct trust *trust, const struct claim_relation *from,
		       const struct claim_relation *to, struct error *error)
{
	struct claim_relation both = *from;
	nsec_t apart = nsec_round((double)from->bound_ns / (4 * trust->net->limit));
	nsec_t gap = nsec_sub(to->local_ns, from->local_ns);
	nsec_t drift = nsec_round((double)gap * trust->net->limit);
	const struct clock *clock = &trust->tested->clock[from->trace_index];
	int status = 0;

	if (from->claimant != to->claimant || from->trace_index != to->trace_index ||
	    to->is_wrong || gap > GAP_MOST_NS ||
	    clock->quality == CLOCK_APPROXIMATE || /* its steps are not certain */
	    !clock_calm(clock, from->local_ns, to->local_ns) ||
	    nsec_sub(to->low_ns, from->high_ns) > drift ||
	    nsec_sub(from->low_ns, to->high_ns) > drift)
		return 0;
	both.low_ns = to->low_ns < from->low_ns ? to->low_ns : from->low_ns;
	both.high_ns = to->high_ns > from->high_ns ? to->high_ns : from->high_ns;
	apart = apart < trust->apart_least_ns ? trust->apart_least_ns : apart;
	for (nsec_t at = from->local_ns + apart; at < to->local_ns && !status;
	     at += apart)
		status = add_claim(trust, &both, at, error);
	return status;
}

/* Add the trusted claims as messages to and from UTC. Return 0, or -1 with error. */
static int add_claims(struct trust *trust, const struct text_list *trusted,
		      struct error *error)
{
	const struct claim_relations *list = &trust->relations;

	trust->apart_least_ns = APART_LEAST_NS;
	for (size_t i = 0; i + 1 < list->count; i++)
		if (list->item[i].claimant == list->item[i + 1].claimant)
			trust->apart_least_ns +=
			    llabs(nsec_sub(list->item[i + 1].local_ns,
					   list->item[i].local_ns)) /
			    CONSTRAINTS_MOST;
	for (size_t i = 0; i < list->count; i++) {
		const struct claim_relation *claim = &list->item[i];

		if (claim->is_wrong ||
		    !(trusts_all(trusted) ||
		      text_list_has(trusted, file_name(claim->directory))))
			continue;
		if (add_claim(trust, claim, claim->local_ns, error) ||
		    (i + 1 < list->count && add_between(trust, claim, claim + 1, error)))
			return -1;
	}
	return 0;
}

static void remove_utc(struct observations *seen, struct clock_set *clocks)
{
	seen->traces--;
	seen->clocks--;
	clocks->traces--;
	clocks->count--;
	free(seen->trace[seen->traces].name);
	free(seen->trace[seen->traces].path);
}

/* UTC exists from the first claim to the last, and for all events of the other clocks. */
static void span_utc(const struct trust *trust, struct observations *seen)
{
	struct run_clock *clock = &trust->net->clocks.clock[trust->utc];
	struct trace_facts *facts = &seen->trace[seen->traces - 1].facts;

	clock->begin_ns = clock->own_begin_ns = facts->begin_ns = trust->begin_ns;
	clock->end_ns = clock->own_end_ns = facts->end_ns = trust->end_ns;
	facts->events = trust->claims;
}

static int compare_spans(const void *a, const void *b)
{
	const nsec_t *p = a, *q = b;

	return COMPARE(*p, *q);
}

/* Set how far corrected times may be from UTC, if that is the axis. */
static void set_utc_bound(struct clock_map *map)
{
	AUTOFREE nsec_t *width = NULL;
	size_t widths = 0, capacity = 0;

	if (strcmp(map->reference, CLOCK_UTC) != 0)
		return;
	for (size_t i = 0; i < map->clocks; i++) {
		const struct clock *clock = &map->clock[i];

		if (strcmp(clock->reference, CLOCK_UTC) != 0 || clock_is_utc(clock))
			continue;
		for (size_t k = 0; k < clock->bounds; k++) {
			nsec_t low = nsec_sub(0, clock->bound[k].low_ns);
			nsec_t high = clock->bound[k].high_ns;

			*MEM_NEXT(width, widths, capacity) = low > high ? low : high;
		}
	}
	if (!widths)
		return;
	SORT(width, widths, compare_spans);
	map->utc_bound_ns = width[widths - 1];
	map->utc_median_bound_ns = width[widths / 2];
}

/* The second synchronization, with the claims of the first one's test. */
static int synchronize_trusting(struct observations *seen, const struct fit_options *how,
				struct trust *trust, struct synchronization *sync,
				struct clock_map *map, struct error *error)
{
	struct clock_map tested = *map;
	int status;

	*map = (struct clock_map){.reference = NULL};
	trust->tested = &tested;
	trust->utc = sync->network.clocks.of_trace[seen->traces - 1].clock_index;
	status =
	    synchronization_reset(sync, error) || add_claims(trust, how->trust, error);
	if (!status && trust->claims) {
		span_utc(trust, seen);
		trust->reference =
		    trust->reference < 0 ? (int)trust->utc : trust->reference;
	} else if (!status) {
		problem_add(trust->problems, "", PROBLEM_CLAIM, 1,
			    "--trust: no claim can be used, so no clock is put on UTC");
		remove_utc(seen, &sync->network.clocks);
	}
	status = status ||
		 network_refine(&sync->network, how, trust->reference, trust->problems,
				error) ||
		 synchronize_network(how, sync, trust->problems, error);
	if (!status) {
		describe_clocks(sync, &seen->matching, map);
		set_utc_bound(map);
		map->claim = tested.claim;
		map->claims = tested.claims;
		tested.claims = 0;
		tested.claim = NULL;
	}
	clock_map_clear(&tested);
	return status ? -1 : 0;
}

int synchronize_sources(struct observations *seen, const struct fit_options *how,
			struct synchronization *sync, struct clock_map *map,
			struct problem_list *problems, struct error *error)
{
	struct trust trust = {
	    .net = &sync->network, .problems = problems, .reference = -1};
	struct problem_list first = {0};
	const bool trusts = how->trust && how->trust->count;
	struct problem_list *found = trusts ? &first : problems;
	int status;

	*map = (struct clock_map){.reference = NULL};
	*sync = (struct synchronization){.network.limit = 0};
	if (trusts) {
		if (check_names(seen, how->trust, error))
			return -1;
		observations_add_utc(seen, mem_strdup(CLOCK_UTC));
	}
	status =
	    network_begin(seen, how, &sync->network, &trust.reference, problems, error) ||
	    network_refine(&sync->network, how, trust.reference, found, error) ||
	    synchronize_network(how, sync, found, error);
	if (!status)
		describe_clocks(sync, &seen->matching, map);
	if (!status && seen->sources)
		claims_test(&sync->network.clocks, sync->network.limit_ppm, map,
			    &trust.relations, problems);
	if (!status && trusts)
		status = synchronize_trusting(seen, how, &trust, sync, map, error);
	if (!status && seen->sources)
		claims_explain(&sync->network.clocks, map);
	problem_clear(&first);
	free(trust.relations.item);
	return status ? -1 : 0;
}
