/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "race.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "launch.h"

void race_init(struct race *race, int repeats)
{
	memset(race, 0, sizeof(*race));
	race->repeats = repeats;
}

struct contender *race_enter(struct race *race, const char *what, uint64_t items)
{
	struct contender *contender = &race->contender[race->count++];

	assert(race->count <= MOST_CONTENDERS);
	contender->what = what;
	contender->items = items;
	contender->wall_s = mem_zalloc((size_t)race->repeats * sizeof(double));
	return contender;
}

static int run_once(const struct race *race, struct contender *contender, int turn,
		    struct error *error)
{
	struct launched launched = {0, 0, 0, 0};

	if (race->before)
		race->before(race->context);
	if (launch(&contender->words, NULL, &launched, error))
		return -1;
	if (launched.status)
		return error_set(error, "%s: exit status %d", contender->what,
				 launched.status);
	contender->wall_s[turn] = launched.wall_s;
	if (turn == 0 || launched.cpu_s < contender->cpu_s)
		contender->cpu_s = launched.cpu_s;
	if (launched.peak_kib > contender->peak_kib)
		contender->peak_kib = launched.peak_kib;
	return 0;
}

static int by_size(const void *a, const void *b)
{
	double p = *(const double *)a, q = *(const double *)b;

	return (p > q) - (p < q);
}

int race_run(struct race *race, struct error *error)
{
	for (int turn = 0; turn < race->repeats; turn++)
		for (size_t i = 0; i < race->count; i++)
			if (run_once(race, &race->contender[i], turn, error))
				return -1;
	for (size_t i = 0; i < race->count; i++)
		qsort(race->contender[i].wall_s, (size_t)race->repeats, sizeof(double),
		      by_size);
	return 0;
}

void race_print(const struct race *race, const char *items)
{
	const struct table_column columns[] = {{.title = "COMMAND"},
					       {.title = "BEST/S", .right = true},
					       {.title = "MEDIAN", .right = true},
					       {.title = "WORST", .right = true},
					       {.title = "CPU/S", .right = true},
					       {.title = items, .right = true},
					       {.title = "RATIO", .right = true},
					       {.title = "PEAK/MIB", .right = true}};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	double base = race->contender[0].wall_s[0];

	for (size_t i = 0; i < race->count; i++) {
		const struct contender *contender = &race->contender[i];
		const double *wall = contender->wall_s;
		char best[32], median[32], worst[32], cpu[32], speed[32], ratio[32],
		    peak[32];
		const char *cell[] = {contender->what, best,  median, worst, cpu,
				      speed,           ratio, peak};

		snprintf(best, sizeof(best), "%.3f", wall[0]);
		snprintf(median, sizeof(median), "%.3f", wall[race->repeats / 2]);
		snprintf(worst, sizeof(worst), "%.3f", wall[race->repeats - 1]);
		snprintf(cpu, sizeof(cpu), "%.3f", contender->cpu_s);
		snprintf(speed, sizeof(speed), "%.0f",
			 (double)contender->items / wall[0]);
		snprintf(ratio, sizeof(ratio), "%.2f", base / wall[0]);
		snprintf(peak, sizeof(peak), "%.1f", (double)contender->peak_kib / 1024);
		table_add(table, cell);
	}
	table_print(table, stdout);
	table_free(table);
}

void race_clear(struct race *race)
{
	for (size_t i = 0; i < race->count; i++) {
		text_list_clear(&race->contender[i].words);
		free(race->contender[i].wall_s);
	}
	race->count = 0;
}
