/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The metadata of simulated traces as a JSON text sequence: CTF2-SPEC-2.0. */
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/nsec.h"
#include "simulate/ctf_fields.h"
#include "simulate/ctf_metadata.h"

#define ALIAS "processor" /* of a field class, with SIM_CTF_2 */

enum { RECORD_SEPARATOR = 0x1e };

/* What makes an object hands it over to the caller. */

static void add_member(json_t *structure, const char *name, json_t *class)
{
	json_array_append_new(
	    json_object_get(structure, "member-classes"),
	    json_pack("{s:s, s:o}", "name", name, "field-class", class));
}

static json_t *json_structure(unsigned align)
{
	return json_pack("{s:s, s:i, s:[]}", "type", "structure", "minimum-alignment",
			 (int)align, "member-classes");
}

static json_t *json_fixed(const char *type, unsigned bits)
{
	return json_pack("{s:s, s:i, s:s, s:i}", "type", type, "length", (int)bits,
			 "byte-order", "little-endian", "alignment",
			 (int)sim_ctf_alignment(bits));
}

static json_t *json_unsigned(unsigned bits, const char *role)
{
	json_t *class = json_fixed("fixed-length-unsigned-integer", bits);

	if (role)
		json_object_set_new(class, "roles", json_pack("[s]", role));
	return class;
}

static json_t *json_number(const struct sim_ctf_shape *shape,
			   enum sim_trace_format format)
{
	bool variable = format == SIM_CTF_2 && shape->bits == 64;
	char *type = mem_printf("%s-length-%s-integer", variable ? "variable" : "fixed",
				shape->is_signed ? "signed" : "unsigned");
	json_t *class =
	    variable ? json_pack("{s:s}", "type", type) : json_fixed(type, shape->bits);

	if (shape->is_hex)
		json_object_set_new(class, "preferred-display-base", json_integer(16));
	free(type);
	return class;
}

static void add_range(json_t *mappings, const char *label, size_t first, size_t last)
{
	json_t *ranges = json_object_get(mappings, label);

	if (!ranges) {
		ranges = json_array();
		json_object_set_new(mappings, label, ranges);
	}
	json_array_append_new(ranges,
			      json_pack("[I, I]", (json_int_t)first, (json_int_t)last));
}

static json_t *json_part(const struct sim_ctf_part *part)
{
	json_t *class = json_number(
	    &(struct sim_ctf_shape){part->bits, false, part->show == PART_HEX},
	    SIM_CTF_2_LTTNG);
	json_t *mappings;

	if (part->show == PART_PROTOCOL) {
		mappings = json_object();
		for (size_t i = 0; sim_ctf_protocols[i].label; i++)
			add_range(mappings, sim_ctf_protocols[i].label,
				  sim_ctf_protocols[i].first, sim_ctf_protocols[i].last);
		json_object_set_new(class, "mappings", mappings);
	}
	if (!part->count)
		return class;
	return json_pack("{s:s, s:i, s:o}", "type", "static-length-array", "length",
			 (int)part->count, "element-field-class", class);
}

/* NAME_type, which counts the headers, and the variant NAME that it selects. */
static void add_choice(json_t *structure, const char *name,
		       const struct sim_ctf_header *header, size_t headers)
{
	char *type_name = mem_printf("%s_type", name);
	json_t *type = json_unsigned(8, NULL), *mappings = json_object();
	json_t *options = json_array();

	for (size_t i = 0; i < headers; i++) {
		json_t *option = json_structure(header[i].parts ? 8 : 1);
		char *label = mem_printf("_%s", header[i].name);

		for (size_t k = 0; k < header[i].parts; k++)
			add_member(option, header[i].part[k].name,
				   json_part(&header[i].part[k]));
		if (header == sim_ctf_network && header[i].parts)
			add_choice(option, "transport_header", sim_ctf_transport,
				   TRANSPORT_HEADERS);
		add_range(mappings, label, i, i);
		json_array_append_new(options,
				      json_pack("{s:s, s:[[i, i]], s:o}", "name",
						header[i].name, "selector-field-ranges",
						(int)i, (int)i, "field-class", option));
		free(label);
	}
	json_object_set_new(type, "mappings", mappings);
	add_member(structure, type_name, type);
	add_member(structure, name,
		   json_pack("{s:s, s:{s:[s]}, s:o}", "type", "variant",
			     "selector-field-location", "path", type_name, "options",
			     options));
	free(type_name);
}

/* One number and its length in front, as LTTng records a sequence. */
static void add_list(json_t *structure, const struct sim_field *field)
{
	char *length = mem_printf("_%s_length", field->name);

	add_member(structure, length, json_unsigned(8, NULL));
	add_member(structure, field->name,
		   json_pack("{s:s, s:{s:s, s:[s]}, s:o}", "type", "dynamic-length-array",
			     "length-field-location", "origin", "event-record-payload",
			     "path", length, "element-field-class",
			     json_number(&sim_ctf_shapes[field->type], SIM_CTF_2_LTTNG)));
	free(length);
}

static void add_field(json_t *structure, const struct sim_field *field,
		      enum sim_trace_format format)
{
	json_t *class;

	switch (field->type) {
	case SIM_PACKET:
		add_choice(structure, field->name, sim_ctf_network, NETWORK_HEADERS);
		return;
	case SIM_S32_LIST:
		add_list(structure, field);
		return;
	case SIM_COMM:
		class = format == SIM_CTF_2
			    ? json_pack("{s:s, s:i}", "type", "static-length-string",
					"length", SIM_COMM_BYTES)
			    : json_pack("{s:s}", "type", "null-terminated-string");
		break;
	case SIM_TEXT:
		class = json_pack("{s:s, s:s}", "type", "null-terminated-string",
				  "encoding", format == SIM_CTF_2 ? "utf-16le" : "utf-8");
		break;
	default:
		class = json_number(&sim_ctf_shapes[field->type], format);
	}
	add_member(structure, field->name, class);
}

/* Takes the fragment. */
static void put_fragment(FILE *file, json_t *fragment)
{
	putc(RECORD_SEPARATOR, file);
	json_dumpf(fragment, file, JSON_COMPACT);
	putc('\n', file);
	json_decref(fragment);
}

static json_t *json_uuid(const unsigned char uuid[16])
{
	json_t *array = json_array();

	for (int i = 0; i < 16; i++)
		json_array_append_new(array, json_integer(uuid[i]));
	return array;
}

static json_t *json_trace(const struct sim_ctf_trace *trace)
{
	json_t *header = json_structure(8), *environment = json_object();
	char uuid[UUID_TEXT];

	add_member(header, "magic", json_unsigned(32, "packet-magic-number"));
	add_member(header, "uuid",
		   json_pack("{s:s, s:i, s:[s]}", "type", "static-length-blob", "length",
			     16, "roles", "metadata-stream-uuid"));
	add_member(header, "stream_id", json_unsigned(64, "data-stream-class-id"));
	add_member(header, "stream_instance_id", json_unsigned(64, "data-stream-id"));
	for (size_t i = 0; sim_ctf_texts[i].name; i++)
		json_object_set_new(environment, sim_ctf_texts[i].name,
				    json_string(sim_ctf_texts[i].value
						    ? sim_ctf_texts[i].value
						    : trace->node->name));
	for (size_t i = 0; sim_ctf_numbers[i].name; i++)
		json_object_set_new(environment, sim_ctf_numbers[i].name,
				    json_integer(sim_ctf_numbers[i].value));
	sim_ctf_format_uuid(uuid, trace->uuid);
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "type", "trace-class",
			 "namespace", "lttng.org,2009", "name", trace->node->name, "uid",
			 uuid, "environment", environment, "packet-header-field-class",
			 header);
}

static json_t *json_clock(const struct sim_node *node)
{
	char uuid[UUID_TEXT];
	int64_t rest, seconds = sim_ctf_clock_offset(node, &rest);

	sim_ctf_format_uuid(uuid, node->boot_id);
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:{s:I, s:I}}", "type",
			 "clock-class", "id", "monotonic", "name", "monotonic", "uid",
			 uuid, "description", "Monotonic Clock", "frequency",
			 (json_int_t)NSEC_PER_SEC, "origin", "unix-epoch",
			 "offset-from-origin", "seconds", (json_int_t)seconds, "cycles",
			 (json_int_t)rest);
}

/*
 * What stands behind the processor's number in a packet context of SIM_CTF_2; see
 * put_rare_context in ctf_writer.c.
 */
static void add_rare_context(json_t *context)
{
	static const char *const length = "note_length";
	json_t *map = json_fixed("fixed-length-bit-map", 8);
	json_t *high = json_unsigned(12, NULL), *low = json_unsigned(4, NULL);

	json_object_set_new(
	    map, "flags",
	    json_pack("{s:[[i, i]], s:[[i, i]]}", "first", 0, 0, "others", 1, 7));
	json_object_set_new(high, "byte-order", json_string("big-endian"));
	json_object_set_new(low, "byte-order", json_string("big-endian"));
	add_member(context, "is_marked", json_fixed("fixed-length-boolean", 1));
	add_member(context, "low_number", json_fixed("fixed-length-bit-array", 7));
	add_member(context, "number_bits", map);
	add_member(context, "high", high);
	add_member(context, "low", low);
	add_member(context, "tail",
		   json_pack("{s:s, s:{s:s, s:[s]}, s:[[i, i], [i, i]], s:o}", "type",
			     "optional", "selector-field-location", "origin",
			     "packet-context", "path", "low", "selector-field-ranges", 8,
			     11, 12, 15, "field-class", json_unsigned(64, NULL)));
	add_member(context, "load", json_fixed("fixed-length-floating-point-number", 32));
	add_member(context, length,
		   json_pack("{s:s}", "type", "variable-length-unsigned-integer"));
	add_member(context, "note",
		   json_pack("{s:s, s:s, s:{s:[s]}}", "type", "dynamic-length-string",
			     "encoding", "utf-32be", "length-field-location", "path",
			     length));
	add_member(context, "blob",
		   json_pack("{s:s, s:s, s:{s:[s]}}", "type", "dynamic-length-blob",
			     "media-type", "text/plain", "length-field-location", "path",
			     length));
	add_member(context, "mark",
		   json_pack("{s:s, s:{s:[s]}, s:{s:s, s:i}}", "type", "optional",
			     "selector-field-location", "path", "is_marked",
			     "field-class", "type", "static-length-blob", "length", 4));
}

static json_t *json_packet_context(const struct sim_node *node)
{
	json_t *context = json_structure(8);

	for (size_t i = 0; sim_ctf_contexts[i].name; i++)
		add_member(context, sim_ctf_contexts[i].name,
			   json_unsigned(64, sim_ctf_contexts[i].role));
	add_member(context, "cpu_id",
		   node->format == SIM_CTF_2 ? json_string(ALIAS)
					     : json_unsigned(32, NULL));
	if (node->format == SIM_CTF_2)
		add_rare_context(context);
	return context;
}

static json_t *json_event_header(enum sim_event_header header)
{
	static const char *const id_role = "event-record-class-id";
	static const char *const stamp_role = "default-clock-timestamp";
	const struct sim_ctf_header_form *form = sim_ctf_header_form(header);
	json_t *structure = json_structure(8),
	       *whole = form ? json_structure(8) : structure;
	json_t *brief;
	int escape;

	if (form)
		add_member(structure, "id", json_unsigned(form->id_bits, id_role));
	add_member(whole, "id", json_unsigned(form ? 32 : 64, id_role));
	add_member(whole, "timestamp", json_unsigned(64, stamp_role));
	if (!form)
		return structure;
	brief = json_structure(1);
	add_member(brief, "timestamp", json_unsigned(form->stamp_bits, stamp_role));
	escape = (1 << form->id_bits) - 1;
	add_member(structure, "v",
		   json_pack("{s:s, s:{s:[s]}, s:[{s:s, s:[[i, i]], s:o},"
			     " {s:s, s:[[i, i]], s:o}]}",
			     "type", "variant", "selector-field-location", "path", "id",
			     "options", "name", "compact", "selector-field-ranges", 0,
			     escape - 1, "field-class", brief, "name", "extended",
			     "selector-field-ranges", escape, escape, "field-class",
			     whole));
	return structure;
}

static json_t *json_event(const struct sim_class *class, size_t id,
			  enum sim_trace_format format)
{
	json_t *payload = json_structure(class->fields ? 8 : 1);

	for (size_t i = 0; i < class->fields; i++)
		add_field(payload, &class->field[i], format);
	return json_pack("{s:s, s:i, s:I, s:s, s:o}", "type", "event-record-class",
			 "data-stream-class-id", 0, "id", (json_int_t)id, "name",
			 class->name, "payload-field-class", payload);
}

static json_t *json_preamble(const struct sim_ctf_trace *trace)
{
	json_t *preamble = json_pack("{s:s, s:i, s:o}", "type", "preamble", "version", 2,
				     "uuid", json_uuid(trace->uuid));

	if (trace->node->format == SIM_CTF_2)
		json_object_set_new(
		    preamble, "attributes",
		    json_pack("{s:{s:b}}", "clustertrace", "simulated", 1));
	return preamble;
}

static json_t *json_stream(const struct sim_node *node)
{
	return json_pack("{s:s, s:i, s:s, s:o, s:o}", "type", "data-stream-class", "id",
			 0, "default-clock-class-id", "monotonic",
			 "packet-context-field-class", json_packet_context(node),
			 "event-record-header-field-class",
			 json_event_header(node->event_header));
}

void sim_ctf_write_json(const struct sim_ctf_trace *trace, FILE *file)
{
	const struct sim_node *node = trace->node;

	put_fragment(file, json_preamble(trace));
	if (node->format == SIM_CTF_2)
		put_fragment(file, json_pack("{s:s, s:s, s:o}", "type",
					     "field-class-alias", "name", ALIAS,
					     "field-class", json_unsigned(32, NULL)));
	put_fragment(file, json_trace(trace));
	put_fragment(file, json_clock(node));
	put_fragment(file, json_stream(node));
	for (size_t i = 0; i < trace->classes; i++)
		if (trace->used[i])
			put_fragment(file,
				     json_event(trace->class[i], i, node -> format));
}
