/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/apply/run.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "input/ctf/files.h"
#include "sync/apply/apply.h"
#include "sync/plot/run.h"

int apply_run(const struct clock_map *map, const char *directory, FILE *talk,
	      struct problem_list *problems, struct error *error)
{
	if (mkdir(directory, 0777) && errno != EEXIST)
		return error_errno(error, directory);
	for (size_t i = 0; i < map->clocks; i++) {
		const struct clock *clock = &map->clock[i];
		struct error cause = ERROR_INIT;
		struct apply_result result;
		char *name, *target;

		if (!ctf_files_probe(clock->path))
			continue;
		name = plot_file_name(clock->trace);
		target = mem_printf("%s/%s", directory, name);
		if (apply_clock(clock, target, &result, &cause))
			problem_add(problems, "", "apply", 1, "%s", error_text(&cause));
		else
			fprintf(talk,
				"%s: on the clock of %s, within %.0f ns of the fit\n",
				target, clock->reference, result.residual_ns);
		error_clear(&cause);
		free(target);
		free(name);
	}
	return 0;
}
