/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/authorizer.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/value_check.h"

static bool is_one_of(const char *word, const char *const *words)
{
	for (; word && *words; words++)
		if (sqlite3_stricmp(word, *words) == 0)
			return true;
	return false;
}

static int authorize_statement(void *context, int action, const char *first,
			       const char *second, const char *schema,
			       const char *trigger)
{
	static const char *const pragmas[] = {"table_info",       "table_xinfo",
					      "foreign_key_list", "foreign_key_check",
					      "integrity_check",  "application_id",
					      "user_version",     "page_size",
					      "encoding",         NULL};
	static const char *const own_pragmas[] = {"query_only", NULL};
	static const char *const functions[] = {"load_extension", "fts3_tokenizer", NULL};
	const struct authorizer *authorizer = context;
	bool may_keep = authorizer->keeps;

	(void)trigger;
	switch (action) {
	case SQLITE_READ:
		if (authorizer->checks && !authorizer->skips_checks && schema &&
		    strcmp(schema, "main") == 0)
			value_checks_note(authorizer->checks, first, second);
		return SQLITE_OK;
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return is_one_of(second, functions) ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_PRAGMA:
		return is_one_of(first, pragmas) ||
			       (may_keep && is_one_of(first, own_pragmas))
			   ? SQLITE_OK
			   : SQLITE_DENY;
	case SQLITE_CREATE_TEMP_TABLE:
	case SQLITE_CREATE_TEMP_INDEX:
	case SQLITE_DROP_TEMP_TABLE:
	case SQLITE_TRANSACTION:
		return may_keep ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_INSERT:
	case SQLITE_UPDATE:
	case SQLITE_DELETE:
	case SQLITE_REINDEX:
		return may_keep && schema && strcmp(schema, "temp") == 0 ? SQLITE_OK
									 : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

int authorize_reading(sqlite3 *db, struct authorizer *authorizer)
{
	/* Naming one of these tables for the first time declares it, which the authorizer
	 * would refuse. */
	static const char *const table[] = {"pragma_table_info", "pragma_table_xinfo",
					    "pragma_foreign_key_list", "json_each",
					    "json_tree"};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		AUTOFREE char *sql =
		    mem_printf("SELECT 1 FROM %s('[]') LIMIT 0", table[i]);

		sqlite3_exec(db, sql, NULL, NULL, NULL);
	}
	return sqlite3_set_authorizer(db, authorize_statement, authorizer);
}
