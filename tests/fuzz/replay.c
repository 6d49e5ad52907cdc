/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Give a fuzz target every file of some directories: what was found once stays found, and
 * the corpus is read in every build, with gcc and the sanitizers too.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "scene.h"

static int replay(const char *path)
{
	FILE *in = fopen(path, "rb");
	char *bytes = NULL;
	size_t size = 0;
	FILE *copy = open_memstream(&bytes, &size);
	int byte;

	if (!in || !copy) {
		perror(path);
		return -1;
	}
	while ((byte = fgetc(in)) != EOF)
		fputc(byte, copy);
	fclose(in);
	fclose(copy);
	LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
	free(bytes);
	return 0;
}

/* Return the number of files in a directory, or -1. */
static int replay_all(const char *directory)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;
	int files = 0;

	if (!entries) {
		perror(directory);
		return -1;
	}
	while (files >= 0 && (entry = readdir(entries))) {
		char *path = mem_printf("%s/%s", directory, entry->d_name);

		if (entry->d_name[0] != '.')
			files = replay(path) ? -1 : files + 1;
		free(path);
	}
	closedir(entries);
	return files;
}

int main(int argc, char **argv)
{
	int total = 0;

	for (int i = 1; i < argc; i++) {
		int files = replay_all(argv[i]);

		if (files < 0)
			return 1;
		total += files;
	}
	printf("%d inputs\n", total);
	return total > 0 ? 0 : 1;
}
