#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# honest.sh CHECK: what no fit shows, or false matches hide, is not called accurate where the
# truth is outside of the bounds.
set -eu
check=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# hold SEED: the scenario on standard input
hold()
{
	cat >"$scratch/s.scenario"
	ctsim -q --messages --seed "$1" "$scratch/s.scenario" -o "$scratch/run"
	ctsync -q --messages "$scratch/run/messages.csv" -o "$scratch/map.json" 2>"$scratch/err" || [ $? -eq 3 ]
	"$check" --honest --seed "$1" "$scratch/run" "$scratch/map.json"
	rm -r "$scratch/run"
}

# hold_captures SEED: the same of captures
hold_captures()
{
	cat >"$scratch/s.scenario"
	ctsim -q --captures --seed "$1" "$scratch/s.scenario" -o "$scratch/run"
	ctsync -q "$scratch/run" -o "$scratch/map.json" 2>"$scratch/err"
	"$check" --honest --seed "$1" "$scratch/run" "$scratch/map.json"
	rm -r "$scratch/run"
}

# wants QUALITY: one clock, beside the reference
wants()
{
	grep -q "\"quality\": *\"$1\"" "$scratch/map.json" || {
		echo "no clock is $1"
		exit 1
	}
}

# A slew that no segment shows whole: the truth is outside of the bounds for a seventh of the time.
hold 1096 <<-EOT
	nodes 2
	seconds 10
	topology ring
	drift_ppm 50
	delay_us 1000
	jitter fixed
	jitter_us 50
	interval_ms 5
	asymmetry 10
	pattern request
	slew 1 3.6263 3.8117 -22809.5
	slew 1 4.6773 8.1236 43985.8
	step 2 6.1294 -14.065
EOT
wants approximate

# A step of less than a round trip near the end: it only tilts the fit.
hold 1021 <<-EOT
	nodes 6
	seconds 10
	topology star
	drift_ppm 0
	delay_us 1000
	jitter uniform
	jitter_us 200
	interval_ms 10
	loss 0.3
	pattern request
	step 6 9.4755 2.057
EOT
wants approximate

# Steps back whose fit contradicts messages with a third clock: bounds would cross.
hold 20113 <<-EOT
	nodes 3
	seconds 120
	topology ring
	drift_ppm 50
	delay_us 1000
	jitter fixed
	jitter_us 1000
	interval_ms 100
	asymmetry 10
	duplicate 0.1
	pattern both
	slew 1 48.1002 48.1120 -196.3
	step 3 40.5468 -3529.050
	step 3 98.4770 -35.326
EOT
wants approximate

# Steps told one upon the other, of a slew and a step back under load.
hold 5051 <<-EOT
	nodes 2
	seconds 20
	topology ring
	drift_ppm 20
	delay_us 20
	jitter uniform
	jitter_us 200
	interval_ms 20
	reorder 0.01
	load_us 1000
	load_direction each
	pattern request
	slew 2 1.8128 1.8483 -44822.6
	slew 2 4.7562 7.0325 1137.8
	step 2 7.3616 -1269.265
EOT
wants approximate

# A slew of less than a round trip, with which no lines satisfy all messages.
hold 70195 <<-EOT
	nodes 6
	seconds 10
	topology ring
	drift_ppm 0
	delay_us 100
	jitter exponential
	jitter_us 200
	interval_ms 5
	asymmetry 0.2
	loss 0.1
	pattern request
	slew 1 3.4925 3.5419 -6117.4
	EOT

# The reference is set back: the clocks before and after it in a chain show that at other times.
hold 80031 <<-EOT
	nodes 6
	seconds 20
	topology chain
	drift_ppm 0
	delay_us 20
	jitter exponential
	jitter_us 200
	interval_ms 8
	asymmetry 10
	loss 0.01
	duplicate 0.01
	pattern request
	slew 2 7.3297 9.6442 -157.2
	step 4 17.4581 -1746.341
	EOT

# A slew that ends shortly before the messages do.
hold 80395 <<-EOT
	nodes 2
	seconds 10
	topology chain
	drift_ppm 0
	delay_us 1
	jitter fixed
	jitter_us 1000
	interval_ms 100
	duplicate 0.01
	pattern both
	slew 2 2.3954 9.7000 6396.0
	EOT

# A step in a ring, with which no lines satisfy all messages: it is one, not thousands to and fro.
hold 60073 <<-EOT
	nodes 6
	seconds 10
	topology ring
	drift_ppm 100
	delay_us 100
	jitter uniform
	jitter_us 50
	interval_ms 4
	asymmetry 0.2
	reorder 0.1
	pattern both
	step 4 6.7994 3.001
EOT
wants accurate
grep -c 'node4: its clock was stepped by 3\.00' "$scratch/err" | grep -qx 1
[ "$(wc -l <"$scratch/err")" = 1 ] && ! grep -q '"violations_after": [1-9]' "$scratch/map.json" || exit 1

# A step near the end, and false matches: it may be the step of either of two clocks.
hold 80172 <<-EOT
	nodes 6
	seconds 5
	topology mesh
	drift_ppm 100
	delay_us 1000
	jitter fixed
	jitter_us 200
	interval_ms 50
	loss 0.1
	pattern request
	false_matches 0.02
	false_direction one
	step 5 4.5705 2620.572
	EOT

# False matches: one that contradicts nothing makes the bounds too narrow.
hold 81138 <<-EOT
	nodes 4
	seconds 60
	topology ring
	drift_ppm 0
	delay_us 100
	jitter uniform
	jitter_us 200
	interval_ms 10
	asymmetry 10
	duplicate 0.1
	load_us 1000
	load_direction each
	pattern both
	false_matches 0.02
	false_direction one
	EOT

# Two steps soon one after the other, with few messages between.
hold 90032 <<-EOT
	nodes 3
	seconds 5
	topology ring
	drift_ppm 20
	delay_us 100
	jitter exponential
	jitter_us 200
	interval_ms 100
	loss 0.3
	pattern request
	false_matches 0.005
	false_direction one
	step 3 1.6346 -12.579
	step 3 0.9550 2158.297
	EOT

# Steps of two clocks of a chain, which messages show as those of two others.
hold 90042 <<-EOT
	nodes 4
	seconds 5
	topology chain
	drift_ppm 100
	delay_us 100
	jitter fixed
	jitter_us 200
	interval_ms 100
	loss 0.01
	load_us 1000
	load_direction both
	pattern request
	false_matches 0.001
	false_direction one
	step 3 4.3637 2.339
	step 2 3.2704 1.812
	EOT

# The reference is set back while there is no message for as long: it is no leap of the other clock.
hold 110632 <<-EOT
	nodes 2
	seconds 20
	topology chain
	drift_ppm 100
	delay_us 20
	jitter uniform
	jitter_us 10
	interval_ms 20
	load_us 100
	load_direction both
	pattern request
	step 2 5.9965 21.168
	step 1 4.2904 -74.137
	EOT

# A step near the end that all other clocks seem to have done, to and fro.
hold 120569 <<-EOT
	nodes 6
	seconds 5
	topology mesh
	drift_ppm 20
	delay_us 1
	jitter uniform
	jitter_us 50
	interval_ms 100
	asymmetry 0.2
	loss 0.1
	duplicate 0.01
	reorder 0.1
	load_us 100
	load_direction one
	pattern request
	false_matches 0.001
	false_direction both
	step 5 4.4489 11.620
	step 1 3.3113 1454.639
	EOT

# A ring: a clock is set after its last message with one neighbour, so the other one seems to be.
hold 130487 <<-EOT
	nodes 6
	seconds 20
	topology ring
	drift_ppm 0
	delay_us 100
	jitter fixed
	jitter_us 1000
	interval_ms 50
	loss 0.3
	pattern request
	slew 1 4.5255 19.4000 -37623.9
	step 5 3.1979 -398.088
	step 4 14.7381 -246.612
	EOT

# A straight clock, and one whose step messages contradict, are accurate.
for step in '' 'step 2 9 -30'; do
	hold 1 <<-EOT
		nodes 2
		seconds 20
		delay_us 1000
		jitter_us 200
		interval_ms 20
		$step
	EOT
	wants accurate
done

# Straight clocks, 1 % of whose messages are false in one direction.
for seed in 2 5; do
	hold "$seed" <<-EOT
		nodes 2
		seconds 30
		interval_ms 5
		delay_us 20
		jitter_us 20
		false_matches 0.01
		false_direction one
	EOT
done

# Two slews are as many contradictions as false matches make, but do not go to and fro.
hold 1 <<-EOT
	nodes 3
	seconds 60
	delay_us 200
	jitter_us 20
	interval_ms 50
	slew 2 8 10 50000
	slew 3 10 20 -5000
EOT
wants accurate
! grep -q contradictory "$scratch/map.json" || exit 1

# Two steps in 7.6 s without a message, told as one: where the clock was between them is open.
hold 200178 <<-EOT
	nodes 2
	seconds 60
	topology chain
	drift_ppm 20
	delay_us 20
	jitter uniform
	jitter_us 50
	interval_ms 20
	loss 0.3
	load_us 100
	load_direction each
	pattern request
	step 2 49.6618 2910.054
	step 1 51.7634 4870.428
EOT
wants accurate

# The same of two steps 83 ms apart.
hold 200144 <<-EOT
	nodes 2
	seconds 5
	topology chain
	drift_ppm 0
	delay_us 20
	jitter uniform
	jitter_us 1000
	interval_ms 50
	pattern request
	slew 2 0.6404 4.8500 -138.0
	step 1 1.7028 2.169
	step 1 1.7861 -1459.719
EOT
wants accurate

# Both clocks are stepped within 13 ms without a message, as if one had leapt by the sum.
hold 410347 <<-EOT
	nodes 2
	seconds 20
	topology star
	drift_ppm 100
	delay_us 20
	jitter exponential
	jitter_us 1000
	interval_ms 10
	duplicate 0.01
	load_us 1000
	load_direction one
	pattern request
	slew 1 5.6089 6.2456 23263.9
	slew 1 10.6727 14.3783 12930.5
	slew 1 18.8941 19.4000 -3758.0
	step 2 17.2474 -23.614
	step 1 17.2602 246.461
EOT
wants accurate

# A true message, the only one that shows that a clock was slewed, lies where false ones do.
hold 200346 <<-EOT
	nodes 2
	seconds 5
	topology star
	drift_ppm 20
	delay_us 20
	jitter uniform
	jitter_us 50
	interval_ms 100
	load_us 1000
	load_direction both
	pattern request
	false_matches 0.01
	false_direction both
	slew 2 0.2704 0.6948 1818.2
EOT
wants approximate

# Clocks that drift beyond the limit: each is named with a limit that it keeps, has no bounds
# and no steps, and neither have those that only it ties. With that limit all is well.
for fast in 'two 231' 'two -300' 'chain 231' 'mesh -231' 'mesh 300'; do
	for interval in 5 500; do
		nodes=4
		[ "${fast% *}" != two ] || nodes=2
		topology=${fast% *}
		[ "$topology" != two ] || topology=ring
		cat >"$scratch/fast.scenario" <<-EOT
			nodes $nodes
			seconds 60
			topology $topology
			drift_ppm 0
			delay_us 20
			jitter_us 30
			interval_ms $interval
			node 2 drift_ppm ${fast#* }
			node $nodes drift_ppm ${fast#* }
		EOT
		hold 3 <"$scratch/fast.scenario"
		! grep -E 'stepped|slewed' "$scratch/err" || exit 1
		limit=$(sed -n 's/.*drifts by [23][0-9][0-9] ppm against node[1-4], beyond the limit of 200 ppm, so nothing bounds it; use --drift-limit //p' \
			"$scratch/err" | sort -n | tail -n 1)
		wants approximate
		ctsim -q --messages --seed 3 "$scratch/fast.scenario" -o "$scratch/run"
		ctsync -q --drift-limit "$limit" --messages "$scratch/run/messages.csv" -o "$scratch/map.json" 2>"$scratch/err"
		[ ! -s "$scratch/err" ]
		! grep -E '"(approximate|incomplete)"' "$scratch/map.json" || exit 1
		"$check" --honest --seed 3 "$scratch/run" "$scratch/map.json"
		rm -r "$scratch/run"
	done
done

# In a mesh the one fast clock is named, whichever would have been the reference.
for seed in 3 4 5 10; do
	hold "$seed" <<-EOT
		nodes 3
		seconds 20
		topology mesh
		drift_ppm 5
		delay_us 20
		jitter_us 30
		interval_ms 50
		node 3 drift_ppm 260
	EOT
	grep -c 'drifts by' "$scratch/err" | grep -qx 1
	grep -q '^ctsync: node3: drifts by 2[56][0-9] ppm' "$scratch/err"
done

# Messages every three seconds do not show whether a clock was stepped or ran too fast from then on.
hold_captures 1 <<-EOT
	nodes 2
	seconds 60
	topology ring
	drift_ppm 0
	delay_us 20
	jitter_us 30
	interval_ms 3000
	node 2 drift_ppm 111
	slew 2 30 60 120
EOT
wants approximate
grep -q 'was stepped by [12][.][0-9]* ms at .*, or drifts beyond the limit of 200 ppm (--drift-limit)$' "$scratch/err"

# Cards whose clocks run freely, while the system's are set or slewed, or not; one is 37 s ahead
# like TAI, but drifts.
for event in '' 'step 2 10 250' 'step 1 10 -3' 'step 1 10 0.5' 'slew 2 5 15 500' 'slew 2 5 15 -80000' 'card_s 37'; do
	hold_captures 5 <<-EOT
		nodes 3
		seconds 30
		interval_ms 5
		service_us 500
		card_s -1000.25
		card_free yes
		card_ppm -30
		$event
	EOT
	grep -c 'two clocks in one capture: .* s ahead of sent ones' "$scratch/err" | grep -qx 3
	! grep -q TAI "$scratch/err" || exit 1
	wants accurate
	case $event in
	step*) grep -c 'was stepped by' "$scratch/err" | grep -qx 1 ;;
	slew*) grep -c 'was slewed by' "$scratch/err" | grep -qx 1 ;;
	esac
done
