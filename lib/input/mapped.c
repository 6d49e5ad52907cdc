/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/mapped.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/mem.h"

struct file_id {
	dev_t device;
	ino_t inode;
};

struct open_files {
	struct file_id *id;
	size_t count, room;
};

/*
 * The files that are open. Those of the program and of its libraries are not,
 * and they must not be among them: pages that the loader wrote to would be lost.
 */
static void find_open(struct open_files *files)
{
	DIR *directory = opendir("/proc/self/fd");
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		struct stat status;

		if (fstat(atoi(entry->d_name), &status) || !S_ISREG(status.st_mode))
			continue;
		files->id =
		    mem_grow(files->id, files->count, &files->room, sizeof(*files->id));
		files->id[files->count++] =
		    (struct file_id){status.st_dev, status.st_ino};
	}
	if (directory)
		closedir(directory);
}

static int compare(const void *a, const void *b)
{
	const struct file_id *p = a, *q = b;

	if (p->device != q->device)
		return p->device < q->device ? -1 : 1;
	return (p->inode > q->inode) - (p->inode < q->inode);
}

/* A line of /proc/self/maps: 7f00-7f80 r--p 00000000 fe:00 1234 /path */
static void release_line(const struct open_files *files, const char *line)
{
	unsigned major_number, minor_number;
	uintptr_t begin, end;
	uintmax_t inode;
	struct file_id id;

	if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " r--p %*x %x:%x %" SCNuMAX, &begin,
		   &end, &major_number, &minor_number, &inode) != 5)
		return;
	id.device = makedev(major_number, minor_number);
	id.inode = (ino_t)inode;
	if (bsearch(&id, files->id, files->count, sizeof(id), compare))
		madvise((void *)begin, end - begin, MADV_DONTNEED);
}

void mapped_release(void)
{
	struct open_files files = {NULL, 0, 0};
	FILE *maps = NULL;
	char *line = NULL;
	size_t room = 0;

	find_open(&files);
	if (files.count) {
		qsort(files.id, files.count, sizeof(*files.id), compare);
		maps = fopen("/proc/self/maps", "re");
	}
	while (maps && getline(&line, &room, maps) > 0)
		release_line(&files, line);
	if (maps)
		fclose(maps);
	free(line);
	free(files.id);
}
