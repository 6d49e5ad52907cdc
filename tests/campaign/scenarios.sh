#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# scenarios.sh BUILD [COUNT [SEED]]: simulate COUNT (1000) random scenarios, one a seed: nodes,
# latencies, load, loss, false matches, slews and steps as messages; of ten, one as captures with
# packets captured twice, of a hub, or with a card's own clock. A run is wrong if the truth is
# outside of the bounds of a clock that is called accurate, or if a program fails. It is counted
# apart if that is by steps and slews that no message shows.
set -u
CT_BUILD=$(cd "$1" && pwd) || exit 2
count=${2:-1000}
seed=${3:-1}
PATH=$CT_BUILD/bin:$PATH
export LC_ALL=C TZ=UTC
[ -x "$CT_BUILD/tests/sim/sim-unseen" ] || {
	echo "scenarios.sh: $1 has no tests/sim/sim-unseen, build the tests as well" >&2
	exit 2
}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
trap 'exit 1' HUP INT TERM
cd "$here" || exit 2

# scenario SEED: a random one; the first line says of what kind.
scenario()
{
	awk -v seed="$1" '
	function among(words, part) { return part[1 + int(rand() * split(words, part, " "))] }
	function from(least, most) { return least + rand() * (most - least) }
	function power(least, most) { return 10 ^ from(least, most) }
	function sign() { return rand() < 0.5 ? -1 : 1 }
	BEGIN {
		srand(seed)
		nodes = among("2 2 2 3 4 6")
		seconds = among("5 10 20 60 120 300")
		kind = seed % 10 == 0 ? "captures" : among("none false slew step slewstep falseslew falsestep")
		if (kind == "captures") {
			kind = kind among(" card promiscuous twice")
			seconds = among("5 10 20")
		}
		print "# " kind
		print "nodes", nodes "\nseconds", seconds
		print "topology", among("mesh ring chain star")
		print "drift_ppm", among("0 20 50 100")
		print "delay_us", among("1 20 100 100 1000")
		print "jitter", among("fixed uniform exponential")
		print "jitter_us", among("10 50 200 1000")
		interval = among("2 5 10 20 50 100")
		while (seconds * 1000 / interval * nodes * (nodes - 1) / 2 > 40000)
			interval *= 2
		print "interval_ms", interval
		if (rand() < 0.3) print "asymmetry", among("0.2 3 10")
		if (rand() < 0.2) print "loss", among("0.01 0.1 0.3")
		if (rand() < 0.2) print "duplicate", among("0.01 0.1")
		if (rand() < 0.2) print "reorder", among("0.01 0.1")
		if (rand() < 0.2) print "load_us", among("100 1000") "\nload_direction", among("both one each")
		if (rand() < 0.2) print "wander_ppm", among("0.1 1 5")
		if (kind ~ /card/) print "card_s", among("37 -3 1000") (rand() < 0.5 ? "" : "\ncard_free yes\ncard_ppm " among("0 -50 100"))
		if (kind ~ /promiscuous/) print "promiscuous yes"
		if (kind ~ /twice|promiscuous/) print "captured_twice", from(0.1, 1)
		if (kind ~ /captures/) exit
		print "pattern", among("request request both")
		if (kind ~ /false/)
			print "false_matches", among("0.001 0.005 0.01 0.02") "\nfalse_direction", among("one both")
		at = seconds * 0.05
		for (left = among("1 1 1 2 3"); kind ~ /slew/ && left > 0; left--) {
			begin = at + rand() * seconds * 0.4
			end = begin + power(-2, 1.5)
			at = end < seconds * 0.97 ? end : seconds * 0.97
			if (begin >= at)
				break
			printf "slew %d %.4f %.4f %.1f\n", 1 + int(rand() * nodes), begin, at, sign() * power(2, 5)
		}
		for (left = among("1 1 2"); kind ~ /step/ && left > 0; left--) {
			size = sign() * power(0, 4)
			if (-size / 1000 > seconds * 0.7)
				size = -size
			printf "step %d %.4f %.3f\n", 1 + int(rand() * nodes), seconds * from(0.05, 0.95), size
		}
	}'
}

# unseen: clocks that were never set, each off by a constant and at a constant rate within the
# drift limit, could have stamped all messages of events/, as none would be received before it is
# sent. This is found from the truth alone: ctsim draws the same messages without the steps and
# slews, in straight/, which tells by how much these moved each stamp, and how long each message
# travelled.
unseen()
{
	: >>events/false.csv
	"$CT_BUILD/tests/sim/sim-unseen" straight events
}

# simulate SEED SCENARIO RUN
simulate()
{
	rm -rf "$3"
	ctsim -q --messages --seed "$1" "$2" -o "$3"
}

# hidden_ones SEED: the steps and slews that no message shows, all together and without the others,
# are why the truth is outside: without them it is not.
hidden_ones()
{
	grep -vE '^(step|slew) ' s.scenario >straight.scenario
	simulate "$1" straight.scenario straight || return 1
	: >hidden_events
	while read -r event; do
		{ cat straight.scenario hidden_events; echo "$event"; } >events.scenario
		simulate "$1" events.scenario events || return 1
		unseen && echo "$event" >>hidden_events
	done < <(grep -E '^(step|slew) ' s.scenario)
	[ -s hidden_events ] || return 1
	grep -vxFf hidden_events s.scenario >seen.scenario
	simulate "$1" seen.scenario seen || return 1
	timeout 300 ctsync -q --messages seen/messages.csv -o seen.json >out 2>err || [ $? -eq 3 ] || return 1
	"$CT_BUILD/tests/sim/sim-check" --honest --seed "$1" seen seen.json >out 2>&1
}

wrong=0
failed=0
hidden=0
for ((i = seed; i < seed + count; i++)); do
	scenario "$i" >s.scenario
	form=--messages
	input='--messages r/messages.csv'
	case $(head -n 1 s.scenario) in *captures*)
		form=--captures
		input=r
		;;
	esac
	rm -rf r map.json
	said=
	status=0
	if ! ctsim -q $form --seed "$i" s.scenario -o r 2>err; then
		failed=$((failed + 1))
		said="ctsim failed: $(head -n 1 err)"
	else
		# shellcheck disable=SC2086 # words
		timeout 300 ctsync -q $input -o map.json >out 2>err || status=$?
		if [ "$status" -ne 0 ] && [ "$status" -ne 3 ]; then
			failed=$((failed + 1))
			said="ctsync ended with $status: $(head -n 1 err)"
		elif ! said=$("$CT_BUILD/tests/sim/sim-check" --honest --seed "$i" r map.json 2>&1); then
			if hidden_ones "$i"; then
				hidden=$((hidden + 1))
				said="by $(tr '\n' ';' <hidden_events) which no message shows: $said"
			else
				wrong=$((wrong + 1))
			fi
		else
			said=
		fi
	fi
	[ -z "$said" ] || printf 'seed %d: %s: %s\n' "$i" "$(head -n 1 s.scenario)" "$said"
done
printf '%d scenarios from seed %d on: %d with the truth outside of a bound that is called accurate, %d failed\n' \
	"$count" "$seed" "$wrong" "$failed"
printf '%d others have it outside by steps and slews that no message shows\n' "$hidden"
[ $((wrong + failed)) -eq 0 ]
