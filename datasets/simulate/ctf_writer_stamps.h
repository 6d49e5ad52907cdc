/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CTF_WRITER_STAMPS_H
#define CT_SIMULATE_CTF_WRITER_STAMPS_H

#include "simulate/writer.h"

/*
 * sink.ctf.fs writes the id and the stamp of each event with 64 bits. Put the
 * event headers of LTTng in their place, in all streams and in the metadata:
 * the low bits of the stamp, from which a reader makes the whole one by adding
 * a wrap wherever they are less than those before; and an extended header with
 * all 64 bits where the id has no room, or where a whole wrap or more went by
 * since the stream's last event.
 *
 * The classes stand at their ids. 0, or -1 with error and a spoiled trace.
 */
int sim_ctf_shorten_stamps(const char *directory, enum sim_event_header header,
			   const struct sim_class *const *class, size_t classes,
			   struct error *error);

#endif
