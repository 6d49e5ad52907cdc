#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# signals.sh BUILD [COUNT [SEED [RUN]]]: end every program by SIGKILL, SIGTERM and SIGINT at
# random moments, by hand: COUNT (300) of each signal, over every program and form of output
# in turn. Under a target's name there is the whole of what the program writes, or what was
# there before; only SIGKILL may leave a temporary, and the next call removes it.
# shellcheck disable=SC2034 # for scratch.sh
set -eu
build=$(cd "$1" && pwd)
count=${2:-300}
seed=${3:-1}
source=$(cd "$(dirname "$0")/../.." && pwd)
run=$(cd "${4:-"$source"/datasets/sample}" && pwd)
# shellcheck source=/dev/null # linted by itself
. "$(dirname "$0")/scratch.sh"

ctmerge -q "$run" -o t.db

# Every form: NAME TARGET COMMAND. A target ends with / where it is a directory; what begins
# with > is what a shell makes of standard output.
cat >forms <<END
map out.json ctsync -q $run -o out.json
plot plots/ ctsync -q $run --plot plots
apply applied/ ctsync -q $run --apply applied
merge out.db ctmerge -q $run -o out.db --force
merge-stdout >out.db ctmerge -q $run
answer out.txt ctanalyze -q requests t.db -o out.txt
report out.html ctanalyze -q report t.db -o out.html
pictures pictures/ ctanalyze -q metrics t.db --plot pictures
answer-link link.txt ctanalyze -q cpu t.db -o link.txt
report-stdout >out.html ctanalyze -q report t.db
perfetto out.perfetto ctexport perfetto -q t.db -o out.perfetto
perfetto-stdout >out.perfetto ctexport perfetto -q t.db
graphite out.graphite ctexport graphite -q t.db -o out.graphite
csv tables/ ctexport csv -q t.db -o tables --force
parquet-there there/ ctexport parquet -q t.db -o there --force
opendc opendc/ ctexport opendc -q t.db -o opendc --force
tracekit tracekit/ ctexport tracekit -q t.db -o tracekit --force
sim sim/ ctsim -q mesh4 --set seconds=20 -o sim
recipe out.yaml ctrecipe init -o out.yaml
END

# Print a checksum of all files of a target, or - if it does not exist.
sum_of()
{
	if [ -d "$1" ]; then
		(cd "$1" && find . -type f ! -path './.unfinished-*' | sort | xargs -d '\n' -r cksum) | cksum
	elif [ -e "$1" ]; then
		cksum <"$1"
	else
		echo -
	fi
}

# The words of a form, run as they stand; status of the program.
go()
{
	case $target in
	'>'*) "$@" >"${target#>}" 2>/dev/null ;;
	*) "$@" >/dev/null 2>&1 ;;
	esac
}

prepare()
{
	path=${target#>}
	path=${path%/}
	rm -rf "$path" real.txt
	case $form in
	answer-link)
		echo before >real.txt
		ln -s real.txt link.txt
		;;
	*-there) mkdir there && echo mine >there/mine ;;
	merge) ;;
	*) case $target in '>'* | */) ;; *) [ "$form" = recipe ] || echo before >"$path" ;; esac ;;
	esac
}

# Once whole: how long it takes, and what comes out. Timelines bear no time of their own.
: >whole
while read -r form target words; do
	prepare
	before=$(sum_of "$path")
	begin=$(date +%s%N)
	# shellcheck disable=SC2086 # the words of a command
	go $words || [ $? -eq 3 ] || {
		echo "$words: fails"
		exit 2
	}
	end=$(date +%s%N)
	echo "$form $(((end - begin) / 1000)) $before $(sum_of "$path")" >>whole
done <forms

forms=$(wc -l <forms)
wrong=0
killed=0
done_first=0
tried=0
i=0
for signal in KILL TERM INT; do
	i=0
	while [ $i -lt "$count" ]; do
		i=$((i + 1))
		tried=$((tried + 1))
		line=$((i % forms + 1))
		read -r form target words <<END
$(sed -n "${line}p" forms)
END
		read -r _ us before1 before2 after1 after2 <<END
$(sed -n "${line}p" whole | awk '$3 == "-" { $3 = "- -" } { print }')
END
		prepare
		delay=$(awk -v seed="$seed$i$signal" -v us="$us" 'BEGIN {
			n = split(seed, c, ""); s = 7
			for (k = 1; k <= n; k++) s = (s * 31 + index("0123456789KILTERMN", c[k])) % 2147483647
			srand(s); printf "%.6f", rand() * us * 1.1 / 1e6 }')
		status=0
		# shellcheck disable=SC2086 # the words of a command
		go timeout --foreground -s "$signal" "$delay" $words || status=$?
		[ $status -lt 124 ] && done_first=$((done_first + 1)) || killed=$((killed + 1))
		now=$(sum_of "$path")
		case $form in
		*-stdout) # of a stream, a part is what was written until SIGKILL
			case $now in
			"$after1 $after2" | '4294967295 0') ok=1 ;;
			*) ok=0 ;;
			esac
			if [ "$signal" = KILL ] && [ "$form" != merge-stdout ]; then
				ok=1
			elif [ "$ok" = 0 ] && [ "$form" = merge-stdout ] && [ "$signal" = KILL ]; then
				# Half, but no timeline to anybody.
				[ "$(head -c 15 out.db | tr -d '\0')" = 'SQLite format 3' ] || ok=1
			fi
			;;
		*)
			case $now in
			"$after1 $after2" | "$before1 $before2" | -) ok=1 ;;
			*) ok=0 ;;
			esac
			[ "$now" != - ] || [ "$before1" = - ] || ok=0
			;;
		esac
		left=$(find . -name '*.unfinished-*' -prune | wc -l)
		[ "$signal" = KILL ] || [ "$left" -eq 0 ] || ok=0
		if [ "$ok" = 0 ]; then
			wrong=$((wrong + 1))
			echo "$form: SIG$signal after $delay s, status $status: $now; $left temporaries"
		fi
		# The next call to the same target clears up.
		if [ "$signal" = KILL ] && [ "$left" -gt 0 ]; then
			# shellcheck disable=SC2086
			go $words || :
			left=$(find . -name '*.unfinished-*' -prune | wc -l)
			if [ "$left" -gt 0 ]; then
				wrong=$((wrong + 1))
				echo "$form: the next call left $left temporaries"
			fi
		fi
		find . -name '*.unfinished-*' -prune -exec rm -rf {} +
	done
done
echo "$tried signals over $forms forms: $killed ended by it, $done_first were done first, $wrong wrong"
[ $wrong -eq 0 ]
