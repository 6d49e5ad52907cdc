/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/apply/apply.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/output.h"
#include "base/removal.h"
#include "sync/apply/clock_class.h"
#include "sync/apply/clone.h"
#include "sync/apply/metadata.h"

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
	    clock_class_fit(clock, &recorded, &fitted, residual_ns, error) == 0)
		changed = metadata_with_clock(text, &fitted, error);
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
