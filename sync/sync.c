/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/sync.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void sync_init(struct sync *sync, const struct sync_options *options)
{
	memset(sync, 0, sizeof(*sync));
	sync->options = *options;
	message_log_init(&sync->log);
}

const char *sync_clock_name(const struct sync *sync, uint32_t clock)
{
	return sync->trace[sync->clock_trace[clock]].name;
}

bool sync_is_tied(const struct sync *sync)
{
	if (sync->graph.islands != 1)
		return false;
	for (size_t i = 0; i < sync->clocks; i++)
		if (sync->fitted[i].quality == CLOCK_INCOMPLETE)
			return false;
	return !sync_has_contradictions(sync);
}

bool sync_has_contradictions(const struct sync *sync)
{
	for (size_t i = 0; i < sync->pairs.count; i++)
		if (sync->pairs.pair[i].contradictory)
			return true;
	return false;
}

void sync_clear(struct sync *sync)
{
	for (size_t i = 0; i < sync->traces; i++) {
		free(sync->trace[i].name);
		free(sync->trace[i].path);
	}
	for (size_t i = 0; sync->fitted && i < sync->clocks; i++)
		clock_clear(&sync->fitted[i]);
	free(sync->fitted);
	free(sync->bent);
	free(sync->step.item);
	for (size_t i = 0; sync->unfit && i < sync->graph.islands; i++)
		free(sync->unfit[i]);
	free(sync->unfit);
	free(sync->trace);
	free(sync->clock_trace);
	free(sync->clock);
	free(sync->region);
	tie_list_clear(&sync->ties);
	graph_clear(&sync->graph);
	pair_table_clear(&sync->pairs);
	message_log_clear(&sync->log);
	problem_clear(&sync->problems);
	memset(sync, 0, sizeof(*sync));
}
