/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chrome's JSON form ("Trace Event Format"): an object with a list of events. A row of
 * the viewer is a (pid, tid), so every track gets its own tid, and groups are omitted.
 * Times are microseconds, read into doubles: counted from the timeline's first instant
 * they are exact to the nanosecond for 104 days; counted from the epoch they would be
 * wrong by up to 0.25 us. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "export/perfetto/perfetto.h"
#include "export/perfetto/tracks.h"

static void add_micros(struct bytes *out, const char *name, nsec_t span_ns)
{
	uint64_t size = span_ns < 0 ? 0 - (uint64_t)span_ns : (uint64_t)span_ns;

	bytes_print(out, ",\"%s\":%s%" PRIu64 ".%03u", name, span_ns < 0 ? "-" : "",
		    size / 1000, (unsigned)(size % 1000));
}

/* {"ph":"X","pid":1,"tid":2; a node and its counters have no tid. */
static void begin_event(struct perfetto *perfetto, const char *phase,
			const struct perfetto_track *track)
{
	struct bytes *out = &perfetto->out;

	bytes_add_text(out, perfetto->any ? ",\n" : "\n");
	perfetto->any = true;
	bytes_print(out, "{\"ph\":\"%s\",\"pid\":%" PRId32, phase, track->pid);
	if (track->tid)
		bytes_print(out, ",\"tid\":%" PRId32, track->tid);
}

static void add_metadata(struct perfetto *perfetto, const struct perfetto_track *track,
			 const char *what, const char *name)
{
	begin_event(perfetto, "M", track);
	bytes_print(&perfetto->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	json_add_word(&perfetto->out, name);
	bytes_add_text(&perfetto->out, "}}");
}

static void add_order(struct perfetto *perfetto, const struct perfetto_track *track,
		      const char *what, int32_t rank)
{
	begin_event(perfetto, "M", track);
	bytes_print(&perfetto->out, ",\"name\":\"%s\",\"args\":", what);
	bytes_print(&perfetto->out, "{\"sort_index\":%" PRId32 "}}", rank);
}

static void json_track(struct perfetto *perfetto, const struct perfetto_track *track)
{
	if (track->kind == PERFETTO_NODE) {
		add_metadata(perfetto, track, "process_name", track->full_name);
		add_order(perfetto, track, "process_sort_index", track->rank);
	} else if (track->kind == PERFETTO_THREAD || track->kind == PERFETTO_ROW) {
		add_metadata(perfetto, track, "thread_name", track->full_name);
		add_order(perfetto, track, "thread_sort_index", track->rank);
	}
}

static void add_values(struct bytes *out, const struct perfetto_event *event)
{
	bytes_add_text(out, ",\"args\":{");
	for (size_t i = 0; i < event->values; i++) {
		const struct perfetto_value *value = &event->value[i];

		if (i)
			bytes_add_byte(out, ',');
		json_add_word(out, value->name->text);
		bytes_add_byte(out, ':');
		if (value->cell.type == CELL_INTEGER)
			bytes_print(out, "%" PRId64, value->cell.integer);
		else
			json_add_word(out, value->cell.bytes);
	}
	bytes_add_byte(out, '}');
}

static void add_count(struct bytes *out, const struct perfetto_event *event)
{
	const char *unit = event->track->unit;

	bytes_add_text(out, ",\"name\":");
	json_add_word(out, event->track->full_name);
	bytes_add_text(out, ",\"args\":{");
	json_add_word(out, unit && *unit ? unit : "value");
	bytes_add_byte(out, ':');
	json_add_real(out, event->count);
	bytes_add_text(out, "}}");
}

/*
 * An arrow's end wants a slice, so an instant that has one is a slice of no length.
 */
static void json_event(struct perfetto *perfetto, const struct perfetto_event *event)
{
	struct bytes *out = &perfetto->out;
	bool is_count = event->kind == PERFETTO_COUNT;
	bool is_point = event->kind == PERFETTO_INSTANT && !event->arrow;
	nsec_t end_ns = event->kind == PERFETTO_SLICE ? event->end_ns : event->begin_ns;

	begin_event(perfetto, is_count ? "C" : is_point ? "i" : "X", event->track);
	add_micros(out, "ts",
		   nsec_sub(event->begin_ns, perfetto->export->scope.origin_ns));
	if (is_count) {
		add_count(out, event);
		return;
	}
	if (is_point)
		bytes_add_text(out, ",\"s\":\"t\"");
	else
		add_micros(out, "dur", nsec_sub(end_ns, event->begin_ns));
	bytes_add_text(out, ",\"cat\":");
	json_add_word(out, event->category);
	bytes_add_text(out, ",\"name\":");
	json_add_word(out, event->name);
	if (event->arrow)
		bytes_print(out, ",\"bind_id\":\"0x%" PRIx64 "\",\"%s\":true",
			    event->arrow > 0 ? (uint64_t)event->arrow
					     : -(uint64_t)event->arrow,
			    event->arrow > 0 ? "flow_out" : "flow_in");
	if (event->values)
		add_values(out, event);
	bytes_add_byte(out, '}');
}

static void json_begin(struct perfetto *perfetto)
{
	bytes_print(&perfetto->out,
		    "{\"displayTimeUnit\":\"ns\",\"otherData\":{"
		    "\"clock\":\"the run's reference\",\"origin_ns\":\"%" PRId64 "\"},"
		    "\"traceEvents\":[",
		    perfetto->export->scope.origin_ns);
}

const struct perfetto_form perfetto_json = {
    .begin = json_begin,
    .track = json_track,
    .event = json_event,
    .end = "\n]}\n",
};
