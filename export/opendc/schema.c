/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/schema.h"

/* As the readers of OpenDC ask for them; docs/opendc.md says which release reads which.
 */
static void add(struct opendc_table *table, enum opendc_field field, const char *name,
		enum parquet_type type, bool wanted)
{
	table->column[table->columns++] = (struct opendc_column){
	    .field = field,
	    .parquet = {.name = name, .type = type, .optional = !wanted},
	    .wanted = wanted};
}

static void add_logical(struct opendc_table *table, enum opendc_field field,
			const char *name, enum parquet_logical logical, bool wanted)
{
	enum parquet_type type =
	    logical == PARQUET_STRING ? PARQUET_BYTE_ARRAY : PARQUET_INT64;

	add(table, field, name, type, wanted);
	table->column[table->columns - 1].parquet.logical = logical;
}

static void add_list(struct opendc_table *table, enum opendc_field field,
		     const char *name, bool text)
{
	struct parquet_column *column;

	if (text)
		add_logical(table, field, name, PARQUET_STRING, false);
	else
		add(table, field, name, PARQUET_INT32, false);
	column = &table->column[table->columns - 1].parquet;
	column->list = column->optional_elements = true;
}

static void add_id(struct opendc_table *table, int schema)
{
	if (schema <= 3)
		add_logical(table, OPENDC_ID, "id", PARQUET_STRING, true);
	else
		add(table, OPENDC_ID, "id", PARQUET_INT32, true);
}

static void add_times(struct opendc_table *table, int schema)
{
	add_logical(table, OPENDC_SUBMISSION,
		    schema == 1 ? "start_time" : "submission_time",
		    PARQUET_TIMESTAMP_MILLIS, true);
	if (schema == 1)
		add_logical(table, OPENDC_STOP, "stop_time", PARQUET_TIMESTAMP_MILLIS,
			    true);
	else
		add(table, OPENDC_DURATION, "duration", PARQUET_INT64, true);
	/* It came with version 3; readers of version 2 pass over it. */
	table->column[table->columns - 1].wanted = schema != 2;
	table->column[table->columns - 1].parquet.optional = false;
}

static void add_relations(struct opendc_table *table, int schema)
{
	add(table, OPENDC_GPU_COUNT, "gpu_count", PARQUET_INT32, false);
	add(table, OPENDC_GPU_CAPACITY, "gpu_capacity", PARQUET_DOUBLE, false);
	add_list(table, OPENDC_PARENTS, "parents", schema == 3);
	add_list(table, OPENDC_CHILDREN, "children", schema == 3);
	if (schema <= 4)
		add_logical(table, OPENDC_NATURE, "nature", PARQUET_STRING, false);
	else
		add(table, OPENDC_DEFERRABLE, "deferrable", PARQUET_BOOLEAN, false);
	add(table, OPENDC_DEADLINE, "deadline", PARQUET_INT64, false);
}

struct opendc_table opendc_tasks_table(int schema)
{
	struct opendc_table table = {.file = schema == 1 ? "trace/meta" : "tasks"};

	add_id(&table, schema);
	if (schema >= 4)
		add_logical(&table, OPENDC_NAME, "name", PARQUET_STRING, false);
	add_times(&table, schema);
	add(&table, OPENDC_CPU_COUNT, "cpu_count", PARQUET_INT32, true);
	add(&table, OPENDC_CPU_CAPACITY, "cpu_capacity", PARQUET_DOUBLE, true);
	add(&table, OPENDC_MEM_CAPACITY, "mem_capacity", PARQUET_INT64, true);
	if (schema >= 3)
		add_relations(&table, schema);
	add_logical(&table, OPENDC_NODE, "node", PARQUET_STRING, false);
	return table;
}

struct opendc_table opendc_fragments_table(int schema)
{
	struct opendc_table table = {.file = schema == 1 ? "trace/trace" : "fragments"};

	add_id(&table, schema);
	if (schema == 1)
		add_logical(&table, OPENDC_TIMESTAMP, "timestamp",
			    PARQUET_TIMESTAMP_MILLIS, true);
	add(&table, OPENDC_DURATION, "duration", PARQUET_INT64, true);
	if (schema <= 3)
		add(&table, OPENDC_CPU_COUNT, "cpu_count", PARQUET_INT32, true);
	add(&table, OPENDC_CPU_USAGE, "cpu_usage", PARQUET_DOUBLE, true);
	if (schema >= 3)
		add(&table, OPENDC_GPU_USAGE, "gpu_usage", PARQUET_DOUBLE, false);
	return table;
}
