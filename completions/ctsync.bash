# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Bash completion of ctsync.

_ctsync()
{
	local word=$2 before=$3
	# NAME=PATH completes the path; bash has = as a word of its own.
	[[ $word != = ]] || word=
	COMPREPLY=()
	case $before in
	--method)
		mapfile -t COMPREPLY < <(compgen -W 'hull margin joint regression' -- "$word")
		return
		;;
	-r | --reference | --local | --drift-limit | -j | --jobs)
		return
		;;
	--plot | --apply)
		compopt -o plusdirs 2>/dev/null
		return
		;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W '--trace --reference --method --drift-limit
			--messages --local --jobs --json --output --plot --apply
			--verbose --stats --quiet --help --version' -- "$word")
	else
		compopt -o default 2>/dev/null
	fi
} &&
	complete -F _ctsync ctsync
