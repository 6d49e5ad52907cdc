# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Bash completion of ctrecipe.

_ctrecipe()
{
	local word=$2 before=$3
	if [[ $word == = ]]; then
		word=
	elif [[ $before == = ]] && ((COMP_CWORD > 1)); then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	COMPREPLY=()
	case $before in
	--point | --run) return ;;
	-o | --output)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames 2>/dev/null
		return
		;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W '--output --point --run --help --version' -- "$word")
	elif ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W 'validate init points nodes plan json sensors
			events' -- "$word")
	else
		compopt -o default 2>/dev/null
	fi
} &&
	complete -F _ctrecipe ctrecipe
