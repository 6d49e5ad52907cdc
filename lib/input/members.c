/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/members.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

void members_init(struct members *members, const json_t *object, struct faults *faults,
		  uint64_t line)
{
	members->object = object;
	/* jansson wants it mutable to count references, no more. */
	members->rest = json_copy((json_t *)(uintptr_t)object);
	members->faults = faults;
	members->line = line;
}

/* A member, or NULL where it is missing; null counts as missing. */
static const json_t *find(struct members *members, const char *name)
{
	const json_t *member = json_object_get(members->object, name);

	if (!json_is_null(member))
		return member;
	json_object_del(members->rest, name);
	return NULL;
}

/* A member if it is right, then taken; otherwise a fault says what is wanted. */
static const json_t *take(struct members *members, const char *name, const json_t *member,
			  bool right, const char *wanted)
{
	if (member && right) {
		json_object_del(members->rest, name);
		return member;
	}
	if (member)
		faults_add(members->faults, "malformed", members->line,
			   "%s: want %s, not used", name, wanted);
	return NULL;
}

void members_text(struct members *members, const char *name, char **copy)
{
	const json_t *member = find(members, name);

	if (take(members, name, member, json_is_string(member), "a string"))
		*copy = mem_strdup(json_string_value(member));
}

void members_integer(struct members *members, const char *name, int64_t *value)
{
	const json_t *member = find(members, name);

	if (take(members, name, member, json_is_integer(member), "an integer"))
		*value = json_integer_value(member);
}

void members_stamp(struct members *members, const char *name, nsec_t *value)
{
	const json_t *member = find(members, name);
	bool right = json_is_integer(member) && nsec_is_stamp(json_integer_value(member));

	if (take(members, name, member, right,
		 "integer nanoseconds between the years 1933 and 2070"))
		*value = json_integer_value(member);
}

void members_real(struct members *members, const char *name, double *value)
{
	const json_t *member = find(members, name);

	if (take(members, name, member, json_is_number(member), "a number"))
		*value = json_number_value(member);
}

const json_t *members_array(struct members *members, const char *name)
{
	const json_t *member = find(members, name);

	return take(members, name, member, json_is_array(member), "an array");
}

const json_t *members_object(struct members *members, const char *name)
{
	const json_t *member = find(members, name);

	return take(members, name, member, json_is_object(member), "an object");
}

/* The shortest of the two forms that is the same number: 0.1, not 0.1000...01. */
static char *plain_real(double value)
{
	char *text = mem_printf("%.15g", value);

	if (strtod(text, NULL) == value)
		return text;
	free(text);
	return mem_printf("%.17g", value);
}

char *json_plain(const json_t *value)
{
	if (json_is_string(value))
		return mem_strdup(json_string_value(value));
	if (json_is_real(value))
		return plain_real(json_real_value(value));
	return json_one_line(value);
}

char *json_join(const json_t *array, const char *separator)
{
	char *text = NULL;
	size_t length, i;
	FILE *file = open_memstream(&text, &length);
	const json_t *value;

	if (!file)
		return mem_strdup("");
	for (i = 0; (value = json_array_get(array, i)); i++) {
		char *plain = json_plain(value);

		fprintf(file, "%s%s", i ? separator : "", plain);
		free(plain);
	}
	fclose(file);
	return text;
}

char *members_any(struct members *members, const char *name)
{
	const json_t *member = find(members, name);

	return take(members, name, member, true, "") ? json_plain(member) : NULL;
}

char *members_end(struct members *members)
{
	char *text = NULL;

	if (json_object_size(members->rest))
		text = json_one_line(members->rest);
	json_decref(members->rest);
	members->rest = NULL;
	return text;
}
