/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/ftrace/event_format.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Return the bytes of an element of a type, as the kernel declares it. */
static unsigned element_size(unsigned long_size, const char *type)
{
	static const struct {
		const char *word;
		unsigned size;
	} words[] = {{"char", 1}, {"u8", 1},  {"s8", 1},    {"bool", 1},
		     {"u16", 2},  {"s16", 2}, {"short", 2}, {"u32", 4},
		     {"s32", 4},  {"u64", 8}, {"s64", 8},   {"long long", 8}};

	if (strchr(type, '*'))
		return long_size;
	if (strstr(type, "struct"))
		return 1;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(type, words[i].word))
			return words[i].size;
	if (strstr(type, "long"))
		return long_size;
	return strstr(type, "int") ? 4 : 1;
}

/* Parse the declaration of a field: "char prev_comm[16]", "__data_loc char[] name". */
static void parse_declaration(unsigned long_size, struct event_field *field,
			      const char *text, size_t length)
{
	AUTOFREE char *declared = mem_strndup(text, length);
	char *bracket = strchr(declared, '['), *end, *name;

	if (bracket) { /* remove "[...]", wherever it is */
		char *behind = strchr(bracket, ']');

		behind = behind ? behind + 1 : bracket + strlen(bracket);
		memmove(bracket, behind, strlen(behind) + 1);
	}
	for (end = declared + strlen(declared); end > declared && isspace(end[-1]);)
		*--end = '\0';
	for (name = end; name > declared && (isalnum(name[-1]) || name[-1] == '_');)
		name--;
	field->name = mem_strdup(name);
	*name = '\0';
	if (!strncmp(declared, "__data_loc", 10))
		field->place = FIELD_DATA_LOC;
	else if (!strncmp(declared, "__rel_loc", 9))
		field->place = FIELD_REL_LOC;
	field->type = mem_strdup(declared);
	if (bracket || field->place != FIELD_PLACED)
		field->element = element_size(long_size, field->type);
	if (field->element && field->place == FIELD_PLACED &&
	    field->size % field->element)
		field->element = 1;
}

unsigned format_number_after(const char *line, size_t length, const char *word)
{
	const char *at = memmem(line, length, word, strlen(word));
	unsigned long value = at ? strtoul(at + strlen(word), NULL, 10) : 0;

	return value > UINT16_MAX ? UINT16_MAX : (unsigned)value;
}

/* Parse the line of a field: "field:pid_t prev_pid;	offset:24;	size:4;
 * signed:1;". */
static void parse_field(unsigned long_size, struct event_format *format, const char *line,
			size_t length)
{
	const char *text = line + strlen("field:");
	const char *semicolon = memchr(line, ';', length);
	struct event_field *field;

	if (!semicolon)
		return;
	field = MEM_NEXT(format->field, format->fields, format->capacity);
	*field = (struct event_field){
	    .offset = format_number_after(line, length, "offset:"),
	    .size = format_number_after(line, length, "size:"),
	    .is_signed = format_number_after(line, length, "signed:") != 0,
	};
	parse_declaration(long_size, field, text, (size_t)(semicolon - text));
}

int event_format_parse(struct event_format *format, const char *system, const char *text,
		       unsigned long_size)
{
	*format = (struct event_format){.system = mem_strdup(system)};
	for (const char *line = text; *line && strncmp(line, "print fmt:", 10);) {
		size_t length = strcspn(line, "\n");
		size_t blanks = strspn(line, " \t");

		if (!strncmp(line, "name: ", 6) && !format->name)
			format->name = mem_strndup(line + 6, length - 6);
		else if (!strncmp(line, "ID: ", 4))
			format->id = (unsigned)strtoul(line + 4, NULL, 10);
		else if (blanks < length && !strncmp(line + blanks, "field:", 6))
			parse_field(long_size, format, line + blanks, length - blanks);
		line += length + (line[length] == '\n');
	}
	return format->name ? 0 : -1;
}

void event_format_clear(struct event_format *format)
{
	for (size_t i = 0; i < format->fields; i++) {
		free(format->field[i].type);
		free(format->field[i].name);
	}
	free(format->field);
	free(format->system);
	free(format->name);
	*format = (struct event_format){0};
}

const struct event_field *event_format_field(const struct event_format *format,
					     const char *name)
{
	for (size_t i = 0; i < format->fields; i++)
		if (!strcmp(format->field[i].name, name))
			return &format->field[i];
	return NULL;
}
