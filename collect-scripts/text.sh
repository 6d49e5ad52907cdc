# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# Text that may hold anything, for JSON and for people. Control characters (C0, DEL
# and C1) become \u001b and the like, and bytes that are no UTF-8 U+FFFD, so that
# what comes out is always JSON and moves no cursor. What is plain, as most is,
# costs no process.

# json_strings WORD...: prints "a", "b", ...
json_strings()
{
	for json_word; do
		case $json_word in
		*[![:print:]]* | *[\"\\]*)
			escape_strings "$@"
			return
			;;
		esac
	done
	json_comma=
	for json_word; do
		printf '%s"%s"' "$json_comma" "$json_word"
		json_comma=', '
	done
}

escape_strings()
{
	LC_ALL=C awk -- "$escape_functions"'
	BEGIN {
		for (i = 1; i < ARGC; i++)
			printf "%s\"%s\"", (i > 1 ? ", " : ""), escaped(ARGV[i], "\"\\")
		exit
	}' "$@"
}

# Lines for people, of standard input.
plain_lines()
{
	tr -d '\000' | LC_ALL=C awk -- "$escape_functions"'{ print escaped($0, "") }'
}

# plain_text TEXT: the same, of one text.
plain_text()
{
	case $1 in
	*[![:print:]]*) printf '%s\n' "$1" | plain_lines ;;
	*) printf '%s\n' "$1" ;;
	esac
}

# For awk: escaped(TEXT, MARKS), with a backslash before each of the marks.
# shellcheck disable=SC2016 # it is awk that expands
escape_functions='
function tail_ok(text, at, count,    i) {
	for (i = 1; i <= count; i++)
		if (byte[substr(text, at + i, 1)] < 128 || byte[substr(text, at + i, 1)] > 191)
			return 0
	return 1
}
# How many bytes a character from here has, 0 if it is none.
function width(text, at,    first, second) {
	first = byte[substr(text, at, 1)]
	second = byte[substr(text, at + 1, 1)]
	if (first >= 194 && first <= 223)
		return tail_ok(text, at, 1) ? 2 : 0
	if (first >= 224 && first <= 239) {
		if (first == 224 && second < 160 || first == 237 && second > 159)
			return 0
		return tail_ok(text, at, 2) ? 3 : 0
	}
	if (first >= 240 && first <= 244) {
		if (first == 240 && second < 144 || first == 244 && second > 143)
			return 0
		return tail_ok(text, at, 3) ? 4 : 0
	}
	return 0
}
function escaped(text, marks,    out, i, c, n) {
	if (text !~ /[^ -~]|["\\]/)
		return text
	out = ""
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (index(marks, c))
			out = out "\\" c
		else if (byte[c] < 32 || byte[c] == 127)
			out = out sprintf("\\u%04x", byte[c])
		else if (byte[c] < 127)
			out = out c
		else if ((n = width(text, i)) == 2 && byte[c] == 194 && byte[substr(text, i + 1, 1)] < 160)
			out = out sprintf("\\u%04x", byte[substr(text, ++i, 1)])
		else if (n) {
			out = out substr(text, i, n)
			i += n - 1
		} else
			out = out "\357\277\275"
	}
	return out
}
BEGIN {
	for (i = 1; i < 256; i++)
		byte[sprintf("%c", i)] = i
}
'
