/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench-insert: how fast the timeline's writer is, against a bare loop that
 * puts the same rows into the same tables, and what SQLite's settings are
 * worth to that loop. Each contender is a process of its own, so that its
 * memory is. It measures and asserts nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/options.h"
#include "insert_bare.h"
#include "insert_rows.h"
#include "launch.h"
#include "timeline/rows.h"

/* The first two are no bare loops. */
static const struct insert_variant variants[] = {
    {"events alone, nothing written", NULL, 0},
    {"writer", NULL, 0},
    {"bare loop", INSERT_SETTINGS, 0},
    {"  with pages of 8 KiB", "PRAGMA page_size = 8192;" INSERT_SETTINGS, 0},
    {"  with pages of 64 KiB", "PRAGMA page_size = 65536;" INSERT_SETTINGS, 0},
    {"  with a cache of 2 MiB", INSERT_SETTINGS "PRAGMA cache_size = -2048;", 0},
    {"  with a cache of 64 MiB", INSERT_SETTINGS "PRAGMA cache_size = -65536;", 0},
    {"  with the index made at the end", INSERT_SETTINGS, 1},
    {"  with a journal in a file", INSERT_SETTINGS "PRAGMA journal_mode = DELETE;", 0},
    {"  with syncs", INSERT_SETTINGS "PRAGMA synchronous = FULL;", 0},
    {"  with SQLite's own settings", "", 0},
};

static int add_sources(struct timeline_writer *writer, struct error *error)
{
	for (int64_t i = 1; i <= INSERT_NODES; i++) {
		const struct timeline_node node = {.id = i, .name = "n"};
		const struct timeline_source source = {
		    .id = i, .node = i, .kind = "kernel", .reference = 1};

		if (timeline_add_node(writer, &node, error) ||
		    timeline_add_source(writer, &source, error))
			return -1;
	}
	return 0;
}

static int add_classes(struct timeline_writer *writer, uint32_t id[INSERT_CLASSES],
		       struct error *error)
{
	for (int i = 0; i < INSERT_CLASSES; i++) {
		struct timeline_column column[INSERT_COLUMNS];
		char name[INSERT_COLUMNS][24];
		const struct timeline_class class = {
		    .kind = "kernel",
		    .name = insert_class[i].name,
		    .column = column,
		    .columns = insert_columns(&insert_class[i], column, name)};

		if (timeline_add_class(writer, &class, &id[i], error))
			return -1;
	}
	return 0;
}

static int insert_by_writer(const char *path, long events, struct insert_timing *timing,
			    struct error *error)
{
	struct timeline_writer *writer = timeline_writer_new(path, NULL, true, error);
	double begin = insert_now(), middle;
	struct timeline_event event = {0};
	uint32_t id[INSERT_CLASSES];
	struct insert_rows rows;
	int status = writer ? 0 : -1;

	insert_rows_init(&rows);
	if (!status && (add_sources(writer, error) || add_classes(writer, id, error)))
		status = -1;
	for (long i = 0; !status && i < events; i++) {
		insert_rows_next(&rows, &event);
		event.class = id[event.class];
		status = timeline_add_event(writer, &event, NULL, error);
	}
	middle = insert_now();
	if (!status)
		status = timeline_writer_finish(writer, error);
	timeline_writer_free(writer);
	*timing = (struct insert_timing){.load = middle - begin,
					 .finish = insert_now() - middle};
	return status;
}

static void make_events(long events, struct insert_timing *timing)
{
	double begin = insert_now();
	struct timeline_event event = {0};
	struct insert_rows rows;

	insert_rows_init(&rows);
	for (long i = 0; i < events; i++)
		insert_rows_next(&rows, &event);
	*timing = (struct insert_timing){.load = insert_now() - begin, .finish = 0};
}

/* In the child: run a contender, hand its times to the parent. */
static int contend(size_t which, const char *path, long events, int to)
{
	struct insert_timing timing;
	struct error error = ERROR_INIT;
	int status = 0;

	if (which == 0)
		make_events(events, &timing);
	else if (which == 1)
		status = insert_by_writer(path, events, &timing, &error);
	else
		status = insert_bare(path, events, &variants[which], &timing, &error);
	if (error.text)
		fprintf(stderr, "insert: %s\n", error.text);
	error_clear(&error);
	if (write(to, &timing, sizeof(timing)) != sizeof(timing))
		status = -1;
	return status ? EXIT_FAILURE : EXIT_SUCCESS;
}

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec * 1e-6;
}

static void print_row(size_t which, long events, const struct insert_timing *timing,
		      const struct rusage *usage, const char *path)
{
	double count = (double)events, total = timing->load + timing->finish;
	struct stat status;

	if (stat(path, &status))
		status.st_size = 0;
	printf("%-33s %7.2f %7.2f %7.2f %9.0f %9.0f %6.1f %5ld\n", variants[which].name,
	       timing->load, timing->finish,
	       seconds(&usage->ru_utime) + seconds(&usage->ru_stime),
	       count / timing->load, count / total, (double)status.st_size / count,
	       usage->ru_maxrss / 1024);
	fflush(stdout);
}

/* A row of the table: the fastest of some turns. */
static int measure(size_t which, long events, int turns, struct error *error)
{
	char *path = launch_temporary(error);
	struct insert_timing timing, best = {0};
	struct rusage usage, best_usage = {0};
	int ends[2], status = 0;

	if (!path)
		return -1;
	for (int turn = 0; turn < turns && !status; turn++) {
		unlink(path);
		if (pipe(ends) == 0) {
			pid_t child = fork();

			if (child == 0)
				_exit(contend(which, path, events, ends[1]));
			close(ends[1]);
			if (read(ends[0], &timing, sizeof(timing)) != sizeof(timing) ||
			    wait4(child, &status, 0, &usage) != child || status)
				status =
				    error_set(error, "%s: failed", variants[which].name);
			close(ends[0]);
		}
		if (turn == 0 || timing.load < best.load) {
			best = timing;
			best_usage = usage;
		}
	}
	if (!status)
		print_row(which, events, &best, &best_usage, path);
	unlink(path);
	free(path);
	return status;
}

static int measure_all(long events, int turns, int all, struct error *error)
{
	size_t count = all ? sizeof(variants) / sizeof(variants[0]) : 3;

	printf("%ld events, best of %d\n\n%-33s %7s %7s %7s %9s %9s %6s %5s\n", events,
	       turns, "", "LOAD s", "END s", "CPU s", "EVENTS/S", "WITH END", "BYTES",
	       "MiB");
	for (size_t which = 0; which < count; which++)
		if (measure(which, events, turns, error))
			return -1;
	return 0;
}

int main(int argc, const char **argv)
{
	int events = 4000000, turns = 3;
	bool all = false;
	struct option_row rows[] = {
	    {'e', "events", OPTION_INT, &events, "N", "how many (default: 4000000)", 1,
	     1000000000},
	    {'n', "repeat", OPTION_INT, &turns, "N",
	     "run everything N times (default: 3)", 1, 1000},
	    {'a', "all", OPTION_FLAG, &all, NULL, "try other settings, too", 0, 0},
	    {0},
	};
	const struct command command = {
	    .name = "insert",
	    .usage = "[OPTION...]",
	    .summary = "The timeline writer's speed, memory, and size of its file",
	    .rows = rows,
	};
	struct text_list words = {NULL, 0, 0};
	struct error error = ERROR_INIT;
	int status = options_parse(&command, argc, argv, &words, &error);

	if (status == OPTIONS_GO)
		status = measure_all(events, turns, all, &error);
	text_list_clear(&words);
	return program_end("insert", status, &error);
}
