/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench-threads COMMAND...: what the threads of a command do, looked at each millisecond
 * in /proc until it ends: how long they had a processor, were ready but had none, and in
 * how many looks they waited for another thread (a futex) or for a disk. What each did
 * since the last thread was made stands in brackets.
 */
#include <dirent.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/table.h"

extern char **environ;

enum { MOST_THREADS = 256, LOOK_NS = 1000000 };

struct spent {
	double cpu_s, ready_s;
	unsigned long looks, threads, disk; /* all, those that it waited in */
};

struct thread {
	char id[16];
	double born_s, seen_s;
	struct spent all, before; /* before the last thread was made */
};

struct watch {
	char path[64]; /* of the threads */
	double begin_s;
	struct thread thread[MOST_THREADS];
	size_t count;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A file of a thread as text, "" where it is gone. */
static void read_text(const struct watch *watch, const char *id, const char *name,
		      char text[256])
{
	char path[160];
	FILE *file;
	size_t size = 0;

	snprintf(path, sizeof(path), "%s/%s/%s", watch->path, id, name);
	file = fopen(path, "r");
	if (file) {
		size = fread(text, 1, 255, file);
		fclose(file);
	}
	text[size] = '\0';
}

static struct thread *find(struct watch *watch, const char *id)
{
	struct thread *thread;

	for (size_t i = 0; i < watch->count; i++)
		if (strcmp(watch->thread[i].id, id) == 0)
			return &watch->thread[i];
	if (watch->count == MOST_THREADS)
		return NULL;
	for (size_t i = 0; i < watch->count; i++)
		watch->thread[i].before = watch->thread[i].all;
	thread = &watch->thread[watch->count++];
	memset(thread, 0, sizeof(*thread));
	snprintf(thread->id, sizeof(thread->id), "%.15s", id);
	thread->born_s = now() - watch->begin_s;
	return thread;
}

static void look_at(struct watch *watch, const char *id)
{
	unsigned long long cpu_ns = 0, ready_ns = 0;
	struct thread *thread;
	char text[256], where[256];
	const char *state;

	read_text(watch, id, "schedstat", text);
	if (sscanf(text, "%llu %llu", &cpu_ns, &ready_ns) != 2)
		return;
	read_text(watch, id, "stat", text);
	read_text(watch, id, "wchan", where);
	state = strrchr(text, ')');
	thread = state ? find(watch, id) : NULL;
	if (!thread)
		return;
	thread->seen_s = now() - watch->begin_s;
	thread->all.cpu_s = (double)cpu_ns * 1e-9;
	thread->all.ready_s = (double)ready_ns * 1e-9;
	thread->all.looks++;
	thread->all.disk += state[2] == 'D';
	thread->all.threads += state[2] == 'S' && strstr(where, "futex");
}

static void look(struct watch *watch)
{
	DIR *threads = opendir(watch->path);
	struct dirent *entry;

	while (threads && (entry = readdir(threads)))
		if (entry->d_name[0] != '.')
			look_at(watch, entry->d_name);
	if (threads)
		closedir(threads);
}

static char *seconds(double all, double before)
{
	return mem_printf("%.2f (%.2f)", all, all - before);
}

static char *share(unsigned long part, unsigned long before, unsigned long looks,
		   unsigned long looks_before)
{
	unsigned long rest = looks - looks_before;

	return mem_printf("%.1f%% (%.1f%%)", 100.0 * (double)part / (double)looks,
			  rest ? 100.0 * (double)(part - before) / (double)rest : 0.0);
}

static void print(const struct watch *watch)
{
	static const struct table_column columns[] = {
	    {.title = "THREAD"},
	    {.title = "BORN/S", .right = true},
	    {.title = "LIVED", .right = true},
	    {.title = "ON CPU", .right = true},
	    {.title = "READY", .right = true},
	    {.title = "FOR THREADS", .right = true},
	    {.title = "FOR DISK", .right = true}};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; i < watch->count; i++) {
		const struct thread *thread = &watch->thread[i];
		const struct spent *all = &thread->all, *before = &thread->before;
		char *cell[] = {
		    i ? mem_printf("%zu", i) : mem_strdup("main"),
		    mem_printf("%.2f", thread->born_s),
		    mem_printf("%.2f", thread->seen_s - thread->born_s),
		    seconds(all->cpu_s, before->cpu_s),
		    seconds(all->ready_s, before->ready_s),
		    share(all->threads, before->threads, all->looks, before->looks),
		    share(all->disk, before->disk, all->looks, before->looks),
		};

		table_add(table, (const char *const *)cell);
		for (size_t k = 0; k < sizeof(cell) / sizeof(cell[0]); k++)
			free(cell[k]);
	}
	table_print(table, stdout);
	table_free(table);
}

int main(int argc, char **argv)
{
	static struct watch watch;
	const struct timespec pause = {.tv_nsec = LOOK_NS};
	pid_t child, ended = 0;
	int status = 0;

	if (argc < 2) {
		fputs("threads: no command\n", stderr);
		return 2;
	}
	if (posix_spawnp(&child, argv[1], NULL, NULL, argv + 1, environ)) {
		fprintf(stderr, "threads: %s: cannot be run\n", argv[1]);
		return 1;
	}
	snprintf(watch.path, sizeof(watch.path), "/proc/%ld/task", (long)child);
	watch.begin_s = now();
	while (!ended) {
		look(&watch);
		nanosleep(&pause, NULL);
		ended = waitpid(child, &status, WNOHANG);
	}
	print(&watch);
	return ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
