/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/spill.h"

enum { RUN = 1 << 21, PIECE = 1 << 12, DIGITS = 4, RADIX = 1 << 16 };

/* A sorted run in the file, read a piece at a time. */
struct run {
	uint64_t at, end; /* records */
	struct opendc_record *piece;
	size_t have, used;
};

struct opendc_runs {
	struct opendc_record *record, *other; /* RUN each */
	size_t records, used;
	FILE *file; /* NULL: all fits */
	uint64_t written;
	struct run *run;
	size_t runs, room;
	size_t *heap; /* of runs that have a record, the least first */
	size_t heaped;
};

struct opendc_runs *opendc_runs_new(void)
{
	return mem_zalloc(sizeof(struct opendc_runs));
}

static unsigned digit(const struct opendc_record *record, int place)
{
	uint64_t key = (uint64_t)record->task << 32 | record->index;

	return (unsigned)(key >> 16 * place) & (RADIX - 1);
}

/* By the digits of the key, the lowest first; each pass keeps the order of equal ones.
 * A digit that all have alike needs none. */
static void sort(struct opendc_runs *runs)
{
	size_t *begin = mem_alloc((RADIX + 1) * sizeof(*begin));

	for (int place = 0; place < DIGITS; place++) {
		struct opendc_record *from = runs->record;

		memset(begin, 0, (RADIX + 1) * sizeof(*begin));
		for (size_t i = 0; i < runs->records; i++)
			begin[digit(&from[i], place) + 1]++;
		if (begin[digit(&from[0], place) + 1] == runs->records)
			continue;
		for (size_t i = 0; i < RADIX; i++)
			begin[i + 1] += begin[i];
		for (size_t i = 0; i < runs->records; i++)
			runs->other[begin[digit(&from[i], place)]++] = from[i];
		runs->record = runs->other;
		runs->other = from;
	}
	free(begin);
}

static int flush(struct opendc_runs *runs, struct error *error)
{
	if (!runs->file)
		runs->file = spill_open();
	if (!runs->file)
		return error_errno(error, "temporary file");
	sort(runs);
	if (fwrite(runs->record, sizeof(*runs->record), runs->records, runs->file) !=
	    runs->records)
		return error_errno(error, "temporary file");
	runs->run = mem_grow(runs->run, runs->runs, &runs->room, sizeof(*runs->run));
	runs->run[runs->runs++] =
	    (struct run){.at = runs->written, .end = runs->written + runs->records};
	runs->written += runs->records;
	runs->records = 0;
	return 0;
}

int opendc_runs_add(struct opendc_runs *runs, const struct opendc_record *record,
		    struct error *error)
{
	if (!runs->record) {
		runs->record = mem_alloc(RUN * sizeof(*runs->record));
		runs->other = mem_alloc(RUN * sizeof(*runs->other));
	}
	if (runs->records == RUN && flush(runs, error))
		return -1;
	runs->record[runs->records++] = *record;
	return 0;
}

/* Make sure that a run has a record at hand: 1, 0 at its end, -1 with error. */
static int fill(struct opendc_runs *runs, struct run *run, struct error *error)
{
	size_t want = run->end - run->at < PIECE ? (size_t)(run->end - run->at) : PIECE;
	size_t size = want * sizeof(*run->piece), done = 0;

	if (run->used < run->have)
		return 1;
	if (!want)
		return 0;
	if (!run->piece)
		run->piece = mem_alloc(PIECE * sizeof(*run->piece));
	while (done < size) {
		ssize_t more =
		    pread(fileno(runs->file), (char *)run->piece + done, size - done,
			  (off_t)(run->at * sizeof(*run->piece) + done));

		if (more < 0)
			return error_errno(error, "temporary file");
		if (more == 0)
			return error_set(error, "temporary file: it was cut");
		done += (size_t)more;
	}
	run->at += want;
	run->have = want;
	run->used = 0;
	return 1;
}

/* Whether one run's record comes before another's; the earlier run's, of equal ones. */
static int is_before(const struct opendc_runs *runs, size_t a, size_t b)
{
	const struct opendc_record *one = &runs->run[a].piece[runs->run[a].used];
	const struct opendc_record *other = &runs->run[b].piece[runs->run[b].used];

	if (one->task != other->task)
		return one->task < other->task;
	if (one->index != other->index)
		return one->index < other->index;
	return a < b;
}

static void sink(struct opendc_runs *runs, size_t at)
{
	for (;;) {
		size_t least = at, child = 2 * at + 1, held;

		for (size_t i = child; i < child + 2 && i < runs->heaped; i++)
			if (is_before(runs, runs->heap[i], runs->heap[least]))
				least = i;
		if (least == at)
			return;
		held = runs->heap[at];
		runs->heap[at] = runs->heap[least];
		runs->heap[least] = held;
		at = least;
	}
}

int opendc_runs_sort(struct opendc_runs *runs, struct error *error)
{
	if (!runs->file) {
		if (runs->records)
			sort(runs);
		return 0;
	}
	if (runs->records && flush(runs, error))
		return -1;
	if (fflush(runs->file))
		return error_errno(error, "temporary file");
	free(runs->record);
	free(runs->other);
	runs->record = runs->other = NULL;
	runs->heap = mem_alloc(runs->runs * sizeof(*runs->heap));
	for (size_t i = 0; i < runs->runs; i++) {
		if (fill(runs, &runs->run[i], error) < 0)
			return -1;
		runs->heap[runs->heaped++] = i;
	}
	for (size_t i = runs->heaped; i-- > 0;)
		sink(runs, i);
	return 0;
}

int opendc_runs_next(struct opendc_runs *runs, struct opendc_record *record,
		     struct error *error)
{
	struct run *run;
	int more;

	if (!runs->file) {
		if (runs->used == runs->records)
			return 0;
		*record = runs->record[runs->used++];
		return 1;
	}
	if (!runs->heaped)
		return 0;
	run = &runs->run[runs->heap[0]];
	*record = run->piece[run->used++];
	more = fill(runs, run, error);
	if (more < 0)
		return -1;
	if (more == 0)
		runs->heap[0] = runs->heap[--runs->heaped];
	sink(runs, 0);
	return 1;
}

void opendc_runs_free(struct opendc_runs *runs)
{
	if (!runs)
		return;
	for (size_t i = 0; i < runs->runs; i++)
		free(runs->run[i].piece);
	if (runs->file)
		fclose(runs->file);
	free(runs->run);
	free(runs->heap);
	free(runs->record);
	free(runs->other);
	free(runs);
}
