/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cold.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch.h"
#include "race.h"

#define ONE_BY_ONE "for file; do dd if=\"$file\" of=/dev/null bs=1M; done 2>/dev/null"
#define TWO_AT_ONCE                                                                      \
	"printf '%s\\0' \"$@\" | xargs -0 -n 1 -P 2 sh -c "                              \
	"'dd if=\"$0\" of=/dev/null bs=1M 2>/dev/null'"

enum { MOST_OPEN = 16 };

static struct {
	struct text_list path;
	uint64_t bytes;
} found; /* nftw hands nothing on */

static int take_file(const char *path, const struct stat *status, int kind,
		     struct FTW *where)
{
	(void)where;
	if (kind == FTW_F) {
		text_list_add(&found.path, path);
		found.bytes += (uint64_t)status->st_size;
	}
	return 0;
}

static int find_files(const struct source_list *sources, struct error *error)
{
	for (size_t i = 0; i < sources->count; i++)
		if (sources->item[i].kind == SOURCE_TRACE &&
		    nftw(sources->item[i].path, take_file, MOST_OPEN, 0))
			return error_errno(error, sources->item[i].path);
	return found.path.count ? 0 : error_set(error, "no trace");
}

/* What is not written yet stays; nobody writes these files. */
static void drop_files(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < found.path.count; i++) {
		int fd = open(found.path.item[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		close(fd);
	}
}

static void enter_dd(struct race *race, const char *what, const char *script)
{
	struct text_list *words = &race_enter(race, what, found.bytes)->words;

	launch_words(words, "sh", "-c", script, "sh", NULL);
	for (size_t i = 0; i < found.path.count; i++)
		launch_words(words, found.path.item[i], NULL);
}

static void enter_ctsync(struct race *race, const char *what, const char *jobs,
			 const struct source_list *sources)
{
	struct text_list *words = &race_enter(race, what, found.bytes)->words;

	launch_words(words, "ctsync", "-q", jobs, NULL);
	for (size_t i = 0; i < sources->count; i++)
		if (sources->item[i].kind == SOURCE_TRACE)
			launch_words(words, "-t", sources->item[i].path, NULL);
}

int cold_measure(const struct source_list *sources, int repeats, struct error *error)
{
	struct race race;
	int status = find_files(sources, error);

	race_init(&race, repeats);
	race.before = drop_files;
	enter_dd(&race, "dd, one by one", ONE_BY_ONE);
	enter_dd(&race, "dd, two at once", TWO_AT_ONCE);
	enter_ctsync(&race, "ctsync -j1", "-j1", sources);
	enter_ctsync(&race, "ctsync -j2", "-j2", sources);
	if (!status)
		status = race_run(&race, error);
	if (!status) {
		printf("\n%zu files dropped from the page cache before each run, best of "
		       "%d\n\n",
		       found.path.count, repeats);
		race_print(&race, "BYTES/S");
	}
	race_clear(&race);
	text_list_clear(&found.path);
	found.bytes = 0;
	return status;
}
