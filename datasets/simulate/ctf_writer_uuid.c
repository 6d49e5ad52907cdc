/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/ctf_writer_uuid.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "simulate/ctf_writer_bytes.h"

#define METADATA_UUID "\tuuid = \"" /* the trace's is the first */

static char *uuid_format(const unsigned char uuid[16])
{
	char *text = mem_alloc(37), *at = text;

	for (int i = 0; i < 16; i++)
		at +=
		    sprintf(at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
			    uuid[i]);
	return text;
}

static int set_in_metadata(int fd, const char *path, const unsigned char uuid[16],
			   struct error *error)
{
	char head[1024], *at, *text = uuid_format(uuid);
	ssize_t got = pread(fd, head, sizeof(head) - 1, 0);
	ssize_t put = -1;

	head[got < 0 ? 0 : got] = '\0';
	at = strstr(head, METADATA_UUID);
	if (at)
		put = pwrite(fd, text, strlen(text),
			     at - head + (off_t)strlen(METADATA_UUID));
	free(text);
	if (at && put == 36)
		return 0;
	return got < 0 || at ? error_errno(error, path)
			     : error_set(error, "%s: names no uuid", path);
}

static int set_in_stream(int fd, const char *path, const unsigned char uuid[16],
			 struct error *error)
{
	struct sim_ctf_packet_begin begin;
	uint64_t at = 0;
	ssize_t got;

	while ((got = pread(fd, &begin, sizeof(begin), (off_t)at)) == sizeof(begin)) {
		if (begin.magic != SIM_CTF_MAGIC || begin.packet_bits == 0)
			return error_set(error, "%s: no packet at byte %llu", path,
					 (unsigned long long)at);
		if (pwrite(fd, uuid, 16, (off_t)at + (off_t)sizeof(begin.magic)) != 16)
			return error_errno(error, path);
		at += begin.packet_bits / 8;
	}
	if (got < 0)
		return error_errno(error, path);
	return got == 0 ? 0 : error_set(error, "%s: ends within a packet", path);
}

static int set_in_file(const char *directory, const char *name,
		       const unsigned char uuid[16], struct error *error)
{
	char *path = mem_printf("%s/%s", directory, name);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	int status;

	if (fd < 0)
		status = error_errno(error, path);
	else if (strcmp(name, "metadata") == 0)
		status = set_in_metadata(fd, path, uuid, error);
	else
		status = set_in_stream(fd, path, uuid, error);
	if (fd >= 0 && close(fd) && !status)
		status = error_errno(error, path);
	free(path);
	return status;
}

int sim_ctf_set_uuid(const char *directory, const unsigned char uuid[16],
		     struct error *error)
{
	DIR *listing = opendir(directory);
	struct dirent *entry;
	int status = 0;

	if (!listing)
		return error_errno(error, directory);
	while (!status && (entry = readdir(listing)))
		if (entry->d_name[0] != '.')
			status = set_in_file(directory, entry->d_name, uuid, error);
	closedir(listing);
	return status;
}
