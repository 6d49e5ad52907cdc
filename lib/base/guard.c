/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/guard.h"

#include <signal.h>
#include <string.h>

#include "base/removal.h"
#include "base/signals.h"

void guard_undo(const struct guard *guard)
{
	if (*guard->path)
		removal_of_tree(guard->path);
}

void guard_hold(const struct guard *guard)
{
	if (guard)
		signals_hold(SIG_BLOCK);
}

void guard_name(struct guard *guard, const char *path)
{
	if (!guard)
		return;
	/* A longer one cannot be made. */
	if (path && strlen(path) < sizeof(guard->path))
		memcpy(guard->path, path, strlen(path) + 1);
	else
		*guard->path = '\0';
	signals_hold(SIG_UNBLOCK);
}

int guard_open(struct guard *guard, struct output *output, const char *path,
	       struct error *error)
{
	int status;

	/* To open a pipe may take until someone reads, and leaves nothing to remove. */
	if (output_is_special(path))
		return output_open(output, path, error);
	guard_hold(guard);
	status = output_open(output, path, error);
	guard_name(guard, status ? NULL : output->temporary);
	return status;
}

int guard_commit(struct guard *guard, struct output *output, struct error *error)
{
	int status;

	if (!output->temporary)
		return output_commit(output, error);
	guard_hold(guard);
	status = output_commit(output, error);
	guard_name(guard, NULL);
	return status;
}

void guard_discard(struct guard *guard, struct output *output)
{
	guard_hold(guard);
	output_discard(output);
	guard_name(guard, NULL);
}
