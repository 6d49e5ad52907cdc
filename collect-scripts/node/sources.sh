# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# What records besides LTTng: sar, tcpdump, ctsample, sensors.

# sar INTERVAL KEYWORDS. sadc writes what sar would have it write, without printing it.
start_sar()
{
	sar_interval=$2
	sar_words=$3
	sadc=
	for try in /usr/lib/sysstat/sadc /usr/lib64/sa/sadc /usr/lib/sa/sadc \
		/usr/libexec/sysstat/sadc; do
		[ ! -x "$try" ] || sadc=$try
	done
	if [ -n "$sadc" ]; then
		# sadc wants each keyword as an option of its own, or a list with commas.
		spawn sar "$sadc" ${sar_words:+-S "$sar_words"} "$sar_interval" "$data/sar.sa"
	elif has sar; then
		spawn sar sar -A -o "$data/sar.sa" "$sar_interval"
	else
		problem 'sar: not installed (sysstat), nothing logged'
	fi
}

# capture SNAPLEN FILTER INTERFACE...
start_captures()
{
	snaplen=$2
	filter=$3
	shift 3
	if ! has tcpdump; then
		problem 'tcpdump: not installed, nothing captured'
		return
	fi
	if [ $# -eq 1 ]; then
		capture "$1" "$data/$node.pcap"
		return
	fi
	for interface; do
		capture "$interface" "$data/$node-$(tell "$interface" | tr -c 'A-Za-z0-9._\n-' _).pcap"
	done
}

# -p: a promiscuous capture has everybody's packets. -Z: root's tcpdump becomes
# another user, who could not write here; it stays who we are.
capture()
{
	# shellcheck disable=SC2086
	spawn "capture-${2##*/}" $as_root tcpdump -p -n -U -s "$snaplen" -i "$1" \
		-Z "$(id -un)" -w "$2" -- ${filter:+"$filter"}
}

# process INTERVAL_MS all|match|whitelist ...
start_sampler()
{
	sample_ms=$2
	sample_what=$3
	shift 3
	case $sample_what in
	all) set -- --all ;;
	match)
		sample_patterns=$#
		while [ "$sample_patterns" -gt 0 ]; do
			set -- "$@" --match "$1"
			shift
			sample_patterns=$((sample_patterns - 1))
		done
		;;
	whitelist) set -- --whitelist "${1:-$here/pids}" ;;
	esac
	spawn ctsample "$sh" "$here/bin/ctsample" --interval "$sample_ms" \
		--output "$data/proc.csv" --sensors "$data/sensors" "$@"
}

# sensor NODE NAME INTERVAL_MS COMMAND
start_sensor()
{
	[ "$2" = "$node" ] || return 0
	sensor_count=$((sensor_count + 1))
	printf '%s' "$5" >"$here/sensors/$sensor_count"
	spawn "sensor-$sensor_count" "$sh" "$here/node.sh" sensor-loop "$sensor_count" "$3" "$4"
}

# One sensor: its command prints lines `[PART/]METRIC VALUE`, and the sensor is
# NAME/PART then. What is no such line is left out.
sensor_loop()
{
	sensor_command=$(cat "$here/sensors/$1")
	sensor_ms=$3
	pause=$((sensor_ms / 1000)).$(printf '%03d' $((sensor_ms % 1000)))
	while :; do
		stamp=$(realtime_ns)
		limited "$step_seconds" sh -c "$sensor_command" </dev/null |
			STAMP=$stamp SENSOR=$2 awk '
			function cell(text) {
				if (text ~ /[",\r]/) {
					gsub(/"/, "\"\"", text)
					return "\"" text "\""
				}
				return text
			}
			NF == 2 && $2 ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/ {
				sensor = ENVIRON["SENSOR"]
				metric = $1
				sub(/^.*\//, "", metric)
				if (metric != $1)
					sensor = sensor "/" substr($1, 1, length($1) - length(metric) - 1)
				print ENVIRON["STAMP"] "," cell(sensor) "," cell(metric) "," $2
			}' >>"$data/sensors.$1"
		sleep "$pause" 2>/dev/null || sleep $((sensor_ms / 1000 + 1))
	done
}

# All sensors in one file. Safe to repeat: what is joined is gone from its own.
join_sensors()
{
	joined=no
	for part in "$data"/sensors.*; do
		case $part in
		*.csv | *'*') continue ;;
		esac
		[ -f "$data/sensors.csv" ] ||
			printf 'realtime_ns,sensor,metric,value\n' >"$data/sensors.csv"
		cat "$part" >>"$data/sensors.csv" && rm -f "$part"
		joined=yes
	done
	[ "$joined" = no ] || limited $((step_seconds * 10)) sort -t, -k1,1n -o "$data/sensors.csv.new" "$data/sensors.csv" &&
		[ "$joined" = no ] || mv -f "$data/sensors.csv.new" "$data/sensors.csv"
}
