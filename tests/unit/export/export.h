/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_EXPORT_H
#define CT_TEST_EXPORT_H

/* Helpers that the tests of the exports share. */

#include "../test.h"
#include "base/bytes.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define INTEGER(number)                                                                  \
	{                                                                                \
		.type = CELL_INTEGER, .integer = (number)                                \
	}
#define REAL(number)                                                                     \
	{                                                                                \
		.type = CELL_REAL, .real = (number)                                      \
	}
#define TEXT(text)                                                                       \
	{                                                                                \
		.type = CELL_TEXT, .size = sizeof(text) - 1, .bytes = (text)             \
	}

/* These bytes and no others, given as a string literal. */
#define assert_bytes(bytes, literal)                                                     \
	do {                                                                             \
		assert_int_equal((bytes)->size, sizeof(literal) - 1);                    \
		assert_memory_equal((bytes)->data, literal, sizeof(literal) - 1);        \
	} while (0)

#endif
