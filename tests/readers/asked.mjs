// SPDX-License-Identifier: GPL-3.0-or-later
//
// node asked.mjs QUERIES RUN.db DIR...: does ctanalyze --tables DIR print what it prints of
// the timeline, for every analysis of QUERIES with each group that it has?
import fs from 'node:fs'
import path from 'node:path'
import { execFileSync } from 'node:child_process'

const [queries, timeline, ...directories] = process.argv.slice(2)
const PERIODS = ['--from', 'net_dev_queue', '--to', 'net_if_receive_skb[cpu >= 0]']
// Numbers that name rows differ between a run's timeline and the parts of it.
const is_id = key => /(^|_)(id|request|message|event|thread|source)$/.test(key)

const run = args => JSON.parse(execFileSync('ctanalyze', ['-q', '--limit', '0', '--format',
  'json', ...args], { maxBuffer: 1 << 30, encoding: 'utf8' }))
const number = value => typeof value !== 'number' ? value
  : Number.isInteger(value) ? value : Number(value.toPrecision(6))

function plain(result, joined) {
  return result.tables.map(table => JSON.stringify([table.name,
    table.columns.map(column => [column.name, column.unit]), table.rows.map(row =>
      JSON.stringify(Object.entries(row).map(([key, value]) =>
        [key, joined && is_id(key) ? '' : number(value)]))).sort()]))
    .concat([JSON.stringify((result.notes ?? []).slice().sort())])
}

function check(args) {
  const want = run([...args, timeline])
  for (const directory of directories) {
    const joined = fs.existsSync(path.join(directory, 'event')), ours = plain(want, joined)
    plain(run(['--tables', directory, ...args]), joined).forEach((table, i) => {
      if (table === ours[i])
        return
      failed++
      console.log(`${directory}: ${args.join(' ')}\n${table.slice(0, 1500)}\nwant\n` +
        `${ours[i]?.slice(0, 1500)}`)
    })
    asked++
  }
}

let asked = 0, failed = 0
for (const file of fs.readdirSync(queries).sort()) {
  const { name, ext } = path.parse(file)
  if (ext !== '.sql' || name === 'relations')
    continue
  const text = fs.readFileSync(path.join(queries, file), 'utf8')
  const called = /^-- name: (.*)$/m.exec(text)?.[1] ?? name
  const groups = /^-- groups: (.*)$/m.exec(text)?.[1].split(' ') ?? []
  const more = text.includes(':from_class') ? PERIODS : []

  check([called, ...more])
  for (const group of groups.slice(1))
    check([called, ...more, '--group', group])
}
console.log(`${asked} answers, ${failed} differ`)
process.exit(failed || !asked ? 1 : 0)
