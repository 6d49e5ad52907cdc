/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "sync/apply/metadata.h"

/* A fragment of CTF 2 metadata: a JSON text behind a record separator. */
struct fragment {
	const char *begin, *end; /* of the text, without the separator */
	unsigned number;         /* from 1 on */
};

/* The fragment that begins at a record separator. */
static struct fragment fragment_at(const char *at, unsigned number)
{
	const char *begin = at + 1;

	return (struct fragment){begin, begin + strcspn(begin, METADATA_SEPARATOR),
				 number};
}

static json_t *parse(const struct fragment *fragment, struct error *error)
{
	json_t *object = json_parse_object(
	    fragment->begin, (size_t)(fragment->end - fragment->begin), error);

	if (!object)
		error_prefix(error, "fragment %u", fragment->number);
	return object;
}

/* Find the one clock class; its object is the caller's. NULL with error. */
static json_t *find_clock(const char *text, struct fragment *found, struct error *error)
{
	json_t *clock = NULL;
	struct fragment fragment;
	unsigned number = 0;

	for (const char *at = text; *at; at = fragment.end) {
		const char *type;
		json_t *object;

		fragment = fragment_at(at, ++number);
		object = parse(&fragment, error);
		type = object ? json_text(object, "type") : NULL;
		if (type && strcmp(type, "clock-class") == 0) {
			if (clock) {
				error_set(error,
					  "fragment %u: a second clock, want one "
					  "clock",
					  number);
				json_decref(object);
				object = NULL;
			} else {
				clock = json_incref(object);
				*found = fragment;
			}
		}
		if (!object) {
			json_decref(clock);
			return NULL;
		}
		json_decref(object);
	}
	if (!clock)
		error_set(error, "no clock, want one clock");
	return clock;
}

/* A member that is an integer within limits, or missing: then as it was. */
static int read_integer(const json_t *object, const char *name, int64_t low, int64_t high,
			int64_t *value)
{
	const json_t *member = json_object_get(object, name);

	if (!member)
		return 0;
	if (!json_is_integer(member) || json_integer_value(member) < low ||
	    json_integer_value(member) > high)
		return -1;
	*value = json_integer_value(member);
	return 0;
}

static int read_class(const json_t *clock, struct clock_class *class)
{
	const json_t *offset = json_object_get(clock, "offset-from-origin");
	int64_t frequency = 0, cycles = 0, seconds = 0, precision = 0;

	if (read_integer(clock, "frequency", 1, (int64_t)CLOCK_CLASS_FASTEST,
			 &frequency) ||
	    !frequency || (offset && !json_is_object(offset)) ||
	    read_integer(offset, "cycles", 0, frequency - 1, &cycles) ||
	    read_integer(offset, "seconds", -CLOCK_CLASS_FARTHEST, CLOCK_CLASS_FARTHEST,
			 &seconds) ||
	    read_integer(clock, "precision", 0, INT64_MAX, &precision))
		return -1;
	*class = (struct clock_class){
	    .frequency = (uint64_t)frequency,
	    .offset_s = seconds,
	    .offset = (uint64_t)cycles,
	    .precision = precision,
	};
	return 0;
}

int metadata_json_clock(const char *text, struct clock_class *class, struct error *error)
{
	struct fragment fragment;
	json_t *clock = find_clock(text, &fragment, error);
	int status;

	if (!clock)
		return -1;
	status = read_class(clock, class);
	if (status)
		error_set(error,
			  "fragment %u: a clock whose frequency, offset or precision is "
			  "missing or out of range",
			  fragment.number);
	json_decref(clock);
	return status;
}

/* Cycles are fewer than a second's (CTF2-SPEC-2.0, 5.6.1). */
static void change_class(json_t *clock, const struct clock_class *class)
{
	int64_t whole = (int64_t)(class->offset / class->frequency);

	json_object_set_new(clock, "frequency",
			    json_integer((json_int_t) class->frequency));
	json_object_set_new(clock, "offset-from-origin",
			    json_pack("{s:I, s:I}", "seconds",
				      (json_int_t)(class->offset_s + whole), "cycles",
				      (json_int_t)(class->offset % class->frequency)));
	json_object_set_new(clock, "precision", json_integer(class->precision));
	if (class->accuracy < 0)
		json_object_del(clock, "accuracy");
	else
		json_object_set_new(clock, "accuracy", json_integer(class->accuracy));
}

char *metadata_json_with_clock(const char *text, const struct clock_class *class,
			       struct error *error)
{
	struct fragment fragment;
	json_t *clock = find_clock(text, &fragment, error);
	char *line, *changed;

	if (!clock)
		return NULL;
	change_class(clock, class);
	line = json_one_line(clock);
	changed = mem_printf("%.*s%s\n%s", (int)(fragment.begin - text), text, line,
			     fragment.end);
	free(line);
	json_decref(clock);
	return changed;
}
