/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/piecewise/unseen.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
	CELLS = 32,
	CELLS_WANTED = 6,
	CELL_MESSAGES = 2, /* least number in each direction; one alone shows nothing */
	MESSAGES = 4,      /* mean number in each direction in a cell */
};

/*
 * The shortest latencies in one cell of a pair's time, and the number of messages, by
 * direction.
 */
struct unseen_cell {
	double least[2];
	unsigned messages[2];
};

/* Cells of equal length that divide the time of each pair. */
struct unseen {
	const struct sync *sync;
	struct unseen_cell *cell; /* CELLS for each pair */
};

struct unseen *unseen_new(const struct sync *sync)
{
	struct unseen *unseen = mem_zalloc(sizeof(*unseen));

	unseen->sync = sync;
	unseen->cell = mem_zalloc(sync->pairs.count * CELLS * sizeof(*unseen->cell));
	return unseen;
}

void unseen_free(struct unseen *unseen)
{
	free(unseen->cell);
	free(unseen);
}

void unseen_note(struct unseen *unseen, const struct message *message, nsec_t x,
		 nsec_t latency)
{
	const struct pair *pair = &unseen->sync->pairs.pair[message->pair];
	const struct hull *lower = &pair->lower, *upper = &pair->upper;
	uint64_t fewer =
	    pair->messages_ab < pair->messages_ba ? pair->messages_ab : pair->messages_ba;
	size_t cells = fewer < CELLS * MESSAGES ? fewer / MESSAGES : CELLS;
	struct unseen_cell *cell;
	bool side = message->forward;
	double begin, end;

	if (!lower->count || !upper->count)
		return;
	begin = fmax((double)(lower->point[0].x - x), (double)(upper->point[0].x - x));
	end = fmin((double)(lower->point[lower->count - 1].x - x),
		   (double)(upper->point[upper->count - 1].x - x));
	if (begin > 0 || end <= 0)
		return;
	cell = &unseen->cell[message->pair * CELLS +
			     (size_t)((double)cells * begin / (begin - end))];
	if (!cell->messages[side] || (double)latency < cell->least[side])
		cell->least[side] = (double)latency;
	cell->messages[side]++;
}

static double deviation(const double *value, size_t n)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		sum += value[i];
	for (size_t i = 0; i < n; i++)
		squares += (value[i] - sum / (double)n) * (value[i] - sum / (double)n);
	return sqrt(squares / (double)(n - 1));
}

/*
 * Ratio of the deviations that chance does not reach with `n` cells. Set by hand; no
 * recorded clock comes close to it.
 */
#define UNLIKE(n) (1.75 + 8 / (double)(n))

#define NOTICEABLE 0.1 /* share of the round trip; the bounds allow for less */

bool unseen_is_likely(const struct unseen *unseen, size_t pair)
{
	double difference[CELLS], sum[CELLS], least = INFINITY, apart;
	size_t n = 0;

	for (size_t i = 0; i < CELLS; i++) {
		const struct unseen_cell *cell = &unseen->cell[pair * CELLS + i];

		if (cell->messages[0] < CELL_MESSAGES ||
		    cell->messages[1] < CELL_MESSAGES)
			continue;
		difference[n] = cell->least[1] - cell->least[0];
		sum[n] = cell->least[1] + cell->least[0];
		least = fmin(least, sum[n++]);
	}
	if (n < CELLS_WANTED)
		return false;
	apart = deviation(difference, n);
	return apart > UNLIKE(n) * deviation(sum, n) && apart > NOTICEABLE * least;
}
