/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/recording.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"

/* A period of a stream, on the timeline's axis. */
struct piece {
	struct trace_piece in;   /* `trace` is the source, `host` the node */
	nsec_t begin_ns, end_ns; /* as in struct trace_period */
	unsigned needs;
	bool is_first, is_last; /* in its stream */
	bool is_final; /* it ends with the last event of its trace at the latest */
};

struct mark_list {
	struct recording_mark *item;
	size_t count, capacity;
};

struct making {
	struct merge_run *run;
	const struct recording_source *source;
	struct piece *piece;
	size_t pieces;
	struct missing { /* between this source and the one before */
		uint64_t events, packets;
	} * missing;
	struct mark_list *marks; /* by node */
	struct recording *recording;
};

static nsec_t correct_instant(const struct clock *clock, nsec_t local_ns)
{
	return local_ns == NSEC_MIN || local_ns == NSEC_MAX
		   ? local_ns
		   : clock_correct(clock, local_ns);
}

/* Return the needs that a channel's events serve, a bit each. */
static unsigned needs_of(const struct recording_source *source, uint32_t channel)
{
	unsigned needs = 1u << NEED_ANY;

	for (size_t i = 0; i < source->classes; i++)
		if (source->class[i].of->channel == channel)
			needs |= 1u << source->class[i].need;
	return needs;
}

static void add_pieces(struct making *making)
{
	size_t count = 0;

	for (uint32_t i = 0; i < making->run->count; i++)
		count += making->source[i].recorded.periods;
	making->piece = mem_zalloc((count + 1) * sizeof(*making->piece));
	for (uint32_t i = 0; i < making->run->count; i++) {
		const struct recording_source *source = &making->source[i];
		struct merge_source *of = &making->run->source[i];

		of->tells_recorded = source->recorded.periods > 0;
		for (size_t k = 0; k < source->recorded.periods; k++) {
			const struct trace_period *period = &source->recorded.period[k];
			struct piece *piece = &making->piece[making->pieces++];

			*piece = (struct piece){
			    .in = trace_piece_of(&source->recorded, k, of->node, i),
			    .begin_ns = correct_instant(&of->clock, period->begin_ns),
			    .end_ns = correct_instant(&of->clock, period->end_ns),
			    .needs = needs_of(source, period->channel),
			    .is_first = true,
			    .is_last = true};
			piece->in.order_ns =
			    correct_instant(&of->clock, piece->in.order_ns);
		}
	}
}

static void add_mark(struct making *making, uint32_t node,
		     const struct recording_mark *mark)
{
	struct mark_list *marks = &making->marks[node];

	*MEM_NEXT(marks->item, marks->count, marks->capacity) = *mark;
}

static void add_user(struct making *making, struct recording_user user)
{
	struct recording *recording = making->recording;

	*MEM_NEXT(recording->user, recording->users, recording->user_capacity) = user;
}

/* Add a time in which a source lost events of a processor. */
static void add_loss(struct making *making, uint32_t source, struct recording_mark loss)
{
	const struct merge_source *of = &making->run->source[source];

	loss.kind = MARK_LOSS;
	if (of->makes_spans)
		add_mark(making, of->node, &loss);
	if (!merge_source_is(of, "kernel"))
		add_user(making, (struct recording_user){.begin_ns = loss.ts_ns,
							 .end_ns = loss.other_ns,
							 .source = source,
							 .cpu = loss.cpu,
							 .is_lost = true});
}

/* The same, up to the end of the first packet of a period. */
static void add_first_loss(struct making *making, const struct piece *piece,
			   nsec_t begin_ns)
{
	const struct clock *clock = &making->run->source[piece->in.trace].clock;

	add_loss(making, piece->in.trace,
		 (struct recording_mark){
		     .ts_ns = begin_ns,
		     .cpu = piece->in.of->cpu,
		     .needs = piece->needs,
		     .other_ns = correct_instant(clock, piece->in.of->first_end_ns)});
}

/* Count the events and packets that were lost between the last packet of one trace and
 * the first of the next. */
static void note_missing(struct making *making, const struct piece *last,
			 const struct piece *next, const struct trace_junction *join)
{
	struct missing *missing = &making->missing[next->in.trace];

	trace_reader_continue(making->source[next->in.trace].reader, next->in.of);
	missing->packets += join->packets;
	missing->events += join->events;
	if (join->events)
		add_first_loss(making, next,
			       join->packets ? next->begin_ns : last->end_ns);
}

/* Connect a period to the previous one of its stream if there is no hole between them.
 * Return false if the previous one is still the stream's last because it ends later. */
static bool connect_periods(struct making *making, struct piece *last, struct piece *next)
{
	const struct trace_junction join =
	    trace_pieces_join(&last->in, last->end_ns, &next->in, next->begin_ns);

	next->is_first = last->is_last = false;
	if (join.repeats) {
		trace_reader_repeats(making->source[next->in.trace].reader, next->in.of,
				     last->in.of->last_sequence + 1);
		next->is_last = next->end_ns > last->end_ns;
		last->is_last = !next->is_last;
		return next->is_last;
	}
	if (next->in.trace != last->in.trace && !next->in.is_later)
		note_missing(making, last, next, &join);
	if (join.is_following && next->begin_ns > last->end_ns)
		next->begin_ns = last->end_ns;
	return true;
}

static void connect_streams(struct making *making)
{
	struct piece *last = NULL;

	SORT(making->piece, making->pieces, trace_piece_compare);
	for (size_t i = 0; i < making->pieces; i++) {
		struct piece *piece = &making->piece[i];

		if (!last || trace_piece_compare_streams(&last->in, &piece->in) != 0 ||
		    connect_periods(making, last, piece))
			last = piece;
	}
}

/*
 * LTTng makes its buffers before it records, when a channel is made, and flushes them
 * after it has stopped: the first packets begin up to a second too early, the last ones
 * end later than was recorded. So a trace was recorded from its first to its last event,
 * unless there are packets without events before or after.
 */
static void trim_ends(struct making *making)
{
	struct ends {
		nsec_t first_ns; /* by its own clock; NSEC_MAX: no event */
		bool has_last;
	} *ends = mem_zalloc((making->run->count + 1) * sizeof(*ends));

	for (size_t i = 0; i < making->run->count; i++)
		ends[i].first_ns = NSEC_MAX;
	for (size_t i = 0; i < making->pieces; i++) {
		const struct piece *piece = &making->piece[i];
		struct ends *of = &ends[piece->in.trace];

		if (piece->in.of->first_event_ns < of->first_ns)
			of->first_ns = piece->in.of->first_event_ns;
		of->has_last |= piece->is_last && piece->in.of->has_last_events;
	}
	for (size_t i = 0; i < making->pieces; i++) {
		struct piece *piece = &making->piece[i];
		const struct clock *clock = &making->run->source[piece->in.trace].clock;
		const struct ends *of = &ends[piece->in.trace];

		if (piece->is_first && !piece->in.of->first_sequence &&
		    of->first_ns < NSEC_MAX &&
		    clock_correct(clock, of->first_ns) > piece->begin_ns)
			piece->begin_ns = clock_correct(clock, of->first_ns);
		piece->is_final = piece->is_last && of->has_last;
	}
	free(ends);
}

static int compare_lanes(const void *a, const void *b)
{
	const struct piece *p = a, *q = b;

	return COMPARE(p->in.host, q->in.host) ?:
	       COMPARE(p->in.of->cpu, q->in.of->cpu) ?:
	       COMPARE(p->begin_ns, q->begin_ns);
}

/* Add the marks of one need of a processor, whose periods are sorted by start. */
static void mark_lane(struct making *making, const struct piece *piece, size_t count,
		      unsigned need)
{
	struct recording_mark start = {
	    .kind = MARK_START, .cpu = piece->in.of->cpu, .needs = need};
	struct recording_mark stop = {
	    .ts_ns = NSEC_MIN, .kind = MARK_STOP, .cpu = start.cpu, .needs = need};
	bool has_started = false;

	for (size_t i = 0; i < count; i++) {
		const struct piece *next = &piece[i];
		bool goes_on =
		    has_started && next->begin_ns <= stop.ts_ns && stop.ts_ns < NSEC_MAX;

		if (!(next->needs & need) || (goes_on && next->end_ns <= stop.ts_ns))
			continue;
		if (!goes_on) {
			stop.other_ns = next->begin_ns;
			if (has_started && stop.ts_ns < NSEC_MAX)
				add_mark(making, piece->in.host, &stop);
			start.ts_ns = next->begin_ns;
			start.other_ns = stop.ts_ns;
			add_mark(making, piece->in.host, &start);
		}
		stop.ts_ns = next->end_ns;
		stop.is_final = next->is_final;
		has_started = true;
	}
	stop.other_ns = NSEC_MAX;
	if (has_started && stop.ts_ns < NSEC_MAX)
		add_mark(making, piece->in.host, &stop);
}

/* Captures have no periods. */
static void take_users(struct making *making)
{
	for (size_t i = 0; i < making->pieces; i++) {
		const struct piece *piece = &making->piece[i];
		const struct merge_source *source = &making->run->source[piece->in.trace];

		if (!merge_source_is(source, "kernel"))
			add_user(making,
				 (struct recording_user){.begin_ns = piece->begin_ns,
							 .end_ns = piece->end_ns,
							 .source = piece->in.trace,
							 .cpu = piece->in.of->cpu,
							 .is_first = piece->is_first});
	}
}

static void mark_lanes(struct making *making)
{
	size_t count = 0, next;

	for (size_t i = 0; i < making->pieces; i++)
		if (making->run->source[making->piece[i].in.trace].makes_spans)
			making->piece[count++] = making->piece[i];
	SORT(making->piece, count, compare_lanes);
	for (size_t i = 0; i < count; i = next) {
		const struct piece *first = &making->piece[i];

		for (next = i + 1; next < count; next++)
			if (making->piece[next].in.host != first->in.host ||
			    making->piece[next].in.of->cpu != first->in.of->cpu)
				break;
		for (unsigned need = 0; need < NEEDS; need++)
			mark_lane(making, first, next - i, 1u << need);
	}
}

/* The counters start at 0: events were lost before the first packet of a stream, or in
 * it. */
static void mark_first_losses(struct making *making)
{
	for (size_t i = 0; i < making->pieces; i++) {
		const struct piece *piece = &making->piece[i];
		const struct trace_period *period = piece->in.of;

		if (piece->is_first && !period->first_sequence &&
		    period->discarded_size &&
		    counter_growth(period->discarded_size, 0, period->first_discarded))
			add_first_loss(making, piece, piece->begin_ns);
	}
}

static void mark_losses(struct making *making)
{
	for (uint32_t i = 0; i < making->run->count; i++) {
		const struct recording_source *source = &making->source[i];
		const struct merge_source *of = &making->run->source[i];

		for (size_t k = 0; k < source->recorded.losses; k++) {
			const struct trace_loss *loss = &source->recorded.loss[k];

			add_loss(
			    making, i,
			    (struct recording_mark){
				.ts_ns = correct_instant(&of->clock, loss->begin_ns),
				.cpu = loss->cpu,
				.needs = needs_of(source, loss->channel),
				.other_ns = correct_instant(&of->clock, loss->end_ns)});
		}
	}
}

static int compare_marks(const void *a, const void *b)
{
	const struct recording_mark *p = a, *q = b;

	return COMPARE(p->ts_ns, q->ts_ns) ?:
	       COMPARE(p->kind, q->kind) ?:
	       COMPARE(p->cpu, q->cpu) ?:
	       COMPARE(p->is_final, q->is_final) ?:
	       COMPARE(p->other_ns, q->other_ns);
}

/* Sort the marks, and join those that differ only in their needs. */
static void sort_marks(struct mark_list *marks)
{
	size_t count = 0;

	SORT(marks->item, marks->count, compare_marks);
	for (size_t i = 0; i < marks->count; i++) {
		if (count && compare_marks(&marks->item[count - 1], &marks->item[i]) == 0)
			marks->item[count - 1].needs |= marks->item[i].needs;
		else
			marks->item[count++] = marks->item[i];
	}
	marks->count = count;
}

/* The synchronization, if there was one, has reported the same. */
static void report_missing(struct making *making)
{
	struct merge_run *run = making->run;
	struct problem_list problems = {NULL, 0, 0};

	for (size_t i = 0; i < run->count; i++) {
		const struct missing *missing = &making->missing[i];

		run->source[i].discarded_before = missing->events;
		trace_report_missing(run->sources.item[i].path, missing->packets,
				     missing->events, &problems);
	}
	merge_run_report(run, &problems);
}

struct recording *recording_new(struct merge_run *run,
				const struct recording_source *source)
{
	struct recording *recording = mem_zalloc(sizeof(*recording));
	struct making making = {
	    .run = run,
	    .source = source,
	    .missing = mem_zalloc((run->count + 1) * sizeof(*making.missing)),
	    .marks = mem_zalloc((run->nodes + 1) * sizeof(*making.marks)),
	    .recording = recording,
	};

	add_pieces(&making);
	connect_streams(&making);
	mark_first_losses(&making);
	trim_ends(&making);
	take_users(&making);
	mark_losses(&making);
	mark_lanes(&making);
	report_missing(&making);
	recording->nodes = run->nodes;
	recording->node = mem_zalloc((run->nodes + 1) * sizeof(*recording->node));
	for (size_t i = 0; i < run->nodes; i++) {
		sort_marks(&making.marks[i]);
		recording->node[i] = (struct recording_node){
		    .mark = making.marks[i].item, .marks = making.marks[i].count};
	}
	free(making.piece);
	free(making.missing);
	free(making.marks);
	return recording;
}

void recording_free(struct recording *recording)
{
	if (!recording)
		return;
	for (size_t i = 0; i < recording->nodes; i++)
		free(recording->node[i].mark);
	free(recording->node);
	free(recording->user);
	free(recording);
}
