/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vctraffic: load for the network of the virtual cluster: small messages to and fro, as
 * pingpong of the LTTV days sent them, and bulk transfers. IPv4, and TCP unless
 * UDP is said; a host is a dotted address, since machines without a resolver run
 * this. Uses the C library only, so that it can be linked statically for any machine.
 *
 * What can fail returns 0, or -1 after a message to standard error.
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
#include <time.h>
#include <unistd.h>

enum service { ECHO, SINK };

struct pings {
	double seconds;
	long interval_us; /* between an echo and the next message */
	int size;         /* bytes of a message */
	int port;
	char **hosts;
	int count; /* of hosts */
	bool udp;  /* a message is a datagram, up to 49 bytes larger */
};

struct times {
	long rounds;
	long lost; /* datagrams without an answer in a second; no rounds */
	int64_t least_ns, sum_ns;
};

enum {
	BUFFER_BYTES = 65536,
	BACKLOG = 64,
	CONNECT_TRIES = 100,
	UDP_SIZES = 50,
	LOST_MS = 1000
};

static const struct timespec between_tries = {.tv_nsec = 100000000};

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int fail(const char *what)
{
	fprintf(stderr, "vctraffic: %s: %s\n", what, strerror(errno));
	return -1;
}

/* Read and write, not send and recv: the kernel counts these as the process's bytes. */
static bool write_all(int to, const char *data, size_t length)
{
	while (length > 0) {
		ssize_t written = write(to, data, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		data += written;
		length -= (size_t)written;
	}
	return true;
}

static ssize_t read_some(int from, char *data, size_t room)
{
	ssize_t length;

	do
		length = read(from, data, room);
	while (length < 0 && errno == EINTR);
	return length;
}

/* A message goes out at once, not with the next one. */
static void set_no_delay(int connection)
{
	const int on = 1;

	setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static int listen_on(int port, int type)
{
	const int on = 1;
	const struct sockaddr_in address = {.sin_family = AF_INET,
					    .sin_port = htons((uint16_t)port)};
	int listener = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (listener < 0)
		return fail("socket");
	if (type == SOCK_STREAM)
		setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (const struct sockaddr *)&address, sizeof(address)) ||
	    (type == SOCK_STREAM && listen(listener, BACKLOG))) {
		fail("listen");
		close(listener);
		return -1;
	}
	return listener;
}

static void serve_connection(int connection, enum service service)
{
	char data[BUFFER_BYTES];
	ssize_t length;

	set_no_delay(connection);
	while ((length = read_some(connection, data, sizeof(data))) > 0)
		if (service == ECHO && !write_all(connection, data, (size_t)length))
			break;
}

/* Serve every connection to `port`, each by a process of its own; only fails. */
static int serve(int port, enum service service)
{
	int listener = listen_on(port, SOCK_STREAM);

	if (listener < 0)
		return -1;
	signal(SIGCHLD, SIG_IGN); /* the ended are not waited for */
	for (;;) {
		int connection = accept(listener, NULL, NULL);

		if (connection < 0) {
			if (errno == EINTR || errno == ECONNABORTED)
				continue;
			return fail("accept");
		}
		if (fork() == 0) {
			close(listener);
			serve_connection(connection, service);
			_exit(EXIT_SUCCESS);
		}
		close(connection);
	}
}

/* Send every UDP datagram to `port` back; only fails. */
static int serve_udp(int port)
{
	char data[BUFFER_BYTES];
	int server = listen_on(port, SOCK_DGRAM);

	if (server < 0)
		return -1;
	for (;;) {
		struct sockaddr_in from;
		socklen_t length = sizeof(from);
		ssize_t bytes = recvfrom(server, data, sizeof(data), 0,
					 (struct sockaddr *)&from, &length);

		if (bytes < 0 && errno != EINTR)
			return fail("recvfrom");
		/* What cannot be sent is lost, as datagrams are. */
		if (bytes >= 0)
			(void)sendto(server, data, (size_t)bytes, 0,
				     (struct sockaddr *)&from, length);
	}
}

/* Connect, and try again while nobody listens yet. */
static int connect_to(const char *host, int port, int type)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)port)};
	int error = 0;

	if (inet_pton(AF_INET, host, &address.sin_addr) != 1) {
		fprintf(stderr, "vctraffic: %s: want a dotted address\n", host);
		return -1;
	}
	for (int i = 0; i < CONNECT_TRIES; i++) {
		int connection = socket(AF_INET, type | SOCK_CLOEXEC, 0);

		if (connection < 0)
			return fail("socket");
		if (!connect(connection, (struct sockaddr *)&address, sizeof(address))) {
			if (type == SOCK_STREAM)
				set_no_delay(connection);
			return connection;
		}
		error = errno;
		close(connection);
		nanosleep(&between_tries, NULL);
	}
	errno = error;
	return fail(host);
}

/* One message and its whole echo. */
static bool ping_tcp(int connection, char *data, size_t size)
{
	size_t got = 0;

	if (!write_all(connection, data, size))
		return false;
	while (got < size) {
		ssize_t length = read_some(connection, data, size - got);

		if (length <= 0)
			return false;
		got += (size_t)length;
	}
	return true;
}

/*
 * One datagram and its answer. Returns how many were answered, 0 or 1, or -1. A
 * server that is not there yet, of which ICMP tells, loses it as well.
 */
static int ping_udp(int connection, char *data, size_t size)
{
	struct pollfd answer = {.fd = connection, .events = POLLIN};
	int ready;

	if (send(connection, data, size, 0) < 0 && errno != ECONNREFUSED)
		return -1;
	do
		ready = poll(&answer, 1, LOST_MS);
	while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		return ready;
	if (recv(connection, data, BUFFER_BYTES, 0) >= 0)
		return 1;
	return errno == ECONNREFUSED ? 0 : -1;
}

static int ping_host(const struct pings *pings, int connection, char *data, long i)
{
	if (pings->udp)
		return ping_udp(connection, data, (size_t)(pings->size + i % UDP_SIZES));
	return ping_tcp(connection, data, (size_t)pings->size) ? 1 : -1;
}

static int ping_all(const struct pings *pings, const int *connection, char *data,
		    struct times *times)
{
	const struct timespec pause = {.tv_sec = pings->interval_us / 1000000,
				       .tv_nsec = pings->interval_us % 1000000 * 1000};
	int64_t until = now() + (int64_t)(pings->seconds * 1e9);

	for (long i = 0; now() < until; i++) {
		int host = (int)(i % pings->count);
		int64_t begin = now(), took;
		int answered = ping_host(pings, connection[host], data, i);

		if (answered < 0)
			return fail(pings->hosts[host]);
		took = now() - begin;
		times->lost += !answered;
		if (answered) {
			times->sum_ns += took;
			if (!times->rounds++ || took < times->least_ns)
				times->least_ns = took;
		}
		if (pings->interval_us)
			nanosleep(&pause, NULL);
	}
	return 0;
}

/*
 * Send a message to each host in turn and wait for its echo, over connections
 * that stay open, until the time is up.
 */
static int ping_hosts(const struct pings *pings, struct times *times)
{
	int *connection = calloc((size_t)pings->count, sizeof(*connection));
	char *data = calloc(1, BUFFER_BYTES);
	int type = pings->udp ? SOCK_DGRAM : SOCK_STREAM;
	int opened = 0, status = -1;

	*times = (struct times){0};
	if (!connection || !data) {
		fail("memory");
		goto out;
	}
	for (; opened < pings->count; opened++) {
		connection[opened] = connect_to(pings->hosts[opened], pings->port, type);
		if (connection[opened] < 0)
			goto out;
	}
	status = ping_all(pings, connection, data, times);
out:
	while (opened > 0)
		close(connection[--opened]);
	free(connection);
	free(data);
	return status;
}

/* Send so many bytes one way; sets how long it took until all was received. */
static int send_bulk(const char *host, int port, int64_t bytes, int64_t *took_ns)
{
	char data[BUFFER_BYTES];
	int connection = connect_to(host, port, SOCK_STREAM), status = 0;
	int64_t begin = now();

	if (connection < 0)
		return -1;
	while (!status && bytes > 0) {
		size_t length =
		    bytes < (int64_t)sizeof(data) ? (size_t)bytes : sizeof(data);

		if (!write_all(connection, data, length))
			status = fail(host);
		bytes -= (int64_t)length;
	}
	/* The other side closes when it has everything. */
	shutdown(connection, SHUT_WR);
	if (!status && read_some(connection, data, sizeof(data)) < 0)
		status = fail(host);
	*took_ns = now() - begin;
	close(connection);
	return status;
}

enum { EXIT_MISUSE = 2, MOST_PORT = 65535, MOST_TCP = 65536, MOST_UDP = 65000 };

static const double most_bytes = 1e15, most_seconds = 1e6;

/* The whole of text as a number between the two; the program ends if it is none. */
static double number(const char *text, double least, double most)
{
	char *end;
	double value = strtod(text, &end);

	if (end != text && !*end && value >= least && value <= most)
		return value;
	fprintf(stderr, "vctraffic: %s: want a number between %.15g and %.15g\n", text,
		least, most);
	exit(EXIT_MISUSE);
}

static int port_number(const char *text)
{
	return (int)number(text, 1, MOST_PORT);
}

static int ping(char **argument, int count, bool udp)
{
	const struct pings pings = {
	    .seconds = number(argument[0], 0, most_seconds),
	    .interval_us = (long)number(argument[1], 0, 1e9),
	    .size = (int)number(argument[2], 1, udp ? MOST_UDP : MOST_TCP),
	    .port = port_number(argument[3]),
	    .hosts = argument + 4,
	    .count = count - 4,
	    .udp = udp,
	};
	struct times times;
	int status = ping_hosts(&pings, &times);

	printf("%ld rounds, ", times.rounds);
	if (udp)
		printf("%ld lost, ", times.lost);
	printf("least %.1f us, mean %.1f us\n", (double)times.least_ns / 1e3,
	       times.rounds ? (double)times.sum_ns / 1e3 / (double)times.rounds : 0);
	return status;
}

static int send_bytes(char **argument)
{
	int64_t bytes = (int64_t)number(argument[2], 0, most_bytes), took_ns = 0;
	int status = send_bulk(argument[0], port_number(argument[1]), bytes, &took_ns);

	if (!status)
		printf("%" PRId64 " bytes in %.3f s\n", bytes, (double)took_ns / 1e9);
	return status;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	int status;

	signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && !strcmp(verb, "echo"))
		status = serve(port_number(argv[2]), ECHO);
	else if (argc == 3 && !strcmp(verb, "sink"))
		status = serve(port_number(argv[2]), SINK);
	else if (argc > 6 && !strcmp(verb, "ping"))
		status = ping(argv + 2, argc - 2, false);
	else if (argc == 3 && !strcmp(verb, "echo-udp"))
		status = serve_udp(port_number(argv[2]));
	else if (argc > 6 && !strcmp(verb, "ping-udp"))
		status = ping(argv + 2, argc - 2, true);
	else if (argc == 5 && !strcmp(verb, "send"))
		status = send_bytes(argv + 2);
	else {
		fputs("usage: vctraffic echo PORT\n"
		      "       vctraffic sink PORT\n"
		      "       vctraffic echo-udp PORT\n"
		      "       vctraffic ping SECONDS INTERVAL_US SIZE PORT HOST...\n"
		      "       vctraffic ping-udp SECONDS INTERVAL_US SIZE PORT HOST...\n"
		      "       vctraffic send HOST PORT BYTES\n",
		      stderr);
		return EXIT_MISUSE;
	}
	return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
