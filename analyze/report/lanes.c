/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/report/lanes.h"

#include <ctype.h>
#include <stdlib.h>

#include "analyze/report/chart.h"
#include "base/mem.h"

void lanes_init(struct lanes *lanes, const struct report *report, uint64_t spans)
{
	const struct scope *scope = &report->question->scope;
	nsec_t processors = 0, cells;

	*lanes = (struct lanes){.report = report};
	for (size_t i = 0; i < scope->nodes; i++)
		if (scope->node[i].chosen)
			processors += scope->node[i].cpus > 0 ? scope->node[i].cpus : 1;
	cells = LANES_CELLS / (processors > 0 ? processors : 1);
	cells = cells < 100 ? 100 : cells > 6000 ? 6000 : cells;
	if (spans > LANES_EXACT)
		lanes->cell_ns = nsec_sub(report->end_ns, report->begin_ns) / cells + 1;
}

/* Kernel threads of one kind are one name: kworker/0:1, ksoftirqd/0. */
static size_t name_size(const char *name)
{
	const char *slash = strchr(name, '/');

	return slash && slash > name && (isdigit(slash[1]) || slash[1] == 'u')
		   ? (size_t)(slash - name)
		   : strlen(name);
}

static uint32_t find_name(struct lanes *lanes, const char *name)
{
	size_t before = lanes->names.count, found;

	keys_begin(&lanes->names);
	keys_text(&lanes->names, name, name_size(name));
	found = keys_find(&lanes->names);
	if (found == before) {
		lanes->name_ns = mem_grow(lanes->name_ns, found, &lanes->name_room,
					  sizeof(*lanes->name_ns));
		lanes->name_ns[found] = 0;
	}
	return (uint32_t)found;
}

size_t lanes_find(struct lanes *lanes, int64_t node, int64_t cpu)
{
	for (size_t i = 0; i < lanes->lanes; i++)
		if (lanes->lane[i].node == node && lanes->lane[i].cpu == cpu)
			return i;
	lanes->lane =
	    mem_grow(lanes->lane, lanes->lanes, &lanes->lane_room, sizeof(*lanes->lane));
	lanes->lane[lanes->lanes] = (struct lane){.node = node, .cpu = cpu, .cell = -1};
	return lanes->lanes++;
}

bool lanes_has_node(const struct lanes *lanes, int64_t node)
{
	for (size_t i = 0; i < lanes->lanes; i++)
		if (lanes->lane[i].node == node)
			return true;
	return false;
}

static void push(struct lanes *lanes, const struct lane_segment *segment)
{
	struct lane *lane = &lanes->lane[segment->lane];
	struct lane_segment *last = lane->last ? &lanes->segment[lane->last - 1] : NULL;

	if (last && last->name == segment->name && last->eighths == segment->eighths &&
	    last->end == segment->begin) {
		last->end = segment->end;
		return;
	}
	lanes->segment = mem_grow(lanes->segment, lanes->segments, &lanes->segment_room,
				  sizeof(*lanes->segment));
	lanes->segment[lanes->segments++] = *segment;
	lane->last = lanes->segments;
}

static uint32_t units(const struct lanes *lanes, nsec_t at_ns)
{
	return (uint32_t)(chart_x(lanes->report, at_ns) + 0.5);
}

/* The cell is over: who ran longest in it? */
static void end_cell(struct lanes *lanes, size_t index)
{
	struct lane *lane = &lanes->lane[index];
	size_t most = 0;
	nsec_t busy = 0, begin;

	if (lane->cell < 0 || !lane->shares)
		return;
	for (size_t i = 0; i < lane->shares; i++) {
		busy += lane->share[i].ns;
		if (lane->share[i].ns > lane->share[most].ns)
			most = i;
	}
	begin = lanes->report->begin_ns + lane->cell * lanes->cell_ns;
	push(lanes, &(struct lane_segment){
			.lane = (uint32_t)index,
			.name = lane->share[most].name,
			.begin = units(lanes, begin),
			.end = units(lanes, begin + lanes->cell_ns),
			.eighths = (uint32_t)((busy * 8 + lanes->cell_ns - 1) /
					      lanes->cell_ns)});
	lane->shares = 0;
}

static void add_share(struct lane *lane, uint32_t name, nsec_t ns)
{
	size_t i;

	for (i = 0; i < lane->shares; i++)
		if (lane->share[i].name == name)
			break;
	if (i == lane->shares && i < LANE_CELL_NAMES)
		lane->share[lane->shares++] = (struct lane_share){.name = name};
	/* Of more names the last stands for them: their time is not lost. */
	lane->share[i < LANE_CELL_NAMES ? i : LANE_CELL_NAMES - 1].ns += ns;
}

void lanes_add(struct lanes *lanes, int64_t node, int64_t cpu, const char *name,
	       nsec_t begin_ns, nsec_t end_ns)
{
	size_t index = lanes_find(lanes, node, cpu);
	struct lane *lane = &lanes->lane[index];
	uint32_t who = find_name(lanes, name);

	lanes->name_ns[who] = nsec_add(lanes->name_ns[who], nsec_sub(end_ns, begin_ns));
	if (!lanes->cell_ns) {
		push(lanes, &(struct lane_segment){.lane = (uint32_t)index,
						   .name = who,
						   .begin = units(lanes, begin_ns),
						   .end = units(lanes, end_ns),
						   .eighths = 8});
		return;
	}
	while (begin_ns < end_ns) {
		nsec_t cell =
		    nsec_sub(begin_ns, lanes->report->begin_ns) / lanes->cell_ns;
		nsec_t to = lanes->report->begin_ns + (cell + 1) * lanes->cell_ns;

		to = to < end_ns ? to : end_ns;
		if (cell > lane->cell) {
			end_cell(lanes, index);
			lane->cell = cell;
		}
		add_share(lane, who, to - begin_ns);
		begin_ns = to;
	}
}

void lanes_finish(struct lanes *lanes)
{
	for (size_t i = 0; i < lanes->lanes; i++)
		end_cell(lanes, i);
}

void lanes_clear(struct lanes *lanes)
{
	keys_clear(&lanes->names);
	free(lanes->name_ns);
	free(lanes->lane);
	free(lanes->segment);
}
