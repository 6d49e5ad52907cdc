/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * receive DIR WANTED: the files that a node sends, from standard input into DIR.
 *
 * A line of WANTED is HAVE SIZE PATH: the first HAVE bytes of DIR/PATH are here, and
 * the next SIZE - HAVE of the input are the rest of it. The input has nothing but these
 * bytes, so a node chooses neither names nor kinds, modes or owners of files, nor how
 * much is written.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/output.h"

struct piece {
	int64_t have, size;
	const char *path; /* in the line */
};

static int parse_piece(const char *line, struct piece *piece, struct error *error)
{
	int used = 0;

	if (sscanf(line, "%15" SCNd64 " %15" SCNd64 " %n", &piece->have, &piece->size,
		   &used) != 2 ||
	    !used || piece->have < 0 || piece->size < piece->have)
		return error_set(error, "'%s' is no file that can be wanted", line);
	piece->path = line + used;
	return 0;
}

static bool is_name(const char *part)
{
	return *part && strcmp(part, ".") != 0 && strcmp(part, "..") != 0;
}

/*
 * The file "./FOLDER/NAME" in its folders, which are made where they are missing; nothing
 * leads upwards, and no link is followed.
 */
static int open_below(int top, const char *path, struct error *error)
{
	char *parts = mem_strdup(path), *rest = parts, *part = strsep(&rest, "/");
	int folder = strcmp(part, ".") == 0 && rest ? dup(top) : -1, below;

	errno = EINVAL;
	while (folder >= 0) {
		part = strsep(&rest, "/");
		below = -1;
		errno = EINVAL;
		if (is_name(part) && !rest)
			below = openat(folder, part,
				       O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW |
					   O_NONBLOCK | O_CLOEXEC,
				       0600);
		else if (is_name(part) &&
			 (mkdirat(folder, part, 0700) == 0 || errno == EEXIST))
			below = openat(folder, part,
				       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(folder);
		folder = below;
		if (!rest)
			break;
	}
	if (folder < 0)
		error_errno(error, path);
	free(parts);
	return folder;
}

static int copy_bytes(int file, const struct piece *piece, struct error *error)
{
	static char buffer[1 << 16];

	for (int64_t left = piece->size - piece->have; left > 0;) {
		size_t most =
		    left < (int64_t)sizeof(buffer) ? (size_t)left : sizeof(buffer);
		ssize_t got = read(STDIN_FILENO, buffer, most);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_errno(error, "what the node sends");
		if (got == 0)
			return error_set(error,
					 "%s: broke off %" PRId64 " bytes too soon",
					 piece->path, left);
		if (output_write_all(file, buffer, (size_t)got, -1))
			return error_errno(error, piece->path);
		left -= got;
	}
	return 0;
}

static int receive_piece(int top, const struct piece *piece, struct error *error)
{
	int file = open_below(top, piece->path, error);
	struct stat is;
	int status;

	if (file < 0)
		return -1;
	if (fstat(file, &is))
		status = error_errno(error, piece->path);
	else if (!S_ISREG(is.st_mode) || is.st_size != piece->have)
		status =
		    error_set(error, "%s: want a file of %" PRId64 " bytes to add to",
			      piece->path, piece->have);
	else
		status = copy_bytes(file, piece, error);
	if (close(file) && status == 0)
		status = error_errno(error, piece->path);
	return status;
}

static int receive_all(int top, FILE *wanted, struct error *error)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int status = 0;

	while (status == 0 && (length = getline(&line, &room, wanted)) > 0) {
		struct piece piece;

		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		status = parse_piece(line, &piece, error);
		if (status == 0)
			status = receive_piece(top, &piece, error);
	}
	free(line);
	return status;
}

int main(int argc, char **argv)
{
	struct error error = ERROR_INIT;
	FILE *wanted = argc == 3 ? fopen(argv[2], "re") : NULL;
	int top = argc == 3 ? open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int status;

	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is told */
	if (argc != 3)
		status = error_set(&error, "want DIR WANTED");
	else if (!wanted)
		status = error_errno(&error, argv[2]);
	else if (top < 0)
		status = error_errno(&error, argv[1]);
	else
		status = receive_all(top, wanted, &error);
	if (wanted)
		fclose(wanted);
	if (top >= 0)
		close(top);
	error_tell(&error, "receive", stderr);
	return status ? 1 : 0;
}
