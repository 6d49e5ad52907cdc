# SPDX-License-Identifier: GPL-3.0-or-later
#
# Fish completion of every program: `complete` knows what.

function __clustertrace
    set -l words (commandline -opc)
    set -l program (command -s $words[1])
    set -l last (commandline -ct)
    set -l before ''
    # The option before a value: --format=csv.
    string match -qr '^--[^=]*=' -- $last; and set before (string replace -r '=.*' = -- $last)
    for line in (eval (string escape (dirname $program)/../libexec/clustertrace/complete) (string escape -- $program $words[2..-1] "$last"))
        if test "$line" = @files
            __fish_complete_path (string replace -- "$before" '' "$last") | string replace -r '^' -- "$before"
        else
            echo $before$line
        end
    end
end

for program in ctsync ctmerge ctanalyze ctexport ctcollect ctbatch ctrecipe ctsim ctsample ctwrap
    complete -c $program -f -a '(__clustertrace)'
end
