/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../draw.h"
#include "sync/piecewise/curvature.h"

enum { ROUNDS = 300 };

static const double capacity = 100e3;

/* Slacks of a clock that is off the line by `curve`, under load of either direction. */
static void draw_pieces(struct piece piece[PIECES_MOST], double curve,
			const double load[2], bool both)
{
	bool on[2] = {false, false};

	for (int k = 0; k < PIECES_MOST; k++) {
		double off = curve * cos(6.2832 * 2 * k / PIECES_MOST);

		/* The first pieces are quiet. */
		for (int side = 0; side < 2; side++)
			if (k > 5 && draw() % 8 == 0)
				on[side] = !on[side];
		if (both)
			on[1] = on[0];
		piece[k].above =
		    capacity + off + (on[0] ? load[0] : 0) + draw_exponential(5e3);
		piece[k].below =
		    capacity - off + (on[1] ? load[1] : 0) + draw_exponential(5e3);
	}
}

TEST(load_is_no_curve)
{
	static const double load[][2] = {{0, 0}, {400e3, 400e3}, {400e3, 0}, {0, 50e3}};
	int proved = 0;

	for (int i = 0; i < ROUNDS; i++)
		for (int k = 0; k < 4; k++)
			for (int both = 0; both < 2; both++) {
				struct piece piece[PIECES_MOST];

				draw_pieces(piece, 0, load[k], both);
				proved += curvature_is_proved(piece, PIECES_MOST,
							      capacity, true);
			}
	/* Chance may look like a curve, one time in hundreds. */
	assert_true(proved <= ROUNDS * 8 / 200);
}

TEST(a_curve_is_proved)
{
	static const double none[2] = {0, 0}, some[2] = {10e3, 10e3};

	for (int i = 0; i < ROUNDS; i++) {
		struct piece piece[PIECES_MOST];

		draw_pieces(piece, 60e3, none, false);
		assert_true(
		    curvature_is_proved(piece, PIECES_MOST, capacity - 60e3, true));
		draw_pieces(piece, 60e3, some, false);
		assert_true(
		    curvature_is_proved(piece, PIECES_MOST, capacity - 60e3, true));
	}
}

/* Pieces that have messages one way, or none, tell nothing. */
TEST(few_pieces_prove_nothing)
{
	struct piece piece[PIECES_MOST];

	pieces_init(piece, PIECES_MOST);
	assert_false(curvature_is_proved(piece, PIECES_MOST, capacity, true));
	for (int k = 0; k < PIECES_MOST; k++)
		piece[k].above = capacity + 1e5 * (k % 2);
	assert_false(curvature_is_proved(piece, PIECES_MOST, capacity, true));
	for (int k = 0; k < 3; k++)
		piece[k * 9].below = capacity - 1e5 * (k % 2);
	assert_false(curvature_is_proved(piece, PIECES_MOST, capacity, true));
}
