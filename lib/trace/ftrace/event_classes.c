/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/ftrace/event_classes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { LEAST_PRIORITY = 100 }; /* the kernel's MAX_RT_PRIO */

/* The location of a field in the bytes of an event. */
struct location {
	struct field_class *class;
	unsigned offset, size; /* bytes */
	enum {
		PLACED,   /* the value is at the offset */
		DATA_LOC, /* a 32-bit word is at the offset: size << 16 | offset of the
			     data */
		REL_LOC, /* like DATA_LOC, but the offset in it counts from the end of the
			    word */
		RWBS,    /* letters, to be converted to LTTng's flags */
		PRIORITY, /* the kernel's priority; LTTng's counts from MAX_RT_PRIO */
		NAME,     /* the thread's name, from the file's list */
	} how;
};

struct class_layout {
	struct location *location;
	bool is_converted; /* some fields are RWBS, PRIORITY or NAME */
	size_t locations, capacity;
};

/* LTTng's field names where the kernel calls the number of a thread its pid. */
static const struct {
	const char *event; /* prefix of the event's name */
	const char *from, *to;
} field_names[] = {
    {"sched_", "pid", "tid"},
    {"sched_", "prev_pid", "prev_tid"},
    {"sched_", "next_pid", "next_tid"},
    {"sched_", "old_pid", "old_tid"},
    {"sched_", "parent_pid", "parent_tid"},
    {"sched_", "child_pid", "child_tid"},
    {"signal_", "pid", "tid"},
    {"task_", "pid", "tid"},
};

/*
 * Return LTTng's name of an event type, which starts with the system. In systems not
 * listed here LTTng uses the kernel's names or has no events. The caller frees it.
 */
static char *class_name(const char *system, const char *name)
{
	static const char *const systems[] = {"irq", "kmem", "net", "power", "timer"};
	size_t length = strlen(system);
	bool is_named = !strncmp(name, system, length) && name[length] == '_';

	if (!strcmp(system, "net") && !strncmp(name, "netif_", 6))
		return mem_printf("net_if_%s", name + 6);
	for (size_t i = 0; !is_named && i < sizeof(systems) / sizeof(*systems); i++)
		if (!strcmp(system, systems[i]))
			return mem_printf("%s_%s", system, name);
	return mem_strdup(name);
}

static const char *field_name_of(const char *event, const char *name)
{
	for (size_t i = 0; i < sizeof(field_names) / sizeof(*field_names); i++)
		if (!strcmp(name, field_names[i].from) &&
		    !strncmp(event, field_names[i].event, strlen(field_names[i].event)))
			return field_names[i].to;
	return name;
}

static struct field_class *make_number_class(const struct event_classes *classes,
					     unsigned size, bool is_signed)
{
	struct field_class *class = field_new(FIELD_INTEGER);

	class->size = 8 * size;
	class->align = 8;
	class->is_signed = is_signed;
	class->order = classes->dat->is_big ? ORDER_BIG : ORDER_LITTLE;
	return class;
}

static struct field_class *make_array_class(struct field_class *element, uint64_t length)
{
	struct field_class *class = field_new(FIELD_ARRAY);

	class->element = element;
	class->length = length;
	return class;
}

static bool is_number_size(unsigned size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* Make the class of a field. A structure becomes an array of its bytes. */
static struct field_class *make_field_class(const struct event_classes *classes,
					    const struct event_field *field)
{
	unsigned each = field->element;
	struct field_class *element;

	if (!each && is_number_size(field->size))
		return make_number_class(classes, field->size, field->is_signed);
	if (!each)
		each = 1;
	element = make_number_class(classes, each, field->is_signed);
	if (each == 1 && strstr(field->type, "char"))
		element->text = 1;
	return make_array_class(element, field->size / each);
}

static void add_location(struct event_classes *classes, size_t class, const char *name,
			 enum field_scope scope, const struct location *location)
{
	struct schema_event_class *to = classes->base->class[class];
	struct class_layout *layout = &classes->layout[class];
	/* field_name() removes one underscore. */
	AUTOFREE char *member = mem_printf("_%s", name);

	if (!to->scope[scope])
		to->scope[scope] = field_new(FIELD_STRUCTURE);
	field_add_member(to->scope[scope], member, location->class);
	*MEM_NEXT(layout->location, layout->locations, layout->capacity) = *location;
	if (layout->locations > classes->places)
		classes->places = layout->locations;
}

static void add_number(struct event_classes *classes, size_t class, const char *name,
		       enum field_scope scope, unsigned offset)
{
	add_location(
	    classes, class, name, scope,
	    &(struct location){make_number_class(classes, 4, true), offset, 4, PLACED});
}

/* Add a class with only its context. Return its index. */
static size_t add_class(struct event_classes *classes, const char *name)
{
	size_t class = classes->base->classes;

	trace_reader_add_class(classes->base, name);
	classes->layout = mem_grow(classes->layout, class, &classes->layout_capacity,
				   sizeof(*classes->layout));
	classes->layout[class] = (struct class_layout){0};
	add_number(classes, class, "tid", SCOPE_SPECIFIC_CONTEXT, classes->pid_offset);
	if (classes->name_of.count) {
		struct field_class *letter = make_number_class(classes, 1, false);

		letter->text = 1;
		add_location(classes, class, "procname", SCOPE_SPECIFIC_CONTEXT,
			     &(struct location){make_array_class(letter, 0), 0, 0, NAME});
		classes->layout[class].is_converted = true;
	}
	return class;
}

static bool is_priority(const char *event, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(event, "sched_", 6) && length >= 4 &&
	       !strcmp(name + length - 4, "prio");
}

static void add_field(struct event_classes *classes, size_t class, const char *event,
		      const struct event_field *field)
{
	struct location location = {.offset = field->offset, .size = field->size};

	if (field->place != FIELD_PLACED)
		location.how = field->place == FIELD_REL_LOC ? REL_LOC : DATA_LOC;
	else if (!strcmp(field->name, "rwbs"))
		location.how = RWBS;
	else if (is_priority(event, field->name))
		location.how = PRIORITY;
	location.class = location.how == RWBS ? make_number_class(classes, 4, false)
					      : make_field_class(classes, field);
	classes->layout[class].is_converted |= location.how >= RWBS;
	add_location(classes, class, field_name_of(event, field->name), SCOPE_PAYLOAD,
		     &location);
}

static bool has_class(const struct event_classes *classes, const char *name)
{
	for (size_t i = 0; i < classes->base->classes; i++)
		if (!strcmp(classes->base->class[i] -> known.name, name))
			return true;
	return false;
}

static void add_event(struct event_classes *classes, const struct event_format *event)
{
	bool is_call = !strcmp(event->system, "syscalls");
	AUTOFREE char *lttng = class_name(event->system, event->name);
	AUTOFREE char *full = NULL;
	const char *name = lttng;
	size_t class;

	/* A tracepoint for a single call, such as syscalls:sys_enter_read. */
	if (is_call && !strncmp(name, "sys_enter_", 10))
		name = full = mem_printf("syscall_entry_%s", name + 10);
	else if (is_call && !strncmp(name, "sys_exit_", 9))
		name = full = mem_printf("syscall_exit_%s", name + 9);
	else if (has_class(classes, name))
		name = full = mem_printf("%s_%s", event->system, name);
	class = add_class(classes, name);
	intmap_put(&classes->class_of, (uint64_t)event->id, (int64_t) class);
	for (size_t i = 0; i < event->fields; i++)
		if (strncmp(event->field[i].name, "common_", 7))
			add_field(classes, class, event->name, &event->field[i]);
	/* LTTng also records the thread that made the request. */
	if (!strncmp(name, "block_rq_", 9) && strcmp(name, "block_rq_complete"))
		add_number(classes, class, "tid", SCOPE_PAYLOAD, classes->pid_offset);
}

static void add_word(struct event_classes *classes, size_t class, const char *name,
		     unsigned offset)
{
	unsigned size = classes->dat->long_size;

	add_location(classes, class, name, SCOPE_PAYLOAD,
		     &(struct location){make_number_class(classes, size, true), offset,
					size, PLACED});
}

/*
 * Add a call's arguments. The kernel records them as words; a descriptor is the lower
 * half of one.
 */
static void add_arguments(struct event_classes *classes, size_t class, const char *call,
			  unsigned offset)
{
	unsigned word = classes->dat->long_size;
	unsigned lower = classes->dat->is_big ? word - 4 : 0;

	for (unsigned i = 0; i < SYSCALL_ARGUMENTS; i++, offset += word) {
		AUTOFREE char *name = syscall_argument(call, i);
		size_t length = strlen(name);

		if (length >= 2 && !strcmp(name + length - 2, "fd"))
			add_number(classes, class, name, SCOPE_PAYLOAD, offset + lower);
		else
			add_word(classes, class, name, offset);
	}
}

/* Add a class for each call to the single event type of raw_syscalls. */
static void add_calls(struct event_classes *classes, const struct event_format *event,
		      enum call_kind kind)
{
	const struct event_field *id = event_format_field(event, "id");
	const struct event_field *value =
	    event_format_field(event, kind == CALL_ENTRY ? "args" : "ret");

	if (!id || !value)
		return;
	classes->call_event[kind] = (int)event->id;
	classes->call_id_offset[kind] = id->offset;
	for (unsigned i = 0; i <= SYSCALLS_MOST; i++) {
		AUTOFREE char *call = i < SYSCALLS_MOST
					  ? syscall_name(classes->machine, i)
					  : mem_strdup("unknown");
		AUTOFREE char *name =
		    call ? mem_printf("syscall_%s_%s",
				      kind == CALL_ENTRY ? "entry" : "exit", call)
			 : NULL;
		size_t class;

		classes->call_class[kind][i] = -1;
		if (!name)
			continue;
		class = add_class(classes, name);
		classes->call_class[kind][i] = (int32_t) class;
		if (i == SYSCALLS_MOST)
			add_word(classes, class, "id", id->offset);
		if (kind == CALL_ENTRY)
			add_arguments(classes, class, call, value->offset);
		else
			add_word(classes, class, "ret", value->offset);
	}
}

/*
 * Read the thread names that the file lists at its end, as lines of "PID NAME". Skip them
 * if sched_switch is described, because its events have more accurate names.
 */
static void read_names(struct event_classes *classes)
{
	const char *text = classes->dat->cmdlines, *line = text;

	for (size_t i = 0; i < classes->dat->events; i++)
		if (!strcmp(classes->dat->event[i].name, "sched_switch"))
			return;
	while (line && *line) {
		size_t length = strcspn(line, "\n");
		char *name;
		unsigned long tid = strtoul(line, &name, 10);

		if (name > line && name < line + length && *name == ' ')
			intmap_put(&classes->name_of, tid, name + 1 - text);
		line += length + (line[length] == '\n');
	}
}

/* The machine is the last word of "Linux node1 6.1.0-13-amd64 #1 SMP ... x86_64". */
static void read_machine(struct event_classes *classes)
{
	const char *uname = classes->dat->uname;
	const char *machine = uname ? strrchr(uname, ' ') : NULL;

	if (machine)
		snprintf(classes->machine, sizeof(classes->machine), "%.*s",
			 (int)strcspn(machine + 1, "\n"), machine + 1);
}

int event_classes_add(struct event_classes *classes, struct trace_reader *base,
		      const struct trace_dat *dat, struct error *error)
{
	const struct event_field *type = NULL, *pid = NULL;

	*classes =
	    (struct event_classes){.base = base, .dat = dat, .call_event = {-1, -1}};
	read_machine(classes);
	if (dat->events) {
		type = event_format_field(dat->event, "common_type");
		pid = event_format_field(dat->event, "common_pid");
	}
	if (!type || type->offset || type->size != 2 || !pid || pid->size != 4)
		return error_set(error, "%s: events have no type or thread", dat->path);
	classes->pid_offset = pid->offset;
	read_names(classes);
	for (size_t i = 0; i < dat->events; i++) {
		const struct event_format *event = &dat->event[i];

		if (strcmp(event->system, "raw_syscalls"))
			add_event(classes, event);
		else if (!strcmp(event->name, "sys_enter"))
			add_calls(classes, event, CALL_ENTRY);
		else if (!strcmp(event->name, "sys_exit"))
			add_calls(classes, event, CALL_EXIT);
	}
	classes->place = mem_zalloc(classes->places * sizeof(*classes->place) + 1);
	return 0;
}

int32_t event_classes_find(const struct event_classes *classes,
			   const struct ring_event *event)
{
	unsigned word = classes->dat->long_size;
	int64_t class = -1;
	int id;

	if (event->size < 2)
		return -1;
	id = (int)trace_dat_number(classes->dat, event->data, 2);
	for (int kind = 0; kind < CALL_KINDS; kind++) {
		unsigned at = classes->call_id_offset[kind];
		uint64_t call;

		if (id != classes->call_event[kind])
			continue;
		if (at + word > event->size)
			return -1;
		call = trace_dat_number(classes->dat, event->data + at, word);
		if (call > SYSCALLS_MOST || classes->call_class[kind][call] < 0)
			call = SYSCALLS_MOST;
		return classes->call_class[kind][call];
	}
	return intmap_get(&classes->class_of, (uint64_t)id, &class) ? (int32_t) class
								    : -1;
}

/* Find a field's data in an event. If the field holds a word that points to it, follow
 * it. */
static struct ctf_place find_data(const struct event_classes *classes,
				  const struct location *location,
				  const struct ring_event *event)
{
	unsigned at = location->offset, size = location->size;
	struct field_class *element = location->class->element;
	uint64_t word;

	if (location->how == DATA_LOC || location->how == REL_LOC) {
		if (at + 4 > event->size)
			return (struct ctf_place){CTF_ABSENT, 0};
		word = trace_dat_number(classes->dat, event->data + at, 4);
		at = (unsigned)(word & 0xffff) +
		     (location->how == REL_LOC ? location->offset + 4 : 0);
		size = (unsigned)(word >> 16);
		if (element)
			location->class->length = size / (element->size / 8);
	}
	if (location->how == RWBS || location->how == NAME || at > event->size ||
	    size > event->size - at)
		return (struct ctf_place){CTF_ABSENT, 0};
	return (struct ctf_place){8 * (uint64_t)at,
				  element ? size / (element->size / 8) : 1};
}

/* LTTng's flags of a block request, from the letters of the kernel's blk_fill_rwbs(). */
static int64_t parse_rwbs(const char *text, size_t size)
{
	static const char letters[] = "WDRASM";
	static const int flags[] = {1, 2, 4, 8, 32, 64};
	enum { SECURE = 128, FLUSH = 256, FUA = 512, PREFLUSH = 1024 };
	size_t at = 0, length = strnlen(text, size);
	int64_t rwbs = 0;

	if (length > 1 && text[0] == 'F' && strchr("WDRNF", text[1])) {
		rwbs |= PREFLUSH;
		at++;
	}
	for (size_t first = at; at < length; at++) {
		const char *letter = strchr(letters, text[at]);

		if (text[at] == 'F')
			rwbs |= at == first ? FLUSH : FUA;
		else if (text[at] == 'E')
			rwbs |= SECURE;
		else if (letter)
			rwbs |= flags[letter - letters];
	}
	return rwbs;
}

/* Set a cell to the name of an event's thread, if the file lists it. */
static void set_name(const struct event_classes *classes, const struct ring_event *event,
		     struct cell *cell)
{
	const char *text = classes->dat->cmdlines;
	int64_t at;

	if (event->size < classes->pid_offset + 4 ||
	    !intmap_get(
		&classes->name_of,
		trace_dat_number(classes->dat, event->data + classes->pid_offset, 4),
		&at))
		return;
	cell_set_bytes(cell, CELL_TEXT, text + at, strcspn(text + at, "\n"));
}

/* Convert the cells of a field that LTTng records in another form. */
static void convert_cells(const struct event_classes *classes,
			  const struct location *location, const struct ring_event *event,
			  struct trace_fields *fields)
{
	const char *text = (const char *)event->data + location->offset;
	bool is_there = location->offset + location->size <= event->size;

	for (size_t i = 0; i < fields->count; i++) {
		struct cell *cell = &fields->cell[i];

		if (fields->leaf[i].class != location->class)
			continue;
		if (location->how == RWBS && is_there)
			*cell = cell_of_integer(parse_rwbs(text, location->size));
		else if (location->how == NAME)
			set_name(classes, event, cell);
		else if (location->how == PRIORITY && cell->type == CELL_INTEGER)
			cell->integer -= LEAST_PRIORITY;
	}
}

const struct cell *event_classes_fetch(struct event_classes *classes, size_t class,
				       const struct ring_event *event)
{
	struct trace_fields *fields = classes->base->class[class]->fields;
	const struct class_layout *layout = &classes->layout[class];
	const struct ctf_cursor cursor = {
	    .bytes = {event->data, event->size},
	    .end = 8 * event->size,
	};

	for (size_t i = 0; i < layout->locations; i++) {
		int place = layout->location[i].class->place;

		if (place >= 0)
			classes->place[place] =
			    find_data(classes, &layout->location[i], event);
	}
	trace_fields_fetch(fields, &cursor, classes->place, 0);
	for (size_t i = 0; layout->is_converted && i < layout->locations; i++)
		convert_cells(classes, &layout->location[i], event, fields);
	return fields->cell;
}

void event_classes_clear(struct event_classes *classes)
{
	for (size_t i = 0; classes->layout && i < classes->base->classes; i++)
		free(classes->layout[i].location);
	free(classes->layout);
	intmap_clear(&classes->class_of);
	intmap_clear(&classes->name_of);
	free(classes->place);
}
