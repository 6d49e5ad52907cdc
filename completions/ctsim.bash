# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Bash completion of ctsim.

_ctsim()
{
	local word=$2 before=$3
	COMPREPLY=()
	case $before in
	--seed | --nodes)
		return
		;;
	--set)
		compopt -o nospace 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -S = \
			-W "$(ctsim --keys 2>/dev/null | cut -d ' ' -f 1)" -- "$word")
		return
		;;
	--format)
		mapfile -t COMPREPLY < <(compgen -W 'ctf1.8 ctf2 ctf2-lttng' -- "$word")
		return
		;;
	-o | --output)
		compopt -o plusdirs 2>/dev/null
		return
		;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W '--output --seed --nodes --set --messages
			--captures --format --spans --list --keys --quiet --help --version' -- "$word")
	else
		compopt -o default 2>/dev/null
		mapfile -t COMPREPLY < <(compgen \
			-W "$(ctsim --list 2>/dev/null | cut -d ' ' -f 1)" -- "$word")
	fi
} &&
	complete -F _ctsim ctsim
