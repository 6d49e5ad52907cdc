/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/graphite/graphite.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/csv_text.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/output.h"

/* carbon takes messages up to 1 MiB, and wants some hundred points in each. */
enum { MOST_POINTS = 500, MOST_BYTES = 512 << 10 };

/* Opcodes of pickle (Python's Lib/pickletools.py). */
enum {
	PICKLE_PROTO = 0x80,
	PICKLE_EMPTY_LIST = ']',
	PICKLE_MARK = '(',
	PICKLE_APPENDS = 'e',
	PICKLE_UNICODE = 'X', /* 4 bytes of length, lowest first, and UTF-8 */
	PICKLE_INT = 'J',     /* 4 bytes with a sign, lowest first */
	PICKLE_LONG = 0x8a,   /* a byte of length, and so many with a sign */
	PICKLE_FLOAT = 'G',   /* 8 bytes, highest first */
	PICKLE_TUPLE2 = 0x86,
	PICKLE_STOP = '.',
};

static void add_line(struct bytes *bytes, const struct graphite_point *point)
{
	const struct cell value = {.type = CELL_REAL, .real = point->value};
	char number[NUMBER_TEXT];
	int size = (int)csv_number(number, &value);

	bytes_print(bytes, "%s %.*s %" PRId64 "\n", point->path, size, number,
		    point->seconds);
}

static void add_pickled(struct bytes *bytes, const struct graphite_point *point)
{
	size_t length = strlen(point->path);
	uint64_t bits;

	bytes_add_byte(bytes, PICKLE_UNICODE);
	bytes_add_le(bytes, length, 4);
	bytes_add(bytes, point->path, length);
	if (point->seconds >= INT32_MIN && point->seconds <= INT32_MAX) {
		bytes_add_byte(bytes, PICKLE_INT);
		bytes_add_le(bytes, (uint64_t)point->seconds, 4);
	} else {
		bytes_add_byte(bytes, PICKLE_LONG);
		bytes_add_byte(bytes, 8);
		bytes_add_le(bytes, (uint64_t)point->seconds, 8);
	}
	memcpy(&bits, &point->value, sizeof(bits));
	bits = htobe64(bits);
	bytes_add_byte(bytes, PICKLE_FLOAT);
	bytes_add(bytes, &bits, sizeof(bits));
	bytes_add_byte(bytes, PICKLE_TUPLE2);
	bytes_add_byte(bytes, PICKLE_TUPLE2);
}

static void begin_message(struct graphite_sender *sender)
{
	static const uint8_t head[] = {
	    0, 0, 0, 0 /* its length */, PICKLE_PROTO, 2, PICKLE_EMPTY_LIST, PICKLE_MARK};

	sender->message = sender->bytes.size;
	bytes_add(&sender->bytes, head, sizeof(head));
}

static void end_message(struct graphite_sender *sender)
{
	uint32_t size;

	if (!sender->points)
		return;
	bytes_add_byte(&sender->bytes, PICKLE_APPENDS);
	bytes_add_byte(&sender->bytes, PICKLE_STOP);
	size = htobe32((uint32_t)(sender->bytes.size - sender->message - 4));
	memcpy(sender->bytes.data + sender->message, &size, sizeof(size));
	sender->points = 0;
}

static void add_point(struct graphite_sender *sender, const struct graphite_point *point)
{
	if (!sender->pickle) {
		add_line(&sender->bytes, point);
		return;
	}
	if (!sender->points)
		begin_message(sender);
	add_pickled(&sender->bytes, point);
	if (++sender->points == MOST_POINTS ||
	    sender->bytes.size - sender->message >= MOST_BYTES)
		end_message(sender);
}

int graphite_split(const char *address, char **host, char **port, struct error *error)
{
	const char *colon = strrchr(address, ':'), *end = colon;

	*host = *port = NULL;
	if (*address == '[') {
		const char *closing = strchr(address, ']');

		if (!closing || (closing[1] && closing[1] != ':'))
			return error_set(error, "'%s' is no address, want HOST:PORT",
					 address);
		colon = closing[1] ? closing + 1 : NULL;
		address++;
		end = closing;
	} else if (colon && strchr(address, ':') != colon) {
		colon = end = NULL; /* an IPv6 address alone */
	}
	if (colon && !colon[1])
		return error_set(error, "'%s' has no port behind the colon", address);
	*host = end ? mem_strndup(address, (size_t)(end - address)) : mem_strdup(address);
	if (colon)
		*port = mem_strdup(colon + 1);
	if (**host)
		return 0;
	free(*host);
	free(*port);
	*host = *port = NULL;
	return error_set(error, "no host in the address, want HOST:PORT");
}

/* How long a server may say nothing before a connection counts as broken. */
static const struct timeval silence = {.tv_sec = 60};

/* Of a call that failed: silence ends one with EAGAIN, or, of connect(), EINPROGRESS. */
static int told_errno(struct error *error)
{
	if (errno == EAGAIN || errno == EINPROGRESS)
		errno = ETIMEDOUT;
	return error_set(error, "%s", strerror(errno));
}

static int try_connect(const struct addrinfo *info)
{
	int fd =
	    socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC, info->ai_protocol);
	int cause;

	if (fd < 0)
		return -1;
	if (!setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &silence, sizeof(silence)) &&
	    !setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof(silence)) &&
	    !connect(fd, info->ai_addr, info->ai_addrlen))
		return fd;
	cause = errno;
	close(fd);
	errno = cause;
	return -1;
}

static int open_connection(const char *host, const char *port, struct error *error)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *all = NULL;
	int fd = -1, status = getaddrinfo(host, port, &hints, &all);

	if (status)
		return error_set(error, "%s",
				 status == EAI_SYSTEM ? strerror(errno)
						      : gai_strerror(status));
	for (const struct addrinfo *at = all; at && fd < 0; at = at->ai_next)
		fd = try_connect(at);
	if (fd < 0)
		told_errno(error);
	freeaddrinfo(all);
	return fd;
}

/* Whatever a server says is read and passed over: 0: it closed, 1: it did not, -1. */
static int pass_over(int fd, int flags)
{
	char bytes[4096];
	ssize_t got;

	do
		got = recv(fd, bytes, sizeof(bytes), flags);
	while (got < 0 && errno == EINTR);
	return got > 0 || (got < 0 && errno == EAGAIN && flags) ? 1 : (int)got;
}

/* A server that closed before we did has not read our end, nor all before, maybe. */
static int check_open(int fd, struct error *error)
{
	int open = pass_over(fd, MSG_DONTWAIT);

	return open > 0   ? 0
	       : open < 0 ? told_errno(error)
			  : error_set(error, "closed before all was sent");
}

static int send_all(int fd, const uint8_t *data, size_t size, struct error *error)
{
	enum { PIECE = 65536 };

	while (size) {
		ssize_t sent;

		if (check_open(fd, error))
			return -1;
		sent = send(fd, data, size < PIECE ? size : PIECE, MSG_NOSIGNAL);
		if (sent < 0 && errno != EINTR)
			return told_errno(error);
		data += sent < 0 ? 0 : sent;
		size -= sent < 0 ? 0 : (size_t)sent;
	}
	return 0;
}

/* Close our side, and wait until the server has closed its own. */
static int close_both(int fd, struct error *error)
{
	int open;

	if (check_open(fd, error))
		return -1;
	if (shutdown(fd, SHUT_WR))
		return told_errno(error);
	do
		open = pass_over(fd, 0);
	while (open > 0);
	return open < 0 ? told_errno(error) : 0;
}

/* Send the batch on a connection of its own. With an error nothing is known of what was
 * read. */
static int deliver_once(const struct graphite_sender *sender, struct error *error)
{
	int fd = open_connection(sender->host, sender->port, error), status;

	if (fd < 0)
		return -1;
	status = send_all(fd, sender->bytes.data, sender->bytes.size, error) ||
			 close_both(fd, error)
		     ? -1
		     : 0;
	close(fd);
	return status;
}

#define FORMAT "clustertrace-graphite"

/* The state is one object of JSON. Without a file nothing was delivered. */
int graphite_sender_begin(struct graphite_sender *sender, struct error *error)
{
	const char *path = sender->state, *format, *wanted;
	json_t *state;
	nsec_t count = 0;
	int status = 0;

	if (!path || access(path, F_OK) != 0)
		return 0;
	state = json_read_object(path, error);
	if (!state)
		return -1;
	format = json_text(state, "format");
	wanted = json_text(state, "export");
	if (!format || strcmp(format, FORMAT) != 0 || !wanted ||
	    json_nsec(state, "points", &count) || count < 0)
		status = error_set(error,
				   "%s: no state of an export to graphite, want "
				   "one or a name that is free",
				   path);
	else if (strcmp(wanted, sender->key) != 0)
		status = error_set(error,
				   "%s: the state of another export (%s), want "
				   "the same one, or another file",
				   path, wanted);
	sender->skip = sender->delivered = (uint64_t)count;
	json_decref(state);
	return status;
}

/* Replaces the file at once. */
static int write_state(const struct graphite_sender *sender, struct error *error)
{
	json_t *state = json_pack("{s:s, s:s, s:I}", "format", FORMAT, "export",
				  sender->key, "points", (json_int_t)sender->delivered);
	char *line = state ? json_one_line(state) : NULL;
	struct output output;
	int status = -1;

	json_decref(state);
	if (!line)
		return error_set(error, "%s: the name of the export is no UTF-8",
				 sender->state);
	if (output_open(&output, sender->state, error) == 0) {
		fprintf(output.file, "%s\n", line);
		status = output_commit(&output, error);
	}
	free(line);
	return status;
}

/* The pauses before a batch is sent again: twice as long each time. */
enum { SHORTEST_PAUSE_MS = 100, LONGEST_PAUSE_MS = 5000 };

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int give_up(const struct graphite_sender *sender, struct error *error)
{
	error_prefix(error, "%s", sender->address);
	return error_set(error,
			 "%s; %" PRIu64 " points were delivered, %sthe same "
			 "command go%s on from there",
			 error_text(error), sender->delivered,
			 sender->state ? "" : "--state FILE would let ",
			 sender->state ? "es" : "");
}

/* Again and again, until the batch is there or patience ends. */
static int deliver(const struct graphite_sender *sender, struct error *error)
{
	double until = now_s() + sender->patience_s;
	unsigned pause_ms = SHORTEST_PAUSE_MS, tries = 0;

	while (deliver_once(sender, error)) {
		if (now_s() + pause_ms * 1e-3 > until)
			return give_up(sender, error);
		if (tries++ == 0)
			problem_add(sender->notes, sender->address, "connection", 1,
				    "%s, tried again", error_text(error));
		error_clear(error);
		usleep(pause_ms * 1000);
		pause_ms =
		    pause_ms * 2 < LONGEST_PAUSE_MS ? pause_ms * 2 : LONGEST_PAUSE_MS;
	}
	return 0;
}

static int end_batch(struct graphite_sender *sender, struct error *error)
{
	struct bytes *bytes = &sender->bytes;

	if (!sender->waiting)
		return 0;
	end_message(sender);
	if (sender->file) {
		if (fwrite(bytes->data, 1, bytes->size, sender->file) != bytes->size)
			return error_errno(error, sender->file_name);
	} else if (deliver(sender, error)) {
		return -1;
	}
	sender->delivered += sender->waiting;
	sender->waiting = 0;
	bytes->size = 0;
	return sender->state ? write_state(sender, error) : 0;
}

int graphite_send(struct graphite_sender *sender, const struct graphite_point *point,
		  struct error *error)
{
	if (sender->skip) {
		sender->skip--;
		return 0;
	}
	add_point(sender, point);
	return ++sender->waiting < sender->batch ? 0 : end_batch(sender, error);
}

int graphite_sender_end(struct graphite_sender *sender, struct error *error)
{
	if (end_batch(sender, error))
		return -1;
	if (sender->state)
		unlink(sender->state);
	return 0;
}
