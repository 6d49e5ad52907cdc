/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/select.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "merge/run.h"

static bool matches(const struct text_list *globs, const char *name)
{
	for (size_t i = 0; i < globs->count; i++)
		if (fnmatch(globs->item[i], name, 0) == 0)
			return true;
	return false;
}

bool selection_has_class(const struct selection *selection, const char *name)
{
	return (!selection->events.count || matches(&selection->events, name)) &&
	       !matches(&selection->skip, name);
}

bool selection_has_node(const struct selection *selection, const char *name)
{
	return !selection->nodes.count || matches(&selection->nodes, name);
}

int selection_check_nodes(const struct selection *selection, const struct merge_run *run,
			  struct error *error)
{
	const char **names = mem_alloc((run->nodes + 1) * sizeof(*names));
	const char *near = NULL;
	bool found = !selection->nodes.count;

	for (size_t i = 0; i < run->nodes; i++) {
		names[i] = run->node[i].name;
		found |= selection_has_node(selection, names[i]);
	}
	if (!found)
		near = near_find(selection->nodes.item[0], names, run->nodes);
	free(names);
	if (found)
		return 0;
	return error_misuse(error, "--node: no node of %s has such a name%s%s", run->path,
			    near ? ", is it meant to be " : "", near ? near : "");
}

bool selection_has_time(const struct selection *selection, nsec_t ts_ns)
{
	return ts_ns >= selection->begin_ns && ts_ns <= selection->end_ns;
}

void selection_clear(struct selection *selection)
{
	text_list_clear(&selection->events);
	text_list_clear(&selection->skip);
	text_list_clear(&selection->nodes);
	memset(selection, 0, sizeof(*selection));
}

void selection_split(const struct text_list *words, struct text_list *globs)
{
	for (size_t i = 0; i < words->count; i++) {
		const char *at = words->item[i];

		while (*at) {
			size_t length = strcspn(at, ",");
			char *glob = mem_strndup(at, length);

			if (length)
				text_list_add(globs, glob);
			free(glob);
			at += length + (at[length] == ',');
		}
	}
}
