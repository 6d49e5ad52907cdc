/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CTF_WRITER_DECLARE_H
#define CT_SIMULATE_CTF_WRITER_DECLARE_H

#include "simulate/writer.h"

/*
 * An event header of LTTng: the id and the low bits of the stamp, or an id that
 * is all ones, and behind it the id with 32 bits and the stamp with 64.
 */
struct sim_ctf_header_form {
	unsigned id_bits, stamp_bits; /* of the short one */
};

/* NULL for the one that sink.ctf.fs writes. */
const struct sim_ctf_header_form *sim_ctf_header_form(enum sim_event_header header);

/* Declare it in a metadata file of sink.ctf.fs in place of what stands there. */
int sim_ctf_declare_header(const char *path, const struct sim_ctf_header_form *form,
			   struct error *error);

#endif
