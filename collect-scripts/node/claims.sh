# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154
#
# clock_claims.csv: what the daemons that steer a node's clock say about it, in the columns of
# docs/formats.md. Each ask_NAME prints rows without their times, or nothing:
#
#   NAME,OFFSET_NS,BOUND_NS,FREQUENCY_PPB,ESTIMATE_NS,STATUS
#
# The offset is positive if the clock is ahead, the frequency if it runs fast by itself. A value
# that a daemon does not state stays empty. awk's %d may end at 2^31, so %.0f prints integers.

# Each with the program that asks it; adjtimex has two.
claimants='chrony:chronyc ntpd:ntpq timesyncd:timedatectl ptp4l:pmc adjtimex phc:phc_ctl'
claims_begun=
silent=

# Seconds and ppm. A bound is the root dispersion and half of the root delay, around the offset. A row
# for each server follows: what it measured is relative to the clock that chrony slews to, and as old
# as column 7 says; chrony lets its error grow by the residual frequency, the skew and 1 ppm.
ask_chrony()
{
	timeout 2 chronyc -c -n -m tracking sources | awk -F , '
		BEGIN {
			split("* selected + combined - excluded x falseticker ~ variable ? unusable", word, " ")
			for (i = 1; i in word; i += 2)
				status_of[word[i]] = word[i + 1]
		}
		NF >= 14 {
			status = $1 == "7F7F0101" ? "local" : $14 ~ /^Not/ ? "unsynchronized" : "synchronized"
			ahead = 0 - $5 * 1e9
			wander = 1e3 + ($9 < 0 ? 0 - $9 : $9) * 1e3 + $10 * 1e3
			printf "chrony,%.0f,%.0f,%.0f,%.0f,%s\n", ahead, ($12 + $11 / 2) * 1e9, $8 * 1e3, $7 * 1e9, status
		}
		NF == 10 {
			gsub(/[^0-9A-Za-z.:_-]/, "_", $3)
			if ($7 < 4e9)
				printf "chrony:%s,%.0f,%.0f,,,%s\n", $3, ahead + $8 * 1e9, $10 * 1e9 + ($7 + 1) * wander, status_of[$2]
			else
				printf "chrony:%s,,,,,%s\n", $3, status_of[$2]
		}'
}

# NAME=VALUE with commas, over several lines; milliseconds and ppm. Its offset is that of its
# server, and its frequency is that of the correction. ntpsec says sync_unspec of every server.
ask_ntpd()
{
	timeout 2 ntpq -n -c rv 127.0.0.1 | tr -s ', \n' '\n' | awk -F = '
		{ value[$1] = $2 }
		/^leap_alarm$/ { status = "unsynchronized" }
		/^sync_local$/ && !status { status = "local" }
		END {
			if (!("rootdisp" in value) || !("rootdelay" in value))
				exit
			printf "ntpd,%.0f,%.0f,%.0f,%.0f,%s\n", 0 - value["offset"] * 1e6,
				(value["rootdisp"] + value["rootdelay"] / 2) * 1e6, 0 - value["frequency"] * 1e3,
				value["sys_jitter"] * 1e6, status ? status : "synchronized"
		}'
}

# systemd-timesyncd states a bound only for the time of its last poll. 65536 is 1 ppm of correction.
ask_timesyncd()
{
	timeout 2 timedatectl show-timesync --all | awk -F = '
		$1 == "Frequency" { frequency = 0 - $2 / 65536 * 1e3; known = 1 }
		$1 == "NTPMessage" && /Leap=[012]/ { status = "synchronized" }
		END { if (known) printf "timesyncd,,,%.0f,,%s\n", frequency, status ? status : "unsynchronized" }'
}

# Nanoseconds, of the clock that ptp4l steers: the card's, or the system's if it stamps in software.
ask_ptp4l()
{
	timeout 2 pmc -u -b 0 'GET TIME_STATUS_NP' | awk '
		$1 == "master_offset" { offset = $2; known = 1 }
		$1 == "gmPresent" { status = $2 == "true" ? "synchronized" : "local" }
		END { if (known) printf "ptp4l,%s,,,,%s\n", offset, status ? status : "local" }'
}

# The kernel's own: offset is what it will still add, in ns if status has bit 0x2000. Bit 0x40: no
# daemon vouches for the clock. A tick of 10000 us that is one longer adds 100 ppm.
ask_adjtimex()
{
	if has adjtimex; then
		timeout 2 adjtimex --print | awk '
			{ value[$1] = $2 }
			END {
				if (!("maxerror:" in value))
					exit
				flags = value["status:"]
				tick = "tick:" in value ? (value["tick:"] - 10000) * 1e5 : 0
				printf "adjtimex,%.0f,%.0f,%.0f,%.0f,%s\n",
					0 - value["offset:"] * (int(flags / 8192) % 2 ? 1 : 1e3), value["maxerror:"] * 1e3,
					0 - value["frequency:"] / 65536 * 1e3 - tick, value["esterror:"] * 1e3,
					int(flags / 64) % 2 ? "unsynchronized" : "synchronized"
			}'
	elif has ntptime; then
		timeout 2 ntptime | tr ',' '\n' | awk '
			$1 == "offset" { offset = 0 - $2 }
			$1 == "frequency" { frequency = 0 - $2 }
			$1 == "maximum" { bound = $3; known = 1 }
			$1 == "estimated" { estimate = $3 }
			/UNSYNC/ { status = "unsynchronized" }
			END {
				if (known)
					printf "adjtimex,%.0f,%.0f,%.0f,%.0f,%s\n", offset * 1e3, bound * 1e3,
						frequency * 1e3, estimate * 1e3, status ? status : "synchronized"
			}'
	fi
}

# The clocks of network cards, which only root may read: how far the system's clock is ahead of each.
ask_phc()
{
	for card in /dev/ptp*; do
		[ -e "$card" ] || continue
		# shellcheck disable=SC2086 # words
		timeout 2 $as_root phc_ctl -q "$card" cmp | awk -v card="${card##*/}" '
			/ offset from CLOCK_REALTIME is / && sub(/ns$/, "") { printf "phc:%s,%s,,,,measured\n", card, $NF }'
	done
}

# Ask all of them once. Those that do not answer at first are not asked again, not even when a
# signal ends the first round early: `silent` has them from before they are asked.
sample_claims()
{
	for claimant in $claimants; do
		case $claimant in
		*:*) has "${claimant#*:}" || continue ;;
		esac
		claimant=${claimant%:*}
		case "$silent " in *" $claimant "*) continue ;; esac
		[ -n "$claims_begun" ] || silent="$silent $claimant"
		read_realtime
		asked=$stamp
		claim=$("ask_$claimant" </dev/null 2>/dev/null)
		read_realtime
		[ -n "$claim" ] || continue
		[ -n "$claims_begun" ] || silent=${silent% "$claimant"}
		[ -s "$data/clock_claims.csv" ] ||
			printf 'realtime_ns,took_ns,source,offset_ns,bound_ns,frequency_ppb,estimate_ns,status\n' \
				>"$data/clock_claims.csv"
		while read -r row; do
			printf '%s,%s,%s\n' "$asked" "$((stamp - asked))" "$row"
		done <<-ROWS >>"$data/clock_claims.csv"
			$claim
		ROWS
	done
	claims_begun=yes
}
