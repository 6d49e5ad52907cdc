# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2016,SC2034,SC2046,SC2086,SC2119,SC2120,SC2154
#
# Actions outside of a run: checks and installation.

# The script for the nodes, with what of the recipe it goes by: node/ask.sh.
prepare_asking()
{
	plan_of "$1" 1
	state=$work
	{
		printf 'BASE=%s\nPROBES=%s\nWANTS=%s\n' "$(quote "$tmpdir")" "$(quote "$(grep '^probe ' "$work/plan")")" \
			"'$(sed 's/^event //; s/^syscall /kernel /; s/^tracer /tracer-/; s/ .*//' "$work/plan" | sort -u | tr '\n' ' ')'"
		node_script
	} >"$work/ask.sh"
	sent=$work/ask.sh
	reach_nodes
}

# ask_nodes FUNCTION: all of them; ends the program.
ask_nodes()
{
	on_nodes "$1" $nodes
	[ -z "$interrupted" ] || exit 130
	[ ! -f "$work/failed" ] || exit 3
	exit 0
}

# done_on NODE ACTION [WORD]: an action that says what it has done.
done_on()
{
	done_node=$1
	shift
	if action "$done_node" "$fetch_seconds" "$@"; then
		get_fact 'done'
		printf '%s: %s\n' "$done_node" "$fact"
	else
		not_done "$done_node" $?
	fi
}

# not_done WHO STATUS
not_done()
{
	complain "$1: $(why "$2" "$fetch_seconds")"
	: >"$work/failed"
}

tab=$(printf '\t')

# ctcollect check: ask every node, show a table, and a sentence for whatever is
# missing for this recipe, with the command that mends it.

check_node()
{
	# The connection first, so that the clock's round trip is that of a session only.
	remote "$1" "$short_seconds" true </dev/null >"$answers.raw"
	check_status=$?
	[ "$check_status" -eq 255 ] || {
		measure_clock "$1"
		action "$1" "$short_seconds" check "$1"
		check_status=$action_status
	}
	if [ "$check_status" -ne 0 ]; then
		printf '%s\tunreachable\n' "$1"
		reason=$(why "$check_status" "$short_seconds")
		case $reason in
		*'; fix: '*) ;;
		*) reason="$reason; fix: try \`ssh $(sed 's/ -- / /; s/^-- //' "$work/words/$1")\`, which must not ask anything" ;;
		esac
		printf '%s: missing: a connection (%s); fix: %s\n' "$1" "${reason%%; fix: *}" "${reason#*; fix: }"
		return
	fi
	get_fact noise
	noise=$fact
	printf '%s\t' "$1"
	sed -n 's/^cell //p' "$answers" | tr '\n' '\t'
	echo "$ahead $trip" | awk 'NF == 2 { printf "%.1f+-%.1f", $1 / 1e6, $2 / 2e6 }'
	echo
	sed -n "s/^missing /$1: missing: /p; s/^remark /$1: /p" "$answers"
	sed -n "s/^probe /$1 /p" "$answers" >"$work/probed.$1"
	[ -z "$noise" ] ||
		printf '%s: its login shell prints text before each answer, which is skipped (%s); print it only if interactive: case $- in *i*) ... esac\n' \
			"$1" "$noise"
	echo "$ahead" | awk -v node="$1" 'NF && ($1 > 1e9 || $1 < -1e9) {
		printf "%s: its clock is %.1f s off; ctsync mends that, sar and other logs are easier to read with NTP\n",
			node, $1 / 1e9 }'
}

# Measure how far a node's real-time clock is ahead of ours, by the shortest of three round trips:
# sets ahead and trip, both empty if the node states no time.
measure_clock()
{
	ahead=
	trip=
	for _ in 1 2 3; do
		asked=$(realtime_ns)
		# A login shell may have said something before.
		there=$(remote "$1" "$short_seconds" date +%s%N </dev/null | tail -c 20)
		round_trip=$(($(realtime_ns) - asked))
		# 19 digits, so that it is a number as arithmetic has it.
		case ${#there}$there in
		19*[!0-9]*) continue ;;
		19[1-8]*) ;;
		*) continue ;;
		esac
		if [ -z "$trip" ] || [ "$round_trip" -lt "$trip" ]; then
			trip=$round_trip
			ahead=$((there - asked - trip / 2))
		fi
	done
}

do_check()
{
	prepare_asking "$1"
	# Rows have tabs, sentences none: they come escaped.
	on_nodes check_node $nodes >"$work/checked"
	[ -z "$interrupted" ] || exit 130
	{
		printf 'NODE\tUSER\tSHELL\tRIGHTS\tLTTNG\tTRACER\tDAEMON\tSYSSTAT\tTCPDUMP\tFREE MIB\tCLOCK\tAHEAD MS\n'
		grep "$tab" "$work/checked"
	} | as_table
	show_probes
	grep -v "$tab" "$work/checked" | group_advice >"$work/advice"
	[ -s "$work/advice" ] || exit 0
	printf '\n'
	cat "$work/advice"
	! grep -q '^[^:]*: missing: ' "$work/advice" || exit 3
	exit 0
}

# The bounds to expect from the probes (docs/method.md): half of a round trip, and what the drift limit of
# 200 ppm adds in half of an interval.
show_probes()
{
	cat "$work"/probed.* 2>/dev/null | awk '
	NF == 5 && $4 ~ /^[0-9]+$/ && $5 ~ /^[0-9.]+$/ {
		if (!count++)
			print "PROBE\tNEIGHBOR\tADDRESS\tROUND TRIP MS\tBOUND US"
		printf "%s\t%s\t%s\t%s\t+-%.0f\n", $1, $2, $3, $5, $5 * 500 + $4 * 0.1
	}' >"$work/probes"
	[ ! -s "$work/probes" ] || {
		printf '\n'
		as_table <"$work/probes"
	}
}

# A sentence stands there once, with all of its nodes.
group_advice()
{
	awk '
	{
		at = index($0, ": ")
		text = substr($0, at)
		if (text in nodes)
			nodes[text] = nodes[text] ", " substr($0, 1, at - 1)
		else {
			order[++count] = text
			nodes[text] = substr($0, 1, at - 1)
		}
	}
	END {
		for (i = 1; i <= count; i++)
			print nodes[order[i]] order[i]
	}'
}

# Columns of the right width, from tabs.
as_table()
{
	awk -F '\t' '
	{
		for (i = 1; i <= NF; i++) {
			cell[NR, i] = $i == "" ? "-" : $i
			if (length(cell[NR, i]) > width[i])
				width[i] = length(cell[NR, i])
		}
		cells[NR] = NF
	}
	END {
		for (r = 1; r <= NR; r++) {
			line = ""
			for (i = 1; i <= cells[r]; i++)
				line = line sprintf("%-*s ", width[i], cell[r, i])
			sub(/ +$/, "", line)
			print line
		}
	}'
}

# ctcollect install: what the recipe needs and a node lacks, by the node's own
# package manager, or the user's own script. ctcollect sessiond: the daemons.

do_install()
{
	prepare_asking "$1"
	script=$(option script)
	[ -z "$script" ] || { [ -f "$script" ] && [ -r "$script" ]; } || fail "$script: cannot be read"
	ask_nodes install_node
}

install_node()
{
	if [ -z "$script" ]; then
		done_on "$1" install $(! is_set dry-run || echo show)
	elif is_set dry-run; then
		printf '%s: would run %s\n' "$1" "$script"
	else
		most_bytes=16777216
		remote "$1" "$fetch_seconds" /bin/sh -s <"$script" >"$work/installed.$1" ||
			not_done "$1: not installed" $?
		plain_lines <"$work/installed.$1" | sed "s/^/$1: /"
	fi
}

do_sessiond()
{
	prepare_asking "$1"
	daemon_action=$2
	ask_nodes sessiond_node
}

sessiond_node()
{
	done_on "$1" daemon "$daemon_action"
}

# ctcollect plan: what would run where, for each point. Nothing is touched.

do_plan()
{
	want_number point 1 10000 1
	point=$number
	point_count=$point
	while [ "$point" -le "$point_count" ]; do
		plan_of "$1" "$point"
		show_point | plain_lines
		! is_set point || exit 0
		point=$((point + 1))
		[ "$point" -gt "$point_count" ] || printf '\n'
	done
	exit 0
}

show_point()
{
	printf 'point %s of %s: %s-YYYYmmdd-HHMMSS%s\n' "$point" "$point_count" "$recipe_name" \
		"${suffix:+-$suffix}"
	printf '  ssh option %s, always\n' $(printf '%s\n' "$ssh_first" | sed 's/-o //g') \
		"ConnectTimeout=$connect_seconds unless set"
	printf '  ssh options of %s\n' "$(option ssh-config 'your .ssh/config and /etc/ssh/ssh_config')"
	while IFS= read -r plan_line; do
		with_words show_line "$plan_line"
	done <"$work/plan"
	# Events are many: as one list a domain.
	for domain in kernel syscall userspace; do
		list=$(sed -n "s/^event $domain \\([^ ]*\\) .*/\\1/p" "$work/plan" | tr -d "'" | tr '\n' ' ')
		[ -z "$list" ] || {
			printf '  %s events:\n' "$domain"
			printf '%s\n' "${list% }" | fold -s -w 76 | sed 's/^/    /; s/ *$//'
		}
	done
}

show_line()
{
	kind=$1
	shift
	case $kind in
	node)
		where="$1 is ${3:+$3@}$2${4:+:$4}"
		shift 4
		printf '  node %s%s\n' "$where" "${1:+, $*}"
		;;
	ssh_gateway) [ -z "$1" ] || printf '  through %s\n' "$1" ;;
	ssh_option) printf '  ssh option %s\n' "$1" ;;
	tracer) printf '  all nodes: the kernel is traced by %s\n' "$1" ;;
	channel) printf '  all nodes: %s channel, %s x %s bytes, %s\n' "$1" "$3" "$2" "$4" ;;
	sar) printf '  all nodes: sar every %s s%s\n' "$1" "${2:+, activities $2}" ;;
	capture)
		where="$1 bytes a packet${2:+: $2}"
		shift 2
		printf '  all nodes: tcpdump of %s, %s\n' "$*" "$where"
		;;
	probe) printf '  %s: probes %s at %s every %s ms\n' "$1" "$3" "$4" "$2" ;;
	process) printf '  all nodes: process samples every %s ms: %s\n' "$1" "$(shift; echo "$*")" ;;
	sensor) printf '  %s: sensor %s every %s ms: %s\n' "$1" "$2" "$3" "$4" ;;
	execute) printf '  %s: %s%s: %s\n' "${5:-this machine}" "${4:+sudo, }" "$2" "$6" ;;
	tasks)
		where="$2, $3, $4"
		shift 7
		printf '  tasks %s at a time on each of: %s\n' "$where" "$*"
		;;
	task) printf '    task %s: %s\n' "$2" "$4" ;;
	esac
}
