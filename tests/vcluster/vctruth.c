/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vctruth: read the clocks of the virtual cluster's machines and write truth.csv. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/options.h"
#include "base/output.h"
#include "vcluster/clock.h"

enum { TRIES = 3, READINGS = 100 };

#ifdef __x86_64__
static uint64_t count_ticks(void)
{
	return __builtin_ia32_rdtsc();
}
#else
static uint64_t count_ticks(void) /* no such counter */
{
	return 0;
}
#endif

struct instant {
	nsec_t at_ns;
	uint64_t ticks;
};

/* Both at nearly one instant: the counter between the two closest stamps of many. */
static struct instant read_both(void)
{
	struct instant instant = {0};
	nsec_t least_ns = NSEC_MAX;

	for (int i = 0; i < READINGS; i++) {
		nsec_t before = clock_read(CLOCK_MONOTONIC_RAW);
		uint64_t ticks = count_ticks();
		nsec_t took_ns = clock_read(CLOCK_MONOTONIC_RAW) - before;

		if (took_ns < least_ns) {
			least_ns = took_ns;
			instant = (struct instant){before + took_ns / 2, ticks};
		}
	}
	return instant;
}

/*
 * The rate of this machine's time stamp counter in kHz, by CLOCK_MONOTONIC_RAW over
 * one second. Under software emulation the machines of the virtual cluster count
 * the same.
 */
static int print_tick_rate(struct error *error)
{
	struct timespec second = {.tv_sec = 1};
	struct instant begin = read_both(), end;

	while (nanosleep(&second, &second))
		;
	end = read_both();
	if (end.ticks <= begin.ticks)
		return error_set(error,
				 "no working time stamp counter (requires x86-64)");
	printf("%ld\n", lround((double)(end.ticks - begin.ticks) * 1e6 /
			       (double)(end.at_ns - begin.at_ns)));
	return EXIT_DONE;
}

struct machine {
	char *name;
	struct clock_peer peer;
	unsigned long rows, misses;
	bool gone;
};

struct truth {
	struct text_list machines;
	char *path, *memory;
	int period_ms, within_ns;
	bool tick_rate;
	struct machine *machine; /* one a word of machines */
	struct output output;
};

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static void catch_signals(void)
{
	const struct sigaction action = {.sa_handler = stop};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/* One page a machine, shared with all of them. */
static int map_pages(struct truth *truth, struct error *error)
{
	const char *path = truth->memory;
	size_t bytes = truth->machines.count * CLOCK_PAGE_BYTES;
	int memory = open(path, O_RDWR | O_CLOEXEC);
	char *base = MAP_FAILED;

	if (memory < 0)
		return error_errno(error, path);
	if (lseek(memory, 0, SEEK_END) < (off_t)bytes)
		error_set(error, "%s: too small (expected %zu bytes, a page per machine)",
			  path, bytes);
	else if ((base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory,
			      0)) == MAP_FAILED)
		error_errno(error, path);
	close(memory);
	if (base == MAP_FAILED)
		return -1;
	for (size_t i = 0; i < truth->machines.count; i++)
		truth->machine[i].peer.page =
		    (struct clock_page *)(void *)(base + i * CLOCK_PAGE_BYTES);
	return 0;
}

/* "node1=n1.clock": the machine's name, and the socket that its port ends at. */
static int connect_machine(struct machine *machine, const char *text, struct error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = strchr(text, '=');

	if (!path || path == text)
		return error_set(error, "%s: expected NODE=SOCKET", text);
	machine->name = mem_strndup(text, (size_t)(path++ - text));
	if (strpbrk(machine->name, ",\"\n"))
		return error_set(error, "%s: names must not contain commas or quotes",
				 machine->name);
	if (strlen(path) >= sizeof(address.sun_path))
		return error_set(error, "%s: path too long (limit %zu bytes)", path,
				 sizeof(address.sun_path));
	memcpy(address.sun_path, path, strlen(path) + 1);
	machine->peer.port = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (machine->peer.port < 0 ||
	    connect(machine->peer.port, (struct sockaddr *)&address, sizeof(address)))
		return error_errno(error, path);
	/* Above what an earlier reader asked: the agent answers new numbers. */
	machine->peer.round = (uint64_t)clock_read(CLOCK_MONOTONIC);
	return 0;
}

static void report_gone(struct machine *machine, struct error *error)
{
	fprintf(stderr, "vctruth: %s: %s\n", machine->name, error_text(error));
	error_clear(error);
	machine->gone = true;
}

/* A row for this machine, unless it is too busy to answer in time. */
static void ask(struct truth *truth, struct machine *machine)
{
	struct error error = ERROR_INIT;
	struct clock_reading reading;

	for (int i = 0; i < TRIES && !stopped; i++)
		switch (clock_ask(&machine->peer, truth->within_ns, &reading, &error)) {
		case CLOCK_ASK_GOOD:
			machine->rows++;
			fprintf(truth->output.file, "%s,%lld,%lld,%lld\n", machine->name,
				(long long)(reading.host0_ns +
					    (reading.host1_ns - reading.host0_ns) / 2),
				(long long)reading.mono_ns, (long long)reading.real_ns);
			return;
		case CLOCK_ASK_GONE:
			report_gone(machine, &error);
			return;
		case CLOCK_ASK_NONE:
			break;
		}
	machine->misses += !stopped;
}

/* A row for the host's own clocks. */
static void add_host(const struct truth *truth)
{
	nsec_t before = clock_read(CLOCK_MONOTONIC), real = clock_read(CLOCK_REALTIME);
	nsec_t host = before + (clock_read(CLOCK_MONOTONIC) - before) / 2;

	fprintf(truth->output.file, "host,%lld,%lld,%lld\n", (long long)host,
		(long long)host, (long long)real);
}

/* Read the machines' clocks in turn, until stopped or until no machine is left. */
static void watch(struct truth *truth)
{
	while (!stopped) {
		nsec_t next =
		    clock_read(CLOCK_MONOTONIC) + truth->period_ms * NSEC_PER_MSEC;
		const struct timespec until = {.tv_sec = next / NSEC_PER_SEC,
					       .tv_nsec = next % NSEC_PER_SEC};
		bool some = false;

		for (size_t i = 0; i < truth->machines.count && !stopped; i++)
			if (!truth->machine[i].gone) {
				ask(truth, &truth->machine[i]);
				some = true;
			}
		if (!some)
			return;
		add_host(truth);
		if (!stopped)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
}

/* Print a summary. Return 0 if each machine ran to the end and has rows to interpolate
 * between. */
static int summarize(const struct truth *truth, struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < truth->machines.count; i++) {
		const struct machine *machine = &truth->machine[i];

		fprintf(stderr, "vctruth: %s: %lu readings, %lu times too busy\n",
			machine->name, machine->rows, machine->misses);
		if (machine->gone || machine->rows < 2)
			status = error_set(error, "%s: %s", machine->name,
					   machine->gone ? "went away"
							 : "fewer than two readings");
	}
	return status;
}

static int record(struct truth *truth, struct error *error)
{
	if (map_pages(truth, error))
		return -1;
	for (size_t i = 0; i < truth->machines.count; i++)
		if (connect_machine(&truth->machine[i], truth->machines.item[i], error))
			return -1;
	if (output_open(&truth->output, truth->path, error))
		return -1;
	fputs("node,host_ns,mono_ns,real_ns\n", truth->output.file);
	watch(truth);
	return output_commit(&truth->output, error) ? -1 : summarize(truth, error);
}

static int run(struct truth *truth, struct error *error)
{
	size_t count = truth->machines.count;
	int status;

	truth->machine = mem_zalloc(count * sizeof(*truth->machine));
	for (size_t i = 0; i < count; i++)
		truth->machine[i].peer.port = -1;
	catch_signals();
	status = record(truth, error);
	output_discard(&truth->output);
	for (size_t i = 0; i < count; i++) {
		if (truth->machine[i].peer.port >= 0)
			close(truth->machine[i].peer.port);
		free(truth->machine[i].name);
	}
	free(truth->machine);
	return status;
}

int main(int argc, const char **argv)
{
	static struct truth truth = {.period_ms = 1000, .within_ns = 1000};
	static const struct option_row rows[] = {
	    {'m', "memory", OPTION_STRING, &truth.memory, "FILE",
	     "what the machines share, a page of 4096 bytes each", 0, 0},
	    {'o', "output", OPTION_STRING, &truth.path, "FILE",
	     "where to write what the clocks said", 0, 0},
	    {'p', "period", OPTION_INT, &truth.period_ms, "MS",
	     "how often to ask each machine (default 1000)", 1, 3600000},
	    {0, "tick-rate", OPTION_FLAG, &truth.tick_rate, NULL,
	     "print this machine's time stamp counter in kHz, and nothing else", 0, 0},
	    {0, "within", OPTION_INT, &truth.within_ns, "NS",
	     "leave out what took longer than this to ask (default 1000)", 1, 1000000000},
	    {0},
	};
	static const struct command command = {
	    .name = "vctruth",
	    .usage = "-m FILE -o FILE NODE=SOCKET...",
	    .summary = "What the clocks of virtual machines really say, until a signal",
	    .rows = rows,
	};
	struct error error = ERROR_INIT;
	int status = options_parse(&command, argc, argv, &truth.machines, &error);

	if (status != OPTIONS_GO)
		;
	else if (truth.tick_rate)
		status = print_tick_rate(&error);
	else if (!truth.memory || !truth.path || !truth.machines.count)
		status = error_misuse(&error, "expected -m FILE -o FILE NODE=SOCKET...");
	else
		status = run(&truth, &error);
	return program_end(command.name, status, &error);
}
