// SPDX-License-Identifier: GPL-3.0-or-later
//
// node asked.mjs QUERIES RUN.db WHOLE JOINED [--all]: does ctanalyze --tables print what it prints
// of the timeline? Some analyses of QUERIES, by turns of JOINED by the first group, and of WHOLE by
// the last; with --all, which takes minutes, every analysis, of both by each group.
import fs from 'node:fs'
import path from 'node:path'
import { execFileSync } from 'node:child_process'

const [queries, timeline, whole, joined, option] = process.argv.slice(2)
const all = option === '--all'
const PERIODS = ['--from', 'net_dev_queue', '--to', 'net_if_receive_skb[cpu >= 0]']
// Numbers that name rows differ between a run's timeline and the parts of it.
const is_id = key => /(^|_)(id|request|message|event|thread|source)$/.test(key)

const run = args => JSON.parse(execFileSync('ctanalyze', ['-q', '--limit', '0', '--format',
  'json', ...args], { maxBuffer: 1 << 30, encoding: 'utf8' }))
const order = row => row.map(value => typeof value === 'number' ? value.toPrecision(6)
  : String(value)).join('\x1f')
const is_same = (a, b) => a === b || (typeof a === 'number' && typeof b === 'number' &&
  Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b)))

function rows(table, joined) {
  return table.rows.map(row => table.columns.map(column =>
    joined && is_id(column.name) ? '' : row[column.name]))
    .map(row => [order(row), row]).sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)
    .map(pair => pair[1])
}

function difference(want, have, joined) {
  const shape = result => JSON.stringify([result.notes, result.tables.map(table =>
    [table.name, table.columns, table.rows.length])])

  if (shape(want) !== shape(have))
    return [shape(want), shape(have)]
  for (let i = 0; i < want.tables.length; i++) {
    const ours = rows(want.tables[i], joined), theirs = rows(have.tables[i], joined)
    const at = ours.findIndex((row, n) =>
      !row.every((value, k) => is_same(value, theirs[n][k])))

    if (at >= 0)
      return [want.tables[i].name, JSON.stringify(ours[at]), JSON.stringify(theirs[at])]
  }
}

let last = {} // what the timeline answered, which the next one may ask again
function answer_of_timeline(args) {
  const question = args.join(' ')

  if (last.question !== question)
    last = { question, answer: run([...args, timeline]) }
  return last.answer
}

function check(args, directory) {
  const joined = fs.existsSync(path.join(directory, 'event'))
  const found = difference(answer_of_timeline(args), run(['--tables', directory, ...args]),
    joined)

  asked++
  if (!found)
    return
  failed++
  console.log(`${directory}: ${args.join(' ')}\n${found.map(one => one.slice(0, 2000)).join('\n')}`)
}

// Queries that differ in form: groups, temporary relations, few rows, quantiles.
const QUICK = ['clocks', 'cpu', 'messages', 'nodes', 'requests']

let asked = 0, failed = 0
for (const file of fs.readdirSync(queries).sort()) {
  const { name, ext } = path.parse(file)
  if (ext !== '.sql' || name === 'relations' || (!all && !QUICK.includes(name)))
    continue
  const text = fs.readFileSync(path.join(queries, file), 'utf8')
  const called = /^-- name: (.*)$/m.exec(text)?.[1] ?? name
  const groups = /^-- groups: (.*)$/m.exec(text)?.[1].split(' ') ?? []
  const more = text.includes(':from_class') ? PERIODS : []

  const variants = groups.length ? groups.map(group => [...more, '--group', group]) : [more]

  if (all)
    for (const options of variants) {
      check([called, ...options], whole)
      check([called, ...options], joined)
    }
  else if (asked % 2)
    check([called, ...variants.at(-1)], whole)
  else
    check([called, ...variants[0]], joined)
}
console.log(`${asked} answers, ${failed} differ`)
process.exit(failed || !asked ? 1 : 0)
