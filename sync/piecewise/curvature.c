/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/piecewise/curvature.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* Changing latencies move the mean of both directions by up to half of their difference,
 * while a curve changes only the difference. So the difference must have this many times
 * the variance. With few pieces, chance alone gives more. */
#define BEYOND_LATENCY     4.0
#define BEYOND_LATENCY_FEW 10.0
enum { FEW_PIECES = 8, LEAST_LOOKED_AT = 6 };

/* If the rate changes, each piece has more slack to a line of its own than all have
 * together, except for the share that latencies explain. If it does not, a quiet moment
 * has no more slack than all. */
#define LEAST_SHARE 0.5

/* The spread of the pieces that have messages both ways. */
struct spread {
	double n;
	double curve, latency; /* sums of squares: of the difference, of the mean */
	double mean, least;    /* mean and low_mean of half_sum, ns */
};

static double half_difference(const struct piece *piece)
{
	return (piece->above - piece->below) / 2;
}

static double half_sum(const struct piece *piece)
{
	return (piece->above + piece->below) / 2;
}

/*
 * Return the least half_sum of the pieces, ignoring the `skipped` lowest; INFINITY if
 * there are no others.
 */
static double low_mean(const struct piece *piece, size_t pieces, size_t skipped)
{
	double mean[PIECES_MOST];
	size_t n = 0;

	for (size_t k = 0; k < pieces; k++)
		if (!isinf(half_sum(&piece[k])))
			mean[n++] = half_sum(&piece[k]);
	return n > skipped ? ranked(mean, n, skipped) : INFINITY;
}

static struct spread spread_of(const struct piece *piece, size_t pieces, size_t skipped)
{
	struct spread spread = {.least = low_mean(piece, pieces, skipped)};
	double time = 0, curve = 0, times = 0, both = 0;

	for (size_t k = 0; k < pieces; k++) {
		if (isinf(half_sum(&piece[k])))
			continue;
		spread.n++;
		time += (double)k;
		curve += half_difference(&piece[k]);
		spread.mean += half_sum(&piece[k]);
	}
	time /= spread.n;
	curve /= spread.n;
	spread.mean /= spread.n;
	for (size_t k = 0; k < pieces; k++) {
		if (isinf(half_sum(&piece[k])))
			continue;
		times += pow((double)k - time, 2);
		both += ((double)k - time) * (half_difference(&piece[k]) - curve);
		spread.curve += pow(half_difference(&piece[k]) - curve, 2);
		spread.latency += pow(half_sum(&piece[k]) - spread.mean, 2);
	}
	/* The part that a better line removes. */
	spread.curve -= both * both / times;
	return spread;
}

static bool is_proved_by(const struct piece *piece, size_t pieces, double slack_ns,
			 size_t skipped)
{
	struct spread spread = spread_of(piece, pieces, skipped);
	double beyond = pieces > FEW_PIECES ? BEYOND_LATENCY : BEYOND_LATENCY_FEW;

	/* Most of the time must have been looked at. */
	if (spread.n < fmax(LEAST_LOOKED_AT, (double)pieces / 2))
		return false;
	return spread.curve / (spread.n - 2) > beyond * spread.latency / (spread.n - 1) &&
	       spread.least - slack_ns > LEAST_SHARE * (spread.mean - slack_ns);
}

void pieces_init(struct piece *piece, size_t pieces)
{
	for (size_t k = 0; k < pieces; k++)
		piece[k] = (struct piece){INFINITY, INFINITY};
}

void piece_note(struct piece *piece, size_t pieces, double share, bool above,
		double slack)
{
	struct piece *of =
	    &piece[(size_t)fmin((double)pieces - 1, fmax(0, share * (double)pieces))];

	if (above)
		of->above = fmin(of->above, slack);
	else
		of->below = fmin(of->below, -slack);
}

bool curvature_is_proved(struct piece *piece, size_t pieces, double slack_ns,
			 bool has_events)
{
	for (; pieces >= PIECES_LEAST; pieces /= 2) {
		if (is_proved_by(piece, pieces, slack_ns, has_events ? pieces / 24 : 0))
			return true;
		for (size_t k = 0; k < pieces / 2; k++)
			piece[k] = (struct piece){
			    fmin(piece[2 * k].above, piece[2 * k + 1].above),
			    fmin(piece[2 * k].below, piece[2 * k + 1].below)};
	}
	return false;
}

struct examination {
	const struct network *net;
	struct piece **pieces; /* by pair; NULL: not looked at */
};

static int note_message(void *context, const struct message *message)
{
	const struct examination *examination = context;
	const struct pair *pair = &examination->net->pairs.pair[message->pair];
	const struct run_clock *clock = &examination->net->clocks.clock[pair->a];
	double length = fmax(1, (double)(clock->end_ns - clock->begin_ns));
	struct hull_point point = pair_point(message);

	/* The bounds that a daemon claims are not latencies, and have no quiet moments.
	 */
	if (!message->rejected && !message->claimed && examination->pieces[message->pair])
		piece_note(examination->pieces[message->pair], PIECES_MOST,
			   (double)(point.x - clock->begin_ns) / length, message->forward,
			   line_distance(&pair->fit.line, point.x, point.y));
	return 0;
}

static void add_pair(struct examination *examination, uint32_t index)
{
	const struct pair *pair = &examination->net->pairs.pair[index];
	struct piece *piece;

	if (pair->fit.margin_ns < 0 || pair->fit.too_fast || !pair->hulls.lower.count ||
	    !pair->hulls.upper.count)
		return;
	piece = mem_alloc(PIECES_MOST * sizeof(*piece));
	pieces_init(piece, PIECES_MOST);
	examination->pieces[index] = piece;
}

int curvature_find(const struct network *net, bool *curved, struct error *error)
{
	struct examination examination = {.net = net};
	int status;

	examination.pieces =
	    mem_zalloc((net->pairs.count + 1) * sizeof(*examination.pieces));
	for (size_t i = 0; i < net->clocks.count; i++)
		if (net->graph.node[i].parent >= 0)
			add_pair(&examination, (uint32_t)net->graph.node[i].parent_pair);
	status = message_log_each(&net->log, note_message, &examination, error);
	for (uint32_t i = 0; i < net->pairs.count; i++) {
		if (!examination.pieces[i])
			continue;
		curved[i] = !status &&
			    curvature_is_proved(examination.pieces[i], PIECES_MOST,
						net->pairs.pair[i].fit.margin_ns, true);
		free(examination.pieces[i]);
	}
	free(examination.pieces);
	return status;
}
