/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/truth.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/output.h"

static void write_row(FILE *file, struct host *host, nsec_t true_ns)
{
	fprintf(file, "%s,%" PRId64 ",%" PRId64 ",%" PRId64 "\n", host->name, true_ns,
		sim_clock_mono(&host->clock, true_ns),
		sim_clock_real(&host->clock, true_ns));
}

static void write_host(FILE *file, struct host *host)
{
	struct sim_clock *clock = &host->clock;
	nsec_t last = NSEC_MIN;
	size_t step = 0;

	for (size_t i = 0; i < clock->corners; i++) {
		nsec_t true_ns = clock->corner[i].true_ns;

		for (; step < clock->steps && clock->step[step].true_ns <= true_ns;
		     step++) {
			nsec_t at = clock->step[step].true_ns;

			if (at - 1 > last && at > clock->corner[0].true_ns)
				write_row(file, host, at - 1);
			if (at > last && at < true_ns)
				write_row(file, host, last = at);
		}
		write_row(file, host, last = true_ns);
	}
}

int truth_write(struct world *world, const char *directory, struct error *error)
{
	char *path = mem_printf("%s/truth.csv", directory);
	struct output output;
	int status = output_open(&output, path, error);

	if (!status) {
		fputs("node,host_ns,mono_ns,real_ns\n", output.file);
		for (size_t i = 0; i < world->hosts; i++)
			write_host(output.file, &world->host[i]);
		status = output_commit(&output, error);
	}
	free(path);
	return status;
}
