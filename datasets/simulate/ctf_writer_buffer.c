/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/ctf_writer_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { BUFFER_BYTES = 16384 }; /* a node; more for a longer record */

/* A record is this, its values, its headers if any, and its texts. */
struct entry {
	struct sim_ctf_record record;
	size_t size; /* of all */
	union sim_value value[];
};

static bool is_text(enum sim_type type)
{
	return type == SIM_TEXT || type == SIM_COMM;
}

static size_t size_of(const struct sim_event *event, const struct sim_headers *headers)
{
	const struct sim_class *class = event->class;
	size_t size = sizeof(struct entry) + class->fields * sizeof(union sim_value);

	if (headers)
		size += sizeof(*headers);
	for (size_t i = 0; i < class->fields; i++)
		if (is_text(class->field[i].type) && event->value[i].text)
			size += strlen(event->value[i].text) + 1;
	return (size + _Alignof(struct entry) - 1) / _Alignof(struct entry) *
	       _Alignof(struct entry);
}

static bool make_room(struct sim_ctf_buffer *buffer, size_t size)
{
	if (buffer->next == buffer->used)
		buffer->next = buffer->used = 0;
	if (size <= buffer->size - buffer->used)
		return true;
	if (buffer->used)
		return false;
	buffer->size = size > BUFFER_BYTES ? size : BUFFER_BYTES;
	free(buffer->bytes);
	buffer->bytes = mem_alloc(buffer->size);
	return true;
}

static void copy_values(struct entry *entry, const struct sim_event *event,
			const struct sim_headers *headers)
{
	const struct sim_class *class = event->class;
	unsigned char *at = (unsigned char *)(entry->value + class->fields);

	if (headers) {
		memcpy(at, headers, sizeof(*headers));
		entry->record.headers = (const struct sim_headers *)(void *)at;
		at += sizeof(*headers);
	}
	for (size_t i = 0; i < class->fields; i++) {
		entry->value[i] = event->value[i];
		if (is_text(class->field[i].type) && event->value[i].text) {
			entry->value[i].text = (const char *)at;
			at = (unsigned char *)stpcpy((char *)at, event->value[i].text);
			at++;
		}
	}
}

bool sim_ctf_buffer_add(struct sim_ctf_buffer *buffer, const struct sim_event *event,
			uint64_t class_id, const struct sim_headers *headers)
{
	size_t size = size_of(event, headers);
	struct entry *entry;

	if (!make_room(buffer, size))
		return false;
	entry = (struct entry *)(void *)(buffer->bytes + buffer->used);
	entry->record = (struct sim_ctf_record){*event, class_id, NULL};
	entry->record.event.value = entry->value;
	entry->size = size;
	copy_values(entry, event, headers);
	buffer->used += size;
	return true;
}

static const struct entry *first(const struct sim_ctf_buffer *buffer)
{
	return (const struct entry *)(const void *)(buffer->bytes + buffer->next);
}

const struct sim_ctf_record *sim_ctf_buffer_first(const struct sim_ctf_buffer *buffer)
{
	return buffer->next == buffer->used ? NULL : &first(buffer)->record;
}

void sim_ctf_buffer_take(struct sim_ctf_buffer *buffer)
{
	buffer->next += first(buffer)->size;
}

void sim_ctf_buffer_clear(struct sim_ctf_buffer *buffer)
{
	free(buffer->bytes);
	memset(buffer, 0, sizeof(*buffer));
}
