/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/ctf_metadata.h"

#include <netinet/in.h>

#include "base/nsec.h"
#include "base/output.h"

const struct sim_ctf_text sim_ctf_texts[] = {
    {"hostname", NULL},
    {"domain", "kernel"},
    {"sysname", "Linux"},
    {"kernel_release", "6.1.0-simulated"},
    {"kernel_version", "#1 SMP simulated"},
    {"tracer_name", "lttng-modules"},
    {"trace_buffering_scheme", "global"},
    {"trace_name", "simulated"},
    {NULL, NULL},
};

const struct sim_ctf_number sim_ctf_numbers[] = {
    {"tracer_major", 2}, {"tracer_minor", 13}, {"tracer_patchlevel", 0}, {NULL, 0}};

const struct sim_ctf_protocol sim_ctf_protocols[] = {
    {"_unknown", 0, 0},
    {"_unknown", 2, 5},
    {"_unknown", 7, 16},
    {"_unknown", 18, 255},
    {"_icmp", IPPROTO_ICMP, IPPROTO_ICMP},
    {"_tcp", IPPROTO_TCP, IPPROTO_TCP},
    {"_udp", IPPROTO_UDP, IPPROTO_UDP},
    {NULL, 0, 0},
};

const struct sim_ctf_context sim_ctf_contexts[] = {
    {"packet_size", "packet-total-length", false},
    {"content_size", "packet-content-length", false},
    {"timestamp_begin", "default-clock-timestamp", true},
    {"timestamp_end", "packet-end-default-clock-timestamp", true},
    {"events_discarded", "discarded-event-record-counter-snapshot", false},
    {"packet_seq_num", "packet-sequence-number", false},
    {NULL, NULL, false},
};

void sim_ctf_format_uuid(char text[UUID_TEXT], const unsigned char uuid[16])
{
	char *at = text;

	for (int i = 0; i < 16; i++)
		at += sprintf(at, "%s%02x",
			      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

int64_t sim_ctf_clock_offset(const struct sim_node *node, int64_t *rest)
{
	int64_t seconds = node->realtime_offset_ns / NSEC_PER_SEC;

	*rest = node->realtime_offset_ns % NSEC_PER_SEC;
	if (*rest < 0) {
		*rest += NSEC_PER_SEC;
		seconds--;
	}
	return seconds;
}

unsigned sim_ctf_alignment(unsigned bits)
{
	return bits % 8 ? 1 : 8;
}

int sim_ctf_metadata_write(const struct sim_ctf_trace *trace, const char *path,
			   struct error *error)
{
	struct output output;

	if (output_open(&output, path, error))
		return -1;
	if (trace->node->format == SIM_CTF_1_8)
		sim_ctf_write_tsdl(trace, output.file);
	else
		sim_ctf_write_json(trace, output.file);
	return output_commit(&output, error);
}
