/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/declare.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"

/* Return the directory of a source's node as the source's path has it. The caller frees
 * it. */
static char *node_path(const struct source *source)
{
	char *path = mem_strdup(source->path);

	for (char *slash; (slash = strrchr(path, '/')) && slash > path;) {
		AUTOFREE char *real = NULL;

		*slash = '\0';
		real = realpath(path, NULL);
		if (real && strcmp(real, source->node) == 0)
			return path;
	}
	free(path);
	return mem_strdup(source->node);
}

/* Return the directory above, also of "." and "..". The caller frees it. */
static char *path_above(const char *path)
{
	if (strcmp(file_name(path), ".") == 0 || strcmp(file_name(path), "..") == 0)
		return mem_printf("%s/..", path);
	return output_parent(path);
}

/* Add the messages that a file declares to a source. Return 0, or -1 with error. */
static int declare_messages(struct source_list *list, struct source *source,
			    const char *path, struct error *error)
{
	size_t first, end;

	if (declared_list_read(&list->declared, path, &first, &end, error))
		return -1;
	for (; first < end; first++)
		*MEM_NEXT(source->declared, source->declareds,
			  source->declared_capacity) = list->declared.item[first];
	return 0;
}

/* Add those of a directory's DECLARED_FILE, if it has one. Return 0, or -1 with error. */
static int declare_of(struct source_list *list, struct source *source,
		      const char *directory, struct error *error)
{
	AUTOFREE char *path = mem_printf("%s/" DECLARED_FILE, directory);

	if (access(path, F_OK))
		return 0;
	output_protect(path);
	return declare_messages(list, source, path, error);
}

int source_list_declare(struct source_list *list, const struct text_list *files,
			struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < list->count && !status; i++) {
		struct source *source = &list->item[i];
		AUTOFREE char *node = NULL, *run = NULL;

		if (source->kind != SOURCE_TRACE || source->extract)
			continue;
		for (size_t k = 0; k < files->count && !status; k++)
			status = declare_messages(list, source, files->item[k], error);
		if (status || !source->node)
			continue;
		node = node_path(source);
		run = path_above(node);
		status = declare_of(list, source, run, error) ||
			 declare_of(list, source, node, error);
	}
	return status ? -1 : 0;
}
