/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/nsec.h"

void progress_init(struct progress *progress, bool quiet)
{
	memset(progress, 0, sizeof(*progress));
	progress->shown = !quiet && isatty(STDERR_FILENO);
	progress->started_ns = nsec_monotonic();
	progress->next_ns = progress->started_ns + NSEC_PER_SEC / 2;
}

/* Return the elapsed seconds if the line is due to be redrawn, otherwise 0. */
static double redraw_elapsed_s(struct progress *progress)
{
	int64_t now;

	if (!progress->shown || (now = nsec_monotonic()) < progress->next_ns)
		return 0;
	progress->next_ns = now + NSEC_PER_SEC / 5;
	progress->drawn = true;
	return (double)(now - progress->started_ns) / 1e9;
}

void progress_update(struct progress *progress, const char *what, uint64_t events,
		     uint64_t bytes, uint64_t total_bytes)
{
	double seconds = redraw_elapsed_s(progress);

	if (seconds <= 0)
		return;
	fprintf(stderr, "\r\033[K%s: %.1f million events, %.1f million/s", what,
		(double)events / 1e6, (double)events / 1e6 / seconds);
	if (total_bytes)
		fprintf(stderr, ", %.0f of %.0f MB", (double)bytes / 1e6,
			(double)total_bytes / 1e6);
	if (bytes && bytes < total_bytes)
		fprintf(stderr, ", %.0f s left",
			seconds * (double)(total_bytes - bytes) / (double)bytes);
	fflush(stderr);
}

void progress_share(struct progress *progress, const char *what, double share)
{
	double seconds = redraw_elapsed_s(progress);

	if (seconds <= 0)
		return;
	fprintf(stderr, "\r\033[K%s: %.0f %%", what, 100 * share);
	if (share > 0.01)
		fprintf(stderr, ", %.0f s left", seconds * (1 - share) / share);
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->drawn)
		fputs("\r\033[K", stderr);
	progress->drawn = false;
}
