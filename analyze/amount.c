/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers with a unit, as they are typed. */
#include <stdlib.h>
#include <string.h>

#include "analyze/request.h"
#include "base/mem.h"
#include "base/number.h"

struct amount_unit {
	const char *name;
	double size;
};

static const struct amount_unit spans[] = {
    {"ns", 1},   {"us", 1e3},   {"ms", 1e6},   {"s", 1e9},
    {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {"", 1e3},
};

static const struct amount_unit sizes[] = {
    {"", 1},         {"B", 1},        {"k", 0x1p10},   {"K", 0x1p10},
    {"M", 0x1p20},   {"G", 0x1p30},   {"T", 0x1p40},   {"KiB", 0x1p10},
    {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"kB", 1e3},
    {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},
};

static int parse(const char *text, const struct amount_unit *unit, size_t units,
		 int64_t *amount)
{
	size_t length = strspn(text, "0123456789.");
	char *digits = mem_strndup(text, length);
	double value;
	int status = number_real(digits, &value);

	free(digits);
	for (size_t i = 0; i < units && !status; i++)
		if (!strcmp(text + length, unit[i].name)) {
			value *= unit[i].size;
			*amount = value < 9e18 ? nsec_round(value) : 0;
			return value < 9e18 ? 0 : -1;
		}
	return -1;
}

int request_parse_span(const char *text, nsec_t *span)
{
	return parse(text, spans, sizeof(spans) / sizeof(*spans), span);
}

int request_parse_size(const char *text, int64_t *bytes)
{
	return parse(text, sizes, sizeof(sizes) / sizeof(*sizes), bytes);
}
