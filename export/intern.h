/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_INTERN_H
#define CT_EXPORT_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers for texts that come again and again, from 1. All zero is an empty one. */
struct intern {
	struct intern_slot *slot;
	size_t slots, count;
};

/*
 * Past so many texts, others get no number, and longer texts never do: memory does
 * not grow with the run.
 */
enum { INTERN_MOST = 1 << 16, INTERN_LONGEST = 64 };

/* The text's number, which is_new if it was not there; 0: it has none. Copies it. */
uint32_t intern(struct intern *texts, const char *text, bool *is_new);

void intern_clear(struct intern *texts);

#endif
