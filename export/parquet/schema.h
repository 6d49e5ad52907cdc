/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_SCHEMA_H
#define CT_EXPORT_PARQUET_SCHEMA_H

#include "export/parquet/parquet.h"
#include "export/parquet/thrift.h"

/* Are these columns that a file can have? 0, or -1 with error. */
int parquet_schema_check(const struct parquet_column *column, size_t columns,
			 struct error *error);

/* The list of SchemaElement, as field `id`. */
void parquet_schema_add(struct thrift *thrift, int id,
			const struct parquet_column *column, size_t columns);

/* path_in_schema, as field `id`. */
void parquet_schema_add_path(struct thrift *thrift, int id,
			     const struct parquet_column *column);

#endif
