/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CTF_WRITER_UUID_H
#define CT_SIMULATE_CTF_WRITER_UUID_H

#include "base/error.h"

/*
 * sink.ctf.fs gives each trace a random uuid. Put another one in its place,
 * in the metadata and in every packet, so that equal runs are equal bytes.
 * 0, or -1 with error.
 */
int sim_ctf_set_uuid(const char *directory, const unsigned char uuid[16],
		     struct error *error);

#endif
