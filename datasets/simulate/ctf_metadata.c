/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/ctf_metadata.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/nsec.h"
#include "simulate/writer.h"

/* Metadata is made from a template in metadata/, with @NAME@ for a value or a section. */
enum { VALUE_NAME, VALUE_ID, VALUE_ALIGN, VALUES = 11 };

struct metadata {
	FILE *file;
	const char *template;
	bool is_json, is_rare;
	struct {
		const char *name, *text;
	} value[VALUES];
};

/* Return the template's section of that name and its size, or NULL. */
static const char *find_text(const char *template, const char *name, size_t length,
			     size_t *size)
{
	const char *at = template;

	while ((at = strstr(at, "\n== "))) {
		at += strlen("\n== ");
		if (strncmp(at, name, length) != 0)
			continue;
		if (at[length] == ':') {
			at += length + 1 + (at[length + 1] == ' ');
			*size = strcspn(at, "\n");
			return at;
		}
		if (at[length] == '\n') {
			const char *end = strstr(at += length, "\n== ");

			*size = end ? (size_t)(end - at) - 1 : strlen(at) - 2;
			return at + 1;
		}
	}
	return NULL;
}

static void put_text(const struct metadata *metadata, const char *name, size_t length)
{
	char rare[32];
	const char *at = NULL, *end;
	size_t size;

	for (int i = 0; i < VALUES; i++)
		if (strlen(metadata->value[i].name) == length &&
		    !memcmp(metadata->value[i].name, name, length)) {
			fputs(metadata->value[i].text, metadata->file);
			return;
		}
	snprintf(rare, sizeof(rare), "rare %.*s", (int)length, name);
	if (metadata->is_rare)
		at = find_text(metadata->template, rare, strlen(rare), &size);
	if (!at)
		at = find_text(metadata->template, name, length, &size);
	assert(at);
	for (end = at + size; at < end; at++)
		if (*at == '@') {
			length = strcspn(at + 1, "@");
			put_text(metadata, at + 1, length);
			at += length + 1;
		} else if (!metadata->is_json || !strchr("\n\t", *at)) {
			putc(*at, metadata->file);
		}
}

static void put_block(const struct metadata *metadata, const char *name)
{
	put_text(metadata, name, strlen(name));
	if (!metadata->is_json)
		putc('\n', metadata->file);
}

static void put_event(struct metadata *metadata, const struct sim_class *class, size_t id)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%zu", id);
	metadata->value[VALUE_ID].text = digits;
	metadata->value[VALUE_NAME].text = class->name;
	metadata->value[VALUE_ALIGN].text = class->fields ? "8" : "1";
	put_block(metadata, "event");
	for (size_t i = 0; i < class->fields; i++) {
		if (i)
			put_text(metadata, "separator", strlen("separator"));
		metadata->value[VALUE_NAME].text = class->field[i].name;
		put_block(metadata, sim_type_forms[class->field[i].type].name);
	}
	put_block(metadata, "event end");
}

enum { UUID_TEXT = 37, UUID_BYTES_TEXT = 16 * 4 };

static void format_uuid(char text[UUID_TEXT], const unsigned char uuid[16])
{
	for (int i = 0; i < 16; i++)
		text +=
		    sprintf(text, "%s%02x",
			    i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

static void put_metadata(const struct sim_trace *trace, FILE *file)
{
	static const char *const header[] = {[SIM_HEADER_FULL] = "header full",
					     [SIM_HEADER_COMPACT] = "header compact",
					     [SIM_HEADER_LARGE] = "header large"};
	const struct sim_node *node = trace->node;
	/* The clock's offset is seconds, and 0 to 999,999,999 ns. */
	int64_t offset = node->realtime_offset_ns;
	int64_t rest = (offset % NSEC_PER_SEC + NSEC_PER_SEC) % NSEC_PER_SEC;
	char uuid[UUID_TEXT], boot[UUID_TEXT], digits[2][24];
	char bytes[UUID_BYTES_TEXT], *at = bytes;
	struct metadata metadata = {
	    .file = file,
	    .template = node->format == SIM_CTF_1_8 ? sim_ctf_1_8 : sim_ctf_2,
	    .is_json = node->format != SIM_CTF_1_8,
	    .is_rare = node->format == SIM_CTF_2,
	    .value = {[VALUE_NAME] = {"name", ""},
		      [VALUE_ID] = {"id", ""},
		      [VALUE_ALIGN] = {"align", ""},
		      {"uuid", uuid},
		      {"uuid_bytes", bytes},
		      {"boot", boot},
		      {"host", node->name},
		      {"offset_s", digits[0]},
		      {"offset", digits[1]},
		      {"rs", "\x1e"},
		      {"nl", "\n"}},
	};

	format_uuid(uuid, trace->uuid);
	format_uuid(boot, node->boot_id);
	for (int i = 0; i < 16; i++)
		at += sprintf(at, "%s%u", i ? "," : "", trace->uuid[i]);
	snprintf(digits[0], sizeof(digits[0]), "%" PRId64,
		 (offset - rest) / NSEC_PER_SEC);
	snprintf(digits[1], sizeof(digits[1]), "%" PRId64, rest);
	put_block(&metadata, "trace");
	put_block(&metadata, header[node->event_header]);
	put_block(&metadata, "trace end");
	for (size_t i = 0; i < trace->classes; i++)
		if (trace->used[i])
			put_event(&metadata, &trace->class[i], i);
}

int sim_metadata_write(const struct sim_trace *trace, struct error *error)
{
	struct output output;

	if (sim_output_open(&output, error, "%s/metadata", trace->path))
		return -1;
	put_metadata(trace, output.file);
	return output_commit(&output, error);
}
