/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench-perfetto RUN.db: ctexport's traces of a timeline, and sqlite3's list of its
 * events beside them: seconds on the clock and of processors, events of the timeline a
 * second, memory at most, and size.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch.h"
#include "timeline/reader.h"

static int count_events(const char *timeline, int64_t *events, struct error *error)
{
	struct timeline_reader *reader = timeline_reader_open(timeline, error);
	struct timeline_query *query = NULL;
	int status = -1;

	if (reader)
		query = timeline_query_new(reader, "SELECT count(*) FROM event", error);
	if (query && timeline_query_ask(query, NULL, 0, error) == 0 &&
	    timeline_query_next(query, error) > 0) {
		*events = timeline_query_row(query)[0].integer;
		status = 0;
	}
	timeline_query_free(query);
	timeline_reader_free(reader);
	return status;
}

/* Run it and print its line; takes the words. */
static int measure(const char *what, struct text_list *words, int64_t events,
		   struct error *error)
{
	char *output = launch_temporary(error);
	struct launched launched;
	struct stat size = {0};
	int status = -1;

	if (output && launch(words, output, &launched, error) == 0) {
		status = launched.status ? error_set(error, "%s: exit status %d", what,
						     launched.status)
					 : 0;
		stat(output, &size);
		printf("%-12s %8.2f %8.2f %12.2f %8ld %8.1f\n", what, launched.wall_s,
		       launched.cpu_s, (double)events / launched.wall_s / 1e6,
		       launched.peak_kib / 1024, (double)size.st_size / 1e6);
	}
	if (output)
		unlink(output);
	free(output);
	text_list_clear(words);
	return status;
}

static int measure_all(const char *timeline, struct error *error)
{
	struct text_list words = {0};
	int64_t events;

	if (count_events(timeline, &events, error))
		return -1;
	printf("%lld events\n%-12s %8s %8s %12s %8s %8s\n", (long long)events, "what",
	       "s", "cpu s", "million/s", "MiB", "MB");
	launch_words(&words, "sqlite3", timeline, "SELECT * FROM timeline", NULL);
	if (measure("sqlite3", &words, events, error))
		return -1;
	launch_words(&words, "ctexport", "perfetto", "-q", timeline, NULL);
	if (measure("proto", &words, events, error))
		return -1;
	launch_words(&words, "ctexport", "perfetto", "-q", "--format", "json", timeline,
		     NULL);
	if (measure("json", &words, events, error))
		return -1;
	launch_words(&words, "ctexport", "perfetto", "-q", "--begin", "+10", "--end",
		     "+11", timeline, NULL);
	return measure("proto, 1 s", &words, events, error);
}

int main(int argc, char **argv)
{
	struct error error = ERROR_INIT;

	if (argc != 2) {
		fputs("usage: bench-perfetto RUN.db\n", stderr);
		return EXIT_MISUSE;
	}
	if (measure_all(argv[1], &error) == 0)
		return EXIT_SUCCESS;
	fprintf(stderr, "bench-perfetto: %s\n", error_text(&error));
	error_clear(&error);
	return EXIT_FAILURE;
}
