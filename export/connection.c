/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

int connection_split(const char *address, char **host, char **port, struct error *error)
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

/* Wait for one of the events: 0, or -1 with errno. */
static int wait_for(int fd, short events, int silence_s)
{
	struct pollfd wait = {.fd = fd, .events = events};
	int count;

	do
		count = poll(&wait, 1, silence_s * 1000);
	while (count < 0 && errno == EINTR);
	if (count > 0)
		return 0;
	if (count == 0)
		errno = ETIMEDOUT;
	return -1;
}

static int try_connect(const struct addrinfo *info, int silence_s)
{
	int fd = socket(info->ai_family, info->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
			info->ai_protocol);
	int cause = 0;
	socklen_t size = sizeof(cause);

	if (fd < 0)
		return -1;
	if (connect(fd, info->ai_addr, info->ai_addrlen) == 0)
		return fd;
	if (errno == EINPROGRESS && wait_for(fd, POLLOUT, silence_s) == 0 &&
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &cause, &size) == 0) {
		if (cause == 0)
			return fd;
		errno = cause;
	}
	cause = errno;
	close(fd);
	errno = cause;
	return -1;
}

static int open_connection(const char *host, const char *port, int silence_s,
			   struct error *error)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *all = NULL;
	int fd = -1, status = getaddrinfo(host, port, &hints, &all);

	if (status)
		return error_set(error, "%s",
				 status == EAI_SYSTEM ? strerror(errno)
						      : gai_strerror(status));
	for (const struct addrinfo *at = all; at && fd < 0; at = at->ai_next)
		fd = try_connect(at, silence_s);
	if (fd < 0)
		error_set(error, "%s", strerror(errno));
	freeaddrinfo(all);
	return fd;
}

/* Whatever a server says is read and passed over: 0: it closed, 1: it did not, -1. */
static int pass_over(int fd)
{
	char room[4096];
	ssize_t got = recv(fd, room, sizeof(room), MSG_DONTWAIT);

	if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
		return 1;
	return got == 0 ? 0 : -1;
}

static int send_all(int fd, const char *data, size_t size, int silence_s,
		    struct error *error)
{
	while (size) {
		ssize_t sent;
		int open;

		if (wait_for(fd, POLLOUT, silence_s))
			return error_set(error, "%s", strerror(errno));
		open = pass_over(fd);
		if (open == 0)
			return error_set(error, "closed before all was sent");
		sent = open < 0 ? -1 : send(fd, data, size, MSG_NOSIGNAL);
		if (sent < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (sent < 0)
			return error_set(error, "%s", strerror(errno));
		data += sent;
		size -= (size_t)sent;
	}
	return 0;
}

/* A server that closed before we did has not read our end, nor all before, maybe. */
static int close_both(int fd, int silence_s, struct error *error)
{
	int open = pass_over(fd);

	if (open == 0)
		return error_set(error, "closed before all was sent");
	if (open < 0 || shutdown(fd, SHUT_WR))
		return error_set(error, "%s", strerror(errno));
	do {
		if (wait_for(fd, POLLIN, silence_s))
			return error_set(error, "%s", strerror(errno));
		open = pass_over(fd);
	} while (open > 0);
	return open < 0 ? error_set(error, "%s", strerror(errno)) : 0;
}

int connection_deliver(const char *address, const char *port, const void *data,
		       size_t size, int silence_s, struct error *error)
{
	char *host, *own_port;
	int fd, status = -1;

	if (connection_split(address, &host, &own_port, error))
		return -1;
	fd = open_connection(host, own_port ? own_port : port, silence_s, error);
	if (fd >= 0) {
		status = send_all(fd, data, size, silence_s, error) ||
				 close_both(fd, silence_s, error)
			     ? -1
			     : 0;
		close(fd);
	}
	free(host);
	free(own_port);
	return status;
}
