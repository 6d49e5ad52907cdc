/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/perfetto/writer.h"

#include <assert.h>
#include <errno.h>

enum { FLUSH_BYTES = 64 * 1024 };

static int flush(struct perfetto_writer *writer, size_t at_least)
{
	if (writer->out.size >= at_least) {
		errno = 0;
		if (!writer->failed && fwrite(writer->out.data, 1, writer->out.size,
					      writer->file) != writer->out.size)
			writer->failed = errno ? errno : EIO;
		bytes_empty(&writer->out, 2 * FLUSH_BYTES);
	}
	return writer->failed ? -1 : 0;
}

int perfetto_write_event(struct perfetto_writer *writer,
			 const struct perfetto_event *event)
{
	writer->events++;
	writer->ops->event(writer, event);
	return flush(writer, FLUSH_BYTES);
}

int perfetto_write_counter(struct perfetto_writer *writer,
			   const struct perfetto_track *track, nsec_t at_ns, double value)
{
	writer->events++;
	writer->ops->counter(writer, track, at_ns, value);
	return flush(writer, FLUSH_BYTES);
}

int perfetto_write_end(struct perfetto_writer *writer, struct error *error)
{
	writer->ops->end(writer);
	if (flush(writer, 0) == 0)
		return 0;
	errno = writer->failed;
	return error_errno(error, writer->name);
}

void perfetto_writer_free(struct perfetto_writer *writer)
{
	if (!writer)
		return;
	bytes_clear(&writer->out);
	writer->ops->free(writer);
}

static struct perfetto_value *add(struct perfetto_event *event,
				  struct perfetto_word *name)
{
	assert(event->values < PERFETTO_VALUES);
	event->value[event->values].name = name;
	return &event->value[event->values++];
}

void perfetto_add_integer(struct perfetto_event *event, struct perfetto_word *name,
			  int64_t value)
{
	struct perfetto_value *at = add(event, name);

	at->type = PERFETTO_INTEGER;
	at->integer = value;
}

void perfetto_add_text(struct perfetto_event *event, struct perfetto_word *name,
		       const char *text)
{
	struct perfetto_value *at;

	if (!text || !*text)
		return;
	at = add(event, name);
	at->type = PERFETTO_TEXT;
	at->text = text;
}
