/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "ctf/reader_private.h"

int ctf_reader_kind_find(const char *name, enum ctf_reader_kind *kind)
{
	*kind =
	    strcmp(name, "babeltrace2") == 0 ? CTF_READER_BABELTRACE2 : CTF_READER_OWN;
	return *kind == CTF_READER_OWN && strcmp(name, "auto") != 0 &&
		       strcmp(name, "native") != 0
		   ? -1
		   : 0;
}

bool ctf_is_trace(const char *path)
{
	char *metadata = mem_printf("%s/metadata", path);
	struct stat status;
	bool found = stat(metadata, &status) == 0 && S_ISREG(status.st_mode);

	free(metadata);
	return found;
}

struct ctf_reader *ctf_reader_open(const char *path, enum ctf_reader_kind kind,
				   struct error *error)
{
	return kind == CTF_READER_BABELTRACE2 ? ctf_babeltrace2_open(path, error)
					      : ctf_own_open(path, error);
}

void ctf_reader_init(struct ctf_reader *reader, const struct ctf_reader_ops *ops,
		     const char *path)
{
	reader->ops = ops;
	reader->path = mem_strdup(path);
}

const struct ctf_class *ctf_reader_class(const struct ctf_reader *reader, uint32_t index)
{
	return index < reader->classes ? reader->class[index] : NULL;
}

const struct ctf_class *ctf_reader_columns(struct ctf_reader *reader, uint32_t index)
{
	struct ctf_class *class = index < reader->classes ? reader->class[index] : NULL;

	if (class && !class->has_columns) {
		reader->ops->columns(reader, index);
		class->has_columns = true;
	}
	return class;
}

void ctf_reader_select(struct ctf_reader *reader, uint32_t index,
		       const struct ctf_selection *selection)
{
	reader->ops->select(reader, index, selection);
}

void ctf_reader_begin(struct ctf_reader *reader, nsec_t local_ns)
{
	if (reader->ops->begin)
		reader->ops->begin(reader, local_ns);
}

/* At the end: what the tracer lost, and stamps that went backwards. */
static void tell_lost(struct ctf_reader *reader)
{
	const struct ctf_facts *facts = &reader->facts;
	struct problem_list *problems = &reader->problems;

	if (facts->discarded_events)
		problem_add(problems, reader->path, "discarded", facts->discarded_events,
			    "the tracer discarded %llu events",
			    (unsigned long long)facts->discarded_events);
	if (facts->discarded_packets)
		problem_add(problems, reader->path, "discarded", facts->discarded_packets,
			    "the tracer discarded %llu packets of events",
			    (unsigned long long)facts->discarded_packets);
	if (facts->backward && !facts->is_partial)
		problem_add(problems, reader->path, "backward", facts->backward,
			    "%llu stamps lie before the one before in their stream",
			    (unsigned long long)facts->backward);
}

bool ctf_reader_step(struct ctf_reader *reader, uint64_t most, ctf_event_fn *give,
		     void *context)
{
	if (reader->has_ended)
		return false;
	reader->give = give;
	reader->context = context;
	reader->has_ended = !reader->ops->step(reader, most ? most : 1);
	if (reader->has_ended)
		tell_lost(reader);
	return !reader->has_ended;
}

const struct ctf_facts *ctf_reader_facts(const struct ctf_reader *reader)
{
	return &reader->facts;
}

struct problem_list *ctf_reader_problems(struct ctf_reader *reader)
{
	return &reader->problems;
}

static void free_class(struct ctf_class *class)
{
	for (size_t i = 0; i < class->columns; i++)
		free(class->column[i].name);
	free(class->column);
	free(class->name);
	free(class);
}

void ctf_reader_free(struct ctf_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->classes; i++)
		free_class(reader->class[i]);
	free(reader->class);
	problem_clear(&reader->problems);
	free(reader->heap.head);
	free(reader->path);
	reader->ops->free(reader);
}

struct ctf_class *ctf_reader_add_class(struct ctf_reader *reader, const char *name,
				       uint64_t id)
{
	struct ctf_class *class = mem_zalloc(sizeof(*class));

	class->name = *name ? mem_strdup(name) : mem_printf("event_%" PRIu64, id);
	reader->class = mem_grow(reader->class, reader->classes, &reader->room,
				 sizeof(*reader->class));
	reader->class[reader->classes++] = class;
	return class;
}

void ctf_class_add_column(struct ctf_class *class, const char *name, enum cell_type type,
			  bool context)
{
	class->column =
	    mem_realloc(class->column, class->columns + 1, sizeof(*class->column));
	class->column[class->columns++] =
	    (struct ctf_column){mem_strdup(name), type, context};
}

void ctf_tell_garbled(struct ctf_reader *reader, const struct ctf_progress *stream)
{
	problem_add(&reader->problems, reader->path, "garbled", 1,
		    "stream %u has events after the end of their packet, the "
		    "%llu up to there may have wrong stamps",
		    stream->index, (unsigned long long)stream->events);
}

void ctf_heap_init(struct ctf_stream_heap *heap, size_t streams)
{
	heap->head = mem_zalloc(streams * sizeof(struct ctf_stream_head *) + 1);
	heap->count = 0;
}

void ctf_heap_add(struct ctf_stream_heap *heap, struct ctf_stream_head *head)
{
	heap->head[heap->count++] = head;
}

nsec_t ctf_heap_second(const struct ctf_stream_heap *heap)
{
	nsec_t head = NSEC_MAX;

	for (size_t i = 1; i < heap->count && i < 3; i++)
		if (heap->head[i]->head_ns < head)
			head = heap->head[i]->head_ns;
	return head;
}

void ctf_heap_settle(struct ctf_stream_heap *heap)
{
	struct ctf_stream_head **head = heap->head;
	size_t at = 0, child;

	while ((child = 2 * at + 1) < heap->count) {
		struct ctf_stream_head *moved = head[at];

		if (child + 1 < heap->count &&
		    head[child + 1]->head_ns < head[child]->head_ns)
			child++;
		if (moved->head_ns <= head[child]->head_ns)
			return;
		head[at] = head[child];
		head[child] = moved;
		at = child;
	}
}

void ctf_heap_remove(struct ctf_stream_heap *heap)
{
	heap->head[0] = heap->head[--heap->count];
	ctf_heap_settle(heap);
}
