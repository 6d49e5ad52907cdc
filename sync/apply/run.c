/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/apply/run.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/staging.h"
#include "input/run.h"
#include "sync/apply/apply.h"
#include "sync/plot/run.h"

/* What became of one clock of the map. */
struct applied {
	char *name; /* in the directory; NULL: no CTF trace, or it could not be made */
	struct apply_result result;
};

static int apply_one(const struct staging *staging, const struct clock *clock,
		     struct applied *applied, struct error *error)
{
	char *name = plot_file_name(clock->trace), *target;
	int status;

	if (staging_has(staging, name)) {
		error_set(error, "%s/%s: File exists", staging->path, name);
		free(name);
		return -1;
	}
	target = mem_printf("%s/%s", staging->temporary, name);
	status = apply_clock(clock, target, &applied->result, error);
	free(target);
	if (!status) {
		applied->name = name;
		return 0;
	}
	staging_explain(staging, error);
	free(name);
	return -1;
}

static void apply_all(const struct staging *staging, const struct clock_map *map,
		      struct applied *applied, struct problem_list *problems)
{
	for (size_t i = 0; i < map->clocks; i++) {
		struct error error = ERROR_INIT;

		if (ctf_is_trace(map->clock[i].path) &&
		    apply_one(staging, &map->clock[i], &applied[i], &error))
			problem_add(problems, "", "apply", 1, "%s", error_text(&error));
		error_clear(&error);
	}
}

int apply_run(const struct clock_map *map, const char *directory, FILE *talk,
	      struct guard *guard, struct problem_list *problems, struct error *error)
{
	struct applied *applied;
	struct staging staging;
	int status;

	if (staging_open(&staging, directory, guard, error))
		return -1;
	applied = mem_zalloc(map->clocks * sizeof(*applied));
	apply_all(&staging, map, applied, problems);
	status = staging_commit(&staging, error);
	for (size_t i = 0; i < map->clocks; i++) {
		if (!status && applied[i].name)
			fprintf(talk,
				"%s/%s: on the clock of %s, within %.0f ns of the fit\n",
				directory, applied[i].name, map->clock[i].reference,
				applied[i].result.residual_ns);
		free(applied[i].name);
	}
	free(applied);
	return status;
}
