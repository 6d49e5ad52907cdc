#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Recipes: what is read, what is said of errors, and that a shell gets it back.

load common

good=fixtures/recipe/good

@test "every key is read" {
	golden ctrecipe-full ctrecipe plan $good/full.yaml --point 5
	golden ctrecipe-full-json ctrecipe json --point 9 --run full-20260102-030405 $good/full.yaml
	golden ctrecipe-full-points ctrecipe points $good/full.yaml
	golden ctrecipe-full-nodes ctrecipe nodes $good/full.yaml
}

@test "recipes of lttng-cluster and clusterp are read" {
	golden ctrecipe-lttng ctrecipe plan $good/lttng-rpc.yaml --point 2
	golden ctrecipe-clusterp ctrecipe plan $good/clusterp.yaml
}

@test "anchors, merge keys and null" {
	golden ctrecipe-merged ctrecipe plan $good/merged.yaml
}

@test "a key with nothing behind it has its default" {
	printf 'hosts: [n1]\nevents: {kernel: disk}\n' >r.yaml
	ctrecipe plan r.yaml >wanted
	printf 'hosts: [n1]\nevents: {kernel: disk}\nfetch: ~\nchannel:\nparameters:\ntracedir: null\n' >r.yaml
	ctrecipe plan r.yaml | diff wanted -
}

@test "each of the broken recipes is refused, with file and line" {
	for file in fixtures/recipe/broken/*.yaml; do
		ends_with 1 ctrecipe validate "$file" || return
		[ ! -s "$scratch/stdout" ] || return
		[ -s "$scratch/stderr" ] || return
		printf '%s\n' "${file##*/}:"
		sed 's|fixtures/recipe/broken/||g; s/^/  /' "$scratch/stderr"
	done >"$scratch/all"
	golden ctrecipe-broken cat "$scratch/all"
}

@test "a password is never repeated" {
	ends_with 1 ctrecipe plan fixtures/recipe/broken/password.yaml
	if grep hunter2 "$scratch/stdout" "$scratch/stderr"; then return 1; fi
}

@test "all errors are told, not the first alone" {
	cat >r.yaml <<-'END'
		hosts: [-a, b]
		interval: x
		execute:
		  - command: a %(b)s
		    method: c
	END
	fails_with 1 "r.yaml:1: hosts: invalid value '-a' (expected [USER@]HOST[:PORT], an IPv6 address within '[' and ']', nothing beginning with '-')
r.yaml:2: interval: invalid value 'x' (expected a whole number from 1 to 86400)
r.yaml:5: method: invalid value 'c' (expected foreground, background or local)" ctrecipe validate r.yaml
	# References to keys are checked once the keys are valid.
	printf 'hosts: b\nsar: true\nexecute:\n  - command: a %%(b)s\n    roles: c\n' >r.yaml
	fails_with 1 "r.yaml:4: execute: %(b)s has no value here
r.yaml:5: execute: unknown role 'c'" ctrecipe validate r.yaml
}

@test "what uses a wrong key is no second error" {
	printf 'hosts: [a]\nsar: true\nroledefs: {r: [b]}\nparameters: {size: [64, 64]}\n' >r.yaml
	printf 'execute: {command: x %%(size)s %%(r.node)s, roles: r}\n' >>r.yaml
	fails_with 1 "r.yaml:3: roledefs: unknown host 'b'; did you mean 'a'?
r.yaml:4: parameters: size: duplicate '64'" ctrecipe validate r.yaml
}

@test "the recipe to start from is valid, and nothing is replaced by it" {
	ends_with 0 ctrecipe init -o recipe.yaml
	ctrecipe init | cmp - recipe.yaml
	golden ctrecipe-init ctrecipe plan recipe.yaml
	fails_with 1 'ctrecipe: recipe.yaml: already exists' ctrecipe init -o recipe.yaml
	# With all examples in force, which begin with # and no blank or two, it is valid, too.
	sed -E '/^# [^ ]|^#$|^#     ctcollect/d; s/^#//; s/import: base.*//' recipe.yaml >all.yaml
	mkdir videos
	touch videos/a.mp4
	ends_with 0 ctrecipe plan all.yaml
	grep -q '^task 1 1 videos/a.mp4' "$scratch/stdout"
	grep -q '^sensor node1 queue 2000' "$scratch/stdout"
	grep -q '^execute 2 background 0 sudo node1 ./server' "$scratch/stdout"
}

@test "lists of sensors and events" {
	golden ctrecipe-sensors ctrecipe sensors
	golden ctrecipe-events ctrecipe events
}

# Words with everything that a shell could stumble over.
hostile_recipe()
{
	cat >hostile.yaml <<-'END'
		hosts: [n1]
		process: true
		parameters:
		  word:
		    - "it's"
		    - 'a "b" $HOME `id` $(id) \ ; & | > < * ? ~ # ! {a,b} %'
		    - "line one\nline two\n"
		    - ""
		    - "-n"
		    - "tab\tbell\acr\r"
		    - "häß 漢字"
		execute:
		  - command: printf %s %(word)s
	END
}

@test "a shell gets each word back as it was, and a command runs with it as one word" {
	hostile_recipe
	cat >take.sh <<-'END'
		NL='
		'
		while IFS= read -r line; do
			eval "set -- $line"
			case $1 in
			point) shift 4 && printf '%s' "${1#word=}" >"$OUT.word" ;;
			execute) printf '%s' "$7" >"$OUT.command" ;;
			esac
		done
	END
	for point in 1 2 3 4 5 6 7; do
		ctrecipe plan hostile.yaml --point $point >the.plan
		for shell in sh dash 'busybox sh' bash; do
			command -v "${shell%% *}" >/dev/null || continue
			# shellcheck disable=SC2086 # two words
			OUT=got $shell take.sh <the.plan
			# shellcheck disable=SC2086
			(cd "$scratch" && $shell run/got.command) >ran
			cmp got.word ran
		done
		cp got.word "word.$point"
	done
	printf '%s' "it's" | cmp - word.1
	printf 'line one\nline two\n' | cmp - word.3
	printf '' | cmp - word.4
	printf 'tab\tbell\acr\r' | cmp - word.6
}

@test "directories of points are unlike each other and fit for file names" {
	{
		printf 'hosts: [n1]\nprocess: true\nparameters:\n  a:\n'
		for i in 1 2 3; do printf "    - '%0300d'\n" $i; done
		printf "    - a/b\n    - a_b\n    - 'a b'\n    - a=b\n    - .\n    - ..\n  b: ['1', 1-c=2]\n"
	} >r.yaml
	ctrecipe points r.yaml | cut -d ' ' -f 4 | tr -d "'" >suffixes
	[ "$(wc -l <suffixes)" -eq 18 ]
	[ "$(sort -u suffixes | wc -l)" -eq 18 ]
	while IFS= read -r suffix; do
		[ "${#suffix}" -le 160 ] && mkdir "x-$suffix" || return
	done <suffixes
}

@test "inputs of tasks" {
	mkdir in
	touch "in/b c" in/a "in/it's"
	printf 'hosts: [n1]\ntasks: {command: x %%(input)s, inputs: in/*}\n' >r.yaml
	golden ctrecipe-inputs ctrecipe plan r.yaml
	printf 'hosts: [n1]\ntasks:\n  command: x %%(input)s\n  inputs: no/*\n' >r.yaml
	fails_with 1 "r.yaml:4: tasks: no file here is like 'no/*'" ctrecipe plan r.yaml
	[ ! -s "$scratch/stdout" ]
}

@test "sensors that are known by name print metrics only, under every shell" {
	names=$(ctrecipe sensors | cut -d ' ' -f 1)
	printf 'hosts: [n1]\nsensors: [%s]\n' "$(printf '%s' "$names" | tr '\n' ,)" >r.yaml
	ctrecipe plan r.yaml | grep '^sensor ' >lines
	[ "$(wc -l <lines)" -eq "$(printf '%s\n' "$names" | wc -l)" ]
	for shell in dash 'busybox sh' bash; do
		command -v "${shell%% *}" >/dev/null || continue
		NL=$'\n'
		while IFS= read -r line; do
			eval "set -- $line"
			# shellcheck disable=SC2086
			$shell -c "$5" >"out.$3" 2>"err.$3" || {
				echo "$shell: $3 failed"
				return 1
			}
			[ ! -s "err.$3" ] || { cat "err.$3" && return 1; }
			if grep -v -E '^[^ ]+ -?[0-9]+([.][0-9]+)?$' "out.$3"; then
				echo "$shell: $3"
				return 1
			fi
		done <lines
		grep -q '^boot_seconds ' out.boot
		grep -q '^sessions ' out.users
		grep -q '^tcp_listen ' out.connections
	done
}

@test "what nvidia-smi and squeue print becomes metrics" {
	mkdir bin
	# As documented; values that a card does not have are [N/A].
	printf '#!/bin/sh\nprintf "0, 37, 12, 2048, 16384, 61, 92.50, 1410, [N/A]\\n1, 0, 0, 4, 16384, 30, [Not Supported], 210, 20\\n"\n' >bin/nvidia-smi
	# shellcheck disable=SC2016
	printf '#!/bin/sh\ncase $* in *-w*) echo 7 ;; *) printf "RUNNING\\nRUNNING\\nPENDING\\nCOMPLETING\\n" ;; esac\n' >bin/squeue
	chmod +x bin/*
	printf 'hosts: [n1]\nsensors: [gpu, slurm]\n' >r.yaml
	# shellcheck disable=SC2034 # the lines have it
	NL=$'\n'
	ctrecipe plan r.yaml | grep '^sensor ' >lines
	while IFS= read -r line; do
		eval "set -- $line"
		PATH=$PWD/bin:$PATH sh -c "$5"
	done <lines >metrics
	golden ctrecipe-metrics cat metrics
}

@test "the examples of the documentation are valid" {
	awk -v at=1 '/^```yaml/ { inside = 1; file = "example." at++; next }
		/^```/ { inside = 0 } inside { print >file }' "$CT_SOURCE/docs/recipe.md"
	[ -s example.3 ] && [ ! -e example.4 ]
	echo 'sar: true' >>example.2
	printf 'hosts: [a]\nroledefs: {server: a}\n' >>example.3
	for file in example.*; do
		ends_with 0 ctrecipe plan "$file" || return
	done
	grep -q '^sensor a spool 30000 ' "$scratch/stdout"
}

@test "misuse" {
	fails_with 2 'ctrecipe: missing subcommand (see --help)' ctrecipe
	fails_with 2 "ctrecipe: unknown subcommand 'valdate'; did you mean 'validate'?" ctrecipe valdate x
	fails_with 2 'ctrecipe: plan: expected one RECIPE' ctrecipe plan
	fails_with 2 "ctrecipe: init: 'x' is too much" ctrecipe init x
	fails_with 2 'ctrecipe: --point does not go with points' ctrecipe points --point 1 x
	fails_with 2 'ctrecipe: --run does not go with validate' ctrecipe validate --run x y
	fails_with 2 'ctrecipe: --output does not go with plan' ctrecipe plan -o x y
	fails_with 2 "ctrecipe: --run 'a b' is not the name of a run's directory" \
		ctrecipe plan --run 'a b' $good/full.yaml
	fails_with 2 "ctrecipe: --point: invalid value 3 (expected a number up to 2)" \
		ctrecipe plan --point 3 $good/lttng-rpc.yaml
}

@test "what is no recipe" {
	fails_with 1 'missing.yaml: No such file or directory' ctrecipe validate missing.yaml
	fails_with 1 '.: not a regular file (expected a recipe)' ctrecipe validate .
	mkfifo pipe
	fails_with 1 'pipe: not a regular file (expected a recipe)' ctrecipe validate pipe
	head -c 1100000 /dev/zero | tr '\0' '#' >big.yaml
	fails_with 1 'big.yaml: larger than 1 MiB (expected a recipe)' ctrecipe validate big.yaml
}

@test "a full device is told" {
	[ -c /dev/full ] || skip
	if ctrecipe plan $good/full.yaml >/dev/full 2>err; then return 1; fi
	grep -q 'No space left' err
}

@test "nothing of a recipe reaches the terminal but as text" {
	printf 'hosts: [n1]\nname: "a\\e[31m\\x9b\\x7f"\n"k\\e": 1\n' >r.yaml
	ends_with 1 ctrecipe validate r.yaml
	if LC_ALL=C grep -q "$(printf '[\001-\011\013-\037\177]')" "$scratch/stderr"; then return 1; fi
	if LC_ALL=C grep -q "$(printf '\302\233')" "$scratch/stderr"; then return 1; fi
	printf 'import: "a\\e[31m"\n' >r.yaml
	ends_with 1 ctrecipe validate r.yaml
	grep -q -x 'a.x1b.31m.yaml: No such file or directory' "$scratch/stderr"
}

@test "numbers stand in JSON as they stand in the recipe" {
	printf 'hosts: [n1]\nsar: true\nparameters: {a: [1.10], b: [0.25], c: [007], d: [-5], e: ["5"], f: [yes], g: [0], h: true}\n' >r.yaml
	ctrecipe json r.yaml >facts
	grep -q '"parameters":{"a":"1.10","b":0.25,"c":"007","d":-5,"e":"5","f":"yes","g":0,"h":true}' facts
}

@test "an import does not leave its directory by a link" {
	mkdir in out
	printf 'sar: true\n' >out/base.yaml
	cp out/base.yaml in/near.yaml
	ln -s ../out/base.yaml in/base.yaml
	ln -s near.yaml in/link.yaml
	ln -s in by
	printf 'hosts: [n1]\nimport: base\n' >in/r.yaml
	fails_with 1 "in/r.yaml:2: import: in/base.yaml: a link out of the directory" ctrecipe validate in/r.yaml
	printf 'hosts: [n1]\nimport: link\n' >in/r.yaml
	for path in in/r.yaml by/r.yaml; do
		ctrecipe validate "$path" >facts
	done
	(cd in && ctrecipe validate r.yaml >facts)
}

@test "options may follow operands whatever the environment wants" {
	printf 'hosts: [n1]\nsar: true\nparameters: {a: [1, 2]}\n' >r.yaml
	POSIXLY_CORRECT=1 ctrecipe plan r.yaml --point 2 >facts
	grep -q '^point 2 2 ' facts
}
