#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Completion of command lines in shells.
load common

setup_file()
{
	CT_SAMPLE=$BATS_FILE_TMPDIR/sample.db
	export CT_SAMPLE
	cd "$CT_SOURCE" && ctmerge -q --no-spans datasets/sample -o "$CT_SAMPLE" 2>/dev/null
}

# offers CANDIDATES WORD...: what may stand in the place of the last word, in one line.
offers()
{
	local wanted=$1 program
	shift
	program=$(command -v "$1")
	shift
	"$CT_SOURCE/completions/complete" "$program" "$@" | tr '\n' ' ' | sed 's/ $//' >offered
	printf '%s' "$wanted" | diff - offered
}

@test "every option of every program and analysis" {
	local program word
	for program in ctsync ctmerge ctsim ctrecipe ctcollect 'ctanalyze cpu' 'ctanalyze events' 'ctexport csv' 'ctexport opendc'; do
		read -r program word <<<"$program"
		"$CT_SOURCE/completions/complete" "$(command -v "$program")" ${word:+$word} -- >offered
		"$program" ${word:+$word} --help | sed -n 's/^ \{1,6\}\(-.*\)/\1/p' | sed 's/   *.*//; s/[[]*=.*//; s/ [A-Z]*$//' |
			tr -s ', ' '\n' | grep '^--' >wanted
		[ -s wanted ]
		diff wanted offered
	done
}

@test "words, and values of options" {
	offers 'clocks cpu critical-path compare @files' ctanalyze c
	offers 'parquet perfetto' ctexport p
	offers 'hull margin joint regression' ctsync --method ''
	offers json ctanalyze cpu --format=j
	offers 'nodes cpus threads processes names priorities intervals' ctanalyze cpu --table ''
	offers @files ctmerge -o ''
	offers 'two @files' ctsim two
	offers 'start stop status' ctcollect sessiond st
}

@test "names that a timeline has" {
	offers 'node1 node2 node3' ctanalyze cpu "$CT_SAMPLE" --node ''
	offers 'sched_process_exit sched_process_fork sched_process_free sched_process_exec' ctexport csv "$CT_SAMPLE" --table sched_p
	offers '' ctanalyze cpu no.db --node ''
}

@test "bash" {
	# shellcheck disable=SC2016 # the inner shell's
	bash -c 'root=$1 && . "$root/completions/clustertrace.bash" && COMP_WORDS=(ctanalyze cpu --format = j) COMP_CWORD=4 &&
		_clustertrace ctanalyze j = && echo "${COMPREPLY[@]}"' - "$CT_SOURCE" >said
	[ "$(cat said)" = json ]
}

@test "fish" {
	command -v fish || skip 'no fish'
	HOME=$PWD fish -c "source $CT_SOURCE/completions/clustertrace.fish; complete -C'ctsync --me'" >said
	[ "$(tr '\n' ' ' <said)" = '--messages --messages-out --method ' ]
	HOME=$PWD fish -c "source $CT_SOURCE/completions/clustertrace.fish; complete -C'ctanalyze cpu --format=j'" >said
	[ "$(cat said)" = --format=json ]
}

@test "zsh" {
	command -v zsh || skip 'no zsh'
	mkdir functions
	cp "$CT_SOURCE/completions/clustertrace.zsh" functions/_clustertrace
	cat >ask <<'END'
zmodload zsh/zpty
zpty shell zsh -f
zpty -w shell "PS1=ready; PATH=$PATH; fpath=($PWD/functions \$fpath); autoload -U compinit; compinit -D -u; bindkey '^I' complete-word"
# Input before the prompt is echoed by the terminal, not completed by zsh.
zpty -w shell "echo be''gun"
zpty -r -m shell line '*begun*ready*'
zpty -n -w shell $'ctexport par\t'
zpty -r -m shell line '*ctexport parquet*'
print -r -- $line
END
	HOME=$PWD timeout 20 zsh -f ask >said
	grep -q 'ctexport parquet' said
}
