/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/clock_log.h"

#include <inttypes.h>

#include "base/output.h"

static void write_line(FILE *file, struct host *host, nsec_t true_ns)
{
	nsec_t mono_ns = sim_clock_mono(&host->clock, true_ns);

	fprintf(file, "%" PRId64 ",%" PRId64 ",%" PRId64 "\n",
		sim_clock_real(&host->clock, true_ns), mono_ns, mono_ns);
}

int clock_log_write(const struct world *world, struct host *host, const char *path,
		    struct error *error)
{
	nsec_t begin =
	    host->trace_from > world->begin_ns ? host->trace_from : world->begin_ns;
	nsec_t end = host->trace_to < world->now ? host->trace_to : world->now;
	struct output output;

	if (output_open(&output, path, error))
		return -1;
	fputs("realtime_ns,monotonic_ns,boottime_ns\n", output.file);
	write_line(output.file, host, begin);
	for (nsec_t at = begin + 10 * NSEC_PER_SEC; at < end; at += 10 * NSEC_PER_SEC)
		write_line(output.file, host, at);
	if (end > begin)
		write_line(output.file, host, end);
	return output_commit(&output, error);
}
