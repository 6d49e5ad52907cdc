# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Bash completion of ctsample.

_ctsample()
{
	local word=$2 before=$3
	COMPREPLY=()
	case $before in
	--match | -i | --interval | -n | --count) return ;;
	--whitelist | -o | --output | --sensors)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames 2>/dev/null
		return
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W '--all --match --whitelist --interval --output --sensors
		--count --help --version' -- "$word")
} &&
	complete -F _ctsample ctsample
