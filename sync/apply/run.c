/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/apply/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_name.h"
#include "base/mem.h"
#include "base/output_directory.h"
#include "input/run.h"
#include "sync/apply/apply.h"

/* What becomes of one clock of the map. */
struct applied {
	bool is_trace, is_made;
	struct apply_result result;
};

/* What has a place in the directory already is nothing to add to it. */
static int check_names(const struct output_directory *directory, char *const *name,
		       const struct applied *applied, size_t clocks, struct error *error)
{
	for (size_t i = 0; i < clocks; i++)
		if (applied[i].is_trace && output_directory_has(directory, name[i]))
			return error_set(error, "%s/%s: %s", directory->path, name[i],
					 strerror(EEXIST));
	return 0;
}

static void apply_all(const struct output_directory *directory,
		      const struct clock_map *map, char *const *name,
		      struct applied *applied, struct problem_list *problems)
{
	for (size_t i = 0; i < map->clocks; i++) {
		struct error error = ERROR_INIT;
		char *target = mem_printf("%s/%s", directory->temporary, name[i]);

		if (applied[i].is_trace)
			applied[i].is_made = !apply_clock(&map->clock[i], target,
							  &applied[i].result, &error);
		if (applied[i].is_trace && !applied[i].is_made) {
			output_directory_explain(directory, &error);
			problem_add(problems, "", "apply", 1, "%s", error_text(&error));
		}
		error_clear(&error);
		free(target);
	}
}

static void tell(const struct clock_map *map, char *const *name,
		 const struct applied *applied, const char *directory, FILE *talk)
{
	for (size_t i = 0; i < map->clocks; i++)
		if (applied[i].is_made)
			fprintf(talk,
				"%s/%s: on the clock of %s, within %.0f ns of the fit\n",
				directory, name[i], map->clock[i].reference,
				applied[i].result.residual_ns);
}

int apply_run(const struct clock_map *map, const char *path, FILE *talk,
	      struct problem_list *problems, struct error *error)
{
	static const struct output_kind kind = {.rule = OUTPUT_ADD};
	const char **trace = mem_zalloc(map->clocks * sizeof(*trace));
	struct applied *applied = mem_zalloc(map->clocks * sizeof(*applied));
	struct output_directory directory;
	char **name;
	int status = output_directory_open(&directory, path, &kind, error);

	for (size_t i = 0; i < map->clocks; i++) {
		trace[i] = map->clock[i].trace;
		applied[i].is_trace = ctf_is_trace(map->clock[i].path);
	}
	name = file_names_of(trace, map->clocks);
	if (!status)
		status = check_names(&directory, name, applied, map->clocks, error);
	if (!status) {
		apply_all(&directory, map, name, applied, problems);
		status = output_directory_commit(&directory, error);
	}
	if (!status)
		tell(map, name, applied, path, talk);
	output_directory_discard(&directory);
	file_names_free(name, map->clocks);
	free(applied);
	free(trace);
	return status;
}
