# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154,SC2164 # variables of scratch.sh and of campaigns
#
# Commands for syscalls.sh, memory.sh and allocations.sh, all called with BUILD, a number and RUN: every
# program with every kind of output, in a directory of its own. `forms` has a line for each, and
# whole/ its whole output.
build=$(cd "$1" && pwd)
run=$(cd "${3:-$(dirname "$0")/../fixtures/requests/wireguard}" && pwd)
# shellcheck source=/dev/null # linted by itself
. "$(dirname "$0")/scratch.sh"

ctmerge -q "$run" -o t.db || [ $? -eq 3 ]
ctsync -q "$run" -o clocks.json --messages-out all-messages || [ $? -eq 3 ]
node=$(cd "$run" && set -- */ && echo "${1%/}")
part="ctmerge -q --clocks clocks.json --node $node --messages all-messages/$node.messages"
# shellcheck disable=SC2086 # one word each
$part "$run" --part=part || [ $? -eq 3 ]
echo 'SELECT count(*) AS n FROM event' >own.sql

# Every form: NAME OUTPUT COMMAND. The output `printed` is what is on standard output.
cat >forms <<END
map out.json ctsync -q $run -o out.json
map-printed printed ctsync -q $run --json
clocks printed ctsync -v $run
plot plots ctsync -q $run --plot plots
apply applied ctsync $run --apply applied
messages-out said ctsync -q $run -o map.json --messages-out said
extract n.packets ctsync -q $run/$node --extract n.packets
merge out.db ctmerge -q $run -o out.db
merge-clocks out.db ctmerge -q $run --clocks clocks.json -o out.db
merge-printed printed ctmerge -q $run
part out $part $run --part=out
join out ctmerge -q --join part -o out
describe printed ctmerge --describe $run
answer out.txt ctanalyze -q requests t.db -o out.txt
answer-printed printed ctanalyze -q requests t.db
answer-json printed ctanalyze -q cpu --format json t.db
own printed ctanalyze -q --sql own.sql own t.db
pictures pictures ctanalyze -q metrics --plot pictures t.db
report out.html ctanalyze -q report t.db -o out.html
csv csv ctexport csv -q t.db -o csv
parquet parquet ctexport parquet -q t.db -o parquet
opendc opendc ctexport opendc -q t.db -o opendc
perfetto out.perfetto ctexport perfetto -q t.db -o out.perfetto
perfetto-printed printed ctexport perfetto -q t.db
json out.js ctexport json -q t.db -o out.js
graphite out.txt ctexport graphite -q t.db -o out.txt
tracekit tracekit ctexport tracekit -q t.db -o tracekit
simulated made ctsim -q --seed 1 clients --nodes 2 --set seconds=0.2 -o made
recipe own.yaml ctrecipe init -o own.yaml
END

remove_outputs()
{
	rm -rf "$output" map.json printed tmp
	mkdir tmp
}

mkdir whole
while read -r name output command; do
	remove_outputs
	# shellcheck disable=SC2086 # one word each
	$command >printed 2>/dev/null </dev/null || [ $? -eq 3 ]
	cp -R "$output" "whole/$name"
	[ "$output" = printed ] || cp printed "whole/$name.printed"
done <forms

# is_whole: whether all that the command printed or wrote is there.
is_whole()
{
	{
		diff -r "whole/$name" "$output" &&
			{ [ "$output" = printed ] || cmp "whole/$name.printed" printed; }
	} >/dev/null 2>&1
}

is_absent()
{
	if [ "$output" = printed ]; then
		[ ! -s printed ]
	else
		[ ! -e "$output" ]
	fi
}

# finding TEXT: count and print it with $place, which tells the call of $name, and with what that said.
findings=0
finding()
{
	findings=$((findings + 1))
	printf '%s, %s: %s\n' "$name" "$place" "$1"
	sed 's/^/    /' said.txt | head -n 3
}
