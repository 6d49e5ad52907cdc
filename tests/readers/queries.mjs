// SPDX-License-Identifier: GPL-3.0-or-later
//
// node queries.mjs RUN.db PARQUET QUERIES [once]: every analysis that is a file of QUERIES, with
// each group and form that it has (or once): does DuckDB find in the tables of PARQUET what
// ctanalyze finds in the timeline that they are of?
import fs from 'node:fs'
import path from 'node:path'
import { execFileSync } from 'node:child_process'
import { DuckDBInstance } from '@duckdb/node-api'

const [timeline, parquet, queries, once] = process.argv.slice(2)
const PERIODS = ['--from', 'net_dev_queue', '--to', 'net_if_receive_skb[cpu >= 0]']

function want(condition, ...what) {
  if (!condition)
    throw new Error(what.join(' '))
}

const run = args => execFileSync('ctanalyze', ['-q', ...args, timeline],
  { maxBuffer: 1 << 30, encoding: 'utf8' })

// Integers past 2^53 as texts.
const parse = text => JSON.parse(text.replace(/([:[] ?)(-?\d{16,})(?=[,}\]])/g, '$1"$2"'))

// Queries of a file: everything that its header has a word for.
function variants(text) {
  const groups = /^-- groups: (.*)$/m.exec(text)?.[1].split(' ') ?? []
  const more = text.includes(':from_class') ? [...PERIODS, '--group', 'node'] : []
  const forms = ['stats', 'top', 'freq', 'log'].filter(form =>
    new RegExp(`^-- form: .*${form}`, 'm').test(text)).map(form => `--${form}`)
  if (text.includes(':interval_ns'))
    more.push('--interval', '500ms')
  return [[...more, ...forms], ...groups.map(group => [...more, ...forms, '--group', group])]
}

function plain(value) {
  if (value === null || value === undefined || value === '')
    return null
  if (typeof value === 'boolean')
    return Number(value)
  if (typeof value === 'object' && 'scale' in value) // a decimal number
    return Number(value.value) / 10 ** value.scale
  if (typeof value === 'bigint' || (typeof value === 'string' && /^-?\d+$/.test(value))) {
    const number = BigInt(value)
    return number > -(2n ** 53n) && number < 2n ** 53n ? Number(number) : number.toString()
  }
  return typeof value === 'object' ? value.toString() : value
}

const order = row => row.map(value => typeof value === 'number' && !Number.isInteger(value)
  ? value.toPrecision(6) : String(value)).join('\x1f')
const sorted = rows => rows.map(row => [order(row), row])
  .sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0).map(pair => pair[1])

const is_same = (a, b) => a === b || (typeof a === 'number' && typeof b === 'number' &&
  Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b)))

function compare(where, ours, theirs) {
  want(ours.length === theirs.length, where, ours.length, 'rows, DuckDB has', theirs.length)
  ours = sorted(ours)
  theirs = sorted(theirs)
  ours.forEach((row, i) => row.forEach((value, k) =>
    want(is_same(value, theirs[i][k]), where, 'row', i, JSON.stringify(row), 'DuckDB has',
      JSON.stringify(theirs[i]))))
}

async function ask(connection, sql) {
  const found = await connection.runAndReadAll(sql)
  const names = found.columnNames()
  return found.getRows().map(row =>
    Object.fromEntries(row.map((value, i) => [names[i], plain(value)])))
}

let tables = 0, rows = 0

async function check(connection, name, options) {
  const args = [name, ...options, '--limit', '0']
  const where = args.join(' ')
  const result = parse(run([...args, '--format', 'json']))
  const asked = new Set()
  for (const statement of run([...args, '--print-sql=duckdb']).split(/;\n\n/)) {
    const table = /^-- table (.*)$/m.exec(statement)?.[1]
    let found
    try {
      found = statement.trim() ? await ask(connection, statement) : []
    } catch (error) {
      throw new Error(`${where}: ${error.message}\n${statement}`)
    }
    if (!table)
      continue
    const ours = result.tables.find(one => one.name === table)
    want(ours, where, 'has no table', table)
    const columns = ours.columns.map(column => column.name)
    compare(`${where}: ${table}:`, ours.rows.map(row => columns.map(key => plain(row[key]))),
      found.map(row => columns.map(key => row[key])))
    asked.add(table)
    rows += found.length
  }
  for (const table of result.tables)
    want(asked.has(table.name), where, 'prints no statement for', table.name)
  tables += asked.size
}

const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
const connection = await instance.connect()
for (const file of fs.readdirSync(parquet).filter(name => name.endsWith('.parquet')))
  await connection.run(`CREATE VIEW "${path.parse(file).name}" AS
    SELECT * FROM read_parquet('${path.join(parquet, file)}')`)
for (const file of fs.readdirSync(queries).sort()) {
  const { name, ext } = path.parse(file)
  if (ext !== '.sql' || name === 'relations')
    continue
  const text = fs.readFileSync(path.join(queries, file), 'utf8')
  const called = /^-- name: (.*)$/m.exec(text)?.[1] ?? name
  for (const options of variants(text).slice(0, once ? 1 : undefined))
    await check(connection, called, options)
}
console.log(`${tables} tables, ${rows} rows`)
