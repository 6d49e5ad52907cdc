/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * receive FRAME WANTED DIRECTORY SECONDS STOP: write the files that a node sends on
 * standard input, one after the other, below DIRECTORY.
 *
 * WANTED has a line HAVE SIZE PATH for each: the bytes from HAVE to SIZE come. They begin
 * after a line FRAME; what a login shell prints before it is skipped. A file that cannot
 * be made costs that file only. The program gives up after SECONDS, and as soon as the
 * file STOP exists.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"

/* A login shell may print this much before the frame. */
enum { NOISE_MOST = 1 << 20 };

/* Standard input, with the bytes that were read but not used yet. */
struct input {
	const char *stop;
	time_t deadline; /* by the monotonic clock */
	size_t begin, end;
	char data[1 << 16];
};

static time_t clock_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/* Read more if there is nothing left. Return 0, or -1 with error, also at the end. */
static int input_fill(struct input *input, struct error *error)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	ssize_t got;

	if (input->begin < input->end)
		return 0;
	do {
		if (access(input->stop, F_OK) == 0)
			return error_set(error, "interrupted");
		if (clock_seconds() > input->deadline)
			return error_set(error, "the node takes too long");
	} while (poll(&in, 1, 500) == 0);
	got = read(STDIN_FILENO, input->data, sizeof(input->data));
	if (got < 0)
		return error_set(error, "cannot read: %s", strerror(errno));
	if (got == 0)
		return error_set(error, "the stream breaks off");
	input->begin = 0;
	input->end = (size_t)got;
	return 0;
}

/* Skip everything up to the line `frame`, and that line. */
static int skip_noise(struct input *input, const char *frame, struct error *error)
{
	size_t length = strlen(frame), at = 0;
	bool is_frame = true;

	for (size_t noise = 0; noise < NOISE_MOST; noise++) {
		char c;

		if (input_fill(input, error))
			return -1;
		c = input->data[input->begin++];
		if (c == '\n' && is_frame && at == length)
			return 0;
		is_frame = c == '\n' || (is_frame && at < length && c == frame[at]);
		at = c == '\n' ? 0 : at + 1;
	}
	return error_set(error, "no answer in the first %d bytes", NOISE_MOST);
}

/* Open the file below `top`, with its directories made, none of them a link, and cut it
 * to `have` bytes. Return a descriptor, or -1 with errno. */
static int open_below(int top, char *path, off_t have)
{
	int directory = dup(top), file;

	for (char *slash; (slash = strchr(path, '/')) && directory >= 0;
	     path = slash + 1) {
		int above = directory;

		*slash = '\0';
		if (mkdirat(above, path, 0700) && errno != EEXIST)
			directory = -1;
		else
			directory =
			    openat(above, path, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		*slash = '/';
		close(above);
	}
	if (directory < 0)
		return -1;
	file = openat(directory, path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	close(directory);
	if (file >= 0 && (ftruncate(file, have) || lseek(file, have, SEEK_SET) < 0)) {
		close(file);
		return -1;
	}
	return file;
}

/* Write the next `rest` bytes of the input to the file, or skip them if it is -1. */
static int receive_bytes(struct input *input, int file, int64_t rest, const char *path,
			 struct error *error)
{
	while (rest > 0) {
		size_t count;

		if (input_fill(input, error))
			return -1;
		count = input->end - input->begin;
		if ((int64_t)count > rest)
			count = (size_t)rest;
		for (size_t done = 0; file >= 0 && done < count;) {
			ssize_t put =
			    write(file, input->data + input->begin + done, count - done);

			if (put < 0 && errno != EINTR)
				return error_set(error, "%s: %s", path, strerror(errno));
			done += put < 0 ? 0 : (size_t)put;
		}
		input->begin += count;
		rest -= (int64_t)count;
	}
	return 0;
}

static int receive_file(struct input *input, int top, char *line, struct error *error)
{
	char *size_word = strchr(line, ' ');
	char *path = size_word ? strchr(size_word + 1, ' ') : NULL;
	int64_t have, size;
	int file, status;

	if (!path)
		return error_set(error, "invalid line '%s'", line);
	*size_word++ = '\0';
	*path++ = '\0';
	if (number_integer(line, &have) || number_integer(size_word, &size) || have < 0 ||
	    size < have)
		return error_set(error, "invalid sizes '%s %s'", line, size_word);
	file = open_below(top, path, have);
	if (file < 0 && (errno == ENOSPC || errno == EDQUOT))
		return error_set(error, "%s: %s", path, strerror(errno));
	if (file < 0)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	status = receive_bytes(input, file, size - have, path, error);
	if (file >= 0 && close(file) && status == 0)
		status = error_set(error, "%s: %s", path, strerror(errno));
	return status;
}

static int receive_files(char **argv, struct error *error)
{
	static struct input input;
	AUTOFREE char *line = NULL;
	size_t capacity = 0;
	int64_t seconds;
	int top = open(argv[3], O_DIRECTORY | O_CLOEXEC), status;
	FILE *wanted = fopen(argv[2], "r");

	if (!wanted || top < 0 || number_integer(argv[4], &seconds))
		return error_set(error, "%s, %s: %s", argv[2], argv[3], strerror(errno));
	input.stop = argv[5];
	input.deadline = clock_seconds() + seconds;
	status = skip_noise(&input, argv[1], error);
	while (status == 0 && getline(&line, &capacity, wanted) > 0) {
		line[strcspn(line, "\n")] = '\0';
		status = receive_file(&input, top, line, error);
	}
	/* The received files must be on the disk before the node's copy is removed. */
	if (status == 0 && syncfs(top))
		status = error_set(error, "%s: %s", argv[3], strerror(errno));
	/* The sender ends by itself; otherwise it would end by SIGPIPE. */
	while (status == 0 && input_fill(&input, error) == 0)
		input.begin = input.end;
	fclose(wanted);
	close(top);
	return status;
}

int main(int argc, char **argv)
{
	struct error error = ERROR_INIT;

	umask(077);
	if (argc != 6 || receive_files(argv, &error) == 0)
		return argc != 6;
	error_print(&error, "receive", stderr);
	return 1;
}
