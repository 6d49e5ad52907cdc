#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# scenario.sh CHECK NAME FORM [SEED...]: simulate a scenario as messages, traces,
# captures, or traces and captures of the same packets, synchronize it, and hold what
# ctsync says against the truth.
set -eu
check=$1
name=$2
form=$3
shift 3
if [ $# -eq 0 ]; then
	set -- 1 20260
	case $name in
	false1one) set -- "$@" 207 ;; # two messages that only contradict each other
	stepback) set -- "$@" 201 ;; # told by the time before the step
	esac
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
run=$scratch/$name
failed=0

# Implied by the scenario: how many clocks are tied, and which outputs exist.
status=0
clocks=$(awk '$1 == "nodes" { print $2 }' \
	"$CT_SOURCE/datasets/simulate/scenarios/$name.scenario")
islands=1
extra=
step_ms=
slews=
case $name in
slewed) slews='10 500 -10 -1000 30 100000 -250 -83333' ;; # ms and ppm of each that shows
false*) extra=--rejects ;;
step5ms) step_ms=5 ;;
step1s) step_ms=1000 ;;
stepback) step_ms=-2000 ;;
late) clocks=2 ;; # the third has no message
oneway)
	status=3
	extra='--open --quality incomplete'
	;;
islands)
	clocks=6
	islands=2
	status=3
	;;
esac
# Each node's capture is tied to its trace, by an offset for each time that it was set.
offsets=0
if [ "$form" = both ]; then
	offsets=$clocks
	clocks=$((2 * clocks))
	case $name in
	settime) offsets=$((offsets + 3)) ;;
	esac
fi
# Messages name no node that has none, but its trace is there, alone.
if [ "$form" != messages ]; then
	case $name in
	islands) islands=3 ;;
	late)
		islands=2
		status=3
		;;
	esac
fi

# Further assumptions of the bounds here: a wander that is never reached, or straight
# clocks where they are.
other_bounds=
case $name in
ripple* | slew | wander | bend) other_bounds=70 ;;
two | drift* | mesh4 | chain* | islands | loss30 | asymmetric | nat | years | late)
	other_bounds=straight
	;;
esac

# Straight clocks have one segment, whatever their messages do.
case $name in
ripple* | slew* | wander | bend | roam | step* | loadbend | settime) ;;
*) extra="$extra --straight" ;;
esac

# The largest median error of the clocks, in microseconds.
median=5
case $name in
asymmetric) median=700 ;; # half of the difference of the two ways
oneway) median=200 ;;     # nothing tells how long a message takes
chain20 | loss30 | blink | loadeach) median=10 ;;
clients | offload) median=25 ;;
cardfree) median=20 ;; # when the next packet was sent
ripplefew | loadone) median=40 ;;
loadbend) median=60 ;;
roam) median=600 ;;
esac

complain()
{
	printf '%s\n' "$*"
	failed=1
}

# ctsync tells of a step on standard error: one, of that size at that time. What a
# clock that was set back read at the step is the time before or the time after.
check_step()
{
	set_to=$(awk -F, '$1 == "node2" && $2 == "1767225661300000000" "" { print $4 }' \
		"$run/truth.csv")
	sed -n 's/^ctsync: node2: its clock was stepped by //p' "$scratch/stderr" |
		awk -v want_ms="$step_ms" -v at_ns="$set_to" '
		{
			size = $1 * ($2 == "s" ? 1000 : $2 == "ms" ? 1 : 1e-3)
			split($5, part, ":")
			seconds = part[1] * 3600 + part[2] * 60 + part[3]
			count++
			off = (size - want_ms) / want_ms
		}
		END {
			# The second of the day at which the clock read what it was set to.
			want = substr(at_ns, 1, 10) % 86400 + substr(at_ns, 11) / 1e9
			late = seconds - want
			if (count != 1)
				print "a step was reported " count + 0 " times, want one"
			else if (off > 0.01 || off < -0.01)
				print "a step of " size " ms was reported, want " want_ms
			else if (late < -1 || late > 1 && (want_ms > 0 || late > 1 - want_ms / 1000))
				print "a step was reported " late " s late"
		}'
}

# ctsync tells of the slews and of nothing else, and the map knows as many.
check_slews()
{
	awk -v want="$slews" '
	{ sub(/^ctsync: node2: its clock was slewed by /, "") || odd++ }
	{ sub(/; a drift beyond the limit of .*/, "") }
	!odd {
		split(want, value, " ")
		size = $1 * ($2 == "s" ? 1000 : $2 == "ms" ? 1 : 1e-3) / value[2 * NR - 1]
		rate = $(NF - 1) / value[2 * NR]
		if (size < 0.95 || size > 1.05 || rate < 0.85 || rate > 1.15)
			print "a slew was told as " $0
	}
	END {
		if (odd || 2 * NR != split(want, value, " "))
			print NR " lines on standard error, " odd + 0 " of them odd"
	}' "$scratch/stderr"
	[ "$(grep -o '"fast_ppb"' "$scratch/map.json" | wc -l)" -eq "$(wc -l <"$scratch/stderr")" ] ||
		echo "the map has other slews"
}

# hold SEED: the map against the truth
hold()
{
	# shellcheck disable=SC2086 # words
	"$check" --seed "$1" --islands "$islands" --clocks "$clocks" \
		--median "$median" $extra "$run" "$scratch/map.json" || failed=1
}

check_seed()
{
	command="ctsim -q --seed $1 $name${2:+ $2} -o $run && ctsync -q $3"
	# shellcheck disable=SC2086 # no option, or one
	ctsim -q --seed "$1" "$name" $2 -o "$run"
	if [ "$form" = both ]; then
		ctsim -q --seed "$1" "$name" --captures -o "$scratch/captures"
		for capture in "$scratch"/captures/*/*.pcap; do
			node=${capture%/*}
			mv "$capture" "$run/${node##*/}/"
		done
		rm -rf "$scratch/captures"
	fi
	got=0
	# shellcheck disable=SC2086 # words
	ctsync -q $3 -o "$scratch/map.json" >"$scratch/stdout" 2>"$scratch/stderr" || got=$?
	[ "$got" -eq "$status" ] || complain "exit status $got, want $status"
	hold "$1"
	if [ "$form" = messages ] && [ -n "$other_bounds" ]; then
		# shellcheck disable=SC2086 # words
		ctsync -q --bounds "$other_bounds" $3 -o "$scratch/map.json" \
			2>>"$scratch/stderr" || [ $? -eq "$status" ]
		hold "$1"
		other_bounds= # of the first seed is enough
	fi
	got=$(grep -o '"offset_ns"' "$scratch/map.json" | wc -l)
	[ "$got" -eq "$offsets" ] ||
		complain "$got offsets between clocks of one node, want $offsets"
	if [ -n "$slews" ]; then
		wrong=$(check_slews)
		[ -z "$wrong" ] || complain "$wrong"
	elif [ -n "$step_ms" ]; then
		wrong=$(check_step)
		[ -z "$wrong" ] || complain "$wrong"
	elif [ "$form" = messages ] && [ -s "$scratch/stderr" ]; then
		complain 'want nothing on standard error'
	fi
	if [ "$failed" -ne 0 ]; then
		printf 'FAILED with seed %s: %s\n' "$1" "$command"
		cat "$scratch/stderr"
		exit 1
	fi
	rm -rf "$run"
}

for seed; do
	case $form in
	messages) check_seed "$seed" --messages "--messages $run/messages.csv" ;;
	captures) check_seed "$seed" --captures "$run" ;;
	traces | both) check_seed "$seed" '' "$run" ;;
	esac
done
