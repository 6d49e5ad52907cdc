/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/ftrace/trace_dat.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include "base/file.h"
#include "base/mem.h"

enum {
	MAGIC_BYTES = 10,
	TEXT_MOST = 1 << 12, /* bytes of a name */
	BLOB_MOST = 1 << 26, /* bytes of a section */
	PAGE_LEAST = 256,
	PAGE_MOST = 1 << 24,
	CPUS_MOST = 1 << 16,
	SECTIONS_MOST =
	    1 << 12, /* number of option sections; more means that they form a cycle */
	SECTION_IS_COMPRESSED = 1,
};

enum option_id {
	OPTION_DONE = 0,
	OPTION_BUFFER = 3,
	OPTION_CLOCK = 4,
	OPTION_UNAME = 5,
	OPTION_TSC = 14,
	OPTION_HEADER = 16,
	OPTION_FTRACE_EVENTS = 17,
	OPTION_EVENTS = 18,
	OPTION_CMDLINES = 21,
};

static const char magic[MAGIC_BYTES + 1] = "\x17\x08\x44tracing";

/* A file, or a decompressed part of it, that is read sequentially. */
struct source {
	struct trace_dat *dat;
	FILE *file;
	struct error *error;
};

static int set_source_error(const struct source *from, const char *what)
{
	return error_set(from->error, "%s: byte %lld: %s", from->dat->path,
			 (long long)ftello(from->dat->file), what);
}

static int read_number(struct source *from, unsigned size, uint64_t *value)
{
	uint8_t bytes[8];

	if (fread(bytes, 1, size, from->file) != size)
		return set_source_error(from,
					"truncated in the description of the trace");
	*value = trace_dat_number(from->dat, bytes, size);
	return 0;
}

/* Read a string up to its NUL. The caller frees it. */
static char *read_string(struct source *from)
{
	struct bytes text = {0};
	int byte;

	while ((byte = getc(from->file)) > 0 && text.size < TEXT_MOST)
		bytes_add_byte(&text, (uint8_t)byte);
	bytes_add_byte(&text, 0);
	if (byte == 0)
		return (char *)text.data;
	bytes_clear(&text);
	set_source_error(from, "unterminated name");
	return NULL;
}

/* Read bytes and append a NUL that `content->size` does not count. */
static int read_blob(struct source *from, uint64_t size, struct bytes *content)
{
	content->size = 0;
	if (size > BLOB_MOST)
		return set_source_error(from, "a part is too large (limit 64 MiB)");
	for (uint64_t left = size; left > 0;) {
		size_t step = left < (1 << 16) ? (size_t)left : 1 << 16;

		if (fread(bytes_extend(content, step), 1, step, from->file) != step)
			return set_source_error(
			    from, "truncated in the description of the trace");
		left -= step;
	}
	bytes_add_byte(content, 0);
	content->size--;
	return 0;
}

static int read_sized(struct source *from, unsigned width, struct bytes *content)
{
	uint64_t size;

	return read_number(from, width, &size) || read_blob(from, size, content) ? -1 : 0;
}

static int parse_format(struct source *from, const char *system, const char *text)
{
	struct trace_dat *dat = from->dat;
	struct event_format *format =
	    MEM_NEXT(dat->event, dat->events, dat->event_capacity);

	if (event_format_parse(format, system, text, dat->long_size))
		return set_source_error(from, "an event's description has no name");
	return 0;
}

static int read_formats(struct source *from, const char *system)
{
	struct bytes text = {0};
	uint64_t count;
	int status = read_number(from, 4, &count);

	for (; !status && count > 0; count--)
		status = read_sized(from, 8, &text) ||
				 parse_format(from, system, (char *)text.data)
			     ? -1
			     : 0;
	bytes_clear(&text);
	return status;
}

static int read_ftrace_events(struct source *from)
{
	return read_formats(from, "ftrace");
}

static int read_events(struct source *from)
{
	uint64_t count;
	int status = read_number(from, 4, &count);

	for (; !status && count > 0; count--) {
		AUTOFREE char *system = read_string(from);

		status = system ? read_formats(from, system) : -1;
	}
	return status;
}

/*
 * Read the layout of pages, "header_page", and skip "header_event", which never differs.
 */
static int read_header(struct source *from)
{
	static const char *const name[] = {"header_page", "header_event"};
	struct bytes text = {0};
	int status = 0;

	for (int i = 0; !status && i < 2; i++) {
		AUTOFREE char *found = read_string(from);
		const char *commit;

		if (!found || strcmp(found, name[i]))
			status = found ? set_source_error(
					     from, "missing description of page headers")
				       : -1;
		else
			status = read_sized(from, 8, &text);
		if (status || i)
			continue;
		commit = strstr((char *)text.data, "commit;");
		if (commit)
			from->dat->commit_size =
			    format_number_after(commit, strcspn(commit, "\n"), "size:");
	}
	if (!status && from->dat->commit_size != 4 && from->dat->commit_size != 8)
		status = set_source_error(from, "unknown kind of page header");
	bytes_clear(&text);
	return status;
}

static int read_cmdlines(struct source *from)
{
	struct bytes text = {0};
	int status = read_sized(from, 8, &text);

	if (!status && !from->dat->cmdlines)
		from->dat->cmdlines = mem_strndup((char *)text.data, text.size);
	bytes_clear(&text);
	return status;
}

static struct trace_buffer *add_buffer(struct trace_dat *dat, char *name)
{
	struct trace_buffer *buffer =
	    MEM_NEXT(dat->buffer, dat->buffers, dat->buffer_capacity);

	*buffer = (struct trace_buffer){.name = name, .page_size = dat->page_size};
	return buffer;
}

static int read_cpu(struct source *from, struct trace_buffer *buffer, unsigned cpu)
{
	struct cpu_pages *pages = MEM_NEXT(buffer->cpu, buffer->cpus, buffer->capacity);

	*pages = (struct cpu_pages){.cpu = cpu};
	if (read_number(from, 8, &pages->offset) || read_number(from, 8, &pages->size))
		return -1;
	if (pages->offset > from->dat->file_size)
		pages->offset = from->dat->file_size;
	if (pages->size > from->dat->file_size - pages->offset) {
		from->dat->is_cut = true;
		pages->size = from->dat->file_size - pages->offset;
	}
	return 0;
}

/* Go to a section of version 7 and check its id. Return its flags, or -1. */
static int go_to_section(struct source *from, uint64_t offset, unsigned wanted)
{
	uint64_t id, flags, text, size;

	if (offset > from->dat->file_size || fseeko(from->file, (off_t)offset, SEEK_SET))
		return set_source_error(from, "a section extends past the file's end");
	if (read_number(from, 2, &id) || read_number(from, 2, &flags) ||
	    read_number(from, 4, &text) || read_number(from, 8, &size))
		return -1;
	if (id != wanted)
		return set_source_error(from, "a section is not of the expected kind");
	return (int)flags;
}

/* Let a function read a section of version 7, decompressed if necessary. */
static int read_section(struct source *from, uint64_t offset, unsigned id,
			int (*read)(struct source *from))
{
	struct bytes packed = {0}, content = {0};
	struct source inside = *from;
	int flags = go_to_section(from, offset, id), status;
	uint64_t stored, size;

	if (flags < 0)
		return -1;
	if (!(flags & SECTION_IS_COMPRESSED))
		return read(from);
	status = read_number(from, 4, &stored) || read_number(from, 4, &size) ||
			 read_blob(from, stored, &packed)
		     ? -1
		     : 0;
	if (!status && size > BLOB_MOST)
		status = set_source_error(from, "a section is too large (limit 64 MiB)");
	if (!status) {
		bytes_extend(&content, (size_t)size);
		status = trace_dat_decompress(from->dat, &packed, &content, from->error);
		if (status)
			error_prefix(from->error, "%s: byte %" PRIu64, from->dat->path,
				     offset);
	}
	/* fmemopen() rejects a size of 0. */
	inside.file = status || !size ? NULL : fmemopen(content.data, (size_t)size, "r");
	if (inside.file) {
		status = read(&inside);
		fclose(inside.file);
	} else if (!status) {
		status = set_source_error(from, "an empty section");
	}
	bytes_clear(&packed);
	bytes_clear(&content);
	return status;
}

/* Read the description of a buffer in an option of version 7. */
static int read_buffer(struct source *from)
{
	struct trace_dat *dat = from->dat;
	struct trace_buffer *buffer;
	uint64_t offset, page_size, cpus, cpu;
	char *name;
	int status;

	if (read_number(from, 8, &offset) || !(name = read_string(from)))
		return -1;
	buffer = add_buffer(dat, name);
	buffer->clock = read_string(from);
	if (!buffer->clock || read_number(from, 4, &page_size) ||
	    read_number(from, 4, &cpus))
		return -1;
	if (page_size < PAGE_LEAST || page_size > PAGE_MOST || cpus > CPUS_MOST)
		return set_source_error(
		    from, "invalid page size or number of processors of a buffer");
	buffer->page_size = (unsigned)page_size;
	for (status = 0; !status && cpus > 0; cpus--)
		status =
		    read_number(from, 4, &cpu) || read_cpu(from, buffer, (unsigned)cpu)
			? -1
			: 0;
	if (!status) {
		struct source file = {dat, dat->file, from->error};
		int flags = go_to_section(&file, offset, OPTION_BUFFER);

		buffer->is_compressed = flags > 0 && flags & SECTION_IS_COMPRESSED;
		status = flags < 0 ? -1 : 0;
	}
	return status;
}

/* Return the clock in use, the one in brackets: "local global [mono] boot". */
static char *used_clock(const char *text)
{
	const char *bracket = strchr(text, '[');

	return bracket ? mem_strndup(bracket + 1, strcspn(bracket + 1, "]")) : NULL;
}

static void read_tsc(struct trace_dat *dat, const struct bytes *content)
{
	if (content->size < 16)
		return;
	dat->tsc_mult = (uint32_t)trace_dat_number(dat, content->data, 4);
	dat->tsc_shift = (uint32_t)trace_dat_number(dat, content->data + 4, 4) & 63;
	dat->tsc_offset_ns = trace_dat_number(dat, content->data + 8, 8);
}

/*
 * Store an option, or read the section it refers to. Set `next` to the offset of the next
 * options.
 */
static int use_option(struct source *from, unsigned id, struct bytes *content,
		      uint64_t *next)
{
	static const struct {
		unsigned id;
		int (*read)(struct source *from);
	} sections[] = {{OPTION_HEADER, read_header},
			{OPTION_FTRACE_EVENTS, read_ftrace_events},
			{OPTION_EVENTS, read_events},
			{OPTION_CMDLINES, read_cmdlines}};
	struct trace_dat *dat = from->dat;
	struct source file = {dat, dat->file, from->error};
	uint64_t offset =
	    content->size >= 8 ? trace_dat_number(dat, content->data, 8) : 0;

	if (id == OPTION_DONE)
		*next = offset;
	else if (id == OPTION_CLOCK && !dat->clock)
		dat->clock = used_clock((char *)content->data);
	else if (id == OPTION_UNAME && !dat->uname)
		dat->uname = mem_strdup((char *)content->data);
	else if (id == OPTION_TSC)
		read_tsc(dat, content);
	for (size_t i = 0; dat->version >= 7 && i < sizeof(sections) / sizeof(*sections);
	     i++)
		if (sections[i].id == id)
			return read_section(&file, offset, id, sections[i].read);
	return 0;
}

/* Read options of version 7. The file position is arbitrary afterwards. */
static int read_options(struct source *from)
{
	struct bytes content = {0};
	uint64_t id = 1, size, next = 0;
	int status = 0;
	off_t at;

	while (!status && id != OPTION_DONE) {
		status = read_number(from, 2, &id) || read_number(from, 4, &size) ||
				 read_blob(from, size, &content)
			     ? -1
			     : 0;
		if (status)
			break;
		at = ftello(from->file);
		if (id == OPTION_BUFFER) {
			struct source inside = *from;

			inside.file = content.size
					  ? fmemopen(content.data, content.size, "r")
					  : NULL;
			status = inside.file ? read_buffer(&inside)
					     : set_source_error(from, "an empty option");
			if (inside.file)
				fclose(inside.file);
		} else {
			status = use_option(from, (unsigned)id, &content, &next);
		}
		/* The option may have read another part of the same file. */
		if (!status && fseeko(from->file, at, SEEK_SET))
			status =
			    set_source_error(from, "cannot seek back to the options");
	}
	from->dat->next_options = next;
	bytes_clear(&content);
	return status;
}

static int read_version_7(struct source *from)
{
	struct trace_dat *dat = from->dat;
	AUTOFREE char *name = read_string(from),
		      *version = name ? read_string(from) : NULL;
	int status;

	if (!version)
		return -1;
	if (!strcmp(name, "zstd"))
		dat->compression = COMPRESSION_ZSTD;
	else if (!strcmp(name, "zlib"))
		dat->compression = COMPRESSION_ZLIB;
	else if (strcmp(name, "none"))
		return set_source_error(
		    from, "unknown compression (expected zlib, zstd or none)");
	status = read_number(from, 8, &dat->next_options);
	for (int i = 0; !status && dat->next_options; i++)
		status =
		    i < SECTIONS_MOST
			? read_section(from, dat->next_options, OPTION_DONE, read_options)
			: set_source_error(from, "options form a cycle");
	return status;
}

/* Read where the pages of all processors of a version 6 buffer are. */
static int read_flyrecord(struct source *from, struct trace_buffer *buffer, uint64_t cpus)
{
	int status = 0;

	for (uint64_t i = 0; !status && i < cpus; i++)
		status = read_cpu(from, buffer, (unsigned)i);
	return status;
}

/*
 * Read a further buffer of version 6: the option holds the offset of its list of pages,
 * and its name.
 */
static int read_instance(struct source *from, const struct bytes *content, uint64_t cpus)
{
	struct trace_dat *dat = from->dat;
	off_t at = ftello(from->file);
	char word[MAGIC_BYTES];
	int status;

	if (content->size < 9)
		return set_source_error(from, "a buffer without a name");
	if (fseeko(from->file, (off_t)trace_dat_number(dat, content->data, 8),
		   SEEK_SET) ||
	    fread(word, 1, sizeof(word), from->file) != sizeof(word) ||
	    memcmp(word, "flyrecord", sizeof(word)))
		return set_source_error(from, "no pages of a buffer");
	status = read_flyrecord(
	    from, add_buffer(dat, mem_strdup((char *)content->data + 8)), cpus);
	return status || fseeko(from->file, at, SEEK_SET) ? -1 : 0;
}

static int read_version_6_options(struct source *from, uint64_t cpus)
{
	struct bytes content = {0};
	uint64_t id = 1, size, next;
	int status = 0;

	while (!status && !read_number(from, 2, &id) && id != OPTION_DONE) {
		status = read_number(from, 4, &size) || read_blob(from, size, &content)
			     ? -1
			     : 0;
		if (!status)
			status = id == OPTION_BUFFER
				     ? read_instance(from, &content, cpus)
				     : use_option(from, (unsigned)id, &content, &next);
	}
	bytes_clear(&content);
	return id != OPTION_DONE ? -1 : status;
}

static int read_version_6(struct source *from)
{
	struct trace_dat *dat = from->dat;
	struct bytes ignored = {0};
	char word[MAGIC_BYTES];
	uint64_t cpus;
	int status = read_header(from) || read_ftrace_events(from) || read_events(from) ||
			     read_sized(from, 4, &ignored) || /* kallsyms */
			     read_sized(from, 4, &ignored) || /* printk formats */
			     read_cmdlines(from) || read_number(from, 4, &cpus)
			 ? -1
			 : 0;

	bytes_clear(&ignored);
	if (status)
		return -1;
	if (cpus > CPUS_MOST)
		return set_source_error(from, "too many processors");
	while (!status && fread(word, 1, sizeof(word), from->file) == sizeof(word)) {
		if (!memcmp(word, "options  ", sizeof(word)))
			status = read_version_6_options(from, cpus);
		else if (!memcmp(word, "flyrecord", sizeof(word)))
			return read_flyrecord(from, add_buffer(dat, mem_strdup("")),
					      cpus);
		else
			break;
	}
	return status ? -1 : set_source_error(from, "no pages of events");
}

static int read_file(struct trace_dat *dat, struct error *error)
{
	struct source from = {dat, dat->file, error};
	char start[MAGIC_BYTES];
	uint64_t page_size = 0;
	int status;

	if (fread(start, sizeof(start), 1, dat->file) != 1 ||
	    memcmp(start, magic, sizeof(start)))
		return set_source_error(&from, "bad magic number (expected a trace.dat)");
	{
		AUTOFREE char *version = read_string(&from);

		dat->version = version ? (unsigned)strtoul(version, NULL, 10) : 0;
	}
	if (dat->version != 6 && dat->version != 7)
		return set_source_error(&from, "unsupported version (expected 6 or 7)");
	dat->is_big = getc(dat->file) == 1;
	dat->long_size = (unsigned)getc(dat->file);
	if (dat->long_size != 4 && dat->long_size != 8)
		return set_source_error(&from,
					"invalid size of long (expected 4 or 8 bytes)");
	if (read_number(&from, 4, &page_size))
		return -1;
	if (page_size < PAGE_LEAST || page_size > PAGE_MOST)
		return set_source_error(&from, "invalid page size");
	dat->page_size = (unsigned)page_size;
	status = dat->version == 6 ? read_version_6(&from) : read_version_7(&from);
	if (!status && !dat->commit_size)
		status = set_source_error(&from, "missing description of page headers");
	return status;
}

bool trace_dat_probe(const char *path)
{
	struct stat status;
	bool is_file = stat(path, &status) == 0 && S_ISREG(status.st_mode);
	FILE *file = is_file ? fopen(path, "re") : NULL;
	char start[MAGIC_BYTES];
	bool is_one = file && fread(start, sizeof(start), 1, file) == 1 &&
		      memcmp(start, magic, sizeof(start)) == 0;

	if (file)
		fclose(file);
	return is_one;
}

int trace_dat_open(struct trace_dat *dat, const char *path, struct error *error)
{
	struct stat status;

	*dat = (struct trace_dat){.path = mem_strdup(path)};
	dat->file = file_open_stream(path, "a trace.dat", error);
	if (!dat->file)
		return error_prefix(error, "%s", path);
	if (fstat(fileno(dat->file), &status))
		return error_errno(error, path);
	dat->file_size = (uint64_t)status.st_size;
	return read_file(dat, error);
}

void trace_dat_clear(struct trace_dat *dat)
{
	for (size_t i = 0; i < dat->events; i++)
		event_format_clear(&dat->event[i]);
	for (size_t i = 0; i < dat->buffers; i++) {
		free(dat->buffer[i].name);
		free(dat->buffer[i].clock);
		free(dat->buffer[i].cpu);
	}
	free(dat->event);
	free(dat->buffer);
	free(dat->uname);
	free(dat->clock);
	free(dat->cmdlines);
	if (dat->file)
		fclose(dat->file);
	free(dat->path);
	*dat = (struct trace_dat){0};
}

uint64_t trace_dat_number(const struct trace_dat *dat, const void *bytes, unsigned size)
{
	const uint8_t *byte = bytes;
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value = value << 8 | byte[dat->is_big ? i : size - 1 - i];
	return value;
}

int trace_dat_decompress(const struct trace_dat *dat, const struct bytes *packed,
			 struct bytes *content, struct error *error)
{
	uLongf size = content->size;

	if (dat->compression == COMPRESSION_ZSTD &&
	    ZSTD_decompress(content->data, content->size, packed->data, packed->size) ==
		content->size)
		return 0;
	if (dat->compression == COMPRESSION_ZLIB &&
	    uncompress(content->data, &size, packed->data, packed->size) == Z_OK &&
	    size == content->size)
		return 0;
	return error_set(error, "compressed data is damaged");
}
