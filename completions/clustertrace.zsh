#compdef ctsync ctmerge ctanalyze ctexport ctcollect ctbatch ctrecipe ctsim ctsample ctwrap
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Zsh completion of every program: `complete` knows what.

local program=${commands[$words[1]]:-$words[1]} line
local -a found
for line in ${(f)"$(${program:h}/../libexec/clustertrace/complete $program "${(@)words[2,CURRENT]}")"}; do
	if [[ $line == @files ]]; then
		_files
	else
		found+=$line
	fi
done
[[ $PREFIX != --*=* ]] || compset -P '*='
(( ! $#found )) || compadd -- $found
