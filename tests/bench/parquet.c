/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench-parquet: write rows like those of a timeline's events as Parquet, or as
 * CSV for another program to write the same, and say what it took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/mem.h"
#include "base/options.h"
#include "parquet/parquet.h"
#include "random.h"

static const struct parquet_column columns[] = {
    {.name = "id", .type = PARQUET_INT64},
    {.name = "ts_ns", .type = PARQUET_INT64},
    {.name = "node", .type = PARQUET_BYTE_ARRAY, .logical = PARQUET_STRING},
    {.name = "cpu", .type = PARQUET_INT32},
    {.name = "tid", .type = PARQUET_INT64, .optional = true},
    {.name = "class", .type = PARQUET_BYTE_ARRAY, .logical = PARQUET_STRING},
    {.name = "comm", .type = PARQUET_BYTE_ARRAY, .logical = PARQUET_STRING},
    {.name = "skbaddr", .type = PARQUET_INT64, .optional = true},
    {.name = "load", .type = PARQUET_DOUBLE},
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static const char *const classes[] = {"sched_switch", "sched_wakeup", "net_dev_queue",
				      "irq_handler_entry", "syscall_entry_read"};

enum { BATCH = 500 };

struct row {
	char node[16], comm[32];
};

/* Rows that are made, and written, together. */
struct rows {
	uint64_t state;
	int64_t id, ts_ns;
	size_t count;
	struct row row[BATCH];
	struct cell cell[BATCH * COLUMNS];
};

static struct cell integer(int64_t value)
{
	return (struct cell){.type = CELL_INTEGER, .integer = value};
}

static struct cell text(const char *value)
{
	return (struct cell){
	    .type = CELL_TEXT, .size = (uint32_t)strlen(value), .bytes = value};
}

static void next_row(struct rows *rows)
{
	uint64_t draw = random_next(&rows->state);
	struct row *row = &rows->row[rows->count];
	struct cell *cell = &rows->cell[rows->count * COLUMNS];

	rows->ts_ns += 200 + (int64_t)(draw % 20000);
	snprintf(row->node, sizeof(row->node), "node%02u", (unsigned)(draw >> 20) % 20);
	snprintf(row->comm, sizeof(row->comm), "kworker/%u",
		 (unsigned)(draw >> 30) % 300);
	cell[0] = integer(++rows->id);
	cell[1] = integer(rows->ts_ns);
	cell[2] = text(row->node);
	cell[3] = integer((int64_t)(draw >> 40) % 16);
	cell[4] = integer(1000 + (int64_t)(draw >> 44) % 700);
	if (draw >> 60 == 0)
		cell[4].type = CELL_NULL;
	cell[5] = text(classes[(draw >> 50) % 5]);
	cell[6] = text(row->comm);
	cell[7] = integer((int64_t)(UINT64_C(0xffff888000000000) |
				    (random_next(&rows->state) >> 30 & ~63u)));
	if (draw >> 62)
		cell[7].type = CELL_NULL;
	cell[8] =
	    (struct cell){.type = CELL_REAL, .real = (double)(draw >> 11) * 0x1p-53};
	rows->count++;
}

static void print_csv(FILE *file, const struct rows *rows)
{
	for (size_t at = 0; at < rows->count * COLUMNS; at++) {
		const struct cell *cell = &rows->cell[at];
		size_t i = at % COLUMNS;

		if (cell->type == CELL_INTEGER)
			fprintf(file, "%lld", (long long)cell->integer);
		else if (cell->type == CELL_REAL)
			fprintf(file, "%.17g", cell->real);
		else if (cell->type == CELL_TEXT)
			fputs(cell->bytes, file);
		putc(i + 1 < COLUMNS ? ',' : '\n', file);
	}
}

struct request {
	const char *path;
	uint64_t rows;
	int codec, csv, none;
};

static int write_rows(const struct request *request, FILE *file, struct error *error)
{
	const struct parquet_settings settings = {.codec =
						      (enum parquet_codec)request->codec};
	struct rows rows = {.state = RANDOM_SEED, .ts_ns = INT64_C(1767225600000000000)};
	struct parquet_writer *writer = NULL;
	int status = 0;

	if (!request->csv) {
		writer = parquet_writer_new(file, columns, COLUMNS, &settings, error);
		status = writer ? 0 : -1;
	}
	for (uint64_t i = 0; i < request->rows && status == 0; i++) {
		next_row(&rows);
		if (rows.count < BATCH && i + 1 < request->rows)
			continue;
		if (request->csv)
			print_csv(file, &rows);
		else if (!request->none)
			status =
			    parquet_add_rows(writer, rows.cell, NULL, rows.count, error);
		rows.count = 0;
	}
	if (status == 0 && !request->csv)
		status = parquet_writer_finish(writer, error);
	parquet_writer_free(writer);
	return status;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	struct request request = {.path = argc > 1 ? argv[1] : NULL,
				  .rows = argc > 2 ? strtoull(argv[2], NULL, 0) : 0};
	const char *kind = argc > 3 ? argv[3] : "zstd";
	struct error error = ERROR_INIT;
	struct rusage usage;
	double begin_s = now_s(), wall_s, cpu_s;
	FILE *file;

	request.csv = strcmp(kind, "csv") == 0;
	request.none = strcmp(kind, "rows") == 0;
	request.codec = strcmp(kind, "snappy") == 0 ? PARQUET_SNAPPY
			: strcmp(kind, "none") == 0 ? PARQUET_UNCOMPRESSED
						    : PARQUET_ZSTD;
	if (argc < 3) {
		fputs("usage: bench-parquet FILE ROWS [zstd|snappy|none|csv|rows]\n",
		      stderr);
		return EXIT_MISUSE;
	}
	file = fopen(request.path, "w");
	if (!file || write_rows(&request, file, &error) || fflush(file)) {
		fprintf(stderr, "bench-parquet: %s: %s\n", request.path,
			error_text(&error));
		return 1;
	}
	wall_s = now_s() - begin_s;
	getrusage(RUSAGE_SELF, &usage);
	cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
	printf("%-28s %6.2f s %6.2f s CPU %10.0f rows/s CPU %10ld bytes %6ld KiB\n", kind,
	       wall_s, cpu_s, (double)request.rows / cpu_s, ftell(file), usage.ru_maxrss);
	return fclose(file) ? 1 : 0;
}
