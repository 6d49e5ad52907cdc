# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -f rows.awk rows.h.in schema.sql: prints rows.h, with a struct and a function for each
# table of the schema, so that its columns are written down once. Columns that SQLite
# computes have no member. Events are added by timeline_add_event(), and rows of spans by
# timeline_add_made_row(): their texts are numbers.
FILENAME ~ /[.]in$/ { text = text $0 "\n"; next }
/^CREATE TABLE / {
	name = $3
	is_span = name ~ /^(thread_state|syscall|irq|block_request)$/
	type["INTEGER"] = "int64_t "
	type["REAL"] = "double "
	type["TEXT"] = is_span ? "int64_t " : "const char *"
	ids = ids "\tTIMELINE_" toupper(name) ",\n"
	members = ""
}
/^\t[a-z_]+ (INTEGER|REAL|TEXT)/ && !/ AS \(/ {
	sub(/,$/, "", $2)
	members = members "\t" ($1 ~ /_ns$/ ? "nsec_t " : type[$2]) $1 ";\n"
}
/^\)/ && name !~ /^(meta|event)$/ {
	structs = structs "\nstruct timeline_" name " {\n" members "};\n"
	if (!is_span)
		structs = structs sprintf("\nstatic inline int timeline_add_%s(struct timeline_writer *writer,\n" \
			"\t\tconst struct timeline_%s *row, struct error *error)\n{\n" \
			"\treturn timeline_add_row(writer, TIMELINE_%s, row, error);\n}\n", name, name, toupper(name))
}
END {
	sub(/@CT_ROW_TABLES@/, ids, text)
	sub(/@CT_ROW_STRUCTS@\n/, structs, text)
	printf "%s", text
}
