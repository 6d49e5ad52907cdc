/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vcguest: what a machine of the virtual cluster does about its clocks. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "vcluster/clock.h"

/* A microsecond more a tick of 10,000 is 100 ppm (adjtimex(2), USER_HZ 100). */
enum { EXIT_MISUSE = 2, MOST_PPM = 500, MOST_SLEW_PPM = 100000, PPM_PER_TICK_US = 100 };
enum { MOST_SLEW_SECONDS = 86400, REOPEN_NS = 200000000 };

static int fail(const char *what)
{
	fprintf(stderr, "vcguest: %s: %s\n", what, strerror(errno));
	return EXIT_FAILURE;
}

/* Parse a number from `least` to `most`. Return 0, or -1 with a message. */
static int number(const char *text, double least, double most, double *value)
{
	char *end;

	*value = strtod(text, &end);
	if (end != text && !*end && *value >= least && *value <= most)
		return 0;
	fprintf(stderr, "vcguest: %s: expected a number from %g to %g\n", text, least,
		most);
	return -1;
}

/* Set the frequency of the system's clocks, in ppm faster. */
static int set_rate(const char *text)
{
	struct timex timex = {.modes = ADJ_FREQUENCY};
	double ppm;

	if (number(text, -MOST_PPM, MOST_PPM, &ppm))
		return EXIT_MISUSE;
	timex.freq = (long)(ppm * 65536); /* 16 bits of fraction */
	return adjtimex(&timex) < 0 ? fail("adjtimex") : EXIT_SUCCESS;
}

static void sleep_seconds(double seconds)
{
	struct timespec left = {.tv_sec = (time_t)seconds};

	left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

/*
 * Slew the system's clocks: run them faster by a number of ppm for a number of seconds,
 * then as before. The tick is set in multiples of 100 ppm, the frequency adds the rest.
 */
static int slew(const char *ppm_text, const char *seconds_text)
{
	struct timex before = {0}, during;
	double ppm, seconds;
	long ticks;

	if (number(ppm_text, -MOST_SLEW_PPM, MOST_SLEW_PPM, &ppm) ||
	    number(seconds_text, 0, MOST_SLEW_SECONDS, &seconds))
		return EXIT_MISUSE;
	if (adjtimex(&before) < 0)
		return fail("adjtimex");
	before.modes = ADJ_FREQUENCY | ADJ_TICK;
	during = before;
	ticks = (long)(ppm / PPM_PER_TICK_US);
	during.tick += ticks;
	during.freq += (long)((ppm - (double)(ticks * PPM_PER_TICK_US)) * 65536);
	if (adjtimex(&during) < 0)
		return fail("adjtimex");
	sleep_seconds(seconds);
	return adjtimex(&before) < 0 ? fail("adjtimex") : EXIT_SUCCESS;
}

static struct clock_page *map_page(const char *path, size_t index)
{
	int memory = open(path, O_RDWR | O_SYNC | O_CLOEXEC);
	size_t bytes = (index + 1) * CLOCK_PAGE_BYTES;
	char *base = MAP_FAILED;

	if (memory >= 0) {
		base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
		close(memory);
	}
	if (base == MAP_FAILED)
		return NULL;
	return (struct clock_page *)(void *)(base + index * CLOCK_PAGE_BYTES);
}

/* Answer for ever. The port ends whenever the host lets go of it. */
static int agent(const char *port_path, const char *memory_path, const char *index_text)
{
	const struct timespec pause = {.tv_nsec = REOPEN_NS};
	struct clock_page *page;
	double index;
	int port;

	if (number(index_text, 0, 65535, &index))
		return EXIT_MISUSE;
	page = map_page(memory_path, (size_t)index);
	if (!page)
		return fail(memory_path);
	port = open(port_path, O_RDWR | O_CLOEXEC);
	if (port < 0)
		return fail(port_path);
	for (;;) {
		if (clock_answer(port, page))
			return fail(port_path);
		nanosleep(&pause, NULL);
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "rate"))
		return set_rate(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "slew"))
		return slew(argv[2], argv[3]);
	if (argc == 5 && !strcmp(argv[1], "agent"))
		return agent(argv[2], argv[3], argv[4]);
	fputs("usage: vcguest rate PPM\n"
	      "       vcguest slew PPM SECONDS\n"
	      "       vcguest agent PORT MEMORY INDEX\n",
	      stderr);
	return EXIT_MISUSE;
}
