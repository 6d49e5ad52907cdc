/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_TRACE_FACTS_H
#define CT_INPUT_TRACE_FACTS_H

#include "ctf/reader.h"
#include "input/packet_source.h"

/* What the reader of a trace knows, in the words of all sources. */
void trace_facts_copy(struct packet_source_facts *to, const struct ctf_facts *from);

/* Tell at the end what the tracer lost, and stamps that went backwards. */
void trace_facts_report(const struct ctf_facts *facts, const char *path,
			struct problem_list *problems);

#endif
