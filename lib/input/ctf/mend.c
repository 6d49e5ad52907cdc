/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/ctf/files.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "input/ctf/packets.h"

struct view {
	const char *path;  /* of the trace, as the user knows it */
	const char *whole; /* the same from the root on, for links */
	const char *view;  /* the directory made here */
};

static void write_entry(FILE *index, const struct packet_walk *walk)
{
	const struct packet_head *head = &walk->head;
	uint64_t bits = (walk->next - walk->at) * 8;
	uint64_t content = le64toh(head->content_size);
	struct index_entry entry = {
	    .offset = htobe64(walk->at),
	    .packet_size = htobe64(bits),
	    .content_size = htobe64(content < bits ? content : bits),
	    .timestamp_begin = htobe64(le64toh(head->timestamp_begin)),
	    .timestamp_end = htobe64(le64toh(head->timestamp_end)),
	    .discarded = htobe64(le64toh(head->discarded)),
	    .stream_id = htobe64(le32toh(head->stream_id)),
	    .stream_instance_id = htobe64(le64toh(head->stream_instance_id)),
	    .sequence = htobe64(le64toh(head->sequence)),
	};

	fwrite(&entry, sizeof(entry), 1, index);
}

/*
 * List the packets of a stream file that begin as a packet must. The last
 * one, when it is cut, is listed with what is left of it. Returns how many.
 */
static uint64_t index_stream(struct packet_walk *walk, FILE *index,
			     struct problem_list *problems, const char *name)
{
	enum packet_found found;
	uint64_t count = 0;

	while ((found = packet_walk_next(walk)) == PACKET_WHOLE || found == PACKET_CUT) {
		if (found == PACKET_CUT)
			problem_add(problems, name, "truncated", 1,
				    "cut in the middle of a packet, %" PRIu64
				    " of its %" PRIu64 " bytes are there",
				    walk->size - walk->at,
				    le64toh(walk->head.packet_size) / 8);
		write_entry(index, walk);
		count++;
	}
	if (found == PACKET_GARBLED)
		problem_add(problems, name, "garbled", 1,
			    "no packet at byte %" PRIu64 " of %" PRIu64
			    ", the rest is left out",
			    walk->at, walk->size);
	return count;
}

/* Write the index of a stream file; 0 packets where there is nothing to read. */
static int write_index(const char *path, const char *from, const char *to,
		       struct problem_list *problems, uint64_t *packets)
{
	const struct index_head head = {htobe32(INDEX_MAGIC), htobe32(1), htobe32(1),
					htobe32(sizeof(struct index_entry))};
	FILE *stream = fopen(from, "rb"), *index = fopen(to, "wb");
	struct packet_walk walk = {.file = stream};
	struct stat status;
	int result = -1;

	if (stream && index && fstat(fileno(stream), &status) == 0) {
		walk.size = (uint64_t)status.st_size;
		fwrite(&head, sizeof(head), 1, index);
		*packets = index_stream(&walk, index, problems, path);
		result = ferror(index) ? -1 : 0;
	}
	if (index && fclose(index))
		result = -1;
	if (stream)
		fclose(stream);
	return result;
}

/* Index and link one stream file. What cannot be read becomes a problem. */
static void mend_stream(const struct view *view, const char *name,
			struct problem_list *problems)
{
	char *path = mem_printf("%s/%s", view->path, name);
	char *from = mem_printf("%s/%s", view->whole, name);
	char *to = mem_printf("%s/%s", view->view, name);
	char *index = mem_printf("%s/index/%s.idx", view->view, name);
	uint64_t packets = 0;

	if (write_index(path, from, index, problems, &packets) ||
	    (packets && symlink(from, to))) {
		problem_add(problems, path, "unreadable", 1, "%s, left out",
			    strerror(errno));
		packets = 0;
	}
	if (!packets)
		unlink(index);
	free(index);
	free(to);
	free(from);
	free(path);
}

/* In the order of their names, so that problems are always told in one order. */
static void mend_streams(const struct view *view, struct problem_list *problems)
{
	struct dirent **entry = NULL;
	int count = scandir(view->whole, &entry, NULL, alphasort);
	struct stat status;

	if (count < 0)
		problem_add(problems, view->path, "unreadable", 1, "%s", strerror(errno));
	for (int i = 0; i < count; i++) {
		char *name = mem_printf("%s/%s", view->whole, entry[i]->d_name);

		if (stat(name, &status) == 0 && S_ISREG(status.st_mode) &&
		    entry[i]->d_name[0] != '.' && status.st_size > 0 &&
		    strcmp(entry[i]->d_name, "metadata") != 0)
			mend_stream(view, entry[i]->d_name, problems);
		free(name);
		free(entry[i]);
	}
	free(entry);
}

char *ctf_mend(const char *path, struct problem_list *problems, struct error *error)
{
	const char *parent = getenv("TMPDIR");
	char *view =
	    mem_printf("%s/clustertrace-XXXXXX", parent && *parent ? parent : P_tmpdir);
	char *whole = realpath(path, NULL);
	char *metadata, *link, *index;

	if (!whole || !mkdtemp(view)) {
		error_errno(error, whole ? view : path);
		free(whole);
		free(view);
		return NULL;
	}
	metadata = mem_printf("%s/metadata", whole);
	link = mem_printf("%s/metadata", view);
	index = mem_printf("%s/index", view);
	if (symlink(metadata, link) || mkdir(index, 0700)) {
		error_errno(error, view);
		ctf_mend_remove(view);
		view = NULL;
	} else {
		mend_streams(&(struct view){path, whole, view}, problems);
	}
	free(index);
	free(link);
	free(metadata);
	free(whole);
	return view;
}

/* Never through a link: what lies behind one is somebody else's. */
static void remove_files(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		unlinkat(dirfd(directory), entry->d_name, 0);
	if (directory)
		closedir(directory);
	else if (fd >= 0)
		close(fd);
	rmdir(path);
}

void ctf_mend_remove(char *directory)
{
	char *index = mem_printf("%s/index", directory);

	remove_files(index);
	remove_files(directory);
	free(index);
	free(directory);
}
