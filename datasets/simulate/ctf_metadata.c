/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/ctf_metadata.h"

#include <netinet/in.h>

#include "base/nsec.h"
#include "base/output.h"
#include "simulate/ctf_fields.h"

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

/* The metadata of simulated traces in TSDL: CTF 1.8.3, section 7. */

struct tsdl {
	FILE *file;
	unsigned depth; /* of the text: tabs in front of a line */
};

static void indent(const struct tsdl *tsdl)
{
	for (unsigned i = 0; i < tsdl->depth; i++)
		putc('\t', tsdl->file);
}

static void tsdl_integer(const struct tsdl *tsdl, const struct sim_ctf_shape *shape)
{
	fprintf(tsdl->file, "integer { size = %u; align = %u;%s%s }", shape->bits,
		sim_ctf_alignment(shape->bits), shape->is_signed ? " signed = true;" : "",
		shape->is_hex ? " base = x;" : "");
}

static void tsdl_protocol(struct tsdl *tsdl)
{
	fputs("enum : integer { size = 8; align = 8; } {\n", tsdl->file);
	tsdl->depth++;
	for (size_t i = 0; sim_ctf_protocols[i].label; i++) {
		const struct sim_ctf_protocol *label = &sim_ctf_protocols[i];

		indent(tsdl);
		fprintf(tsdl->file, "\"%s\" = %u ... %u,\n", label->label, label->first,
			label->last);
	}
	tsdl->depth--;
	indent(tsdl);
	putc('}', tsdl->file);
}

static void tsdl_part(struct tsdl *tsdl, const struct sim_ctf_part *part)
{
	indent(tsdl);
	if (part->show == PART_PROTOCOL)
		tsdl_protocol(tsdl);
	else
		tsdl_integer(tsdl, &(struct sim_ctf_shape){part->bits, false,
							   part->show == PART_HEX});
	fprintf(tsdl->file, " _%s", part->name);
	if (part->count)
		fprintf(tsdl->file, "[%u]", part->count);
	fputs(";\n", tsdl->file);
}

/* NAME_type, which counts the headers, and the variant NAME that it selects. */
static void tsdl_choice(struct tsdl *tsdl, const char *name,
			const struct sim_ctf_header *header, size_t headers)
{
	indent(tsdl);
	fputs("enum : integer { size = 8; align = 8; } {", tsdl->file);
	for (size_t i = 0; i < headers; i++)
		fprintf(tsdl->file, " \"_%s\" = %zu,", header[i].name, i);
	fprintf(tsdl->file, " } _%s_type;\n", name);
	indent(tsdl);
	fprintf(tsdl->file, "variant <_%s_type> {\n", name);
	tsdl->depth++;
	for (size_t i = 0; i < headers; i++) {
		indent(tsdl);
		fputs("struct {\n", tsdl->file);
		tsdl->depth++;
		for (size_t k = 0; k < header[i].parts; k++)
			tsdl_part(tsdl, &header[i].part[k]);
		if (header == sim_ctf_network && header[i].parts)
			tsdl_choice(tsdl, "transport_header", sim_ctf_transport,
				    TRANSPORT_HEADERS);
		tsdl->depth--;
		indent(tsdl);
		fprintf(tsdl->file, "} align(%u) _%s;\n", header[i].parts ? 8 : 1,
			header[i].name);
	}
	tsdl->depth--;
	indent(tsdl);
	fprintf(tsdl->file, "} _%s;\n", name);
}

static void tsdl_field(struct tsdl *tsdl, const struct sim_field *field)
{
	switch (field->type) {
	case SIM_PACKET:
		tsdl_choice(tsdl, field->name, sim_ctf_network, NETWORK_HEADERS);
		return;
	case SIM_TEXT:
	case SIM_COMM:
		indent(tsdl);
		fprintf(tsdl->file, "string { encoding = UTF8; } _%s;\n", field->name);
		return;
	case SIM_S32_LIST:
		indent(tsdl);
		fprintf(tsdl->file, "integer { size = 8; align = 8; } __%s_length;\n",
			field->name);
		indent(tsdl);
		tsdl_integer(tsdl, &sim_ctf_shapes[field->type]);
		fprintf(tsdl->file, " _%s[__%s_length];\n", field->name, field->name);
		return;
	default:
		indent(tsdl);
		tsdl_integer(tsdl, &sim_ctf_shapes[field->type]);
		fprintf(tsdl->file, " _%s;\n", field->name);
	}
}

static void tsdl_event(struct tsdl *tsdl, const struct sim_class *class, size_t id)
{
	fprintf(tsdl->file,
		"event {\n\tname = \"%s\";\n\tstream_id = 0;\n\tid = %zu;\n"
		"\tfields := struct {\n",
		class->name, id);
	tsdl->depth = 2;
	for (size_t i = 0; i < class->fields; i++)
		tsdl_field(tsdl, &class->field[i]);
	fprintf(tsdl->file, "\t} align(%u);\n};\n\n", class->fields ? 8 : 1);
}

static void tsdl_event_header(struct tsdl *tsdl, enum sim_event_header header)
{
	const struct sim_ctf_header_form *form = sim_ctf_header_form(header);
	unsigned align, escape;

	fputs("\tevent.header := struct {\n", tsdl->file);
	if (form) {
		align = sim_ctf_alignment(form->id_bits);
		escape = (1u << form->id_bits) - 1;
		fprintf(tsdl->file,
			"\t\tenum : integer { size = %u; align = %u; } {"
			" compact = 0 ... %u, extended = %u } id;\n"
			"\t\tvariant <id> {\n\t\t\tstruct {\n"
			"\t\t\t\tinteger { size = %u; align = %u;"
			" map = clock.monotonic.value; } timestamp;\n"
			"\t\t\t} compact;\n\t\t\tstruct {\n"
			"\t\t\t\tinteger { size = 32; align = 8; } id;\n"
			"\t\t\t\tinteger { size = 64; align = 8;"
			" map = clock.monotonic.value; } timestamp;\n"
			"\t\t\t} extended;\n\t\t} v;\n",
			form->id_bits, align, escape - 1, escape, form->stamp_bits,
			align);
	} else {
		fputs(
		    "\t\tinteger { size = 64; align = 8; } id;\n"
		    "\t\tinteger { size = 64; align = 8; map = clock.monotonic.value; } "
		    "timestamp;\n",
		    tsdl->file);
	}
	fputs("\t} align(8);\n", tsdl->file);
}

static void tsdl_stream(struct tsdl *tsdl, const struct sim_node *node)
{
	fputs("stream {\n\tid = 0;\n\tpacket.context := struct {\n", tsdl->file);
	for (size_t i = 0; sim_ctf_contexts[i].name; i++)
		fprintf(tsdl->file, "\t\tinteger { size = 64; align = 8;%s } %s;\n",
			sim_ctf_contexts[i].is_stamp ? " map = clock.monotonic.value;"
						     : "",
			sim_ctf_contexts[i].name);
	fputs("\t\tinteger { size = 32; align = 8; } _cpu_id;\n\t} align(8);\n\n",
	      tsdl->file);
	tsdl_event_header(tsdl, node->event_header);
	fputs("};\n\n", tsdl->file);
}

static void tsdl_clock(struct tsdl *tsdl, const struct sim_node *node)
{
	char uuid[UUID_TEXT];
	int64_t rest, seconds = sim_ctf_clock_offset(node, &rest);

	sim_ctf_format_uuid(uuid, node->boot_id);
	fprintf(tsdl->file,
		"clock {\n\tname = monotonic;\n\tuuid = \"%s\";\n"
		"\tdescription = \"Monotonic Clock\";\n\tfreq = 1000000000;\n"
		"\tprecision = 0;\n\toffset_s = %lld;\n\toffset = %lld;\n"
		"\tabsolute = true;\n};\n\n",
		uuid, (long long)seconds, (long long)rest);
}

static void tsdl_environment(struct tsdl *tsdl, const struct sim_node *node)
{
	fputs("env {\n", tsdl->file);
	for (size_t i = 0; sim_ctf_texts[i].name; i++)
		fprintf(tsdl->file, "\t%s = \"%s\";\n", sim_ctf_texts[i].name,
			sim_ctf_texts[i].value ? sim_ctf_texts[i].value : node->name);
	for (size_t i = 0; sim_ctf_numbers[i].name; i++)
		fprintf(tsdl->file, "\t%s = %d;\n", sim_ctf_numbers[i].name,
			sim_ctf_numbers[i].value);
	fputs("};\n\n", tsdl->file);
}

/*
 * The two languages, which say the same: TSDL (CTF 1.8) as sink.ctf.fs and LTTng write
 * it, and JSON (CTF 2) as LTTng does. Who owns the file finds what could not be written.
 */
static void sim_ctf_write_tsdl(const struct sim_ctf_trace *trace, FILE *file)
{
	struct tsdl tsdl = {file, 0};
	char uuid[UUID_TEXT];

	sim_ctf_format_uuid(uuid, trace->uuid);
	fprintf(file,
		"/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"%s\";\n"
		"\tbyte_order = le;\n\tpacket.header := struct {\n"
		"\t\tinteger { size = 32; align = 8; base = x; } magic;\n"
		"\t\tinteger { size = 8; align = 8; } uuid[16];\n"
		"\t\tinteger { size = 64; align = 8; } stream_id;\n"
		"\t\tinteger { size = 64; align = 8; } stream_instance_id;\n"
		"\t} align(8);\n};\n\n",
		uuid);
	tsdl_environment(&tsdl, trace->node);
	tsdl_clock(&tsdl, trace->node);
	tsdl_stream(&tsdl, trace->node);
	for (size_t i = 0; i < trace->classes; i++)
		if (trace->used[i])
			tsdl_event(&tsdl, trace->class[i], i);
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
