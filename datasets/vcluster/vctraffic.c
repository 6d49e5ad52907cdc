/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vctraffic: load for the network of the virtual cluster. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vcluster/traffic.h"

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

static int serve(char **argument, enum traffic_service service)
{
	return traffic_serve(port_number(argument[0]), service);
}

static int ping(char **argument, int count, bool udp)
{
	const struct traffic_pings pings = {
	    .seconds = number(argument[0], 0, most_seconds),
	    .interval_us = (long)number(argument[1], 0, 1e9),
	    .size = (int)number(argument[2], 1, udp ? MOST_UDP : MOST_TCP),
	    .port = port_number(argument[3]),
	    .hosts = argument + 4,
	    .count = count - 4,
	    .udp = udp,
	};
	struct traffic_times times;
	int status = traffic_ping(&pings, &times);

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
	int status = traffic_send(argument[0], port_number(argument[1]), bytes, &took_ns);

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
		status = serve(argv + 2, TRAFFIC_ECHO);
	else if (argc == 3 && !strcmp(verb, "sink"))
		status = serve(argv + 2, TRAFFIC_SINK);
	else if (argc > 6 && !strcmp(verb, "ping"))
		status = ping(argv + 2, argc - 2, false);
	else if (argc == 3 && !strcmp(verb, "echo-udp"))
		status = traffic_serve_udp(port_number(argv[2]));
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
