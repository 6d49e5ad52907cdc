/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_PACKETS_H
#define CT_INPUT_CAPTURE_PACKETS_H

#include "input/packet_source.h"

/*
 * Open a capture. Borrows what `input` points to until the source is freed. Without
 * addresses of the node, sent and received packets are distinguished by the capture's
 * frames. Return NULL with error, which suggests --local if that is missing.
 */
struct packet_source *capture_packets_open(const struct capture_input *input,
					   struct error *error);

#endif
