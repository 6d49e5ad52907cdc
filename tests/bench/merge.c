/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench-merge: how fast ctmerge is, how much memory it takes and how large its
 * file is, against babeltrace2's text imported into SQLite, and against a bare
 * loop that inserts the same rows from memory. It measures and asserts nothing.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/options.h"
#include "base/table.h"
#include "input/run.h"
#include "launch.h"
#include "merge_bare.h"
#include "timeline/reader.h"

enum contender { BY_CTMERGE, BY_IMPORT, BY_LOOP, CONTENDERS };

static const char *const names[CONTENDERS] = {
    [BY_CTMERGE] = "ctmerge",
    [BY_IMPORT] = "babeltrace2 | sqlite3",
    [BY_LOOP] = "bare loop",
};

struct request {
	char *import; /* the script */
	int repeats, most;
};

/* What was measured of one run: the best of some turns. */
struct result {
	int64_t items, bytes; /* rows of `event` in all, and the file's size */
	double wall_s, cpu_s;
	long peak_kib;
};

struct bench {
	const struct request *request;
	const char *path;
	struct source_list sources;
	char *file, *other; /* the timeline, and what the others write */
	int64_t traced;     /* its events of traces */
	struct result result[CONTENDERS];
};

/* Take what is better; nothing was measured before the first turn. */
static void keep(struct result *best, const struct launched *launched)
{
	if (best->wall_s <= 0 || launched->wall_s < best->wall_s)
		best->wall_s = launched->wall_s;
	if (best->cpu_s <= 0 || launched->cpu_s < best->cpu_s)
		best->cpu_s = launched->cpu_s;
	if (launched->peak_kib > best->peak_kib)
		best->peak_kib = launched->peak_kib;
}

static int64_t size_of(const char *path)
{
	struct stat status;

	return stat(path, &status) ? 0 : status.st_size;
}

/* One number from the timeline. */
static int ask(const char *path, const char *sql, int64_t *number, struct error *error)
{
	struct timeline_reader *reader = timeline_reader_open(path, error);
	struct timeline_query *query =
	    reader ? timeline_query_new(reader, sql, error) : NULL;
	int status = query ? timeline_query_next(query, error) : -1;

	if (status == 1)
		*number = timeline_query_row(query)[0].integer;
	timeline_query_free(query);
	timeline_reader_free(reader);
	return status == 1 ? 0 : -1;
}

static int run_ctmerge(struct bench *bench, struct error *error)
{
	struct result *result = &bench->result[BY_CTMERGE];
	struct text_list words = {NULL, 0, 0};
	struct launched launched;
	int status;

	launch_words(&words, "ctmerge", "-q", "--force", "-o", bench->file, bench->path,
		     NULL);
	status = launch(&words, NULL, &launched, error);
	text_list_clear(&words);
	if (status)
		return -1;
	if (launched.status && launched.status != EXIT_NOT_TIED)
		return error_set(error, "ctmerge: exit status %d", launched.status);
	keep(result, &launched);
	result->bytes = size_of(bench->file);
	return ask(bench->file, "SELECT max(id) FROM event", &result->items, error) ||
		       ask(bench->file,
			   "SELECT sum(events) FROM source WHERE kind <> 'capture'",
			   &bench->traced, error)
		   ? -1
		   : 0;
}

static int run_import(struct bench *bench, struct error *error)
{
	struct result *result = &bench->result[BY_IMPORT];
	struct text_list words = {NULL, 0, 0};
	struct launched launched;
	char *events;
	int status;

	result->items =
	    bench->traced < bench->request->most ? bench->traced : bench->request->most;
	events = mem_printf("%" PRId64, result->items);
	launch_words(&words, "sh", bench->request->import, events, bench->other, NULL);
	for (size_t i = 0; i < bench->sources.count; i++)
		if (bench->sources.item[i].kind == SOURCE_TRACE)
			launch_words(&words, bench->sources.item[i].path, NULL);
	status = launch(&words, NULL, &launched, error);
	if (!status && launched.status)
		status = error_set(error, "%s: exit status %d", words.item[1],
				   launched.status);
	text_list_clear(&words);
	free(events);
	if (status)
		return -1;
	keep(result, &launched);
	result->bytes = size_of(bench->other);
	return 0;
}

/* In a child, whose memory is not counted as that of the next one. */
static int run_loop(struct bench *bench, struct error *error)
{
	struct result *result = &bench->result[BY_LOOP];
	struct merge_bare_cost cost;
	int ends[2], status = 0;
	bool is_told;
	pid_t child;

	if (pipe(ends))
		return error_errno(error, "pipe");
	child = fork();
	if (child == 0) {
		status = merge_bare(bench->file, bench->other, &cost, error);
		if (status)
			fprintf(stderr, "merge: %s\n", error_text(error));
		else if (write(ends[1], &cost, sizeof(cost)) != sizeof(cost))
			status = -1;
		_exit(status ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	close(ends[1]);
	is_told = read(ends[0], &cost, sizeof(cost)) == sizeof(cost);
	close(ends[0]);
	if (child < 0 || waitpid(child, &status, 0) != child || status || !is_told)
		return error_set(error, "%s: failed", names[BY_LOOP]);
	keep(result, &(struct launched){.wall_s = cost.wall_s, .cpu_s = cost.cpu_s});
	result->items = bench->result[BY_CTMERGE].items;
	result->bytes = size_of(bench->other);
	return 0;
}

/* Each begins with no file of its own, and with nothing that waits for the disk. */
static int run_all(struct bench *bench, struct error *error)
{
	static int (*const run[CONTENDERS])(struct bench *, struct error *) = {
	    [BY_CTMERGE] = run_ctmerge,
	    [BY_IMPORT] = run_import,
	    [BY_LOOP] = run_loop,
	};

	for (int turn = 0; turn < bench->request->repeats; turn++)
		for (int i = 0; i < CONTENDERS; i++) {
			unlink(i == BY_CTMERGE ? bench->file : bench->other);
			sync();
			if ((i != BY_IMPORT || bench->request->most) &&
			    run[i](bench, error))
				return -1;
		}
	return 0;
}

static void add_line(struct table *table, const struct result *results, int which)
{
	const struct result *result = &results[which];
	double speed = (double)result->items / result->wall_s;
	double base = (double)results[BY_CTMERGE].items / results[BY_CTMERGE].wall_s;
	char events[32], wall[32], cpu[32], rate[32], ratio[32], peak[32] = "", bytes[32];
	const char *cell[] = {names[which], events, wall, cpu, rate, ratio, bytes, peak};

	snprintf(events, sizeof(events), "%" PRId64, result->items);
	snprintf(wall, sizeof(wall), "%.2f", result->wall_s);
	snprintf(cpu, sizeof(cpu), "%.2f", result->cpu_s);
	snprintf(rate, sizeof(rate), "%.0f", speed);
	snprintf(ratio, sizeof(ratio), "%.2f", base / speed);
	snprintf(bytes, sizeof(bytes), "%.1f",
		 (double)result->bytes / (double)result->items);
	if (result->peak_kib)
		snprintf(peak, sizeof(peak), "%.1f", (double)result->peak_kib / 1024);
	table_add(table, cell);
}

/* The streams of a trace; not all tell their size to who reads them. */
static int64_t trace_bytes(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	int64_t bytes = 0;
	struct stat status;

	while (directory && (entry = readdir(directory)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "metadata") != 0 &&
		    fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 &&
		    S_ISREG(status.st_mode))
			bytes += status.st_size;
	if (directory)
		closedir(directory);
	return bytes;
}

static int64_t stream_bytes(const struct source_list *sources)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < sources->count; i++)
		if (sources->item[i].kind == SOURCE_TRACE)
			bytes += trace_bytes(sources->item[i].path);
	return bytes;
}

static void print_results(const struct bench *bench)
{
	const struct table_column columns[] = {{.title = "BY"},
					       {.title = "EVENTS", .right = true},
					       {.title = "BEST/S", .right = true},
					       {.title = "CPU/S", .right = true},
					       {.title = "EVENTS/S", .right = true},
					       {.title = "CTMERGE'S", .right = true},
					       {.title = "BYTES", .right = true},
					       {.title = "PEAK/MIB", .right = true}};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int64_t ctf = stream_bytes(&bench->sources);

	for (int i = 0; i < CONTENDERS; i++)
		if (bench->result[i].items)
			add_line(table, bench->result, i);
	printf("%s: %" PRId64 " events of traces, best of %d\n\n", bench->path,
	       bench->traced, bench->request->repeats);
	table_print(table, stdout);
	table_free(table);
	printf("\n%" PRId64
	       " bytes of CTF, %.1f an event; the timeline has %.2f times as "
	       "many\n",
	       ctf, (double)ctf / (double)bench->traced,
	       (double)bench->result[BY_CTMERGE].bytes / (double)ctf);
	fflush(stdout);
}

static int measure(const struct request *request, const char *path, struct error *error)
{
	struct bench bench = {.request = request, .path = path};
	struct problem_list problems = {NULL, 0, 0};
	int status = source_add_run(&bench.sources, path, &problems, error);

	if (!status && (!(bench.file = launch_temporary(error)) ||
			!(bench.other = launch_temporary(error))))
		status = -1;
	if (!status)
		status = run_all(&bench, error);
	if (!status)
		print_results(&bench);
	if (bench.file)
		unlink(bench.file);
	if (bench.other)
		unlink(bench.other);
	free(bench.file);
	free(bench.other);
	source_list_clear(&bench.sources);
	problem_clear(&problems);
	return status;
}

int main(int argc, const char **argv)
{
	struct request request = {.repeats = 3, .most = 2000000};
	struct option_row rows[] = {
	    {'n', "repeat", OPTION_INT, &request.repeats, "N",
	     "run everything N times (default: 3)", 1, 1000},
	    {'i', "import", OPTION_INT, &request.most, "N",
	     "import N events (default: 2000000), 0: none", 0, 1000000000},
	    {0, "script", OPTION_STRING, &request.import, "FILE",
	     "what imports them (import.sh)", 0, 0},
	    {0},
	};
	const struct command command = {
	    .name = "merge",
	    .usage = "[OPTION...] RUN...",
	    .summary = "ctmerge's speed, memory, and size of its file",
	    .rows = rows,
	};
	struct text_list runs = {NULL, 0, 0};
	struct error error = ERROR_INIT;
	int status = options_parse(&command, argc, argv, &runs, &error);

	if (!request.import)
		request.import = mem_strdup("import.sh");
	for (size_t i = 0; i < runs.count && status == OPTIONS_GO; i++)
		status =
		    measure(&request, runs.item[i], &error) ? EXIT_FAILED : OPTIONS_GO;
	text_list_clear(&runs);
	free(request.import);
	return program_end("merge", status == OPTIONS_GO ? EXIT_DONE : status, &error);
}
