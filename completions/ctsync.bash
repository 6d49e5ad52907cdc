# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Bash completion of ctsync.

_ctsync()
{
	local word=$2 before=$3
	# Bash has = as a word of its own: --method=h, -t NAME=PATH.
	if [[ $word == = ]]; then
		word=
	elif [[ $before == = ]] && ((COMP_CWORD > 1)); then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	COMPREPLY=()
	case $before in
	--method)
		mapfile -t COMPREPLY < <(compgen -W 'hull margin joint regression' -- "$word")
		return
		;;
	--reader)
		mapfile -t COMPREPLY < <(compgen -W 'auto native babeltrace2' -- "$word")
		return
		;;
	--bounds)
		mapfile -t COMPREPLY < <(compgen -W 'limit straight' -- "$word")
		return
		;;
	-r | --reference | -j | --jobs | --drift-limit | --segments | --max-rejected | --local | --in-flight)
		return
		;;
	--plot | --apply | --messages-out)
		mapfile -t COMPREPLY < <(compgen -d -- "$word")
		compopt -o filenames 2>/dev/null
		return
		;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W '--trace --reference --jobs --json --output
			--method --drift-limit --segments --bounds --max-rejected --messages --local --plot --apply
			--extract --messages-out
			--in-flight --reader --stats --verbose --quiet --help --version' -- "$word")
	else
		compopt -o default 2>/dev/null
	fi
} &&
	complete -F _ctsync ctsync
