/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_MADE_UP_CLASS_H
#define CT_TEST_MADE_UP_CLASS_H

/* Classes and records without a trace. To be included behind cmocka.h. */
#include "ctf/reader.h"

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
	static struct ctf_column variable##_column[] = {__VA_ARGS__};                    \
	static const struct ctf_class variable = {                                       \
	    .name = (char *)(text),                                                      \
	    .column = variable##_column,                                                 \
	    .columns = sizeof(variable##_column) / sizeof(variable##_column[0])}

#endif
