# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# JSON from the shell: json_strings WORD... prints "a","b",... Bytes that are no
# UTF-8 become U+FFFD, so that what comes out is always JSON. Plain words, as most
# are, cost no process.

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
	LC_ALL=C awk -- '
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
	function quoted(text,    out, i, c, n) {
		out = ""
		for (i = 1; i <= length(text); i++) {
			c = substr(text, i, 1)
			if (c == "\"" || c == "\\")
				out = out "\\" c
			else if (byte[c] < 32 || byte[c] == 127)
				out = out sprintf("\\u%04x", byte[c])
			else if (byte[c] < 127)
				out = out c
			else if (n = width(text, i)) {
				out = out substr(text, i, n)
				i += n - 1
			} else
				out = out "\357\277\275"
		}
		return "\"" out "\""
	}
	BEGIN {
		for (i = 1; i < 256; i++)
			byte[sprintf("%c", i)] = i
		for (i = 1; i < ARGC; i++)
			printf "%s%s", (i > 1 ? ", " : ""), quoted(ARGV[i])
		exit
	}' "$@"
}
