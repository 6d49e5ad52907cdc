# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Bash completion of ctmerge.

_ctmerge()
{
	local word=$2 before=$3
	# Bash has = as a word of its own: --method=h.
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
	-r | --reference | -j | --jobs | --drift-limit | --segments | --max-rejected | --local | \
		--in-flight | --events | --skip | --node | --begin | --end)
		return
		;;
	-o | --output | --clocks | --messages | --part)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames 2>/dev/null
		return
		;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W '--output --force --describe --json --events --skip
			--node --begin --end --no-payload --no-spans --clocks --messages --part --join --no-sync --reference --jobs --method
			--segments --drift-limit --bounds --max-rejected --local --in-flight
			--reader --verbose --quiet --help --version' -- "$word")
	else
		compopt -o default 2>/dev/null
	fi
} &&
	complete -F _ctmerge ctmerge
