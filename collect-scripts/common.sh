# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2016,SC2034,SC2119,SC2120,SC2154,SC3028
#
# Functions that the collector, its tools and the nodes share.

# Lines of words, as ctrecipe prints them: what a plan is made of. A word that is
# more than letters and digits stands in single quotes, '\'' is one of these, and
# "$NL" between quotes a line feed, so that a line is always one record. A run directory may be
# somebody else's: nothing in a line is ever run, it is only taken apart.

NL='
'

# quote WORD: prints it as one word of a shell, and of such a line if it has no line feed.
quote()
{
	case $1 in
	'' | *[!A-Za-z0-9_./:=@%+,-]*) ;;
	*)
		printf '%s\n' "$1"
		return
		;;
	esac
	quote_rest=$1\'
	quote_done=
	while [ -n "$quote_rest" ]; do
		quote_done="$quote_done${quote_rest%%\'*}'\\''"
		quote_rest=${quote_rest#*\'}
	done
	printf "'%s'\n" "${quote_done%"'\\''"}"
}

# with_words FUNCTION LINE: call the function with the words of the line. It is taken apart at the quotes at
# once: shells take a time that grows with the square of the length to find each.
with_words()
{
	words_function=$1
	set -f
	IFS=\'
	# shellcheck disable=SC2086 # it is to be split
	set -- $2' '
	unset IFS # as it is everywhere
	set +f
	words_left=$#
	is_quoted=
	word=
	while [ "$words_left" -gt 0 ]; do
		words_left=$((words_left - 1))
		words_part=$1
		shift
		case $is_quoted$words_left in
		yes0) word="$word'" ;; # a mark that stands where none can be is itself
		yes*)
			word=$word$words_part
			is_quoted=
			continue
			;;
		esac
		is_quoted=yes
		while :; do
			case $words_part in
			*' '*) ;;
			*) break ;;
			esac
			set -- "$@" "$word${words_part%% *}"
			word=
			words_part=${words_part#* }
		done
		case $words_part in
		'"$NL"') word=$word$NL ;;
		*\\)
			word="$word${words_part%?}'"
			is_quoted=
			;;
		*) word=$word$words_part ;;
		esac
	done
	"$words_function" "$@"
}

# each_line FILE KIND FUNCTION: a call with the words of each line that begins with this.
each_line()
{
	while IFS= read -r plan_line; do
		case $plan_line in
		"$2 "*) with_words "$3" "$plan_line" </dev/null ;;
		esac
	done <"$1"
}

# plain_path PATH: sets plain_path, which is no option to any program.
plain_path()
{
	case $1 in
	/* | ./* | ../*) plain_path=$1 ;;
	*) plain_path=./$1 ;;
	esac
	while :; do
		case $plain_path in
		?*/) plain_path=${plain_path%/} ;;
		*) return ;;
		esac
	done
}

# Queries of the system: the time, and the identity of processes.

# The real-time clock in nanoseconds: sets stamp. Where the shell has it as a variable this costs
# no process. date of some small systems has no %N.
read_realtime()
{
	stamp=${EPOCHREALTIME:-}
	if [ -n "$stamp" ]; then
		stamp=${stamp%[.,]*}${stamp#*[.,]}000
		return
	fi
	stamp=$(date +%s%N)
	case $stamp in
	*[!0-9]* | ??????????) stamp=$(date +%s)000000000 ;;
	esac
}

realtime_ns()
{
	read_realtime
	printf '%s\n' "$stamp"
}

# Hundredths of a second since the boot: sets up.
uptime_now()
{
	read -r up _ </proc/uptime
	up=${up%.*}${up#*.}
	up=${up#0}
}

# set_limit MS: sets limit, as timeout(1) takes it, and limit_up, in hundredths of a second. Some of
# these programs know no fractions: then it is rounded up. 0: there is none.
set_limit()
{
	limit=$((($1 + 999) / 1000))
	limit_up=$((limit * 100))
	if [ $(($1 % 1000)) -ne 0 ] && timeout 0.9 true 2>/dev/null; then
		limit=$(($1 / 1000)).$(printf '%03d' $(($1 % 1000)))
		limit_up=$(($1 / 10))
	fi
}

# is_timeout STATUS BEGUN: whether a command that failed was ended by its limit. It may end with
# any status, that of timeout(1) too, so what counts is the time since then, by uptime_now.
is_timeout()
{
	[ "$1" -ne 0 ] && [ "$limit_up" -gt 0 ] || return 1
	uptime_now
	[ $((up - $2 + 1)) -ge "$limit_up" ]
}

# read_stat PID: sets comm, process_state, ppid, sid, utime and stime (in ticks), start and rss (in
# pages).
# Fails if there is no such process. A name may hold anything, a line feed and ") " too; what
# follows its end are fields without parentheses.
read_stat()
{
	stat=
	{
		while IFS= read -r stat_part; do
			stat=$stat${stat:+$NL}$stat_part
		done <"/proc/$1/stat"
	} 2>/dev/null
	[ -n "$stat" ] || return 1
	comm=${stat#*(}
	comm=${comm%)*}
	# shellcheck disable=SC2086 # fields
	set -- ${stat##*) }
	[ $# -gt 21 ] || return 1
	process_state=$1
	ppid=$2
	sid=$4
	shift 11
	utime=$1
	stime=$2
	shift 8
	start=$1
	rss=$3
}

# Return 0 if there is such a process, and not only its status. Sets start, when it was started, in
# clock ticks since the boot: with its pid, what tells it from all others of this boot.
is_alive()
{
	read_stat "$1" && [ "$process_state" != Z ] && [ "$process_state" != X ]
}

# Text that may hold anything, for JSON and for people. Control characters (C0, DEL
# and C1), and characters that are invisible or reorder text (U+202E), become \u001b and
# the like, and bytes that are no UTF-8 U+FFFD, so that what comes out is always JSON and
# moves no cursor. What is plain, as most is, costs no process.

# json_strings WORD...: prints "a", "b", ... The system takes words of up to 128 KiB for a program,
# so one that may be longer goes by a pipe.
json_strings()
{
	json_all=$*
	case ${#json_all},$json_all in
	??????*,*) ;;
	*[![:print:]]* | *[\"\\]*)
		LC_ALL=C awk -- "$escape_functions"'
		BEGIN {
			for (i = 1; i < ARGC; i++)
				printf "%s\"%s\"", (i > 1 ? ", " : ""), escaped(ARGV[i], "\"\\")
			exit
		}' "$@"
		return
		;;
	esac
	json_comma=
	for json_word; do
		printf '%s"' "$json_comma"
		case $json_word in
		*[![:print:]]* | *[\"\\]*)
			printf '%s\n' "$json_word" | LC_ALL=C awk -- "$escape_functions"'
			{ printf "%s%s", (NR > 1 ? "\\u000a" : ""), escaped($0, "\"\\") }'
			;;
		*) printf '%s' "$json_word" ;;
		esac
		printf '"'
		json_comma=', '
	done
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

# For awk: escaped(TEXT, MARKS), with a backslash before each of the marks. A long text is taken
# apart first, since all of what is left is copied for each character that is escaped.
# shellcheck disable=SC2016 # it is awk that expands
escape_functions='
function escaped(text, marks,    out, n) {
	out = ""
	while (length(text) > 4096) {
		for (n = 4096; n < 4100 && substr(text, n + 1, 1) ~ /[\200-\277]/; n++)
			;
		out = out escaped_part(substr(text, 1, n), marks)
		text = substr(text, n + 1)
	}
	return out escaped_part(text, marks)
}
function escaped_part(text, marks,    out, c, n) {
	out = ""
	while (match(text, /[^ -~]|["\\]/)) {
		out = out substr(text, 1, RSTART - 1)
		text = substr(text, RSTART)
		c = substr(text, 1, 1)
		n = 1
		if (byte[c] && byte[c] < 128)
			c = sprintf("\\u%04x", byte[c])
		else if (c !~ /["\\]/ && match(text, utf8)) {
			c = substr(text, 1, n = RLENGTH)
			if (c ~ format)
				c = code(c, n)
		} else
			c = index(marks, c) ? "\\" c : c ~ /["\\]/ ? c : "\357\277\275"
		out = out c
		text = substr(text, n + 1)
	}
	return out text
}
function code(c, n,    last) {
	last = byte[substr(c, n)] - 128
	if (n == 2)
		return sprintf("\\u%04x", (byte[substr(c, 1, 1)] - 192) * 64 + last)
	last += (byte[substr(c, n - 1, 1)] - 128) * 64
	if (n == 3)
		return sprintf("\\u%04x", (byte[substr(c, 1, 1)] - 224) * 4096 + last)
	last += (byte[substr(c, 2, 1)] - 144) * 4096 + (byte[substr(c, 1, 1)] - 240) * 262144
	return sprintf("\\u%04x\\u%04x", 55296 + int(last / 1024), 56320 + last % 1024)
}
BEGIN {
	for (i = 1; i < 256; i++)
		if (i < 32 || i > 126)
			byte[sprintf("%c", i)] = i
	utf8 = "^([\302-\337][\200-\277]|\340[\240-\277][\200-\277]|[\341-\354\356\357][\200-\277][\200-\277]|" \
		"\355[\200-\237][\200-\277]|\360[\220-\277][\200-\277][\200-\277]|" \
		"[\361-\363][\200-\277][\200-\277][\200-\277]|\364[\200-\217][\200-\277][\200-\277])"
	format = "^(\302[\200-\237\255]|\315\217|\330\234|\341\205[\237\240]|\341\236[\264\265]|\341\240[\213-\217]|" \
		"\342\200[\213-\217\250-\256]|\342\201[\240-\257]|\343\205\244|\357\270[\200-\217]|\357\273\277|" \
		"\357\276\240|\357\277[\260-\273]|\360\223\220[\260-\277]|\360\233\262[\240-\243]|" \
		"\360\235\205[\263-\272]|\363\240..)"
}
'

# take_lock DESCRIPTOR FILE: whether nobody else has the lock of the file, which is open there. A
# file system may have no locks: that ends the program, with what flock says.
take_lock()
{
	flock -n -E 75 "$1" && return
	[ $? -eq 75 ] || fail "$2: cannot be locked; use a directory on another file system"
	return 1
}
