/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/ctf_writer_declare.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/output.h"

enum { METADATA_MOST = 1 << 20 };

#define HEADER_BEGIN "\tevent.header := struct {\n"
#define HEADER_END   "\t} align(8);\n"

const struct sim_ctf_header_form *sim_ctf_header_form(enum sim_event_header header)
{
	static const struct sim_ctf_header_form form[] = {
	    [SIM_HEADER_COMPACT] = {5, 27},
	    [SIM_HEADER_LARGE] = {16, 32},
	};

	return header == SIM_HEADER_FULL ? NULL : &form[header];
}

static char *read_text(const char *path, struct error *error)
{
	FILE *file = fopen(path, "r");
	char *text;

	if (!file) {
		error_errno(error, path);
		return NULL;
	}
	text = mem_zalloc(METADATA_MOST);
	fread(text, 1, METADATA_MOST - 1, file);
	if (ferror(file)) {
		error_errno(error, path);
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

static void write_declaration(FILE *file, const struct sim_ctf_header_form *form)
{
	const char *align = form->id_bits % 8 ? "1" : "8";
	unsigned escape = (1u << form->id_bits) - 1;

	fprintf(file,
		HEADER_BEGIN "\t\tenum : integer { size = %u; align = %s; } {"
			     " compact = 0 ... %u, extended = %u } id;\n"
			     "\t\tvariant <id> {\n"
			     "\t\t\tstruct {\n"
			     "\t\t\t\tinteger { size = %u; align = %s;"
			     " map = clock.monotonic.value; } timestamp;\n"
			     "\t\t\t} compact;\n"
			     "\t\t\tstruct {\n"
			     "\t\t\t\tinteger { size = 32; align = 8; } id;\n"
			     "\t\t\t\tinteger { size = 64; align = 8;"
			     " map = clock.monotonic.value; } timestamp;\n"
			     "\t\t\t} extended;\n"
			     "\t\t} v;\n" HEADER_END,
		form->id_bits, align, escape - 1, escape, form->stamp_bits, align);
}

int sim_ctf_declare_header(const char *path, const struct sim_ctf_header_form *form,
			   struct error *error)
{
	char *text = read_text(path, error), *begin, *end = NULL;
	struct output output;
	int status = -1;

	if (!text)
		return -1;
	begin = strstr(text, HEADER_BEGIN);
	if (begin)
		end = strstr(begin, HEADER_END);
	if (!end) {
		error_set(error, "%s: declares no event header", path);
	} else if (!output_open(&output, path, error)) {
		fwrite(text, 1, (size_t)(begin - text), output.file);
		write_declaration(output.file, form);
		fputs(end + strlen(HEADER_END), output.file);
		status = output_commit(&output, error);
	}
	free(text);
	return status;
}
