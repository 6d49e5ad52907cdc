/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/ctf_metadata.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/nsec.h"
#include "base/output.h"

const struct sim_ctf_shape sim_ctf_shapes[] = {
    [SIM_U8] = {8, false, false},     [SIM_U16] = {16, false, false},
    [SIM_U32] = {32, false, false},   [SIM_U64] = {64, false, false},
    [SIM_HEX64] = {64, false, true},  [SIM_S32] = {32, true, false},
    [SIM_S64] = {64, true, false},    [SIM_TEXT] = {0, false, false},
    [SIM_COMM] = {0, false, false},   [SIM_S32_LIST] = {32, true, false},
    [SIM_PACKET] = {0, false, false},
};

static const struct sim_ctf_part ipv4_parts[] = {
    {"version", 4, 0, PART_DECIMAL}, {"ihl", 4, 0, PART_DECIMAL},
    {"tos", 8, 0, PART_DECIMAL},     {"tot_len", 16, 0, PART_DECIMAL},
    {"id", 16, 0, PART_HEX},         {"frag_off", 16, 0, PART_DECIMAL},
    {"ttl", 8, 0, PART_DECIMAL},     {"protocol", 8, 0, PART_PROTOCOL},
    {"checksum", 16, 0, PART_HEX},   {"saddr", 8, 4, PART_DECIMAL},
    {"daddr", 8, 4, PART_DECIMAL},
};

static const struct sim_ctf_part ipv6_parts[] = {
    {"version", 4, 0, PART_DECIMAL},  {"prio", 4, 0, PART_DECIMAL},
    {"flow_lbl", 8, 3, PART_HEX},     {"payload_len", 16, 0, PART_DECIMAL},
    {"nexthdr", 8, 0, PART_PROTOCOL}, {"hop_limit", 8, 0, PART_DECIMAL},
    {"saddr", 16, 8, PART_HEX},       {"daddr", 16, 8, PART_HEX},
};

static const struct sim_ctf_part tcp_parts[] = {
    {"source_port", 16, 0, PART_DECIMAL},
    {"dest_port", 16, 0, PART_DECIMAL},
    {"seq", 32, 0, PART_DECIMAL},
    {"ack_seq", 32, 0, PART_DECIMAL},
    {"data_offset", 4, 0, PART_DECIMAL},
    {"reserved", 3, 0, PART_DECIMAL},
    {"flags", 9, 0, PART_HEX},
    {"window_size", 16, 0, PART_DECIMAL},
    {"checksum", 16, 0, PART_HEX},
    {"urg_ptr", 16, 0, PART_DECIMAL},
};

static const struct sim_ctf_part udp_parts[] = {
    {"source_port", 16, 0, PART_DECIMAL},
    {"dest_port", 16, 0, PART_DECIMAL},
    {"len", 16, 0, PART_DECIMAL},
    {"check", 16, 0, PART_DECIMAL},
};

static const struct sim_ctf_part icmp_parts[] = {
    {"type", 8, 0, PART_DECIMAL},
    {"code", 8, 0, PART_DECIMAL},
    {"checksum", 16, 0, PART_DECIMAL},
    {"gateway", 32, 0, PART_DECIMAL},
};

#define HEADER(name, parts)                                                              \
	{                                                                                \
		name, parts, sizeof(parts) / sizeof(*(parts))                            \
	}

const struct sim_ctf_header sim_ctf_network[NETWORK_HEADERS] = {
    [HEADER_UNKNOWN] = {"unknown", NULL, 0},
    [HEADER_IPV4] = HEADER("ipv4", ipv4_parts),
    [HEADER_IPV6] = HEADER("ipv6", ipv6_parts),
};

const struct sim_ctf_header sim_ctf_transport[TRANSPORT_HEADERS] = {
    [HEADER_UNKNOWN] = {"unknown", NULL, 0},
    [HEADER_TCP] = HEADER("tcp", tcp_parts),
    [HEADER_UDP] = HEADER("udp", udp_parts),
    [HEADER_ICMP] = HEADER("icmp", icmp_parts),
};

const struct sim_ctf_header_form *sim_ctf_header_form(enum sim_event_header header)
{
	static const struct sim_ctf_header_form form[] = {
	    [SIM_HEADER_COMPACT] = {5, 27},
	    [SIM_HEADER_LARGE] = {16, 32},
	};

	return header == SIM_HEADER_FULL ? NULL : &form[header];
}

enum { UUID_TEXT = 37 };

static const char *format_uuid(char text[UUID_TEXT], const unsigned char uuid[16])
{
	char *at = text;

	for (int i = 0; i < 16; i++)
		at += sprintf(at, "%s%02x",
			      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
	return text;
}

/* The clock's offset in seconds; the rest is 0 to 999,999,999 ns. */
static int64_t clock_offset(const struct sim_node *node, int64_t *rest)
{
	*rest = (node->realtime_offset_ns % NSEC_PER_SEC + NSEC_PER_SEC) % NSEC_PER_SEC;
	return (node->realtime_offset_ns - *rest) / NSEC_PER_SEC;
}

static unsigned alignment_of(unsigned bits)
{
	return bits % 8 ? 1 : 8;
}

/*
 * The two languages, which say the same: TSDL (CTF 1.8.3, section 7) as sink.ctf.fs and
 * LTTng write it, and below JSON (CTF2-SPEC-2.0) as LTTng does. Who owns the file finds
 * what could not be written.
 */
static const char tabs[] = "\t\t\t\t\t\t\t\t"; /* in front of a line, by its depth */

static void tsdl_integer(FILE *file, const struct sim_ctf_shape *shape)
{
	fprintf(file, "integer { size = %u; align = %u;%s%s }", shape->bits,
		alignment_of(shape->bits), shape->is_signed ? " signed = true;" : "",
		shape->is_hex ? " base = x;" : "");
}

/* Protocols of an IP header that the tracer has a label for; all others are unknown. */
static void tsdl_protocol(FILE *file, int depth)
{
	static const char *const label[] = {
	    "_unknown\" = 0 ... 0",    "_unknown\" = 2 ... 5", "_unknown\" = 7 ... 16",
	    "_unknown\" = 18 ... 255", "_icmp\" = 1 ... 1",    "_tcp\" = 6 ... 6",
	    "_udp\" = 17 ... 17",
	};

	fputs("enum : integer { size = 8; align = 8; } {\n", file);
	for (size_t i = 0; i < sizeof(label) / sizeof(*label); i++)
		fprintf(file, "%.*s\"%s,\n", depth + 1, tabs, label[i]);
	fprintf(file, "%.*s}", depth, tabs);
}

static void tsdl_part(FILE *file, int depth, const struct sim_ctf_part *part)
{
	const struct sim_ctf_shape shape = {part->bits, false, part->show == PART_HEX};

	fprintf(file, "%.*s", depth, tabs);
	if (part->show == PART_PROTOCOL)
		tsdl_protocol(file, depth);
	else
		tsdl_integer(file, &shape);
	fprintf(file, " _%s", part->name);
	if (part->count)
		fprintf(file, "[%u]", part->count);
	fputs(";\n", file);
}

/* NAME_type, which counts the headers, and the variant NAME that it selects. */
static void tsdl_choice(FILE *file, int depth, const char *name,
			const struct sim_ctf_header *header, size_t headers)
{
	fprintf(file, "%.*senum : integer { size = 8; align = 8; } {", depth, tabs);
	for (size_t i = 0; i < headers; i++)
		fprintf(file, " \"_%s\" = %zu,", header[i].name, i);
	fprintf(file, " } _%s_type;\n%.*svariant <_%s_type> {\n", name, depth, tabs,
		name);
	for (size_t i = 0; i < headers; i++) {
		fprintf(file, "%.*sstruct {\n", depth + 1, tabs);
		for (size_t k = 0; k < header[i].parts; k++)
			tsdl_part(file, depth + 2, &header[i].part[k]);
		if (header == sim_ctf_network && header[i].parts)
			tsdl_choice(file, depth + 2, "transport_header",
				    sim_ctf_transport, TRANSPORT_HEADERS);
		fprintf(file, "%.*s} align(%u) _%s;\n", depth + 1, tabs,
			header[i].parts ? 8 : 1, header[i].name);
	}
	fprintf(file, "%.*s} _%s;\n", depth, tabs, name);
}

static void tsdl_field(FILE *file, const struct sim_field *field)
{
	enum { DEPTH = 2 };
	const char *name = field->name;

	if (field->type == SIM_PACKET) {
		tsdl_choice(file, DEPTH, name, sim_ctf_network, NETWORK_HEADERS);
		return;
	}
	fprintf(file, "%.*s", DEPTH, tabs);
	if (field->type == SIM_S32_LIST)
		fprintf(file, "integer { size = 8; align = 8; } __%s_length;\n%.*s", name,
			DEPTH, tabs);
	if (field->type == SIM_TEXT || field->type == SIM_COMM)
		fputs("string { encoding = UTF8; }", file);
	else
		tsdl_integer(file, &sim_ctf_shapes[field->type]);
	fprintf(file, " _%s", name);
	if (field->type == SIM_S32_LIST)
		fprintf(file, "[__%s_length]", name);
	fputs(";\n", file);
}

static void tsdl_event(FILE *file, const struct sim_class *class, size_t id)
{
	fprintf(file,
		"event {\n\tname = \"%s\";\n\tstream_id = 0;\n\tid = %zu;\n"
		"\tfields := struct {\n",
		class->name, id);
	for (size_t i = 0; i < class->fields; i++)
		tsdl_field(file, &class->field[i]);
	fprintf(file, "\t} align(%u);\n};\n\n", class->fields ? 8 : 1);
}

static void tsdl_event_header(FILE *file, enum sim_event_header header)
{
	const struct sim_ctf_header_form *form = sim_ctf_header_form(header);
	unsigned align = form ? alignment_of(form->id_bits) : 0;
	unsigned escape = form ? (1u << form->id_bits) - 1 : 0;

	if (form)
		fprintf(file,
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
	else
		fputs("\t\tinteger { size = 64; align = 8; } id;\n"
		      "\t\tinteger { size = 64; align = 8; map = clock.monotonic.value; "
		      "} timestamp;\n",
		      file);
}

static void write_tsdl(const struct sim_ctf_trace *trace, FILE *file)
{
	const struct sim_node *node = trace->node;
	char uuid[UUID_TEXT], boot[UUID_TEXT];
	int64_t rest, seconds = clock_offset(node, &rest);

	fprintf(file,
		"/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"%s\";\n"
		"\tbyte_order = le;\n\tpacket.header := struct {\n"
		"\t\tinteger { size = 32; align = 8; base = x; } magic;\n"
		"\t\tinteger { size = 8; align = 8; } uuid[16];\n"
		"\t\tinteger { size = 64; align = 8; } stream_id;\n"
		"\t\tinteger { size = 64; align = 8; } stream_instance_id;\n"
		"\t} align(8);\n};\n\n"
		"env {\n\thostname = \"%s\";\n\tdomain = \"kernel\";\n"
		"\tsysname = \"Linux\";\n\tkernel_release = \"6.1.0-simulated\";\n"
		"\tkernel_version = \"#1 SMP simulated\";\n"
		"\ttracer_name = \"lttng-modules\";\n"
		"\ttrace_buffering_scheme = \"global\";\n\ttrace_name = \"simulated\";\n"
		"\ttracer_major = 2;\n\ttracer_minor = 13;\n\ttracer_patchlevel = 0;\n"
		"};\n\n",
		format_uuid(uuid, trace->uuid), node->name);
	fprintf(file,
		"clock {\n\tname = monotonic;\n\tuuid = \"%s\";\n"
		"\tdescription = \"Monotonic Clock\";\n\tfreq = 1000000000;\n"
		"\tprecision = 0;\n\toffset_s = %" PRId64 ";\n\toffset = %" PRId64 ";\n"
		"\tabsolute = true;\n};\n\n"
		"stream {\n\tid = 0;\n\tpacket.context := struct {\n"
		"\t\tinteger { size = 64; align = 8; } packet_size;\n"
		"\t\tinteger { size = 64; align = 8; } content_size;\n"
		"\t\tinteger { size = 64; align = 8; map = clock.monotonic.value; }"
		" timestamp_begin;\n"
		"\t\tinteger { size = 64; align = 8; map = clock.monotonic.value; }"
		" timestamp_end;\n"
		"\t\tinteger { size = 64; align = 8; } events_discarded;\n"
		"\t\tinteger { size = 64; align = 8; } packet_seq_num;\n"
		"\t\tinteger { size = 32; align = 8; } _cpu_id;\n\t} align(8);\n\n"
		"\tevent.header := struct {\n",
		format_uuid(boot, node->boot_id), seconds, rest);
	tsdl_event_header(file, node->event_header);
	fputs("\t} align(8);\n};\n\n", file);
	for (size_t i = 0; i < trace->classes; i++)
		if (trace->used[i])
			tsdl_event(file, trace->class[i], i);
}

/* JSON, with ' for its " in our own text. */
static void json(FILE *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void json(FILE *file, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = mem_vprintf(format, arguments);
	va_end(arguments);
	for (const char *at = text; *at; at++)
		putc(*at == '\'' ? '"' : *at, file);
	free(text);
}

#define FIXED(type, bits, order, align)                                                  \
	"{'type':'fixed-length-" type "','length':" bits ",'byte-order':'" order         \
	"-endian','alignment':" align
#define UNSIGNED(bits)  FIXED("unsigned-integer", bits, "little", "8")
#define ROLE(name)      ",'roles':['" name "']}"
#define LENGTH_OF(name) "'length-field-location':{'path':['" name "']}}"
#define STRUCTURE(align)                                                                 \
	"{'type':'structure','minimum-alignment':" align ",'member-classes':["
#define STRUCTURE_END "]}"
#define ID_ROLE       "event-record-class-id"
#define STAMP_ROLE    "default-clock-timestamp"

enum { RECORD_SEPARATOR = 0x1e };

/* A member of a structure; arrays end with one without a name. */
struct member {
	const char *name, *class;
};

static const struct member packet_header[] = {
    {"magic", UNSIGNED("32") ROLE("packet-magic-number")},
    {"uuid", "{'type':'static-length-blob','length':16" ROLE("metadata-stream-uuid")},
    {"stream_id", UNSIGNED("64") ROLE("data-stream-class-id")},
    {"stream_instance_id", UNSIGNED("64") ROLE("data-stream-id")},
    {0},
};

static const struct member packet_context[] = {
    {"packet_size", UNSIGNED("64") ROLE("packet-total-length")},
    {"content_size", UNSIGNED("64") ROLE("packet-content-length")},
    {"timestamp_begin", UNSIGNED("64") ROLE(STAMP_ROLE)},
    {"timestamp_end", UNSIGNED("64") ROLE("packet-end-default-clock-timestamp")},
    {"events_discarded", UNSIGNED("64") ROLE("discarded-event-record-counter-snapshot")},
    {"packet_seq_num", UNSIGNED("64") ROLE("packet-sequence-number")},
    {0},
};

static const struct member processor[] = {{"cpu_id", UNSIGNED("32") "}"}, {0}};

/* With SIM_CTF_2, a field of each class that LTTng does not use: see put_rare_context in
 * ctf_writer.c. */
static const struct member rare_context[] = {
    {"cpu_id", "'processor'"},
    {"is_marked", FIXED("boolean", "1", "little", "1") "}"},
    {"low_number", FIXED("bit-array", "7", "little", "1") "}"},
    {"number_bits",
     FIXED("bit-map", "8", "little", "8") ",'flags':{'first':[[0,0]],'others':[[1,7]]}}"},
    {"high", FIXED("unsigned-integer", "12", "big", "1") "}"},
    {"low", FIXED("unsigned-integer", "4", "big", "1") "}"},
    {"tail",
     "{'type':'optional','selector-field-location':{'origin':'packet-context',"
     "'path':['low']},'selector-field-ranges':[[8,11],[12,15]],'field-class':" UNSIGNED(
	 "64") "}}"},
    {"load", FIXED("floating-point-number", "32", "little", "8") "}"},
    {"note_length", "{'type':'variable-length-unsigned-integer'}"},
    {"note",
     "{'type':'dynamic-length-string','encoding':'utf-32be'," LENGTH_OF("note_length")},
    {"blob",
     "{'type':'dynamic-length-blob','media-type':'text/plain'," LENGTH_OF("note_length")},
    {"mark", "{'type':'optional','selector-field-location':{'path':['is_marked']},"
	     "'field-class':{'type':'static-length-blob','length':4}}"},
    {0},
};

static void json_members(FILE *file, const struct member *member)
{
	for (size_t i = 0; member[i].name; i++)
		json(file, "%s{'name':'%s','field-class':%s}", i ? "," : "",
		     member[i].name, member[i].class);
}

/* `variable`: 64 bits as LEB128. */
static void json_number(FILE *file, const struct sim_ctf_shape *shape, bool variable,
			const char *more)
{
	const char *sign = shape->is_signed ? "signed" : "unsigned";

	if (variable && shape->bits == 64)
		json(file, "{'type':'variable-length-%s-integer'", sign);
	else
		json(file,
		     "{'type':'fixed-length-%s-integer','length':%u,'byte-order':"
		     "'little-endian','alignment':%u",
		     sign, shape->bits, alignment_of(shape->bits));
	json(file, "%s%s}", shape->is_hex ? ",'preferred-display-base':16" : "", more);
}

static void json_part(FILE *file, const struct sim_ctf_part *part)
{
	const struct sim_ctf_shape shape = {part->bits, false, part->show == PART_HEX};

	json(file, "{'name':'%s','field-class':", part->name);
	if (part->count)
		json(file,
		     "{'type':'static-length-array','length':%u,'element-field-class':",
		     part->count);
	json_number(file, &shape, false,
		    part->show == PART_PROTOCOL
			? ",'mappings':{'_unknown':[[0,0],[2,5],[7,16],[18,255]],"
			  "'_icmp':[[1,1]],'_tcp':[[6,6]],'_udp':[[17,17]]}"
			: "");
	json(file, part->count ? "}}" : "}");
}

/* NAME_type, which counts the headers, and the variant NAME that it selects. */
static void json_choice(FILE *file, const char *name, const struct sim_ctf_header *header,
			size_t headers)
{
	json(file,
	     "{'name':'%s_type','field-class':{'type':'fixed-length-unsigned-integer',"
	     "'length':8,'byte-order':'little-endian','alignment':8,'mappings':{",
	     name);
	for (size_t i = 0; i < headers; i++)
		json(file, "%s'_%s':[[%zu,%zu]]", i ? "," : "", header[i].name, i, i);
	json(file,
	     "}}},{'name':'%s','field-class':{'type':'variant',"
	     "'selector-field-location':{'path':['%s_type']},'options':[",
	     name, name);
	for (size_t i = 0; i < headers; i++) {
		json(file,
		     "%s{'name':'%s','selector-field-ranges':[[%zu,%zu]],'field-class'"
		     ":" STRUCTURE("%d"),
		     i ? "," : "", header[i].name, i, i, header[i].parts ? 8 : 1);
		for (size_t k = 0; k < header[i].parts; k++) {
			if (k)
				putc(',', file);
			json_part(file, &header[i].part[k]);
		}
		if (header == sim_ctf_network && header[i].parts) {
			putc(',', file);
			json_choice(file, "transport_header", sim_ctf_transport,
				    TRANSPORT_HEADERS);
		}
		json(file, STRUCTURE_END "}");
	}
	json(file, "]}}");
}

static void json_field(FILE *file, const struct sim_field *field, bool is_rare)
{
	const char *name = field->name;

	if (field->type == SIM_PACKET) {
		json_choice(file, name, sim_ctf_network, NETWORK_HEADERS);
		return;
	}
	if (field->type == SIM_S32_LIST) /* its length in front, as LTTng records one */
		json(file,
		     "{'name':'_%s_length','field-class':" UNSIGNED(
			 "8") "}},{'name':'%s',"
			      "'field-class':{'type':'dynamic-length-array',"
			      "'length-field-location':{'origin':'event-record-payload',"
			      "'path':['_%s_length']},'element-field-class':",
		     name, name, name);
	else
		json(file, "{'name':'%s','field-class':", name);
	if (field->type == SIM_COMM && is_rare)
		json(file, "{'type':'static-length-string','length':%d}", SIM_COMM_BYTES);
	else if (field->type == SIM_COMM)
		json(file, "{'type':'null-terminated-string'}");
	else if (field->type == SIM_TEXT)
		json(file, "{'type':'null-terminated-string','encoding':'%s'}",
		     is_rare ? "utf-16le" : "utf-8");
	else
		json_number(file, &sim_ctf_shapes[field->type],
			    is_rare && field->type != SIM_S32_LIST, "");
	json(file, field->type == SIM_S32_LIST ? "}}" : "}");
}

/* An event's id, where there is one, and stamp. */
static void json_id_and_stamp(FILE *file, unsigned id_bits, unsigned stamp_bits)
{
	json(file, STRUCTURE("%d"), id_bits ? 8 : 1);
	if (id_bits)
		json(file,
		     "{'name':'id','field-class':" UNSIGNED("%u") ROLE(ID_ROLE) "},",
		     id_bits);
	json(file,
	     "{'name':'timestamp','field-class':" FIXED("unsigned-integer", "%u",
							"little", "%u")
		 ROLE(STAMP_ROLE) "}" STRUCTURE_END,
	     stamp_bits, alignment_of(stamp_bits));
}

static void json_event_header(FILE *file, const struct sim_ctf_header_form *form)
{
	unsigned escape = (1u << form->id_bits) - 1;

	json(file,
	     STRUCTURE("8") "{'name':'id','field-class':" FIXED(
		 "unsigned-integer", "%u", "little", "%u") ROLE(ID_ROLE) "},",
	     form->id_bits, alignment_of(form->id_bits));
	json(file,
	     "{'name':'v','field-class':{'type':'variant','selector-field-location':"
	     "{'path':['id']},'options':[{'name':'compact','selector-field-ranges':"
	     "[[0,%u]],'field-class':",
	     escape - 1);
	json_id_and_stamp(file, 0, form->stamp_bits);
	json(file,
	     "},{'name':'extended','selector-field-ranges':[[%u,%u]],'field-class':",
	     escape, escape);
	json_id_and_stamp(file, 32, 64);
	json(file, "}]}}" STRUCTURE_END);
}

static void json_event(FILE *file, const struct sim_class *class, size_t id, bool is_rare)
{
	json(file,
	     "%c{'type':'event-record-class','data-stream-class-id':0,'id':%zu,'name':"
	     "'%s','payload-field-class':" STRUCTURE("%d"),
	     RECORD_SEPARATOR, id, class->name, class->fields ? 8 : 1);
	for (size_t i = 0; i < class->fields; i++) {
		if (i)
			putc(',', file);
		json_field(file, &class->field[i], is_rare);
	}
	json(file, STRUCTURE_END "}\n");
}

static void write_json(const struct sim_ctf_trace *trace, FILE *file)
{
	const struct sim_node *node = trace->node;
	const struct sim_ctf_header_form *form = sim_ctf_header_form(node->event_header);
	bool is_rare = node->format == SIM_CTF_2;
	char uuid[UUID_TEXT], boot[UUID_TEXT];
	int64_t rest, seconds = clock_offset(node, &rest);

	json(file, "%c{'type':'preamble','version':2,'uuid':[", RECORD_SEPARATOR);
	for (int i = 0; i < 16; i++)
		json(file, "%s%u", i ? "," : "", trace->uuid[i]);
	json(file, "]%s}\n",
	     is_rare ? ",'attributes':{'clustertrace':{'simulated':true}}" : "");
	if (is_rare)
		json(file,
		     "%c{'type':'field-class-alias','name':'processor','field-class'"
		     ":" UNSIGNED("32") "}}\n",
		     RECORD_SEPARATOR);
	json(
	    file,
	    "%c{'type':'trace-class','namespace':'lttng.org,2009','name':'%s','uid':'%s',"
	    "'environment':{'hostname':'%s','domain':'kernel','sysname':'Linux',"
	    "'kernel_release':'6.1.0-simulated','kernel_version':'#1 SMP simulated',"
	    "'tracer_name':'lttng-modules','trace_buffering_scheme':'global',"
	    "'trace_name':'simulated','tracer_major':2,'tracer_minor':13,"
	    "'tracer_patchlevel':0},'packet-header-field-class':" STRUCTURE("8"),
	    RECORD_SEPARATOR, node->name, format_uuid(uuid, trace->uuid), node->name);
	json_members(file, packet_header);
	json(file, STRUCTURE_END "}\n");
	json(file,
	     "%c{'type':'clock-class','id':'monotonic','name':'monotonic','uid':'%s',"
	     "'description':"
	     "'Monotonic Clock','frequency':1000000000,'origin':'unix-epoch',"
	     "'offset-from-origin':{'seconds':%" PRId64 ",'cycles':%" PRId64 "}}\n",
	     RECORD_SEPARATOR, format_uuid(boot, node->boot_id), seconds, rest);
	json(file,
	     "%c{'type':'data-stream-class','id':0,'default-clock-class-id':'monotonic',"
	     "'packet-context-field-class':" STRUCTURE("8"),
	     RECORD_SEPARATOR);
	json_members(file, packet_context);
	putc(',', file);
	json_members(file, is_rare ? rare_context : processor);
	json(file, STRUCTURE_END ",'event-record-header-field-class':");
	if (form)
		json_event_header(file, form);
	else
		json_id_and_stamp(file, 64, 64);
	json(file, "}\n");
	for (size_t i = 0; i < trace->classes; i++)
		if (trace->used[i])
			json_event(file, trace->class[i], i, is_rare);
}

int sim_ctf_metadata_write(const struct sim_ctf_trace *trace, const char *path,
			   struct error *error)
{
	struct output output;

	if (output_open(&output, path, error))
		return -1;
	(trace->node->format == SIM_CTF_1_8 ? write_tsdl : write_json)(trace,
								       output.file);
	return output_commit(&output, error);
}
