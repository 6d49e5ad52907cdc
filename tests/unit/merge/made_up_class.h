/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_MADE_UP_CLASS_H
#define CT_TEST_MADE_UP_CLASS_H

/* Classes and records without a trace. */
#include "../test.h"
#include "merge/event_class.h"

#define INT(number)                                                                      \
	{                                                                                \
		.type = CELL_INTEGER, .integer = (number)                                \
	}
#define STR(text)                                                                        \
	{                                                                                \
		.type = CELL_TEXT, .size = sizeof(text) - 1, .bytes = (text)             \
	}
#define COLUMN(name)                                                                     \
	{                                                                                \
		(char *)(name), CELL_NULL, false                                         \
	}
#define CONTEXT(name)                                                                    \
	{                                                                                \
		(char *)(name), CELL_NULL, true                                          \
	}

#define CLASS(variable, text, ...)                                                       \
	static struct trace_column variable##_column[] = {__VA_ARGS__};                  \
	static const struct trace_class variable = {                                     \
	    .name = (char *)(text),                                                      \
	    .column = variable##_column,                                                 \
	    .columns = sizeof(variable##_column) / sizeof(variable##_column[0])}

/* Return a class as a merge of everything knows it; valid until the next one of its
 * number. */
static inline const struct event_class *made_up(const struct trace_class *of,
						struct event_class *class)
{
	static const struct selection everything = {.begin_ns = NSEC_MIN,
						    .end_ns = NSEC_MAX};
	const struct event_filter filter = {&everything, .payload = true, .spans = true};

	event_class_clear(class);
	event_class_init(class, of, &filter);
	return class;
}

#endif
