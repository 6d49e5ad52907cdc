/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/process.h"

#define STREAM_NAME "standard output"
#define UNFINISHED  ".unfinished-"

enum { NAME_MOST = 200, LINKS_MOST = 40, HEAD = 4096, CHUNK = 1 << 18 };

/* A file or directory that is read, identified independently of its name. */
struct input {
	dev_t device;
	ino_t inode;
	char *path; /* as given by the user */
	char *real; /* absolute, with links resolved */
};

/* The target of a stdio stream. stdio itself does not keep the cause of a failed write.
 */
struct sink {
	int fd, error; /* error: errno of the first failed write, or 0 */
};

/* The state of all outputs, which signal handlers use, and the inputs. */
static struct outputs {
	_Atomic(struct output_stage *) stage; /* list of all stages */
	pid_t owner; /* the process that created them; a forked child removes nothing */
	pthread_mutex_t lock; /* protects the inputs */
	struct input *input;
	size_t inputs, capacity;
	int stream;           /* descriptor to truncate */
	off_t begin;          /* offset to truncate it to */
	struct sink standard; /* standard output */
	volatile sig_atomic_t truncates_by_signal, truncates_by_exit;
} outputs = {.lock = PTHREAD_MUTEX_INITIALIZER, .standard = {STDOUT_FILENO, 0}};

/* Truncate the stream to where it began. Redirect it to /dev/null first, as another
 * thread may still be writing. */
static void truncate_stream(void)
{
	int file = dup(outputs.stream), nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (nothing >= 0)
		dup2(nothing, outputs.stream);
	if (ftruncate(file, outputs.begin) == 0)
		lseek(file, outputs.begin, SEEK_SET);
	if (nothing >= 0)
		close(nothing);
	close(file);
	outputs.truncates_by_signal = outputs.truncates_by_exit = 0;
}

static void remove_stages(void)
{
	for (const struct output_stage *at = outputs.stage; at; at = at->next)
		remove_tree(at->path);
}

static void end_by_signal(int number)
{
	if (getpid() == outputs.owner)
		remove_stages();
	if (outputs.truncates_by_signal)
		truncate_stream();
	signals_end(number);
}

/* Clean up at exit(3), by which lack of memory ends the program anywhere. */
static void end_by_exit(void)
{
	if (getpid() != outputs.owner)
		return;
	remove_stages();
	if (outputs.truncates_by_exit)
		truncate_stream();
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Return the offset of the next write; in append mode that is the file's end. */
static off_t stream_position(int stream, const struct stat *status)
{
	int flags = fcntl(stream, F_GETFL);

	return flags >= 0 && flags & O_APPEND ? status->st_size
					      : lseek(stream, 0, SEEK_CUR);
}

/* Have signals truncate a stream to its current position, if it is a regular file that
 * ends there and is not standard error as well. */
static void set_truncation(int stream)
{
	struct stat status, talk;

	outputs.truncates_by_signal = 0;
	outputs.stream = stream;
	if (fstat(stream, &status) || !S_ISREG(status.st_mode) ||
	    (fstat(STDERR_FILENO, &talk) == 0 && is_same(&status, &talk)))
		return;
	outputs.begin = stream_position(stream, &status);
	outputs.truncates_by_signal =
	    outputs.begin >= 0 && outputs.begin >= status.st_size;
}

static ssize_t write_sink(void *cookie, const char *bytes, size_t size)
{
	struct sink *sink = cookie;

	if (!output_write_all(sink->fd, bytes, size, -1))
		return (ssize_t)size;
	sink->error = sink->error ? sink->error : errno;
	return 0;
}

static FILE *open_sink(struct sink *sink)
{
	static const cookie_io_functions_t functions = {.write = write_sink};

	return fopencookie(sink, "w", functions);
}

/* Flush a stream. Return 0, or -1 with the errno of its first write that failed. */
static int flush_sink(FILE *stream, const struct sink *sink)
{
	if (!fflush(stream) && !ferror(stream))
		return 0;
	errno = sink->error ? sink->error : errno;
	return -1;
}

void output_catch_signals(void)
{
	FILE *stream = isatty(STDOUT_FILENO) ? NULL : open_sink(&outputs.standard);

	if (stream)
		stdout = stream;
	signals_catch(end_by_signal);
	set_truncation(STDOUT_FILENO);
}

void output_catch_pipe(void)
{
	signals_catch_pipe(end_by_signal);
}

void output_protect(const char *path)
{
	struct stat status;
	size_t i = 0;

	if (stat(path, &status) || (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))
		return;
	pthread_mutex_lock(&outputs.lock);
	while (i < outputs.inputs && (outputs.input[i].device != status.st_dev ||
				      outputs.input[i].inode != status.st_ino))
		i++;
	if (i == outputs.inputs) {
		*MEM_NEXT(outputs.input, outputs.inputs, outputs.capacity) =
		    (struct input){status.st_dev, status.st_ino, mem_strdup(path),
				   realpath(path, NULL)};
	}
	pthread_mutex_unlock(&outputs.lock);
}

/* Return the path of the input with this device and inode, or NULL. The inode of a
 * deleted input may have been reused, so stat the path again. */
static const char *find_input(const struct stat *status)
{
	const char *path = NULL;
	struct stat now;

	pthread_mutex_lock(&outputs.lock);
	for (size_t i = 0; i < outputs.inputs && !path; i++)
		if (outputs.input[i].device == status->st_dev &&
		    outputs.input[i].inode == status->st_ino && outputs.input[i].real &&
		    stat(outputs.input[i].real, &now) == 0 && is_same(&now, status))
			path = outputs.input[i].path;
	pthread_mutex_unlock(&outputs.lock);
	return path;
}

char *output_parent(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return mem_strdup(".");
	return slash == path ? mem_strdup("/")
			     : mem_strndup(path, (size_t)(slash - path));
}

const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *path_trim(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return mem_strndup(path, length);
}

/* Return the nearest existing directory above `path`, or NULL above the root. Takes
 * ownership of `path`. */
static char *step_up(char *path)
{
	AUTOFREE char *below = path, *parent = output_parent(path);
	char *real;

	while (!(real = realpath(parent, NULL)) && strcmp(parent, ".") != 0 &&
	       strcmp(parent, "/") != 0) {
		AUTOFREE char *missing = parent;

		parent = output_parent(missing);
	}
	if (!real || strcmp(real, below) != 0)
		return real;
	free(real);
	return NULL;
}

int output_check(const char *path, struct error *error)
{
	const char *input = NULL;
	char *real = realpath(path, NULL), *above = real ? real : mem_strdup(path);
	struct stat status;

	if (stat(path, &status) == 0 && find_input(&status))
		input = path;
	while (!input && (above = step_up(above)))
		if (stat(above, &status) == 0)
			input = find_input(&status);
	free(above);
	if (!input)
		return 0;
	return input == path
		   ? error_set(error,
			       "%s: refusing to overwrite an input; use another name",
			       path)
		   : error_set(
			 error,
			 "%s: refusing to write into the input %s; use another name",
			 path, input);
}

static char *stage_prefix(const char *name)
{
	return name ? mem_printf(".%.*s" UNFINISHED, (int)strnlen(name, NAME_MOST), name)
		    : mem_strdup(UNFINISHED);
}

void output_stage_sweep(const char *directory, const char *name)
{
	enum { RANDOM = 6 };
	AUTOFREE char *prefix = stage_prefix(name);
	DIR *stream = opendir(directory);
	size_t length = strlen(prefix);
	const struct dirent *entry;

	while (stream && (entry = readdir(stream))) {
		AUTOFREE char *path = mem_printf("%s/%s", directory, entry->d_name);
		struct stat status;
		int fd;

		if (strncmp(entry->d_name, prefix, length) != 0 ||
		    strlen(entry->d_name) != length + RANDOM)
			continue;
		fd = openat(dirfd(stream), entry->d_name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
		    flock(fd, LOCK_EX | LOCK_NB) == 0)
			remove_tree(path);
		close(fd);
	}
	if (stream)
		closedir(stream);
}

/* Lock a stage. Return false if that fails, or if another program removed the directory
 * before it was locked. */
static bool lock_stage(struct output_stage *stage)
{
	struct stat mine, there;

	stage->lock = open(stage->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (stage->lock < 0)
		return false;
	if ((flock(stage->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
	    fstat(stage->lock, &mine) == 0 && lstat(stage->path, &there) == 0 &&
	    is_same(&mine, &there))
		return true;
	close(stage->lock);
	return false;
}

static void set_owner(void)
{
	if (outputs.owner == getpid())
		return;
	/* A forked child must not remove its parent's stages. */
	if (!outputs.owner)
		atexit(end_by_exit);
	outputs.owner = getpid();
	outputs.stage = NULL;
}

struct output_stage *output_stage_new(const char *directory, const char *name)
{
	enum { TRIES = 100 };
	AUTOFREE char *prefix = stage_prefix(name);
	size_t size = strlen(directory) + strlen(prefix) + sizeof("/XXXXXX");
	struct output_stage *stage = mem_zalloc(sizeof(*stage) + size);
	sigset_t before;
	bool made = true, locked = false;
	int cause = 0;

	set_owner();
	output_stage_sweep(directory, name);
	signals_hold(&before);
	for (int i = 0; i < TRIES && made && !locked; i++) {
		snprintf(stage->path, size, "%s/%sXXXXXX", directory, prefix);
		made = mkdtemp(stage->path);
		locked = made && lock_stage(stage);
		cause = errno;
		/* Do not leave behind a directory that cannot be locked. */
		if (made && !locked)
			rmdir(stage->path);
	}
	if (locked) {
		stage->next = outputs.stage;
		outputs.stage = stage;
	} else {
		free(stage);
		stage = NULL;
	}
	signals_release(&before);
	errno = cause;
	return stage;
}

void output_stage_free(struct output_stage *stage)
{
	struct error error = ERROR_INIT;
	struct stat status;
	sigset_t before;

	if (!stage)
		return;
	signals_hold(&before);
	remove_tree(stage->path);
	if (lstat(stage->path, &status) == 0)
		error_set(&error, "%s: cannot remove this temporary directory",
			  stage->path);
	error_print(&error, program_invocation_short_name, stderr);
	close(stage->lock);
	if (outputs.stage == stage) {
		outputs.stage = stage->next;
	} else {
		struct output_stage *at = outputs.stage;

		while (at && at->next != stage)
			at = at->next;
		if (at)
			at->next = stage->next;
	}
	free(stage);
	signals_release(&before);
}

static bool is_system_path(const char *path)
{
	return strncmp(path, "/proc/", 6) == 0 ||
	       (strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0);
}

/* Return the path that a chain of symbolic links leads to, whether or not it exists. The
 * caller frees it. Return NULL with errno. */
static char *follow_links(const char *path)
{
	char *at = mem_strdup(path);

	for (int i = 0; i < LINKS_MOST; i++) {
		AUTOFREE char *below = NULL, *parent = NULL;
		char link[PATH_MAX];
		ssize_t length = readlink(at, link, sizeof(link) - 1);

		if (length < 0 || is_system_path(at))
			return at;
		link[length] = '\0';
		below = at;
		parent = output_parent(at);
		at = *link == '/' ? mem_strdup(link) : mem_printf("%s/%s", parent, link);
	}
	free(at);
	errno = ELOOP;
	return NULL;
}

static bool is_written_directly(const char *target)
{
	struct stat status;

	return is_system_path(target) ||
	       (stat(target, &status) == 0 && !S_ISREG(status.st_mode) &&
		!S_ISDIR(status.st_mode));
}

/* Open the file to write. Return 0, or -1 with errno. */
static int open_file(struct output *output, const char *path, int flag)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | flag, 0666);

	if (fd < 0)
		return -1;
	output->sink = mem_zalloc(sizeof(*output->sink));
	output->sink->fd = fd;
	output->file = open_sink(output->sink);
	return output->file ? 0 : -1;
}

/* Create a stage in `directory` and open the temporary file `name` in it. Return 0, or -1
 * with errno. */
static int open_temporary(struct output *output, const char *directory, const char *name)
{
	output->stage = output_stage_new(directory, name);
	if (!output->stage)
		return -1;
	output->temporary = mem_printf("%s/%s", output->stage->path, name);
	return open_file(output, output->temporary, O_EXCL);
}

/* Open the target directly or through a temporary file. Return 0, or -1 with errno. */
static int open_target(struct output *output)
{
	const char *name = file_name(output->target);
	AUTOFREE char *directory = output_parent(output->target);
	struct stat status;

	if (is_written_directly(output->target))
		return open_file(output, output->path, 0);
	errno = *output->path ? EISDIR : ENOENT;
	if (!*name || (stat(output->target, &status) == 0 && S_ISDIR(status.st_mode)))
		return -1;
	return open_temporary(output, directory, name);
}

int output_open(struct output *output, const char *path, struct error *error)
{
	*output = (struct output){.path = mem_strdup(path), .stream = -1};
	output->target = follow_links(path);
	if (output->target && output_check(output->target, error)) {
		output_discard(output);
		return -1;
	}
	if (output->target && open_target(output) == 0)
		return 0;
	error_errno(error, path);
	output_discard(output);
	return -1;
}

int output_open_spooled(struct output *output, int stream, struct error *error)
{
	const char *directory = getenv("TMPDIR");

	*output = (struct output){.path = mem_strdup(STREAM_NAME), .stream = stream};
	if (isatty(stream)) {
		error_set(error, STREAM_NAME " is a terminal; use a file or a pipe");
	} else {
		directory = directory && *directory == '/' ? directory : P_tmpdir;
		if (open_temporary(output, directory, "clustertrace") == 0)
			return 0;
		error_errno(error, directory);
	}
	output_discard(output);
	return -1;
}

int output_write_all(int fd, const void *from, size_t size, off_t at)
{
	const char *bytes = from;

	while (size > 0) {
		ssize_t written =
		    at < 0 ? write(fd, bytes, size) : pwrite(fd, bytes, size, at);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		bytes += written;
		size -= (size_t)written;
		at += at < 0 ? 0 : written;
	}
	return 0;
}

/* Copy the bytes from offset `from` to `to` of a file to the stream. `begin` is the
 * stream's offset of the copy, or -1 if it cannot seek. Return 0, or -1 with error. */
static int copy_range(const struct output *output, int file, off_t from, off_t to,
		      off_t begin, struct error *error)
{
	AUTOFREE char *bytes = mem_alloc(CHUNK);

	while (from < to) {
		size_t most = to - from < CHUNK ? (size_t)(to - from) : CHUNK;
		ssize_t size = pread(file, bytes, most, from);

		if (size < 0 && errno == EINTR)
			continue;
		if (size <= 0)
			return error_errno(error, output->temporary);
		if (output_write_all(output->stream, bytes, (size_t)size,
				     begin < 0 ? -1 : begin + from))
			return error_errno(error, STREAM_NAME);
		from += size;
	}
	return 0;
}

/* Copy the temporary file to the stream. A signal truncates a partial copy. The head is
 * copied last, so that SIGKILL leaves one that no program accepts. */
static int copy_to_stream(const struct output *output, struct error *error)
{
	int file = open(output->temporary, O_RDONLY | O_CLOEXEC), status;
	struct stat whole;
	off_t begin = -1, end;

	if (file < 0 || fstat(file, &whole))
		return error_errno(error, output->temporary);
	set_truncation(output->stream);
	if (outputs.truncates_by_signal && !(fcntl(output->stream, F_GETFL) & O_APPEND))
		begin = outputs.begin;
	end = begin >= 0 && whole.st_size > HEAD ? HEAD : 0;
	status = copy_range(output, file, end, whole.st_size, begin, error) ||
			 copy_range(output, file, 0, end, begin, error)
		     ? -1
		     : 0;
	if (begin >= 0 && !status)
		lseek(output->stream, begin + whole.st_size, SEEK_SET);
	if (status && outputs.truncates_by_signal)
		truncate_stream();
	outputs.truncates_by_signal = 0;
	close(file);
	return status;
}

/* Return 0, or -1 with error. */
static int put_in_place(struct output *output, struct error *error)
{
	if (output->stream >= 0)
		return copy_to_stream(output, error);
	if (!output->temporary)
		return 0;
	if (output_check(output->target, error))
		return -1;
	return rename(output->temporary, output->target)
		   ? error_errno(error, output->path)
		   : 0;
}

/* Return 0, or -1 with error. */
static int sync_output(const struct output *output, struct error *error)
{
	bool is_file = output->temporary && output->stream < 0;

	return flush_sink(output->file, output->sink) ||
		       (is_file && fsync(output->sink->fd))
		   ? error_errno(error, output->path)
		   : 0;
}

int output_commit(struct output *output, struct error *error)
{
	int failed = sync_output(output, error) || put_in_place(output, error);

	output_discard(output);
	return failed ? -1 : 0;
}

/* Put an output in place and then another; if that fails, restore the target of the first
 * one. Its old file is kept in the stage. Return 0, or -1 with error. */
static int put_both_in_place(struct output *first, struct output *second,
			     struct error *error)
{
	AUTOFREE char *kept = NULL;

	if (first->temporary) {
		kept = mem_printf("%s.replaced", first->temporary);
		/* Without hard links there is a moment without the old file. */
		if (link(first->target, kept) && errno != ENOENT &&
		    rename(first->target, kept))
			return error_errno(error, first->path);
	}
	if (put_in_place(first, error) == 0 && put_in_place(second, error) == 0)
		return 0;
	if (kept && rename(kept, first->target) && errno == ENOENT)
		unlink(first->target);
	return -1;
}

int output_commit_both(struct output *first, struct output *second, struct error *error)
{
	int failed = sync_output(first, error) || sync_output(second, error) ||
		     put_both_in_place(first, second, error);

	output_discard(first);
	output_discard(second);
	return failed ? -1 : 0;
}

void output_discard(struct output *output)
{
	if (output->file)
		fclose(output->file);
	if (output->sink)
		close(output->sink->fd);
	free(output->sink);
	output_stage_free(output->stage);
	free(output->temporary);
	free(output->target);
	free(output->path);
	*output = (struct output){.stream = -1};
}

int output_check_stdout(bool is_binary, struct error *error)
{
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return error_misuse(error,
				    STREAM_NAME " is closed; use a file or a pipe, "
						"or --output FILE");
	if (is_binary && isatty(STDOUT_FILENO))
		return error_misuse(error, STREAM_NAME " is a terminal; use a file or a "
						       "pipe, or --output FILE");
	return 0;
}

void output_atomic_stdout(void)
{
	set_owner();
	set_truncation(STDOUT_FILENO);
	outputs.truncates_by_exit = outputs.truncates_by_signal;
}

void output_truncate_stdout(void)
{
	fflush(stdout);
	if (outputs.truncates_by_exit)
		truncate_stream();
}

int output_flush_stdout(struct error *error)
{
	if (flush_sink(stdout, &outputs.standard)) {
		error_errno(error, STREAM_NAME);
		if (outputs.truncates_by_signal)
			truncate_stream();
		return -1;
	}
	outputs.truncates_by_signal = outputs.truncates_by_exit = 0;
	return 0;
}
