/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/apply/apply.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/names.h"
#include "base/output.h"
#include "base/output_directory.h"
#include "base/process.h"
#include "sync/apply/apply_capture.h"
#include "sync/apply/clock_class.h"
#include "trace/ftrace/trace_dat.h"

enum { BLOCK = 1 << 20 };

static int copy_file(const char *from, const char *to, mode_t mode, struct error *error)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	ssize_t sent;

	if (in < 0)
		return error_errno(error, from);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0777);
	do
		sent = out < 0 ? -1 : sendfile(out, in, NULL, BLOCK);
	while (sent > 0 || (out >= 0 && sent < 0 && errno == EINTR));
	if (sent)
		error_errno(error, to);
	if (out >= 0 && close(out) && !sent)
		sent = error_errno(error, to);
	close(in);
	return sent ? -1 : 0;
}

/* Other file systems, too many links, others' files: then copy. */
static int clone_file(const char *from, const char *to, struct error *error)
{
	struct stat status;

	if (stat(from, &status))
		return error_errno(error, from);
	if (S_ISDIR(status.st_mode))
		return 0;
	if (!S_ISREG(status.st_mode))
		return error_set(error, "%s: neither a file nor a directory of the trace",
				 from);
	if (linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	return copy_file(from, to, status.st_mode, error);
}

static int is_stream(const struct dirent *entry)
{
	return *entry->d_name != '.' && strcmp(entry->d_name, "metadata") != 0;
}

/* Create the directory `to` with the streams of the trace `from`, hard-linked or else
 * copied. Subdirectories such as `index` are not copied: they describe the recorded
 * timestamps. Return 0, or -1 with error, after removing `to` unless it existed before.
 */
static int clone_streams(const char *from, const char *to, struct error *error)
{
	struct dirent **entry;
	int count, failed = 0;

	if (mkdir(to, 0777))
		return error_errno(error, to);
	count = scandir(from, &entry, is_stream, alphasort);
	if (count < 0)
		failed = error_errno(error, from);
	for (int k = 0; k < count; k++) {
		AUTOFREE char *old = mem_printf("%s/%s", from, entry[k]->d_name);
		AUTOFREE char *new = mem_printf("%s/%s", to, entry[k]->d_name);

		failed = failed ? failed : clone_file(old, new, error);
		free(entry[k]);
	}
	if (count >= 0)
		free(entry);
	if (failed)
		remove_tree(to);
	return failed;
}

/* A clock of the map, with its trace or capture. */
struct applied {
	const struct clock *clock;
	const struct source *source;
	const struct trace_facts *facts;
	const char *name; /* name of its file or directory */
};

/*
 * Make a clock's trace or capture in the directory, and a line that says how exact it is.
 * A clock that it cannot have becomes a problem. Return 0, or -1 with error.
 */
static int apply_one(const struct output_directory *directory,
		     const struct applied *applied, FILE *lines,
		     struct problem_list *problems, struct error *error)
{
	const struct clock *clock = applied->clock;
	AUTOFREE char *target = mem_printf("%s/%s", directory->temporary, applied->name);
	AUTOFREE char *exactness = NULL;
	struct error cause = ERROR_INIT;
	double residual_ns;
	int status;

	if (output_directory_has(directory, applied->name))
		return error_set(error, "%s/%s: %s", directory->path, applied->name,
				 strerror(EEXIST));
	if (applied->source->kind == SOURCE_CAPTURE) {
		status = apply_to_capture(clock, applied->source, applied->facts, target,
					  &exactness, &cause);
	} else {
		status = apply_clock(clock, target, &residual_ns, &cause);
		if (status == 0)
			exactness =
			    mem_printf("on the clock of %s, within %.0f ns of the fit",
				       clock->reference, residual_ns);
	}
	if (status == 0) {
		fprintf(lines, "%s/%s: %s\n", directory->path, applied->name, exactness);
		return 0;
	}
	output_directory_explain(directory, &cause);
	if (status < 0)
		error_set(error, "%s", error_text(&cause));
	else
		problem_add(problems, "", PROBLEM_APPLY, 1, "%s", error_text(&cause));
	error_clear(&cause);
	return status < 0 ? -1 : 0;
}

/* Write all of them. Return 0, or -1 with error. */
static int apply_all(const struct output_directory *directory,
		     const struct applied *applied, size_t count, FILE *talk,
		     struct problem_list *problems, struct error *error)
{
	char *said = NULL;
	size_t size;
	FILE *lines = mem_stream(&said, &size);
	int status = 0;

	for (size_t i = 0; !status && i < count; i++)
		if (applied[i].source->kind == SOURCE_CAPTURE ||
		    is_trace_path(applied[i].clock->path))
			status =
			    apply_one(directory, &applied[i], lines, problems, error);
	fclose(lines);
	if (!status) { /* no trace is delivered if that cannot be written */
		fputs(said, talk);
		status = output_flush_stdout(error);
	}
	free(said);
	return status;
}

int apply_run(const struct apply_request *request, FILE *talk,
	      struct problem_list *problems, struct error *error)
{
	static const struct output_kind kind = {.rule = OUTPUT_ADD};
	const struct clock_map *map = request->map;
	const size_t clocks = observations_read(request->seen);
	AUTOFREE struct applied *applied = mem_zalloc(clocks * sizeof(*applied));
	AUTOFREE char **wanted = mem_zalloc(clocks * sizeof(*wanted));
	struct output_directory directory;
	char **name;
	int status = output_directory_open(&directory, request->directory, &kind, error);

	for (size_t i = 0; i < clocks; i++) {
		const struct trace *trace = &request->seen->trace[i];
		const struct source *source =
		    &request->sources->item[trace->source_index];

		applied[i] =
		    (struct applied){&map->clock[i], source, &trace->facts, NULL};
		wanted[i] = source->kind == SOURCE_CAPTURE
				? apply_capture_name(map->clock[i].trace, source)
				: mem_strdup(map->clock[i].trace);
	}
	name = file_names_of((const char *const *)wanted, clocks);
	for (size_t i = 0; i < clocks; i++) {
		applied[i].name = name[i];
		free(wanted[i]);
	}
	if (!status)
		status = apply_all(&directory, applied, clocks, talk, problems, error);
	if (!status)
		status = output_directory_commit(&directory, error);
	output_directory_discard(&directory);
	file_names_free(name, clocks);
	return status;
}

#define CLOCK_UNKNOWN_NS INT64_C(1000000000000000) /* a bound that wide says nothing */

static int64_t cycles_up(double ns, uint64_t frequency)
{
	return (int64_t)ceil(ns * (double)frequency / (double)NSEC_PER_SEC);
}

double apply_widest_bound(const struct clock *clock)
{
	nsec_t widest = 0;

	for (size_t i = 0; i < clock->bounds; i++) {
		const struct clock_bound *bound = &clock->bound[i];

		if (bound->low_ns == NSEC_MIN || bound->high_ns == NSEC_MAX)
			return INFINITY;
		widest = bound->high_ns > widest ? bound->high_ns : widest;
		widest = -bound->low_ns > widest ? -bound->low_ns : widest;
	}
	return clock->bounds && widest < CLOCK_UNKNOWN_NS ? (double)widest : INFINITY;
}

/* Set the precision and accuracy of CTF 2. */
static void set_errors(struct clock_class *fitted, const struct clock_class *recorded,
		       const struct clock *clock, double residual_ns)
{
	double widest = apply_widest_bound(clock);

	fitted->precision =
	    recorded->precision + cycles_up(residual_ns, fitted->frequency);
	fitted->accuracy = isfinite(widest) ? cycles_up(widest, fitted->frequency) : -1;
}

/*
 * Make the trace's metadata with the fitted class in `changed`, which the caller frees.
 * Return 0, or with error 1 if the trace cannot have that clock, or -1 if something
 * failed.
 */
static int fit_metadata(const struct clock *clock, double *residual_ns, char **changed,
			struct error *error)
{
	struct clock_class recorded, fitted;
	AUTOFREE char *path = mem_printf("%s/metadata", clock->path);
	AUTOFREE char *text = metadata_read(path, error);

	*changed = NULL;
	if (!text)
		return -1;
	if (metadata_clock(text, &recorded, error) == 0 &&
	    clock_class_fit(clock, &recorded, &fitted, residual_ns, error) == 0) {
		set_errors(&fitted, &recorded, clock, *residual_ns);
		*changed = metadata_with_clock(text, &fitted);
	}
	if (*changed)
		return 0;
	error_prefix(error, "%s", path);
	return 1;
}

static int write_metadata(const char *target, const char *text, struct error *error)
{
	struct output output;
	AUTOFREE char *path = mem_printf("%s/metadata", target);
	int status = output_open(&output, path, error);

	if (status == 0 && fputs(text, output.file) == EOF) {
		status = error_errno(error, path);
		output_discard(&output);
	}
	return status ? -1 : output_commit(&output, error);
}

int apply_clock(const struct clock *clock, const char *target, double *residual_ns,
		struct error *error)
{
	char *text;
	int status;

	if (clock->segments != 1) {
		error_set(error,
			  "%s: its clock has %zu segments, a CTF clock class "
			  "holds one line",
			  clock->trace, clock->segments);
		return 1;
	}
	if (!*clock->path) {
		error_set(error, "%s: no path (expected a CTF trace)", clock->trace);
		return 1;
	}
	if (trace_dat_probe(clock->path)) {
		error_set(error,
			  "%s: a trace.dat keeps its times (only CTF traces and captures "
			  "get corrected ones)",
			  clock->path);
		return 1;
	}
	status = fit_metadata(clock, residual_ns, &text, error);
	if (status)
		return status;
	/* Write the metadata last: without it the directory is not a trace. */
	status = clone_streams(clock->path, target, error);
	if (status == 0 && write_metadata(target, text, error)) {
		remove_tree(target);
		status = -1;
	}
	free(text);
	return status;
}
