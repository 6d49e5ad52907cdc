/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_FTRACE_TRACE_DAT_H
#define CT_TRACE_FTRACE_TRACE_DAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"
#include "trace/ftrace/event_format.h"

/*
 * The container that trace-cmd writes, versions 6 and 7: trace-cmd.dat.v6(5) and
 * trace-cmd.dat.v7(5). It holds the kernel's own descriptions of its events and, for each
 * buffer and processor, pages of the kernel's ring buffer.
 *
 * libtracecmd reads the same, but damaged files make it crash or run without end.
 */
/* The data of a processor in the file. */
struct cpu_pages {
	unsigned cpu;
	uint64_t offset, size;
};

struct trace_buffer {
	char *name, *clock; /* name "": the main buffer; clock NULL: the file's clock */
	unsigned page_size;
	bool is_compressed;
	struct cpu_pages *cpu;
	size_t cpus, capacity;
};

enum trace_compression { COMPRESSION_NONE, COMPRESSION_ZLIB, COMPRESSION_ZSTD };

struct trace_dat {
	char *path;
	FILE *file;
	uint64_t file_size;
	unsigned version;
	bool is_big;
	bool is_cut; /* the file ends before all pages that it should contain */
	unsigned long_size,
	    commit_size; /* bytes: of a long, and of a page's second field */
	unsigned page_size;
	enum trace_compression compression;
	struct event_format *event;
	size_t events, event_capacity;
	struct trace_buffer *buffer;
	size_t buffers, buffer_capacity;
	char *uname, *clock; /* NULL if not recorded */
	char *cmdlines;      /* lines of "PID NAME"; NULL if not recorded */
	uint32_t tsc_mult,
	    tsc_shift; /* rate of the clock x86-tsc; tsc_mult 0 if not recorded */
	uint64_t tsc_offset_ns;
	uint64_t next_options; /* used only while the file is opened */
};

/* Return true if the path is a regular file that starts like a trace.dat. */
bool trace_dat_probe(const char *path);

/*
 * Open a file and read everything except its pages. Return 0, or -1 with error. The
 * caller clears `dat` in both cases.
 */
int trace_dat_open(struct trace_dat *dat, const char *path, struct error *error);

void trace_dat_clear(struct trace_dat *dat);

/* Return the number of 1 to 8 bytes in the trace's byte order. */
uint64_t trace_dat_number(const struct trace_dat *dat, const void *bytes, unsigned size);

/*
 * Decompress a chunk whose uncompressed size is known. Return 0, or -1 with an error that
 * lacks the path.
 */
int trace_dat_decompress(const struct trace_dat *dat, const struct bytes *packed,
			 struct bytes *content, struct error *error);

#endif
