/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/ftrace/ftrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/ftrace/event_classes.h"

struct ftrace_stream {
	struct trace_progress progress;
	struct ring ring;
	struct ring_event next; /* read but not yet delivered, if has_next */
	bool has_next;
	struct trace_period period;    /* the current one, up to the last event read */
	struct trace_recorded earlier; /* the periods before it */
};

struct ftrace_reader {
	struct trace_reader base;
	struct trace_dat dat;
	struct ftrace_stream *stream;
	struct event_classes classes;
	uint64_t unknown; /* number of events without a class */
};

static void deliver_event(struct ftrace_reader *reader, struct ftrace_stream *stream)
{
	int32_t class = event_classes_find(&reader->classes, &stream->next);
	struct trace_event event = {
	    .local_ns = (nsec_t)stream->next.ts,
	    .stream = stream->progress.index,
	    .cpu = stream->progress.cpu,
	    .ordinal = stream->progress.tally.events,
	    .class = (uint32_t) class,
	};

	trace_tally_add(&stream->progress.tally, event.local_ns);
	if (class < 0) {
		reader->unknown++;
		return;
	}
	if (reader->base.class[class] -> selected == SELECT_NOTHING)
		return;
	if (reader->base.class[class] -> fields)
		event.cell =
		    event_classes_fetch(&reader->classes, (size_t) class, &stream->next);
	reader->base.on_event(reader->base.context, &event);
}

/* Convert a timestamp to nanoseconds; only x86's counter has a rate of its own. */
static uint64_t timestamp_ns(const struct trace_dat *dat, uint64_t ts)
{
	if (!dat->tsc_mult)
		return ts;
	return (uint64_t)((unsigned __int128)ts * dat->tsc_mult >> dat->tsc_shift) +
	       dat->tsc_offset_ns;
}

static void add_period(struct trace_recorded *recorded, const struct trace_period *period)
{
	if (period->first_event_ns < NSEC_MAX)
		*MEM_NEXT(recorded->period, recorded->periods,
			  recorded->period_capacity) = *period;
}

/* Add an event to a period; if events were lost before it, begin a new period. */
static void add_to_period(struct trace_recorded *recorded, struct trace_period *period,
			  const struct ring_event *event, nsec_t ts_ns)
{
	if (event->has_loss) {
		add_period(recorded, period);
		period->first_event_ns = NSEC_MAX;
	}
	if (period->first_event_ns == NSEC_MAX)
		period->begin_ns = period->first_end_ns = period->first_event_ns = ts_ns;
	period->end_ns = ts_ns;
}

/* Read the next event of a stream. Return false at its end. */
static bool read_next(struct ftrace_reader *reader, struct ftrace_stream *stream)
{
	struct trace_reader *base = &reader->base;
	struct error error = ERROR_INIT;
	int status = ring_next(&stream->ring, &stream->next, &error);

	if (status < 0)
		problem_add(&base->problems, "", PROBLEM_BROKEN, 1,
			    "%s; later events of processor %d skipped",
			    error_text(&error), stream->progress.cpu);
	error_clear(&error);
	if (stream->next.has_loss)
		base->facts.discarded_events +=
		    stream->next.is_loss_unknown ? 1 : stream->next.lost;
	if (status <= 0)
		return false;
	stream->next.ts = timestamp_ns(&reader->dat, stream->next.ts) +
			  (uint64_t)base->facts.clock_offset_ns;
	stream->has_next =
	    stream->next.ts <= INT64_MAX && nsec_is_stamp((nsec_t)stream->next.ts);
	if (!stream->has_next)
		problem_add(&base->problems, base->path, PROBLEM_BROKEN, 1,
			    "processor %d: a timestamp of %" PRIu64
			    " ns is out of range; it and later events skipped",
			    stream->progress.cpu, stream->next.ts);
	else
		add_to_period(&stream->earlier, &stream->period, &stream->next,
			      (nsec_t)stream->next.ts);
	return stream->has_next;
}

static bool run_stream(struct trace_reader *base, struct trace_progress *progress,
		       nsec_t until)
{
	struct ftrace_reader *reader = (struct ftrace_reader *)base;
	struct ftrace_stream *stream = (struct ftrace_stream *)progress;

	while (progress->tally.events < progress->stop_at) {
		if (!stream->has_next && !read_next(reader, stream))
			return false;
		if ((nsec_t)stream->next.ts > until) {
			progress->head_ns = (nsec_t)stream->next.ts;
			return true;
		}
		deliver_event(reader, stream);
		stream->has_next = false;
	}
	progress->head_ns = progress->tally.last_ns;
	return true;
}

static struct trace_period new_period(const struct trace_reader *base, size_t stream)
{
	return (struct trace_period){.first_event_ns = NSEC_MAX,
				     .has_last_events = true,
				     .cpu = base->stream[stream]->cpu,
				     .instance = stream};
}

/* Record the periods of the streams, which have been read. */
static void add_read_periods(const struct ftrace_reader *reader,
			     struct trace_recorded *recorded)
{
	for (size_t i = 0; i < reader->base.streams; i++) {
		const struct ftrace_stream *stream = &reader->stream[i];

		for (size_t k = 0; k < stream->earlier.periods; k++)
			add_period(recorded, &stream->earlier.period[k]);
		add_period(recorded, &stream->period);
	}
}

/*
 * Record a period from the first to the last event of each processor, except the times in
 * which the kernel lost events: from the last event before to the first one after the
 * loss.
 */
static void ftrace_recorded(const struct trace_reader *base, nsec_t until_ns,
			    struct trace_recorded *recorded)
{
	const struct ftrace_reader *reader = (const struct ftrace_reader *)base;

	if (base->has_ended) {
		add_read_periods(reader, recorded);
		return;
	}
	for (size_t i = 0; i < base->streams; i++) {
		const struct ring *of = &reader->stream[i].ring;
		struct trace_period period = new_period(base, i);
		struct error ignored = ERROR_INIT;
		struct ring_event event;
		struct ring ring;

		ring_init(&ring, of->dat, of->buffer, of->cpu);
		while (ring_next(&ring, &event, &ignored) > 0) {
			nsec_t ts_ns = (nsec_t)timestamp_ns(&reader->dat, event.ts) +
				       base->facts.clock_offset_ns;

			add_to_period(recorded, &period, &event, ts_ns);
			if (ts_ns > until_ns)
				break;
			ring_skip(&ring);
		}
		add_period(recorded, &period);
		error_clear(&ignored);
		ring_clear(&ring);
	}
}

static void report_skipped(struct ftrace_reader *reader)
{
	struct trace_reader *base = &reader->base;
	uint64_t broken = 0;

	for (size_t i = 0; i < base->streams; i++)
		broken += reader->stream[i].ring.broken;
	if (broken)
		problem_add(&base->problems, base->path, PROBLEM_BROKEN, broken,
			    "%" PRIu64 " pages are damaged; rest of their events skipped",
			    broken);
	if (reader->dat.is_cut)
		problem_add(
		    &base->problems, base->path, PROBLEM_BROKEN, 1,
		    "truncated before the last of its pages; the present ones are used");
	if (reader->unknown)
		problem_add(&base->problems, base->path, PROBLEM_BROKEN, reader->unknown,
			    "%" PRIu64
			    " events of types that the file does not describe skipped",
			    reader->unknown);
}

static bool ftrace_step(struct trace_reader *base, uint64_t most)
{
	bool has_more;

	for (size_t i = 0; i < base->classes; i++)
		trace_fields_mark(base->class[i] -> fields, true);
	has_more = trace_reader_merge(base, most, run_stream);
	if (!has_more)
		report_skipped((struct ftrace_reader *)base);
	return has_more;
}

static void ftrace_free(struct trace_reader *base)
{
	struct ftrace_reader *reader = (struct ftrace_reader *)base;

	for (size_t i = 0; i < base->streams; i++) {
		ring_clear(&reader->stream[i].ring);
		trace_recorded_clear(&reader->stream[i].earlier);
	}
	event_classes_clear(&reader->classes);
	trace_dat_clear(&reader->dat);
	free(reader->stream);
}

/* The host is the second word of "Linux node1 6.1.0-13-amd64 #1 SMP ... x86_64". */
static void read_host(struct ftrace_reader *reader)
{
	const char *uname = reader->dat.uname;
	const char *host = uname ? strchr(uname, ' ') : NULL;
	struct trace_facts *facts = &reader->base.facts;

	if (host)
		snprintf(facts->hostname, sizeof(facts->hostname), "%.*s",
			 (int)strcspn(host + 1, " "), host + 1);
}

static bool has_pages(const struct trace_buffer *buffer)
{
	for (size_t i = 0; i < buffer->cpus; i++)
		if (buffer->cpu[i].size)
			return true;
	return false;
}

/*
 * Find the clock of all buffers. Return NULL with error if they have several. trace-cmd
 * stores the first buffer's clock separately, and only there is it right: each buffer has
 * the name of the main buffer's clock, although that buffer may not have been recorded.
 */
static const char *find_clock(const struct trace_dat *dat, struct error *error)
{
	const char *name = NULL;

	for (size_t i = 0; i < dat->buffers; i++) {
		const char *own = dat->buffer[i].clock;

		if (!own || !*own || !has_pages(&dat->buffer[i]))
			continue;
		if (name && strcmp(name, own)) {
			error_set(error,
				  "%s: buffers use the clocks `%s` and `%s`; record "
				  "them with one clock",
				  dat->path, name, own);
			return NULL;
		}
		name = own;
	}
	if (dat->clock)
		return dat->clock;
	return name ? name : "local";
}

/* Check the trace's clock: some clocks cannot be related to any other. */
static int read_clock(struct ftrace_reader *reader, struct error *error)
{
	const char *name = find_clock(&reader->dat, error);
	struct schema_clock clock = {.frequency = NSEC_PER_SEC};
	bool is_tsc = name && !strcmp(name, "x86-tsc");

	if (!name)
		return -1;
	if (!strcmp(name, "counter") || !strcmp(name, "uptime") ||
	    (is_tsc && !reader->dat.tsc_mult))
		return error_set(error,
				 "%s: recorded with the clock `%s`, which does not count "
				 "nanoseconds; record with trace-cmd record -C mono",
				 reader->base.path, name);
	if (!is_tsc)
		reader->dat.tsc_mult = 0;
	/* LTTng's name for CLOCK_MONOTONIC. */
	clock.identity =
	    strcmp(name, "mono") ? (char *)(uintptr_t)name : (char[]){"monotonic"};
	trace_reader_set_clock(&reader->base, NULL, &clock);
	reader->base.facts.has_no_headers = true;
	reader->base.facts.counts_from_boot = true;
	return 0;
}

static void add_streams(struct ftrace_reader *reader)
{
	const struct trace_dat *dat = &reader->dat;
	struct ftrace_stream *stream;
	size_t streams = 0;

	for (size_t i = 0; i < dat->buffers; i++)
		streams += dat->buffer[i].cpus;
	reader->stream = stream = mem_zalloc(streams * sizeof(*stream) + 1);
	for (size_t i = 0; i < dat->buffers; i++)
		for (size_t k = 0; k < dat->buffer[i].cpus; k++, stream++) {
			const struct cpu_pages *cpu = &dat->buffer[i].cpu[k];

			ring_init(&stream->ring, dat, &dat->buffer[i], cpu);
			trace_reader_add_stream(&reader->base, &stream->progress);
			stream->progress.cpu = (int32_t)cpu->cpu;
			stream->period =
			    new_period(&reader->base, reader->base.streams - 1);
		}
}

struct trace_reader *ftrace_open(const char *path, struct error *error)
{
	struct ftrace_reader *reader = mem_zalloc(sizeof(*reader));
	int status;

	trace_reader_init(&reader->base, path, ftrace_step, ftrace_free);
	reader->base.recorded = ftrace_recorded;
	status = trace_dat_open(&reader->dat, path, error);
	if (!status) {
		read_host(reader);
		status = read_clock(reader, error) ||
				 event_classes_add(&reader->classes, &reader->base,
						   &reader->dat, error)
			     ? -1
			     : 0;
	}
	if (!status) {
		add_streams(reader);
		return &reader->base;
	}
	trace_reader_free(&reader->base);
	return NULL;
}
