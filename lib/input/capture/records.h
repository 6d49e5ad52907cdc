/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_RECORDS_H
#define CT_INPUT_CAPTURE_RECORDS_H

#include "input/packet_source.h"

/*
 * Open a capture as a reader of events: every packet is one of class "packet". Fields
 * are selected as columns only.
 */
struct trace_reader *capture_records_open(const struct capture_input *input,
					  struct error *error);

#endif
