/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_SURVEY_H
#define CT_INPUT_CAPTURE_SURVEY_H

#include "base/error.h"
#include "input/capture/sides.h"

/*
 * Which node a capture was made on, where nobody says: the one that takes part
 * in nearly every packet between two hosts. Where two do, each in all that the
 * other does, what tells them apart is that arriving short frames are padded,
 * that leaving packets may have their checksums still open, and that a packet
 * from afar has lost some of its time to live.
 */
struct survey;

struct survey *survey_new(void);

/* Look at one frame, whose status is FRAME_PACKET or FRAME_OTHER. */
void survey_add(struct survey *survey, const struct frame *frame,
		enum frame_status status);

/*
 * Set the rule by what was seen so far. -1 with error when it is not enough;
 * the text names whom it may be.
 */
int survey_decide(const struct survey *survey, struct sides *sides, struct error *error);

void survey_free(struct survey *survey);

#endif
