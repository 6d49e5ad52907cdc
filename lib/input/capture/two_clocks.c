/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/two_clocks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "input/capture/frames.h"
#include "input/capture/survey.h"

#define DISORDER  NSEC_PER_MSEC /* CPUs may deliver packets out of order by this */
#define NEAR      NSEC_PER_SEC  /* by what is near a contradiction */
#define LINE_RATE 2e-5          /* more than clocks wander */
#define MOST_RATE 1e-3          /* between two clocks; more is a slew or a step */

enum {
	LEAST_SIGNS = 8,  /* fewest changes out of order with two clocks */
	SIGNS_SHARE = 50, /* inverse of their least share of all changes */
	SURVEY_PACKETS = 10000,
	CLOCK_PACKETS = 1000, /* per step of the survey */
	LEAST_TURNS = 16,     /* needed for a rate */
	RATE_SIGMAS = 5,      /* least rate in its standard errors */
};

/* The changes from a sent packet to a received one, or the other way around. */
struct changes {
	nsec_t *ns; /* timestamp of the received one less that of the sent one */
	size_t count, capacity;
};

struct clock_survey {
	struct changes to_received, to_sent;
	bool begun[2], last_received;
	nsec_t last_ns[2];     /* timestamp of the last sent, last received packet */
	uint64_t signs, falls; /* changes out of order; steps back in one direction */
};

static void survey_packet(struct clock_survey *survey, bool received, nsec_t ns)
{
	nsec_t ahead = nsec_sub(received ? ns : survey->last_ns[1],
				received ? survey->last_ns[0] : ns);
	struct changes *changes = received ? &survey->to_received : &survey->to_sent;

	if (survey->begun[received] && ns < survey->last_ns[received] - DISORDER)
		survey->falls++;
	if (survey->begun[!received] && survey->last_received != received) {
		*MEM_NEXT(changes->ns, changes->count, changes->capacity) = ahead;
		survey->signs += received ? ahead < -DISORDER : ahead > DISORDER;
	}
	survey->begun[received] = true;
	survey->last_received = received;
	survey->last_ns[received] = ns;
}

/* Return a percentile of the changes: unlike an extreme, it is robust to disorder. */
static nsec_t change_percentile(const struct changes *changes, size_t percent)
{
	nsec_t value, *sorted = mem_alloc(changes->count * sizeof(*sorted));

	for (size_t i = 0; i < changes->count; i++)
		sorted[i] = changes->ns[i];
	SORT(sorted, changes->count, nsec_compare);
	value = sorted[(changes->count - 1) * percent / 100];
	free(sorted);
	return value;
}

/*
 * Return the offset of TAI or GPS time, of either sign, that is within the bounds, or 0.
 */
static nsec_t find_scale(nsec_t low, nsec_t high)
{
	/* TAI and GPS time less UTC since 1999. */
	static const int seconds[] = {32, 33, 34, 35, 36, 37, 13, 14, 15, 16, 17, 18};
	nsec_t found = 0;

	if (high - low >= NSEC_PER_SEC)
		return 0;
	for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++)
		for (int sign = -1; sign <= 1; sign += 2) {
			nsec_t scale = sign * seconds[i] * NSEC_PER_SEC;

			if (low - DISORDER <= scale && scale <= high + DISORDER)
				found = scale;
		}
	return found;
}

static void decide_relation(const struct clock_survey *survey,
			    struct second_clock *second)
{
	size_t changes = survey->to_received.count + survey->to_sent.count;
	nsec_t low, high;

	if (survey->signs < LEAST_SIGNS || survey->signs * SIGNS_SHARE < changes ||
	    survey->falls * LEAST_SIGNS > survey->signs || !survey->to_received.count ||
	    !survey->to_sent.count)
		return;
	low = change_percentile(&survey->to_sent, 98);
	high = change_percentile(&survey->to_received, 2);
	second->found = true;
	second->ahead_ns = find_scale(low, high);
	second->is_scale = second->ahead_ns != 0;
	if (!second->is_scale)
		second->ahead_ns = low + nsec_sub(high, low) / 2;
}

/* Return the most that the offset gains in a time, or with sign -1 the least. */
static nsec_t drift_in(const struct second_clock *second, nsec_t from, nsec_t to,
		       int sign)
{
	double span = (double)nsec_sub(to, from);

	return (nsec_t)(span * second->rate + sign * fabs(span) * second->most);
}

/* Return the higher one of a lower bound and that of a turn at a time near it. */
static nsec_t higher_low(const struct second_clock *second, const struct turn *turn,
			 nsec_t ns, nsec_t low)
{
	nsec_t own = turn->low_ns;

	if (own != NSEC_MIN)
		own = nsec_add(own, drift_in(second, turn->first_ns, ns, -1));
	return own > low ? own : low;
}

/* Return the upper bound of a turn at a time near it. */
static nsec_t high_at(const struct second_clock *second, const struct turn *turn,
		      nsec_t ns)
{
	return nsec_add(turn->high_ns, drift_in(second, turn->last_ns, ns, 1));
}

/* The context of learn_packet() and look_at_packet(). */
struct clock_look {
	const struct sides *sides;
	struct clock_survey survey;
	struct second_clock *second;
	struct turn turn; /* not complete */
	bool has_turn;
	nsec_t sent_ns;
	bool has_sent;
	uint64_t contradictions;
};

static bool is_own(const struct clock_look *look, const struct captured *captured,
		   bool *received)
{
	enum side side = SIDE_FOREIGN;

	if (captured->status == FRAME_PACKET)
		side = sides_tell(look->sides, &captured->frame);
	*received = side == SIDE_RECEIVED;
	return side == SIDE_SENT || side == SIDE_RECEIVED;
}

static void look_at_packet(void *context, struct captured *captured)
{
	struct clock_look *look = context;
	bool received;

	if (is_own(look, captured, &received))
		survey_packet(&look->survey, received, captured->ns);
}

static void learn_packet(void *context, struct captured *captured)
{
	struct clock_look *look = context;
	struct second_clock *second = look->second;
	struct turn *turn = &look->turn;
	nsec_t whole_ns = nsec_add(captured->ns, captured->unit.slack_ns), ahead;
	bool received;

	if (!is_own(look, captured, &received))
		return;
	if (received && !look->has_turn)
		turn->low_ns =
		    look->has_sent ? nsec_sub(look->sent_ns, whole_ns) : NSEC_MIN;
	if (received && !look->has_turn)
		turn->first_ns = captured->ns;
	if (received) {
		look->has_turn = true;
		turn->last_ns = captured->ns;
		return;
	}
	look->has_sent = true;
	look->sent_ns = captured->ns;
	if (!look->has_turn)
		return;
	look->has_turn = false;
	turn->high_ns = nsec_sub(whole_ns, turn->last_ns);
	ahead = -second->ahead_ns;
	look->contradictions += turn->high_ns < nsec_sub(ahead, DISORDER) ||
				turn->low_ns > nsec_add(ahead, DISORDER);
	*MEM_NEXT(second->turn, second->turns, second->capacity) = *turn;
}

/* Tighten the upper bound of a turn by that of a neighbour. */
static bool tighten_high(const struct second_clock *second, struct turn *turn,
			 const struct turn *by, bool is_apart)
{
	nsec_t high = high_at(second, by, turn->last_ns);

	if (!is_apart && high < turn->low_ns)
		return false;
	if (!is_apart && high < turn->high_ns)
		turn->high_ns = high;
	return true;
}

/*
 * Tighten each upper bound by those of its neighbours. A turn that would contradict the
 * order of packets then is apart from the neighbour.
 */
static void tighten_all(struct second_clock *second)
{
	struct turn *turn = second->turn;

	for (size_t i = 1; i < second->turns; i++)
		turn[i].is_apart |=
		    !tighten_high(second, &turn[i], &turn[i - 1], turn[i].is_apart);
	for (size_t i = second->turns; i-- > 1;)
		turn[i].is_apart |=
		    !tighten_high(second, &turn[i - 1], &turn[i], turn[i].is_apart);
}

/*
 * Tighten the bounds of turns by their neighbours. If a clock was set or slewed, the
 * neighbours' bounds can be wrong before they are contradicted, so turns near a
 * contradiction keep their own.
 */
static void tighten_turns(struct second_clock *second)
{
	AUTOFREE struct turn *own = mem_alloc(second->turns * sizeof(*own));
	size_t from = 0, to = 0;

	memcpy(own, second->turn, second->turns * sizeof(*own));
	tighten_all(second);
	for (size_t i = 0; i < second->turns; i++) {
		nsec_t at = own[i].last_ns;

		if (!second->turn[i].is_apart)
			continue;
		while (from < i && nsec_sub(at, own[from].last_ns) > NEAR)
			from++;
		for (to = to > from ? to : from;
		     to < second->turns && nsec_sub(own[to].last_ns, at) <= NEAR; to++)
			own[to].is_apart = true;
	}
	memcpy(second->turn, own, second->turns * sizeof(*own));
	tighten_all(second);
}

static bool has_apart(const struct second_clock *second)
{
	for (size_t i = 0; i < second->turns; i++)
		if (second->turn[i].is_apart)
			return true;
	return false;
}

/*
 * Tighten the bounds once more, as far as the offset follows a line: unless the order of
 * packets contradicts that.
 */
static void tighten_by_rate(struct second_clock *second, double rate, double most)
{
	size_t size = second->turns * sizeof(*second->turn);
	AUTOFREE struct turn *before = mem_alloc(size);

	if (most >= MOST_RATE)
		return;
	memcpy(before, second->turn, size);
	second->rate = -rate;
	second->most = most;
	tighten_all(second);
	if (!has_apart(second))
		return;
	memcpy(second->turn, before, size);
	second->rate = 0;
	second->most = MOST_RATE;
}

/* Set the rate by which received timestamps gain on sent ones; 0 if it is unclear. */
static void find_rate(struct second_clock *second)
{
	double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0, rate, rest, deviation;
	const struct turn *turn = second->turn;

	for (size_t i = 0; i < second->turns; i++) {
		double at = (double)nsec_sub(turn[i].last_ns, turn[0].last_ns);
		double ahead = (double)nsec_sub(turn[0].high_ns, turn[i].high_ns);

		n++;
		x += at;
		y += ahead;
		xx += at * at;
		xy += at * ahead;
		yy += ahead * ahead;
	}
	xx -= x * x / n;
	xy -= x * y / n;
	yy -= y * y / n;
	if (n < LEAST_TURNS || xx <= 0)
		return;
	rate = xy / xx;
	rest = (yy - xy * rate) / (n - 2);
	deviation = RATE_SIGMAS * sqrt(rest > 0 ? rest / xx : 0);
	if (fabs(rate) > deviation)
		second->fast_ppb = rate * 1e9;
	tighten_by_rate(second, rate, LINE_RATE + deviation);
}

/* Learn from the whole capture how the clocks relate. */
static void learn_relation(struct clock_look *look, struct capture_frames *frames,
			   struct problem_list *ignored)
{
	struct second_clock *second = look->second;

	while (capture_frames_step(frames, CLOCK_PACKETS, learn_packet, look, ignored))
		;
	if (!second->turns)
		return;
	second->most = MOST_RATE;
	tighten_turns(second);
	if (!has_apart(second))
		find_rate(second);
	if (look->contradictions * SIGNS_SHARE > second->turns || second->fast_ppb != 0)
		second->is_scale = false;
	second->found = true;
	if (second->is_scale)
		second_clock_clear(second);
}

/* Read the capture's frames: its first ones, or all if a second clock was found. */
static void read_frames(struct clock_look *look, const struct capture_input *input)
{
	struct trace_facts facts = {0};
	struct problem_list ignored = {NULL, 0, 0};
	struct error error = ERROR_INIT;
	struct capture_frames *frames = capture_frames_open(input, &facts, &error);
	struct second_clock *second = look->second;
	bool more = frames;

	if (frames)
		capture_frames_keep_stamps(frames);
	if (second->found && frames) {
		second->found = false; /* unless it is learned */
		learn_relation(look, frames, &ignored);
		more = false;
	}
	/* Continue only while packets are in an order that suggests two clocks. */
	for (int i = 0; !second->found && more && i < SURVEY_PACKETS / CLOCK_PACKETS;
	     i++) {
		more = capture_frames_step(frames, CLOCK_PACKETS, look_at_packet, look,
					   &ignored) &&
		       look->survey.signs > 0;
		decide_relation(&look->survey, second);
	}
	capture_frames_free(frames);
	problem_clear(&ignored);
	error_clear(&error);
}

void second_clock_find(struct second_clock *second, const struct capture_input *input,
		       const struct sides *sides)
{
	struct clock_look look = {.sides = sides, .second = second};

	read_frames(&look, input);
	if (second->found)
		read_frames(&look, input);
	free(look.survey.to_received.ns);
	free(look.survey.to_sent.ns);
}

/* Convert the timestamp of the next received packet of a clock that is not a scale. */
static nsec_t convert_received(const struct second_clock *second, nsec_t ns)
{
	/* Packets after the last sent one belong to the last turn. */
	const struct turn *turn =
	    &second->turn[second->at < second->turns ? second->at : second->turns - 1];
	nsec_t high = high_at(second, turn, ns), before;

	if (turn->is_apart)
		return nsec_add(ns > turn->last_ns ? ns : turn->last_ns, turn->high_ns);
	before = turn > second->turn ? high_at(second, turn - 1, ns) : high;
	return nsec_add(ns, before < high ? before : high);
}

nsec_t second_clock_convert(struct second_clock *second, bool received, nsec_t ns)
{
	if (!second->found)
		return ns;
	if (second->is_scale)
		ns = received ? nsec_sub(ns, second->ahead_ns) : ns;
	else if (received)
		ns = convert_received(second, ns);
	else if (second->was_received)
		second->at++;
	second->was_received = received;
	if (!second->begun || ns < second->begin_ns)
		second->begin_ns = ns;
	if (!second->begun || ns > second->end_ns)
		second->end_ns = ns;
	second->begun = true;
	return ns;
}

struct trace_second_clock second_clock_describe(const struct second_clock *second)
{
	const struct turn *turn = second->turn;
	const struct turn *middle = second->turns ? &turn[second->turns / 2] : NULL;
	struct trace_second_clock clock = {
	    .scale = !second->is_scale                             ? ""
		     : llabs(second->ahead_ns) > 30 * NSEC_PER_SEC ? "TAI"
								   : "GPS",
	    .ahead_ns = second->ahead_ns,
	    .fast_ppb = second->fast_ppb,
	};
	nsec_t low = NSEC_MIN;

	if (!middle)
		return clock;
	/* Turns on the other side of one that is apart say nothing of the middle. */
	for (size_t i = second->turns / 2 + 1; i-- > 0 && !turn[i].is_apart;)
		low = higher_low(second, &turn[i], middle->last_ns, low);
	for (size_t i = second->turns / 2; i < second->turns && !turn[i].is_apart; i++)
		low = higher_low(second, &turn[i], middle->last_ns, low);
	clock.local_ns = nsec_add(middle->last_ns, middle->high_ns);
	clock.ahead_ns = -middle->high_ns;
	clock.high_ns = low == NSEC_MIN         ? NSEC_MAX
			: low < middle->high_ns ? nsec_sub(middle->high_ns, low)
						: 0;
	return clock;
}

void second_clock_span(const struct second_clock *second, struct trace_facts *facts)
{
	if (!second->begun)
		return;
	facts->begin_ns = second->begin_ns;
	facts->end_ns = second->end_ns;
}

void second_clock_report(const struct second_clock *second, const char *path,
			 struct problem_list *problems)
{
	const char *scale = second_clock_describe(second).scale;
	char span[NSEC_TEXT];
	AUTOFREE char *rate = NULL;

	if (!second->found)
		return;
	nsec_format_span(span, (double)second->ahead_ns);
	if (second->fast_ppb != 0)
		rate = mem_printf(" and run %+.1f ppm against them",
				  second->fast_ppb * 1e-3);
	if (second->is_scale)
		problem_add(problems, path, PROBLEM_CLOCK, 1,
			    "two clocks in one capture: received packets are stamped "
			    "%" PRId64 " s ahead of sent ones, as %s is of UTC; that is "
			    "subtracted",
			    second->ahead_ns / NSEC_PER_SEC,
			    *scale == 'T' ? "TAI" : "GPS time");
	else
		problem_add(problems, path, PROBLEM_CLOCK, 1,
			    "two clocks in one capture: received packets are stamped "
			    "some %s ahead of sent ones%s; each is put on the clock of "
			    "sent ones, at the latest time that the order of packets "
			    "allows",
			    span, rate ? rate : "");
}

void second_clock_clear(struct second_clock *second)
{
	free(second->turn);
	second->turn = NULL;
	second->turns = second->capacity = 0;
}
