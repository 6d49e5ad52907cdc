/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chrome's JSON form ("Trace Event Format"): an object with a list of events. Its
 * rows are (pid, tid) and nothing else, so every track gets a tid of its own and groups
 * are left out. Its times are microseconds, read into doubles: since the timeline's
 * first instant they are exact to the nanosecond for 104 days, since the epoch they
 * would be by a quarter of a microsecond only.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "export/perfetto/perfetto.h"

static void add_micros(struct bytes *out, const char *name, nsec_t span_ns)
{
	uint64_t size = span_ns < 0 ? 0 - (uint64_t)span_ns : (uint64_t)span_ns;

	bytes_print(out, ",\"%s\":%s%" PRIu64 ".%03u", name, span_ns < 0 ? "-" : "",
		    size / 1000, (unsigned)(size % 1000));
}

/* {"ph":"X","pid":1,"tid":2; a node and its counters have no tid. */
static void begin_event(struct perfetto_writer *writer, const char *phase,
			const struct perfetto_place *place)
{
	struct bytes *out = &writer->out;

	bytes_add_text(out, writer->any ? ",\n" : "\n");
	writer->any = true;
	bytes_print(out, "{\"ph\":\"%s\",\"pid\":%" PRId32, phase, place->pid);
	if (place->tid)
		bytes_print(out, ",\"tid\":%" PRId32, place->tid);
}

static void add_metadata(struct perfetto_writer *writer,
			 const struct perfetto_place *place, const char *what,
			 const char *name)
{
	begin_event(writer, "M", place);
	bytes_print(&writer->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	json_add_word(&writer->out, name);
	bytes_add_text(&writer->out, "}}");
}

static void add_order(struct perfetto_writer *writer, const struct perfetto_place *place,
		      const char *what, int32_t rank)
{
	begin_event(writer, "M", place);
	bytes_print(&writer->out, ",\"name\":\"%s\",\"args\":", what);
	bytes_print(&writer->out, "{\"sort_index\":%" PRId32 "}}", rank);
}

static void json_track(struct perfetto_writer *writer, const struct perfetto_track *track)
{
	if (track->kind == PERFETTO_NODE) {
		add_metadata(writer, &track->place, "process_name", track->full_name);
		add_order(writer, &track->place, "process_sort_index", track->rank);
	} else if (track->kind == PERFETTO_THREAD || track->kind == PERFETTO_ROW) {
		add_metadata(writer, &track->place, "thread_name", track->full_name);
		add_order(writer, &track->place, "thread_sort_index", track->rank);
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

/*
 * An arrow's end wants a slice, so an instant that has one is a slice of no length.
 */
static void json_event(struct perfetto_writer *writer, const struct perfetto_event *event)
{
	struct bytes *out = &writer->out;
	bool point = event->instant && event->end == PERFETTO_NO_END;

	begin_event(writer, point ? "i" : "X", &event->place);
	add_micros(out, "ts", nsec_sub(event->begin_ns, writer->origin_ns));
	if (point)
		bytes_add_text(out, ",\"s\":\"t\"");
	else
		add_micros(out, "dur", nsec_sub(event->end_ns, event->begin_ns));
	bytes_add_text(out, ",\"cat\":");
	json_add_word(out, event->category);
	bytes_add_text(out, ",\"name\":");
	json_add_word(out, event->name);
	if (event->end != PERFETTO_NO_END)
		bytes_print(out, ",\"bind_id\":\"0x%" PRIx64 "\",\"%s\":true",
			    event->flow,
			    event->end == PERFETTO_FIRST_END ? "flow_out" : "flow_in");
	if (event->values)
		add_values(out, event);
	bytes_add_byte(out, '}');
}

static void json_counter(struct perfetto_writer *writer,
			 const struct perfetto_track *track, nsec_t at_ns, double value)
{
	struct bytes *out = &writer->out;

	begin_event(writer, "C", &track->place);
	add_micros(out, "ts", nsec_sub(at_ns, writer->origin_ns));
	bytes_add_text(out, ",\"name\":");
	json_add_word(out, track->full_name);
	bytes_add_text(out, ",\"args\":{");
	json_add_word(out, track->unit && *track->unit ? track->unit : "value");
	bytes_add_byte(out, ':');
	json_add_real(out, value);
	bytes_add_text(out, "}}");
}

static void json_begin(struct perfetto_writer *writer)
{
	bytes_print(&writer->out,
		    "{\"displayTimeUnit\":\"ns\",\"otherData\":{"
		    "\"clock\":\"the run's reference\",\"origin_ns\":\"%" PRId64 "\"},"
		    "\"traceEvents\":[",
		    writer->origin_ns);
}

const struct perfetto_form perfetto_json = {
    .begin = json_begin,
    .track = json_track,
    .event = json_event,
    .counter = json_counter,
    .end = "\n]}\n",
};
