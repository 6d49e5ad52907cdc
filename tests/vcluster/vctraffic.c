/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vctraffic: load for the network of the virtual cluster: small messages back and forth,
 * and bulk transfers. IPv4, and TCP unless UDP is chosen; a host is a dotted address,
 * because the machines have no resolver. It uses the C library only, so that it can be
 * linked statically for any machine.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vcluster/clock.h"

enum {
	EXIT_MISUSE = 2,
	MOST_PORT = 65535,
	MOST_TCP = 65536,
	MOST_UDP = 65000,
	BUFFER_BYTES = 65536,
	BACKLOG = 64,
	CONNECT_TRIES = 100,
	UDP_SIZES = 50,
	LOST_MS = 1000
};

static const double most_bytes = 1e15, most_seconds = 1e6;

static char data[BUFFER_BYTES]; /* of messages: nobody looks at it */

static void pause_us(long us)
{
	const struct timespec pause = {.tv_sec = us / 1000000,
				       .tv_nsec = us % 1000000 * 1000};

	if (us)
		nanosleep(&pause, NULL);
}

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "vctraffic: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

/* Parse a number from `least` to `most`, or exit with a message. */
static double number(const char *text, double least, double most)
{
	char *end;
	double value = strtod(text, &end);

	if (end != text && !*end && value >= least && value <= most)
		return value;
	fprintf(stderr, "vctraffic: %s: expected a number from %.15g to %.15g\n", text,
		least, most);
	exit(EXIT_MISUSE);
}

/*
 * Use write() and read(), not send() and recv(): the kernel counts their bytes as the
 * process's. They are never interrupted, because no signal has a handler.
 */
static bool write_all(int to, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t written = write(to, data + done, length - done);

		if (written <= 0)
			return false;
		done += (size_t)written;
	}
	return true;
}

/* Make a socket that sends each message at once. */
static int new_socket(int type)
{
	const int on = 1;
	int made = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (made < 0)
		die("socket");
	if (type == SOCK_STREAM) {
		setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	}
	return made;
}

static struct sockaddr_in address_of(const char *port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port =
					htons((uint16_t)number(port, 1, MOST_PORT))};
}

static int listen_on(const char *port, int type)
{
	const struct sockaddr_in address = address_of(port);
	int listener = new_socket(type);

	if (bind(listener, (const struct sockaddr *)&address, sizeof(address)) ||
	    (type == SOCK_STREAM && listen(listener, BACKLOG)))
		die("listen");
	return listener;
}

static void serve_connection(int connection, bool echo)
{
	ssize_t length;

	while ((length = read(connection, data, sizeof(data))) > 0)
		if (echo && !write_all(connection, (size_t)length))
			break;
}

/* Serve every connection, each by a process of its own. */
static _Noreturn void serve(const char *port, bool echo)
{
	int listener = listen_on(port, SOCK_STREAM);

	signal(SIGCHLD, SIG_IGN); /* the ended are not waited for */
	for (;;) {
		int connection = accept(listener, NULL, NULL);

		if (connection < 0) {
			if (errno == ECONNABORTED)
				continue;
			die("accept");
		}
		if (fork() == 0) {
			close(listener);
			serve_connection(connection, echo);
			_exit(EXIT_SUCCESS);
		}
		close(connection);
	}
}

/* Send every datagram back. */
static _Noreturn void serve_udp(const char *port)
{
	int server = listen_on(port, SOCK_DGRAM);

	for (;;) {
		struct sockaddr_in from;
		socklen_t length = sizeof(from);
		ssize_t bytes = recvfrom(server, data, sizeof(data), 0,
					 (struct sockaddr *)&from, &length);

		if (bytes < 0)
			die("recvfrom");
		/* An answer that cannot be sent is a lost datagram. */
		(void)sendto(server, data, (size_t)bytes, 0, (struct sockaddr *)&from,
			     length);
	}
}

/* Connect; try again until the server listens. */
static int connect_to(const char *host, const char *port, int type)
{
	struct sockaddr_in address = address_of(port);
	int connection, error;

	if (inet_pton(AF_INET, host, &address.sin_addr) != 1) {
		fprintf(stderr, "vctraffic: %s: expected a dotted address\n", host);
		exit(EXIT_FAILURE);
	}
	for (int i = 0; i < CONNECT_TRIES; i++) {
		connection = new_socket(type);
		if (!connect(connection, (struct sockaddr *)&address, sizeof(address)))
			return connection;
		error = errno;
		close(connection);
		pause_us(100000);
		errno = error;
	}
	die(host);
}

/* One message and its whole echo: 1, or -1. */
static int ping_tcp(int connection, size_t size)
{
	if (!write_all(connection, size))
		return -1;
	while (size > 0) {
		ssize_t length = read(connection, data, size);

		if (length <= 0)
			return -1;
		size -= (size_t)length;
	}
	return 1;
}

/*
 * Send a datagram and wait for its answer. Return the number of answers, 0 or 1, or -1 on
 * failure. A datagram to a server that does not listen yet (ICMP error) is lost.
 */
static int ping_udp(int connection, size_t size)
{
	struct pollfd answer = {.fd = connection, .events = POLLIN};
	int ready;

	if (send(connection, data, size, 0) < 0 && errno != ECONNREFUSED)
		return -1;
	ready = poll(&answer, 1, LOST_MS);
	if (ready <= 0)
		return ready;
	if (recv(connection, data, sizeof(data), 0) >= 0)
		return 1;
	return errno == ECONNREFUSED ? 0 : -1;
}

/*
 * Send a message to each host in turn and wait for its echo, over connections that stay
 * open, until the time is up. Datagrams are of up to 49 bytes more than `size`.
 */
static void ping(char **argument, int hosts, bool udp)
{
	int64_t span = (int64_t)(number(argument[0], 0, most_seconds) * 1e9), until;
	long interval_us = (long)number(argument[1], 0, 1e9), rounds = 0, lost = 0;
	size_t size = (size_t)number(argument[2], 1, udp ? MOST_UDP : MOST_TCP);
	int64_t least_ns = INT64_MAX, sum_ns = 0;
	char **host = argument + 4;
	int *connection = calloc((size_t)hosts, sizeof(*connection));

	if (!connection)
		die("memory");
	for (int i = 0; i < hosts; i++)
		connection[i] =
		    connect_to(host[i], argument[3], udp ? SOCK_DGRAM : SOCK_STREAM);
	until = clock_read(CLOCK_MONOTONIC) + span;
	for (long i = 0; clock_read(CLOCK_MONOTONIC) < until; i++) {
		int64_t begin = clock_read(CLOCK_MONOTONIC), took_ns;
		int answered =
		    udp ? ping_udp(connection[i % hosts], size + (size_t)i % UDP_SIZES)
			: ping_tcp(connection[i % hosts], size);

		if (answered < 0)
			die(host[i % hosts]);
		took_ns = clock_read(CLOCK_MONOTONIC) - begin;
		rounds += answered;
		lost += !answered;
		sum_ns += answered ? took_ns : 0;
		if (answered && took_ns < least_ns)
			least_ns = took_ns;
		pause_us(interval_us);
	}
	printf("%ld rounds, ", rounds);
	if (udp)
		printf("%ld lost, ", lost);
	printf("least %.1f us, mean %.1f us\n", rounds ? (double)least_ns / 1e3 : 0,
	       rounds ? (double)sum_ns / 1e3 / (double)rounds : 0);
	free(connection);
}

/* Send a number of bytes one way; the other side closes after it has read them all. */
static void send_bulk(char **argument)
{
	int64_t bytes = (int64_t)number(argument[2], 0, most_bytes), begin, left = bytes;
	int connection = connect_to(argument[0], argument[1], SOCK_STREAM);

	for (begin = clock_read(CLOCK_MONOTONIC); left > 0; left -= BUFFER_BYTES)
		if (!write_all(connection,
			       left < BUFFER_BYTES ? (size_t)left : sizeof(data)))
			die(argument[0]);
	shutdown(connection, SHUT_WR);
	if (read(connection, data, sizeof(data)) < 0)
		die(argument[0]);
	printf("%" PRId64 " bytes in %.3f s\n", bytes,
	       (double)(clock_read(CLOCK_MONOTONIC) - begin) / 1e9);
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";

	signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && !strcmp(verb, "echo"))
		serve(argv[2], true);
	if (argc == 3 && !strcmp(verb, "sink"))
		serve(argv[2], false);
	if (argc == 3 && !strcmp(verb, "echo-udp"))
		serve_udp(argv[2]);
	if (argc > 6 && !strcmp(verb, "ping")) {
		ping(argv + 2, argc - 6, false);
	} else if (argc > 6 && !strcmp(verb, "ping-udp")) {
		ping(argv + 2, argc - 6, true);
	} else if (argc == 5 && !strcmp(verb, "send")) {
		send_bulk(argv + 2);
	} else {
		fputs("usage: vctraffic echo PORT\n"
		      "       vctraffic sink PORT\n"
		      "       vctraffic echo-udp PORT\n"
		      "       vctraffic ping SECONDS INTERVAL_US SIZE PORT HOST...\n"
		      "       vctraffic ping-udp SECONDS INTERVAL_US SIZE PORT HOST...\n"
		      "       vctraffic send HOST PORT BYTES\n",
		      stderr);
		return EXIT_MISUSE;
	}
	return EXIT_SUCCESS;
}
