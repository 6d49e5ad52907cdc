/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

struct lines {
	FILE *file;
	bool owned, end;
	struct faults *faults;
	int64_t offset;                 /* in the file, of what is next */
	uint64_t number;                /* of the last line */
	size_t at, filled;              /* in the buffer */
	char buffer[LINES_LONGEST + 2]; /* as read: the longest line, \r\n */
	char text[LINES_LONGEST + 2];   /* of the last line: so one can go back */
};

struct lines *lines_from(FILE *file, struct faults *faults)
{
	struct lines *lines = mem_alloc(sizeof(*lines));

	memset(lines, 0, offsetof(struct lines, buffer));
	lines->file = file;
	lines->faults = faults;
	return lines;
}

struct lines *lines_open(const char *path, struct faults *faults)
{
	/* Opening a named pipe would wait for somebody to write. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct lines *lines;
	struct stat status;
	FILE *file;

	if (fd < 0 || fstat(fd, &status)) {
		faults_add(faults, "unreadable", 0, "%s", strerror(errno));
	} else if (!S_ISREG(status.st_mode)) {
		faults_add(faults, "unreadable", 0, "no plain file");
	} else {
		file = fdopen(fd, "r");
		if (file) {
			lines = lines_from(file, faults);
			lines->owned = true;
			return lines;
		}
		faults_add(faults, "unreadable", 0, "%s", strerror(errno));
	}
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* Read on behind what is there; false when nothing more came. */
static bool fill(struct lines *lines)
{
	size_t count;

	if (lines->end)
		return false;
	memmove(lines->buffer, lines->buffer + lines->at, lines->filled - lines->at);
	lines->filled -= lines->at;
	lines->at = 0;
	count = fread(lines->buffer + lines->filled, 1, LINES_LONGEST + 2 - lines->filled,
		      lines->file);
	lines->filled += count;
	if (count)
		return true;
	/* A full buffer asks for nothing; that is not the end. */
	lines->end = lines->filled < LINES_LONGEST + 2;
	if (lines->end && ferror(lines->file))
		faults_add(lines->faults, "unreadable", lines->number + 1,
			   "%s, the rest left out", strerror(errno));
	return false;
}

/* Pass over the rest of a line that is too long. */
static void pass_over(struct lines *lines)
{
	char *end;

	do {
		end = memchr(lines->buffer + lines->at, '\n', lines->filled - lines->at);
		if (end) {
			size_t next = (size_t)(end - lines->buffer) + 1;

			lines->offset += (int64_t)(next - lines->at);
			lines->at = next;
			return;
		}
		lines->offset += (int64_t)(lines->filled - lines->at);
		lines->at = lines->filled;
	} while (fill(lines));
}

/* The next line whatever it is: 1, 0 at the end, or -1 if it was too long. */
static int take(struct lines *lines, struct line *line)
{
	size_t searched = 0, length;
	char *start, *end;

	for (;;) {
		start = lines->buffer + lines->at;
		end =
		    memchr(start + searched, '\n', lines->filled - lines->at - searched);
		if (end)
			break;
		searched = lines->filled - lines->at;
		if (!fill(lines))
			break;
	}
	start = lines->buffer + lines->at;
	length = end ? (size_t)(end - start) : lines->filled - lines->at;
	if (!end && !length)
		return 0;
	lines->number++;
	if (length > LINES_LONGEST + (end && length && end[-1] == '\r')) {
		pass_over(lines);
		return -1;
	}
	lines->at += length + (end != NULL);
	lines->offset += (int64_t)(length + (end != NULL));
	if (end && length && start[length - 1] == '\r')
		length--;
	memcpy(lines->text, start, length);
	lines->text[length] = '\0';
	*line = (struct line){lines->text, length, lines->number, end != NULL};
	return 1;
}

bool lines_next(struct lines *lines, struct line *line)
{
	int status;

	while ((status = take(lines, line))) {
		if (status < 0)
			faults_add(lines->faults, "broken", lines->number,
				   "a line of more than 1 MiB, left out");
		else if (memchr(line->text, '\0', line->length))
			faults_add(lines->faults, "broken", lines->number,
				   "a zero byte in a line, left out");
		else
			return true;
	}
	return false;
}

struct lines_mark lines_tell(const struct lines *lines)
{
	return (struct lines_mark){lines->offset, lines->number};
}

void lines_return(struct lines *lines, struct lines_mark mark)
{
	int64_t back = lines->offset - mark.offset;

	lines->offset = mark.offset;
	lines->number = mark.number;
	if (back >= 0 && back <= (int64_t)lines->at) {
		lines->at -= (size_t)back;
		return;
	}
	lines->at = lines->filled = 0;
	/* Were the file gone from under us, the end is what is left. */
	lines->end = fseeko(lines->file, mark.offset, SEEK_SET) != 0;
}

void lines_close(struct lines *lines)
{
	if (!lines)
		return;
	if (lines->owned)
		fclose(lines->file);
	free(lines);
}
