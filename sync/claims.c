/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/claims.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/output.h"
#include "base/search.h"
#include "base/utf8.h"
#include "input/claims.h"
#include "sync/steering.h"

/* Claims further apart than this are not compared. */
#define GAP_MOST_NS (60 * NSEC_PER_SEC)

/* The source of what the kernel says. */
#define KERNEL "adjtimex"

/* A section of clock.csv applies this long before its first and after its last sample. */
#define SECTION_NS (15 * NSEC_PER_SEC)

/* A claim on the axis: bounds of UTC minus the axis at `at_ns`. */
struct placed_claim {
	nsec_t at_ns;       /* on the axis */
	nsec_t realtime_ns; /* its node's CLOCK_REALTIME */
	nsec_t low_ns, high_ns;
	nsec_t
	    bound_ns;   /* the part of these that the claim itself allows, on each side */
	nsec_t calm_ns; /* distance to the nearest step or slew of the node's clock */
	size_t relation; /* its index */
};

struct claimant {
	size_t node;
	const char *island; /* name of the island's reference */
	struct placed_claim *claim;
	size_t count;
	struct clock_claim_test test;
};

struct claim_node {
	const char *path; /* its directory, borrowed from a source */
	const struct node_claims *claims;
	const struct realtime_offset *realtime; /* sections of clock.csv */
	size_t realtimes;
	struct node_claims read; /* the claims, unless a source has them */
	struct source clock;     /* the realtime offsets, unless a source has them */
};

struct claims_context {
	const struct source_list *sources;
	const struct clock_set *clocks;
	const struct observations *seen; /* that of `clocks` */
	const struct clock_map *map;
	double limit; /* without unit */
	struct claim_node *node;
	size_t nodes;
	struct claimant *claimant;
	size_t claimants, capacity;
	struct claim_relations *relations;
	size_t *voter; /* by node: its claimant with the smallest bound, or SIZE_MAX */
};

/* Local times that a trace's clock may have shown when the real-time clock showed one. */
struct local_span {
	nsec_t from_ns, to_ns;
};

/* Return false if nothing relates the trace's clock to the real-time clock then. */
static bool find_local_time(const struct claim_node *node, const struct trace_clock *of,
			    nsec_t realtime_ns, struct local_span *local)
{
	const struct trace *trace = of->trace;
	const struct trace_facts *facts = &trace->facts;
	size_t sections = 0;

	*local = (struct local_span){realtime_ns, realtime_ns};
	if (trace->kind == SOURCE_CAPTURE)
		return !of->is_apart && !facts->set_backs && !facts->has_second_clock;
	if (!facts->has_uuid || strcmp(facts->clock_name, "monotonic"))
		return false;
	for (size_t i = 0; i < node->realtimes; i++) {
		const struct realtime_offset *offset = &node->realtime[i];

		if (realtime_ns <
			nsec_add(offset->from_ns, offset->low_ns) - SECTION_NS ||
		    realtime_ns > nsec_add(offset->to_ns, offset->high_ns) + SECTION_NS)
			continue;
		sections++;
		local->from_ns =
		    nsec_sub(realtime_ns, offset->high_ns) + facts->clock_offset_ns;
		local->to_ns =
		    nsec_sub(realtime_ns, offset->low_ns) + facts->clock_offset_ns;
	}
	/* Around a step, two sections may apply. */
	return sections == 1;
}

/* Return the time between two periods, 0 if they meet. */
static nsec_t time_between(nsec_t from, nsec_t to, nsec_t begin_ns, nsec_t end_ns)
{
	nsec_t before = nsec_sub(begin_ns, to), after = nsec_sub(from, end_ns);
	nsec_t apart = before > after ? before : after;

	return apart > 0 ? apart : 0;
}

nsec_t clock_calm(const struct clock *clock, nsec_t from, nsec_t to)
{
	nsec_t calm = NSEC_MAX, apart;

	for (size_t i = 0; i < clock->steps; i++) {
		apart = time_between(from, to, clock->step[i].local_ns,
				     clock->step[i].local_ns);
		calm = apart < calm ? apart : calm;
	}
	for (size_t i = 0; i < clock->slews; i++) {
		apart = time_between(from, to, clock->slew[i].begin_ns,
				     clock->slew[i].end_ns);
		calm = apart < calm ? apart : calm;
	}
	return calm;
}

/* Relate a claim to one trace of its node. Return false if nothing does. */
static bool relate_claim(const struct claims_context *context,
			 const struct claim_node *node, uint32_t trace_index,
			 const struct clock_claim *claim, struct claim_relation *relation)
{
	struct local_span local;
	nsec_t middle, offset, bound;

	if (!find_local_time(node, &context->clocks->of_trace[trace_index],
			     claim->realtime_ns, &local))
		return false;
	middle = local.from_ns + (local.to_ns - local.from_ns) / 2;
	offset = nsec_sub(nsec_sub(claim->realtime_ns, middle), claim->offset_ns);
	/* Within `took_ns`, both UTC and the node's clock may drift against the axis. */
	bound = claim->bound_ns + (local.to_ns - local.from_ns) / 2 + 2 +
		nsec_round(context->limit *
			   (double)(2 * claim->took_ns + local.to_ns - local.from_ns));
	*relation = (struct claim_relation){.directory = node->path,
					    .claimant = context->claimants,
					    .trace_index = trace_index,
					    .local_ns = middle,
					    .low_ns = nsec_sub(offset, bound),
					    .high_ns = nsec_add(offset, bound),
					    .bound_ns = claim->bound_ns};
	return true;
}

/* Place a claim on the axis. Return false if that leaves it unbounded. */
static bool place_claim(const struct claims_context *context,
			const struct claim_relation *relation, nsec_t realtime_ns,
			struct placed_claim *placed)
{
	const struct clock *clock = &context->map->clock[relation->trace_index];
	struct clock_bound bound = {0, 0, 0};
	nsec_t moved;

	if (clock->quality != CLOCK_EXACT && clock->quality != CLOCK_ACCURATE)
		return false;
	if (clock->bounds)
		bound = clock_bound_at(clock, relation->local_ns, context->limit * 1e9);
	else if (clock->quality != CLOCK_EXACT)
		return false;
	if (bound.low_ns == NSEC_MIN || bound.high_ns == NSEC_MAX)
		return false;
	placed->at_ns = clock_correct(clock, relation->local_ns);
	placed->realtime_ns = realtime_ns;
	placed->bound_ns = relation->bound_ns;
	placed->calm_ns = clock_calm(clock, relation->local_ns, relation->local_ns);
	moved = nsec_sub(relation->local_ns, placed->at_ns);
	placed->low_ns = nsec_sub(nsec_add(relation->low_ns, moved), bound.high_ns);
	placed->high_ns = nsec_sub(nsec_add(relation->high_ns, moved), bound.low_ns);
	return true;
}

/*
 * Relate a claim to the trace of its node that leaves the least open, and place it by the
 * one that does so on the axis. Return false if it cannot be placed.
 */
static bool place_best(const struct claims_context *context,
		       const struct claim_node *node, const struct clock_claim *claim,
		       struct placed_claim *best, const char **island)
{
	struct claim_relations *list = context->relations;
	struct claim_relation least = {.high_ns = NSEC_MAX};
	bool is_placed = false;

	for (uint32_t i = 0; i < observations_read(context->seen); i++) {
		const struct trace *trace = &context->seen->trace[i];
		const char *directory = context->sources->item[trace->source_index].node;
		struct claim_relation relation;
		struct placed_claim placed;

		if (!directory || strcmp(directory, node->path) ||
		    !relate_claim(context, node, i, claim, &relation))
			continue;
		if (nsec_sub(relation.high_ns, relation.low_ns) <
		    nsec_sub(least.high_ns, least.low_ns))
			least = relation;
		if (!place_claim(context, &relation, claim->realtime_ns, &placed) ||
		    (is_placed &&
		     placed.high_ns - placed.low_ns >= best->high_ns - best->low_ns))
			continue;
		*best = placed;
		*island = context->map->clock[i].reference;
		is_placed = true;
	}
	best->relation = list->count;
	if (least.directory)
		*MEM_NEXT(list->item, list->count, list->capacity) = least;
	return is_placed;
}

static int compare_bounds(const void *a, const void *b)
{
	const struct clock_claim *p = a, *q = b;

	return COMPARE(p->bound_ns, q->bound_ns);
}

static nsec_t median_bound(const struct clock_claims *claims)
{
	AUTOFREE struct clock_claim *sorted =
	    mem_alloc(claims->count * sizeof(*sorted) + 1);

	if (!claims->count)
		return NSEC_MAX;
	memcpy(sorted, claims->claim, claims->count * sizeof(*sorted));
	SORT(sorted, claims->count, compare_bounds);
	return sorted[(claims->count - 1) / 2].bound_ns;
}

static void add_claimant(struct claims_context *context, size_t node_index,
			 const struct clock_claims *claims)
{
	const struct claim_node *node = &context->node[node_index];
	struct claimant *claimant,
	    made = {.node = node_index,
		    .claim = mem_zalloc(claims->count * sizeof(*claimant->claim) + 1),
		    .test = {.node = mem_strdup(file_name(node->path)),
			     .source = mem_strdup(claims->source),
			     .claims = claims->count,
			     .unbounded = claims->unbounded,
			     .unsynchronized = claims->unsynchronized,
			     .bound_ns = median_bound(claims),
			     .at_ns = NSEC_MAX,
			     .apart_ns = NSEC_MAX,
			     .allowed_ns = NSEC_MAX}};
	size_t relations = context->relations->count;

	for (size_t i = 0; i < claims->count; i++) {
		struct placed_claim *placed = &made.claim[made.count];
		const char *island = NULL;

		if (!place_best(context, node, &claims->claim[i], placed, &island) ||
		    (made.island && strcmp(island, made.island)))
			continue;
		made.island = island;
		made.count++;
	}
	/* A server's claims are tested and never used. */
	if (claims_are_of_server(claims->source))
		context->relations->count = relations;
	made.test.placed = made.count;
	claimant = MEM_NEXT(context->claimant, context->claimants, context->capacity);
	*claimant = made;
}

/* Find the claims of a new node, and the readings of its clocks. */
static void read_node(struct claim_node *node, const struct source *source,
		      struct problem_list *problems)
{
	node->path = source->node;
	node->claims = &source->claims;
	node->realtime = source->realtime;
	node->realtimes = source->realtimes;
	if (source->extract)
		return;
	node_claims_read(&node->read, source->node, problems);
	node->claims = &node->read;
	if (!node->realtimes && node->read.sources) {
		node->clock.node = source->node;
		source_read_realtime(&node->clock);
		node->realtime = node->clock.realtime;
		node->realtimes = node->clock.realtimes;
	}
}

static void read_nodes(struct claims_context *context, struct problem_list *problems)
{
	const struct observations *seen = context->seen;

	context->node = mem_zalloc((seen->traces + 1) * sizeof(*context->node));
	for (size_t i = 0; i < observations_read(seen); i++) {
		const struct source *source =
		    &context->sources->item[seen->trace[i].source_index];
		bool is_new = source->node;

		for (size_t k = 0; is_new && k < context->nodes; k++)
			is_new = strcmp(context->node[k].path, source->node) != 0;
		if (is_new)
			read_node(&context->node[context->nodes++], source, problems);
	}
}

static void clear_nodes(struct claims_context *context)
{
	for (size_t i = 0; i < context->nodes; i++) {
		node_claims_clear(&context->node[i].read);
		free(context->node[i].clock.realtime);
	}
	free(context->node);
}

/* Find each node's daemon with the smallest bound: it votes on what UTC is. */
static void find_voters(struct claims_context *context)
{
	context->voter = mem_alloc((context->nodes + 1) * sizeof(*context->voter));
	for (size_t i = 0; i < context->nodes; i++)
		context->voter[i] = SIZE_MAX;
	for (size_t i = 0; i < context->claimants; i++) {
		const struct claimant *claimant = &context->claimant[i];
		size_t *voter = &context->voter[claimant->node];

		if (claimant->count && !claims_are_of_server(claimant->test.source) &&
		    (*voter == SIZE_MAX ||
		     claimant->test.bound_ns < context->claimant[*voter].test.bound_ns))
			*voter = i;
	}
}

/* A voter's claim, widened to the time of another claim. */
struct vote {
	const struct claimant *claimant;
	const struct placed_claim *claim;
	nsec_t low_ns, high_ns;
};

static const struct placed_claim *nearest_claim(const struct claimant *claimant,
						nsec_t at_ns)
{
	const struct placed_claim *claim = claimant->claim;
	size_t at = PARTITION_POINT(claimant->count, i, claim[i].at_ns < at_ns);

	if (at == claimant->count || (at && nsec_sub(at_ns, claim[at - 1].at_ns) <
						nsec_sub(claim[at].at_ns, at_ns)))
		at--;
	return &claim[at];
}

/* Collect the votes at a claim's time, the claim's own first. Return their number. */
static size_t collect_votes(const struct claims_context *context,
			    const struct claimant *claimant,
			    const struct placed_claim *claim, struct vote *vote)
{
	size_t votes = 0;

	vote[votes++] = (struct vote){claimant, claim, claim->low_ns, claim->high_ns};
	for (size_t i = 0; i < context->nodes; i++) {
		const struct claimant *other =
		    context->voter[i] == SIZE_MAX ? NULL
						  : &context->claimant[context->voter[i]];
		const struct placed_claim *nearest;
		nsec_t gap, extra;

		if (!other || i == claimant->node ||
		    strcmp(other->island, claimant->island))
			continue;
		nearest = nearest_claim(other, claim->at_ns);
		gap = llabs(nsec_sub(nearest->at_ns, claim->at_ns));
		if (gap > GAP_MOST_NS || gap >= nearest->calm_ns || gap >= claim->calm_ns)
			continue;
		extra = nsec_round(context->limit * (double)gap) + 1;
		vote[votes++] =
		    (struct vote){other, nearest, nsec_sub(nearest->low_ns, extra),
				  nsec_add(nearest->high_ns, extra)};
	}
	return votes;
}

/* Return true if more than half of the votes allow a value. */
static bool is_majority(const struct vote *vote, size_t votes, nsec_t value)
{
	size_t count = 0;

	for (size_t i = 0; i < votes; i++)
		count += vote[i].low_ns <= value && value <= vote[i].high_ns;
	return 2 * count > votes;
}

enum agreement {
	AGREES,       /* with more than half of the votes */
	CONTRADICTED, /* more than half agree on values that the first vote excludes */
	DISPUTED,     /* no value is allowed by more than half */
};

/* Judge the first vote. The most votes allow, among others, the lower bound of one. */
static enum agreement judge_vote(const struct vote *vote, size_t votes)
{
	nsec_t middle = vote->low_ns + (vote->high_ns - vote->low_ns) / 2;
	enum agreement agreement = DISPUTED;

	if (is_majority(vote, votes, middle))
		return AGREES;
	for (size_t i = 0; i < votes; i++) {
		nsec_t value = vote[i].low_ns;

		if (!is_majority(vote, votes, value))
			continue;
		if (value >= vote->low_ns && value <= vote->high_ns)
			return AGREES;
		agreement = CONTRADICTED;
	}
	return agreement;
}

/* Note the other vote that a wrong claim differs from most, by what packets prove. */
static void note_worst(struct clock_claim_test *test, const struct vote *vote,
		       size_t votes)
{
	const struct placed_claim *claim = vote->claim;

	for (size_t i = 1; i < votes; i++) {
		nsec_t allowed = claim->bound_ns + vote[i].claim->bound_ns;
		nsec_t above = nsec_sub(vote->low_ns, vote[i].high_ns);
		nsec_t below = nsec_sub(vote[i].low_ns, vote->high_ns);
		nsec_t excess = above > below ? above : below;

		if (excess <= 0 ||
		    (test->other && excess <= test->apart_ns - test->allowed_ns))
			continue;
		free(test->other);
		test->other = mem_strdup(vote[i].claimant->test.node);
		test->at_ns = claim->realtime_ns;
		test->apart_ns = nsec_add(excess, allowed);
		test->allowed_ns = allowed;
	}
}

static void test_claimant(const struct claims_context *context, struct claimant *claimant)
{
	AUTOFREE struct vote *vote = mem_alloc((context->nodes + 1) * sizeof(*vote));
	struct clock_claim_test *test = &claimant->test;

	for (size_t i = 0; i < claimant->count; i++) {
		const struct placed_claim *claim = &claimant->claim[i];
		size_t votes = collect_votes(context, claimant, claim, vote);
		enum agreement agreement;

		if (votes < 2)
			continue;
		test->tested++;
		agreement = judge_vote(vote, votes);
		test->contradicted += agreement == CONTRADICTED;
		test->disputed += agreement == DISPUTED;
		if (agreement == AGREES)
			continue;
		note_worst(test, vote, votes);
		if (!claims_are_of_server(test->source))
			context->relations->item[claim->relation].is_wrong = true;
	}
}

void claim_report(const struct clock_claim_test *test, struct problem_list *problems)
{
	char bound[NSEC_TEXT], apart[NSEC_TEXT], allowed[NSEC_TEXT], at[NSEC_TEXT];

	if (!test->other || !*test->other || claims_are_of_server(test->source))
		return;
	problem_add(problems, test->node, PROBLEM_CLAIM,
		    test->contradicted + test->disputed,
		    "%s claims +-%s; packets prove that it is at least %s off %s at %s, "
		    "where both claim at most %s%s",
		    test->source, nsec_format_span(bound, (double)test->bound_ns),
		    nsec_format_span(apart, (double)test->apart_ns), test->other,
		    nsec_format_utc(at, test->at_ns),
		    nsec_format_span(allowed, (double)test->allowed_ns),
		    test->contradicted ? "" : "; which of them is wrong is open");
}

void claims_test(const struct clock_set *clocks, double limit_ppm, struct clock_map *map,
		 struct claim_relations *relations, struct problem_list *problems)
{
	struct claims_context context = {.sources = clocks->seen->sources,
					 .clocks = clocks,
					 .seen = clocks->seen,
					 .map = map,
					 .limit = limit_ppm * 1e-6,
					 .relations = relations};

	read_nodes(&context, problems);
	for (size_t i = 0; i < context.nodes; i++)
		for (size_t k = 0; k < context.node[i].claims->sources; k++)
			add_claimant(&context, i, &context.node[i].claims->source[k]);
	find_voters(&context);
	map->claims = context.claimants;
	map->claim = mem_zalloc(context.claimants * sizeof(*map->claim) + 1);
	for (size_t i = 0; i < context.claimants; i++) {
		test_claimant(&context, &context.claimant[i]);
		claim_report(&context.claimant[i].test, problems);
		map->claim[i] = context.claimant[i].test;
	}
	for (size_t i = 0; i < context.claimants; i++)
		free(context.claimant[i].claim);
	free(context.voter);
	free(context.claimant);
	clear_nodes(&context);
}

/* Return the daemon that a source of claims is of: the kernel does what one of the others
 * asks for. */
static const char *daemon_of(const struct node_claims *claims, const char *source)
{
	for (size_t i = 0; !strcmp(source, KERNEL) && i < claims->sources; i++)
		if (strcmp(claims->source[i].source, KERNEL) &&
		    !claims_are_of_server(claims->source[i].source) &&
		    claims->source[i].count + claims->source[i].unbounded)
			return claims->source[i].source;
	return source;
}

/* Explain what a trace's clock did by one source of its node's claims. */
static void explain_clock(const struct claims_context *context, struct clock_map *map,
			  const struct claim_node *node, uint32_t trace_index,
			  const struct clock_claims *claims)
{
	AUTOFREE struct clock_steering *row =
	    mem_alloc(claims->steerings * sizeof(*row) + 1);
	size_t rows = 0;

	for (size_t i = 0; i < claims->steerings; i++) {
		struct local_span local;

		row[rows] = claims->steering[i];
		if (find_local_time(node, &context->clocks->of_trace[trace_index],
				    row[rows].realtime_ns, &local))
			row[rows++].realtime_ns =
			    local.from_ns + (local.to_ns - local.from_ns) / 2;
	}
	steering_explain(map, trace_index, daemon_of(node->claims, claims->source), row,
			 rows);
}

/* Explain what the clocks did by what the kernel says, or the daemons. */
static void explain_clocks(const struct claims_context *context, struct clock_map *map,
			   bool by_kernel)
{
	for (uint32_t i = 0; i < observations_read(context->seen); i++) {
		const struct source *source =
		    &context->sources->item[context->seen->trace[i].source_index];

		for (size_t k = 0; source->node && k < context->nodes; k++) {
			const struct claim_node *node = &context->node[k];

			for (size_t n = 0; !strcmp(node->path, source->node) &&
					   n < node->claims->sources;
			     n++)
				if (!strcmp(node->claims->source[n].source, KERNEL) ==
				    by_kernel)
					explain_clock(context, map, node, i,
						      &node->claims->source[n]);
		}
	}
}

void claims_explain(const struct clock_set *clocks, struct clock_map *map)
{
	struct claims_context context = {
	    .sources = clocks->seen->sources, .clocks = clocks, .seen = clocks->seen};
	struct problem_list known = {0};

	read_nodes(&context, &known);
	explain_clocks(&context, map, true);
	explain_clocks(&context, map, false);
	clear_nodes(&context);
	problem_clear(&known);
}

/* Print why none of a claimant's answers was tested. */
static void print_untested(const struct clock_claim_test *test, FILE *file)
{
	if (!test->claims && test->unbounded)
		fputs("states no bound, so it is not tested\n", file);
	else if (!test->claims)
		fputs("says that the clock is not synchronized\n", file);
	else if (!test->placed)
		fputs("not tested; nothing bounds the real-time clock of this node (no "
		      "clock.csv with a trace of CLOCK_MONOTONIC, or no packets both "
		      "ways)\n",
		      file);
	else
		fputs("not tested; no other node claims anything at these times\n", file);
}

/* Print how far from UTC the corrected times may be, if that is the axis. */
static void print_axis(const struct clock_map *map, FILE *file)
{
	char utc[NSEC_TEXT], median[NSEC_TEXT];

	if (!map->utc_bound_ns)
		return;
	fputs("the axis is UTC by trusted claims; ", file);
	if (map->utc_bound_ns == NSEC_MAX)
		fputs("some corrected times have no bound to it (null in the map)", file);
	else
		fprintf(file, "every corrected time is within +-%s of it",
			nsec_format_span(utc, (double)map->utc_bound_ns));
	if (map->utc_median_bound_ns != NSEC_MAX)
		fprintf(file, ", in the median +-%s",
			nsec_format_span(median, (double)map->utc_median_bound_ns));
	putc('\n', file);
}

void claims_print(const struct clock_map *map, FILE *file)
{
	print_axis(map, file);
	for (size_t i = 0; i < map->claims; i++) {
		const struct clock_claim_test *test = &map->claim[i];
		char bound[NSEC_TEXT], apart[NSEC_TEXT], at[NSEC_TEXT];

		/* Chrony may have many servers; those of interest are the wrong ones. */
		if (claims_are_of_server(test->source) && !test->other)
			continue;
		utf8_print(file, test->node);
		fputs(": ", file);
		utf8_print(file, test->source);
		putc(' ', file);
		if (test->claims)
			fprintf(file, "claims +-%s to UTC; ",
				nsec_format_span(bound, (double)test->bound_ns));
		if (!test->tested) {
			print_untested(test, file);
		} else if (!test->other) {
			fprintf(file, "packets contradict none of %" PRIu64 " claims\n",
				test->tested);
		} else {
			fprintf(file, "packets prove at least %s off ",
				nsec_format_span(apart, (double)test->apart_ns));
			utf8_print(file, test->other);
			fprintf(file,
				" at %s, and contradict %" PRIu64 " of %" PRIu64
				" claims%s\n",
				nsec_format_utc(at, test->at_ns),
				test->contradicted + test->disputed, test->tested,
				test->contradicted ? ""
						   : " of one of the two; which is open");
		}
	}
}
