/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "insert_rows.h"

#include <stdio.h>
#include <string.h>

#include "random.h"

/*
 * The classes that make up most of a kernel trace with all system calls, and
 * about their shares, as counted in a recorded run (full3). Columns are
 *
 *	t  the name of a thread		d  a tid or descriptor
 *	s  a small number		z  nought
 *	c  a count of bytes		p  a pointer
 *	b  virtual run time		-  not there: another option of a variant
 */
const struct insert_class insert_class[INSERT_CLASSES] = {
    {"syscall_entry_write", 15, "dpc"},
    {"syscall_exit_write", 15, "c"},
    {"sched_stat_runtime", 12, "tdcb"},
    {"sched_switch", 10, "tdsstds"},
    {"syscall_entry_read", 9, "dc"},
    {"syscall_exit_read", 9, "cp"},
    {"block_dirty_buffer", 6, "pcc"},
    {"sched_waking", 5, "tdss"},
    {"sched_wakeup", 5, "tdss"},
    {"irq_softirq_raise", 3, "s"},
    {"irq_softirq_entry", 3, "s"},
    {"irq_softirq_exit", 3, "s"},
    {"timer_start", 3, "ppccs"},
    {"net_dev_queue", 2, "pctsssszsccsspszspppszcs-------------"},
};

static const char *const comm[] = {"swapper/0", "swapper/1", "kworker/0:1-events",
				   "sshd",      "python3",   "nginx",
				   "postgres",  "rcu_sched"};

void insert_rows_init(struct insert_rows *rows)
{
	memset(rows, 0, sizeof(*rows));
	rows->state = RANDOM_SEED;
	rows->now_ns = 1795228732943977331;
	for (int class = 0; class < INSERT_CLASSES; class ++)
		for (int i = 0; i < insert_class[class].share; i++)
			rows->pick[rows->picks++] = (unsigned char)class;
}

static struct cell make_cell(char kind, uint64_t number)
{
	struct cell cell = {.type = CELL_INTEGER};

	switch (kind) {
	case 't':
		cell.type = CELL_TEXT;
		cell.bytes = comm[number % 8];
		cell.size = (uint32_t)strlen(cell.bytes);
		break;
	case 'd':
		cell.integer = (int64_t)(number % 5000);
		break;
	case 's':
		cell.integer = (int64_t)(number % 120);
		break;
	case 'c':
		cell.integer = (int64_t)(number % 65536);
		break;
	case 'p':
		cell.integer = (int64_t)(0xffff888000000000u + number % 0x100000000u);
		break;
	case 'b':
		cell.integer = (int64_t)(number % 1000000000000u);
		break;
	case 'z':
		break;
	default:
		cell.type = CELL_NULL;
	}
	return cell;
}

void insert_rows_next(struct insert_rows *rows, struct timeline_event *event)
{
	uint64_t dice = random_next(&rows->state);
	const char *column;

	rows->now_ns += (nsec_t)(dice % 10000);
	event->ts_ns = rows->now_ns;
	event->class = rows->pick[(dice >> 16) % (unsigned)rows->picks];
	event->node = 1 + (int64_t)((dice >> 32) % INSERT_NODES);
	event->source = event->node;
	event->cpu = (int32_t)(dice >> 40 & 3);
	event->tid = (int64_t)((dice >> 44) % 5000);
	event->cell = rows->cell;
	column = insert_class[event->class].columns;
	for (int i = 0; column[i]; i++)
		rows->cell[i] = make_cell(column[i], dice >> i | dice << (63 - i));
}

size_t insert_columns(const struct insert_class *class,
		      struct timeline_column column[INSERT_COLUMNS],
		      char name[INSERT_COLUMNS][24])
{
	size_t count = strlen(class->columns);

	for (size_t i = 0; i < count; i++) {
		snprintf(name[i], 24, "c%zu", i);
		column[i] = (struct timeline_column){
		    .name = name[i],
		    .type = class->columns[i] == 't' ? CELL_TEXT : CELL_INTEGER};
	}
	return count;
}
