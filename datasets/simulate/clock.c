/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/clock.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void sim_clock_clear(struct sim_clock *clock)
{
	free(clock->corner);
	free(clock->step);
	memset(clock, 0, sizeof(*clock));
}

/* The corner from which the clock is straight up to true_ns. */
static const struct sim_clock_corner *find(struct sim_clock *clock, nsec_t true_ns)
{
	size_t low = 0, high = clock->corners, at = clock->at;

	if (clock->corner[at].true_ns <= true_ns) {
		if (at + 1 == high || clock->corner[at + 1].true_ns > true_ns)
			return &clock->corner[at];
		low = at;
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (clock->corner[middle].true_ns <= true_ns)
			low = middle;
		else
			high = middle;
	}
	clock->at = low;
	return &clock->corner[low];
}

static nsec_t on_polygon(const struct sim_clock_corner *corner, nsec_t true_ns)
{
	nsec_t since = true_ns - corner->true_ns;
	__int128 gained = (__int128)since * corner->rate + ((__int128)1 << 61);

	return corner->local_ns + since + (nsec_t)(gained >> 62);
}

/* From a corner to the one behind it. */
static void set_rate(struct sim_clock_corner *corner)
{
	nsec_t span = corner[1].true_ns - corner->true_ns;
	__int128 gained = (corner[1].local_ns - corner->local_ns) - span;

	corner->rate = (int64_t)(gained * ((__int128)1 << 62) / span);
}

/* Between the first corner and the last one, where there is none yet. */
static void insert_corner(struct sim_clock *clock, nsec_t true_ns)
{
	size_t at = (size_t)(find(clock, true_ns) - clock->corner);
	struct sim_clock_corner *corner = &clock->corner[at];
	nsec_t local_ns = on_polygon(corner, true_ns);

	if (corner->true_ns >= true_ns || at + 1 == clock->corners)
		return;
	clock->corner =
	    mem_grow(clock->corner, clock->corners, &clock->room, sizeof(*corner));
	corner = &clock->corner[at];
	memmove(corner + 2, corner + 1, (clock->corners - at - 1) * sizeof(*corner));
	corner[1] = (struct sim_clock_corner){true_ns, local_ns, 0};
	clock->corners++;
	set_rate(corner);
	set_rate(corner + 1);
}

void sim_clock_add_step(struct sim_clock *clock, nsec_t true_ns, nsec_t amount_ns)
{
	size_t at;

	clock->step =
	    mem_grow(clock->step, clock->steps, &clock->step_room, sizeof(*clock->step));
	for (at = clock->steps; at && clock->step[at - 1].true_ns > true_ns; at--)
		clock->step[at] = clock->step[at - 1];
	clock->step[at] = (struct sim_clock_step){true_ns, amount_ns};
	clock->steps++;
	/*
	 * Where it is told what the clock said, on both sides of a step, it must be
	 * a corner: a chord in two pieces, each rounded, is not the chord.
	 */
	insert_corner(clock, true_ns - 1);
	insert_corner(clock, true_ns);
}

static nsec_t stepped(const struct sim_clock *clock, nsec_t true_ns)
{
	nsec_t sum = 0;

	for (size_t i = 0; i < clock->steps && clock->step[i].true_ns <= true_ns; i++)
		sum += clock->step[i].amount_ns;
	return sum;
}

nsec_t sim_clock_real(struct sim_clock *clock, nsec_t true_ns)
{
	return on_polygon(find(clock, true_ns), true_ns) + stepped(clock, true_ns);
}

nsec_t sim_clock_mono(struct sim_clock *clock, nsec_t true_ns)
{
	return on_polygon(find(clock, true_ns), true_ns) - clock->boot_ns +
	       (clock->trace_steps ? stepped(clock, true_ns) : 0);
}

/* As sim_clock_true between two steps, where the clock never goes back. */
static nsec_t first_between(struct sim_clock *clock, nsec_t from, nsec_t to,
			    nsec_t real_ns)
{
	while (from < to) {
		nsec_t middle = from + (to - from) / 2;

		if (sim_clock_real(clock, middle) >= real_ns)
			to = middle;
		else
			from = middle + 1;
	}
	return to;
}

nsec_t sim_clock_true(struct sim_clock *clock, nsec_t real_ns)
{
	nsec_t from = clock->corner[0].true_ns;
	nsec_t end = clock->corner[clock->corners - 1].true_ns;

	for (size_t i = 0; i <= clock->steps; i++) {
		nsec_t to = i < clock->steps ? clock->step[i].true_ns : end + 1;

		if (to > end + 1)
			to = end + 1;
		if (from < to && sim_clock_real(clock, to - 1) >= real_ns)
			return first_between(clock, from, to - 1, real_ns);
		if (to > from)
			from = to;
	}
	return NSEC_MAX;
}
