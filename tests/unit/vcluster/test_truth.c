/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vctruth as a whole, with agents that are processes instead of in machines. */
#include <poll.h>
#include <sys/un.h>
#include <time.h>

#include "agent.h"

enum { AGENTS = 2, ENOUGH = 500, PATIENCE = 6000 /* of 10 ms */ };

static const struct timespec turn = {.tv_nsec = 10000000};

struct cluster {
	char *memory; /* mapped, a page an agent */
	int listener[AGENTS];
	pid_t agent[AGENTS];
	pid_t truth;
};

static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, path, strlen(path) + 1);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	return listener;
}

static void cluster_make(struct cluster *cluster)
{
	int file = open("shared", O_RDWR | O_CREAT | O_EXCL, 0600);

	assert_int_equal(ftruncate(file, AGENTS * CLOCK_PAGE_BYTES), 0);
	cluster->memory = mmap(NULL, AGENTS * CLOCK_PAGE_BYTES, PROT_READ | PROT_WRITE,
			       MAP_SHARED, file, 0);
	assert_true(cluster->memory != MAP_FAILED);
	close(file);
	cluster->listener[0] = listen_at("a.clock");
	cluster->listener[1] = listen_at("b.clock");
}

static void start_truth(struct cluster *cluster)
{
	char *program = mem_printf("%s/bin/vctruth", getenv("CT_BUILD"));

	cluster->truth = fork();
	assert_true(cluster->truth >= 0);
	if (cluster->truth == 0) {
		/* A wide limit: the processors may be busy, and the bound holds as well.
		 */
		execl(program, program, "-m", "shared", "-o", "truth.csv", "-p", "20",
		      "--within", "1000000000", "a=a.clock", "b=b.clock", NULL);
		_exit(127);
	}
	free(program);
	for (int i = 0; i < AGENTS; i++) {
		struct pollfd caller = {.fd = cluster->listener[i], .events = POLLIN};
		int port;

		assert_int_equal(poll(&caller, 1, 60000), 1);
		port = accept(cluster->listener[i], NULL, NULL);
		assert_true(port >= 0);
		cluster->agent[i] =
		    agent_start(port, -1,
				(struct clock_page *)(void *)(cluster->memory +
							      i * CLOCK_PAGE_BYTES));
		close(port);
	}
}

static void cluster_clear(struct cluster *cluster)
{
	munmap(cluster->memory, AGENTS * CLOCK_PAGE_BYTES);
	close(cluster->listener[0]);
	close(cluster->listener[1]);
}

/* Wait until vctruth asked this one so often that there must be rows. */
static void wait_for_rounds(const struct cluster *cluster, int agent)
{
	const struct clock_page *page =
	    (const void *)(cluster->memory + agent * CLOCK_PAGE_BYTES);
	uint64_t first = 0;

	for (int i = 0; i < PATIENCE; i++) {
		uint64_t answer = atomic_load(&page->answer);

		if (!first)
			first = answer;
		if (first && answer > first + ENOUGH)
			return;
		nanosleep(&turn, NULL);
	}
	fail_msg("agent %d is not asked", agent);
}

/* The agents' clock is ours: each row's middle lies within half a round of it. */
static void check_rows(int *rows)
{
	FILE *file = fopen("truth.csv", "r");
	char line[200], name;
	long long host, mono, real;
	int hosts = 0;

	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_string_equal(line, "node,host_ns,mono_ns,real_ns\n");
	rows[0] = rows[1] = 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "host,%lld,%lld,%lld\n", &host, &mono, &real) == 3) {
			assert_int_equal(host, mono);
			assert_true(real > host);
			hosts++;
			continue;
		}
		assert_int_equal(
		    sscanf(line, "%c,%lld,%lld,%lld", &name, &host, &mono, &real), 4);
		assert_true(name == 'a' || name == 'b');
		assert_true(llabs(host - mono) <= 500000000);
		rows[name - 'a']++;
	}
	assert_true(hosts >= 2);
	fclose(file);
}

SCRATCH_TEST(rows_tell_the_clocks)
{
	struct cluster cluster;
	int rows[AGENTS];

	cluster_make(&cluster);
	start_truth(&cluster);
	wait_for_rounds(&cluster, 0);
	wait_for_rounds(&cluster, 1);
	assert_int_equal(access("truth.csv", F_OK), -1);
	kill(cluster.truth, SIGTERM);
	assert_int_equal(agent_status(cluster.truth), 0);
	assert_int_equal(agent_status(cluster.agent[0]), 0);
	assert_int_equal(agent_status(cluster.agent[1]), 0);
	check_rows(rows);
	assert_true(rows[0] >= 2 && rows[1] >= 2);
	cluster_clear(&cluster);
}

SCRATCH_TEST(a_machine_that_ends_is_told)
{
	struct cluster cluster;
	int rows[AGENTS], status;

	cluster_make(&cluster);
	start_truth(&cluster);
	wait_for_rounds(&cluster, 0);
	wait_for_rounds(&cluster, 1);
	kill(cluster.agent[1], SIGKILL);
	agent_status(cluster.agent[1]);
	wait_for_rounds(&cluster, 0);
	kill(cluster.truth, SIGTERM);
	status = agent_status(cluster.truth);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	agent_status(cluster.agent[0]);
	/* The recorded rows are kept. */
	check_rows(rows);
	assert_true(rows[0] >= 2 && rows[1] >= 2);
	cluster_clear(&cluster);
}
