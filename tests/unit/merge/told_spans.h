/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_TOLD_SPANS_H
#define CT_TEST_TOLD_SPANS_H

/*
 * A kernel's events, made by hand, and the spans that the timeline has of them, as text:
 * a line a span, in the order in which they ended. Node 1 has processors 0 and 1, node 2
 * has one; both end at MADE_END.
 */
#include "kernel_events.h"
#include "made_up_class.h"
#include "merge/spans/span_rows.h"
#include "merge/spans/spans.h"
#include "timeline/rows.h"

/* For each packet's event, what was told of it. */
struct made_cause {
	int64_t event, node;
	nsec_t ts_ns;
	struct span_cause cause;
	bool is_sent;
};

static struct merge_node made_nodes[2] = {{.id = 1, .name = (char *)"n1"},
					  {.id = 2, .name = (char *)"n2"}};
static struct merge_run made_run = {.node = made_nodes, .nodes = 2};
static struct spans *made_spans;
static struct trace_class made_trace_class[KINDS];
static struct trace_column made_trace_column[KINDS][7];
static struct event_class made_known[KINDS]; /* of NULL: no event of it yet */
static int64_t made_node, made_events;
static nsec_t made_first, made_last; /* what is selected */
static struct made_cause made_cause[32];
static size_t made_causes;

static inline void made_begin(void)
{
	spans_free(made_spans);
	made_spans = spans_new(&made_run, NSEC_MIN);
	for (int i = 0; i < KINDS; i++)
		made_known[i].of = NULL;
	made_node = 1;
	made_events = 0;
	made_causes = 0;
	made_first = 0;
	made_last = MADE_END;
}

static inline int made_set_up(void **state __attribute__((unused)))
{
	made_begin();
	return 0;
}

/* A test that begins without events. */
#define SPAN_TEST(name) FIXTURE_TEST(name, made_set_up, NULL)

/* Only events from one time to another are selected. */
static inline void made_select(nsec_t first, nsec_t last)
{
	made_first = first;
	made_last = last;
}

/* Both nodes record such events. */
static inline void made_records(enum made_kind kind)
{
	const struct timeline_class *made = &made_class[kind];
	struct trace_class *class = &made_trace_class[kind];

	if (made_known[kind].of)
		return;
	*class = (struct trace_class){.name = (char *)made->name,
				      .column = made_trace_column[kind],
				      .columns = made->columns};
	for (size_t i = 0; i < made->columns; i++)
		class->column[i] = (struct trace_column){(char *)made->column[i].name,
							 made->column[i].type, false};
	made_up(class, &made_known[kind]);
	for (uint32_t node = 0; node < 2; node++)
		spans_class(made_spans, node, &made_known[kind]);
}

static int64_t made_event(enum made_kind kind, nsec_t ts_ns, int32_t cpu, int64_t tid,
			  const struct cell *cell)
{
	struct error error = ERROR_INIT;
	struct span_cause cause;
	struct merged_event event = {.id = ++made_events,
				     .node = (uint32_t)made_node - 1,
				     .ts_ns = ts_ns,
				     .cpu = cpu,
				     .tid = tid,
				     .cell = cell};

	if (ts_ns < made_first || ts_ns > made_last)
		return made_events;
	made_records(kind);
	event.class = &made_known[kind];
	assert_int_equal(spans_event(made_spans, &event, &cause, &error), 0);
	if (kind == SEND || kind == RECEIVE)
		made_cause[made_causes++] = (struct made_cause){
		    made_events, made_node, ts_ns, cause, kind == SEND};
	return made_events;
}

static const char made_thread_sql[] =
    "SELECT node || '/' || tid || CASE state WHEN 'running' THEN ' runs' WHEN 'runnable' "
    "THEN ' waits' WHEN 'dead' THEN ' dead' ELSE ' sleeps' END || ' ' "
    "|| iif(cut & 1, '...', '') || begin_ns || '-' || end_ns || iif(cut & 2, '...', '') "
    "|| coalesce(' cpu' || cpu, '') || iif(preempted, ' preempted', '') "
    "|| iif(wake_event IS NULL, '', ' by ' || coalesce(iif(wait_assumed AND NOT :assume, "
    "NULL, wait), 'unknown') || ' ' || coalesce(waker_tid, -1) || ' #' || wake_event) "
    "|| iif(wait_assumed AND NOT :assume, '', coalesce(' packet #' || wake_last_recv, "
    "'') "
    "|| iif(wake_first_recv <> wake_last_recv, ' of those from #' || wake_first_recv, "
    "'')) "
    "|| coalesce(' in ' || syscall, '') || coalesce(' then ' || next_tid, '') "
    "|| coalesce(' after ' || prev_tid, '') || coalesce(' state ' || switch_state, '') "
    "FROM thread_state ORDER BY id";
static const char made_interrupt_sql[] =
    "SELECT node || '/cpu' || cpu || ' ' || kind || ' ' || number || ' ' "
    "|| coalesce(name, '') || ' ' || iif(cut & 1, '...', '') || begin_ns || '-' || "
    "end_ns "
    "|| iif(cut & 2, '...', '') || coalesce(' raised ' || raised_ns, '') "
    "|| iif(inner_ns, ' inner ' || inner_ns, '') || ' on ' || coalesce(tid, -1) "
    "FROM irq ORDER BY id";
static const char made_syscall_sql[] =
    "SELECT node || '/' || tid || ' ' || name || ' ' || iif(cut & 1, '...', '') || "
    "begin_ns || '-' || end_ns || iif(cut & 2, '...', '') || coalesce(' = ' || ret, '') "
    "|| coalesce(' fd ' || fd, '') || coalesce(' count ' || count, '') "
    "|| coalesce(' path ' || path, '') || ' #' || coalesce(entry_event, 0) || ' #' "
    "|| coalesce(exit_event, 0) FROM syscall ORDER BY id";
static const char made_disk_sql[] =
    "SELECT node || '/' || dev || ' ' || operation || ' ' || sector || '+' "
    "|| (bytes / 512) || ' ' || iif(cut & 1, '...', '') || begin_ns || '-' || end_ns "
    "|| iif(cut & 2, '...', '') || coalesce(' issued ' || issue_ns, '') "
    "|| iif(merged, ' merged ' || merged, '') || ' by ' || coalesce(tid, -1) "
    "FROM block_request ORDER BY id";

static inline void made_tell(FILE *out, struct timeline_reader *reader, const char *sql,
			     bool assume)
{
	struct error error = ERROR_INIT;
	struct timeline_query *query = timeline_query_new(reader, sql, &error);
	const struct cell cell = INTEGER(assume);
	size_t cells = query ? timeline_query_parameters(query) : 0;

	assert_string_equal(error_text(&error), "");
	assert_int_equal(timeline_query_ask(query, &cell, cells, &error), 0);
	while (timeline_query_next(query, &error) > 0) {
		const struct cell *row = timeline_query_row(query);

		fprintf(out, "%.*s\n", (int)row->size, row->bytes);
	}
	timeline_query_free(query);
}

static inline void made_tell_packets(FILE *out, bool received, bool assume)
{
	for (size_t i = 0; i < made_causes; i++) {
		const struct made_cause *made = &made_cause[i];
		struct span_cause cause = made->cause;
		bool is_hidden;

		if (!made->is_sent && !received)
			continue;
		if (!made->is_sent) {
			fprintf(out, "%" PRId64 " #%" PRId64 " came, with #%" PRId64 "\n",
				made->node, made->event, cause.first_recv);
			continue;
		}
		is_hidden = cause.is_assumed && !assume;
		fprintf(out, "%" PRId64 " #%" PRId64 " at %" PRId64 " by %s %" PRId64,
			made->node, made->event, made->ts_ns,
			is_hidden || !cause.wait ? "unknown" : span_wait_name(cause.wait),
			cause.tid);
		if (!is_hidden && cause.last_recv)
			fprintf(out, " packet #%" PRId64, cause.last_recv);
		if (!is_hidden && cause.first_recv != cause.last_recv)
			fprintf(out, " of those from #%" PRId64, cause.first_recv);
		fputc('\n', out);
	}
}

enum {
	THREADS = 1,
	INTERRUPTS = 2,
	SYSCALLS = 4,
	DISKS = 8,
	PACKETS = 16,
	RECEIVED = 32,
	ASSUMED = 64
};

/* End the events and tell of some kinds of spans; for free(). */
static inline char *made_told(unsigned kinds)
{
	struct error error = ERROR_INIT;
	struct timeline_writer *writer;
	struct processes *processes = processes_new(4);
	struct timeline_reader *reader;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	unlink("t");
	writer = timeline_writer_new("t", NULL, true, &error);
	assert_int_equal(spans_end(made_spans, made_last, &error), 0);
	assert_int_equal(spans_write(made_spans,
				     &(struct spans_write_config){.processes = processes,
								  .writer = writer,
								  .threads = 2},
				     &error),
			 0);
	finish_timeline(writer);
	reader = timeline_reader_open_own("t", "t", &error);
	assert_string_equal(error_text(&error), "");
	if (kinds & INTERRUPTS)
		made_tell(out, reader, made_interrupt_sql, false);
	if (kinds & SYSCALLS)
		made_tell(out, reader, made_syscall_sql, false);
	if (kinds & DISKS)
		made_tell(out, reader, made_disk_sql, false);
	if (kinds & PACKETS)
		made_tell_packets(out, kinds & RECEIVED, kinds & ASSUMED);
	if (kinds & THREADS)
		made_tell(out, reader, made_thread_sql, kinds & ASSUMED);
	fclose(out);
	timeline_reader_free(reader);
	processes_free(processes);
	spans_free(made_spans);
	made_spans = NULL;
	return text;
}

#define assert_told(kinds, wanted)                                                       \
	do {                                                                             \
		char *told_ = made_told(kinds);                                          \
		assert_string_equal(told_, (wanted));                                    \
		free(told_);                                                             \
	} while (0)

/* The spans are told with each of these parts. */
#define assert_told_has(kinds, ...)                                                      \
	do {                                                                             \
		const char *part_[] = {__VA_ARGS__};                                     \
		char *told_ = made_told(kinds);                                          \
		for (size_t i_ = 0; i_ < sizeof(part_) / sizeof(*part_); i_++)           \
			assert_non_null(strstr(told_, part_[i_]));                       \
		free(told_);                                                             \
	} while (0)

#endif
