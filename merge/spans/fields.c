/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include <stdlib.h>
#include <string.h>

#include "merge/spans/spans_private.h"

/* Fields as different tracers and their versions write them. */

int64_t field_integer(const struct cell *cell, int64_t none)
{
	return cell->type == CELL_INTEGER ? cell->integer : none;
}

int64_t field_tid(const struct cell *cell)
{
	int64_t tid = field_integer(cell, -1);

	return tid < 0 || tid > INT32_MAX ? -1 : tid;
}

/* The kernel's task states, by name and by the letter that ps shows. */
static const struct {
	const char *name;
	int64_t state;
} states[] = {
    {"TASK_RUNNING", 0},
    {"R", 0},
    {"R+", 256},
    {"TASK_INTERRUPTIBLE", 1},
    {"S", 1},
    {"TASK_UNINTERRUPTIBLE", 2},
    {"D", 2},
    {"T", 4},
    {"TASK_STOPPED", 4},
    {"__TASK_STOPPED", 4},
    {"t", 8},
    {"TASK_TRACED", 8},
    {"__TASK_TRACED", 8},
    {"X", 16},
    {"EXIT_DEAD", 16},
    {"Z", 32},
    {"x", 16},
    {"EXIT_ZOMBIE", 32},
    {"P", 64},
    {"I", 128},
    {"TASK_PARKED", 64},
    {"TASK_IDLE", 128},
    {"TASK_DEAD", 128},
};

static bool is_text(const struct cell *cell, const char *text)
{
	return strlen(text) == cell->size && memcmp(cell->bytes, text, cell->size) == 0;
}

/* A label that has no digits and no name here is read as blocked. */
int64_t field_state(const struct cell *cell)
{
	char digits[24];

	if (cell->type != CELL_TEXT)
		return field_integer(cell, 1);
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (is_text(cell, states[i].name))
			return states[i].state;
	if (cell->size && cell->size < sizeof(digits)) {
		char *end;
		int64_t value;

		memcpy(digits, cell->bytes, cell->size);
		digits[cell->size] = '\0';
		value = strtoll(digits, &end, 10);
		if (!*end)
			return value;
	}
	return 1;
}

/* Text as blktrace has it: "WFS", "RA", "D". */
unsigned field_rwbs(const struct cell *cell)
{
	unsigned flags = 0;

	if (cell->type != CELL_TEXT)
		return (unsigned)field_integer(cell, 0);
	for (uint32_t i = 0; i < cell->size; i++)
		switch (cell->bytes[i]) {
		case 'W':
			flags |= RWBS_WRITE;
			break;
		case 'R':
			flags |= RWBS_READ;
			break;
		case 'D':
			flags |= RWBS_DISCARD;
			break;
		case 'F':
			flags |= RWBS_FLUSH;
			break;
		}
	return flags;
}
