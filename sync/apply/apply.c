/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/apply/apply.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/output.h"
#include "base/removal.h"
#include "sync/apply/clock_class.h"
#include "sync/apply/clone.h"
#include "sync/apply/metadata.h"

#define CLOCK_UNKNOWN_NS 1e15 /* a bound that wide says nothing */

static int64_t cycles_up(double ns, uint64_t frequency)
{
	return (int64_t)ceil(ns * (double)frequency / (double)NSEC_PER_SEC);
}

/* What is known of the errors goes where CTF 2 has a place for it. */
static void set_errors(struct clock_class *fitted, const struct clock_class *recorded,
		       const struct clock *clock, double residual_ns)
{
	double widest = clock->bounds ? 0 : INFINITY;

	for (size_t i = 0; i < clock->bounds; i++) {
		const struct clock_bound *bound = &clock->bound[i];

		if (bound->low_ns == NSEC_MIN || bound->high_ns == NSEC_MAX)
			widest = INFINITY;
		widest =
		    fmax(widest, fmax(-(double)bound->low_ns, (double)bound->high_ns));
	}
	fitted->precision =
	    recorded->precision + cycles_up(residual_ns, fitted->frequency);
	fitted->accuracy =
	    widest < CLOCK_UNKNOWN_NS ? cycles_up(widest, fitted->frequency) : -1;
}

/* The trace's metadata with the fitted class, for the caller; NULL with error. */
static char *fit_metadata(const struct clock *clock, double *residual_ns,
			  struct error *error)
{
	struct clock_class recorded, fitted;
	char *path = mem_printf("%s/metadata", clock->path);
	char *text = metadata_read(path, error), *changed = NULL;

	if (!text)
		goto out;
	if (metadata_clock(text, &recorded, error) == 0 &&
	    clock_class_fit(clock, &recorded, &fitted, residual_ns, error) == 0) {
		set_errors(&fitted, &recorded, clock, *residual_ns);
		changed = metadata_with_clock(text, &fitted, error);
	}
	if (!changed)
		error_prefix(error, "%s", path);
out:
	free(text);
	free(path);
	return changed;
}

static int write_metadata(const char *target, const char *text, struct error *error)
{
	struct output output;
	char *path = mem_printf("%s/metadata", target);
	int status = output_open(&output, path, error);

	if (status == 0 && fputs(text, output.file) == EOF) {
		status = error_errno(error, path);
		output_discard(&output);
	}
	free(path);
	return status ? -1 : output_commit(&output, error);
}

int apply_clock(const struct clock *clock, const char *target,
		struct apply_result *result, struct error *error)
{
	char *text;
	int status;

	if (clock->segments != 1)
		return error_set(error,
				 "%s: its clock has %zu segments, a CTF clock class "
				 "holds one line",
				 clock->trace, clock->segments);
	if (!*clock->path)
		return error_set(error, "%s: it has no path, want a CTF trace",
				 clock->trace);
	text = fit_metadata(clock, &result->residual_ns, error);
	if (!text)
		return -1;
	/* The metadata comes last: without it, no reader takes it for a trace. */
	status = clone_tree(clock->path, target, "metadata", error);
	if (status == 0 && write_metadata(target, text, error)) {
		removal_of_tree(target);
		status = -1;
	}
	free(text);
	return status;
}
