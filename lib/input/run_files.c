/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/run_files.h"

#include "input/run_facts.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/output.h"
#include "input/capture/frames.h"
#include "input/declared.h"
#include "trace/reader.h"

#define UNKNOWN_FILE "unknown kind of file"

enum { KIND_QUIET = -3, KIND_CAPTURE = -2, KIND_NONE = -1 };

/* A search below a node's directory. */
struct walk {
	struct run_node *node;
	struct texts entered; /* directories */
	struct problem_list *problems;
	struct problem_list strays; /* files that are not read */
	bool is_quiet;              /* within a directory of no interest */
};

bool directory_enter(struct texts *entered, const struct stat *directory)
{
	const uint64_t key[] = {directory->st_dev, directory->st_ino};
	size_t before = entered->count;

	return texts_put_bytes(entered, (const char *)key, sizeof(key)) == before;
}

bool path_has_suffix(const char *path, const char *suffix)
{
	size_t length = strlen(path), tail = strlen(suffix);

	return length >= tail && strcmp(path + length - tail, suffix) == 0;
}

/* The files that a recorder writes into a run (docs/formats.md), by name or suffix. */
static const struct recorded_file {
	const char *name;
	bool is_end;
	int kind; /* enum run_file_kind, or */
} recorded_file[] = {
    {"node.json", false, RUN_FILE_NODE},
    {"clock.csv", false, RUN_FILE_CLOCK},
    {"clock_claims.csv", false, RUN_FILE_CLAIMS},
    {"tracking.log", false, RUN_FILE_CLAIMS},
    {"ptp4l.log", false, RUN_FILE_CLAIMS},
    {"phc2sys.log", false, RUN_FILE_CLAIMS},
    {"proc.csv", false, RUN_FILE_PROC},
    {"sensors.csv", false, RUN_FILE_SENSORS},
    {"invocations.jsonl", false, RUN_FILE_INVOCATIONS},
    {".sadf", true, RUN_FILE_SADF},
    {".sa", true, RUN_FILE_SA},
    {".pcap", true, KIND_CAPTURE},
    {".pcapng", true, KIND_CAPTURE},
    {"run.json", false, KIND_NONE},
    {DECLARED_FILE, false, KIND_NONE}, /* in a run or a node */
    {"commands", false, KIND_QUIET},   /* directories of programs' output */
    {"log", false, KIND_QUIET},
    {".collect", false, KIND_NONE},
    {"truth.csv", false, KIND_NONE}, /* true clocks of a data set */
    {"README", false, KIND_NONE},
    {"README.md", false, KIND_NONE},
    {NULL, false, KIND_NONE},
};

static const struct recorded_file *recorded_as(const char *path)
{
	const struct recorded_file *file = recorded_file;

	while (file->name && !(file->is_end ? path_has_suffix(path, file->name)
					    : !strcmp(file_name(path), file->name)))
		file++;
	return file;
}

void run_protect(const char *path)
{
	static const char *const own[] = {"run.json", ".collect", NULL};

	for (size_t i = 0; own[i]; i++) {
		AUTOFREE char *file = mem_printf("%s/%s", path, own[i]);

		output_protect(file);
	}
}

/* Return true if a path is a dangling link whose name is not that of a recorded file. */
static bool is_idle_link(const char *path)
{
	const char *name = file_name(path);
	struct stat status;

	return lstat(path, &status) == 0 && S_ISLNK(status.st_mode) &&
	       !recorded_as(path)->name && !strstr(name, ".pcap") &&
	       !strstr(name, ".cap") && strcmp(name, "kernel") && strcmp(name, "ust") &&
	       strcmp(name, "metadata");
}

/* Return true if a file starts like a CTF packet. */
static bool is_stream(const char *path)
{
	static const uint8_t little[] = {0xc1, 0x1f, 0xfc, 0xc1},
			     big[] = {0xc1, 0xfc, 0x1f, 0xc1};
	struct error error = ERROR_INIT;
	int fd = file_open(path, NULL, &error);
	uint8_t begin[4] = {0};
	bool is_there = fd >= 0 && pread(fd, begin, 4, 0) == 4;

	error_clear(&error);
	if (fd >= 0)
		close(fd);
	return is_there && (memcmp(begin, little, 4) == 0 || memcmp(begin, big, 4) == 0);
}

/*
 * Report a file that contains data but is not read because of `why`. Return false if it
 * contains none.
 */
static bool report_lost(const char *path, const char *why, struct problem_list *problems)
{
	struct error error = ERROR_INIT;
	bool is_capture = capture_probe(path, &error), is_lost = true;
	struct stat status;

	if (stat(path, &status) || !S_ISREG(status.st_mode))
		is_lost = false;
	else if (error.text)
		problem_add(problems, path, PROBLEM_UNREADABLE, 1, "%s, skipped",
			    error_text(&error));
	else if (is_stream(path))
		problem_add(problems, path, PROBLEM_UNREADABLE, 1,
			    "a stream without its metadata, skipped");
	else if (is_capture || is_trace_path(path))
		problem_add(problems, path, PROBLEM_UNREADABLE, 1, "%s, skipped", why);
	else
		is_lost = false;
	error_clear(&error);
	return is_lost;
}

void run_report_stray(const char *path, struct problem_list *problems)
{
	const struct recorded_file *file = recorded_as(path);
	static const char why[] = "not in a node's directory";

	/* Timelines and clock maps are outputs, often of an earlier call. */
	if ((file->kind == KIND_NONE && file->name) || path_has_suffix(path, ".db") ||
	    (!file->name && path_has_suffix(path, ".json")))
		return;
	if (!report_lost(path, why, problems))
		problem_add(problems, path, PROBLEM_FOREIGN, 1, "%s, skipped",
			    file->name ? why : UNKNOWN_FILE);
}

/*
 * Return the kind of a file below the node; files with a fixed name must be directly in
 * its directory.
 */
static int recorded_file_kind(const struct run_node *node, const char *path)
{
	const struct recorded_file *file = recorded_as(path);
	size_t length = strlen(node->path);

	/* The path is the node's directory itself. */
	if (path[length] != '/')
		return KIND_NONE;
	return file->is_end || file_name(path) == path + length + 1 ? file->kind
								    : KIND_NONE;
}

static void add_source(struct run_node *node, enum source_kind kind, const char *path)
{
	*MEM_NEXT(node->source, node->sources, node->source_capacity) =
	    (struct source){.kind = kind, .path = mem_strdup(path)};
}

/* Return true if the text of a binary log, made on its node, is also present. */
static bool has_text(const char *log)
{
	AUTOFREE char *path = mem_printf("%sdf", log);
	struct stat status;

	return stat(path, &status) == 0;
}

/* Add a file of unknown name if it is a capture; otherwise report that it is skipped. */
static void add_unknown_file(struct walk *walk, const char *path)
{
	const struct recorded_file *file = recorded_as(path);
	struct error error = ERROR_INIT;

	if (walk->is_quiet || path_has_suffix(path, ".idx") ||
	    (file->name && file->kind < 0))
		return;
	if (file->name) {
		problem_add(&walk->strays, path, PROBLEM_FOREIGN, 1,
			    "not directly in the node's directory, skipped");
	} else if (capture_probe(path, &error)) {
		output_protect(path);
		add_source(walk->node, SOURCE_CAPTURE, path);
	} else if (!report_lost(path, "", walk->problems)) {
		problem_add(&walk->strays, path, PROBLEM_FOREIGN, 1, "%s, skipped",
			    UNKNOWN_FILE);
	}
	error_clear(&error);
}

static void add_file(struct walk *walk, const char *path)
{
	struct run_node *node = walk->node;
	int kind = recorded_file_kind(node, path);

	if (kind == RUN_FILE_SA && has_text(path))
		return;
	if (kind < 0 && kind != KIND_CAPTURE) {
		add_unknown_file(walk, path);
		return;
	}
	if (kind == KIND_CAPTURE) {
		add_source(node, SOURCE_CAPTURE, path);
		return;
	}
	*MEM_NEXT(node->file, node->files, node->capacity) =
	    (struct run_file){(enum run_file_kind)kind, mem_strdup(path)};
}

static void search_path(struct walk *walk, const char *path);

static void search_directory(struct walk *walk, const char *path)
{
	AUTOFREE struct dirent **entry = NULL;
	int count = scandir(path, &entry, NULL, versionsort);

	if (count < 0)
		problem_add(walk->problems, path, PROBLEM_UNREADABLE, 1, "%s",
			    strerror(errno));
	for (int i = 0; i < count; i++) {
		if (entry[i]->d_name[0] != '.') {
			AUTOFREE char *below =
			    mem_printf("%s/%s", path, entry[i]->d_name);

			search_path(walk, below);
		}
		free(entry[i]);
	}
}

static void search_path(struct walk *walk, const char *path)
{
	const bool was_quiet = walk->is_quiet;
	struct stat status;
	bool is_trace;

	if (stat(path, &status)) {
		const char *reason = strerror(errno);

		problem_add(walk->problems, path,
			    is_idle_link(path) ? PROBLEM_DANGLING : PROBLEM_UNREADABLE, 1,
			    "%s", reason);
		return;
	}
	if (S_ISDIR(status.st_mode) && !directory_enter(&walk->entered, &status))
		return;
	is_trace = is_trace_path(path);
	if (is_trace || recorded_as(path)->name)
		output_protect(path);
	if (is_trace) {
		add_source(walk->node, SOURCE_TRACE, path);
	} else if (S_ISDIR(status.st_mode)) {
		/* A node.json that is a directory is reported by its reader. */
		if (recorded_file_kind(walk->node, path) > RUN_FILE_NODE)
			problem_add(walk->problems, path, PROBLEM_UNREADABLE, 1,
				    "a directory (expected a file)");
		walk->is_quiet |= recorded_as(path)->kind == KIND_QUIET;
		search_directory(walk, path);
		walk->is_quiet = was_quiet;
	} else {
		add_file(walk, path);
	}
}

void run_node_find(struct run_node *node, const char *path, const struct stat *run,
		   struct problem_list *problems)
{
	struct walk walk = {.node = node, .problems = problems};

	memset(node, 0, sizeof(*node));
	node->path = mem_strdup(path);
	if (run)
		directory_enter(&walk.entered, run);
	search_path(&walk, path);
	/* A directory that contains only strays is not a node's: do not report them. */
	if (node->sources || node->files)
		problem_move(problems, &walk.strays);
	problem_clear(&walk.strays);
	texts_clear(&walk.entered);
}

void run_node_clear(struct run_node *node)
{
	for (size_t i = 0; i < node->sources; i++)
		free(node->source[i].path);
	for (size_t i = 0; i < node->files; i++)
		free(node->file[i].path);
	free(node->source);
	free(node->file);
	free(node->name);
	free(node->path);
	node_facts_clear(&node->facts);
}

const char *run_node_file(const struct run_node *node, enum run_file_kind kind)
{
	for (size_t i = 0; i < node->files; i++)
		if (node->file[i].kind == kind)
			return node->file[i].path;
	return NULL;
}

void run_files_clear(struct run_files *run)
{
	for (size_t i = 0; i < run->nodes; i++)
		run_node_clear(&run->node[i]);
	free(run->node);
	free(run->run_json);
	memset(run, 0, sizeof(*run));
}
