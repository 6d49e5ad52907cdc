# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# node.json: what this node is.

first_word_of()
{
	word=
	read -r word _ 2>/dev/null <"$1" || :
	tell "$word"
}

# A tool's version: the first word with a digit and a dot in what it prints.
version_of()
{
	has "$1" || return 0
	limited "$step_seconds" "$@" </dev/null 2>&1 | sed -n \
		's/^.*[^0-9.]\([0-9][0-9]*\.[0-9][0-9.]*\).*$/\1/p' | head -n 1
}

lttng_version()
{
	version_of lttng --version
}

cpu_count()
{
	getconf _NPROCESSORS_ONLN 2>/dev/null || grep -c '^processor' /proc/cpuinfo
}

# What the processor is sold as, where that is known; else what it runs at.
cpu_mhz()
{
	for khz_file in base_frequency cpuinfo_max_freq; do
		khz=$(first_word_of "/sys/devices/system/cpu/cpu0/cpufreq/$khz_file")
		case $khz in
		'' | *[!0-9]*) continue ;;
		esac
		tell "$((khz / 1000)).$(printf '%03d' $((khz % 1000)))"
		return
	done
	sed -n 's/^cpu MHz[^0-9]*\([0-9][0-9.]*\).*/\1/p' /proc/cpuinfo | head -n 1
}

# NAME ADDRESS lines, and NAME alone for those without one.
interface_addresses()
{
	if has ip; then
		ip -o link show 2>/dev/null | awk '{ sub(/[@:].*/, "", $2); print $2 }'
		ip -o addr show 2>/dev/null | awk '{ sub(/\/.*/, "", $4); print $2, $4 }'
	elif has ifconfig; then
		ifconfig -a 2>/dev/null | awk '
		/^[^ \t]/ { name = $1; sub(/:$/, "", name) }
		$1 ~ /^inet6?$/ {
			address = $2
			sub(/^addr:/, "", address)
			if (address == "")
				address = $3
			sub(/\/.*/, "", address)
			print name, address
		}'
	fi
}

interfaces_json()
{
	interface_addresses | sort -s -k1,1 | {
		last=
		comma=
		printf '['
		while read -r name address; do
			if [ "$name" != "$last" ]; then
				[ -z "$last" ] || printf ']},'
				printf '{"name": %s, ' "$(json_strings "$name")"
				speed=$(first_word_of "/sys/class/net/$name/speed")
				case $speed in
				'' | *[!0-9]*) ;;
				*) printf '"speed_mbps": %s, ' "$speed" ;;
				esac
				printf '"addresses": ['
				last=$name
				comma=
			fi
			[ -z "$address" ] || {
				printf '%s%s' "$comma" "$(json_strings "$address")"
				comma=,
			}
		done
		[ -z "$last" ] || printf ']}'
		printf ']'
	}
}

# "name": value, if there is one. member NAME VALUE [number]
member()
{
	[ -n "$2" ] || return 0
	if [ "${3:-}" != number ]; then
		printf '%s: %s' "$separator$(json_strings "$1")" "$(json_strings "$2")"
	else
		case $2 in
		*[!0-9.]* | .* | *. | *.*.*) return 0 ;;
		esac
		printf '%s: %s' "$separator$(json_strings "$1")" "$2"
	fi
	separator=', '
}

describe()
{
	{
		separator=
		printf '{'
		member hostname "$(uname -n)"
		member kernel "$(uname -r)"
		member machine "$(uname -m)"
		member boot_id "$(boot_id)"
		member cpus "$(cpu_count)" number
		member cpu_model "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)"
		member cpu_mhz "$(cpu_mhz)" number
		member mem_kib "$(sed -n 's/^MemTotal: *\([0-9]*\).*/\1/p' /proc/meminfo)" number
		member clock_source "$(first_word_of \
			/sys/devices/system/clocksource/clocksource0/current_clocksource)"
		printf ', "tools": {'
		separator=
		member lttng "$(lttng_version)"
		member sysstat "$(version_of sar -V)"
		member tcpdump "$(version_of tcpdump --version)"
		printf '}, "interfaces": %s}\n' "$(interfaces_json)"
	} >"$data/node.json.new" && mv -f "$data/node.json.new" "$data/node.json"
}
